//! Imports Prisma schemas: models, relations, keys, unique sets, indexes and enums.
//!
//! What it is not: it knows no database behind the schema; views and composite types of documents
//! are told, not read.
//!
//! Source: the schema reference of Prisma, read 2026-11.

use std::collections::BTreeMap;

use crate::draft::Draft;
use crate::names::comment;
use crate::relational::{self, Column, Reference, Table, words};
use crate::tokens::{Kind, SCRIPT, Token, tokens};
use crate::{IMPORT_TABLES_MAX, ImportError};

/// A block: `model User { … }`.
struct Block<'t> {
    word: &'t str,
    name: &'t str,
    inside: &'t [Token],
}

pub(crate) fn import(name: &str, text: &str) -> Result<String, ImportError> {
    let tokens = tokens(text, SCRIPT)?;
    let blocks = blocks(&tokens, text)?;
    let named = |word: &'static str| blocks.iter().filter(move |block| block.word == word);
    let enums: BTreeMap<&str, Vec<String>> =
        named("enum").map(|block| (block.name, variants(block.inside, text))).collect();
    let models: Vec<&str> = named("model").map(|block| block.name).collect();
    if models.is_empty() {
        return Err(ImportError::new("1:1", "there is no `model` in it"));
    }
    if models.len() > IMPORT_TABLES_MAX {
        return Err(ImportError::new(
            "1:1",
            format!("at most {IMPORT_TABLES_MAX} models are imported"),
        ));
    }
    let mut draft = Draft { source: format!("Prisma: {}", comment(name)), ..Draft::default() };
    draft.remarks.push(
        "? Which reads and writes are there? Write them, then: design plan --target …".to_owned(),
    );
    for word in ["view", "type"] {
        let others: Vec<&str> = named(word).map(|block| block.name).collect();
        if !others.is_empty() {
            draft.remarks.push(format!("? Not read ({word}): {}.", comment(&others.join(", "))));
        }
    }
    let tables = named("model").map(|block| model(block, &models, &enums, text)).collect();
    relational::write(&mut draft, tables);
    Ok(draft.text())
}

/// Returns the blocks of a schema.
fn blocks<'t>(tokens: &'t [Token], text: &str) -> Result<Vec<Block<'t>>, ImportError> {
    let mut found = Vec::new();
    let mut at = 0;
    while let (Some(word), Some(name), Some(open)) =
        (tokens.get(at), tokens.get(at + 1), tokens.get(at + 2))
    {
        if word.kind != Kind::Word || name.kind != Kind::Word || !open.is("{") {
            let message = "expected a block such as `model User {`";
            return Err(ImportError::at(text, word.start, message));
        }
        let inside = tokens.get(at + 3..).unwrap_or_default();
        let Some(length) = inside.iter().position(|token| token.is("}")) else {
            return Err(ImportError::at(text, open.start, "this block has no end; write `}`"));
        };
        let inside = inside.get(..length).unwrap_or_default();
        found.push(Block { word: &word.text, name: &name.text, inside });
        at += length + 4;
    }
    match tokens.get(at) {
        Some(rest) => {
            Err(ImportError::at(text, rest.start, "expected a block such as `model User {`"))
        }
        None => Ok(found),
    }
}

/// Returns the lines of a block, which a line break ends outside of brackets.
fn lines<'t>(inside: &'t [Token], text: &str) -> Vec<&'t [Token]> {
    let mut found = Vec::new();
    let (mut start, mut open) = (0, 0_usize);
    for (at, token) in inside.iter().enumerate() {
        let gap = at.checked_sub(1).and_then(|before| inside.get(before)).map(|before| before.end);
        let breaks =
            gap.and_then(|gap| text.get(gap..token.start)).is_some_and(|gap| gap.contains('\n'));
        if breaks && open == 0 && at > start {
            found.extend(inside.get(start..at));
            start = at;
        }
        open += usize::from(token.is("(") || token.is("["));
        open = open.saturating_sub(usize::from(token.is(")") || token.is("]")));
    }
    found.extend(inside.get(start..).filter(|rest| !rest.is_empty()));
    found
}

