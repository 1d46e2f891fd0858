//! The common part of requests that read items by key: projection and consistency.

use std::collections::BTreeMap;

use shelfmark_engine::Got;
use shelfmark_model::Projection;

use crate::errors::Result;
use crate::expression::{Given, Kind, Placeholders};
use crate::json::{Reader, Writer};
use crate::legacy;
use crate::limits::KEY_NAME_BYTES_MAX;
use crate::shape::Shape;

/// The members of a read by key.
#[derive(Debug, Default, Clone)]
pub(super) struct ReadRequest {
    projection: Option<String>,
    names: Option<BTreeMap<String, String>>,
    attributes_to_get: Option<Vec<String>>,
    /// True for a consistent read; reads always are, so this only doubles the units.
    pub(super) consistent: bool,
}

impl ReadRequest {
    /// Reads a member, if it is one of these; returns `false` to leave it to the caller.
    pub(super) fn member(&mut self, reader: &mut Reader<'_>, name: &str) -> Result<bool> {
        match name {
            "ProjectionExpression" => self.projection = reader.text()?,
            "ExpressionAttributeNames" => self.names = reader.map(|reader, _| reader.text())?,
            "AttributesToGet" => self.attributes_to_get = reader.texts()?,
            "ConsistentRead" => self.consistent = reader.boolean()? == Some(true),
            _ => return Ok(false),
        }
        Ok(true)
    }

    pub(super) const fn has_projection(&self) -> bool {
        self.projection.is_some()
    }

    pub(super) const fn has_attributes_to_get(&self) -> bool {
        self.attributes_to_get.is_some()
    }

    /// Leaves names out that no expression can use: in a transaction nobody looks at them.
    pub(super) fn in_transaction(mut self) -> Self {
        self.names = self.names.filter(|_| self.projection.is_some());
        self
    }

    /// Checks the shape; `path` stands before the members' names.
    pub(super) fn shape(&self, path: &str, shape: &mut Shape) {
        if let Some(names) = &self.attributes_to_get {
            let path = format!("{path}AttributesToGet");
            shape.length(&path, names.len(), 1, KEY_NAME_BYTES_MAX);
        }
    }

    /// Checks and translates everything that needs no table.
    pub(super) fn prepare(self) -> Result<Projection> {
        let expressions = [(Kind::Projection, self.projection.is_some())];
        let legacy = [("AttributesToGet", self.attributes_to_get.is_some())];
        legacy::not_mixed(&legacy, &expressions)?;
        let given = Given { names: self.names, ..Given::default() };
        let placeholders = Placeholders::check(given, &expressions)?;
        let projection = placeholders.projection(self.projection.as_deref())?;
        placeholders.all_used()?;
        match self.attributes_to_get {
            Some(names) => legacy::attributes_to_get(&names),
            None => Ok(projection),
        }
    }

    /// Writes the members back, for keys that were left unprocessed.
    pub(super) fn put(&self, out: &mut Writer) {
        if let Some(projection) = &self.projection {
            out.name("ProjectionExpression").text(projection);
        }
        if let Some(names) = &self.names {
            out.name("ExpressionAttributeNames").object(|out| {
                for (reference, name) in names {
                    out.name(reference).text(name);
                }
            });
        }
        if let Some(names) = &self.attributes_to_get {
            out.name("AttributesToGet").list(|out| names.iter().for_each(|name| out.text(name)));
        }
        if self.consistent {
            out.name("ConsistentRead").boolean(true);
        }
    }
}

/// Returns the bytes of the item that was read, before the projection.
pub(super) fn bytes_read(got: &Got) -> usize {
    usize::try_from(got.report.bytes_read()).unwrap_or(usize::MAX)
}
