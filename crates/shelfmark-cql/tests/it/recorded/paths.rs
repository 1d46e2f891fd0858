//! Access paths: what each SELECT and each conditional write read, a line each in a golden file.
//!
//! What it is not: keys and bytes. A path names the table or index that was read, the key ranges by
//! their kind, and how many rows were read and returned: what changes when a plan does.
//! Unconditional writes are left out, for what they read is the engine's choice and not a plan's.
//!
//! Why the files are generated: two thousand paths follow from the plans, and nobody writes them by
//! hand. `SHELFMARK_BLESS=1` writes them anew; read what changed before it is committed.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use shelfmark_engine::{AccessReport, AccessStep};
use shelfmark_store::KeyRange;

/// The folder of the golden files, one for each script.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/recorded/paths");

/// Longest text of a statement in a line.
const TEXT_CHARS_MAX: usize = 90;

/// The tables that are read to find out what a role may do, whenever a cache is cold.
const OF_ROLES: [&str; 3] = ["roles", "role_permissions", "identity_to_role"];

/// Collects what the engine reports while a statement runs.
#[derive(Clone, Default)]
pub(super) struct Observer(Arc<Mutex<Vec<AccessStep>>>);

impl Observer {
    pub(super) fn note(&self, report: &AccessReport) {
        self.0.lock().unwrap().extend(report.steps.iter().cloned());
    }

    /// Takes what was reported since the last call.
    pub(super) fn take(&self) -> Vec<AccessStep> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// Returns the line of a statement, if it is one whose path is kept and it read anything.
pub(super) fn line(statement: &str, steps: &[AccessStep]) -> Option<String> {
    let upper = statement.to_ascii_uppercase();
    let is_kept = upper.starts_with("SELECT") || upper.contains(" IF ");
    let own = |step: &&AccessStep| !OF_ROLES.contains(&step.table.as_str());
    let parts: Vec<String> = steps.iter().filter(own).map(step_text).collect();
    if !is_kept || parts.is_empty() {
        return None;
    }
    let mut text: String = statement.chars().take(TEXT_CHARS_MAX).collect();
    if text.len() < statement.len() {
        text.push('…');
    }
    Some(format!("{text} => {}", parts.join("; ")))
}

/// Writes a step as `table.index kinds of ranges, rows read/rows returned`.
fn step_text(step: &AccessStep) -> String {
    let mut out = step.table.clone();
    if let Some(index) = &step.index {
        let _ = write!(out, ".{index}");
    }
    let mut kinds: Vec<(&str, usize)> = Vec::new();
    for kind in step.ranges.iter().map(kind) {
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, count)) => *count += 1,
            None => kinds.push((kind, 1)),
        }
    }
    if kinds.is_empty() {
        out.push_str(" by key");
    }
    for (kind, count) in kinds {
        let _ = if count == 1 { write!(out, " {kind}") } else { write!(out, " {count}×{kind}") };
    }
    let _ = write!(out, " {}/{}", step.rows_read, step.rows_returned);
    if step.keys_peeked > 0 {
        let _ = write!(out, " +{} keys", step.keys_peeked);
    }
    out
}

/// Returns what a range covers, by what its start has behind tree and id: `docs/format.md`, "Keys of
/// the engine".
fn kind(range: &KeyRange) -> &'static str {
    let Some((tree, mut rest)) = range.start.split_first() else { return "STORE" };
    if shelfmark_keycode::take_ordered_varint(&mut rest).is_err() {
        return "STORE";
    }
    match (tree, rest) {
        (2, []) => "TABLE",
        (_, []) => "INDEX",
        (2, [_, ..]) if rest.len() <= 8 => "TOKENS",
        (2, _) => in_partition(rest.get(8..).unwrap_or_default(), range),
        _ => "entries",
    }
}

fn in_partition(key: &[u8], range: &KeyRange) -> &'static str {
    let end = key.windows(2).position(|pair| matches!(pair, [0, 1]));
    match end.and_then(|end| key.get(end + 2..)) {
        Some([0]) => "statics",
        Some([1]) if range.end.as_ref().is_some_and(|end| end.ends_with(&[2])) => "partition",
        Some([_, ..]) => "slice",
        Some([]) | None => "TOKENS",
    }
}

/// Compares the lines of a script with its golden file, or writes that anew. Returns what differs.
#[expect(clippy::disallowed_methods, reason = "the files are no data of a store")]
pub(super) fn differences(name: &str, lines: &[String]) -> Vec<String> {
    let path = format!("{FOLDER}/{name}.txt");
    let given: String = lines.iter().map(|line| format!("{line}\n")).collect();
    if std::env::var_os("SHELFMARK_BLESS").is_some() {
        if given.is_empty() {
            let _ = std::fs::remove_file(path);
        } else {
            std::fs::write(path, given).unwrap();
        }
        return Vec::new();
    }
    let wanted = std::fs::read_to_string(path).unwrap_or_default();
    let wanted: Vec<&str> = wanted.lines().collect();
    let mut found = Vec::new();
    for at in 0..wanted.len().max(lines.len()) {
        let (wanted, given) = (wanted.get(at).copied(), lines.get(at).map(String::as_str));
        if wanted != given {
            let shown = |line: Option<&str>| line.unwrap_or("(nothing)").to_owned();
            found.push(format!("{name}, path:\n- {}\n+ {}", shown(wanted), shown(given)));
        }
    }
    found
}
