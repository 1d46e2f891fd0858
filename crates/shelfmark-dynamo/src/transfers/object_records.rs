//! Reads the records of an object: lines of values between delimiters, with quotation marks around those
//! that hold any; objects of JSON, of which a line may hold several; and other lines as they are.
//!
//! What it is not: what a record means; of JSON and Ion it knows the ends alone.
//!
//! Invariant: a record is bounded in bytes, whatever the file holds.

use std::io::{self, BufRead};

/// Most bytes of one record. *Ours*: more than the largest item has.
pub(super) const RECORD_BYTES_MAX: usize = 4 * 1024 * 1024;

/// A record, or the end of the file.
pub(super) enum Line {
    /// The bytes of one record, without the end of the line.
    Whole(Vec<u8>),
    /// A part of one that is too long; the next call goes on behind it.
    Part,
    /// The rest of one that is too long.
    TooLong,
    End,
}

/// The place of a byte in a record: quotation marks mean something where a value begins, and behind that.
enum Place {
    Begin,
    Plain,
    Quoted,
    /// Behind a mark in a quoted value: its end, unless another follows.
    Mark,
}

impl Place {
    fn behind(&self, byte: u8, delimiter: u8) -> Self {
        match (self, byte) {
            (Self::Begin | Self::Mark, b'"') => Self::Quoted,
            (Self::Quoted, b'"') => Self::Mark,
            (Self::Quoted, _) => Self::Quoted,
            (_, byte) if byte == delimiter => Self::Begin,
            _ => Self::Plain,
        }
    }
}

/// The form of records.
#[derive(Debug, Clone, Copy)]
pub(super) enum Records {
    /// A line is a record.
    Lines,
    /// A line of values with this delimiter; an end of a line in a quoted value is part of it.
    Values(u8),
    /// An object of JSON is a record, so a line may hold several. No object goes over the end of a line.
    Objects,
}

/// The place of a byte in an object of JSON.
#[derive(Debug, Clone, Copy, Default)]
struct ObjectPlace {
    depth: usize,
    in_text: bool,
    is_escaped: bool,
}

impl ObjectPlace {
    /// Goes behind a byte. Returns true if it ends the object.
    fn ends(&mut self, byte: u8) -> bool {
        match byte {
            _ if std::mem::take(&mut self.is_escaped) => {}
            b'\\' => self.is_escaped = self.in_text,
            b'"' => self.in_text = !self.in_text,
            b'{' if !self.in_text => self.depth += 1,
            b'}' if !self.in_text => {
                self.depth = self.depth.saturating_sub(1);
                return self.depth == 0;
            }
            _ => {}
        }
        false
    }
}

/// Reads records one after the other.
pub(super) struct Lines {
    records: Records,
    place: Place,
    object: ObjectPlace,
    /// True in a record that is too long.
    is_too_long: bool,
}

impl Lines {
    pub(super) fn new(records: Records) -> Self {
        let object = ObjectPlace::default();
        Self { records, place: Place::Begin, object, is_too_long: false }
    }

    /// Returns true if a part of a record was read.
    pub(super) fn is_inside(&self) -> bool {
        self.is_too_long
    }

    /// Reads up to the end of a record, or the next few megabytes of one that is too long.
    pub(super) fn next(&mut self, reader: &mut dyn BufRead) -> io::Result<Line> {
        let mut line = Vec::new();
        let mut bytes = 0;
        loop {
            let buffer = reader.fill_buf()?;
            if buffer.is_empty() {
                return Ok(match (self.end(), bytes > 0) {
                    (true, _) => Line::TooLong,
                    (false, true) => Line::Whole(without_return(line)),
                    (false, false) => Line::End,
                });
            }
            let (taken, ended) = self.scan(buffer);
            // The end of a line is no part of a record; that of an object is.
            let ended_line = ended && buffer.get(taken) == Some(&b'\n');
            let passed = taken + usize::from(ended_line);
            bytes += passed;
            if self.is_too_long || line.len() + taken > RECORD_BYTES_MAX {
                (self.is_too_long, line) = (true, Vec::new());
            } else {
                line.extend_from_slice(buffer.get(..taken).unwrap_or_default());
            }
            reader.consume(passed);
            if ended {
                let is_too_long = self.end();
                return Ok(match is_too_long {
                    true => Line::TooLong,
                    false => Line::Whole(without_return(line)),
                });
            }
            if self.is_too_long && bytes > RECORD_BYTES_MAX {
                return Ok(Line::Part);
            }
        }
    }

