//! Reads and writes records of delimited text.
//!
//! As cqlsh and Python's `csv` have it: a field may be quoted; inside of quotes, and outside of them,
//! the escape character takes the next one as it is; where escape and quote are the same character, a
//! quote is doubled. A field knows whether it was quoted, so that an empty text is told from null.
//!
//! Invariant: never more than one record is held, and a record is bounded.

use std::io::{self, BufRead, Write};

/// Longest record in bytes. Source: ours; a statement of this length is taken by any server.
pub const RECORD_SIZE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The characters that delimit and quote fields.
#[derive(Debug, Clone, Copy)]
pub struct Dialect {
    /// Between fields.
    pub delimiter: u8,
    /// Around fields.
    pub quote: u8,
    /// Before a quote, or the quote itself where that is doubled.
    pub escape: u8,
}

impl Dialect {
    /// The dialect of RFC 4180: quotes are doubled.
    pub const COMMON: Self = Self { delimiter: b',', quote: b'"', escape: b'"' };
}

impl Default for Dialect {
    /// Returns cqlsh's dialect.
    fn default() -> Self {
        Self { delimiter: b',', quote: b'"', escape: b'\\' }
    }
}

/// A field of a record.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Field {
    /// Its text, without quotes.
    pub text: String,
    /// True if it stands, or is to stand, in quotes.
    pub quoted: bool,
}

/// An error in a text, with its line.
#[derive(Debug, thiserror::Error)]
pub enum Wrong {
    /// The text is no record.
    #[error("line {line}: {what}")]
    Text {
        /// The line.
        line: u64,
        /// The fault.
        what: String,
    },
    /// The text cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Reads records.
pub struct Reader<R> {
    input: R,
    dialect: Dialect,
    /// The line that is read next, from 1.
    line: u64,
    bytes: u64,
}

impl<R: BufRead> Reader<R> {
    /// Creates a reader of an input whose first line has the number `line`.
    pub fn new(input: R, dialect: Dialect, line: u64) -> Self {
        Self { input, dialect, line, bytes: 0 }
    }

    /// Returns the number of bytes that were read.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    fn next(&mut self) -> io::Result<Option<u8>> {
        let Some(byte) = self.input.fill_buf()?.first().copied() else { return Ok(None) };
        self.input.consume(1);
        self.bytes += 1;
        self.line += u64::from(byte == b'\n');
        Ok(Some(byte))
    }

    fn peek(&mut self) -> io::Result<Option<u8>> {
        Ok(self.input.fill_buf()?.first().copied())
    }

    /// Reads the next record, and returns it with its first line; empty lines are skipped.
    ///
    /// # Errors
    ///
    /// * [`Wrong`]: it is no record; nothing more is to be read.
    pub fn record(&mut self) -> Result<Option<(u64, Vec<Field>)>, Wrong> {
        while matches!(self.peek()?, Some(b'\n' | b'\r')) {
            self.next()?;
        }
        let line = self.line;
        if self.peek()?.is_none() {
            return Ok(None);
        }
        let begin = self.bytes;
        let mut fields = Vec::new();
        loop {
            let (field, is_last) = self.field(line, begin)?;
            fields.push(field);
            if is_last {
                return Ok(Some((line, fields)));
            }
        }
    }

    /// Reads a field, and returns true if it is the last of its record.
    fn field(&mut self, line: u64, begin: u64) -> Result<(Field, bool), Wrong> {
        let Dialect { delimiter, quote, escape } = self.dialect;
        let wrong = |what: &str| Wrong::Text { line, what: what.to_owned() };
        let (mut bytes, mut quoted, mut inside) = (Vec::new(), false, false);
        let is_last = loop {
            if self.bytes - begin > RECORD_SIZE_BYTES_MAX as u64 {
                return Err(wrong("the record is longer than 16 MiB; is a quote missing?"));
            }
            let Some(byte) = self.next()? else {
                if inside {
                    return Err(wrong("the quote that is opened in this record is not closed"));
                }
                break true;
            };
            if inside && byte == quote {
                if escape == quote && self.peek()? == Some(quote) {
                    self.next()?;
                    bytes.push(quote);
                } else {
                    inside = false;
                }
            } else if byte == escape && escape != quote {
                bytes.extend(self.next()?);
            } else if inside {
                bytes.push(byte);
            } else if byte == delimiter {
                break false;
            } else if byte == b'\n' {
                break true;
            } else if byte == b'\r' && matches!(self.peek()?, Some(b'\n') | None) {
                self.next()?;
                break true;
            } else if byte == quote && bytes.is_empty() && !quoted {
                (quoted, inside) = (true, true);
            } else {
                bytes.push(byte);
            }
        };
        let text = String::from_utf8(bytes).map_err(|_| wrong("the text is not UTF-8"))?;
        Ok((Field { text, quoted }, is_last))
    }
}

/// Writes records.
pub struct Writer<W> {
    output: W,
    dialect: Dialect,
    line: Vec<u8>,
    begun: bool,
}

impl<W: Write> Writer<W> {
    /// Creates a writer.
    pub fn new(output: W, dialect: Dialect) -> Self {
        Self { output, dialect, line: Vec::new(), begun: false }
    }

