//! Imports schemas of other tools as models.
//!
//! A foreign schema says how rows lie, and little of what they stand for. What it does not say (what
//! the entities are, which reads there are, how many rows there will be) stands in the output as a
//! comment that asks, never as a guess. What it does say is kept exactly, so that lints and proofs
//! speak of the schema that was given.
//!
//! What it is not: it opens no file, and it mends nothing that is damaged.
//!
//! Invariant: output parses and resolves as a model.

mod cql;
mod cql_options;
mod cql_reads;
mod cql_types;
mod sheet;
mod workbench;
mod workbench_rows;

use crate::Document;
use shelfmark_design_language::limits::{DIAGNOSTICS_MAX, SOURCE_BYTES_MAX};
use shelfmark_design_language::syntax::span::line_and_column;

/// Most tables of one import.
///
/// Ours: twice what Amazon lets an account have in a region by default is 5,000; no published
/// model has more than 40.
pub const IMPORT_TABLES_MAX: usize = 5_000;

/// Most attributes of one table.
///
/// Ours: Cassandra advises against more than some hundred columns.
pub const IMPORT_ATTRIBUTES_MAX: usize = 2_000;

/// The format of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// A data model of NoSQL Workbench for DynamoDB, versions 1 to 3: JSON.
    Workbench,
    /// CQL: `CREATE TABLE` and its like, and `SELECT`s as reads.
    Cql,
}

impl Source {
    /// Returns the source that a word names: `workbench` or `cql`.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        match word {
            "workbench" => Some(Self::Workbench),
            "cql" => Some(Self::Cql),
            _ => None,
        }
    }

    /// Guesses the format of a text: JSON begins with a brace or a bracket.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let start = text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
        if start.starts_with(['{', '[']) { Self::Workbench } else { Self::Cql }
    }
}

/// The reason why a text is not imported, and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportError {
    /// The message.
    pub message: String,
    /// Line and column from 1, or the way to a member of JSON such as `DataModel[0].TableName`.
    pub place: String,
    /// Further errors, in the order of the text.
    pub more: Vec<ImportError>,
}

impl ImportError {
    fn new(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { message: message.into(), place: place.into(), more: Vec::new() }
    }

    /// Combines errors to one; `None` when there is none.
    fn all(errors: Vec<Self>) -> Option<Self> {
        let mut errors = errors.into_iter();
        let first = errors.next()?;
        Some(Self { more: errors.take(DIAGNOSTICS_MAX).collect(), ..first })
    }

    fn at(text: &str, offset: usize, message: impl Into<String>) -> Self {
        let (line, column) = line_and_column(text, offset);
        Self::new(format!("{line}:{column}"), message)
    }
}

impl std::fmt::Display for ImportError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}: {}", self.place, self.message)?;
        self.more.iter().try_for_each(|one| write!(out, "\n{one}"))
    }
}

impl std::error::Error for ImportError {}

/// Converts a foreign schema to the text of a model; `name` names it in comments.
///
/// Cost: linear in the text.
///
/// # Errors
///
/// What cannot be read, each with its place: of CQL every such statement, of JSON the first member.
/// Mend the text, or take the statements out.
pub fn import(name: &str, text: &str, from: Source) -> Result<String, ImportError> {
    if text.len() > SOURCE_BYTES_MAX {
        let message = format!("more than {SOURCE_BYTES_MAX} bytes; import it in parts");
        return Err(ImportError::new("1:1", message));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let model = match from {
        Source::Workbench => workbench::import(name, text)?,
        Source::Cql => cql::import(name, text)?,
    };
    // Both steps hold by construction; a text for which they do not is refused, not handed out.
    let formatted = Document::format("import", &model)
        .map_err(|report| ImportError::new("1:1", format!("cannot be written down: {report}")))?;
    Document::parse("import", &formatted)
        .map_err(|report| ImportError::new("1:1", format!("is no consistent model: {report}")))?;
    Ok(formatted)
}
