//! Several changes of the catalogue as one: what they come to, and the commit that makes them.
//!
//! Later changes of a batch see earlier ones. A view enters its base's list with its creation and
//! leaves it when it is dropped; truncating a base truncates its views.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use shelfmark_model::{IndexState, TableName, TableSchema, ViewPart, ViewSchema};
use shelfmark_records::catalogue::TableRecord;
use shelfmark_records::catalogue::keys::{namespace_key, table_key, version_key};
use shelfmark_store::{Snapshot, Write};

use super::change::{check_unchanged, dropped_write, no_table, take_ids};
use super::namespace::NamespaceChange;
use super::table::{Table, index_names};
use super::{Catalogue, Owner};
use crate::error::{Error, ErrorKind, Result};
use crate::streams;

/// Changes a schema; called once.
pub type SchemaChange<'c> = Box<dyn FnMut(&mut TableSchema) -> Result<()> + 'c>;

/// One change of the catalogue.
pub enum CatalogueChange<'c> {
    /// A namespace is created, with whatever a face wants to remember about it.
    CreateNamespace {
        /// Its name.
        name: String,
        /// Opaque.
        attachment: Bytes,
    },
    /// The bytes that a face keeps with a namespace are replaced.
    AlterNamespace {
        /// Its name.
        name: String,
        /// Opaque.
        attachment: Bytes,
    },
    /// A namespace is dropped; its tables were dropped before, by earlier changes of the batch at the
    /// latest.
    DropNamespace {
        /// Its name.
        name: String,
    },
    /// A table is created.
    CreateTable(TableSchema),
    /// A table's schema is changed.
    AlterTable(TableName, SchemaChange<'c>),
    /// A table is dropped, with its indexes.
    DropTable(TableName),
    /// A table is dropped and its rows stay, as those of a new table of this schema, which has the
    /// same key and is dormant.
    SetAside(TableName, TableSchema),
    /// A table loses all rows at once, and its views with it. Whoever holds its old form goes on with
    /// the new one. The catalogue's version stays.
    TruncateTable(TableName),
    /// The indexes of a table begin anew, without entries, and a view without rows; they are to be
    /// built then. Views of the table stay as they are.
    RenewDerived(TableName),
}

/// The change planned for one table: its old form and its new schema.
#[derive(Default)]
struct Work {
    old: Option<Arc<Table>>,
    /// `None`: it is dropped.
    schema: Option<TableSchema>,
    /// It gets a new id.
    is_renewed: bool,
    /// Its indexes get new ids.
    are_indexes_renewed: bool,
    /// The table whose rows it takes over.
    adopted: Option<Arc<Table>>,
    /// Another table takes over its rows.
    keeps_rows: bool,
}

/// A batch, worked out.
pub(super) struct Batch<'b> {
    catalogue: &'b Catalogue,
    /// The owner that makes the changes.
    who: Owner,
    tables: BTreeMap<TableName, Work>,
    namespaces: BTreeMap<String, NamespaceChange>,
}

/// The keys that a plan validates, its writes, and the new records; `None` for a dropped table.
type Plan = (Vec<Bytes>, Vec<Write>, Vec<(TableName, Option<TableRecord>)>);

impl<'b> Batch<'b> {
    pub(super) fn of(
        catalogue: &'b Catalogue,
        changes: Vec<CatalogueChange<'_>>,
        who: Owner,
    ) -> Result<Self> {
        let mut batch =
            Self { catalogue, who, tables: BTreeMap::new(), namespaces: BTreeMap::new() };
        for change in changes {
            batch.add(change)?;
        }
        for work in batch.tables.values_mut() {
            if let Some(schema) = &mut work.schema {
                if let Some(old) = &work.old {
                    note_dropped_columns(&old.schema, schema);
                }
                crate::shards::check_limits(work.old.as_deref(), schema)?;
                schema.check()?;
            }
        }
        batch.check_views()?;
        Ok(batch)
    }

    /// Checks that no base goes before its views.
    fn check_views(&self) -> Result<()> {
        let dropped =
            |name: &TableName| self.tables.get(name).is_some_and(|work| work.schema.is_none());
        for (name, work) in self.tables.iter().filter(|(name, _)| dropped(name)) {
            let cells = work.old.as_ref().and_then(|old| old.schema.cells.as_ref());
            let mut views = cells.iter().flat_map(|cells| &cells.views);
            if let Some(view) = views.find(|view| !dropped(view)) {
                return Err(Error::invalid(format!(
                    "table {name} has view {}; drop it first",
                    view.name
                )));
            }
        }
        Ok(())
    }

