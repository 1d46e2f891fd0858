//! Parses `COPY`: table, file, direction, and options.

use shelfmark_transfer::delimited::Dialect;

use super::copy_input::STANDARD;
use super::shell::Stop;

/// A `COPY` command.
#[derive(Debug, PartialEq)]
pub(super) struct Copy {
    /// The table as it was written.
    pub(super) table: String,
    /// The columns as they were written; none for all.
    pub(super) columns: Vec<String>,
    /// True to import into the table, false to export.
    pub(super) reads: bool,
    /// The file, or [`STANDARD`].
    pub(super) file: String,
    pub(super) options: Options,
}

/// The options behind `WITH`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Options {
    pub(super) dialect: (u8, u8, u8),
    pub(super) header: bool,
    pub(super) null: String,
    pub(super) rows_max: Option<u64>,
    pub(super) skip_rows: u64,
    pub(super) skip_columns: Vec<String>,
    pub(super) page_rows: i32,
    pub(super) ttl_seconds: Option<u32>,
    pub(super) tokens: (Option<i64>, Option<i64>),
}

impl Default for Options {
    fn default() -> Self {
        let Dialect { delimiter, quote, escape } = Dialect::default();
        Self {
            dialect: (delimiter, quote, escape),
            header: false,
            null: String::new(),
            rows_max: None,
            skip_rows: 0,
            skip_columns: Vec::new(),
            page_rows: 1_000,
            ttl_seconds: None,
            tokens: (None, None),
        }
    }
}

impl Options {
    pub(super) fn dialect(&self) -> Dialect {
        let (delimiter, quote, escape) = self.dialect;
        Dialect { delimiter, quote, escape }
    }
}

/// Options of cqlsh that affect speed only and are ignored.
const PASSED_OVER: [&str; 14] = [
    "CHUNKSIZE",
    "CONFIGSECTIONS",
    "ERRFILE",
    "INGESTRATE",
    "MAXATTEMPTS",
    "MAXBATCHSIZE",
    "MAXINFLIGHTMESSAGES",
    "MAXREQUESTS",
    "MINBATCHSIZE",
    "NUMPROCESSES",
    "PAGETIMEOUT",
    "PREPAREDSTATEMENTS",
    "RATEFILE",
    "REPORTFREQUENCY",
];

const USAGE: &str = "the command is COPY TABLE [(COLUMN, …)] TO 'FILE' | TO STDOUT | FROM 'FILE' | FROM STDIN \
     [WITH OPTION = VALUE AND …]";

/// A token of the command: a word, a quoted text, or a sign.
#[derive(Debug, Clone, PartialEq)]
enum Token {
    Word(String),
    Text(String),
    Sign(char),
}

impl Token {
    fn is(&self, word: &str) -> bool {
        matches!(self, Self::Word(own) if own.eq_ignore_ascii_case(word))
    }
}

/// Parses the text behind `COPY`.
pub(super) fn parse(text: &str) -> Result<Copy, Stop> {
    let tokens = tokens(text)?;
    let usage = || Stop::wrong(USAGE);
    let mut rest = tokens.into_iter().peekable();
    let mut table = String::new();
    while let Some(token) = rest.next_if(|token| !token.is("TO") && !token.is("FROM")) {
        match token {
            Token::Word(word) if table.is_empty() || table.ends_with('.') => table.push_str(&word),
            Token::Sign('.') if !table.is_empty() && !table.ends_with('.') => table.push('.'),
            Token::Sign('(') if !table.is_empty() => {
                let columns = columns(&mut rest).ok_or_else(usage)?;
                return finish(table, columns, rest);
            }
            _ => return Err(usage()),
        }
    }
    finish(table, Vec::new(), rest)
}

type Rest = std::iter::Peekable<std::vec::IntoIter<Token>>;

/// Parses the list of columns, behind its first parenthesis.
fn columns(rest: &mut Rest) -> Option<Vec<String>> {
    let mut columns = Vec::new();
    loop {
        let Token::Word(word) = rest.next()? else { return None };
        columns.push(word);
        match rest.next()? {
            Token::Sign(',') => {}
            Token::Sign(')') => return Some(columns),
            _ => return None,
        }
    }
}

