//! Runs a statement of CQL.

use shelfmark_admin::http::Request;
use shelfmark_cql::{Answered, CqlError, Outcome, RequestOptions, ResultRows};
use shelfmark_cql_types::{to_literal, to_text};

use super::answer::{Answer, Refusal};

use crate::Console;
use crate::limits::{ANSWER_ROWS_MAX, ROWS_PAGE_BYTES_MAX};
use crate::rows::{observed, wire_rows};

/// Runs a statement; a read gives one page, which begins at `page`.
pub(super) fn run(
    console: &Console,
    text: &str,
    keyspace: &str,
    page: &str,
    request: &Request,
) -> Answer {
    let Ok(paging) = hex::decode(page) else {
        return Answer::refused(
            "page",
            "the position is none that a page gave; run the statement again",
        );
    };
    let (options, report) = observed(console, Vec::new(), request);
    let options = RequestOptions {
        keyspace: Some(keyspace).filter(|name| !name.is_empty()).map(Into::into),
        page_size: u32::try_from(ANSWER_ROWS_MAX).ok(),
        page_bytes_max: Some(ROWS_PAGE_BYTES_MAX),
        paging: Some(paging).filter(|bytes| !bytes.is_empty()).map(Into::into),
        ..options
    };
    let text = text.trim().trim_end_matches(';');
    let mut answer = match console.cql.ask(text, options) {
        Ok(answered) => shown(answered),
        Err(error) => refusal(&error),
    };
    answer.report = std::mem::take(&mut *shelfmark_engine::locks::lock(&report));
    answer
}

fn shown(Answered { outcome, warnings, .. }: Answered) -> Answer {
    let mut answer = match outcome {
        Outcome::Void => said("Done."),
        Outcome::Rows(rows) => table(&rows),
        Outcome::SetKeyspace(name) => said(&format!(
            "Choose keyspace {name} beside the language: every request names its own."
        )),
        Outcome::SchemaChange(_) => said("Done: the schema changed, and clients were told."),
    };
    answer.notes.extend(warnings);
    answer
}

fn said(text: &str) -> Answer {
    Answer { notes: vec![text.to_owned()], ..Answer::default() }
}

fn table(rows: &ResultRows) -> Answer {
    let cells = wire_rows(rows.rows.bytes(), rows.columns.len()).map(|row| {
        let typed = row.iter().zip(rows.columns.iter());
        typed.map(|(cell, column)| to_literal(&column.kind, cell.as_deref())).collect()
    });
    Answer {
        columns: rows.columns.iter().map(|column| column.name.to_string()).collect(),
        rows: cells.take(ANSWER_ROWS_MAX).collect(),
        left_out: usize::try_from(rows.rows.rows()).unwrap_or(0).saturating_sub(ANSWER_ROWS_MAX),
        page: rows.paging.as_ref().map(hex::encode),
        ..Answer::default()
    }
}

fn refusal(error: &CqlError) -> Answer {
    let refusal = Refusal {
        kind: format!("{:?}", error.code),
        message: error.message.clone(),
        place: place(&error.message),
    };
    Answer { refusal: Some(refusal), ..Answer::default() }
}

/// Reads the place that Cassandra's parser names: `line 1:7 no viable alternative …`.
fn place(message: &str) -> Option<(usize, usize)> {
    let rest = message.strip_prefix("line ")?;
    let (line, rest) = rest.split_once(':')?;
    let column = rest.split(' ').next()?;
    // Its columns are counted from 0.
    Some((line.parse().ok()?, column.parse::<usize>().ok()?.checked_add(1)?))
}

/// Returns the text of one column of a statement's first row.
pub(crate) fn text_of_statement(console: &Console, text: &str, column: &str) -> Option<String> {
    let Outcome::Rows(rows) = console.cql.ask(text, RequestOptions::default()).ok()?.outcome else {
        return None;
    };
    let at = rows.columns.iter().position(|own| &*own.name == column)?;
    let row = wire_rows(rows.rows.bytes(), rows.columns.len()).next()?;
    let cell = row.into_iter().nth(at)??;
    Some(to_text(&rows.columns.get(at)?.kind, &cell))
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn an_error_tells_its_place() {
        assert_eq!(place("line 1:7 no viable alternative at input 'x'"), Some((1, 8)));
        assert_eq!(place("line 12:0 mismatched"), Some((12, 1)));
        assert_eq!(place("Undefined column name x"), None);
        assert_eq!(place("line x:y"), None);
    }
}
