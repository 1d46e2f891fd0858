//! Calls about tables and indexes.

use shelfmark_keycode::{Direction, KeyType};
use shelfmark_model::{
    IndexKind, IndexSchema, IndexState, KeyColumn, Placement, Projected, SortColumn, TableOptions,
    TableSchema, TtlSource,
};

use super::arguments::Args;
use super::runner::{Answer, Script, table_name};

/// `name/type`, or `name/type/desc`.
fn column(text: &str) -> Answer<(String, KeyType, Direction)> {
    let mut parts = text.split('/');
    let name = parts.next().ok_or("a column without a name")?.to_owned();
    let key_type = match parts.next().ok_or("a column without a type")? {
        "text" => KeyType::Text,
        "bytes" => KeyType::Bytes,
        "bool" => KeyType::Bool,
        "i64" => KeyType::I64,
        "u32" => KeyType::U32,
        "f64" => KeyType::F64,
        "decimal" => KeyType::Decimal,
        "date" => KeyType::Date,
        "timestamp" => KeyType::Timestamp,
        other => return Err(format!("there is no key type {other}").into()),
    };
    let is_descending = parts.next() == Some("desc");
    let direction = if is_descending { Direction::Descending } else { Direction::Ascending };
    Ok((name, key_type, direction))
}

fn columns(args: &mut Args) -> Answer<(Vec<KeyColumn>, Vec<SortColumn>)> {
    let (mut partition, mut sort) = (Vec::new(), Vec::new());
    for text in args.all("partition") {
        let (name, key_type, _) = column(&text)?;
        partition.push(KeyColumn::new(name, key_type));
    }
    for text in args.all("sort") {
        let (name, key_type, direction) = column(&text)?;
        sort.push(SortColumn::new(name, key_type, direction));
    }
    Ok((partition, sort))
}

/// `ttl=each` (every write may say when), `ttl=ATTRIBUTE`, `ttl=off`; `counts`, `log`, `strict`;
/// `shard` (items), `item_max` (bytes).
fn options(args: &mut Args, options: &mut TableOptions) -> Answer<()> {
    match args.take("ttl").as_deref() {
        None => {}
        Some("off") => options.ttl = None,
        Some("each") => options.ttl = Some(TtlSource::PerItem),
        Some(name) => options.ttl = Some(TtlSource::Attribute(name.to_owned())),
    }
    for (name, option) in [
        ("counts", &mut options.exact_counts),
        ("log", &mut options.change_log),
        ("strict", &mut options.strict_index_keys),
    ] {
        if let Some(value) = args.take(name) {
            *option = value == "true";
        }
    }
    options.shard_items_max = args.number("shard")?.or(options.shard_items_max);
    options.item_size_bytes_max = args.number("item_max")?.or(options.item_size_bytes_max);
    Ok(())
}

fn index_schema(args: &mut Args) -> Answer<IndexSchema> {
    let name = args.next("which index?")?;
    let (partition, sort) = columns(args)?;
    let projected = args.all("project");
    Ok(IndexSchema {
        name,
        kind: match args.flag("unique") {
            true => IndexKind::Unique,
            false => IndexKind::Secondary,
        },
        partition,
        sort,
        projected: match projected.first().map(String::as_str) {
            None => Projected::All,
            Some("keys") => Projected::KeysOnly,
            Some(_) => Projected::Include(projected),
        },
        state: IndexState::Public,
    })
}

pub(super) fn create(script: &mut Script, args: &mut Args) -> Answer<String> {
    let name = args.next("which table?")?;
    let (partition, sort) = columns(args)?;
    let first = partition.first().ok_or("a table needs a partition key")?.clone();
    let mut schema = TableSchema { partition, sort, ..TableSchema::new(table_name(&name), first) };
    if args.take("placement").as_deref() == Some("ordered") {
        schema.placement = Placement::Ordered;
    }
    options(args, &mut schema.options)?;
    script.bed.create_table(schema)?;
    Ok(String::new())
}

pub(super) fn alter(script: &mut Script, args: &mut Args) -> Answer<String> {
    let name = table_name(&args.next("which table?")?);
    let mut changed = script.bed.engine.table(&name)?.schema.options.clone();
    options(args, &mut changed)?;
    script.bed.alter_options(&name, |options| *options = changed.clone())?;
    Ok(String::new())
}

pub(super) fn drop_table(script: &mut Script, args: &mut Args) -> Answer<String> {
    script.bed.drop_table(&table_name(&args.next("which table?")?))?;
    Ok(String::new())
}

pub(super) fn index(script: &mut Script, args: &mut Args) -> Answer<String> {
    let table = table_name(&args.next("which table?")?);
    script.bed.add_index(&table, index_schema(args)?)?;
    Ok(String::new())
}

pub(super) fn drop_index(script: &mut Script, args: &mut Args) -> Answer<String> {
    let table = table_name(&args.next("which table?")?);
    script.bed.drop_index(&table, &args.next("which index?")?)?;
    Ok(String::new())
}

/// `tables [namespace=…] [after=…] [limit=…]`.
pub(super) fn list(script: &mut Script, args: &mut Args) -> Answer<String> {
    let namespace = args.take("namespace");
    let after = args.take("after").map(|after| table_name(&after));
    let limit = args.number("limit")?.unwrap_or(usize::MAX);
    let names = script.bed.engine.table_names(namespace.as_deref(), after.as_ref(), limit)?;
    Ok(names.iter().map(|name| format!("{}.{}\n", name.namespace, name.name)).collect())
}

pub(super) fn describe(script: &mut Script, args: &mut Args) -> Answer<String> {
    let table = script.bed.engine.table(&table_name(&args.next("which table?")?))?;
    let mut out = format!("version {}, {:?}\n", table.version, table.schema.placement);
    for index in table.indexes() {
        let schema = &index.schema;
        out.push_str(&format!("  index {}: {:?}, {:?}\n", schema.name, schema.kind, schema.state));
    }
    Ok(out)
}

/// `keep OLD TABLE`: calls that name `OLD` use the form that the table has now.
pub(super) fn keep(script: &mut Script, args: &mut Args) -> Answer<String> {
    let kept = args.next("under which name?")?;
    let table = script.table(args)?;
    script.kept.insert(kept, table);
    Ok(String::new())
}
