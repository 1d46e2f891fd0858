//! Sorts the rows of a table into types.
//!
//! A facet is a type where no row stands in two of them. An attribute that names the type decides
//! where nearly every row has it and the keys do not contradict. Else rows are of one type whose
//! keys have one form: the same tags, and values of one kind.
//!
//! What it is not: it names no attributes; that is `keys`.

use std::collections::{BTreeMap, BTreeSet};

use super::words::{self, Bit, Column, bits, delimiter, is_constant, is_generic, is_word, prefix};
use super::{Row, Table};

/// Names of attributes that hold nothing but the type of their row, without marks and in small
/// letters. The first are of ElectroDB, OneTable and other libraries.
const NAMING: [&str; 17] = [
    "edbe",
    "entitytype",
    "et",
    "entity",
    "entityname",
    "typename",
    "rowtype",
    "recordtype",
    "objecttype",
    "modeltype",
    "doctype",
    "documenttype",
    "modelname",
    "pctype",
    "itemkind",
    "rowkind",
    "entitykind",
];

/// Names of attributes that may hold the type of their row, or something else.
const PERHAPS: [&str; 7] = ["type", "kind", "model", "class", "object", "itemtype", "datatype"];

/// Smallest share of rows that an attribute which names types must stand in, in percent.
const NAMED_PERCENT: usize = 80;

/// The rows of one type.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) name: String,
    pub(super) rows: Vec<usize>,
    /// The attribute that names the type, and what it says.
    pub(super) tag: Option<(String, String)>,
    pub(super) facet: Option<usize>,
    pub(super) declared: Option<usize>,
}

/// Returns what the texts of each key column of the table and its indexes have in common.
pub(super) fn columns(table: &Table) -> BTreeMap<String, Column> {
    let parts = table.indexes.iter().flat_map(|index| &index.parts);
    let mut found = BTreeMap::new();
    for part in table.key.iter().chain(parts) {
        let texts: Vec<&str> = table.rows.iter().filter_map(|row| row.text(&part.name)).collect();
        found.insert(part.name.clone(), column(table, &part.name, &texts));
    }
    found
}

fn column(table: &Table, name: &str, texts: &[&str]) -> Column {
    let delimiter = delimiter(texts);
    let generic = is_generic(name);
    let leads = table.key.first().is_some_and(|first| first.name == name);
    let mut constants = BTreeSet::new();
    let mut prefixes = BTreeSet::new();
    for text in texts.iter().filter(|_| generic) {
        for segment in words::split(text, delimiter) {
            prefixes.extend(prefix(segment).map(str::to_owned));
        }
        let alone = delimiter.is_none_or(|c| !text.contains(c)) && is_word(text);
        let again = texts.iter().filter(|other| *other == text).count() > 1;
        let known = is_constant(text) && (!leads || (again && text.len() > 1));
        if alone && (known || (!leads && repeats(table, name, text))) {
            constants.insert((*text).to_owned());
        }
    }
    if prefixes.len() < 2 {
        prefixes.clear();
    }
    Column { delimiter, generic, constants, prefixes }
}

/// Returns true if a word stands in the sort key of several partitions.
fn repeats(table: &Table, name: &str, word: &str) -> bool {
    let Some(first) = table.key.first() else { return false };
    let of = |row: &&Row| row.text(name) == Some(word);
    let partitions: BTreeSet<Option<&str>> =
        table.rows.iter().filter(of).map(|row| row.text(&first.name)).collect();
    partitions.len() > 1
}

