//! Writes the row types of tables as entities, row families and sample rows of a draft.
//!
//! What it is not: it finds nothing; what a family is, it is told.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::keys::{Entries, Family, KeyPiece};
use super::{Row, Table, domains, families, groups, reads};
use crate::columns;
use crate::draft::{self, Draft, Piece, Schema};
use crate::names::{Names, camel, comment, sample_text};
use crate::places::Places;

/// Most sample rows that are written of one table.
///
/// Ours: the published models have 442 in 44 files.
const SAMPLES_MAX: usize = 200;

/// A family with its names in the model.
pub(super) struct Written {
    pub(super) family: Family,
    pub(super) entity: String,
    pub(super) row: String,
    pub(super) columns: Names,
    /// Names, types and codecs of its holes, in their order.
    pub(super) holes: Vec<(String, domains::Domain)>,
}

/// Adds the row types of tables to a draft.
pub(crate) fn write(draft: &mut Draft, tables: &[Table]) {
    let mut entities = Names::default();
    let listed: Vec<(String, Vec<String>)> = tables
        .iter()
        .map(|table| {
            let indexes = table.indexes.iter().map(|index| index.name.clone());
            (table.name.clone(), indexes.collect())
        })
        .collect();
    let mut places = Places::of(&listed);
    let mut patterns = Names::default();
    let mut schema =
        Schema { target: "dynamodb", tables: Vec::new(), serves: Vec::new(), samples: Vec::new() };
    for table in tables {
        let name = places.table(&table.name);
        let families = families(table);
        let alone = families.len() == 1;
        let mut written: Vec<Written> = Vec::new();
        for family in families {
            let title = if alone && family.facet.is_none() { &table.name } else { &family.name };
            let entity = entities.fresh(&camel(title));
            let row = if alone { name.clone() } else { places.row(&family.name) };
            written.push(named(table, family, entity, row));
        }
        let mut rows = Vec::new();
        for one in &mut written {
            draft.entities.push(entity(table, one));
            rows.push((one.row.clone(), one.entity.clone()));
        }
        let rows = (0..written.len()).map(|at| row(table, &mut written, at, &places)).collect();
        let called = |index: Option<&str>| match index {
            None => name.clone(),
            Some(index) => places.index(&table.name, index),
        };
        reads::patterns(table, &mut written, &mut patterns, draft, &mut schema.serves, &called);
        let remarks = places.renamed(&table.name);
        let columns = table.key.iter().map(|part| part.name.clone()).collect();
        let mut found = draft::Table { name, remarks, columns, rows };
        let tags = written.iter().filter_map(|one| one.family.tag.as_ref());
        let tag = tags.map(|(name, _)| name.as_str()).next();
        let more = columns::renamed(&found, tag, &draft.entities);
        found.remarks.extend(more);
        schema.tables.push(found);
        draft.remarks.extend(left_out(table, &written));
        samples(table, &mut written, &mut schema.samples, &mut draft.remarks);
    }
    draft.schema = Some(schema);
}

/// Gives the holes of a family names and types.
fn named(table: &Table, family: Family, entity: String, row: String) -> Written {
    let mut columns = Names::default();
    let contexts = groups::columns(table);
    let delimiters: BTreeSet<char> =
        contexts.values().filter_map(|column| column.delimiter).collect();
    let holes = family
        .holes
        .iter()
        .map(|hole| (columns.of(&hole.name), domains::of_hole(hole, &delimiters)))
        .collect();
    Written { family, entity, row, columns, holes }
}

/// Returns the holes of cells, each once, in order.
pub(super) fn holes_of<'c>(cells: impl IntoIterator<Item = &'c Vec<KeyPiece>>) -> Vec<usize> {
    let mut found = Vec::new();
    for piece in cells.into_iter().flatten() {
        if let KeyPiece::Hole(at) = piece
            && !found.contains(at)
        {
            found.push(*at);
        }
    }
    found
}

/// Returns the foreign names of the attributes beside the key.
fn others(table: &Table, one: &Written) -> Vec<String> {
    let family = &one.family;
    let rows = rows_of(table, family);
    let facet = family.facet.and_then(|at| table.facets.get(at));
    let listed = facet.and_then(|facet| facet.others.clone());
    let declared = family.declared.and_then(|at| table.declared.get(at));
    let mut names: Vec<String> = match (&listed, declared) {
        (Some(listed), _) => listed.clone(),
        (None, Some(declared)) => {
            declared.attributes.iter().map(|(own, _)| own.name.clone()).collect()
        }
        _ => Vec::new(),
    };
    let seen: BTreeSet<&String> = rows.iter().flat_map(|row| row.cells.keys()).collect();
    let whole = listed.is_none() && declared.is_none() && is_alone(table, family);
    // A table of one type has all that it declares; of several each has what its rows show.
    let order = table.others.iter().map(|one| &one.name);
    names.extend(order.filter(|name| whole || seen.contains(name)).cloned());
    names.extend(seen.iter().map(|name| (*name).clone()));
    let holes: BTreeSet<&str> = family.holes.iter().map(|hole| hole.name.as_str()).collect();
    let mut taken = BTreeSet::new();
    names.retain(|name| {
        let tag = family.tag.as_ref().is_some_and(|(own, _)| own == name);
        let key = table.key.iter().any(|part| part.name.eq_ignore_ascii_case(name));
        let hidden = rows.is_empty() && declared.is_some() && name.starts_with("__");
        let known = key || tag || holes.contains(name.as_str()) || family.derived.contains(name);
        !(known || hidden) && taken.insert(name.clone())
    });
    names
}