    /// Adds a field to the record, quoted where necessary or asked for.
    pub fn field(&mut self, field: &Field) {
        let Dialect { delimiter, quote, escape } = self.dialect;
        if std::mem::replace(&mut self.begun, true) {
            self.line.push(delimiter);
        }
        let is_special = |byte: u8| {
            byte == delimiter || byte == quote || byte == escape || matches!(byte, b'\n' | b'\r')
        };
        let text = field.text.as_bytes();
        if !field.quoted && !text.iter().copied().any(is_special) {
            return self.line.extend(text);
        }
        self.line.push(quote);
        for byte in text {
            if *byte == quote || *byte == escape {
                self.line.push(escape);
            }
            self.line.push(*byte);
        }
        self.line.push(quote);
    }

    /// Ends a record.
    ///
    /// # Errors
    ///
    /// * The output's.
    pub fn end(&mut self) -> io::Result<()> {
        if self.line.is_empty() {
            // An empty line is no record.
            self.line.extend([self.dialect.quote; 2]);
        }
        self.begun = false;
        self.line.push(b'\n');
        self.output.write_all(&self.line)?;
        self.line.clear();
        Ok(())
    }

    /// Flushes the output.
    ///
    /// # Errors
    ///
    /// * The output's.
    pub fn finish(mut self) -> io::Result<()> {
        self.output.flush()
    }

    /// Returns the output.
    pub fn into_inner(self) -> W {
        self.output
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, dialect: Dialect) -> Vec<Vec<(String, bool)>> {
        let mut reader = Reader::new(text.as_bytes(), dialect, 1);
        let mut found = Vec::new();
        while let Some((_, fields)) = reader.record().unwrap() {
            found.push(fields.into_iter().map(|field| (field.text, field.quoted)).collect());
        }
        found
    }

    fn plain(fields: &[&str]) -> Vec<(String, bool)> {
        fields.iter().map(|text| ((*text).to_owned(), false)).collect()
    }

    #[test]
    fn records_and_lines() {
        let text = "a,b\r\n\n1,\"x,\ny\"\n,\n";
        let found = read(text, Dialect::default());
        let quoted = vec![("1".to_owned(), false), ("x,\ny".to_owned(), true)];
        assert_eq!(found, [plain(&["a", "b"]), quoted, plain(&["", ""])]);
        let mut reader = Reader::new(text.as_bytes(), Dialect::default(), 1);
        let mut lines = Vec::new();
        while let Some((line, _)) = reader.record().unwrap() {
            lines.push(line);
        }
        assert_eq!(lines, [1, 3, 5]);
        assert_eq!(read("no end", Dialect::default()), [plain(&["no end"])]);
        assert!(read("", Dialect::default()).is_empty());
    }

    #[test]
    fn escapes_count_inside_and_outside_of_quotes() {
        let found = read("a\\,b,\"c\\\"d\",5\" wide\n", Dialect::default());
        let expected = vec![
            ("a,b".to_owned(), false),
            ("c\"d".to_owned(), true),
            ("5\" wide".to_owned(), false),
        ];
        assert_eq!(found, [expected]);
        let doubled = Dialect { escape: b'"', ..Dialect::default() };
        assert_eq!(read("\"a\"\"b\\\"\n", doubled), [[("a\"b\\".to_owned(), true)]]);
    }

    #[test]
    fn what_is_written_is_read_back() {
        let doubled = Dialect { escape: b'"', ..Dialect::default() };
        let odd = Dialect { delimiter: b';', quote: b'\'', escape: b'|' };
        let texts = ["", "a", "a,b;c", "\"", "'", "\\", "a\nb\r", "ä|\\\"'", " "];
        for dialect in [Dialect::default(), doubled, odd] {
            for quoted in [false, true] {
                for text in texts {
                    for other in texts {
                        let field = |text: &str| Field { text: text.to_owned(), quoted };
                        let mut out = Vec::new();
                        let mut writer = Writer::new(&mut out, dialect);
                        [field(text), field(other)].iter().for_each(|own| writer.field(own));
                        writer.end().unwrap();
                        writer.finish().unwrap();
                        let mut reader = Reader::new(&out[..], dialect, 1);
                        let (_, found) = reader.record().unwrap().unwrap();
                        let found: Vec<&str> = found.iter().map(|own| &*own.text).collect();
                        assert_eq!(found, [text, other], "{}", String::from_utf8_lossy(&out));
                        assert!(reader.record().unwrap().is_none());
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_no_record_is_told_with_its_line() {
        let wrong = |bytes: &[u8]| {
            let mut reader = Reader::new(bytes, Dialect::default(), 1);
            loop {
                match reader.record() {
                    Ok(Some(_)) => {}
                    Ok(None) => panic!("nothing is wrong"),
                    Err(wrong) => return wrong.to_string(),
                }
            }
        };
        assert!(wrong(b"a\nb\n\"c\nd").starts_with("line 3: the quote"));
        assert!(wrong(b"a\n\xff").starts_with("line 2: the text is not UTF-8"));
        let long = [b"\"".as_slice(), &vec![b'x'; RECORD_SIZE_BYTES_MAX + 2]].concat();
        assert!(wrong(&long).starts_with("line 1: the record is longer"));
    }
}