/// Returns the rows of each type, in the order of their first row; facets first.
pub(super) fn groups(table: &Table, columns: &BTreeMap<String, Column>) -> Vec<Group> {
    let facets = facets_are_types(table);
    let naming = naming(table, columns);
    let mut found: Vec<Group> = Vec::new();
    if facets {
        for (at, facet) in table.facets.iter().enumerate() {
            found.push(Group { name: facet.name.clone(), facet: Some(at), ..Group::default() });
        }
    }
    let mut loose: Vec<usize> = Vec::new();
    for (at, row) in table.rows.iter().enumerate() {
        match row.facet.filter(|_| facets).and_then(|facet| found.get_mut(facet)) {
            Some(group) => group.rows.push(at),
            None => loose.push(at),
        }
    }
    if facets {
        found =
            found.into_iter().flat_map(|group| parted(table, naming.as_deref(), group)).collect();
        loose = belonging(table, columns, &mut found, loose);
    }
    match &naming {
        Some(name) => by_name(table, name, loose, &mut found),
        None => by_form(table, columns, loose, &mut found),
    }
    declared(table, &mut found);
    if found.is_empty() {
        found.push(Group { name: table.name.clone(), ..Group::default() });
    }
    found
}

/// Returns true if the facets of a table are types of rows: no row stands in two of them.
fn facets_are_types(table: &Table) -> bool {
    let mut seen: BTreeMap<Vec<Option<&str>>, usize> = BTreeMap::new();
    let apart = table.rows.iter().all(|row| {
        let Some(facet) = row.facet else { return true };
        let key = table.key.iter().map(|part| row.text(&part.name)).collect();
        *seen.entry(key).or_insert(facet) == facet
    });
    !table.facets.is_empty() && apart
}

/// Puts rows outside of facets to the facet whose rows have keys of the same form; returns the rest.
fn belonging(
    table: &Table,
    columns: &BTreeMap<String, Column>,
    groups: &mut [Group],
    loose: Vec<usize>,
) -> Vec<usize> {
    let form = |at: usize| table.rows.get(at).map(|row| form(table, columns, row));
    let forms: Vec<BTreeSet<_>> =
        groups.iter().map(|group| group.rows.iter().filter_map(|at| form(*at)).collect()).collect();
    let mut rest = Vec::new();
    for at in loose {
        let own = form(at).unwrap_or_default();
        let fits = forms.iter().position(|forms| forms.contains(&own));
        match fits.and_then(|fit| groups.get_mut(fit)) {
            Some(group) => group.rows.push(at),
            None => rest.push(at),
        }
    }
    rest
}

/// Parts the rows of a facet by the attribute that names their type, where that says several.
fn parted(table: &Table, naming: Option<&str>, group: Group) -> Vec<Group> {
    let mut kinds: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for at in &group.rows {
        let row = table.rows.get(*at);
        let kind = naming.and_then(|name| row.and_then(|row| row.text(name)));
        kinds.entry(kind.unwrap_or_default().to_owned()).or_default().push(*at);
    }
    match (naming, kinds.len()) {
        (_, 0) | (None, _) => vec![group],
        (Some(name), 1) => {
            let tag = kinds.into_keys().next().map(|kind| (name.to_owned(), kind));
            vec![Group { tag: tag.filter(|(_, kind)| !kind.is_empty()), ..group }]
        }
        (Some(name), _) => kinds
            .into_iter()
            .map(|(kind, rows)| Group {
                name: if kind.is_empty() { group.name.clone() } else { kind.clone() },
                rows,
                tag: (!kind.is_empty()).then(|| (name.to_owned(), kind)),
                ..Group::default()
            })
            .collect(),
    }
}

/// Returns the attribute that names the type of each row.
fn naming(table: &Table, columns: &BTreeMap<String, Column>) -> Option<String> {
    let plain = |name: &str| -> String {
        name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
    };
    let mut names: Vec<&String> = table.rows.iter().flat_map(|row| row.cells.keys()).collect();
    names.sort();
    names.dedup();
    let own = |name: &&&String| table.key.iter().all(|part| part.name != ***name);
    let said = table.type_attribute.as_ref();
    let said = said.filter(|said| names.contains(said) && is_everywhere(table, said));
    let strong = || {
        names
            .iter()
            .filter(own)
            .find(|name| NAMING.contains(&plain(name).as_str()) && is_everywhere(table, name))
    };
    let weak = || {
        names.iter().filter(own).find(|name| {
            PERHAPS.contains(&plain(name).as_str())
                && is_everywhere(table, name)
                && agrees(table, columns, name)
        })
    };
    said.or_else(|| strong().copied()).or_else(|| weak().copied()).cloned()
}

