//! Splits a script into statements of CQL and commands of the shell.
//!
//! A statement ends with a semicolon. A command of the shell ends there too, or with its line.

use shelfmark_cql_syntax::split;

/// Words that begin a command of the shell, or a `DESCRIBE`, which ends like one.
const COMMANDS: [&str; 20] = [
    "?",
    "CAPTURE",
    "CLEAR",
    "CLS",
    "CONSISTENCY",
    "COPY",
    "DEBUG",
    "DESC",
    "DESCRIBE",
    "EXIT",
    "EXPAND",
    "HELP",
    "HISTORY",
    "LOGIN",
    "PAGING",
    "QUIT",
    "SERIAL",
    "SHOW",
    "SOURCE",
    "TRACING",
];

/// One piece of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Piece<'t> {
    /// Offset of its first byte in the script.
    pub(super) start: usize,
    /// Its text, with its semicolon.
    pub(in super::super) text: &'t str,
    /// True for a command of the shell.
    pub(in super::super) command: bool,
}

/// Returns the words that begin commands of the shell.
pub(super) fn commands() -> &'static [&'static str] {
    &COMMANDS
}

/// Returns the first word of a text.
pub(super) fn first_word(text: &str) -> &str {
    let text = text.trim_start();
    if text.starts_with('?') {
        return "?";
    }
    let end = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

/// Returns true if a text begins like a command of the shell.
pub(super) fn is_command(text: &str) -> bool {
    let word = first_word(text);
    COMMANDS.iter().any(|command| command.eq_ignore_ascii_case(word))
}

/// Splits a script, and returns true if its last piece is complete. What has no semicolon at the
/// end is a piece, too.
///
/// Cost: one pass over the text, and one over what follows for each command without a semicolon.
pub(in super::super) fn pieces(script: &str) -> (Vec<Piece<'_>>, bool) {
    let (mut found, mut whole, mut at) = (Vec::new(), true, 0);
    'again: loop {
        let rest = script.get(at..).unwrap_or_default();
        let cut = split(rest);
        for span in cut.statements.into_iter().chain(cut.rest) {
            let text = span.text(rest);
            let start = at + usize::try_from(span.start).unwrap_or(rest.len());
            if !is_command(text) {
                found.push(Piece { start, text, command: false });
                whole = cut.rest != Some(span);
                continue;
            }
            let line = text.split('\n').next().unwrap_or(text);
            let end = end_of_command(line);
            let command = line.get(..end).unwrap_or(line).trim_end();
            found.push(Piece { start, text: command, command: true });
            whole = true;
            if end < text.len() {
                // Where the next statement ends depends on where it begins.
                at = start + end;
                continue 'again;
            }
        }
        return (found, whole);
    }
}

/// Returns the offset behind a command: behind its semicolon, unless that is in quotes, or its
/// line's end.
fn end_of_command(line: &str) -> usize {
    let mut quote = None;
    for (at, own) in line.char_indices() {
        match (quote, own) {
            (None, ';') => return at + 1,
            (None, '\'' | '"') => quote = Some(own),
            (Some(open), _) if open == own => quote = None,
            _ => {}
        }
    }
    // A quote that is not closed hides nothing.
    if quote.is_some() { line.find(';').map_or(line.len(), |at| at + 1) } else { line.len() }
}

/// Returns line and column of a byte, both from 1.
pub(super) fn place(script: &str, at: usize) -> (usize, usize) {
    let before = script.get(..at).unwrap_or(script);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
    (before.matches('\n').count() + 1, column)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(script: &str) -> (Vec<(&str, bool)>, bool) {
        let (found, whole) = pieces(script);
        for piece in &found {
            assert!(script[piece.start..].starts_with(piece.text), "{piece:?}");
        }
        (found.iter().map(|piece| (piece.text, piece.command)).collect(), whole)
    }

    #[test]
    fn commands_end_with_their_line_and_statements_do_not() {
        let script = "consistency quorum\n-- a comment; with one\nSELECT a\nFROM t; help; exit\n";
        let expected = vec![
            ("consistency quorum", true),
            ("SELECT a\nFROM t;", false),
            ("help;", true),
            ("exit", true),
        ];
        assert_eq!(cut(script), (expected, true));
        assert_eq!(cut("?"), (vec![("?", true)], true));
        let batch = "BEGIN BATCH DELETE FROM t WHERE a = 1; APPLY BATCH;";
        let expected = vec![("tracing on", true), (batch, false)];
        assert_eq!(cut(&format!("tracing on\n{batch}")), (expected, true));
        assert_eq!(
            cut("desc tables\ndesc types;\n"),
            (vec![("desc tables", true), ("desc types;", true)], true)
        );
        assert_eq!(cut("SELECT 'help\nexit"), (vec![("SELECT 'help\nexit", false)], false));
        assert_eq!(cut("USE a; SELECT"), (vec![("USE a;", false), ("SELECT", false)], false));
        assert_eq!(cut(" -- nothing\n"), (vec![], true));
        assert_eq!(
            cut("copy t to 'a;b' with delimiter=';'; exit"),
            (vec![("copy t to 'a;b' with delimiter=';';", true), ("exit", true)], true)
        );
        // A name that begins like a command is none.
        assert_eq!(cut("SHOWER x;"), (vec![("SHOWER x;", false)], true));
    }

    #[test]
    fn places_are_counted_from_one() {
        assert_eq!(place("ä b\nc", 3), (1, 3));
        assert_eq!(place("ä b\nc", 5), (2, 1));
    }
}