    fn add(&mut self, change: CatalogueChange<'_>) -> Result<()> {
        match change {
            CatalogueChange::CreateNamespace { name, attachment } => {
                self.namespace(name, NamespaceChange::Create(attachment))
            }
            CatalogueChange::AlterNamespace { name, attachment } => {
                self.namespace(name, NamespaceChange::Alter(attachment))
            }
            CatalogueChange::DropNamespace { name } => self.namespace(name, NamespaceChange::Drop),
            CatalogueChange::CreateTable(schema) => self.create(schema),
            CatalogueChange::AlterTable(name, mut change) => {
                let schema = self.schema(&name)?;
                change(schema)?;
                if schema.name == name {
                    return Ok(());
                }
                Err(Error::invalid("a table keeps its name"))
            }
            CatalogueChange::DropTable(name) => self.drop_table(&name),
            CatalogueChange::SetAside(name, schema) => self.set_aside(&name, schema),
            CatalogueChange::TruncateTable(name) => {
                let views = self.schema(&name)?.cells.iter().flat_map(|cells| &cells.views);
                let mut names: Vec<TableName> = views.cloned().collect();
                names.push(name);
                for name in names {
                    self.work(&name)?.is_renewed = true;
                }
                Ok(())
            }
            CatalogueChange::RenewDerived(name) => self.renew(&name),
        }
    }

    fn renew(&mut self, name: &TableName) -> Result<()> {
        let schema = self.schema(name)?;
        for index in &mut schema.indexes {
            index.state = IndexState::Building;
        }
        let mut is_view = false;
        if let Some(cells) = &mut schema.cells {
            for index in &mut cells.indexes {
                index.state = IndexState::Building;
            }
            if let Some(view) = &mut cells.view_of {
                view.state = IndexState::Building;
                is_view = true;
            }
        }
        let work = self.work(name)?;
        work.are_indexes_renewed = true;
        work.is_renewed = is_view;
        Ok(())
    }

    fn namespace(&mut self, name: String, change: NamespaceChange) -> Result<()> {
        if self.namespaces.contains_key(&name) {
            return Err(Error::invalid(format!("namespace {name} is changed twice at once")));
        }
        self.namespaces.insert(name, change);
        Ok(())
    }

    fn create(&mut self, schema: TableSchema) -> Result<()> {
        let name = schema.name.clone();
        if let Some(work) = self.tables.get(&name) {
            if work.schema.is_some() {
                return Err(exists(&name));
            }
            return Err(Error::invalid(format!("table {name} is dropped and created at once")));
        }
        if let Some(view) = schema.cells.as_ref().and_then(|cells| cells.view_of.as_ref()) {
            let base = self.schema(&view.base)?;
            let (partition, sort) = (base.partition.len(), base.sort.len());
            let Some(cells) = &mut base.cells else {
                return Err(Error::invalid("a view's base is a table of cells"));
            };
            check_view_key(view, partition, sort)?;
            cells.views.push(name.clone());
        }
        self.tables
            .insert(name, Work { schema: Some(schema), is_renewed: true, ..Work::default() });
        Ok(())
    }