fn is_everywhere(table: &Table, name: &str) -> bool {
    let with = table.rows.iter().filter(|row| row.text(name).is_some()).count();
    with > 0 && with * 100 >= table.rows.len() * NAMED_PERCENT
}

/// Returns true if rows of one form of key have one value of an attribute, as names of types have:
/// most forms do, and there are several values.
fn agrees(table: &Table, columns: &BTreeMap<String, Column>, name: &str) -> bool {
    let mut forms: BTreeMap<Vec<Vec<Bit>>, BTreeSet<&str>> = BTreeMap::new();
    let mut values = BTreeSet::new();
    for row in &table.rows {
        let Some(value) = row.text(name) else { continue };
        values.insert(value);
        forms.entry(form(table, columns, row)).or_default().insert(value);
    }
    let clear = forms.values().filter(|values| values.len() == 1).count();
    table.is_generic() && values.len() > 1 && clear * 2 > forms.len()
}

fn by_name(table: &Table, name: &str, rows: Vec<usize>, found: &mut Vec<Group>) {
    for at in rows {
        let kind = table.rows.get(at).and_then(|row| row.text(name)).unwrap_or_default().to_owned();
        let title = if kind.is_empty() { table.name.clone() } else { kind.clone() };
        let tag = (!kind.is_empty()).then(|| (name.to_owned(), kind));
        match found
            .iter_mut()
            .find(|group| group.tag == tag && tag.is_some() || group.name == title)
        {
            Some(group) => group.rows.push(at),
            None => found.push(Group { name: title, rows: vec![at], tag, ..Group::default() }),
        }
    }
}

/// Returns the form of a row's key.
fn form(table: &Table, columns: &BTreeMap<String, Column>, row: &Row) -> Vec<Vec<Bit>> {
    let key: Vec<&str> = table.key.iter().map(|part| part.name.as_str()).collect();
    let known: BTreeSet<&str> = row
        .cells
        .keys()
        .filter(|name| !key.contains(&name.as_str()) && !is_generic(name))
        .filter_map(|name| row.text(name))
        .collect();
    let cell = |name: &&str| match (row.text(name), columns.get(*name)) {
        (Some(text), Some(column)) => bits(text, column, &known),
        _ => Vec::new(),
    };
    key.iter().map(cell).collect()
}

fn by_form(
    table: &Table,
    columns: &BTreeMap<String, Column>,
    rows: Vec<usize>,
    found: &mut Vec<Group>,
) {
    let mut forms: Vec<(Vec<Vec<Bit>>, Vec<usize>)> = Vec::new();
    for at in rows {
        let Some(row) = table.rows.get(at) else { continue };
        let mut own = form(table, columns, row);
        if !table.is_generic() {
            // Attributes of their own names hold values, whatever they look like.
            for bit in own.iter_mut().flatten() {
                if let Bit::Value(kind) = bit {
                    kind.clear();
                }
            }
        }
        match forms.iter_mut().find(|(form, _)| *form == own) {
            Some((_, rows)) => rows.push(at),
            None => forms.push((own, vec![at])),
        }
    }
    let forms = merged(table, forms);
    let alone = forms.len() == 1 && found.is_empty();
    for (form, rows) in forms {
        let name = if alone { table.name.clone() } else { title(table, &form) };
        found.push(Group { name, rows, ..Group::default() });
    }
}

