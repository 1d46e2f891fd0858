//! Opens what `COPY … FROM` reads: a file, or rows that follow the command.
//!
//! As in cqlsh, rows of `STDIN` stand in the script behind the command, are typed at the prompt, or come
//! from standard input for a command that was an argument; a line of `\.` alone ends them.
//!
//! Invariant: rows in a script are never read as statements, whatever they say.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};

use shelfmark_store::vfs;
use shelfmark_transfer::delimited::RECORD_SIZE_BYTES_MAX;

use super::copy_command::{Copy, parse};
use super::pieces::{first_word, pieces};
use super::shell::{Shell, Stop};
use crate::connect::Interrupt;
use crate::prompt::{Line, more};

/// The file name that stands for standard input and output.
pub(super) const STANDARD: &str = "-";

/// The line that ends the rows.
const END: &str = "\\.";

/// The rows that follow a command in a script.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Rows {
    /// The name of the script.
    pub(super) script: String,
    /// The line of the first row in the script, from 1.
    pub(super) line: u64,
    pub(super) text: String,
}

/// The input of an import.
pub(super) struct Input {
    pub(super) name: String,
    /// The number of its first line.
    pub(super) line: u64,
    pub(super) bytes: Box<dyn BufRead>,
}

impl Shell {
    /// Opens what a copy reads.
    pub(super) fn copy_input(&mut self, copy: &Copy) -> Result<Input, Stop> {
        if copy.file != STANDARD {
            let file = vfs::open(copy.file.as_ref());
            let file =
                file.map_err(|error| Stop::wrong(format!("cannot read {}: {error}", copy.file)))?;
            let bytes = Box::new(BufReader::new(file));
            return Ok(Input { name: copy.file.clone(), line: 1, bytes });
        }
        if let Some(rows) = self.rows.pop_front() {
            let bytes = Box::new(io::Cursor::new(rows.text));
            return Ok(Input { name: rows.script, line: rows.line, bytes });
        }
        let name = "<stdin>".to_owned();
        if self.is_interactive() {
            self.say(&format!("[Use {END} on a line by itself to end input]"))?;
            let typed = BufReader::new(Typed::new(self.interrupt()));
            return Ok(Input { name, line: 1, bytes: Box::new(UntilEnd::new(typed)) });
        }
        let bytes = Box::new(UntilEnd::new(io::stdin().lock()));
        Ok(Input { name, line: 1, bytes })
    }
}

/// Takes the rows of imports out of a script, and leaves as many empty lines.
///
/// Cost: one pass over the script, and one over the statements before each line that may be a `COPY`.
pub(super) fn cut_rows(script: &str, name: &str) -> (String, VecDeque<Rows>) {
    let (mut out, mut found) = (String::with_capacity(script.len()), VecDeque::new());
    // The statements since the last rows, and the number of the line that is looked at.
    let (mut begin, mut line) = (0, 0);
    let mut lines = script.split_inclusive('\n');
    while let Some(own) = lines.next() {
        line += 1;
        out.push_str(own);
        let count = if may_copy(own) { imports(out.get(begin..).unwrap_or_default()) } else { 0 };
        if count == 0 {
            continue;
        }
        let mut rows = Rows { script: name.to_owned(), line: line + 1, text: String::new() };
        for row in lines.by_ref() {
            line += 1;
            if row.ends_with('\n') {
                out.push('\n');
            }
            if row.trim_end_matches(['\r', '\n']) == END {
                break;
            }
            rows.text.push_str(row);
        }
        begin = out.len();
        found.push_back(rows);
        // Of several in one line the first has the rows.
        let none = || Rows { script: name.to_owned(), line: line + 1, text: String::new() };
        found.extend((1..count).map(|_| none()));
    }
    (out, found)
}

/// Returns true if a line has the words of an import from standard input.
fn may_copy(line: &str) -> bool {
    let upper = line.to_ascii_uppercase();
    upper.contains("COPY") && upper.contains("STDIN")
}

