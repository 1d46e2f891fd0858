//! `shelfmark stats`: the content of a store and its size on disk.

use std::io::Write as _;

use serde_json::json;

use super::tables::all_tables;
use crate::arguments::Stats;
use crate::store::with_engine;
use crate::table::table;

pub(crate) fn run(stats: &Stats) -> anyhow::Result<()> {
    with_engine(&stats.data.data, |engine| {
        let tables = all_tables(engine)?.len();
        let store = engine.store().stats();
        let mut out = std::io::stdout();
        if stats.json {
            let text = serde_json::to_string_pretty(&json!({
                "tables": tables,
                "commits": store.published,
                "tree_bytes_on_disk": store.tree_bytes_on_disk,
                "log_bytes_on_disk": store.log_bytes_on_disk,
                "memory_table_bytes": store.memory_table_bytes,
                "disk_free_bytes": store.disk_free_bytes,
            }))?;
            writeln!(out, "{text}")?;
            return Ok(());
        }
        let mut rows = table(["what", "how much"]);
        rows.add_row(["tables".to_owned(), tables.to_string()]);
        rows.add_row(["commits since it was created".to_owned(), store.published.to_string()]);
        rows.add_row(["rows in table files".to_owned(), bytes(store.tree_bytes_on_disk)]);
        rows.add_row(["commit log on disk".to_owned(), bytes(store.log_bytes_on_disk)]);
        rows.add_row([
            "in memory, not yet in table files".to_owned(),
            bytes(store.memory_table_bytes),
        ]);
        if let Some(free) = store.disk_free_bytes {
            rows.add_row(["free on the disk".to_owned(), bytes(free)]);
        }
        writeln!(out, "{rows}")?;
        Ok(())
    })
}

fn bytes(count: u64) -> String {
    indicatif::HumanBytes(count).to_string()
}
