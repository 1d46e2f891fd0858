//! Scripts of `cassandra-cli` from nowhere, in both modes and as a whole document.
//!
//! Input: the text. Every place that is named lies inside of it, and what strict mode reads of a
//! plain text, forgiving mode reads alike and without a warning.

use shelfmark_cassandra_cli::{Command, Mode, Place, Script, document, parse, script};

/// Runs one input.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let strict = read(&text, &script(&text, Mode::Strict), Mode::Strict);
    let forgiving = read(&text, &script(&text, Mode::Forgiving), Mode::Forgiving);
    read(&text, &document(&text), Mode::Forgiving);
    let plain = text.is_ascii();
    if let (true, Some((commands, 0))) = (plain, strict) {
        assert_eq!(forgiving, Some((commands, 0)), "{text}");
    }
}

/// Returns the commands and the number of warnings, or nothing when one does not parse.
fn read(text: &str, script: &Script, mode: Mode) -> Option<(Vec<Command>, usize)> {
    let mut warnings = script.warnings.clone();
    let mut commands = Vec::new();
    let mut failed = false;
    for piece in &script.pieces {
        match parse(piece, mode, &mut warnings) {
            Ok(command) => commands.push(command),
            Err(error) => {
                inside(text, error.place());
                failed = true;
            }
        }
    }
    for warning in &warnings {
        assert_eq!(mode, Mode::Forgiving, "{warning}");
        inside(text, warning.place());
    }
    (!failed).then_some((commands, warnings.len()))
}

fn inside(text: &str, place: Place) {
    let line = text.lines().nth(place.line - 1).unwrap_or_default();
    assert!(place.column >= 1 && place.column <= line.chars().count() + 2, "{place:?} in {line:?}");
}
