//! Takes the keys of one row type apart: constant parts, and the attributes between them.
//!
//! A value of a key is an attribute of the row where each row shows the same text there; the same
//! value in two key cells is one; what remains gets a name from the alias, the tag before it, or
//! the key's own attribute. Cells of indexes are read in the same way.
//!
//! What it is not: types of values are `domains`.

use std::collections::{BTreeMap, BTreeSet};

use super::groups::Group;
use super::words::{Bit, Column, bits, is_constant, is_generic, is_time, is_word, prefix, split};
use super::{Attribute, Row, Table};

/// The number of a hole among those of its family.
pub(crate) type HoleId = usize;

/// A constant part of a key, or a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KeyPiece {
    Text(String),
    Hole(HoleId),
}

/// A value of a key.
#[derive(Debug, Clone)]
pub(crate) struct Hole {
    /// The foreign name.
    pub(crate) name: String,
    /// Its value in each row of the family that has it.
    pub(crate) values: Vec<Option<String>>,
    pub(crate) letter: String,
    /// The tag before it, in small letters.
    tag: Option<String>,
    /// True if it is an attribute of the rows.
    pub(crate) stored: bool,
}

/// The cells of one family in an index.
#[derive(Debug, Clone)]
pub(crate) struct Entries {
    /// The number of the index in its table.
    pub(crate) index: usize,
    pub(crate) cells: Vec<Vec<KeyPiece>>,
    /// True if only some of the rows are in the index, though its key says nothing of that.
    pub(crate) partial: bool,
}

/// A row type.
#[derive(Debug)]
pub(crate) struct Family {
    pub(crate) name: String,
    pub(crate) rows: Vec<usize>,
    pub(crate) tag: Option<(String, String)>,
    pub(crate) facet: Option<usize>,
    pub(crate) declared: Option<usize>,
    pub(crate) holes: Vec<Hole>,
    /// The pieces of each key cell.
    pub(crate) cells: Vec<Vec<KeyPiece>>,
    pub(crate) entries: Vec<Entries>,
    /// Attributes that only repeat what keys say: `GSI1PK` and its like.
    pub(crate) derived: BTreeSet<String>,
    /// Questions about its keys.
    pub(crate) asks: Vec<String>,
}

struct Builder<'t> {
    table: &'t Table,
    columns: &'t BTreeMap<String, Column>,
    rows: Vec<&'t Row>,
    family: Family,
}

/// Returns the family of a group of rows.
pub(super) fn family(table: &Table, columns: &BTreeMap<String, Column>, group: Group) -> Family {
    let rows: Vec<&Row> = group.rows.iter().filter_map(|at| table.rows.get(*at)).collect();
    let family = Family {
        name: group.name,
        rows: group.rows,
        tag: group.tag,
        facet: group.facet,
        declared: group.declared,
        holes: Vec::new(),
        cells: Vec::new(),
        entries: Vec::new(),
        derived: BTreeSet::new(),
        asks: Vec::new(),
    };
    let mut builder = Builder { table, columns, rows, family };
    for (at, part) in table.key.iter().enumerate() {
        let cell = builder.key_cell(at, part);
        builder.family.cells.push(cell);
    }
    builder.never_constant();
    for index in 0..table.indexes.len() {
        builder.entries(index);
    }
    builder.family
}

