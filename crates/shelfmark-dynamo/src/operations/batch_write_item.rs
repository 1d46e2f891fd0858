//! BatchWriteItem: up to 25 puts and deletes over several tables, without conditions.
//!
//! The service does not promise that they happen together. Here they mostly do, because one commit
//! is cheaper than many; nobody may rely on it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use shelfmark_engine::{Change, Returns, Table, Write, Written};
use shelfmark_model::{Item, item_size_bytes};

use super::collections::{Collections, Wanted};
use super::write_request::reports;
use crate::capacity::{Consumed, ConsumedByTable, Detail};
use crate::errors::{Error, Result, texts, write_error};
use crate::face::{Done, Face};
use crate::json::{Attributes, Reader, Writer, put_value};
use crate::limits::{
    BATCH_COMMIT_SIZE_BYTES_MAX, BATCH_WRITE_REQUESTS_MAX, ITEM_SIZE_BYTES_MAX, SHOWN_CHARS_MAX,
};
use crate::reply::Answered;
use crate::shape::Shape;
use crate::table;

#[derive(Debug, Default)]
struct Request {
    tables: Option<BTreeMap<String, Vec<WriteRequest>>>,
    wanted: Wanted,
}

/// One element of a table's list.
#[derive(Debug, Default)]
struct WriteRequest {
    put: Option<Option<Attributes>>,
    delete: Option<Option<Attributes>>,
}

#[derive(Debug)]
enum Action {
    Put(Item),
    Delete(Item),
}

/// Plans and queues the writes; calls `done` when they are durable.
pub(super) fn start(face: &Face, body: &[u8], done: Done) {
    let planned = parse(body).and_then(|request| plan(face, request));
    let (writes, detail, collections) = match planned {
        Ok(planned) => planned,
        Err(error) => return done.answer(Err(error)),
    };
    let commits = commits(writes);
    let pending = Arc::new(Mutex::new(Pending {
        left: commits.len(),
        tables: Vec::new(),
        written: Vec::new(),
        problem: None,
        collections,
        done: Some(done),
    }));
    for writes in commits {
        let tables: Vec<Arc<Table>> = writes.iter().map(|write| Arc::clone(&write.table)).collect();
        let pending = Arc::clone(&pending);
        face.engine.submit_all(
            writes,
            Box::new(move |outcome| {
                let mut pending = pending.lock().unwrap_or_else(PoisonError::into_inner);
                pending.ended(&tables, outcome, detail);
            }),
        );
    }
}

/// A batch in progress: most often one commit, of large items several.
struct Pending {
    /// Number of commits in progress.
    left: usize,
    tables: Vec<Arc<Table>>,
    written: Vec<Written>,
    problem: Option<Error>,
    collections: Collections,
    done: Option<Done>,
}

impl Pending {
    fn ended(
        &mut self,
        tables: &[Arc<Table>],
        outcome: std::result::Result<Vec<Written>, shelfmark_engine::Error>,
        detail: Detail,
    ) {
        match outcome {
            Ok(written) => {
                self.tables.extend_from_slice(tables);
                self.written.extend(written);
            }
            Err(error) => {
                let position = error.failures().first().map_or(0, |failure| failure.position);
                self.problem = Some(match tables.get(position) {
                    Some(table) => write_error(error, table),
                    None => error.into(),
                });
            }
        }
        self.left -= 1;
        if self.left > 0 {
            return;
        }
        if let Some(done) = self.done.take() {
            done.answer(match self.problem.take() {
                Some(error) => Err(error),
                None => Ok(encode(&self.tables, &self.written, detail, &self.collections)),
            });
        }
    }
}

/// Splits the writes so that no commit is larger than a driver takes.
fn commits(writes: Vec<Write>) -> Vec<Vec<Write>> {
    let mut commits: Vec<Vec<Write>> = Vec::with_capacity(1);
    let mut size = usize::MAX;
    for write in writes {
        let item = match &write.change {
            Change::Put(item) => item_size_bytes(item),
            Change::Patch { .. } | Change::Delete(_) | Change::Check(_) => 0,
        };
        let bytes = item.saturating_mul(1 + write.table.schema.indexes.len());
        size = size.saturating_add(bytes);
        match commits.last_mut().filter(|_| size <= BATCH_COMMIT_SIZE_BYTES_MAX) {
            Some(commit) => commit.push(write),
            None => {
                size = bytes;
                commits.push(vec![write]);
            }
        }
    }
    commits
}

