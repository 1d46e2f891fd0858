//! Imports SQL: tables with foreign keys, and the statements of a query log as patterns with rates.
//!
//! The parser reads what PostgreSQL, MySQL and SQLite write in dumps: `CREATE TABLE`, `ALTER TABLE …
//! ADD`, indexes and enums. Other statements about the schema are passed over.
//!
//! What it is not: a parser of all SQL. A statement of the log that it does not understand is told
//! with the reason, with how often it came.

mod checks;
mod condition;
mod log;
mod shape;
mod statement;
mod tables;
mod write;

use std::collections::BTreeMap;

use crate::draft::{Draft, Pattern};
use crate::names::{Names, comment};
use crate::relational;
use crate::{ImportError, tokens};

/// Most different statements of a log that become patterns.
///
/// Ours: the most patterns that a model may have is ten times as much.
pub(crate) const IMPORT_STATEMENTS_MAX: usize = 1_000;

/// Imports tables, and the statements of a log with how long it took.
pub(crate) fn import(
    name: &str,
    text: &str,
    log: Option<&str>,
    span_seconds: Option<f64>,
) -> Result<String, ImportError> {
    let tokens = tokens::tokens(text, tokens::SQL)?;
    let found = tables::tables(&tokens, text)?;
    if found.tables.is_empty() {
        return Err(ImportError::new("1:1", "there is no CREATE TABLE in it"));
    }
    let mut draft = Draft { source: format!("SQL: {}", comment(name)), ..Draft::default() };
    if !found.left.is_empty() {
        let left = comment(&found.left.join(", "));
        draft.remarks.push(format!("? Left out of the schema: {left}. Do patterns need them?"));
    }
    let tables = relational::write(&mut draft, found.tables);
    let mut log = log.map(log::read).transpose()?.unwrap_or_default();
    // What stands among the tables counts once.
    for (start, end) in found.others {
        log.add(text.get(start..end).unwrap_or_default(), 1);
    }
    let span = span_seconds.or(log.span_seconds).filter(|span| *span > 0.0);
    let mut counted: BTreeMap<String, (u64, shape::Shape)> = BTreeMap::new();
    let mut left: BTreeMap<String, u64> = BTreeMap::new();
    for (statement, count) in &log.statements {
        match statement::shape(statement, &tables) {
            Ok(shape) => {
                let entry = counted.entry(shape.text()).or_insert_with(|| (0, shape.clone()));
                entry.0 += count;
                entry.1.agree(shape);
            }
            Err(why) => *left.entry(why).or_default() += count,
        }
    }
    if log.statements.is_empty() {
        draft.remarks.push(
            "? Which reads and writes are there? A query log beside the tables says it: --log FILE."
                .to_owned(),
        );
    } else if span.is_none() {
        draft.remarks.push(
            "? How long did the log take? With --span 1h each pattern gets its rate.".to_owned(),
        );
    }
    let mut names = Names::default();
    let mut found: Vec<(u64, shape::Shape)> = counted.into_values().collect();
    found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.text().cmp(&b.1.text())));
    if found.len() > IMPORT_STATEMENTS_MAX {
        let more = found.len() - IMPORT_STATEMENTS_MAX;
        draft.remarks.push(format!(
            "? Statements beyond the {IMPORT_STATEMENTS_MAX} commonest that are left out: {more}."
        ));
    }
    for (count, shape) in found.into_iter().take(IMPORT_STATEMENTS_MAX) {
        let (text, remarks) = write::pattern(&shape, &tables, &mut names);
        let rate = span.map(|span| rate(count, span)).unwrap_or_default();
        draft.patterns.push(Pattern { remarks, text: format!("{text}{rate}") });
    }
    let told: Vec<String> = left
        .into_iter()
        .map(|(why, count)| {
            format!(
                "? Not imported (came {count} {}): {}.",
                if count == 1 { "time" } else { "times" },
                comment(&why)
            )
        })
        .collect();
    if !told.is_empty() {
        draft.patterns.push(Pattern { remarks: told, text: String::new() });
    }
    Ok(draft.text())
}

/// Returns the rate of a pattern, with no more digits than a log can tell.
fn rate(count: u64, span: f64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "a rate of three digits is told")]
    let rate = count as f64 / span;
    match rate {
        rate if rate >= 10.0 => format!(" rate {rate:.0}/s"),
        rate if rate >= 0.01 => format!(" rate {rate:.2}/s"),
        rate => format!(" rate {:.5}/s", rate.max(0.000_01)),
    }
}
