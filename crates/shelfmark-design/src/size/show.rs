//! Formats the report as a table for people.

use std::fmt;

use super::{SchemaSize, SizeReport};

impl fmt::Display for SizeReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, schema) in self.schemas.iter().enumerate() {
            if at > 0 {
                writeln!(out)?;
            }
            show(schema, out)?;
        }
        Ok(())
    }
}

fn show(schema: &SchemaSize, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    writeln!(out, "{} ({})", schema.schema, schema.target)?;
    table(&families(schema), out)?;
    if !schema.writes.is_empty() {
        writeln!(out)?;
        table(&writes(schema), out)?;
    }
    if !schema.hot.is_empty() {
        writeln!(out)?;
        table(&hot(schema), out)?;
    }
    for unknown in &schema.unknown {
        writeln!(out, "  ? not declared: {unknown}")?;
    }
    Ok(())
}

fn head(words: &[&str]) -> Vec<Vec<String>> {
    vec![words.iter().map(|&word| word.to_owned()).collect()]
}

fn families(schema: &SchemaSize) -> Vec<Vec<String>> {
    let mut rows = head(&[
        "family",
        "row",
        "rows in a partition: avg",
        "p99",
        "worst",
        "bytes: avg",
        "p99",
        "worst",
        "limit reached",
    ]);
    for family in &schema.families {
        let limit = family.limits.iter().find(|limit| limit.target == schema.target);
        let reached = match limit.map(|limit| limit.months) {
            None => "?".to_owned(),
            Some(None) => "-".to_owned(),
            Some(Some(0.0)) => "now".to_owned(),
            Some(Some(months)) => format!("in {months:.0} months"),
        };
        rows.push(vec![
            family.family.clone(),
            bytes(Some(family.row_bytes)),
            bounded(family.at_most, count(family.partition_rows.average)),
            bounded(family.at_most, count(family.partition_rows.p99)),
            count(family.partition_rows.worst),
            bounded(family.at_most, bytes(family.partition_bytes.average)),
            bounded(family.at_most, bytes(family.partition_bytes.p99)),
            bytes(family.partition_bytes.worst),
            reached,
        ]);
    }
    rows
}

fn writes(schema: &SchemaSize) -> Vec<Vec<String>> {
    let mut rows = head(&[
        "write",
        "reads",
        "rows: avg",
        "p99",
        "worst",
        "entries: avg",
        "bytes: avg",
        "worst",
        "per change",
    ]);
    for write in &schema.writes {
        let over = write.rows.p99.is_some_and(|rows| rows > write.limit_rows);
        let mut per = write.amplification.map_or_else(|| "?".to_owned(), |by| format!("{by:.1}x"));
        if over {
            per = format!("{per}, over the {} of a transaction", count(Some(write.limit_rows)));
        }
        rows.push(vec![
            write.write.clone(),
            write.reads.to_string(),
            count(write.rows.average),
            count(write.rows.p99),
            count(write.rows.worst),
            bounded(write.at_most, count(write.entries.average)),
            bounded(write.at_most, bytes(write.bytes.average)),
            bytes(write.bytes.worst),
            per,
        ]);
    }
    rows
}

fn hot(schema: &SchemaSize) -> Vec<Vec<String>> {
    let mut rows = head(&["hottest partition", "of", "share", "per second", "takes"]);
    for hot in &schema.hot {
        let over = if hot.per_second > hot.limit_per_second { " too hot" } else { "" };
        rows.push(vec![
            format!("{} {}", if hot.write { "write" } else { "read" }, hot.pattern),
            hot.table.clone(),
            format!("{:.3}%", hot.share * 100.0),
            format!("{:.1}", hot.per_second),
            format!("{}{over}", count(Some(hot.limit_per_second))),
        ]);
    }
    rows
}

/// Formats columns as wide as they must be; the first to the left, the others to the right.
fn table(rows: &[Vec<String>], out: &mut fmt::Formatter<'_>) -> fmt::Result {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |at: usize| {
        rows.iter()
            .filter_map(|row| row.get(at))
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for row in rows {
        let mut line = String::from(" ");
        for (at, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let pad = " ".repeat(width.saturating_sub(cell.chars().count()));
            let text = if at == 0 { format!("{cell}{pad}") } else { format!("{pad}{cell}") };
            line.push_str(&format!(" {text} "));
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// Formats a figure that may be less.
fn bounded(at_most: bool, figure: String) -> String {
    if at_most && figure != "?" { format!("at most {figure}") } else { figure }
}

/// Formats a number for people, in thousands.
pub(crate) fn count(value: Option<f64>) -> String {
    value.map_or_else(|| "?".to_owned(), |value| scaled(value, 1_000.0, &["", "k", "M", "G", "T"]))
}

/// Formats bytes for people, in powers of 1,024.
pub(crate) fn bytes(value: Option<f64>) -> String {
    let units = [" B", " KiB", " MiB", " GiB", " TiB"];
    value.map_or_else(|| "?".to_owned(), |value| scaled(value, 1_024.0, &units))
}

fn scaled(mut value: f64, step: f64, units: &[&str]) -> String {
    let mut unit = 0;
    while value >= step && unit + 1 < units.len() {
        value /= step;
        unit += 1;
    }
    let unit = units.get(unit).copied().unwrap_or("");
    if value >= 100.0 || (value - value.round()).abs() < 0.05 {
        format!("{value:.0}{unit}")
    } else {
        format!("{value:.1}{unit}")
    }
}
