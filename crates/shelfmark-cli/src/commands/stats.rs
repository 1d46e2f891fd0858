//! `shelfmark stats`: the content of a store and its size on disk.

use std::io::Write as _;

use crate::arguments::Stats;
use crate::table::print;

pub(crate) fn run(stats: &Stats) -> anyhow::Result<()> {
    stats.place.ask(|asked| {
        let store = asked.run(shelfmark_admin::Stats {})?;
        if stats.json {
            writeln!(std::io::stdout(), "{}", serde_json::to_string_pretty(&store)?)?;
            return Ok(());
        }
        let bytes = |count: u64| match stats.csv {
            true => count.to_string(),
            false => indicatif::HumanBytes(count).to_string(),
        };
        let rows = [
            ("tables", Some(store.tables.to_string())),
            ("commits since it was created", Some(store.commits.to_string())),
            ("rows in table files", Some(bytes(store.tree_bytes_on_disk))),
            ("commit log on disk", Some(bytes(store.log_bytes_on_disk))),
            ("in memory, not yet in table files", Some(bytes(store.memory_table_bytes))),
            ("free on the disk", store.disk_free_bytes.map(bytes)),
        ];
        let rows = rows.into_iter().filter_map(|(what, much)| Some([what.to_owned(), much?]));
        print(["what", "how much"], rows, stats.csv)?;
        Ok(())
    })
}
