//! PutItem, UpdateItem and DeleteItem: one write, and the images in its answer.

use std::sync::Arc;

use shelfmark_engine::{Change, Returns, Table, Write, Written};
use shelfmark_model::{Item, Path, Projection};

use super::collections::{Collections, Wanted};
use super::update_charge::update_charge_bytes;
use super::write_request::{Verb, WriteRequest};
use crate::capacity::{Consumed, Detail};
use crate::errors::{Error, Result, texts, write_error};
use crate::face::{Done, Face};
use crate::json::{Reader, Writer, put_item};
use crate::limits::ITEM_SIZE_BYTES_MAX;
use crate::reply::Answered;
use crate::shape::Shape;
use crate::table;

/// A request of one write.
#[derive(Debug, Default)]
struct Request {
    write: WriteRequest,
    returns: Option<String>,
    wanted: Wanted,
}

/// The image in the answer.
#[derive(Debug, Clone, PartialEq)]
enum Shown {
    Nothing,
    AllOld,
    AllNew,
    /// The old values of the parts that the update names.
    UpdatedOld(Vec<Path>),
    UpdatedNew(Vec<Path>),
}

/// A planned write, with what its answer needs.
struct Planned {
    write: Write,
    shown: Shown,
    detail: Detail,
    is_legacy: bool,
    collections: Collections,
}

/// Plans and queues a write; calls `done` when it is durable.
pub(super) fn start(face: &Face, verb: Verb, body: &[u8], done: Done) {
    let Planned { write, shown, detail, is_legacy, collections } = match plan(face, verb, body) {
        Ok(planned) => planned,
        Err(error) => return done.answer(Err(error)),
    };
    let table = Arc::clone(&write.table);
    face.engine.submit_all(
        vec![write],
        Box::new(move |outcome| {
            done.answer(match outcome {
                Ok(written) => {
                    let written = written.into_iter().next().unwrap_or_default();
                    Ok(encode(&table, written, &shown, detail, &collections))
                }
                Err(error) => Err(worded(write_error(error, &table), is_legacy)),
            });
        }),
    );
}

/// Words an update that meets a value of another type; `AttributeUpdates` has its own words.
fn worded(mut error: Error, is_legacy: bool) -> Error {
    if is_legacy && error.message == texts::UPDATE_OPERAND_TYPE {
        error.message = texts::UPDATE_TYPE_MISMATCH.to_owned();
    }
    error
}

fn parse(verb: Verb, body: &[u8]) -> Result<Request> {
    let mut request = Request::default();
    let mut is_deep = false;
    Reader::body(body, |reader, name| {
        match name {
            "ReturnValues" => request.returns = reader.text()?,
            _ if request.wanted.member(reader, name)? => {}
            _ if request.write.member(reader, name)? => {}
            _ => reader.skip()?,
        }
        is_deep |= reader.is_deep();
        Ok(())
    })?;
    if is_deep {
        request.write.read_as_before();
    }
    // Such requests the service words as it did before.
    let is_older = is_deep || verb == Verb::Update && !request.write.has_key();
    if is_older {
        request.older_shape(verb)?
    } else {
        request.shape(verb)?
    }
    if verb != Verb::Update
        && !matches!(request.returns.as_deref(), None | Some("NONE" | "ALL_OLD"))
    {
        let text = texts::RETURN_VALUES_OLD_ONLY;
        return Err(if is_older { Error::validation(text) } else { Error::enveloped(text) });
    }
    Ok(request)
}

impl Request {
    fn shape(&self, verb: Verb) -> Result<()> {
        let mut shape = Shape::default();
        self.write.shape(verb, "", &mut shape);
        if verb == Verb::Update {
            // Of an update the service reports this one alone.
            let mut alone = Shape::default();
            alone.return_values(self.returns.as_deref());
            if shape.is_fine() {
                alone.check()?;
            }
            self.wanted.shape(&mut shape);
        } else {
            self.wanted.shape_with(self.returns.as_deref(), &mut shape);
        }
        shape.check()
    }

    /// Checks the shape in the order and the words of the service's older layer.
    fn older_shape(&self, verb: Verb) -> Result<()> {
        let mut shape = Shape::older();
        self.wanted.capacity_shape(&mut shape);
        self.write.table_shape("", &mut shape);
        shape.return_values(self.returns.as_deref());
        self.wanted.metrics_shape(&mut shape);
        self.write.rest_shape(verb, "", &mut shape);
        shape.check()
    }
}

fn plan(face: &Face, verb: Verb, body: &[u8]) -> Result<Planned> {
    let Request { write, returns, wanted } = parse(verb, body)?;
    let name = write.table.clone().unwrap_or_default();
    let prepared = write.prepare(verb)?;
    let is_legacy = prepared.is_legacy;
    let table = table::find(&face.engine, &name)?;
    let mut write = prepared.bind(&table)?;
    if !is_legacy {
        check_charge(&write)?;
    }
    let shown = shown(&write, returns.as_deref());
    let detail = wanted.detail();
    write.returns = Returns {
        old: detail.is_wanted() || matches!(shown, Shown::AllOld | Shown::UpdatedOld(_)),
        new: detail.is_wanted() || matches!(shown, Shown::AllNew | Shown::UpdatedNew(_)),
    };
    let collections = wanted.collections(face, std::slice::from_ref(&write))?;
    Ok(Planned { write, shown, detail, is_legacy, collections })
}

/// Refuses an update expression that says too much, before its condition is looked at.
fn check_charge(write: &Write) -> Result<()> {
    let Change::Patch { patch, .. } = &write.change else { return Ok(()) };
    if update_charge_bytes(patch) > ITEM_SIZE_BYTES_MAX {
        return Err(Error::validation(texts::UPDATED_ITEM_TOO_LARGE));
    }
    Ok(())
}

fn shown(write: &Write, returns: Option<&str>) -> Shown {
    let paths = || match &write.change {
        Change::Patch { patch, .. } => {
            patch.operations.iter().map(|operation| operation.path().clone()).collect()
        }
        Change::Put(_) | Change::Delete(_) | Change::Check(_) => Vec::new(),
    };
    match returns {
        Some("ALL_OLD") => Shown::AllOld,
        Some("ALL_NEW") => Shown::AllNew,
        Some("UPDATED_OLD") => Shown::UpdatedOld(paths()),
        Some("UPDATED_NEW") => Shown::UpdatedNew(paths()),
        _ => Shown::Nothing,
    }
}

fn encode(
    table: &Table,
    written: Written,
    shown: &Shown,
    detail: Detail,
    collections: &Collections,
) -> Answered {
    let report = written.report;
    let consumed = detail
        .is_wanted()
        .then(|| Consumed::write(table, written.old.as_ref(), written.new.as_ref()));
    let parts = |item: Option<Item>, paths: &[Path]| {
        let parts = item.map(|item| Projection::Paths(paths.to_vec()).apply(item));
        parts.filter(|parts| !parts.is_empty())
    };
    let attributes = match shown {
        Shown::Nothing => None,
        Shown::AllOld => written.old,
        Shown::AllNew => written.new,
        Shown::UpdatedOld(paths) => parts(written.old, paths),
        Shown::UpdatedNew(paths) => parts(written.new, paths),
    };
    Writer::answer(|out| {
        if let Some(attributes) = &attributes {
            out.name("Attributes");
            put_item(out, attributes);
        }
        if let Some(consumed) = consumed {
            out.name("ConsumedCapacity");
            consumed.put(out, &table.schema.name.name, detail);
        }
        collections.put_one(out);
    })
    .reporting(report)
}
