//! `cql --forgiving`: extracts the statements of a document that text processors and web pages have
//! altered.
//!
//! Lines of prose between statements are passed over, and curly quotes, dashes and invisible
//! characters are read as what was typed. Every repair is a warning.
//!
//! What it is not: no parser. What a statement says is the server's matter.
//!
//! Invariant: lines stay where they are, so places in messages are places of the file. What stands
//! in plain quotes is not touched.

/// Lines after which an unfinished block counts as prose; as `cassandra-cli --forgiving` has it.
const BLOCK_LINES_MAX: usize = 200;

/// A repaired document.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Mended {
    /// The statements, each in its own lines; lines of prose are empty.
    pub(super) text: String,
    /// Each repair, with its line.
    pub(super) warnings: Vec<(usize, String)>,
}

/// Repairs a document.
///
/// Cost: one pass over the text, and one over at most [`BLOCK_LINES_MAX`] lines for each line that
/// begins like a statement.
pub(super) fn mend(document: &str) -> Mended {
    let lines: Vec<&str> = document.lines().collect();
    let mut mended = Mended::default();
    let (mut at, mut prose, mut statements) = (0, 0, 0);
    while let Some(line) = lines.get(at) {
        let end = if begins_statement(line) { block_end(&lines, at) } else { None };
        if let Some(end) = end {
            statements += 1;
            let block = lines.get(at..end).unwrap_or_default().join("\n");
            mended.text.push_str(&repaired(&block, at + 1, &mut mended.warnings));
            at = end;
        } else {
            prose += usize::from(!trim(line).is_empty() && !trim(line).starts_with("--"));
            at += 1;
        }
        mended.text.push('\n');
    }
    if prose > 0 {
        let told =
            format!("{prose} lines of prose beside {statements} statements were passed over");
        mended.warnings.insert(0, (1, told));
    }
    mended
}

/// Returns a line without white space of any kind around it.
fn trim(line: &str) -> &str {
    line.trim_matches(|character: char| character.is_whitespace() || is_invisible(character))
}

/// Returns true if a character is invisible: joiners, marks of direction, soft hyphens.
fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}'
            | '\u{feff}'
    )
}

/// Returns the line behind a block that ends with a semicolon, if it is a statement.
fn block_end(lines: &[&str], start: usize) -> Option<usize> {
    let mut words = String::new();
    for (index, line) in lines.iter().enumerate().skip(start).take(BLOCK_LINES_MAX) {
        // The next statement begins before this one ended: then this was none.
        if index > start && begins_statement(line) && !words.starts_with("begin") {
            return None;
        }
        words.push_str(&trim(line).to_lowercase());
        words.push(' ');
        if words.trim_end().ends_with(';') {
            return is_statement(&words).then_some(index + 1);
        }
    }
    None
}

/// Returns true if a line begins like a statement.
fn begins_statement(line: &str) -> bool {
    let lower = trim(line).to_lowercase();
    let mut words = lower.split(|character: char| !character.is_ascii_alphanumeric());
    let (first, second) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    match first {
        "create" | "alter" | "drop" => matches!(
            second,
            "keyspace"
                | "table"
                | "columnfamily"
                | "index"
                | "custom"
                | "type"
                | "materialized"
                | "role"
                | "user"
                | "schema"
        ),
        "insert" => second == "into",
        "begin" => matches!(second, "batch" | "unlogged" | "counter"),
        "apply" => second == "batch",
        "select" | "update" | "delete" | "truncate" | "use" | "grant" | "revoke" => {
            !lower.ends_with('.')
        }
        _ => super::pieces::is_command(&lower) && lower.ends_with(';'),
    }
}

/// Returns true if a block, in lower case, has the words that such a statement has.
fn is_statement(block: &str) -> bool {
    let has = |word: &str| block.split_whitespace().any(|own| own == word);
    match block.split_whitespace().next().unwrap_or("") {
        "select" | "delete" => has("from"),
        "update" => has("set"),
        "use" => block.split_whitespace().count() <= 2,
        _ => true,
    }
}

