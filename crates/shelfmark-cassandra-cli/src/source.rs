//! A script cut into commands, as the original client reads it: line by line.
//!
//! A command ends where a line ends with a semicolon, and nowhere else. Lines that begin with
//! `--`, and `/* … */` blocks, are left out. Lines are trimmed and joined with one space, so every
//! piece remembers where its parts stood.
//!
//! Source: `CliMain` of Apache Cassandra 1.0, as the reference describes it.

use super::{Mode, Warning};

/// A place in a script, both counted from 1; the column in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// The text of one command, and where its parts stood.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Piece {
    /// The joined lines, the semicolon included.
    pub text: String,
    /// Offsets in `text` where a line begins, with its place in the script.
    origins: Vec<(usize, Place)>,
    /// The line that ended the command; error messages name it.
    pub last_line: usize,
}

impl Piece {
    /// Returns where a byte of the text stood.
    #[must_use]
    pub fn place(&self, offset: usize) -> Place {
        let index = self.origins.partition_point(|(start, _)| *start <= offset);
        let first = (0, Place { line: 1, column: 1 });
        let (start, place) = index
            .checked_sub(1)
            .and_then(|index| self.origins.get(index))
            .copied()
            .unwrap_or(first);
        let passed = self.text.get(start..offset).unwrap_or_default().chars().count();
        Place { line: place.line, column: place.column + passed }
    }

    fn add(&mut self, number: usize, line: &str, trimmed: &str) {
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        let before = line.len() - line.trim_start_matches(char::is_whitespace).len();
        let column = line.get(..before).unwrap_or_default().chars().count() + 1;
        self.origins.push((self.text.len(), Place { line: number, column }));
        self.text.push_str(trimmed);
        self.last_line = number;
    }
}

/// A script cut into commands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// The commands in order.
    pub pieces: Vec<Piece>,
    /// Lines left out because they are no commands; only of a whole document.
    pub prose_lines: usize,
    /// The repairs made while cutting.
    pub warnings: Vec<Warning>,
    /// True if the last command misses its semicolon.
    pub unfinished: bool,
}

/// Returns a line without what the mode counts as white space around it.
fn trim(line: &str, mode: Mode) -> &str {
    match mode {
        Mode::Strict => line.trim_matches(|character: char| character <= ' '),
        Mode::Forgiving => {
            line.trim_matches(|character: char| character <= ' ' || character.is_whitespace())
        }
    }
}

/// Cuts a script into commands.
#[must_use]
pub fn script(text: &str, mode: Mode) -> Script {
    let mut script = Script::default();
    let mut piece = Piece::default();
    let mut in_comment = false;
    for (number, line) in (1..).zip(text.lines()) {
        let trimmed = trim(line, mode);
        if skip_comment(trimmed, &mut in_comment) || trimmed.is_empty() {
            continue;
        }
        if mode == Mode::Forgiving && trimmed.starts_with("//") {
            script.warnings.push(comment_warning(number));
            continue;
        }
        piece.add(number, line, trimmed);
        if trimmed.ends_with(';') {
            script.pieces.push(std::mem::take(&mut piece));
        }
    }
    if !piece.text.is_empty() {
        script.unfinished = true;
        script.pieces.push(piece);
    }
    script
}

fn comment_warning(line: usize) -> Warning {
    let place = Place { line, column: 1 };
    Warning::new(place, "// begins no comment in the original; the line is left out")
}

/// Tells whether a line is a comment or inside of one.
fn skip_comment(trimmed: &str, in_comment: &mut bool) -> bool {
    if *in_comment {
        *in_comment = !trimmed.ends_with("*/");
        return true;
    }
    if trimmed.starts_with("/*") {
        *in_comment = !trimmed.ends_with("*/");
        return true;
    }
    trimmed.starts_with("--")
}

/// Lines after which an unfinished block of a document is taken for prose.
const BLOCK_LINES_MAX: usize = 200;

/// Takes the commands out of a document: blocks that begin like a command, up to the line that
/// ends with a semicolon. Everything else is prose; it is skipped and its lines are counted.
#[must_use]
pub fn document(text: &str) -> Script {
    let mut script = Script::default();
    let lines: Vec<&str> = text.lines().collect();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let trimmed = trim(line, Mode::Forgiving);
        at += 1;
        if trimmed.starts_with("//") {
            script.warnings.push(comment_warning(at));
        } else if begins_command(trimmed) {
            match block(&lines, at - 1) {
                Some((piece, end)) => {
                    script.pieces.push(piece);
                    at = end;
                }
                None => script.prose_lines += 1,
            }
        } else if !trimmed.is_empty() {
            script.prose_lines += 1;
        }
    }
    script
}

/// Returns the block that begins at a line, and the line behind it.
fn block(lines: &[&str], start: usize) -> Option<(Piece, usize)> {
    let mut piece = Piece::default();
    for (index, line) in lines.iter().enumerate().skip(start).take(BLOCK_LINES_MAX) {
        let trimmed = trim(line, Mode::Forgiving);
        if trimmed.is_empty() {
            continue;
        }
        // The next command begins before this one ended: then this was none.
        if index > start && begins_command(trimmed) {
            return None;
        }
        piece.add(index + 1, line, trimmed);
        if trimmed.ends_with(';') {
            return Some((piece, index + 1));
        }
    }
    None
}

/// Tells whether a line of a document begins a command: its first words and what follows them.
fn begins_command(line: &str) -> bool {
    let lower = line.to_lowercase();
    let ends = lower.ends_with(';');
    let mut rest = lower.as_str();
    let first = word(&mut rest);
    let second = word(&mut rest);
    let next = rest.trim_start().chars().next();
    match first {
        "create" | "update" | "drop" => {
            let named = |rest: &mut &str| !word(rest).is_empty();
            match second {
                "keyspace" => named(&mut rest),
                "column" => word(&mut rest) == "family" && named(&mut rest),
                "index" => first == "drop" && word(&mut rest) == "on" && ends,
                _ => false,
            }
        }
        "set" | "del" | "count" | "incr" | "decr" => !second.is_empty() && next == Some('['),
        "get" => !second.is_empty() && (next == Some('[') || word(&mut rest) == "where"),
        "list" => {
            let plain = next == Some(';') || next == Some('[') || word(&mut rest) == "limit";
            !second.is_empty() && plain && ends
        }
        "truncate" | "use" => !second.is_empty() && ends && next == Some(';'),
        "assume" => !word(&mut rest).is_empty() && word(&mut rest) == "as" && ends,
        "consistencylevel" => second == "as" && ends,
        "connect" => next == Some('/') && ends,
        "show" => matches!(second, "keyspaces" | "schema" | "cluster" | "api") && ends,
        _ => false,
    }
}

/// Takes a word off a text.
fn word<'a>(rest: &mut &'a str) -> &'a str {
    let text = rest.trim_start();
    let end = text
        .find(|character: char| !character.is_ascii_alphanumeric() && !"_-".contains(character))
        .unwrap_or(text.len());
    let (word, behind) = text.split_at(end);
    *rest = behind;
    word
}
