//! Names and types of the columns that a schema's tables have in a target.
//!
//! A key column that is one attribute by itself is that attribute; a text that is put together is a
//! column of its own (`pk`, `sk`). Where rows of several types share a table, a further column tells
//! which one a row is.
//!
//! Invariant: one name of a table stands for values of one type.

use std::collections::{BTreeMap, BTreeSet};

use super::expr::plain_text;
use crate::paths::{all_key_paths, asked_by_index};
use crate::unique::available;
use shelfmark_design_language::model::schema::{
    Codec, ColumnKind, Family, FamilyId, Fold, Part, Schema, Stored, Table, TableId,
};
use shelfmark_design_language::model::types::Type;
use shelfmark_design_language::model::{ColumnPath, Model, RelationId, Term, canonical};

/// One column of a key.
#[derive(Debug, Clone)]
pub(super) struct KeyColumn {
    pub(super) name: String,
    pub(super) ty: Type,
    /// True if it consists of one attribute.
    pub(super) direct: bool,
}

/// The columns of one table, without composed columns of its indexes' keys.
#[derive(Debug, Clone, Default)]
struct Names {
    /// Every column beside the key, by name.
    types: BTreeMap<String, Type>,
    attributes: BTreeMap<(RelationId, ColumnPath), String>,
    /// The attributes that columns hold, by relation.
    held: BTreeSet<(RelationId, String)>,
    /// The column of the row type.
    row_type: Option<String>,
}

/// The columns of a schema's tables and indexes.
#[derive(Debug, Clone)]
pub(super) struct Columns {
    keys: Vec<Vec<KeyColumn>>,
    names: Vec<Names>,
}

impl Columns {
    pub(super) fn of(model: &Model, schema: &Schema) -> Self {
        let mut columns = Self { keys: Vec::new(), names: Vec::new() };
        for (id, table) in schema.tables.iter().enumerate() {
            let (keys, names) = if table.is_index {
                (Vec::new(), Names::default())
            } else {
                own_columns(model, schema, id, table)
            };
            columns.keys.push(keys);
            columns.names.push(names);
        }
        for (id, table) in schema.tables.iter().enumerate().filter(|(_, table)| table.is_index) {
            let keys = columns.index_columns(model, schema, id, table);
            if let Some(place) = columns.keys.get_mut(id) {
                *place = keys;
            }
        }
        columns
    }

    /// Returns the key of an index: its own columns, then those of the base table that are not
    /// among them.
    fn index_columns(
        &self,
        model: &Model,
        schema: &Schema,
        id: TableId,
        table: &Table,
    ) -> Vec<KeyColumn> {
        let families: Vec<&Family> = schema.of_table(id).map(|(_, family)| family).collect();
        let base =
            families.iter().find_map(|one| schema.families.get(one.base?)).map(|one| one.table);
        let base = base.unwrap_or(id);
        let below = self.key(base);
        let own = table.kinds.len().saturating_sub(below.len());
        let mut keys: Vec<KeyColumn> = Vec::new();
        for (at, kind) in table.kinds.iter().take(own).enumerate() {
            // A local index has the partition key of its table.
            if let (true, Some(column)) = (table.is_local && at < table.partition, below.get(at)) {
                keys.push(column.clone());
                continue;
            }
            let direct = direct_path(model, &families, at)
                .and_then(|paths| self.one_name(base, &families, &paths));
            let text = matches!(kind, ColumnKind::Text);
            keys.push(match direct {
                Some(name) => KeyColumn { name, ty: type_of(kind), direct: true },
                None => {
                    let part = match (text, at < table.partition) {
                        (true, true) if table.partition == 1 => "pk".to_owned(),
                        (true, false) if own == table.partition + 1 => "sk".to_owned(),
                        _ => format!("k{at}"),
                    };
                    let name = self.free(base, format!("{}_{part}", table.name.text));
                    KeyColumn { name, ty: type_of(kind), direct: false }
                }
            });
        }
        let told = if table.is_local { keys.last_mut() } else { keys.first_mut() };
        if let Some(first) = told
            && (families.iter().any(|family| !schema.own_conditions(family).is_empty())
                || self.holds_others(model, schema, base, id, &families, own))
        {
            let part = match (table.is_local, table.partition) {
                (true, _) => "sk",
                (false, 1) => "pk",
                _ => "k0",
            };
            let name = self.free(base, format!("{}_{part}", table.name.text));
            *first = KeyColumn { name, ty: first.ty.clone(), direct: false };
        }
        keys.extend(below.iter().cloned());
        keys
    }