/// Counts the imports from standard input in a text whose last line may have some.
fn imports(text: &str) -> usize {
    let is_import = |text: &str| {
        let command = text.trim_end_matches(';');
        let word = first_word(command);
        let rest = command.get(word.len()..).unwrap_or_default();
        word.eq_ignore_ascii_case("COPY")
            && parse(rest).is_ok_and(|copy| copy.reads && copy.file == STANDARD)
    };
    pieces(text).0.iter().filter(|piece| piece.command && is_import(piece.text)).count()
}

/// Reads lines until the one that ends the rows.
struct UntilEnd<R> {
    input: R,
    line: Vec<u8>,
    /// The bytes of the line that were taken.
    taken: usize,
    ended: bool,
}

impl<R: BufRead> UntilEnd<R> {
    fn new(input: R) -> Self {
        Self { input, line: Vec::new(), taken: 0, ended: false }
    }
}

impl<R: BufRead> Read for UntilEnd<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = self.fill_buf()?.read(into)?;
        self.consume(length);
        Ok(length)
    }
}

impl<R: BufRead> BufRead for UntilEnd<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.taken >= self.line.len() && !self.ended {
            self.line.clear();
            self.taken = 0;
            // What is longer than a record may be is refused as one; it is read in parts.
            let most = RECORD_SIZE_BYTES_MAX as u64;
            (&mut self.input).take(most).read_until(b'\n', &mut self.line)?;
            let text = self.line.trim_ascii_end();
            self.ended = self.line.is_empty() || text == END.as_bytes();
            if self.ended {
                self.line.clear();
            }
        }
        Ok(self.line.get(self.taken..).unwrap_or_default())
    }

    fn consume(&mut self, length: usize) {
        self.taken += length;
    }
}

/// Asks for lines at the prompt.
struct Typed {
    interrupt: Interrupt,
    line: io::Cursor<Vec<u8>>,
}

impl Typed {
    fn new(interrupt: Interrupt) -> Self {
        Self { interrupt, line: io::Cursor::default() }
    }
}

impl Read for Typed {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = self.line.read(into)?;
        if length > 0 || into.is_empty() {
            return Ok(length);
        }
        match more("[copy] ").map_err(io::Error::other)? {
            Line::End => Ok(0),
            Line::Interrupted => {
                self.interrupt.want();
                Err(io::Error::other("interrupted"))
            }
            Line::Text(mut line) => {
                line.push('\n');
                self.line = io::Cursor::new(line.into_bytes());
                self.line.read(into)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_leave_a_script_and_its_lines_stay() {
        let script = "USE k;\ncopy t from stdin with header = true;\na,b\n1,'x;\n\\.\nSELECT 1;\n\
                      COPY t (a) FROM STDIN\n2\n";
        let (left, rows) = cut_rows(script, "s.cql");
        assert_eq!(
            left,
            "USE k;\ncopy t from stdin with header = true;\n\n\n\nSELECT 1;\n\
             COPY t (a) FROM STDIN\n\n"
        );
        let row = |line, text: &str| Rows { script: "s.cql".to_owned(), line, text: text.into() };
        assert_eq!(rows, [row(3, "a,b\n1,'x;\n"), row(8, "2\n")]);
        let (left, rows) = cut_rows("copy t from stdin; copy u from stdin; exit\n1\n", "s.cql");
        assert_eq!(left, "copy t from stdin; copy u from stdin; exit\n\n");
        assert_eq!(rows, [row(2, "1\n"), row(3, "")]);
    }

    #[test]
    fn what_only_looks_like_an_import_is_none() {
        for script in [
            "SELECT 'x\ncopy t from stdin\n1\n';",
            "/*\ncopy t from stdin\n*/ SELECT 1;",
            "-- copy t from stdin\n1;",
            "copy t to 'stdin'\n1\n",
            "COPY t FROM 'stdin'\n1\n",
        ] {
            assert_eq!(cut_rows(script, "s"), (script.to_owned(), VecDeque::new()), "{script}");
        }
    }

    #[test]
    fn the_line_of_the_end_is_no_row() {
        let mut read = String::new();
        let text = "1,2\n\\.x\n\\.\r\n3,4\n";
        UntilEnd::new(text.as_bytes()).read_to_string(&mut read).unwrap();
        assert_eq!(read, "1,2\n\\.x\n");
    }
}