fn finish(table: String, columns: Vec<String>, mut rest: Rest) -> Result<Copy, Stop> {
    let usage = || Stop::wrong(USAGE);
    let direction = rest.next().filter(|_| !table.is_empty()).ok_or_else(usage)?;
    let reads = direction.is("FROM");
    if !reads && !direction.is("TO") {
        return Err(usage());
    }
    let file = match rest.next() {
        Some(Token::Text(file)) if !file.is_empty() => file,
        Some(token) if token.is(if reads { "STDIN" } else { "STDOUT" }) => STANDARD.to_owned(),
        _ => return Err(usage()),
    };
    let mut options = Options::default();
    if let Some(token) = rest.next() {
        if !token.is("WITH") {
            return Err(usage());
        }
        loop {
            let (Some(Token::Word(name)), Some(Token::Sign('='))) = (rest.next(), rest.next())
            else {
                return Err(usage());
            };
            let value = match rest.next() {
                Some(Token::Word(value) | Token::Text(value)) => value,
                _ => return Err(Stop::wrong(format!("{name} has no value"))),
            };
            options.put(&name.to_ascii_uppercase(), &value, reads)?;
            match rest.next() {
                None => break,
                Some(token) if token.is("AND") => {}
                Some(_) => return Err(usage()),
            }
        }
    }
    let (delimiter, quote, escape) = options.dialect;
    if delimiter == quote || delimiter == escape {
        return Err(Stop::wrong(
            "DELIMITER, QUOTE and ESCAPE have to differ (QUOTE and ESCAPE may be one)",
        ));
    }
    Ok(Copy { table, columns, reads, file, options })
}

impl Options {
    fn put(&mut self, name: &str, value: &str, reads: bool) -> Result<(), Stop> {
        let wrong = |what: &str| Stop::wrong(format!("{name} takes {what}, not '{value}'"));
        let sign = || match value.as_bytes() {
            [b'\\', b't'] => Ok(b'\t'),
            [only] if !matches!(only, b'\n' | b'\r') => Ok(*only),
            _ => Err(wrong("one character of ASCII")),
        };
        let number = || value.parse::<u64>().map_err(|_| wrong("a number that is not negative"));
        // Minus one is how cqlsh says that there is no limit.
        let limit = || if value == "-1" { Ok(None) } else { number().map(Some) };
        let only = |fits: bool, direction: &str| match fits {
            true => Ok(()),
            false => Err(Stop::wrong(format!("{name} is an option of COPY … {direction}"))),
        };
        match name {
            "DELIMITER" => self.dialect.0 = sign()?,
            "QUOTE" => self.dialect.1 = sign()?,
            "ESCAPE" => self.dialect.2 = sign()?,
            "HEADER" => self.header = switch(value).ok_or_else(|| wrong("TRUE or FALSE"))?,
            "NULL" | "NULLVAL" => value.clone_into(&mut self.null),
            "ENCODING" => {
                let plain = value.to_ascii_lowercase().replace(['-', '_'], "");
                if !matches!(plain.as_str(), "utf8" | "ascii") {
                    return Err(wrong("utf8"));
                }
            }
            "MAXROWS" => {
                only(reads, "FROM")?;
                self.rows_max = limit()?;
            }
            "SKIPROWS" => {
                only(reads, "FROM")?;
                self.skip_rows = number()?;
            }
            "SKIPCOLS" => {
                only(reads, "FROM")?;
                let names = value.split(',').map(str::trim).filter(|name| !name.is_empty());
                self.skip_columns = names.map(str::to_owned).collect();
            }
            "TTL" => {
                only(reads, "FROM")?;
                self.ttl_seconds = Some(value.parse().map_err(|_| wrong("seconds"))?);
            }
            "PAGESIZE" => {
                only(!reads, "TO")?;
                self.page_rows = match value.parse() {
                    Ok(rows @ 1..) => rows,
                    _ => return Err(wrong("a number of rows")),
                };
            }
            "BEGINTOKEN" | "ENDTOKEN" => {
                only(!reads, "TO")?;
                let token = value.parse().map_err(|_| wrong("a token"))?;
                match name {
                    "BEGINTOKEN" => self.tokens.0 = Some(token),
                    _ => self.tokens.1 = Some(token),
                }
            }
            other if PASSED_OVER.contains(&other) => {}
            _ => {
                return Err(Stop::wrong(format!(
                    "{name} is no option of COPY here; there are HEADER, DELIMITER, QUOTE, ESCAPE, \
                     NULL, ENCODING; of FROM also MAXROWS, SKIPROWS, SKIPCOLS, TTL; of \
                     TO also PAGESIZE, BEGINTOKEN, ENDTOKEN"
                )));
            }
        }
        Ok(())
    }
}

