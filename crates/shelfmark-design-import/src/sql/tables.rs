//! Reads what a dump says of tables.
//!
//! Invariant: a statement that creates or alters a table is read whole, or refused with its place.

use std::collections::BTreeMap;

use super::checks;
use crate::names::comment;
use crate::relational::{Column, Reference, Table, words};
use crate::tokens::{Kind, Token};
use crate::{IMPORT_ATTRIBUTES_MAX, IMPORT_TABLES_MAX, ImportError};

/// The tables of a text, and where its queries and changes stand.
#[derive(Default)]
pub(super) struct Found {
    pub(super) tables: Vec<Table>,
    pub(super) others: Vec<(usize, usize)>,
    /// Names what else is created, which no model has.
    pub(super) left: Vec<String>,
}

pub(super) fn tables(tokens: &[Token], text: &str) -> Result<Found, ImportError> {
    let mut found = Found::default();
    let mut enums: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for statement in tokens.split(|token| token.is(";")) {
        let (Some(first), Some(last)) = (statement.first(), statement.last()) else { continue };
        let word =
            |at: usize, word: &str| statement.get(at).is_some_and(|token| token.is_word(word));
        if word(0, "create") && (word(1, "table") || word(2, "table") || word(3, "table")) {
            let table = create(statement, &enums, text)?;
            if found.tables.len() >= IMPORT_TABLES_MAX {
                let message = format!("at most {IMPORT_TABLES_MAX} tables are imported at once");
                return Err(ImportError::at(text, first.start, message));
            }
            if !found.tables.iter().any(|one| one.name.eq_ignore_ascii_case(&table.name)) {
                found.tables.push(table);
            }
        } else if word(0, "create") && word(1, "type") {
            let name = statement.get(2..).map(|rest| name(rest).0).unwrap_or_default();
            enums.insert(name.to_ascii_lowercase(), texts(statement));
        } else if word(0, "create") && (word(1, "index") || word(2, "index")) {
            index(statement, word(1, "unique"), &mut found.tables);
        } else if word(0, "alter") && word(1, "table") {
            alter(statement, &mut found.tables);
        } else if word(0, "create") {
            found.left.extend(created(statement));
        } else if ["select", "update", "delete", "with"].iter().any(|one| first.is_word(one)) {
            found.others.push((first.start, last.end));
        }
    }
    Ok(found)
}

/// Returns a statement that creates a view, a trigger or the like, and its name.
fn created(statement: &[Token]) -> Option<String> {
    let kinds = ["view", "trigger", "rule", "policy", "function", "procedure", "event"];
    let is_kind = |token: &Token| kinds.iter().any(|word| token.is_word(word));
    let at = statement.iter().take(6).position(is_kind)?;
    let rest = statement.get(at + 1..)?;
    let skip = rest
        .iter()
        .take(3)
        .filter(|one| ["if", "not", "exists"].iter().any(|word| one.is_word(word)));
    let (own, _) = name(rest.get(skip.count()..)?);
    Some(format!("{} {own}", statement.get(at)?.text.to_ascii_lowercase()))
}

/// Returns a name, the last part of one with dots, and how many tokens it has.
pub(super) fn name(tokens: &[Token]) -> (String, usize) {
    let mut length = 0;
    let mut own = String::new();
    while let Some(token) = tokens.get(length).filter(|token| token.kind != Kind::Mark) {
        own.clone_from(&token.text);
        length += 1;
        if !tokens.get(length).is_some_and(|token| token.is(".")) {
            break;
        }
        length += 1;
    }
    (own, length)
}

fn texts(tokens: &[Token]) -> Vec<String> {
    let texts = tokens.iter().filter(|token| matches!(token.kind, Kind::Text('\'')));
    texts.map(|token| token.text.clone()).collect()
}