impl Builder<'_> {
    /// Returns the pieces of a cell of the table's key.
    fn key_cell(&mut self, at: usize, part: &Attribute) -> Vec<KeyPiece> {
        if part.letter != "S" {
            return vec![KeyPiece::Hole(self.attribute_hole(part))];
        }
        if let Some(template) = self.template(&part.name) {
            let pieces = self.templated(&template, 0);
            return self.filled(pieces, part);
        }
        let alias = self.alias(at);
        if let Some(pieces) = alias.as_deref().and_then(bracketed) {
            let pieces = self.named(&pieces);
            return self.filled(pieces, part);
        }
        if self.rows.is_empty() {
            let pieces = alias.as_deref().map(bare).unwrap_or_default();
            if pieces.iter().any(|(is_hole, _)| *is_hole) {
                return self.named(&pieces);
            }
            return vec![KeyPiece::Hole(self.attribute_hole(part))];
        }
        let names = alias.as_deref().map(bare).unwrap_or_default();
        let cell = self.cell(part, &names);
        self.ask_alias(part, alias.as_deref(), &cell);
        cell
    }

    fn alias(&self, at: usize) -> Option<String> {
        let facet = self.table.facets.get(self.family.facet?)?;
        let alias = facet.aliases.get(at)?.clone()?;
        let own = self.table.key.iter().any(|part| part.name == alias);
        (!own).then_some(alias)
    }

    /// Returns the template that a schema beside the table gives an attribute.
    fn template(&self, name: &str) -> Option<String> {
        let one = self.table.declared.get(self.family.declared?)?;
        let own = one.attributes.iter().find(|(own, _)| own.name.eq_ignore_ascii_case(name))?;
        own.1.clone()
    }

    /// Returns the pieces of a template; what names another key cell stands for its pieces.
    fn templated(&mut self, template: &str, depth: usize) -> Vec<KeyPiece> {
        let pieces = bracketed(template).unwrap_or_else(|| vec![(false, template.to_owned())]);
        let mut out = Vec::new();
        for (is_hole, text) in pieces {
            if !is_hole {
                out.push(KeyPiece::Text(text));
                continue;
            }
            let part = self.table.key.iter().position(|part| part.name.eq_ignore_ascii_case(&text));
            let tag = self.family.tag.clone().filter(|(name, _)| *name == text);
            if let Some((_, kind)) = tag {
                out.push(KeyPiece::Text(kind));
            } else if let Some(cell) = part.and_then(|at| self.family.cells.get(at)) {
                out.extend(cell.iter().cloned());
            } else if let Some(own) = self.template(&text).filter(|_| depth < 4) {
                out.extend(self.templated(&own, depth + 1));
            } else {
                let name = part.and_then(|at| self.table.key.get(at)).map(|part| part.name.clone());
                let letter = self.letter_of(name.as_deref().unwrap_or(&text));
                let part = Attribute { name: name.unwrap_or(text), letter };
                out.push(KeyPiece::Hole(self.attribute_hole(&part)));
            }
        }
        out
    }

    /// Gives the holes of a template the values that the rows have there.
    fn filled(&mut self, pieces: Vec<KeyPiece>, part: &Attribute) -> Vec<KeyPiece> {
        for (number, row) in self.rows.iter().enumerate() {
            let found = row.text(&part.name).and_then(|text| aligned(&pieces, text));
            for (hole, value) in found.unwrap_or_default() {
                let hole = self.family.holes.get_mut(hole);
                if let Some(slot) = hole.and_then(|hole| hole.values.get_mut(number))
                    && slot.is_none()
                {
                    *slot = Some(value.to_owned());
                }
            }
        }
        pieces
    }

    fn letter_of(&self, name: &str) -> String {
        let one = self.family.declared.and_then(|at| self.table.declared.get(at));
        let own = one.and_then(|one| one.attributes.iter().find(|(own, _)| own.name == name));
        own.map_or_else(|| self.table.letter(name).to_owned(), |(own, _)| own.letter.clone())
    }

    /// Returns the pieces of an alias: literals, and holes by their names.
    fn named(&mut self, pieces: &[(bool, String)]) -> Vec<KeyPiece> {
        let piece = |(is_hole, text): &(bool, String)| {
            if !is_hole {
                return KeyPiece::Text(text.clone());
            }
            let part = Attribute { name: text.clone(), letter: "S".to_owned() };
            KeyPiece::Hole(self.attribute_hole(&part))
        };
        pieces.iter().map(piece).collect()
    }

    /// Returns the hole that is a whole attribute.
    fn attribute_hole(&mut self, part: &Attribute) -> HoleId {
        if let Some(at) = self.family.holes.iter().position(|hole| hole.name == part.name) {
            return at;
        }
        let text = |row: &&Row| row.text(&part.name).map(str::to_owned);
        let values: Vec<Option<String>> = self.rows.iter().map(text).collect();
        let stored = values.iter().any(Option::is_some);
        self.push(Hole {
            name: part.name.clone(),
            values,
            letter: part.letter.clone(),
            tag: None,
            stored,
        })
    }

    fn push(&mut self, hole: Hole) -> HoleId {
        self.family.holes.push(hole);
        self.family.holes.len() - 1
    }

    /// Returns the pieces of a text attribute, as the rows show them; `names` are those of an alias.
    fn cell(&mut self, part: &Attribute, names: &[(bool, String)]) -> Vec<KeyPiece> {
        let texts: Vec<Option<String>> =
            self.rows.iter().map(|row| row.text(&part.name).map(str::to_owned)).collect();
        let delimiter = self.columns.get(&part.name).and_then(|column| column.delimiter);
        let forms: Vec<Vec<Bit>> = self
            .rows
            .iter()
            .filter_map(|row| Some((row, row.text(&part.name)?)))
            .map(|(row, text)| self.bits(part, row, text))
            .collect();
        let Some(first) = forms.first() else { return Vec::new() };
        let even = forms.iter().all(|form| form.len() == first.len());
        let shortest = forms.iter().map(Vec::len).min().unwrap_or(0);
        // Where rows differ in length, what they begin alike with is constant, and the rest a value.
        let tags = |at: usize| match first.get(at) {
            Some(Bit::Tag(tag)) if forms.iter().all(|form| form.get(at) == first.get(at)) => {
                Some(tag)
            }
            _ => None,
        };
        let whole = if even {
            first.len()
        } else {
            (0..shortest)
                .take_while(|at| tags(*at).is_some())
                .count()
                .min(shortest.saturating_sub(1))
        };
        let mut holes = names.iter().filter(|(is_hole, _)| *is_hole).map(|(_, name)| name.clone());
        let alone = names.iter().filter(|(is_hole, _)| *is_hole).count();
        let mut out: Vec<KeyPiece> = Vec::new();
        let mut before: Option<String> = None;
        let count = if even { whole } else { whole + 1 };
        let values = if even { (0..whole).filter(|at| tags(*at).is_none()).count() } else { 1 };
        if let Some((head, values)) = self.headed(&texts, &forms, delimiter) {
            let name = holes.next().filter(|_| alone == 1);
            let hole = self.hole(part, values, Some(head.clone()), name, false);
            let between = delimiter.map(String::from).unwrap_or_default();
            return vec![KeyPiece::Text(format!("{head}{between}")), KeyPiece::Hole(hole)];
        }
        if let Some(phrase) = self.phrase(part, &texts, first) {
            return vec![KeyPiece::Text(phrase)];
        }
        for at in 0..count {
            if at > 0 {
                text(&mut out, &delimiter.map(String::from).unwrap_or_default());
            }
            if let Some(tag) = tags(at).filter(|_| at < whole) {
                text(&mut out, tag);
                before = Some(tag.clone()).filter(|tag| !tag.is_empty());
                continue;
            }
            let rest = !even && at == whole;
            let (head, values_here) = cut(&texts, delimiter, at, rest, &forms);
            text(&mut out, &head);
            let name = holes.next().filter(|_| alone == values);
            let tag = before.take().or_else(|| Some(head.clone()).filter(|head| !head.is_empty()));
            let hole = self.hole(part, values_here, tag, name, count == 1 && head.is_empty());
            out.push(KeyPiece::Hole(hole));
        }
        out
    }

    /// Returns the word with which all texts of a named type begin, and what follows it: `Month` of
    /// `Month-2026-01`, which stands in an attribute with a name of its own.
    fn headed(
        &self,
        texts: &[Option<String>],
        forms: &[Vec<Bit>],
        delimiter: Option<char>,
    ) -> Option<(String, Vec<Option<String>>)> {
        let named = self.family.facet.is_some() || self.family.tag.is_some();
        let single = forms
            .iter()
            .all(|form| matches!(form.as_slice(), [Bit::Value(kind)] if kind.is_empty()));
        let c = delimiter.filter(|_| named && single && forms.len() > 1)?;
        let (head, _) = texts.iter().flatten().next()?.split_once(c)?;
        let after = |text: &String| {
            text.split_once(c)
                .filter(|(own, rest)| *own == head && !rest.is_empty())
                .map(|(_, rest)| rest.to_owned())
        };
        let values: Vec<Option<String>> =
            texts.iter().map(|text| text.as_ref().and_then(after)).collect();
        let whole = values.iter().zip(texts).all(|(value, text)| value.is_some() == text.is_some());
        (whole && is_word(head)).then(|| (head.to_owned(), values))
    }

    /// Returns the text of a cell that is the same in all rows of a named type and says so: words,
    /// while another cell of the key changes.
    fn phrase(&self, part: &Attribute, texts: &[Option<String>], form: &[Bit]) -> Option<String> {
        let named = self.family.facet.is_some() || self.family.tag.is_some();
        let text = texts.first()?.as_deref()?;
        let same = texts.len() > 1 && texts.iter().all(|other| other.as_deref() == Some(text));
        let inside = |c: char| c.is_alphabetic() || matches!(c, ' ' | '_' | '-');
        let words = text.chars().all(inside) && matches!(form, [Bit::Value(_)]);
        let leads = self.table.key.first().is_some_and(|first| first.name == part.name);
        let telling = !leads || text.contains(' ') || is_constant(text);
        let changes = |other: &&Attribute| {
            let first = self.rows.first().and_then(|row| row.text(&other.name));
            other.name != part.name && self.rows.iter().any(|row| row.text(&other.name) != first)
        };
        let key = self.table.key.iter().any(|one| one.name == part.name);
        let others = self.table.key.iter().any(|other| changes(&other));
        (key && named && same && words && telling && others).then(|| text.to_owned())
    }

    fn bits(&self, part: &Attribute, row: &Row, text: &str) -> Vec<Bit> {
        let known: BTreeSet<&str> = row
            .cells
            .keys()
            .filter(|name| **name != part.name && !is_generic(name) && !self.is_tag(name))
            .filter_map(|name| row.text(name))
            .collect();
        let column = self.columns.get(&part.name);
        column.map_or_else(|| vec![Bit::Value(String::new())], |column| bits(text, column, &known))
    }

    fn is_tag(&self, name: &str) -> bool {
        self.family.tag.as_ref().is_some_and(|(own, _)| own == name)
    }

    /// Returns the hole for values: one that is known, an attribute, or a new one.
    fn hole(
        &mut self,
        part: &Attribute,
        values: Vec<Option<String>>,
        tag: Option<String>,
        alias: Option<String>,
        whole: bool,
    ) -> HoleId {
        let tag = tag.map(|tag| tag.to_ascii_lowercase());
        if let Some(at) = self.shared(&values, tag.as_deref()) {
            return at;
        }
        if let Some((name, letter)) =
            self.attribute(part, &values, tag.as_deref(), alias.as_deref())
        {
            if let Some(at) = self.family.holes.iter().position(|hole| hole.name == name) {
                return at;
            }
            return self.push(Hole { name, values, letter, tag, stored: true });
        }
        let plain = whole && !is_generic(&part.name);
        let times = values.iter().flatten().all(|value| is_time(value));
        let name = match (alias, &tag) {
            (Some(alias), _) => alias,
            (None, _) if plain => part.name.clone(),
            (None, Some(tag)) if !is_constant(tag) || tag.len() > 1 && !self.takes(tag) => {
                singular(tag)
            }
            (None, _) if times => "at".to_owned(),
            (None, _) => self.head_name(&values).unwrap_or_else(|| part.name.to_ascii_lowercase()),
        };
        let mut fresh = name.clone();
        let mut number = 2;
        let own = fresh == part.name;
        let held = |name: &str| self.family.holes.iter().any(|hole| hole.name == name);
        while if own { held(&fresh) } else { self.takes(&fresh) } {
            fresh = format!("{name}_{number}");
            number += 1;
        }
        self.push(Hole { name: fresh, values, letter: "S".to_owned(), tag, stored: plain })
    }

    fn takes(&self, name: &str) -> bool {
        let own = self.rows.iter().any(|row| row.cells.contains_key(name));
        own || self.family.holes.iter().any(|hole| hole.name == name)
    }

    /// Returns the letters that all values begin with, as `complaint` of `Complaint12`.
    fn head_name(&self, values: &[Option<String>]) -> Option<String> {
        let mut heads = values.iter().flatten().map(|value| prefix(value));
        let first = heads.next()??;
        let same = heads.all(|head| head == Some(first));
        (same && first.len() > 2).then(|| first.to_ascii_lowercase())
    }

    /// Returns the hole of another cell that has the same value in every row.
    fn shared(&self, values: &[Option<String>], tag: Option<&str>) -> Option<HoleId> {
        let known: BTreeSet<&String> = values.iter().flatten().collect();
        let rows = values.iter().flatten().count();
        self.family.holes.iter().position(|hole| {
            let both = || hole.values.iter().zip(values).filter(|(_, new)| new.is_some());
            let same = rows > 0 && both().all(|(old, new)| old == new);
            let constant = |tag: &str| is_constant(tag);
            let alike = match (hole.tag.as_deref(), tag) {
                (Some(one), Some(other)) => {
                    singular(one) == singular(other)
                        || constant(one)
                        || constant(other)
                        || one.starts_with(other)
                        || other.starts_with(one)
                }
                _ => true,
            };
            same && (alike || (rows > 2 && known.len() > 1))
        })
    }

    /// Returns the attribute of the rows whose value stands there in every row, and its letter.
    fn attribute(
        &self,
        part: &Attribute,
        values: &[Option<String>],
        tag: Option<&str>,
        alias: Option<&str>,
    ) -> Option<(String, String)> {
        let known: BTreeSet<&String> = values.iter().flatten().collect();
        let rows = values.iter().flatten().count();
        let telling = known.len() > 1 || known.iter().all(|value| value.len() > 2);
        let mut found: Vec<&str> = Vec::new();
        let names = self.rows.iter().flat_map(|row| row.cells.keys());
        let names: BTreeSet<&str> = names.map(String::as_str).collect();
        for name in names {
            let key = self.table.key.iter().any(|one| one.name == name);
            if name == part.name || key || is_generic(name) || self.is_tag(name) {
                continue;
            }
            let mut both = self.rows.iter().zip(values).filter(|(_, value)| value.is_some());
            if both.all(|(row, value)| row.text(name) == value.as_deref()) && rows > 0 {
                found.push(name);
            }
        }
        let near = |name: &&&str| {
            let plain = name.to_ascii_lowercase();
            [tag, alias].into_iter().flatten().any(|word| {
                let word = singular(&word.to_ascii_lowercase());
                plain.contains(&word) || word.contains(&plain)
            })
        };
        let chosen = found.iter().find(near).or_else(|| found.first().filter(|_| telling))?;
        Some(((*chosen).to_owned(), self.table.letter(chosen).to_owned()))
    }

    /// Makes a cell whose text never changes a value, where nothing else of the key does: else an
    /// entity would have no key.
    fn never_constant(&mut self) {
        let hole = |piece: &KeyPiece| matches!(piece, KeyPiece::Hole(_));
        if self.family.cells.iter().flatten().any(hole) {
            return;
        }
        let Some(part) = self.table.key.last().cloned() else { return };
        let at = self.attribute_hole(&part);
        if let Some(cell) = self.family.cells.last_mut() {
            *cell = vec![KeyPiece::Hole(at)];
        }
    }

    fn ask_alias(&mut self, part: &Attribute, alias: Option<&str>, cell: &[KeyPiece]) {
        let Some(alias) = alias else { return };
        let head = match cell.first() {
            Some(KeyPiece::Text(text))
                if alias.contains('#') && !alias.starts_with(text.as_str()) && text.len() > 1 =>
            {
                text
            }
            _ => return,
        };
        self.family.asks.push(format!(
            "? {} is called {:?} in this facet, and its rows begin with {head:?}: which is right?",
            crate::names::comment(&part.name),
            crate::names::comment(alias)
        ));
    }

    /// Finds what the cells of an index are made of, if rows of the family are in it.
    fn entries(&mut self, number: usize) {
        let Some(index) = self.table.indexes.get(number).cloned() else { return };
        let own = |part: &Attribute| self.table.key.iter().position(|one| one.name == part.name);
        let has = |row: &&&Row| {
            index.parts.iter().all(|part| own(part).is_some() || row.text(&part.name).is_some())
        };
        let inside = self.rows.iter().filter(has).count();
        let declared = self.family.declared.is_some()
            && index
                .parts
                .iter()
                .all(|part| own(part).is_some() || self.template(&part.name).is_some());
        let named = self.rows.is_empty() && self.names_all(&index.parts);
        if inside == 0 && !declared && !named {
            return;
        }
        let kept = std::mem::take(&mut self.rows);
        let before = self.family.holes.len();
        self.rows = kept;
        let mut cells = Vec::new();
        for part in &index.parts {
            let cell = match own(part) {
                Some(at) => self.family.cells.get(at).cloned().unwrap_or_default(),
                None if part.letter != "S" => vec![KeyPiece::Hole(self.attribute_hole(part))],
                None => match self.template(&part.name) {
                    Some(template) => {
                        let pieces = self.templated(&template, 0);
                        self.filled(pieces, part)
                    }
                    None if inside == 0 => vec![KeyPiece::Hole(self.attribute_hole(part))],
                    None => self.cell(part, &[]),
                },
            };
            let attribute = matches!(cell.as_slice(), [KeyPiece::Hole(at)]
                if self.family.holes.get(*at).is_some_and(|hole| hole.name == part.name));
            if own(part).is_none() && !attribute {
                self.family.derived.insert(part.name.clone());
            }
            cells.push(cell);
        }
        let telling = cells.iter().flatten().any(|piece| match piece {
            KeyPiece::Hole(at) => self
                .family
                .holes
                .get(*at)
                .is_some_and(|hole| *at >= before || hole.values.iter().any(Option::is_none)),
            KeyPiece::Text(_) => false,
        });
        let partial = inside < self.rows.len() && !telling;
        self.family.entries.push(Entries { index: number, cells, partial });
    }

    /// Returns true if the family, which has no rows, names all attributes.
    fn names_all(&self, parts: &[Attribute]) -> bool {
        let facet = self.family.facet.and_then(|at| self.table.facets.get(at));
        let listed = facet.and_then(|facet| facet.others.as_ref());
        parts.iter().all(|part| match listed {
            Some(names) => names.contains(&part.name),
            None => self.family.declared.is_none() && self.table.facets.is_empty(),
        })
    }
}

