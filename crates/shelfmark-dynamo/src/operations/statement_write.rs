//! The writes that statements are: INSERT, UPDATE and DELETE, and EXISTS, which checks a condition.
//!
//! An INSERT is a put on the condition that nothing is there; an UPDATE is one of an item that is
//! there; a DELETE of nothing is fine, whatever its condition says.

use std::sync::Arc;

use shelfmark_engine::{Change, Returns, Table, Write, Written};
use shelfmark_model::{Condition, Item, Key, Path, Projection, item_size_bytes};

use super::statement_request::Asked;
use super::write_request::{Action, Prepared};
use crate::errors::{Error, Exception, Result, texts, write_error};
use crate::limits::ITEM_SIZE_BYTES_MAX;
use crate::partiql::{self, Delete, Image, Insert, Select, Statement, Update};
use crate::scope::ScopedEngine;
use crate::table::{self, check_attribute_names};

/// A write that says what its statement does, but was not fitted to its table's keys.
pub(super) struct Planned {
    pub(super) table: Arc<Table>,
    /// The write, or the fault of its key.
    prepared: Result<Prepared>,
    image: Option<Image>,
    is_insert: bool,
}

/// A write that is ready.
pub(super) struct Bound {
    pub(super) write: Write,
    image: Option<Image>,
    pub(super) is_insert: bool,
}

/// Plans the write of a statement.
///
/// # Errors
///
/// * ValidationException: the statement is no write, or names no single item.
/// * ResourceNotFoundException: there is no such table.
pub(super) fn plan(engine: &ScopedEngine, asked: &Asked) -> Result<Planned> {
    match &asked.statement {
        Statement::Insert(insert) => plan_insert(engine, asked, insert),
        Statement::Update(update) => plan_update(engine, asked, update),
        Statement::Delete(delete) => plan_delete(engine, asked, delete),
        Statement::Exists(select) => plan_check(engine, asked, select),
        Statement::Select(_) => Err(Error::validation(texts::unsupported_operation("Select"))),
        Statement::Other(name) => Err(Error::validation(texts::unsupported_operation(name))),
    }
}

fn plan_insert(engine: &ScopedEngine, asked: &Asked, insert: &Insert) -> Result<Planned> {
    insert.check_clauses()?;
    let item = partiql::item(&insert.value, &asked.parameters)?;
    check_attribute_names(&item)?;
    if item_size_bytes(&item) > ITEM_SIZE_BYTES_MAX {
        return Err(Error::validation(texts::ITEM_TOO_LARGE));
    }
    if asked.named.index.is_some() {
        return Err(Error::validation(texts::INSERT_INTO_INDEX));
    }
    let table = find(engine, asked)?;
    let condition = Condition::NotExists(hash_of(&table));
    let keys = check_keys(&table, &item);
    let prepared = keys.map(|()| Prepared::of_statement(Action::Put(item), Some(condition), false));
    Ok(Planned { table, prepared, image: None, is_insert: true })
}

fn plan_update(engine: &ScopedEngine, asked: &Asked, update: &Update) -> Result<Planned> {
    let image = update.returning.map(|returning| returning.check()).transpose()?;
    let patch = partiql::patch(update, &asked.parameters)?;
    let filter = update.filter.as_ref();
    let filter = filter.ok_or_else(|| Error::validation(texts::WHERE_WITHOUT_KEY))?;
    let condition = partiql::condition(filter, &asked.parameters)?;
    let table = find(engine, asked)?;
    let prepared = partiql::key_and_condition(&table.schema, condition).map(|(key, rest)| {
        let action = Action::Update(key, patch);
        Prepared::of_statement(action, Some(existing(&table, rest)), asked.old_on_refusal)
    });
    Ok(Planned { table, prepared, image, is_insert: false })
}

fn plan_delete(engine: &ScopedEngine, asked: &Asked, delete: &Delete) -> Result<Planned> {
    let image = delete.returning.map(|returning| returning.check()).transpose()?;
    if let Some(image) = image.filter(|image| *image != Image::AllOld) {
        return Err(Error::validation(texts::returning_of_delete(image.words())));
    }
    let filter = delete.filter.as_ref();
    let filter = filter.ok_or_else(|| Error::validation(texts::WHERE_WITHOUT_KEY))?;
    let condition = partiql::condition(filter, &asked.parameters)?;
    let table = find(engine, asked)?;
    let prepared = partiql::key_and_condition(&table.schema, condition).map(|(key, rest)| {
        let missing = Condition::NotExists(hash_of(&table));
        let condition = rest.map(|rest| Condition::Or(vec![missing, rest]));
        Prepared::of_statement(Action::Delete(key), condition, asked.old_on_refusal)
    });
    Ok(Planned { table, prepared, image, is_insert: false })
}

fn plan_check(engine: &ScopedEngine, asked: &Asked, select: &Select) -> Result<Planned> {
    let alone = || Error::validation(texts::EXISTS_ALONE);
    select.check_clauses()?;
    if asked.named.index.is_some() {
        return Err(Error::validation(texts::EXISTS_ON_INDEX));
    }
    let filter = select.filter.as_ref().ok_or_else(alone)?;
    let condition = partiql::condition(filter, &asked.parameters)?;
    let table = find(engine, asked)?;
    let (key, rest) = partiql::key_and_condition(&table.schema, condition).map_err(|error| {
        match error.message == texts::WHERE_WITHOUT_KEY {
            true => alone(),
            false => error,
        }
    })?;
    let condition = existing(&table, Some(rest.ok_or_else(alone)?));
    let action = Action::Check(key);
    let prepared = Prepared::of_statement(action, Some(condition), asked.old_on_refusal);
    Ok(Planned { table, prepared: Ok(prepared), image: None, is_insert: false })
}