    fn drop_table(&mut self, name: &TableName) -> Result<()> {
        let cells = self.schema(name)?.cells.clone();
        let view_of = cells.and_then(|cells| cells.view_of);
        self.work(name)?.schema = None;
        let Some(view) = view_of else { return Ok(()) };
        match self.schema(&view.base) {
            Ok(base) => {
                if let Some(cells) = &mut base.cells {
                    cells.views.retain(|own| own != name);
                }
                Ok(())
            }
            // Base and views may go together.
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn set_aside(&mut self, name: &TableName, schema: TableSchema) -> Result<()> {
        let work = self.work(name)?;
        let adopted = work.old.clone();
        work.keeps_rows = true;
        self.drop_table(name)?;
        let new = schema.name.clone();
        self.create(schema)?;
        self.work(&new)?.adopted = adopted;
        Ok(())
    }

    fn work(&mut self, name: &TableName) -> Result<&mut Work> {
        if !self.tables.contains_key(name) {
            let old = self.catalogue.load(name)?;
            self.who.check_table(&old.schema)?;
            let schema = Some(old.schema.clone());
            let work = Work { old: Some(old), schema, ..Work::default() };
            self.tables.insert(name.clone(), work);
        }
        self.tables.get_mut(name).ok_or_else(|| no_table(name))
    }

    fn schema(&mut self, name: &TableName) -> Result<&mut TableSchema> {
        self.work(name)?.schema.as_mut().ok_or_else(|| no_table(name))
    }

    pub(super) fn changes_nothing(&self) -> bool {
        self.namespaces.is_empty() && self.tables.values().all(Work::changes_nothing)
    }

    /// Returns the tables that are named and stay as they are.
    pub(super) fn unchanged(&self) -> BTreeMap<TableName, Arc<Table>> {
        self.tables
            .iter()
            .filter(|(_, work)| work.changes_nothing())
            .filter_map(|(name, work)| Some((name.clone(), Arc::clone(work.old.as_ref()?))))
            .collect()
    }

    /// Returns the old forms that change, in the order of their ids.
    pub(super) fn olds(&self) -> Vec<Arc<Table>> {
        let changing = self.tables.values().filter(|work| !work.changes_nothing());
        let mut olds: Vec<_> = changing.filter_map(|work| work.old.clone()).collect();
        olds.sort_by_key(|old| old.id);
        olds
    }

    pub(super) fn old(&self, name: &TableName) -> Option<&Arc<Table>> {
        self.tables.get(name)?.old.as_ref()
    }

    /// Plans the commit over one moment of the store.
    pub(super) fn plan(&self, snapshot: &dyn Snapshot) -> Result<Plan> {
        let mut plan: Plan = (Vec::new(), Vec::new(), Vec::new());
        let works: Vec<(&TableName, &Work)> =
            self.tables.iter().filter(|(_, work)| !work.changes_nothing()).collect();
        for (name, work) in &works {
            let key = Bytes::from(table_key(name));
            match &work.old {
                Some(old) => check_unchanged(snapshot, &key, old)?,
                None if snapshot.get(&key)?.is_some() => return Err(exists(name)),
                None => {}
            }
            plan.0.push(key);
        }
        let ids: u64 = works.iter().map(|(_, work)| work.new_ids()).sum();
        let mut next_id = 0;
        if ids > 0 {
            let (first, (key, value)) = take_ids(snapshot, ids)?;
            next_id = first;
            plan.0.push(key.clone());
            plan.1.push(Write::Put { key, value });
        }
        let mut records: Vec<Option<TableRecord>> =
            works.iter().map(|(_, work)| work.record(&mut next_id)).collect();
        streams::resolve_logs(&mut records);
        for ((name, work), record) in works.into_iter().zip(records) {
            let key = Bytes::from(table_key(name));
            plan.1.extend(streams::shard_marks(work.old.as_deref(), record.as_ref()));
            plan.1.extend(work.garbage(record.as_ref()).into_iter().map(dropped_write));
            plan.1.push(match &record {
                Some(record) => Write::Put { key, value: record.encode_checked()? },
                None => Write::Delete { key },
            });
            plan.2.push((name.clone(), record));
        }
        for (name, change) in &self.namespaces {
            let is_dropped = |table: &TableName| {
                self.tables.get(table).is_some_and(|work| work.schema.is_none())
            };
            plan.1.push(change.plan(self.catalogue, snapshot, name, self.who, is_dropped)?);
            plan.0.push(namespace_key(name));
        }
        self.plan_places(snapshot, &mut plan)?;
        // Emptying a table is no change of what is declared.
        let is_truncated = |work: &Work| {
            work.old.as_ref().is_some_and(|old| work.schema.as_ref() == Some(&old.schema))
        };
        if !self.namespaces.is_empty() || !self.tables.values().all(is_truncated) {
            plan.1.push(Write::Add { key: version_key(), delta: 1 });
        }
        Ok(plan)
    }
}

impl Batch<'_> {
    /// Checks whose the names are that new tables lie under, and gives names without an owner theirs.
    fn plan_places(&self, snapshot: &dyn Snapshot, plan: &mut Plan) -> Result<()> {
        let created = self.tables.values().filter(|work| work.old.is_none());
        let mut places: BTreeMap<&str, Option<Write>> = BTreeMap::new();
        for schema in created.filter_map(|work| work.schema.as_ref()) {
            let name = schema.name.namespace.as_str();
            match self.namespaces.get(name) {
                // It is created by the same change, by who may.
                Some(NamespaceChange::Create(_)) => self.who.check_place(self.who, schema)?,
                Some(NamespaceChange::Drop) => {
                    return Err(Error::invalid(format!("namespace {name} is dropped at once")));
                }
                _ => {
                    let place = self.catalogue.place(snapshot, schema, self.who)?;
                    places.entry(name).or_insert(place);
                }
            }
        }
        for (name, write) in places {
            // Whoever gives it another owner meanwhile changes its record.
            if !self.namespaces.contains_key(name) {
                plan.0.push(namespace_key(name));
            }
            plan.1.extend(write);
        }
        Ok(())
    }
}

impl Work {
    fn changes_nothing(&self) -> bool {
        match (&self.old, &self.schema) {
            (Some(old), Some(schema)) => {
                !self.is_renewed && !self.are_indexes_renewed && old.schema == *schema
            }
            (None, None) => true,
            _ => false,
        }
    }

