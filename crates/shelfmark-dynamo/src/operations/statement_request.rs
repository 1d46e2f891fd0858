//! The common part of requests with statements: a text, its parameters, and what both say together.
//!
//! A statement goes through three steps: its members are read ([`StatementRequest`]), its parameters
//! are checked ([`Given`]), and its text is parsed ([`Asked`]).

use shelfmark_model::Value;

use crate::errors::{Error, Result, texts};
use crate::json::{Checked, Reader};
use crate::limits::STATEMENT_CHARS_MAX;
use crate::partiql::{self, Named, Statement};
use crate::shape::Shape;

/// The members of a statement.
#[derive(Debug, Default)]
pub(super) struct StatementRequest {
    statement: Option<String>,
    parameters: Option<Checked<Vec<Value>>>,
    on_failure: Option<String>,
    consistent: bool,
}

/// A statement whose parameters are valid.
#[derive(Debug)]
pub(super) struct Given {
    text: String,
    parameters: Vec<Value>,
    old_on_refusal: bool,
    consistent: bool,
}

/// A statement that is in the grammar.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) statement: Statement,
    pub(super) named: Named,
    pub(super) parameters: Vec<Value>,
    pub(super) old_on_refusal: bool,
    /// True for a consistent read; reads always are, so this only doubles the units.
    pub(super) consistent: bool,
    /// The hash of the text and the parameters.
    pub(super) request: u64,
}

impl StatementRequest {
    /// Reads a member, if it is one of these; returns `false` to leave it to the caller.
    pub(super) fn member(&mut self, reader: &mut Reader<'_>, name: &str) -> Result<bool> {
        match name {
            "Statement" => self.statement = reader.text()?,
            "Parameters" => self.parameters = reader.parameters()?,
            "ReturnValuesOnConditionCheckFailure" => self.on_failure = reader.text()?,
            "ConsistentRead" => self.consistent = reader.boolean()? == Some(true),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Reads a list of statements.
    pub(super) fn list(reader: &mut Reader<'_>) -> Result<Option<Vec<Self>>> {
        reader.list(|reader| {
            let mut request = Self::default();
            let present = reader.structure(|reader, name| {
                if request.member(reader, name)? { Ok(()) } else { reader.skip() }
            })?;
            Ok(present.then_some(request))
        })
    }

    /// Checks the shape; `path` stands before the members' names.
    pub(super) fn shape(&self, path: &str, shape: &mut Shape) {
        let at = |member: &str| format!("{path}{member}");
        shape.required(&at("Statement"), self.statement.is_some());
        if let Some(statement) = &self.statement {
            shape.text(&at("Statement"), statement, 1, STATEMENT_CHARS_MAX);
        }
        if let Some(parameters) = &self.parameters {
            shape.length(&at("Parameters"), parameters.unchecked().len(), 1, usize::MAX);
        }
        let on_failure = at("ReturnValuesOnConditionCheckFailure");
        shape.one_of(&on_failure, self.on_failure.as_deref(), &["ALL_OLD", "NONE"]);
    }

    /// Checks the parameters. The service words their faults without the prefix of its validation
    /// framework.
    pub(super) fn checked(self) -> Result<Given> {
        let parameters = self.parameters.map(Checked::checked).transpose();
        let parameters = parameters.map_err(|error| Error { enveloped: false, ..error })?;
        Ok(Given {
            text: self.statement.unwrap_or_default(),
            parameters: parameters.unwrap_or_default(),
            old_on_refusal: self.on_failure.as_deref() == Some("ALL_OLD"),
            consistent: self.consistent,
        })
    }
}

impl Given {
    /// Parses the text, and checks that it has as many question marks as there are parameters.
    pub(super) fn parsed(self) -> Result<Asked> {
        let (statement, count) = partiql::parse(&self.text)?;
        let named = statement.named()?;
        if count != self.parameters.len() {
            return Err(Error::validation(texts::PARAMETER_COUNT));
        }
        let request = partiql::request_hash(&self.text, &self.parameters);
        Ok(Asked {
            statement,
            named,
            parameters: self.parameters,
            old_on_refusal: self.old_on_refusal,
            consistent: self.consistent,
            request,
        })
    }
}