/// Returns the values that a text has in the holes of a cell; `None` where it does not fit.
pub(super) fn aligned<'t>(cell: &[KeyPiece], text: &'t str) -> Option<Vec<(HoleId, &'t str)>> {
    let mut rest = text;
    let mut found = Vec::new();
    for (at, piece) in cell.iter().enumerate() {
        match piece {
            KeyPiece::Text(literal) => rest = rest.strip_prefix(literal.as_str())?,
            KeyPiece::Hole(hole) => {
                let end = match cell.get(at + 1) {
                    Some(KeyPiece::Text(literal)) => rest.find(literal.as_str())?,
                    _ => rest.len(),
                };
                let (value, more) = rest.split_at(end);
                if value.is_empty() {
                    return None;
                }
                found.push((*hole, value));
                rest = more;
            }
        }
    }
    rest.is_empty().then_some(found)
}

/// Adds a literal, joined to the one before it.
fn text(out: &mut Vec<KeyPiece>, more: &str) {
    match out.last_mut() {
        _ if more.is_empty() => {}
        Some(KeyPiece::Text(text)) => text.push_str(more),
        _ => out.push(KeyPiece::Text(more.to_owned())),
    }
}

/// Returns what all values of a segment begin with, and the values behind it; `rest` takes all
/// segments from there on.
fn cut(
    texts: &[Option<String>],
    delimiter: Option<char>,
    at: usize,
    rest: bool,
    forms: &[Vec<Bit>],
) -> (String, Vec<Option<String>>) {
    let mut values: Vec<Option<String>> = texts
        .iter()
        .map(|text| {
            let segments = split(text.as_deref()?, delimiter);
            let between = delimiter.map(String::from).unwrap_or_default();
            if rest {
                return segments.get(at..).map(|rest| rest.join(&between));
            }
            segments.get(at).map(|segment| (*segment).to_owned())
        })
        .collect();
    let kind = forms.first().and_then(|form| form.get(at));
    let Some(Bit::Value(head)) = kind else { return (String::new(), values) };
    let same = !rest && forms.iter().all(|form| form.get(at) == kind);
    if head.is_empty() || head == "T" || !same {
        return (String::new(), values);
    }
    for value in values.iter_mut().flatten() {
        *value = value.strip_prefix(head.as_str()).unwrap_or(value).to_owned();
    }
    (head.clone(), values)
}

