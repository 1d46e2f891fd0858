//! The resources that tools name by their ARNs: tables, and streams of tables.

use std::sync::Arc;

use shelfmark_engine::Table;

use crate::errors::{Error, Exception, Result, texts};
use crate::face::Face;
use crate::limits::NAME_CHARS_MIN;
use crate::streams::StreamName;
use crate::table::{self, Meta};

/// A table, or a stream of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Resource {
    arn: String,
    pub(super) table: String,
    /// The label of the stream; empty for the table itself.
    pub(super) label: String,
}

/// The place of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Among the resources of the request.
    Here,
    /// In another region of the account.
    Region,
    /// With another account.
    Account,
}

/// Returns the account in an ARN.
pub(super) fn account_of(arn: &str) -> &str {
    arn.split(':').nth(4).unwrap_or_default()
}

/// Returns the error of a resource of another account.
pub(super) fn access_denied() -> Error {
    Error::new(Exception::AccessDenied, texts::ACCESS_IS_DENIED)
}

impl Resource {
    /// Reads the ARN of a table or stream. Whether region and account fit is for the scope to say.
    pub(super) fn of_arn(arn: &str) -> Result<Self> {
        let refuse = |text: String| Err(Error::validation(text));
        if !arn.starts_with("arn:") {
            return refuse(texts::arn_without_scheme(arn));
        }
        let found = |table: &str, label: &str| Self {
            arn: arn.to_owned(),
            table: table.to_owned(),
            label: label.to_owned(),
        };
        if let Some(StreamName { table, label }) = StreamName::of_arn(arn) {
            return Ok(found(&table, &label));
        }
        let rest = arn.strip_prefix("arn:aws:dynamodb:");
        let resource = rest.and_then(|rest| rest.splitn(3, ':').nth(2)).unwrap_or_default();
        let Some(name) = resource.strip_prefix("table/") else {
            return refuse(texts::arn_of_something_else(arn));
        };
        if name.contains("/index/") {
            return refuse(texts::arn_of_no_table(arn));
        }
        if name.contains('/') || name.chars().count() < NAME_CHARS_MIN {
            return refuse(texts::arn_of_something_else(arn));
        }
        Ok(found(name, ""))
    }

    /// Says where the resource is, as its ARN has it.
    pub(super) fn place(&self, face: &Face) -> Place {
        match (face.engine.is_place_of(&self.arn), account_of(&self.arn)) {
            (true, _) => Place::Here,
            (false, account) if account == face.options.account => Place::Region,
            (false, _) => Place::Account,
        }
    }

    /// Finds the table; a stream must still be there, too.
    pub(super) fn find(&self, face: &Face) -> Result<Arc<Table>> {
        self.find_or(face, texts::table_not_found(&self.table))
    }

    /// Works as [`Resource::find`], with the text for a table that is not there.
    pub(super) fn find_or(&self, face: &Face, missing: String) -> Result<Arc<Table>> {
        let engine = &face.engine;
        if !self.label.is_empty() {
            let name = StreamName { table: self.table.clone(), label: self.label.clone() };
            name.find(engine, &self.arn)?;
        }
        if !engine.is_place_of(&self.arn) {
            return Err(Error::new(Exception::ResourceNotFound, missing));
        }
        table::find_or(engine, &self.table, |_| missing)
    }

    /// Changes what is kept with the table.
    pub(super) fn change(&self, face: &Face, change: impl FnOnce(&mut Meta)) -> Result<()> {
        change_meta(face, &self.table, change)
    }
}

/// Changes what is kept with a table.
pub(super) fn change_meta(face: &Face, table: &str, change: impl FnOnce(&mut Meta)) -> Result<()> {
    face.engine.alter_options(&face.engine.table_name(table), |options| {
        let mut meta = Meta::read(&options.face);
        change(&mut meta);
        meta.put(&mut options.face);
    })?;
    Ok(())
}
