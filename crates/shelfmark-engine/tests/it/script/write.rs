//! Calls that write one item.

use std::sync::Arc;

use shelfmark_engine::{Change, Returns, Table, Write};
use shelfmark_model::{Item, Key, Patch, PatchOperation, Value};

use super::arguments::Args;
use super::runner::{Answer, Script};
use super::{literal, logic, shown};
use crate::drivers::START_SECONDS;

pub(super) fn one(script: &mut Script, name: &str, args: &mut Args) -> Answer<String> {
    let write = parse(script, name, args)?;
    let written = script.bed.write(write)?;
    Ok(shown::written(script, &written))
}

/// A write: the attributes, and `when=CONDITION returns=old|new|both told=true expires=SECONDS`.
pub(super) fn parse(script: &Script, name: &str, args: &mut Args) -> Answer<Write> {
    let table = script.table(args)?;
    let condition = args.take("when").map(|text| logic::condition(&text)).transpose()?;
    let returns = match args.take("returns").as_deref() {
        None => Returns::default(),
        Some("old") => Returns { old: true, new: false },
        Some("new") => Returns { old: false, new: true },
        Some("both") => Returns { old: true, new: true },
        Some(other) => return Err(format!("what is {other}?").into()),
    };
    let old_on_refusal = args.flag("told");
    let expires: Option<u64> = args.number("expires")?;
    let change = match name {
        "put" => Change::Put(item(&table, args)?),
        "patch" => {
            let (patch, creates) = (patch(args)?, args.take("creates").as_deref() != Some("false"));
            Change::Patch { key: key(&table, args)?, patch, creates }
        }
        "delete" => Change::Delete(key(&table, args)?),
        "check" => Change::Check(key(&table, args)?),
        other => return Err(format!("there is no write {other}").into()),
    };
    let expires_at = expires.map(|second| START_SECONDS + second);
    Ok(Write { condition, returns, old_on_refusal, expires_at, ..Write::new(&table, change) })
}

fn patch(args: &mut Args) -> Answer<Patch> {
    let mut patch = Patch::default();
    for text in args.all("set") {
        logic::set(&text, &mut patch)?;
    }
    for text in args.all("remove") {
        patch.operations.push(PatchOperation::Remove(logic::path(&text)?));
    }
    for text in args.all("add") {
        let (path, value) = logic::with_value(&text)?;
        patch.operations.push(PatchOperation::Add(path, value));
    }
    for text in args.all("subtract") {
        let (path, value) = logic::with_value(&text)?;
        patch.operations.push(PatchOperation::Subtract(path, value));
    }
    Ok(patch)
}

/// Reads the rest of the arguments as attributes; those of the key by their types. `x*1000` is text
/// of that length.
fn item(table: &Arc<Table>, args: &mut Args) -> Answer<Item> {
    let mut item = Item::new();
    for (name, text) in args.attributes() {
        let value = match column(table, &name) {
            Some(key_type) => literal::of_type(key_type, &text)?,
            None => literal::whole(&text)?,
        };
        item.set(name, repeated(value));
    }
    Ok(item)
}

fn repeated(value: Value) -> Value {
    let Value::Text(text) = &value else { return value };
    let times = text.split_once('*').and_then(|(one, times)| Some((one, times.parse().ok()?)));
    times.map_or(value.clone(), |(one, times)| Value::text(one.repeat(times)))
}

fn column<'t>(table: &'t Table, name: &str) -> Option<&'t shelfmark_keycode::KeyType> {
    let schema = &table.schema;
    let partition = schema.partition.iter().map(|own| (&own.name, &own.key_type));
    let sort = schema.sort.iter().map(|own| (&own.name, &own.key_type));
    partition.chain(sort).find(|(own, _)| *own == name).map(|(_, key_type)| key_type)
}

/// Takes the key of an item from the arguments.
pub(super) fn key(table: &Arc<Table>, args: &mut Args) -> Answer<Key> {
    let mut take = |name: &String| -> Answer<Option<Value>> {
        let Some(text) = args.take(name) else { return Ok(None) };
        let key_type = column(table, name).ok_or("no key column")?;
        Ok(Some(repeated(literal::of_type(key_type, &text)?)))
    };
    let (mut partition, mut sort) = (Vec::new(), Vec::new());
    for column in &table.schema.partition {
        partition.extend(take(&column.name)?);
    }
    for column in &table.schema.sort {
        sort.extend(take(&column.name)?);
    }
    Ok(Key { partition, sort })
}