    /// Returns a name that no column of a table has: this one, or one with as few lines behind it as can be.
    fn free(&self, table: TableId, mut name: String) -> String {
        let is_taken = |name: &str| {
            self.key(table).iter().any(|own| own.name == name)
                || self.names.get(table).is_some_and(|own| {
                    own.types.contains_key(name) || own.row_type.as_deref() == Some(name)
                })
        };
        while is_taken(&name) {
            name.push('_');
        }
        name
    }

    /// Returns true if rows of another type have every column of the index: an index holds each
    /// item of its table that has the columns of its key.
    fn holds_others(
        &self,
        model: &Model,
        schema: &Schema,
        base: TableId,
        id: TableId,
        families: &[&Family],
        own: usize,
    ) -> bool {
        let of_index: BTreeSet<Option<FamilyId>> = families.iter().map(|one| one.base).collect();
        // Of a local index the partition is that of every row there.
        let local = schema.tables.get(id).filter(|table| table.is_local);
        let from = local.map_or(0, |table| table.partition);
        let wanted: Option<BTreeSet<&str>> = (from..own)
            .map(|at| {
                let paths = direct_path(model, families, at)?;
                let first = families.first()?;
                self.attribute(base, first.source, paths.first()?)
            })
            .collect();
        let Some(wanted) = wanted.filter(|_| schema.tables.get(id).is_some()) else { return false };
        let others = schema.of_table(base).filter(|(other, _)| !of_index.contains(&Some(*other)));
        others.into_iter().any(|(other, family)| {
            let held: BTreeSet<&str> = carried(model, schema, other, family)
                .iter()
                .filter_map(|path| self.attribute(base, family.source, path))
                .collect();
            wanted.is_subset(&held)
        })
    }

    /// Returns the common name of an attribute of several families in a table, if it has one.
    fn one_name(
        &self,
        base: TableId,
        families: &[&Family],
        paths: &[ColumnPath],
    ) -> Option<String> {
        let mut names = families
            .iter()
            .zip(paths)
            .map(|(family, path)| self.attribute(base, family.source, path));
        let first = names.next()??;
        names.all(|name| name == Some(first)).then(|| first.to_owned())
    }

    /// Returns the columns of a table's or index's key.
    pub(super) fn key(&self, table: TableId) -> &[KeyColumn] {
        self.keys.get(table).map_or(&[], Vec::as_slice)
    }

    /// Returns the column of an attribute in a base table.
    pub(super) fn attribute(
        &self,
        base: TableId,
        relation: RelationId,
        path: &[usize],
    ) -> Option<&str> {
        let names = self.names.get(base)?;
        names.attributes.get(&(relation, path.to_vec())).map(String::as_str)
    }

    /// Returns every column of a base table beside its key, with its type.
    pub(super) fn beside(&self, base: TableId) -> impl Iterator<Item = (&str, &Type)> {
        let types = self.names.get(base).map(|names| &names.types);
        types.into_iter().flatten().map(|(name, ty)| (name.as_str(), ty))
    }

    /// Returns the column of the row type, where a table has several.
    pub(super) fn row_type(&self, base: TableId) -> Option<&str> {
        self.names.get(base)?.row_type.as_deref()
    }
}

fn own_columns(
    model: &Model,
    schema: &Schema,
    id: TableId,
    table: &Table,
) -> (Vec<KeyColumn>, Names) {
    let found: Vec<(FamilyId, &Family)> = schema.of_table(id).collect();
    let families: Vec<&Family> = found.iter().map(|(_, family)| *family).collect();
    let mut used: BTreeSet<String> = BTreeSet::new();
    let mut keys: Vec<KeyColumn> = Vec::new();
    for (at, kind) in table.kinds.iter().enumerate() {
        let direct = direct_path(model, &families, at);
        let name = match (&direct, families.first()) {
            (Some(paths), Some(family)) => {
                let path = paths.first().map_or(&[][..], Vec::as_slice);
                model.path_text(family.source, path).replace('.', "_")
            }
            _ => put_together(table, at),
        };
        let name = free(&name, |name| used.contains(name));
        used.insert(name.clone());
        keys.push(KeyColumn { name, ty: type_of(kind), direct: direct.is_some() });
    }
    let mut names = Names::default();
    for (family_id, family) in &found {
        for path in carried(model, schema, *family_id, family) {
            if names.attributes.contains_key(&(family.source, path.clone())) {
                continue;
            }
            let key = keys.iter().enumerate().find(|(at, key)| {
                key.direct && direct_of(model, family, *at).as_ref() == Some(&path)
            });
            let ty = model.path_type(family.source, &path);
            let name = match key {
                Some((_, key)) => key.name.clone(),
                None => {
                    let name = model.path_text(family.source, &path).replace('.', "_");
                    names.column(&name, ty, &used, family.source)
                }
            };
            names.attributes.insert((family.source, path), name);
        }
        for stored in &family.stored {
            let (name, ty) = match stored {
                Stored::Path(_) => continue,
                Stored::Collect { relation, path, name, .. } => {
                    (name, Type::List(Box::new(model.path_type(*relation, path)), None))
                }
                Stored::Tally { relation, fold, name, .. } => {
                    (name, tally_type(model, *relation, *fold))
                }
            };
            names.types.insert(name.clone(), ty);
        }
    }
    if families.len() > 1 {
        let name = free("kind", |name| used.contains(name) || names.types.contains_key(name));
        names.types.insert(name.clone(), plain_text());
        names.row_type = Some(name);
    }
    (keys, names)
}