/// Returns the parts of the first brackets, split at commas, and what follows the brackets.
pub(super) fn brackets(tokens: &[Token]) -> Option<(Vec<&[Token]>, &[Token])> {
    let start = tokens.iter().position(|token| token.is("("))? + 1;
    let mut open = 1_usize;
    let mut from = start;
    let mut parts = Vec::new();
    for (at, token) in tokens.iter().enumerate().skip(start) {
        open += usize::from(token.is("("));
        open -= usize::from(token.is(")"));
        if open == 0 {
            parts.extend(tokens.get(from..at).filter(|part| !part.is_empty()));
            return Some((parts, tokens.get(at + 1..).unwrap_or_default()));
        }
        if open == 1 && token.is(",") {
            parts.extend(tokens.get(from..at));
            from = at + 1;
        }
    }
    None
}

/// Returns the columns that brackets name.
fn columns(tokens: &[Token]) -> Vec<String> {
    let parts = brackets(tokens).map(|(parts, _)| parts).unwrap_or_default();
    parts.iter().filter_map(|part| part.first()).map(|token| token.text.clone()).collect()
}

fn create(
    statement: &[Token],
    enums: &BTreeMap<String, Vec<String>>,
    text: &str,
) -> Result<Table, ImportError> {
    let at = statement.iter().position(|token| token.is_word("table")).unwrap_or(1) + 1;
    let rest = statement.get(at..).unwrap_or_default();
    let skip = if rest.first().is_some_and(|token| token.is_word("if")) { 3 } else { 0 };
    let (own, _) = name(rest.get(skip..).unwrap_or_default());
    let mut table = Table { name: own, ..Table::default() };
    let start = statement.first().map_or(0, |token| token.start);
    let Some((parts, _)) = brackets(rest) else {
        let message = "this table has no columns in brackets; write them, or take it out";
        return Err(ImportError::at(text, start, message));
    };
    for part in parts {
        if !constraint(&mut table, part) {
            column(&mut table, part, enums);
        }
    }
    if table.columns.is_empty() || table.columns.len() > IMPORT_ATTRIBUTES_MAX {
        let message = format!("a table has 1 to {IMPORT_ATTRIBUTES_MAX} columns here");
        return Err(ImportError::at(text, start, message));
    }
    let mut seen = std::collections::BTreeSet::new();
    for column in &table.columns {
        if !seen.insert(column.name.to_ascii_lowercase()) {
            let message = format!("the column {} is declared twice", column.name);
            return Err(ImportError::at(text, start, message));
        }
    }
    let known = |name: &String| table.column(name).is_some();
    if let Some(name) = table.key.iter().find(|name| !known(name)) {
        let message = format!("the key names {name}, which is no column of {}", table.name);
        return Err(ImportError::at(text, start, message));
    }
    Ok(table)
}

/// Reads a constraint of a table; returns false if it is a column.
fn constraint(table: &mut Table, part: &[Token]) -> bool {
    let named = part.first().is_some_and(|token| token.is_word("constraint"));
    let part = part.get(if named { 2 } else { 0 }..).unwrap_or_default();
    let Some(first) = part.first().filter(|token| token.kind == Kind::Word) else { return named };
    let next = |word: &str| part.get(1).is_some_and(|token| token.is_word(word));
    if first.is_word("primary") && next("key") {
        table.key = columns(part);
    } else if first.is_word("foreign") && next("key") {
        let own = columns(part);
        let at = part.iter().position(|token| token.is_word("references"));
        let to = at.and_then(|at| part.get(at + 1..)).map(|rest| name(rest).0);
        let names = own.join(", ");
        table.asks.extend(deleted_with(part).map(|what| format!("? ({names}): {what}")));
        table.references.extend(to.map(|to| Reference { columns: own, table: to }));
    } else if first.is_word("unique") {
        table.uniques.push(columns(part));
    } else if ["key", "index", "fulltext", "spatial"].iter().any(|word| first.is_word(word))
        && part.iter().any(|token| token.is("("))
        && !type_follows(part)
    {
        table.indexes.push(columns(part));
    } else if first.is_word("check") && part.get(1).is_some_and(|token| token.is("(")) {
        let told = checks::apply(table, part);
        table.asks.extend(told);
    } else {
        return named
            || ["check", "exclude", "like", "period"].iter().any(|word| first.is_word(word));
    }
    true
}