/// Checks that an item has the key attributes of its table.
fn check_keys(table: &Table, item: &Item) -> Result<()> {
    let schema = &table.schema;
    let partition = schema.partition.iter().map(|column| (&column.name, &column.key_type));
    let sort = schema.sort.iter().map(|column| (&column.name, &column.key_type));
    for (name, key_type) in partition.chain(sort) {
        let value = item.get(name);
        let value = value.ok_or_else(|| Error::validation(texts::statement_key_missing(name)))?;
        partiql::check_key_type(name, value, table::key_letter(key_type))?;
    }
    Ok(())
}

/// Finds the table of a write, which has no index.
fn find(engine: &ScopedEngine, asked: &Asked) -> Result<Arc<Table>> {
    if asked.named.index.is_some() {
        return Err(Error::validation(texts::WRITE_TO_INDEX));
    }
    table::find(engine, &asked.named.table)
}

/// Returns the path of the partition key, which every item has.
fn hash_of(table: &Table) -> Path {
    let name = table.schema.partition.first().map(|column| column.name.clone());
    Path::attribute(name.unwrap_or_default())
}

/// Returns the condition that an item is there and meets the rest.
fn existing(table: &Table, rest: Option<Condition>) -> Condition {
    let exists = Condition::Exists(hash_of(table));
    match rest {
        None => exists,
        Some(rest) => Condition::And(vec![exists, rest]),
    }
}

impl Planned {
    /// Returns the size of the items of the statement, for the limit of a transaction.
    pub(super) fn size_bytes(&self) -> usize {
        self.prepared.as_ref().map_or(0, Prepared::size_bytes)
    }

    /// Returns true if the statement asks for an image of the item.
    pub(super) const fn is_returning(&self) -> bool {
        self.image.is_some()
    }

    /// Fits the write to its table. Both images are kept if the capacity is wanted.
    pub(super) fn bind(self, is_capacity_wanted: bool) -> Result<Bound> {
        let mut write = self.prepared?.bind(&self.table)?;
        let has = |images: [Image; 2]| self.image.is_some_and(|image| images.contains(&image));
        write.returns = Returns {
            old: is_capacity_wanted || has([Image::AllOld, Image::ModifiedOld]),
            new: is_capacity_wanted || has([Image::AllNew, Image::ModifiedNew]),
        };
        Ok(Bound { write, image: self.image, is_insert: self.is_insert })
    }
}

impl Bound {
    /// Returns which item of which table is written.
    pub(super) fn item(&self) -> Result<(u64, Key)> {
        let table = &self.write.table;
        let key = match &self.write.change {
            Change::Put(item) => table.key_of(item)?,
            Change::Patch { key, .. } | Change::Delete(key) | Change::Check(key) => key.clone(),
        };
        Ok((table.id, key))
    }

    /// Returns what the answer needs of the write once it is queued.
    pub(super) fn shown(&self) -> Shown {
        let paths = match &self.write.change {
            Change::Patch { patch, .. } => {
                patch.operations.iter().map(|operation| operation.path().clone()).collect()
            }
            Change::Put(_) | Change::Delete(_) | Change::Check(_) => Vec::new(),
        };
        let table = Arc::clone(&self.write.table);
        Shown { table, image: self.image, paths, is_insert: self.is_insert }
    }
}

/// Refuses writes of which two are of one item; `text` is what is said then.
///
/// # Errors
///
/// * ValidationException: an item stands there twice.
pub(super) fn check_distinct(items: &[(u64, Key)], text: &str) -> Result<()> {
    let mut rest = items.iter();
    let mut is_twice = false;
    while let Some(item) = rest.next() {
        is_twice |= rest.as_slice().contains(item);
    }
    match is_twice {
        true => Err(Error::validation(text)),
        false => Ok(()),
    }
}

/// The image that the answer to a write shows, and the faults that it knows.
pub(super) struct Shown {
    pub(super) table: Arc<Table>,
    image: Option<Image>,
    paths: Vec<Path>,
    is_insert: bool,
}

/// The fault of a write.
pub(super) struct Refused {
    pub(super) error: Error,
    /// True if the condition failed, or the item of an INSERT is there.
    pub(super) is_refusal: bool,
    /// The item that is there, if the write was to tell it.
    pub(super) there: Option<Item>,
}

impl Shown {
    /// Returns the item of the answer.
    pub(super) fn item(&self, written: &Written) -> Option<Item> {
        let parts = |item: &Option<Item>| {
            let parts = Projection::Paths(self.paths.clone()).apply(item.clone()?);
            Some(parts).filter(|parts| !parts.is_empty())
        };
        match self.image? {
            Image::AllOld => written.old.clone(),
            Image::AllNew => written.new.clone(),
            Image::ModifiedOld => parts(&written.old),
            Image::ModifiedNew => parts(&written.new),
        }
    }

    /// Converts the failure of the write: an INSERT whose condition fails is one of an item that is
    /// there.
    pub(super) fn error(&self, error: shelfmark_engine::Error) -> Error {
        self.refused(error).error
    }

    /// Works as [`Shown::error`], and tells whether it was the condition, and the item that it failed on.
    pub(super) fn refused(&self, error: shelfmark_engine::Error) -> Refused {
        let mut error = write_error(error, &self.table);
        let is_refusal = error.exception == Exception::ConditionalCheckFailed;
        if !is_refusal || !self.is_insert {
            return Refused { there: error.item.clone(), is_refusal, error };
        }
        let there = error.item.take();
        error = Error::new(Exception::DuplicateItem, texts::DUPLICATE_ITEM);
        Refused { error, is_refusal, there }
    }
}
