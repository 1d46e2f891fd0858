//! Reads query logs: statements, lines of a general log, a slow log of MySQL, and tables of
//! `pg_stat_statements` as CSV.
//!
//! What it is not: a reader of one server's format. A line that is none of these is a statement.
//!
//! Invariant: at most [`IMPORT_LOG_MAX`] statements are counted, however often each came.

use crate::ImportError;

/// Most statements of a log that are read.
///
/// Ours: the largest text with a statement every 16 bytes.
pub(crate) const IMPORT_LOG_MAX: usize = 250_000;

/// The statements of a log with their counts, and how long it took.
#[derive(Debug, Default)]
pub(super) struct Log {
    pub(super) statements: Vec<(String, u64)>,
    pub(super) span_seconds: Option<f64>,
}

impl Log {
    pub(super) fn add(&mut self, statement: &str, count: u64) {
        let statement = statement.trim().trim_end_matches(';').trim();
        let word: String = statement
            .chars()
            .take_while(char::is_ascii_alphabetic)
            .collect::<String>()
            .to_ascii_lowercase();
        // Sessions and transactions are no patterns.
        let pattern =
            ["select", "insert", "update", "delete", "replace", "with"].contains(&word.as_str());
        if pattern && self.statements.len() < IMPORT_LOG_MAX {
            self.statements.push((statement.to_owned(), count));
        }
    }
}

pub(super) fn read(text: &str) -> Result<Log, ImportError> {
    let first = text.lines().next().unwrap_or_default().to_ascii_lowercase();
    if first.contains("query") && first.contains("calls") && first.contains(',') {
        return counted(text);
    }
    let mut log = Log::default();
    let (mut low, mut high): (Option<f64>, Option<f64>) = (None, None);
    let mut open = String::new();
    for line in text.lines() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') || line.starts_with("--") {
            continue;
        }
        if let Some(stamp) = line.to_ascii_lowercase().strip_prefix("set timestamp=") {
            let seconds = stamp.trim_end_matches(';').parse::<f64>().ok();
            low = low.into_iter().chain(seconds).reduce(f64::min);
            high = high.into_iter().chain(seconds).reduce(f64::max);
            continue;
        }
        let line = behind_head(line);
        if starts(line) && !open.is_empty() {
            log.add(&std::mem::take(&mut open), 1);
        }
        if !open.is_empty() {
            open.push(' ');
        }
        open.push_str(line);
        if line.ends_with(';') {
            log.add(&std::mem::take(&mut open), 1);
        }
    }
    log.add(&open, 1);
    log.span_seconds = low.zip(high).map(|(low, high)| high - low).filter(|span| *span > 0.0);
    Ok(log)
}

/// Returns true if a statement begins.
fn starts(line: &str) -> bool {
    let word = line.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
    [
        "select", "insert", "update", "delete", "replace", "with", "begin", "commit", "set",
        "rollback", "start",
    ]
    .contains(&word.trim_end_matches(';'))
}

/// Returns a line without what a server writes before a statement: a time and `Query`, or
/// `LOG:  statement:`.
fn behind_head(line: &str) -> &str {
    for mark in ["statement: ", "execute <unnamed>: ", "Query\t", "Execute\t"] {
        if let Some((_, rest)) = line.split_once(mark) {
            return rest.trim();
        }
    }
    line
}

/// Reads CSV with a statement and its number of calls in each row.
fn counted(text: &str) -> Result<Log, ImportError> {
    let rows = rows(text)?;
    let mut rows = rows.into_iter();
    let head = rows.next().unwrap_or_default();
    let find = |name: &str| head.iter().position(|one| one.trim().eq_ignore_ascii_case(name));
    let (Some(query), Some(calls)) = (find("query"), find("calls")) else {
        return Err(ImportError::new("log:1:1", "expected columns called query and calls"));
    };
    let mut log = Log::default();
    for (at, row) in rows.enumerate() {
        let (Some(query), Some(calls)) = (row.get(query), row.get(calls)) else { continue };
        let count = calls.trim().parse::<u64>().map_err(|_| {
            ImportError::new(
                format!("log:{}:1", at + 2),
                format!("{calls:?} is no number of calls"),
            )
        })?;
        log.add(query, count);
    }
    Ok(log)
}

fn rows(text: &str) -> Result<Vec<Vec<String>>, ImportError> {
    let mut rows = vec![vec![String::new()]];
    let mut quoted = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let Some(row) = rows.last_mut() else { break };
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                row.last_mut().iter_mut().for_each(|field| field.push('"'));
            }
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(String::new()),
            '\n' if !quoted => {
                if rows.len() >= IMPORT_LOG_MAX {
                    let message =
                        format!("more than {IMPORT_LOG_MAX} rows; import the first of them");
                    return Err(ImportError::new("log:1:1", message));
                }
                rows.push(vec![String::new()]);
            }
            '\r' if !quoted => {}
            c => row.last_mut().iter_mut().for_each(|field| field.push(c)),
        }
    }
    Ok(rows)
}
