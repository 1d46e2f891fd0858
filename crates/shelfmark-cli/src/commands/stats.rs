//! `shelfmark stats`: the content of a store, a table or a partition, and its size.
//!
//! Invariant: a figure that is an estimate is printed with `about` before it.

use std::io::Write as _;

use shelfmark_admin::{
    Extent, PartitionStats, PartitionStatsAnswer, PlaceEntry, Range, ShardEntry, StretchEntry,
    TableStats, TableStatsAnswer,
};

use crate::arguments::Stats;
use crate::place::Asked;
use crate::table::print;

/// Hexadecimal digits of a key that a table shows; `--json` has all.
const KEY_DIGITS_MAX: usize = 40;

pub(crate) fn run(stats: &Stats) -> anyhow::Result<()> {
    stats.place.ask(|asked| match &stats.table {
        None => of_store(stats, asked),
        Some(table) if stats.partition.is_empty() => {
            let table = table.clone();
            of_table(stats, &asked.run(TableStats { table })?)
        }
        Some(table) => {
            let (table, partition) = (table.clone(), stats.partition.clone());
            of_partition(stats, &asked.run(PartitionStats { table, partition })?)
        }
    })
}

impl Stats {
    /// Formats a number of bytes: for people, or as digits for CSV.
    fn bytes(&self, count: u64) -> String {
        match self.csv {
            true => count.to_string(),
            false => indicatif::HumanBytes(count).to_string(),
        }
    }

    /// Formats a figure of some rows.
    fn figure(extent: &Extent, figure: impl std::fmt::Display) -> String {
        let about = if extent.exact { "" } else { "about " };
        format!("{about}{figure}")
    }

    fn print(&self, rows: Vec<(&str, String)>) -> anyhow::Result<()> {
        let rows = rows.into_iter().map(|(what, much)| [what.to_owned(), much]);
        Ok(print(["what", "how much"], rows, self.csv)?)
    }
}

fn of_store(stats: &Stats, asked: &Asked) -> anyhow::Result<()> {
    let store = asked.run(shelfmark_admin::Stats {})?;
    if stats.json {
        writeln!(std::io::stdout(), "{}", serde_json::to_string_pretty(&store)?)?;
        return Ok(());
    }
    let mut rows = vec![
        ("tables", store.tables.to_string()),
        ("commits since it was created", store.commits.to_string()),
        ("rows in table files", stats.bytes(store.tree_bytes_on_disk)),
        ("commit log on disk", stats.bytes(store.log_bytes_on_disk)),
        ("in memory, not yet in table files", stats.bytes(store.memory_table_bytes)),
    ];
    rows.extend(store.disk_free_bytes.map(|free| ("free on the disk", stats.bytes(free))));
    stats.print(rows)
}

/// Returns the rows of an extent.
fn extent_rows(stats: &Stats, extent: &Extent) -> Vec<(&'static str, String)> {
    vec![
        ("partitions", Stats::figure(extent, extent.partitions)),
        ("rows", Stats::figure(extent, extent.rows)),
        ("size before compression", Stats::figure(extent, stats.bytes(extent.bytes))),
    ]
}

fn of_table(stats: &Stats, answer: &TableStatsAnswer) -> anyhow::Result<()> {
    let mut out = std::io::stdout();
    if stats.json {
        writeln!(out, "{}", serde_json::to_string_pretty(answer)?)?;
        return Ok(());
    }
    let own = &answer.table;
    let mut rows = vec![
        ("table", format!("{}.{}", own.namespace, own.name)),
        ("owner", own.owner.clone()),
        ("placement", own.placement.clone()),
        ("partition key", own.partition_key.clone()),
        ("sort key", own.sort_key.clone()),
    ];
    rows.extend(extent_rows(stats, &answer.extent));
    if let Some(limits) = answer.shards {
        let items = limits.items_max.map(|most| format!("{most} items"));
        let bytes = limits.bytes_max.map(|most| stats.bytes(most));
        let limits: Vec<String> = items.into_iter().chain(bytes).collect();
        rows.push(("partitions are split above", limits.join(" or ")));
    }
    stats.print(rows)?;
    if !answer.indexes.is_empty() {
        writeln!(out)?;
        let rows = answer.indexes.iter().map(|index| {
            let extent = &index.extent;
            let size = Stats::figure(extent, stats.bytes(extent.bytes));
            [index.name.clone(), Stats::figure(extent, extent.rows), size]
        });
        print(["index", "entries", "size"], rows, stats.csv)?;
    }
    if !answer.largest.is_empty() {
        writeln!(out)?;
        let rows = answer.largest.iter().map(|own| stretch_row(stats, own));
        print(["largest stretches from", "partitions", "rows", "size"], rows, stats.csv)?;
    }
    Ok(())
}

fn stretch_row(stats: &Stats, own: &StretchEntry) -> [String; 4] {
    let extent = &own.extent;
    [
        own.from.clone(),
        Stats::figure(extent, extent.partitions),
        Stats::figure(extent, extent.rows),
        Stats::figure(extent, stats.bytes(extent.bytes)),
    ]
}

fn of_partition(stats: &Stats, answer: &PartitionStatsAnswer) -> anyhow::Result<()> {
    let mut out = std::io::stdout();
    if stats.json {
        writeln!(out, "{}", serde_json::to_string_pretty(answer)?)?;
        return Ok(());
    }
    let mut rows =
        vec![("table", answer.table.clone()), ("partition", answer.partition.join(" / "))];
    rows.extend(extent_rows(stats, &answer.extent));
    rows.extend(answer.token.map(|token| ("token", token.to_string())));
    let Range { from, to } = &answer.range;
    rows.push(("keys from", from.clone()));
    rows.extend(to.clone().map(|to| ("keys before", to)));
    if answer.places.is_empty() {
        rows.push(("it lies", "in memory alone, if it is there".to_owned()));
    }
    stats.print(rows)?;
    if !answer.places.is_empty() {
        writeln!(out)?;
        print(
            ["it lies in", "name", "keys from", "keys before"],
            answer.places.iter().map(place_row),
            stats.csv,
        )?;
        if answer.places_more && !stats.csv {
            writeln!(out, "There are more.")?;
        }
    }
    if !answer.shards.is_empty() {
        writeln!(out)?;
        let rows = answer.shards.iter().map(|own| shard_row(stats, own));
        print(["shard", "from", "items", "size", "being split"], rows, stats.csv)?;
    }
    Ok(())
}

fn place_row(place: &PlaceEntry) -> [String; 4] {
    let to = place.range.to.as_deref().map_or_else(|| "the end".to_owned(), shorten);
    [place.kind.clone(), place.name.clone(), shorten(&place.range.from), to]
}

fn shard_row(stats: &Stats, own: &ShardEntry) -> [String; 5] {
    [
        own.id.to_string(),
        own.from.as_ref().map_or_else(|| "the first key".to_owned(), |from| from.join(" / ")),
        own.items.to_string(),
        own.bytes.map(|bytes| stats.bytes(bytes)).unwrap_or_default(),
        if own.splitting { "yes" } else { "no" }.to_owned(),
    ]
}

fn shorten(digits: &str) -> String {
    match digits.get(..KEY_DIGITS_MAX) {
        Some(head) if digits.len() > KEY_DIGITS_MAX => format!("{head}…"),
        _ => digits.to_owned(),
    }
}
