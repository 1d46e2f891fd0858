//! `shelfmark put`: one item as plain JSON.

use std::io::Read as _;

use anyhow::bail;
use shelfmark_dynamo::limits::{HASH_KEY_SIZE_BYTES_MAX, RANGE_KEY_SIZE_BYTES_MAX};
use shelfmark_engine::{ErrorKind, Write};
use shelfmark_model::{Condition, Item, KeyType, Path, TableSchema, Value};

use crate::arguments::Put;
use crate::json::item_from_json;
use crate::store::{DEFAULT_NAMESPACE, REGISTRY_NAMESPACE, items, with_engine};

pub(crate) fn run(put: &Put) -> anyhow::Result<()> {
    let text = if put.item == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text)?;
        text
    } else {
        put.item.clone()
    };
    with_engine(&put.data.data, |engine| {
        let table = items(engine, &put.data.data, &put.table)?;
        let schema = &table.schema;
        if schema.name.namespace == REGISTRY_NAMESPACE {
            bail!(
                "{} is the store's own list of databases; what is written there by hand breaks it",
                schema.name
            );
        }
        let key_type = |name: &str| -> Option<KeyType> {
            let partition = schema.partition.iter().map(|own| (&own.name, &own.key_type));
            let sort = schema.sort.iter().map(|own| (&own.name, &own.key_type));
            partition.chain(sort).find(|(own, _)| *own == name).map(|(_, found)| found.clone())
        };
        let item = item_from_json(&text, key_type)?;
        if schema.name.namespace == DEFAULT_NAMESPACE {
            check_key(schema, &item)?;
        }
        let mut write = Write::put(&table, item);
        if put.if_absent {
            let first = schema.partition.first().map(|own| own.name.clone()).unwrap_or_default();
            write = write.when(Condition::NotExists(Path::attribute(first)));
        }
        match engine.write(write) {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == ErrorKind::ConditionFailed => {
                bail!("an item with this key is there already; leave --if-absent out to replace it")
            }
            Err(error) => Err(error.into()),
        }
    })
}

/// Refuses keys that a DynamoDB client could not read.
fn check_key(schema: &TableSchema, item: &Item) -> anyhow::Result<()> {
    let partition = schema.partition.iter().map(|own| (&own.name, HASH_KEY_SIZE_BYTES_MAX));
    let sort = schema.sort.iter().map(|own| (&own.name, RANGE_KEY_SIZE_BYTES_MAX));
    for (name, most) in partition.chain(sort) {
        let length = match item.get(name) {
            Some(Value::Text(text)) => text.len(),
            Some(Value::Bytes(bytes)) => bytes.len(),
            _ => continue,
        };
        if length == 0 || length > most {
            bail!("{name} has {length} bytes; in a key of a DynamoDB table it has 1 to {most}");
        }
    }
    Ok(())
}