fn is_alone(table: &Table, family: &Family) -> bool {
    family.rows.len() == table.rows.len() && table.facets.is_empty() && table.declared.is_empty()
}

fn rows_of<'t>(table: &'t Table, family: &Family) -> Vec<&'t Row> {
    family.rows.iter().filter_map(|at| table.rows.get(*at)).collect()
}

fn entity(table: &Table, one: &mut Written) -> draft::Entity {
    let mut found = draft::Entity { name: one.entity.clone(), ..draft::Entity::default() };
    if let Some((name, kind)) = &one.family.tag {
        found.remarks.push(format!("Its rows have {} = {:?}.", comment(name), comment(kind)));
    }
    let key = holes_of(&one.family.cells);
    let indexed = holes_of(one.family.entries.iter().flat_map(|entries| &entries.cells));
    for at in key.iter().chain(indexed.iter().filter(|at| !key.contains(at))) {
        let (Some(hole), Some((name, domain))) = (one.family.holes.get(*at), one.holes.get(*at))
        else {
            continue;
        };
        let mut remarks = called(name, &hole.name);
        remarks.extend(domain.remarks.iter().cloned());
        found.attributes.push(draft::Attribute {
            name: name.clone(),
            ty: domain.ty.clone(),
            optional: !key.contains(at),
            facts: Vec::new(),
            remarks,
        });
    }
    let rows = rows_of(table, &one.family);
    for foreign in others(table, one) {
        let keyed = table.indexes.iter().any(|index| {
            index.parts.iter().any(|part| part.name == foreign)
                && one.family.entries.iter().any(|own| {
                    table.indexes.get(own.index).is_some_and(|found| found.name == index.name)
                })
        });
        let domain = domains::of_attribute(table, &rows, &foreign, keyed);
        let name = one.columns.of(&foreign);
        let mut remarks = called(&name, &foreign);
        remarks.extend(domain.remarks);
        let optional = true;
        found.attributes.push(draft::Attribute {
            name,
            ty: domain.ty,
            optional,
            facts: Vec::new(),
            remarks,
        });
    }
    found.key =
        key.iter().filter_map(|at| one.holes.get(*at)).map(|(name, _)| name.clone()).collect();
    found.asks.extend(one.family.asks.iter().cloned());
    found
        .asks
        .push("? How many are there, and how do they grow?  count 1M growth 2%/mo".to_owned());
    found
}

fn called(name: &str, foreign: &str) -> Vec<String> {
    if name == foreign { Vec::new() } else { vec![format!("called {:?} there", comment(foreign))] }
}

/// Returns a row family with its indexes.
fn row(table: &Table, written: &mut [Written], at: usize, places: &Places) -> draft::Row {
    let shared = written.len() > 1;
    let several = |index: usize| {
        written.iter().filter(|one| one.family.entries.iter().any(|own| own.index == index)).count()
            > 1
    };
    let crowded: Vec<bool> = (0..table.indexes.len()).map(several).collect();
    let Some(one) = written.get_mut(at) else { return draft::Row::default() };
    let key = one
        .family
        .cells
        .iter()
        .zip(&table.key)
        .map(|(cell, part)| text_of(one, cell, part.letter != "S" || !shared))
        .collect();
    let mut found = draft::Row {
        name: one.row.clone(),
        entity: one.entity.clone(),
        key,
        partition: 1,
        ..draft::Row::default()
    };
    for entries in one.family.entries.clone() {
        let Some(index) = table.indexes.get(entries.index) else { continue };
        let name = places.index(&table.name, &index.name);
        if entries.partial {
            found.remarks.push(format!(
                "? Only some rows of {} are in {name}: which?",
                comment(&one.family.name)
            ));
        }
        let crowded = crowded.get(entries.index).copied().unwrap_or_default();
        let cells = entries.cells.iter().zip(&index.parts);
        let mut key: Vec<String> =
            cells.map(|(cell, part)| text_of(one, cell, part.letter != "S" || !crowded)).collect();
        let beside = entries.cells.first() == one.family.cells.first();
        let local = index.local && beside && found.key.len() == 2 && key.len() == 2;
        if local {
            key.splice(..1, found.key.first().cloned());
        } else if index.local {
            found.remarks.push(format!(
                "? {name} is a local index there, and {} has no key for one: it is a global one here.",
                comment(&one.family.name)
            ));
        }
        let store = shown(table, one, &entries);
        found.indexes.push(draft::Index {
            name,
            local,
            key,
            partition: index.partition,
            columns: index.parts.iter().map(|part| part.name.clone()).collect(),
            store,
        });
    }
    found
}

