//! The table of statements accepted and refused, in `statements.txt`.

use std::sync::LazyLock;

use shelfmark_cql_syntax::{ast::StatementKind, parse};

/// One row of the table.
pub(crate) struct Row {
    pub(crate) text: String,
    accepted: bool,
    expected: String,
}

fn unescape(text: &str) -> String {
    let mut plain = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some('n') => plain.push('\n'),
                Some('r') => plain.push('\r'),
                Some(other) => plain.push(other),
                None => plain.push('\\'),
            },
            other => plain.push(other),
        }
    }
    plain
}

pub(crate) fn table() -> &'static [Row] {
    static TABLE: LazyLock<Vec<Row>> = LazyLock::new(read);
    &TABLE
}

fn read() -> Vec<Row> {
    let mut lines = include_str!("statements.txt").lines().filter(|line| !line.starts_with('#'));
    let mut rows = Vec::new();
    while let (Some(text), Some(result)) = (lines.next(), lines.next()) {
        let (sign, expected) = result.split_at(3);
        let accepted = sign == "=> ";
        assert!(accepted || sign == "!! ", "{result}");
        rows.push(Row { text: unescape(text), accepted, expected: unescape(expected) });
    }
    rows
}

#[test]
fn every_row_of_the_table_holds() {
    let mut wrong = Vec::new();
    let rows = table();
    for row in rows {
        let (accepted, found) = match parse(&row.text) {
            Ok(parsed) => (true, parsed.statement.to_string()),
            Err(error) => (false, error.message().to_owned()),
        };
        if (accepted, &found) != (row.accepted, &row.expected) {
            wrong.push(format!("{}\n  expected {}\n  found    {found}", row.text, row.expected));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
    assert!(rows.len() > 900);
}

#[test]
fn what_is_printed_parses_to_the_same_tree() {
    for row in table().iter().filter(|row| row.accepted) {
        let parsed = parse(&row.text).unwrap().statement;
        let printed = parsed.to_string();
        assert_eq!(parse(&printed).map(|parsed| parsed.statement), Ok(parsed), "{printed}");
    }
}

#[test]
fn the_table_has_every_kind_of_statement() {
    let kinds: Vec<StatementKind> =
        table().iter().filter_map(|row| Some(parse(&row.text).ok()?.statement.kind())).collect();
    for kind in StatementKind::ALL {
        assert!(kinds.contains(kind), "{} has no row", kind.text());
    }
}
