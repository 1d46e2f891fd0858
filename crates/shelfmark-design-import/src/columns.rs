//! Tells which key columns requests of a schema call otherwise than the table that is there does.
//!
//! A key column that is one attribute is called as that attribute; a text that is put together has a
//! column of its own, `pk` and `sk` of a table, `NAME_pk` and `NAME_sk` of an index. The language
//! does not name such columns, so where they have other names there, a remark says both.
//!
//! What it is not: it changes no key.

use crate::draft::{Attribute, Entity, Row, Table};
use crate::names::comment;

/// The attribute by which requests tell row types of one table apart.
const ROW_TYPE: &str = "kind";

/// A row family's key cells in one table or index, with its entity.
struct Keyed<'d> {
    cells: &'d [String],
    entity: Option<&'d Entity>,
}

/// Returns remarks on the key columns of a table and of its indexes, in the order of the table, and on
/// the attribute that tells the type of a row there (`tag`).
pub(crate) fn renamed(table: &Table, tag: Option<&str>, entities: &[Entity]) -> Vec<String> {
    let entity = |row: &Row| entities.iter().find(|one| one.name == row.entity);
    let rows: Vec<Keyed<'_>> =
        table.rows.iter().map(|row| Keyed { cells: &row.key, entity: entity(row) }).collect();
    let partition = table.rows.first().map_or(1, |row| row.partition);
    let own = columns(&rows, partition, None);
    let mut found = Vec::new();
    found.extend(told(&format!("the table {}", table.name), &table.columns, &own));
    let mut seen: Vec<&str> = Vec::new();
    for index in table.rows.iter().flat_map(|row| &row.indexes) {
        if seen.contains(&index.name.as_str()) {
            continue;
        }
        seen.push(&index.name);
        let (mut inside, mut outside) = (Vec::new(), Vec::new());
        for row in &table.rows {
            match row.indexes.iter().find(|one| one.name == index.name) {
                Some(entry) => inside.push(Keyed { cells: &entry.key, entity: entity(row) }),
                None => outside.extend(entity(row)),
            }
        }
        let mut here = columns(&inside, index.partition, Some(&index.name));
        if index.local {
            here.splice(
                ..index.partition.min(here.len()),
                own.iter().take(index.partition).cloned(),
            );
        }
        let from = if index.local { index.partition } else { 0 };
        if holds_others(&inside, &outside, from) {
            // An item of another type has these attributes too, so that a column of its own tells.
            let (at, part) = match (index.local, index.partition) {
                (true, partition) => (partition, "sk"),
                (false, 1) => (0, "pk"),
                (false, _) => (0, "k0"),
            };
            if let Some(name) = here.get_mut(at) {
                *name = format!("{}_{part}", index.name);
            }
        }
        found.extend(told(&format!("the index {}", index.name), &index.columns, &here));
    }
    if let Some(tag) = tag.filter(|tag| table.rows.len() > 1 && *tag != ROW_TYPE) {
        found.push(format!(
            "? The attribute {} tells the type of a row there: requests of `design calls` say \
             {ROW_TYPE}.",
            comment(tag)
        ));
    }
    found
}

fn told(what: &str, there: &[String], here: &[String]) -> Option<String> {
    if there.is_empty() || there == here {
        return None;
    }
    let names: Vec<String> = there.iter().map(|name| comment(name)).collect();
    Some(format!(
        "? The key of {what} is called {} there: requests of `design calls` say {}.",
        names.join(", "),
        here.join(", ")
    ))
}

/// Returns the names that requests give the columns of a key, of a table or of this index.
fn columns(rows: &[Keyed<'_>], partition: usize, index: Option<&str>) -> Vec<String> {
    let count = rows.first().map_or(0, |row| row.cells.len());
    let text = |at: usize| rows.iter().all(|row| is_text(row, at));
    // Of a table all columns are texts, or none has a name of its own.
    let texts = |at: usize| if index.is_some() { text(at) } else { (0..count).all(text) };
    let before = index.map(|name| format!("{name}_")).unwrap_or_default();
    let composed = |at: usize| match at < partition {
        true if partition == 1 && texts(at) => "pk".to_owned(),
        false if count == partition + 1 && texts(at) && (partition == 1 || index.is_some()) => {
            "sk".to_owned()
        }
        _ => format!("k{at}"),
    };
    let name = |at: usize| common(rows, at).unwrap_or_else(|| format!("{before}{}", composed(at)));
    (0..count).map(name).collect()
}

/// Returns the attribute that a column is in every row family, if it is one.
fn common(rows: &[Keyed<'_>], at: usize) -> Option<String> {
    let mut names = rows.iter().map(|row| single(row, at));
    let first = names.next()??;
    names.all(|name| name == Some(first)).then(|| first.to_owned())
}

/// Returns the attribute that a cell consists of.
fn single<'d>(row: &Keyed<'d>, at: usize) -> Option<&'d str> {
    let cell = row.cells.get(at)?;
    let Some(inside) = cell.strip_prefix('"') else { return Some(cell) };
    let name = inside.strip_prefix('<')?.strip_suffix(">\"")?;
    let attribute = row.entity?.attributes.iter().find(|one| one.name == name)?;
    of_text(attribute).then_some(name)
}

/// Returns true if a cell is a text: a template, or an attribute that is one.
fn is_text(row: &Keyed<'_>, at: usize) -> bool {
    let Some(cell) = row.cells.get(at) else { return false };
    let attributes = row.entity.map(|one| one.attributes.as_slice()).unwrap_or_default();
    cell.starts_with('"') || attributes.iter().any(|one| one.name == *cell && of_text(one))
}

fn of_text(attribute: &Attribute) -> bool {
    ["text", "enum"].iter().any(|word| attribute.ty.starts_with(word))
}

/// Returns true if rows that are not in an index have all attributes of its key.
fn holds_others(inside: &[Keyed<'_>], outside: &[&Entity], from: usize) -> bool {
    let Some(first) = inside.first() else { return false };
    let wanted: Option<Vec<&str>> = (from..first.cells.len())
        .map(|at| common(inside, at).and_then(|_| single(first, at)))
        .collect();
    let (Some(wanted), Some(entity)) = (wanted, first.entity) else { return false };
    let ty = |entity: &Entity, name: &str| {
        entity.attributes.iter().find(|one| one.name == name).map(|one| one.ty.clone())
    };
    outside.iter().any(|other| {
        wanted.iter().all(|name| ty(other, name).is_some_and(|own| Some(own) == ty(entity, name)))
    })
}