fn parse(body: &[u8]) -> Result<Request> {
    let mut request = Request::default();
    Reader::older_body(body, |reader, name| {
        match name {
            "RequestItems" => {
                request.tables = reader.map(|reader, _| reader.list(parse_write))?;
            }
            _ if request.wanted.member(reader, name)? => {}
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    // The service looks at the tables only once these are right.
    let mut first = Shape::default();
    first.required("RequestItems", request.tables.is_some());
    request.wanted.shape(&mut first);
    first.check()?;
    let mut shape = Shape::default();
    if let Some(tables) = &request.tables {
        if tables.is_empty() {
            return Err(Error::validation(texts::NO_WRITE_REQUESTS));
        }
        shape.length("RequestItems", tables.len(), 1, BATCH_WRITE_REQUESTS_MAX);
        shape.table_keys("RequestItems", tables.keys(), || shown(tables));
        if tables.values().any(Vec::is_empty) {
            shape.map_values("RequestItems", &shown(tables), BATCH_WRITE_REQUESTS_MAX);
        }
    }
    for (name, writes) in request.tables.iter().flatten() {
        let path = format!("RequestItems.{name}.member");
        shape.length(&path, writes.len(), 0, BATCH_WRITE_REQUESTS_MAX);
        for (position, write) in writes.iter().enumerate() {
            let path = format!("{path}.{}.member", position + 1);
            shape.required(&format!("{path}.PutRequest.Item"), !matches!(write.put, Some(None)));
            shape.required(
                &format!("{path}.DeleteRequest.Key"),
                !matches!(write.delete, Some(None)),
            );
        }
    }
    shape.check()?;
    Ok(request)
}

/// Shows the tables of a request as the service's older layer does, as far as the message stays short.
fn shown(tables: &BTreeMap<String, Vec<WriteRequest>>) -> String {
    let tables = tables.iter().map(|(name, writes)| {
        let writes: Vec<String> = writes.iter().map(shown_write).collect();
        format!("{name}=[{}]", writes.join(", "))
    });
    let text = format!("{{{}}}", tables.collect::<Vec<String>>().join(", "));
    match text.len() > SHOWN_CHARS_MAX {
        true => "{...}".to_owned(),
        false => text,
    }
}

fn shown_write(write: &WriteRequest) -> String {
    let attributes = |given: &Option<Option<Attributes>>, kind: &str, member: &str| {
        let Some(Some(given)) = given else { return "null".to_owned() };
        let shown = given.unchecked().iter().map(|(name, value)| {
            let value = Writer::body(|out| put_value(out.name("value"), value));
            let value = String::from_utf8_lossy(&value);
            let value = value.strip_prefix("{\"value\":").and_then(|own| own.strip_suffix('}'));
            format!("{name}={}", value.unwrap_or_default())
        });
        format!("{kind}({member}={{{}}})", shown.collect::<Vec<String>>().join(", "))
    };
    let put = attributes(&write.put, "PutRequest", "item");
    let delete = attributes(&write.delete, "DeleteRequest", "key");
    format!("WriteRequest(putRequest={put}, deleteRequest={delete})")
}

fn parse_write(reader: &mut Reader<'_>) -> Result<Option<WriteRequest>> {
    let mut write = WriteRequest::default();
    let present = reader.structure(|reader, name| {
        match name {
            "PutRequest" => write.put = parse_attributes(reader, "Item")?,
            "DeleteRequest" => write.delete = parse_attributes(reader, "Key")?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(present.then_some(write))
}

/// Reads a structure with one member of attributes.
fn parse_attributes(reader: &mut Reader<'_>, member: &str) -> Result<Option<Option<Attributes>>> {
    let mut attributes = None;
    let present = reader.structure(|reader, name| {
        if name == member {
            attributes = reader.attributes()?;
            return Ok(());
        }
        reader.skip()
    })?;
    Ok(present.then_some(attributes))
}

fn plan(face: &Face, request: Request) -> Result<(Vec<Write>, Detail, Collections)> {
    let tables = request.tables.unwrap_or_default();
    let count: usize = tables.values().map(Vec::len).sum();
    if count > BATCH_WRITE_REQUESTS_MAX {
        return Err(Error::validation(texts::BATCH_WRITE_TOO_MANY));
    }
    let mut prepared = Vec::with_capacity(tables.len());
    for (name, writes) in tables {
        let actions = writes.into_iter().map(action).collect::<Result<Vec<_>>>()?;
        prepared.push((name, actions));
    }
    let detail = request.wanted.detail();
    let returns = Returns { old: detail.is_wanted(), new: detail.is_wanted() };
    let mut planned = Vec::with_capacity(count);
    for (name, actions) in prepared {
        let table = table::find(&face.engine, &name)?;
        let mut keys = Vec::with_capacity(actions.len());
        for action in actions {
            let (key, change) = match action {
                Action::Put(item) => {
                    table::check_put_key(&table, &item)?;
                    table::check_item(&table, &item)?;
                    (table.key_of(&item)?, Change::Put(item))
                }
                Action::Delete(key) => {
                    let key = table::read_key(&table, key)?;
                    (key.clone(), Change::Delete(key))
                }
            };
            if keys.contains(&key) {
                return Err(Error::validation(texts::KEYS_HAVE_DUPLICATES));
            }
            keys.push(key);
            planned.push(Write { returns, ..Write::new(&table, change) });
        }
    }
    let collections = request.wanted.collections(face, &planned)?;
    Ok((planned, detail, collections))
}

fn action(write: WriteRequest) -> Result<Action> {
    let checked =
        |given: Attributes| given.checked().map_err(|error| Error { enveloped: false, ..error });
    match (write.put.flatten(), write.delete.flatten()) {
        (Some(_), Some(_)) | (None, None) => Err(Error::validation(texts::VALUE_HAS_SEVERAL_TYPES)),
        (None, Some(key)) => Ok(Action::Delete(checked(key)?)),
        (Some(item), None) => {
            let item = checked(item)?;
            table::check_attribute_names(&item)?;
            if item_size_bytes(&item) > ITEM_SIZE_BYTES_MAX {
                return Err(Error::validation(texts::ITEM_TOO_LARGE));
            }
            Ok(Action::Put(item))
        }
    }
}

fn encode(
    tables: &[Arc<Table>],
    written: &[Written],
    detail: Detail,
    collections: &Collections,
) -> Answered {
    let mut consumed = ConsumedByTable::default();
    if detail.is_wanted() {
        for (table, written) in tables.iter().zip(written) {
            let units = Consumed::write(table, written.old.as_ref(), written.new.as_ref());
            consumed.add(&table.schema.name.name, units);
        }
    }
    Writer::answer(|out| {
        out.name("UnprocessedItems").object(|_| {});
        consumed.put(out, detail);
        collections.put_all(out);
    })
    .reporting(reports(written))
}
