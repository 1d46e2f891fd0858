//! Rows whose table is lost, taken by a schema that is given anew.
//!
//! Invariant: rows stay where they are; a record is made for the id that they have. Indexes and views
//! get new ids and are built by what follows ([`Engine::renew_after_loss`]).

use std::collections::{BTreeMap, BTreeSet};

use shelfmark_model::{IndexState, TableName, TableSchema};
use shelfmark_records::keys::{Tree, tree_range};
use shelfmark_store::KeyRange;
use shelfmark_tables::catalogue::{CatalogueChange, Namespace, Owner};
use shelfmark_tables::rows::{Found, Moment, RawRow, View as _, Walk};
use shelfmark_tables::{ErrorKind, Result};

use super::catalogue::stored_ids;
use super::pen::persistently;
use super::survivors::{SAMPLE_ROWS_MAX, matches};
use super::{Mended, Teller};
use crate::engine::Engine;
use crate::inner::Inner;

/// Tables and namespaces as they are to be, for rows whose own definitions are lost.
#[derive(Debug, Clone, Default)]
pub struct GivenSchema {
    /// The namespaces that faces created.
    pub namespaces: Vec<Namespace>,
    /// The tables, in the order in which they were created.
    pub tables: Vec<TableSchema>,
}

impl Engine {
    /// Takes rows of tables that nobody knows any more by schemas that are given anew, where they fit.
    /// To be done after [`Engine::restore_catalogue`] and before [`Engine::renew_after_loss`], which
    /// builds indexes and views and gives up what no schema fits.
    ///
    /// # Errors
    ///
    /// * Those of the store; call again.
    pub fn adopt(&self, given: &GivenSchema, tell: &mut dyn FnMut(Mended)) -> Result<()> {
        let inner = &self.inner;
        let stored = stored_ids(inner)?;
        persistently(|| inner.catalogue.pass_over(&stored))?;
        let known: BTreeSet<TableName> =
            inner.catalogue.names(None, None, usize::MAX)?.into_iter().collect();
        let tables: Vec<&TableSchema> =
            given.tables.iter().filter(|own| !known.contains(&own.name)).collect();
        let samples = unknown(inner, &known)?;
        let by_id: BTreeMap<u64, &[RawRow]> =
            samples.iter().map(|(id, rows)| (*id, rows.as_slice())).collect();
        let found = matches(&by_id, &tables);
        let mut adopted = BTreeSet::new();
        for (id, at) in &found {
            let Some(schema) = tables.get(*at) else { continue };
            if is_view(schema) {
                continue;
            }
            place(inner, given, &schema.name.namespace)?;
            persistently(|| inner.catalogue.adopt(*id, to_build(schema)))?;
            tell(Mended::Adopted { table: schema.name.clone(), id: *id });
            adopted.insert(schema.name.clone());
        }
        views(inner, &tables, &adopted, tell)
    }
}

impl Engine {
    /// Returns the numbers of tables that have rows and that nobody knows.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn unknown_tables(&self) -> Result<Vec<u64>> {
        let names = self.inner.catalogue.names(None, None, usize::MAX)?;
        let known = names.into_iter().collect();
        Ok(unknown(&self.inner, &known)?.into_keys().collect())
    }
}

fn is_view(schema: &TableSchema) -> bool {
    schema.cells.as_ref().is_some_and(|cells| cells.view_of.is_some())
}

/// Creates the views of tables that were adopted; their rows follow from those.
fn views(
    inner: &Inner,
    tables: &[&TableSchema],
    adopted: &BTreeSet<TableName>,
    tell: &mut Teller<'_>,
) -> Result<()> {
    for schema in tables {
        let view = schema.cells.as_ref().and_then(|cells| cells.view_of.as_ref());
        let Some(view) = view.filter(|view| adopted.contains(&view.base)) else { continue };
        let create = || vec![CatalogueChange::CreateTable(to_build(schema))];
        match persistently(|| inner.catalogue.apply(create(), Owner::Engine)) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            created => drop(created?),
        }
        tell(Mended::View { view: schema.name.clone(), base: view.base.clone() });
    }
    Ok(())
}

/// Has a namespace that is given if there is none of its name.
fn place(inner: &Inner, given: &GivenSchema, name: &str) -> Result<()> {
    let Some(own) = given.namespaces.iter().find(|own| own.name == name && own.is_declared) else {
        return Ok(());
    };
    let create = || CatalogueChange::CreateNamespace {
        name: own.name.clone(),
        attachment: own.attachment.clone(),
    };
    match persistently(|| inner.catalogue.apply(vec![create()], own.owner)) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        created => created.map(drop),
    }
}

/// Returns a schema whose indexes have yet to be built.
fn to_build(schema: &TableSchema) -> TableSchema {
    let mut schema = schema.clone();
    for index in &mut schema.indexes {
        index.state = IndexState::Building;
    }
    if let Some(cells) = &mut schema.cells {
        cells.views.clear();
        for index in &mut cells.indexes {
            index.state = IndexState::Building;
        }
        if let Some(view) = &mut cells.view_of {
            view.state = IndexState::Building;
        }
    }
    schema
}

/// Returns rows of each id that has some and that neither a table nor the purge knows.
fn unknown(inner: &Inner, known: &BTreeSet<TableName>) -> Result<BTreeMap<u64, Vec<RawRow>>> {
    let mut used: BTreeSet<u64> =
        inner.catalogue.dropped()?.iter().map(|dropped| dropped.id).collect();
    for name in known {
        if let Ok(table) = inner.catalogue.table(name) {
            used.insert(table.id);
            used.extend(&table.index_ids);
        }
    }
    let moment = Moment::take(&inner.store)?;
    let mut unknown = BTreeMap::new();
    for id in stored_ids(inner)?.into_iter().filter(|id| !used.contains(id)) {
        let range: KeyRange = tree_range(Tree::Rows, id);
        if moment.scan(&range, shelfmark_store::Direction::Ascending, one())?.rows.is_empty() {
            continue;
        }
        let mut walk = Walk::over(range);
        let mut rows = Vec::new();
        while let Some(found) = walk.next_read(&moment, |_| Ok(()))? {
            if let Found::Row(row, ()) = found
                && row.chunks.is_empty()
            {
                rows.push(row);
            }
            if rows.len() >= SAMPLE_ROWS_MAX {
                break;
            }
        }
        unknown.insert(id, rows);
    }
    Ok(unknown)
}

fn one() -> shelfmark_store::ScanLimits {
    shelfmark_store::ScanLimits { rows_max: 1, keys_only: true, ..Default::default() }
}