/// Replaces curly quotes, dashes and invisible characters by what was typed.
fn repaired(block: &str, first_line: usize, warnings: &mut Vec<(usize, String)>) -> String {
    let mut text = String::with_capacity(block.len());
    let mut line = first_line;
    let mut inside: Option<(char, bool)> = None;
    for character in block.chars() {
        line += usize::from(character == '\n');
        let (meant, what) = match character {
            // In plain quotes everything is the text's own.
            _ if inside.is_some_and(|(_, curly)| !curly) => (None, ""),
            '\u{2018}'..='\u{201b}' if inside.is_none_or(|(quote, _)| quote == '\'') => {
                (Some("'"), "a curly quote was read as '")
            }
            '\u{201c}'..='\u{201f}' if inside.is_none_or(|(quote, _)| quote == '"') => {
                (Some("\""), "a curly quote was read as \"")
            }
            _ if inside.is_some() => (None, ""),
            '\u{2014}' => (Some("--"), "a long dash was read as --"),
            '\u{2010}'..='\u{2013}' | '\u{2212}' => (Some("-"), "a dash was read as -"),
            other if is_invisible(other) => (Some(""), "an invisible character was left out"),
            _ => (None, ""),
        };
        let read = meant.unwrap_or("").chars().next().unwrap_or(character);
        if matches!(read, '\'' | '"') {
            inside = match inside {
                None => Some((read, meant.is_some())),
                Some((quote, _)) if quote == read => None,
                other => other,
            };
        }
        match meant {
            Some(meant) => {
                warnings.push((line, what.to_owned()));
                text.push_str(meant);
            }
            None => text.push(character),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(document: &str, text: &str, warnings: &[(usize, &str)]) {
        let found = mend(document);
        let told: Vec<(usize, &str)> =
            found.warnings.iter().map(|(line, text)| (*line, text.as_str())).collect();
        assert_eq!((found.text.as_str(), told.as_slice()), (text, warnings));
    }

    #[test]
    fn prose_is_passed_over_and_statements_keep_their_lines() {
        check(
            "Tables:\n1\n2\nCREATE TABLE t (\n\na int PRIMARY KEY\n);\n\nSelect the best one.\nUSE k;",
            "\n\n\nCREATE TABLE t (\n\na int PRIMARY KEY\n);\n\n\nUSE k;\n",
            &[(1, "4 lines of prose beside 2 statements were passed over")],
        );
        // What begins like a statement and does not end like one.
        check(
            "Update your app;\nUse this as you like;",
            "\n\n",
            &[(1, "2 lines of prose beside 0 statements were passed over")],
        );
    }

    #[test]
    fn what_is_plain_is_left_as_it_is() {
        let script = "-- a comment\nSELECT a\nFROM t WHERE b = 'it\u{2019}s \u{2014}';\n";
        check(script, &script.replace("-- a comment", ""), &[]);
        let batch = "BEGIN BATCH\nINSERT INTO t (a) VALUES (1);\nDELETE FROM t WHERE a = 2;\n\
                     APPLY BATCH;\n";
        check(batch, batch, &[]);
    }

    #[test]
    fn what_a_text_processor_made_is_read_as_it_was_typed() {
        check(
            "INSERT INTO t (a)\u{200f} VALUES (\u{2018}b\u{2019});\nSELECT \u{201c}A\u{201d} FROM t WHERE a = \u{2013}1;",
            "INSERT INTO t (a) VALUES ('b');\nSELECT \"A\" FROM t WHERE a = -1;\n",
            &[
                (1, "an invisible character was left out"),
                (1, "a curly quote was read as '"),
                (1, "a curly quote was read as '"),
                (2, "a curly quote was read as \""),
                (2, "a curly quote was read as \""),
                (2, "a dash was read as -"),
            ],
        );
    }
}