fn switch(value: &str) -> Option<bool> {
    match value.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Some(true),
        "false" | "no" | "off" | "0" => Some(false),
        _ => None,
    }
}

/// Splits the command into tokens. A quoted name stays as it is written; a text loses its quotes.
fn tokens(text: &str) -> Result<Vec<Token>, Stop> {
    let mut found = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(first) = rest.next() {
        match first {
            space if space.is_whitespace() => {}
            quote @ ('\'' | '"') => {
                let mut inner = String::new();
                loop {
                    let Some(next) = rest.next() else {
                        return Err(Stop::wrong(format!("a {quote} is not closed")));
                    };
                    if next == quote && rest.next_if_eq(&quote).is_none() {
                        break;
                    }
                    inner.push(next);
                }
                found.push(match quote {
                    '"' => Token::Word(format!("\"{}\"", inner.replace('"', "\"\""))),
                    _ => Token::Text(inner),
                });
            }
            sign @ ('(' | ')' | ',' | '.' | '=') => found.push(Token::Sign(sign)),
            other => {
                let mut word = String::from(other);
                let ends = |next: &char| {
                    next.is_whitespace() || matches!(next, '(' | ')' | ',' | '.' | '=' | '\'' | '"')
                };
                while let Some(next) = rest.next_if(|next| !ends(next)) {
                    word.push(next);
                }
                found.push(Token::Word(word));
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Copy {
        match parse(text) {
            Ok(copy) => copy,
            Err(Stop::Wrong(why)) => panic!("{text}: {why}"),
            Err(_) => panic!("{text}"),
        }
    }

    #[test]
    fn commands_are_read() {
        let plain = read("t TO 'a b.csv'");
        assert_eq!((&*plain.table, &*plain.file, plain.reads), ("t", "a b.csv", false));
        assert_eq!(plain.options, Options::default());
        let all = read(
            "\"K s\".\"T\" (a, \"B c\",d) from 'it''s' with HEADER=true and delimiter = '|' AND \
             MAXROWS=7 AND SKIPCOLS='a, x' AND NULL='-' AND CHUNKSIZE=50 AND Encoding=UTF8",
        );
        assert_eq!((&*all.table, &*all.file), ("\"K s\".\"T\"", "it's"));
        assert_eq!(all.columns, ["a", "\"B c\"", "d"]);
        let expected = Options {
            dialect: (b'|', b'"', b'\\'),
            header: true,
            null: "-".to_owned(),
            rows_max: Some(7),
            skip_columns: vec!["a".to_owned(), "x".to_owned()],
            ..Options::default()
        };
        assert_eq!(all.options, expected);
        assert_eq!(read("t TO STDOUT").file, "-");
        assert_eq!(read("t FROM stdin WITH HEADER = TRUE").file, "-");
        assert_eq!(read("t TO 'f' WITH DELIMITER=';'").options.dialect.0, b';');
        assert_eq!(read("t TO 'f' WITH DELIMITER='\\t'").options.dialect.0, b'\t');
        assert_eq!(read("t TO 'f' WITH BEGINTOKEN=-5").options.tokens.0, Some(-5));
    }

    #[test]
    fn what_is_wrong_is_told() {
        for (text, part) in [
            ("", "the command is COPY"),
            ("t", "the command is COPY"),
            ("t FROM", "the command is COPY"),
            ("t (a TO 'f'", "the command is COPY"),
            ("t TO f", "the command is COPY"),
            ("t TO 'f' HEADER=TRUE", "the command is COPY"),
            ("t TO 'f", "is not closed"),
            ("t TO 'f' WITH COLOUR=1", "COLOUR is no option of COPY here"),
            ("t TO 'f' WITH HEADER=maybe", "HEADER takes TRUE or FALSE"),
            ("t TO 'f' WITH DELIMITER='ab'", "DELIMITER takes one character"),
            ("t TO 'f' WITH MAXROWS=1", "MAXROWS is an option of COPY … FROM"),
            ("t FROM 'f' WITH ENCODING=latin1", "ENCODING takes utf8"),
            ("t FROM 'f' WITH QUOTE=','", "have to differ"),
            ("t FROM STDOUT", "the command is COPY"),
            ("t TO STDIN", "the command is COPY"),
        ] {
            match parse(text) {
                Err(Stop::Wrong(why)) => assert!(why.contains(part), "{text}: {why}"),
                _ => panic!("{text} is taken"),
            }
        }
    }
}