/// Parses a text with holes, written `<id>`, `{id}` or `${id}`; `None` when it has none.
fn bracketed(alias: &str) -> Option<Vec<(bool, String)>> {
    let mut found = Vec::new();
    let mut rest = alias;
    let mut holes = 0;
    while let Some(open) = rest.find(['<', '{']) {
        let (head, tail) = rest.split_at(open);
        let close = if tail.starts_with('<') { '>' } else { '}' };
        let inside = tail.get(1..)?.split_once(close);
        let (inside, after) = inside.filter(|(inside, _)| !inside.trim().is_empty())?;
        let head = head.strip_suffix('$').unwrap_or(head);
        if !head.is_empty() {
            found.push((false, head.to_owned()));
        }
        found.push((true, inside.trim().to_owned()));
        holes += 1;
        rest = after;
    }
    if !rest.is_empty() {
        found.push((false, rest.to_owned()));
    }
    (holes > 0).then_some(found)
}

/// Parses an alias without brackets, such as `ORDER#OrderID`: shouted and leading words are
/// literals, the others names.
fn bare(alias: &str) -> Vec<(bool, String)> {
    let segments: Vec<&str> = alias.split('#').collect();
    let mut found: Vec<(bool, String)> = Vec::new();
    let mut literal = String::new();
    for (at, segment) in segments.iter().enumerate() {
        if at > 0 {
            literal.push('#');
        }
        let shouted =
            segment.chars().all(|c| c.is_ascii_uppercase() || c == '_') && segment.len() > 1;
        let leads =
            at == 0 && segments.len() > 1 && segment.chars().all(|c| c.is_ascii_uppercase());
        let named = segment.starts_with(|c: char| c.is_ascii_alphabetic());
        if segment.is_empty() || shouted || leads || !named {
            literal.push_str(segment);
            continue;
        }
        if !literal.is_empty() {
            found.push((false, std::mem::take(&mut literal)));
        }
        found.push((true, (*segment).to_owned()));
    }
    if !literal.is_empty() {
        found.push((false, literal));
    }
    found
}

/// Returns a word without the `s` of a plural.
fn singular(word: &str) -> String {
    match word.strip_suffix('s') {
        Some(one) if one.len() > 2 && !one.ends_with(['s', 'u']) => one.to_owned(),
        _ => word.to_owned(),
    }
}