/// Returns the projected attributes of an index, by their names in the model; `None` means all.
pub(super) fn shown(table: &Table, one: &mut Written, entries: &Entries) -> Option<Vec<String>> {
    let listed = table.indexes.get(entries.index)?.shown.clone()?;
    let own = others(table, one);
    let known = |name: &String| own.contains(name);
    Some(listed.iter().filter(|name| known(name)).map(|name| one.columns.of(name)).collect())
}

pub(super) fn text_of(one: &Written, cell: &[KeyPiece], plain: bool) -> String {
    let piece = |piece: &KeyPiece| match piece {
        KeyPiece::Text(text) => Piece::Text(text.clone()),
        KeyPiece::Hole(at) => {
            let (name, codec) = one
                .holes
                .get(*at)
                .map_or((String::new(), ""), |(name, domain)| (name.clone(), domain.codec));
            Piece::Hole(name, codec.to_owned())
        }
    };
    let pieces: Vec<Piece> = cell.iter().map(piece).collect();
    draft::cell(&pieces, plain)
}

/// Returns remarks on indexes that no type is in, on attributes of no type, on types without a key.
fn left_out(table: &Table, written: &[Written]) -> Vec<String> {
    let mut found = Vec::new();
    for (at, index) in table.indexes.iter().enumerate() {
        let inside = |one: &Written| one.family.entries.iter().any(|own| own.index == at);
        if !written.iter().any(inside) {
            let names: Vec<String> = index.parts.iter().map(|part| comment(&part.name)).collect();
            found.push(format!(
                "? The index {} of {} is not imported: no row and no facet has {}. Which rows lie \
                 in it, and what is its key made of?",
                comment(&index.name),
                comment(&table.name),
                names.join(" and ")
            ));
        }
    }
    for one in table.declared.iter().filter(|one| !one.name.starts_with('~')) {
        let at = table.declared.iter().position(|other| other.name == one.name);
        if !written.iter().any(|other| other.family.declared == at) {
            found.push(format!(
                "? The row type {} of {} has neither a sample row nor a template: what is its key?",
                comment(&one.name),
                comment(&table.name)
            ));
        }
    }
    found
}

/// Writes sample rows, and remarks on those that are not taken.
fn samples(
    table: &Table,
    written: &mut [Written],
    lines: &mut Vec<String>,
    remarks: &mut Vec<String>,
) {
    let mut keyless = 0;
    let mut unwritten: Vec<String> = Vec::new();
    let count: usize = written.iter().map(|one| one.family.rows.len()).sum();
    let mut room = SAMPLES_MAX;
    for one in written {
        let names = others(table, one);
        for at in one.family.rows.clone() {
            let Some(row) = table.rows.get(at).filter(|_| room > 0) else { continue };
            room -= 1;
            let keys: Vec<String> =
                table.key.iter().filter_map(|part| sample_text(row.text(&part.name)?)).collect();
            if keys.len() != table.key.len() {
                keyless += 1;
                continue;
            }
            let mut values = Vec::new();
            let key = holes_of(&one.family.cells);
            let indexed = one.family.holes.iter().enumerate().filter(|(at, hole)| {
                let ty = one.holes.get(*at).map_or("", |(_, domain)| domain.ty.as_str());
                hole.stored && !key.contains(at) && (ty.starts_with("text") || ty == "int")
            });
            let indexed: Vec<String> = indexed.map(|(_, hole)| hole.name.clone()).collect();
            for name in indexed.iter().chain(&names) {
                let Some(json) = row.cells.get(name) else { continue };
                match value(json) {
                    Some(text) => values.push(format!("{} = {text}", one.columns.of(name))),
                    None if unwritten.contains(name) => {}
                    None => unwritten.push(name.clone()),
                }
            }
            let values = match values.as_slice() {
                [] => String::new(),
                values => format!(" {{ {} }}", values.join(", ")),
            };
            lines.push(format!("    row {} {}{values}\n", one.row, keys.join(" ")));
        }
    }
    let name = comment(&table.name);
    if keyless > 0 {
        remarks.push(format!(
            "? Sample rows of {name} that were not taken, because their key is no short text: \
             {keyless}."
        ));
    }
    if count > SAMPLES_MAX {
        let more = count - SAMPLES_MAX;
        remarks.push(format!(
            "Sample rows of {name} beyond the first {SAMPLES_MAX}, not taken: {more}."
        ));
    }
    if !unwritten.is_empty() {
        remarks.push(format!(
            "Values of sample rows of {name} that have no form here: {}.",
            comment(&unwritten.join(", "))
        ));
    }
}

/// Returns a value of a sample row: a short text, a whole number, or yes or no.
fn value(json: &Json) -> Option<String> {
    if let Some(text) = json.get("S").and_then(Json::as_str) {
        return sample_text(text);
    }
    if let Some(number) = json.get("N").and_then(Json::as_str) {
        return number.parse::<i64>().ok().map(|number| number.to_string());
    }
    json.get("BOOL").and_then(Json::as_bool).map(|bit| bit.to_string())
}