/// Joins forms that differ in one word behind a tag or at an end, where their rows have the same
/// attributes: that word is a value, such as a state.
fn merged(
    table: &Table,
    forms: Vec<(Vec<Vec<Bit>>, Vec<usize>)>,
) -> Vec<(Vec<Vec<Bit>>, Vec<usize>)> {
    let mut out: Vec<(Vec<Vec<Bit>>, Vec<usize>)> = Vec::new();
    for (form, rows) in forms {
        let own = attributes(table, &rows);
        let joined = out.iter().position(|(other, theirs)| {
            !own.is_empty() && own == attributes(table, theirs) && value_at(other, &form).is_some()
        });
        match joined.and_then(|at| out.get_mut(at)) {
            Some((other, theirs)) => {
                if let Some((column, at)) = value_at(other, &form)
                    && let Some(bit) = other.get_mut(column).and_then(|cell| cell.get_mut(at))
                {
                    *bit = Bit::Value(String::new());
                }
                theirs.extend(rows);
            }
            None => out.push((form, rows)),
        }
    }
    out
}

/// Returns the one place behind the first where two forms differ, if one of them has a word there.
fn value_at(one: &[Vec<Bit>], other: &[Vec<Bit>]) -> Option<(usize, usize)> {
    let mut found = None;
    if one.len() != other.len() {
        return None;
    }
    for (column, (a, b)) in one.iter().zip(other).enumerate() {
        if a.len() != b.len() {
            return None;
        }
        for (at, (x, y)) in a.iter().zip(b).enumerate().filter(|(_, (x, y))| x != y) {
            let words = matches!((x, y), (Bit::Tag(_), Bit::Tag(_)))
                || matches!((x, y), (Bit::Value(_), Bit::Tag(_)));
            if found.is_some() || at == 0 || !words {
                return None;
            }
            found = Some((column, at));
        }
    }
    found
}

fn attributes<'t>(table: &'t Table, rows: &[usize]) -> BTreeSet<&'t str> {
    let rows = rows.iter().filter_map(|at| table.rows.get(*at));
    let names = rows.flat_map(|row| row.cells.keys()).map(String::as_str);
    names.filter(|name| table.key.iter().all(|part| part.name != *name)).collect()
}

/// Returns a name for rows of a form: its tags, the last ones first.
fn title(table: &Table, form: &[Vec<Bit>]) -> String {
    let tags = |cell: &Vec<Bit>| -> Vec<String> {
        let words = cell.iter().filter_map(|bit| match bit {
            Bit::Tag(word) => Some(word.trim_matches(|c: char| !c.is_ascii_alphanumeric())),
            Bit::Value(_) => None,
        });
        words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    let first = form.first().map(tags).unwrap_or_default();
    let last = form.get(1).map(tags).unwrap_or_default();
    let own: Vec<String> = last.iter().filter(|word| !first.contains(word)).cloned().collect();
    let telling = own.iter().any(|word| !is_constant(word) && word.len() > 1);
    let tail: Vec<String> = first.iter().skip(1).cloned().collect();
    let words = match (own.is_empty(), telling) {
        (false, true) => own,
        _ if !tail.is_empty() => tail,
        // `USER#1 ; PROFILE` is the profile of a user.
        (false, false) => first.into_iter().chain(own).collect(),
        (true, _) if first.is_empty() => last,
        (true, _) => first,
    };
    if words.is_empty() { table.name.clone() } else { words.join("_").to_ascii_lowercase() }
}

/// Adds the declared types that have no rows and templates for their keys, and marks those that do.
fn declared(table: &Table, found: &mut Vec<Group>) {
    for (at, one) in table.declared.iter().enumerate() {
        let same = |group: &&mut Group| {
            group.tag.as_ref().is_some_and(|(_, kind)| kind.eq_ignore_ascii_case(&one.name))
                || group.name.eq_ignore_ascii_case(&one.name)
        };
        if let Some(group) = found.iter_mut().find(same) {
            group.declared = Some(at);
            continue;
        }
        let templated = |part: &super::Attribute| {
            let own =
                one.attributes.iter().find(|(own, _)| own.name.eq_ignore_ascii_case(&part.name));
            own.is_some_and(|(_, template)| template.is_some())
        };
        if table.key.iter().all(templated) {
            let tag = table.type_attribute.clone().map(|name| (name, one.name.clone()));
            let group =
                Group { name: one.name.clone(), tag, declared: Some(at), ..Group::default() };
            found.push(group);
        }
    }
}
