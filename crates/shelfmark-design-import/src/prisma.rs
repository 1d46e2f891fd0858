//! Imports Prisma schemas: models, relations, keys, unique sets, indexes and enums.
//!
//! What it is not: it knows no database behind the schema; views and composite types of documents
//! are told, not read.
//!
//! Source: the schema reference of Prisma and its pages on many-to-many relations, read 2026-11.

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
    let enums: BTreeMap<&str, Vec<String>> = named("enum")
        .map(|block| Ok((block.name, variants(block.inside, text)?)))
        .collect::<Result<_, ImportError>>()?;
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
    let mut tables = named("model")
        .map(|block| model(block, &models, &enums, text))
        .collect::<Result<Vec<_>, _>>()?;
    let lists = named("model").flat_map(|block| lists(block, &models, text)).collect();
    crossed(&mut tables, lists);
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

fn variants(inside: &[Token], text: &str) -> Result<Vec<String>, ImportError> {
    let mut found = Vec::new();
    for line in lines(inside, text) {
        let Some(first) = line.first() else { continue };
        if first.text.starts_with('@') {
            continue;
        }
        alone(line.get(1..).unwrap_or_default(), text, "value of an enum")?;
        found.push(first.text.clone());
    }
    Ok(found)
}

/// Refuses a word of another value or field on a line: Prisma ends each at its line.
fn alone(behind: &[Token], text: &str, what: &str) -> Result<(), ImportError> {
    let mut open = 0_usize;
    let mut before: Option<&Token> = None;
    for token in behind {
        open += usize::from(token.is("(") || token.is("["));
        open = open.saturating_sub(usize::from(token.is(")") || token.is("]")));
        // `@id`, `@db.Uuid` and what stands in brackets belong to the field.
        let part = token.text.starts_with('@') || before.is_some_and(|before| before.is("."));
        if token.kind == Kind::Word && open == 0 && !part {
            let message = format!("each {what} stands on a line of its own");
            return Err(ImportError::at(text, token.start, message));
        }
        before = Some(token);
    }
    Ok(())
}

fn model(
    block: &Block<'_>,
    models: &[&str],
    enums: &BTreeMap<&str, Vec<String>>,
    text: &str,
) -> Result<Table, ImportError> {
    let mut table = Table { name: block.name.to_owned(), ..Table::default() };
    for line in lines(block.inside, text) {
        let Some(first) = line.first() else { continue };
        match first.text.as_str() {
            "@@id" => table.key = list(line),
            "@@unique" => table.uniques.push(list(line)),
            "@@index" => table.indexes.push(list(line)),
            other if other.starts_with("@@") => {}
            _ => {
                alone(line.get(2..).unwrap_or_default(), text, "field")?;
                field(&mut table, line, models, enums);
            }
        }
    }
    Ok(table)
}

/// A field that lists rows of another model: `posts Post[]`.
#[derive(Clone)]
struct Listed {
    owner: String,
    field: String,
    to: String,
    /// The name of the relation, if it has one.
    relation: Option<String>,
}

/// Returns the fields of a model that list rows of models.
fn lists(block: &Block<'_>, models: &[&str], text: &str) -> Vec<Listed> {
    let mut found = Vec::new();
    for line in lines(block.inside, text) {
        let (Some(name), Some(ty)) = (line.first(), line.get(1)) else { continue };
        let many = line.get(2).is_some_and(|token| token.is("["));
        if !many || !models.contains(&ty.text.as_str()) {
            continue;
        }
        found.push(Listed {
            owner: block.name.to_owned(),
            field: name.text.clone(),
            to: ty.text.clone(),
            relation: relation(line),
        });
    }
    found
}

/// Returns the name of a field's relation: `@relation("Likes")` or `@relation(name: "Likes")`.
fn relation(line: &[Token]) -> Option<String> {
    let at = line.iter().position(|token| token.is_word("@relation"))?;
    let behind = line.get(at + 1..)?;
    let is_text = |token: &&Token| matches!(token.kind, Kind::Text(_));
    let named = behind.iter().position(|token| token.is_word("name"));
    let place = named.map_or(1, |at| at + 2);
    behind.get(place).filter(is_text).map(|token| token.text.clone())
}

/// Adds a table for each relation that two lists make, as the database behind Prisma has one, and
/// asks about lists whose other side is not there.
fn crossed(tables: &mut Vec<Table>, mut lists: Vec<Listed>) {
    while !lists.is_empty() {
        let one = lists.remove(0);
        let other = lists.iter().position(|other| {
            other.owner == one.to && other.to == one.owner && other.relation == one.relation
        });
        if let Some(at) = other {
            let other = lists.remove(at);
            tables.push(between(tables, &one, &other));
            continue;
        }
        // A list is the other side of a field with columns.
        let refers = |table: &&Table| {
            table.name == one.to && table.references.iter().any(|to| to.table == one.owner)
        };
        if tables.iter().any(|table| refers(&table)) {
            continue;
        }
        if let Some(table) = tables.iter_mut().find(|table| table.name == one.owner) {
            table.asks.push(format!(
                "? {} lists {}, which has no field for it: how are they related?",
                comment(&one.field),
                comment(&one.to)
            ));
        }
    }
}

/// Returns the table of a relation between two models, keyed by a row of each.
fn between(tables: &[Table], one: &Listed, other: &Listed) -> Table {
    // The column A is of the model whose name sorts first, of one model that of the first field.
    let (first, second) = if (&one.owner, &one.field) <= (&other.owner, &other.field) {
        (one, other)
    } else {
        (other, one)
    };
    let there =
        first.relation.clone().unwrap_or_else(|| format!("{}To{}", first.owner, second.owner));
    let mut names = [first.owner.to_lowercase(), second.owner.to_lowercase()];
    if first.owner == second.owner {
        // A field lists the rows that its own column names.
        names = [first.field.clone(), second.field.clone()];
    }
    let mut table = Table { name: there.clone(), ..Table::default() };
    for ((name, listed), letter) in names.iter().zip([first, second]).zip(["A", "B"]) {
        let key = tables.iter().find(|table| table.name == listed.owner);
        let column = key.and_then(|table| match table.key.as_slice() {
            [only] => table.column(only).map(|column| column.ty.clone()),
            _ => None,
        });
        table.columns.push(Column {
            name: name.clone(),
            ty: column.unwrap_or_else(|| "text".to_owned()),
            optional: false,
            remarks: vec![format!("called {letter} there")],
        });
        let columns = vec![name.clone()];
        table.references.push(Reference { columns, table: listed.owner.clone() });
    }
    table.key = names.to_vec();
    table.asks.push(format!(
        "It is the relation between {}.{} and {}.{}, which Prisma keeps in the table _{}.",
        comment(&first.owner),
        comment(&first.field),
        comment(&second.owner),
        comment(&second.field),
        comment(&there)
    ));
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