    /// Returns how many new ids it takes.
    fn new_ids(&self) -> u64 {
        let Some(schema) = &self.schema else { return 0 };
        let names = index_names(schema);
        match &self.old {
            Some(old) if !self.is_renewed => {
                let is_kept =
                    |name: &str| !self.are_indexes_renewed && old.index_id(name).is_some();
                names.iter().filter(|name| !is_kept(name)).count() as u64
            }
            _ => u64::from(self.adopted.is_none()) + names.len() as u64,
        }
    }

    fn record(&self, next_id: &mut u64) -> Option<TableRecord> {
        let schema = self.schema.clone()?;
        let mut take = || {
            *next_id += 1;
            *next_id - 1
        };
        let kept = self.old.as_ref().filter(|_| !self.is_renewed);
        let rows = kept.or(self.adopted.as_ref());
        let id = rows.map_or_else(&mut take, |old| old.id);
        let entered = kept.filter(|_| !self.are_indexes_renewed);
        let index_ids = index_names(&schema)
            .into_iter()
            .map(|name| entered.and_then(|old| old.index_id(name)).unwrap_or_else(&mut take))
            .collect();
        let version = self.old.as_ref().map_or(1, |old| old.version + 1);
        let chunked = rows.is_some_and(|old| old.has_chunks());
        let ranged = rows.is_some_and(|old| old.has_ranges());
        let origin = self.old.as_ref().map_or(id, |old| old.origin);
        Some(TableRecord { id, origin, version, index_ids, chunked, ranged, schema })
    }

    /// Returns the ids that nobody needs any more.
    fn garbage(&self, record: Option<&TableRecord>) -> Vec<u64> {
        let Some(old) = &self.old else { return Vec::new() };
        let is_kept = |id: &u64| {
            (self.keeps_rows && *id == old.id)
                || record.is_some_and(|record| record.id == *id || record.index_ids.contains(id))
        };
        let ids = std::iter::once(&old.id).chain(&old.index_ids);
        ids.filter(|id| !is_kept(id)).copied().collect()
    }
}

/// Refuses a view whose key lacks a key column of its base: two rows of the base must not meet at
/// one key of the view.
fn check_view_key(view: &ViewSchema, partition: usize, sort: usize) -> Result<()> {
    let parts = || view.partition.iter().chain(&view.sort);
    let partition = (0..).take(partition).map(ViewPart::PartitionColumn);
    let mut wanted = partition.chain((0..).take(sort).map(ViewPart::SortColumn));
    if wanted.all(|wanted| parts().any(|part| *part == wanted)) {
        return Ok(());
    }
    Err(Error::invalid("a view's key has every column of its base's key"))
}

fn exists(name: &TableName) -> Error {
    Error::new(ErrorKind::AlreadyExists, format!("there is a table {name} already"))
}

/// Notes whether columns were dropped: rows may hold cells of them, so readers must look.
fn note_dropped_columns(old: &TableSchema, new: &mut TableSchema) {
    let is_gone =
        |id: u32, columns: &[shelfmark_model::Column]| columns.iter().all(|own| own.id != id);
    let some_gone = old.columns.iter().any(|column| is_gone(column.id, &new.columns));
    if let Some(cells) = &mut new.cells {
        cells.has_dropped_columns |= some_gone;
    }
}