/// Returns the type of a value that rows keep of several tuples.
pub(super) fn tally_type(model: &Model, relation: RelationId, fold: Fold) -> Type {
    match fold.column().filter(|_| fold.is_extreme()) {
        Some(at) => model.path_type(relation, &[at]),
        None => Type::Int(None),
    }
}

impl Names {
    /// Returns a column for an attribute: an existing one if it holds the same attribute of another
    /// row type, or a new one.
    fn column(
        &mut self,
        name: &str,
        ty: Type,
        used: &BTreeSet<String>,
        relation: RelationId,
    ) -> String {
        let shared = self.types.get(name).is_some_and(|other| *other == ty)
            && !used.contains(name)
            && !self.held.contains(&(relation, name.to_owned()));
        if shared {
            self.held.insert((relation, name.to_owned()));
            return name.to_owned();
        }
        let name = free(name, |name| used.contains(name) || self.types.contains_key(name));
        self.types.insert(name.clone(), ty);
        self.held.insert((relation, name.clone()));
        name
    }
}

/// Returns the attributes that a row carries: its own, and what its indexes need.
pub(super) fn carried(
    model: &Model,
    schema: &Schema,
    id: FamilyId,
    family: &Family,
) -> BTreeSet<ColumnPath> {
    let mut paths = available(model, family).clone();
    for (_, entry) in schema.entries(id) {
        paths.extend(available(model, entry).iter().cloned());
        paths.extend(all_key_paths(model, entry));
        paths.extend(asked_by_index(model, schema, entry));
    }
    paths
}

/// Returns the attribute that one key column is in all row families, one for each.
///
/// Families of one relation must agree: a name of a table stands for one attribute of it.
fn direct_path(model: &Model, families: &[&Family], at: usize) -> Option<Vec<ColumnPath>> {
    let mut of: BTreeMap<RelationId, ColumnPath> = BTreeMap::new();
    let own = |family: &&Family| {
        let path = direct_of(model, family, at)?;
        let first = of.entry(family.source).or_insert_with(|| path.clone());
        (*first == path).then_some(path)
    };
    families.iter().map(own).collect()
}

/// Returns the attribute that a key column consists of.
fn direct_of(model: &Model, family: &Family, at: usize) -> Option<ColumnPath> {
    let parts = family.key.get(at)?.parts.as_slice();
    match parts {
        [Part::Hole { term: Term::Column(path), codec: Codec::Native, .. }] => {
            Some(canonical(model, family.source, path))
        }
        [Part::Hole { term: Term::Column(path), ty, codec: Codec::Plain }, Part::End]
            if ty.is_text() =>
        {
            Some(canonical(model, family.source, path))
        }
        _ => None,
    }
}

/// Returns the name of a composed key column.
fn put_together(table: &Table, at: usize) -> String {
    let texts = table.kinds.iter().all(|kind| matches!(kind, ColumnKind::Text));
    match at {
        0 if texts && table.partition == 1 => "pk".to_owned(),
        1 if texts && table.partition == 1 && table.kinds.len() == 2 => "sk".to_owned(),
        _ => format!("k{at}"),
    }
}

fn type_of(kind: &ColumnKind) -> Type {
    match kind {
        ColumnKind::Text => plain_text(),
        ColumnKind::Typed(ty) => ty.clone(),
    }
}

/// Returns the name, or the name with the first number that makes it unique.
fn free(name: &str, taken: impl Fn(&str) -> bool) -> String {
    if !taken(name) {
        return name.to_owned();
    }
    let mut number: usize = 2;
    loop {
        let numbered = format!("{name}_{number}");
        if !taken(&numbered) {
            return numbered;
        }
        number += 1;
    }
}