    /// Looks for the end of the record in what is there. Returns the bytes before it, and whether it was met.
    fn scan(&mut self, buffer: &[u8]) -> (usize, bool) {
        for (at, byte) in buffer.iter().enumerate() {
            if *byte == b'\n' && !matches!(self.place, Place::Quoted) {
                return (at, true);
            }
            match self.records {
                Records::Lines => {}
                Records::Values(delimiter) => self.place = self.place.behind(*byte, delimiter),
                Records::Objects if self.object.ends(*byte) => return (at + 1, true),
                Records::Objects => {}
            }
        }
        (buffer.len(), false)
    }

    /// Begins a record. Returns true if the one before was too long.
    fn end(&mut self) -> bool {
        self.place = Place::Begin;
        self.object = ObjectPlace::default();
        std::mem::take(&mut self.is_too_long)
    }
}

fn without_return(mut line: Vec<u8>) -> Vec<u8> {
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    line
}

/// Splits a record into its values; `None` if a quotation mark is not closed.
pub(super) fn values(record: &str, delimiter: char) -> Option<Vec<String>> {
    let mut values = Vec::new();
    let mut value = String::new();
    let mut letters = record.chars().peekable();
    let mut is_quoted = false;
    let mut is_first = true;
    while let Some(letter) = letters.next() {
        match letter {
            '"' if is_quoted && letters.peek() == Some(&'"') => {
                letters.next();
                value.push('"');
            }
            '"' if is_quoted => is_quoted = false,
            '"' if is_first => is_quoted = true,
            letter if letter == delimiter && !is_quoted => {
                values.push(std::mem::take(&mut value));
                is_first = true;
                continue;
            }
            letter => value.push(letter),
        }
        is_first = false;
    }
    values.push(value);
    (!is_quoted).then_some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(record: &str, expected: &[&str]) {
        assert_eq!(values(record, ',').unwrap(), expected, "{record}");
    }

    #[test]
    fn values_are_split_at_delimiters_outside_of_quotation_marks() {
        check("a,b", &["a", "b"]);
        check("", &[""]);
        check("a,,", &["a", "", ""]);
        check("\"a,b\",c", &["a,b", "c"]);
        check("\"say \"\"hi\"\"\",\"two\nlines\"", &["say \"hi\"", "two\nlines"]);
        check("a\"b,c", &["a\"b", "c"]);
        assert_eq!(values("\"open", ','), None);
        assert_eq!(values("a\tb,c", '\t').unwrap(), ["a", "b,c"]);
    }

    #[test]
    fn a_line_may_hold_several_objects() {
        let mut lines = Lines::new(Records::Objects);
        let mut text: &[u8] =
            b"{\"a\":{}}\n{\"b\":\"}\\\"{\"}{\"c\":1} {\"d\":2}\r\n{\"open\n{\"e\":3}x\n";
        let mut found = Vec::new();
        while let Line::Whole(line) = lines.next(&mut text).unwrap() {
            found.push(String::from_utf8(line).unwrap());
        }
        let expected = [
            "{\"a\":{}}",
            "{\"b\":\"}\\\"{\"}",
            "{\"c\":1}",
            " {\"d\":2}",
            "",
            "{\"open",
            "{\"e\":3}",
            "x",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn lines_end_where_they_end() {
        let mut reader_of_values = Lines::new(Records::Values(b','));
        let mut text: &[u8] = b"a\r\n\"b\nc\"\nlast";
        let mut lines = Vec::new();
        while let Line::Whole(line) = reader_of_values.next(&mut text).unwrap() {
            lines.push(String::from_utf8(line).unwrap());
        }
        assert_eq!(lines, ["a", "\"b\nc\"", "last"]);
        // A mark within a value that does not begin with one is a letter.
        let mut text: &[u8] = b"k1,5\" nail\nk2,\"a \"\"b\"\"\nc\"\nk3,\"x\"y\"\nk4,\"\"\nk5,e";
        let mut lines = Vec::new();
        while let Line::Whole(line) = reader_of_values.next(&mut text).unwrap() {
            lines.push(String::from_utf8(line).unwrap());
        }
        let expected = ["k1,5\" nail", "k2,\"a \"\"b\"\"\nc\"", "k3,\"x\"y\"", "k4,\"\"", "k5,e"];
        assert_eq!(lines, expected);
        let long = [vec![b'x'; 3 * RECORD_BYTES_MAX], b"\nnext".to_vec()].concat();
        let mut reader = io::BufReader::new(&long[..]);
        let mut lines = Lines::new(Records::Lines);
        let mut parts = 0;
        while let Line::Part = lines.next(&mut reader).unwrap() {
            assert!(lines.is_inside());
            parts += 1;
        }
        assert_eq!(parts, 2, "a record that is too long comes in parts of some megabytes");
        assert!(!lines.is_inside());
        let last = lines.next(&mut reader).unwrap();
        assert!(matches!(last, Line::Whole(line) if line == b"next"));
    }
}