/// Returns true if a column is called `key` or `index`: a type stands behind it.
fn type_follows(part: &[Token]) -> bool {
    let word = part.get(1).map(|token| token.text.to_ascii_lowercase()).unwrap_or_default();
    ["int", "integer", "bigint", "varchar", "char", "text", "uuid", "numeric", "decimal"]
        .contains(&word.as_str())
}

fn column(table: &mut Table, part: &[Token], enums: &BTreeMap<String, Vec<String>>) {
    let Some(first) = part.first() else { return };
    let own = first.text.clone();
    let has = |a: &str, b: &str| {
        part.windows(2).any(|two| matches!(two, [x, y] if x.is_word(a) && y.is_word(b)))
    };
    if has("primary", "key") {
        table.key = vec![own.clone()];
    }
    if part.iter().skip(2).any(|token| token.is_word("unique")) {
        table.uniques.push(vec![own.clone()]);
    }
    if let Some(at) = part.iter().position(|token| token.is_word("references")) {
        let (to, _) = part.get(at + 1..).map(name).unwrap_or_default();
        table.references.push(Reference { columns: vec![own.clone()], table: to });
    }
    let (ty, remark) = typed(part.get(1..).unwrap_or_default(), enums);
    let remark = remark.into_iter().chain(deleted_with(part).map(|what| format!("? {what}")));
    let optional = !has("not", "null") && !has("primary", "key") && !ty_is_serial(part);
    table.columns.push(Column { name: own, ty, optional, remarks: remark.collect() });
    let check = part.iter().skip(1).position(|token| token.is_word("check"));
    let told = check.and_then(|at| checks::apply(table, part.get(at + 1..).unwrap_or_default()));
    if let Some(column) = table.columns.last_mut() {
        column.remarks.extend(told);
    }
}

/// Returns what the database does with rows whose reference is deleted, if it does anything.
fn deleted_with(part: &[Token]) -> Option<String> {
    let at = part.windows(2).position(
        |two| matches!(two, [on, delete] if on.is_word("on") && delete.is_word("delete")),
    )?;
    let words: Vec<String> =
        part.iter().skip(at + 2).take(2).map(|token| token.text.to_ascii_uppercase()).collect();
    let (what, here) = match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["CASCADE", ..] => ("CASCADE", "a write deletes both"),
        ["SET", "NULL"] => ("SET NULL", "a write takes the reference away"),
        ["SET", "DEFAULT"] => ("SET DEFAULT", "a write sets the reference"),
        _ => return None,
    };
    Some(format!("ON DELETE {what} there: here {here}"))
}

fn ty_is_serial(part: &[Token]) -> bool {
    part.get(1).is_some_and(|token| token.text.to_ascii_lowercase().ends_with("serial"))
}

/// Returns the model's type of a column, and what it loses; an array is a list.
fn typed(part: &[Token], enums: &BTreeMap<String, Vec<String>>) -> (String, Option<String>) {
    let (ty, remark) = element(part, enums);
    let end = part
        .iter()
        .position(|token| ["not", "default", "check"].iter().any(|word| token.is_word(word)));
    let own = part.get(..end.unwrap_or(part.len())).unwrap_or_default();
    if !own.iter().any(|token| token.is("[") || token.is_word("array")) {
        return (ty, remark);
    }
    let ty = if ty == "text" { "text(max 200)" } else { &ty };
    let ask = "? an array there: how many at most? 100 is assumed";
    (format!("list of {ty}(max 100)"), Some(ask.to_owned()))
}

