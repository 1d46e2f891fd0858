//! Reads lines of values between delimiters, with quotation marks around those that hold any.
//!
//! Invariant: a record is bounded in bytes, whatever the file holds.

use std::io::{self, BufRead};

/// Most bytes of one record. *Ours*: more than the largest item has.
pub(super) const RECORD_BYTES_MAX: usize = 4 * 1024 * 1024;

/// A record, or the end of the file.
pub(super) enum Line {
    /// The bytes of one record, without the end of the line.
    Whole(Vec<u8>),
    /// One that is too long; the rest of it was skipped.
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

/// Reads up to the end of a line. Where values are delimited, an end in a quoted value is part of it.
pub(super) fn read_line(reader: &mut dyn BufRead, delimiter: Option<u8>) -> io::Result<Line> {
    let mut line = Vec::new();
    let mut place = Place::Begin;
    let (mut is_too_long, mut is_any) = (false, false);
    loop {
        let buffer = reader.fill_buf()?;
        if buffer.is_empty() {
            return Ok(match (is_any, is_too_long) {
                (false, _) => Line::End,
                (true, true) => Line::TooLong,
                (true, false) => Line::Whole(without_return(line)),
            });
        }
        is_any = true;
        let mut used = buffer.len();
        let mut ended = false;
        for (at, byte) in buffer.iter().enumerate() {
            if *byte == b'\n' && !matches!(place, Place::Quoted) {
                (used, ended) = (at + 1, true);
                break;
            }
            if let Some(delimiter) = delimiter {
                place = place.behind(*byte, delimiter);
            }
        }
        let taken = used - usize::from(ended);
        if line.len() + taken > RECORD_BYTES_MAX {
            (is_too_long, line) = (true, Vec::new());
        } else if !is_too_long {
            line.extend_from_slice(buffer.get(..taken).unwrap_or_default());
        }
        reader.consume(used);
        if ended {
            return Ok(if is_too_long { Line::TooLong } else { Line::Whole(without_return(line)) });
        }
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
    fn lines_end_where_they_end() {
        let mut text: &[u8] = b"a\r\n\"b\nc\"\nlast";
        let mut lines = Vec::new();
        while let Line::Whole(line) = read_line(&mut text, Some(b',')).unwrap() {
            lines.push(String::from_utf8(line).unwrap());
        }
        assert_eq!(lines, ["a", "\"b\nc\"", "last"]);
        // A mark within a value that does not begin with one is a letter.
        let mut text: &[u8] = b"k1,5\" nail\nk2,\"a \"\"b\"\"\nc\"\nk3,\"x\"y\"\nk4,\"\"\nk5,e";
        let mut lines = Vec::new();
        while let Line::Whole(line) = read_line(&mut text, Some(b',')).unwrap() {
            lines.push(String::from_utf8(line).unwrap());
        }
        let expected = ["k1,5\" nail", "k2,\"a \"\"b\"\"\nc\"", "k3,\"x\"y\"", "k4,\"\"", "k5,e"];
        assert_eq!(lines, expected);
        let long = [vec![b'x'; RECORD_BYTES_MAX + 1], b"\nnext".to_vec()].concat();
        let mut reader = io::BufReader::new(&long[..]);
        assert!(matches!(read_line(&mut reader, None).unwrap(), Line::TooLong));
        assert!(
            matches!(read_line(&mut reader, None).unwrap(), Line::Whole(line) if line == b"next")
        );
    }
}
