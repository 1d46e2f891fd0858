//! `shelfmark put` and `shelfmark delete`: one item.

use std::io::Read as _;

use anyhow::anyhow;
use serde_json::value::RawValue;

use crate::arguments::{Delete, Put};

pub(crate) fn run(put: &Put) -> anyhow::Result<()> {
    let text = if put.item == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text)?;
        text
    } else {
        put.item.clone()
    };
    let item = RawValue::from_string(text).map_err(|error| {
        anyhow!("the item is no JSON: {error}; write it as {{\"name\": value}}")
    })?;
    let request = shelfmark_admin::Put { table: put.table.clone(), item, if_absent: put.if_absent };
    put.place.ask(|asked| asked.run(request).map(drop))
}

pub(crate) fn delete(delete: &Delete) -> anyhow::Result<()> {
    let request = shelfmark_admin::Delete {
        table: delete.table.clone(),
        key: delete.key.clone(),
        if_present: delete.if_present,
    };
    delete.place.ask(|asked| asked.run(request).map(drop))
}