fn variants(inside: &[Token], text: &str) -> Vec<String> {
    let lines = lines(inside, text);
    let first = lines.iter().filter_map(|line| line.first());
    first
        .filter(|token| token.kind == Kind::Word && !token.text.starts_with('@'))
        .map(|token| token.text.clone())
        .collect()
}

fn model(
    block: &Block<'_>,
    models: &[&str],
    enums: &BTreeMap<&str, Vec<String>>,
    text: &str,
) -> Table {
    let mut table = Table { name: block.name.to_owned(), ..Table::default() };
    for line in lines(block.inside, text) {
        let Some(first) = line.first() else { continue };
        match first.text.as_str() {
            "@@id" => table.key = list(line),
            "@@unique" => table.uniques.push(list(line)),
            "@@index" => table.indexes.push(list(line)),
            other if other.starts_with("@@") => {}
            _ => field(&mut table, line, models, enums),
        }
    }
    table
}

/// Returns the names of the first list in brackets.
fn list(line: &[Token]) -> Vec<String> {
    let inside = line.iter().skip_while(|token| !token.is("[")).skip(1);
    let inside = inside.take_while(|token| !token.is("]"));
    let mut open = 0_usize;
    let mut found = Vec::new();
    for token in inside {
        if token.kind == Kind::Word && open == 0 {
            found.push(token.text.clone());
        }
        open += usize::from(token.is("("));
        open = open.saturating_sub(usize::from(token.is(")")));
    }
    found
}

fn field(table: &mut Table, line: &[Token], models: &[&str], enums: &BTreeMap<&str, Vec<String>>) {
    let (Some(name), Some(ty)) = (line.first(), line.get(1)) else { return };
    let mark = |mark: &str| line.iter().any(|token| token.text == mark);
    let behind = line.get(2);
    let optional = behind.is_some_and(|token| token.is("?"));
    let many = behind.is_some_and(|token| token.is("["));
    if models.contains(&ty.text.as_str()) {
        // The other side of a relation has no column; this side names its own.
        let fields = line.iter().position(|token| token.is_word("fields"));
        let columns = fields.and_then(|at| line.get(at..)).map(list).unwrap_or_default();
        if !columns.is_empty() {
            table.references.push(Reference { columns, table: ty.text.clone() });
        }
        return;
    }
    let mut remarks = Vec::new();
    let plain = match (ty.text.as_str(), enums.get(ty.text.as_str())) {
        (_, Some(found)) if !found.is_empty() => words(found),
        ("String", _)
            if mark("uuid") || mark("@db") && line.iter().any(|token| token.is_word("Uuid")) =>
        {
            "uuid".to_owned()
        }
        ("String", _) => "text".to_owned(),
        ("Int" | "BigInt", _) => "int".to_owned(),
        ("Float" | "Decimal", _) => "decimal".to_owned(),
        ("Boolean", _) => "bool".to_owned(),
        ("DateTime", _) => "timestamp".to_owned(),
        ("Bytes", _) => "bytes".to_owned(),
        (other, _) => {
            remarks.push(format!("? {} there: what is in it", comment(other)));
            "bytes".to_owned()
        }
    };
    let ty = if many {
        remarks.push("? how many at most? 100 is assumed".to_owned());
        match plain.as_str() {
            "text" => "list of text(max 200)(max 100)".to_owned(),
            "bytes" => plain,
            other if other.starts_with("enum") => "list of text(max 200)(max 100)".to_owned(),
            other => format!("list of {other}(max 100)"),
        }
    } else {
        plain
    };
    if mark("@id") {
        table.key = vec![name.text.clone()];
    }
    if mark("@unique") {
        table.uniques.push(vec![name.text.clone()]);
    }
    table.columns.push(Column { name: name.text.clone(), ty, optional, remarks });
}
