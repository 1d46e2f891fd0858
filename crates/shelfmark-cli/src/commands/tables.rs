//! `shelfmark tables`: the tables and their keys.

use std::io::Write as _;

use shelfmark_admin::TableEntry;

use crate::arguments::Tables;
use crate::table::print;

pub(crate) fn run(tables: &Tables) -> anyhow::Result<()> {
    tables.place.ask(|asked| {
        let answer = asked.run(shelfmark_admin::Tables { all: tables.all })?;
        answer.unreadable.iter().for_each(|why| anstream::eprintln!("{why}"));
        let mut out = std::io::stdout();
        if tables.json {
            writeln!(out, "{}", serde_json::to_string_pretty(&answer.tables)?)?;
            return Ok(());
        }
        if answer.tables.is_empty() && answer.unreadable.is_empty() && !tables.csv {
            writeln!(out, "The store has no tables yet.")?;
            return Ok(());
        }
        let heads = ["table", "owner", "partition key", "sort key", "placement", "indexes"];
        print(heads, answer.tables.into_iter().map(row), tables.csv)?;
        Ok(())
    })
}

fn row(own: TableEntry) -> [String; 6] {
    let indexes: Vec<String> = own.indexes.into_iter().map(|index| index.name).collect();
    let name = format!("{}.{}", own.namespace, own.name);
    [name, own.owner, own.partition_key, own.sort_key, own.placement, indexes.join(", ")]
}
