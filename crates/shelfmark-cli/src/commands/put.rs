//! `shelfmark put`: one item as plain JSON.

use std::io::Read as _;

use anyhow::bail;
use shelfmark_engine::{ErrorKind, Write};
use shelfmark_model::{Condition, KeyType, Path};

use crate::arguments::Put;
use crate::json::item_from_json;
use crate::store::{table, with_engine};

pub(crate) fn run(put: &Put) -> anyhow::Result<()> {
    let text = if put.item == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text)?;
        text
    } else {
        put.item.clone()
    };
    with_engine(&put.data.data, |engine| {
        let table = table(engine, &put.table)?;
        let schema = &table.schema;
        let key_type = |name: &str| -> Option<KeyType> {
            let partition = schema.partition.iter().map(|own| (&own.name, &own.key_type));
            let sort = schema.sort.iter().map(|own| (&own.name, &own.key_type));
            partition.chain(sort).find(|(own, _)| *own == name).map(|(_, found)| found.clone())
        };
        let item = item_from_json(&text, key_type)?;
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
