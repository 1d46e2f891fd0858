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

mod columns;
mod cql;
mod draft;
mod electrodb;
mod json;
mod literal;
mod members;
mod modelled;
mod names;
mod observed;
mod onetable;
mod places;
mod prisma;
mod relational;
mod sql;
mod tokens;
mod workbench;

use shelfmark_design_language::limits::{DIAGNOSTICS_MAX, SOURCE_BYTES_MAX};
use shelfmark_design_language::model::resolve::resolve;
use shelfmark_design_language::syntax::diagnostic::Diagnostic;
use shelfmark_design_language::syntax::parser::parse;
use shelfmark_design_language::syntax::print::format;
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
    /// Entities of ElectroDB: JavaScript, TypeScript or JSON.
    ElectroDb,
    /// A schema of OneTable: JavaScript, TypeScript or JSON.
    OneTable,
    /// A Prisma schema.
    Prisma,
    /// `CREATE TABLE` of PostgreSQL, MySQL and SQLite, and statements as patterns.
    Sql,
}

impl Source {
    /// All formats, in the order of their names.
    pub const ALL: [(&str, Self); 6] = [
        ("cql", Self::Cql),
        ("electrodb", Self::ElectroDb),
        ("onetable", Self::OneTable),
        ("prisma", Self::Prisma),
        ("sql", Self::Sql),
        ("workbench", Self::Workbench),
    ];

    /// Guesses the format of a text from its name's ending and its beginning.
    #[must_use]
    pub fn of(name: &str, text: &str) -> Self {
        let ending = name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
        let script = matches!(ending.as_str(), "js" | "ts" | "mjs" | "cjs" | "mts" | "cts");
        let start = text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
        if script || start.starts_with(['{', '[']) {
            let model = start.starts_with('{') && text.contains("\"DataModel\"");
            return match literal::literals(text) {
                Ok(found) if !model && electrodb::is_one(&found) => Self::ElectroDb,
                Ok(found) if !model && onetable::is_one(&found) => Self::OneTable,
                _ if script => Self::ElectroDb,
                _ => Self::Workbench,
            };
        }
        match ending.as_str() {
            "prisma" => Self::Prisma,
            "sql" => Self::Sql,
            _ => Self::Cql,
        }
    }
}

/// A query log beside tables.
#[derive(Debug, Clone, Copy, Default)]
pub struct Log<'t> {
    /// The text of the log: statements, a general or slow log, or CSV with calls.
    pub text: &'t str,
    /// The length of the log in seconds, if it does not say so itself.
    pub span_seconds: Option<f64>,
}

/// Converts SQL tables and a query log to the text of a model; `name` names the tables in comments.
///
/// Cost: linear in both texts, times the number of tables.
///
/// # Errors
///
/// A table that cannot be read, or a log that is too large or has no numbers where calls stand, each
/// with its place. Mend the text. Statements of the log that are not understood are no errors: they
/// are told in the model.
pub fn import_with_log(name: &str, text: &str, log: Log<'_>) -> Result<String, ImportError> {
    limited(text)?;
    limited(log.text)?;
    checked(&sql::import(name, text, Some(log.text), log.span_seconds)?)
}

/// Refuses a text that is too large.
fn limited(text: &str) -> Result<(), ImportError> {
    if text.len() > SOURCE_BYTES_MAX {
        let message = format!("more than {SOURCE_BYTES_MAX} bytes; import it in parts");
        return Err(ImportError::new("1:1", message));
    }
    Ok(())
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
    limited(text)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let model = match from {
        Source::Workbench => workbench::import(name, text)?,
        Source::Cql => cql::import(name, text)?,
        Source::ElectroDb => electrodb::import(name, &literal::literals(text)?)?,
        Source::Prisma => prisma::import(name, text)?,
        Source::Sql => sql::import(name, text, None, None)?,
        Source::OneTable => onetable::import(name, &literal::literals(text)?)?,
    };
    // Both steps hold by construction; a text for which they do not is refused, not handed out.
    checked(&model)
}

/// Formats a model's text, and refuses one that does not resolve.
fn checked(model: &str) -> Result<String, ImportError> {
    let refused = |text: &str, what: &str, found: &[Diagnostic]| {
        let first = found.first().map(|one| {
            let line = line_and_column(text, one.span.start).0;
            let written = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
            format!("{} in `{}`", one.message, written.trim())
        });
        ImportError::new("1:1", format!("{what}: {}", first.unwrap_or_default()))
    };
    let parsed = parse(model);
    if !parsed.diagnostics.is_empty() {
        return Err(refused(model, "cannot be written down", &parsed.diagnostics));
    }
    let text = format(model, &parsed.file, &parsed.comments);
    let again = parse(&text);
    let found =
        if again.diagnostics.is_empty() { resolve(&again.file).1 } else { again.diagnostics };
    if found.is_empty() { Ok(text) } else { Err(refused(&text, "is no consistent model", &found)) }
}
