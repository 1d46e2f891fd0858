//! `shelfmark get`: one item by its key.

use std::io::Write as _;

use anyhow::bail;
use shelfmark_model::Key;

use crate::arguments::Get;
use crate::json::{PlainItem, key_value};
use crate::store::{items, with_engine};

pub(crate) fn run(get: &Get) -> anyhow::Result<()> {
    with_engine(&get.data.data, |engine| {
        let table = items(engine, &get.data.data, &get.table)?;
        let (partition, sort) = (&table.schema.partition, &table.schema.sort);
        if get.key.len() != partition.len() + sort.len() {
            let names: Vec<&str> = table.schema.key_names().collect();
            bail!("the key of {} is: {}", table.schema.name, names.join(", "));
        }
        let types = partition
            .iter()
            .map(|column| &column.key_type)
            .chain(sort.iter().map(|column| &column.key_type));
        let mut values = types
            .zip(&get.key)
            .map(|(key_type, text)| key_value(key_type, text))
            .collect::<anyhow::Result<Vec<_>>>()?;
        let sort = values.split_off(partition.len());
        let key = Key { partition: values, sort };
        let got = engine.get(&table, &shelfmark_engine::Get::new(key))?;
        let Some(item) = got.item else { bail!("there is no item with this key") };
        let text = serde_json::to_string_pretty(&PlainItem(&item))?;
        writeln!(std::io::stdout(), "{text}")?;
        Ok(())
    })
}