/// Returns the model's type of a column that is no array, and what it loses.
fn element(part: &[Token], enums: &BTreeMap<String, Vec<String>>) -> (String, Option<String>) {
    let (own, length) = name(part);
    let word = own.to_ascii_lowercase();
    let bracketed = part.get(length).is_some_and(|token| token.is("("));
    let size =
        part.get(length + 1).filter(|_| bracketed).and_then(|token| token.text.parse::<u64>().ok());
    if let Some(found) = enums.get(&word).filter(|found| !found.is_empty()) {
        return (words(found), None);
    }
    let plain = |ty: &str| (ty.to_owned(), None);
    match word.as_str() {
        "enum" => (
            words(
                &brackets(part)
                    .map(|(parts, _)| parts.iter().flat_map(|one| texts(one)).collect::<Vec<_>>())
                    .unwrap_or_default(),
            ),
            None,
        ),
        "tinyint" if size == Some(1) => plain("bool"),
        "bool" | "boolean" => plain("bool"),
        "smallint" | "int2" | "smallserial" => plain("int(-32768..32767)"),
        "int" | "integer" | "int4" | "serial" | "mediumint" | "tinyint" | "bigint" | "int8"
        | "bigserial" | "year" => plain("int"),
        "decimal" | "numeric" | "float" | "double" | "real" | "money" | "float4" | "float8" => {
            plain("decimal")
        }
        "date" => plain("date"),
        "timestamp" | "timestamptz" | "datetime" => plain("timestamp"),
        "uuid" => plain("uuid"),
        "varchar" | "char" | "character" | "nvarchar" | "bpchar" | "nchar" => {
            let varying =
                part.iter().position(|token| token.is("(")).and_then(|at| part.get(at + 1));
            let size = size.or_else(|| varying.and_then(|token| token.text.parse().ok()));
            (size.map_or_else(|| "text".to_owned(), |size| format!("text(max {size})")), None)
        }
        "citext" => ("text".to_owned(), Some("? citext there: case does not matter".to_owned())),
        "text" | "mediumtext" | "longtext" | "tinytext" | "string" | "clob" => plain("text"),
        "bytea" | "blob" | "binary" | "varbinary" | "longblob" | "mediumblob" => plain("bytes"),
        "json" | "jsonb" | "xml" | "hstore" => {
            ("bytes".to_owned(), Some(format!("? {word} there: what is in it")))
        }
        other => ("text".to_owned(), Some(format!("? {} there", crate::names::comment(other)))),
    }
}

fn index(statement: &[Token], unique: bool, tables: &mut [Table]) {
    let Some(at) = statement.iter().position(|token| token.is_word("on")) else { return };
    let rest = statement.get(at + 1..).unwrap_or_default();
    let skip = usize::from(rest.first().is_some_and(|token| token.is_word("only")));
    let (own, _) = rest.get(skip..).map(name).unwrap_or_default();
    let Some(table) = tables.iter_mut().find(|table| table.name.eq_ignore_ascii_case(&own)) else {
        return;
    };
    let partial = rest.iter().position(|token| token.is_word("where"));
    let parts = brackets(rest).map(|(parts, _)| parts).unwrap_or_default();
    let computed = parts.iter().any(|part| part.iter().any(|token| token.is("(")));
    if partial.is_none() && !computed {
        let list = if unique { &mut table.uniques } else { &mut table.indexes };
        list.push(columns(rest));
        return;
    }
    let inside: Vec<String> = parts.iter().map(|part| checks::written(part)).collect();
    let of = partial.and_then(|at| rest.get(at + 1..)).map(checks::written);
    let of = of.map_or_else(String::new, |of| format!(" of rows where {of}"));
    let (what, ask) = match unique {
        true => ("a unique index", "which attribute is unique?"),
        false => ("an index", "for which read?"),
    };
    let told = comment(&format!("There is {what} on {}{of}: {ask}", inside.join(", ")));
    table.asks.push(format!("? {told}"));
}

fn alter(statement: &[Token], tables: &mut [Table]) {
    let rest = statement.get(2..).unwrap_or_default();
    let skip = rest
        .iter()
        .take(3)
        .filter(|token| ["only", "if", "exists"].iter().any(|word| token.is_word(word)))
        .count();
    let (own, _) = rest.get(skip..).map(name).unwrap_or_default();
    let Some(table) = tables.iter_mut().find(|table| table.name.eq_ignore_ascii_case(&own)) else {
        return;
    };
    for (at, _) in rest.iter().enumerate().filter(|(_, token)| token.is_word("add")) {
        let part = rest.get(at + 1..).unwrap_or_default();
        constraint(table, part);
    }
}
