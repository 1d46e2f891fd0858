//! Says why a request did not read one range that holds its answer and nothing else, in the words of the
//! modeller's lints: what the range does not say, and with which key it would.
//!
//! What it is not: a proof. It looks at the columns that a request names, not at values; a request whose
//! form it does not know is not explained.
//!
//! Invariant: nothing is said of a request that read one range and kept all of it.

use shelfmark_admin::http::Request;
use shelfmark_engine::{AccessReport, AccessStep, Table};
use shelfmark_watch::asked::{Asked, AskedBound, Reading, operation, statement};
use shelfmark_watch::shape::Kind;

use super::picture;
use crate::Console;
use crate::fault::Result;
use crate::request::{object_of, text_of};

/// The key of what was read.
struct ReadKey<'t> {
    name: String,
    partition: Vec<&'t str>,
    sort: Vec<&'t str>,
}

/// Explains the costliest step of an answer.
pub(super) fn told(
    console: &Console,
    request: &Request,
    report: &AccessReport,
) -> Result<Vec<String>> {
    let Some(step) = report.steps.iter().max_by_key(|step| step.rows_read) else {
        return Ok(Vec::new());
    };
    if step.rows_read <= step.rows_returned && step.ranges.len() <= 1 {
        return Ok(Vec::new());
    }
    let Some(asked) = asked(request)? else { return Ok(Vec::new()) };
    let Some(table) = picture::table_of_step(console, step)? else { return Ok(Vec::new()) };
    Ok(key_of(&table, step).map_or_else(Vec::new, |key| why(&key, &asked, step.ranges.len())))
}

/// Reads what a request asks, if it is one read of a form that is known.
fn asked(request: &Request) -> Result<Option<Asked>> {
    let body = object_of(request)?;
    let text = text_of(&body, "text").trim_end().trim_end_matches(';');
    let reading = match text_of(&body, "language") {
        "dynamodb" => match serde_json::from_str(text) {
            Ok(parsed) => operation(text_of(&body, "operation"), &parsed),
            Err(_) => return Ok(None),
        },
        // What PartiQL and CQL have in common is most of a SELECT.
        _ => statement(text),
    };
    let Reading::Asks(asked) = reading else { return Ok(None) };
    let mut reads = asked.into_iter().filter(|own| own.kind == Kind::Read);
    Ok(reads.next().filter(|_| reads.next().is_none()))
}

fn key_of<'t>(table: &'t Table, step: &AccessStep) -> Option<ReadKey<'t>> {
    let schema = &table.schema;
    let (partition, sort) = match &step.index {
        None => (&schema.partition, &schema.sort),
        Some(index) => {
            let index = schema.index(index)?;
            (&index.partition, &index.sort)
        }
    };
    let name = match &step.index {
        Some(index) => format!("index {index}"),
        None => schema.name.name.clone(),
    };
    Some(ReadKey {
        name,
        partition: partition.iter().map(|own| own.name.as_str()).collect(),
        sort: sort.iter().map(|own| own.name.as_str()).collect(),
    })
}

fn why(key: &ReadKey<'_>, asked: &Asked, ranges: usize) -> Vec<String> {
    let is_equal = |name: &str| {
        asked.bound.iter().any(|(own, bound)| own == name && matches!(bound, AskedBound::Equal(_)))
    };
    let is_bound = |name: &str| asked.bound.iter().any(|(own, _)| own == name);
    let columns: Vec<&str> = key.partition.iter().chain(&key.sort).copied().collect();
    let (name, whole) =
        (&key.name, format!("({}; {})", key.partition.join(", "), key.sort.join(", ")));
    let mut said = Vec::new();
    let open = columns.iter().position(|own| !is_equal(own)).unwrap_or(columns.len());
    if let Some(part) = columns.get(open).filter(|_| open < key.partition.len()) {
        said.push(format!(
            "The range does not say what {part} must be, so it holds other rows: without it {name} is \
             read as a whole."
        ));
    } else if let Some(behind) =
        columns.get(open + 1..).unwrap_or_default().iter().find(|own| is_bound(own))
    {
        let part = columns.get(open).copied().unwrap_or_default();
        said.push(format!(
            "The range does not say what {part} must be, and {behind} stands behind it in the key \
             {whole}, so it holds other rows."
        ));
    }
    let beside: Vec<&str> = asked
        .bound
        .iter()
        .map(|(own, _)| own.as_str())
        .filter(|own| !columns.contains(own))
        .collect();
    for column in &beside {
        said.push(format!(
            "{column} is no part of the key {whole} of {name}: rows with another {column} are read and \
             thrown away."
        ));
    }
    let is_explained = !said.is_empty();
    if is_explained && !asked.bound.is_empty() {
        said.push(format!("With the key {} it would be one range.", better(&columns, asked)));
    } else if asked.filtered && !is_explained {
        said.push(
            "The range says all that the key can; a filter threw away what was read.".to_owned(),
        );
    } else if ranges > 1 && !is_explained {
        said.push(format!("Each of its values is a range of its own: {ranges} ranges."));
    }
    said
}

/// Returns the key that has what is equal first, then what is between two ends, then the rest of the key.
fn better(columns: &[&str], asked: &Asked) -> String {
    let mut equal: Vec<&str> = Vec::new();
    let mut behind: Vec<&str> = Vec::new();
    for (name, bound) in &asked.bound {
        match bound {
            AskedBound::Equal(_) => equal.push(name),
            AskedBound::Prefix(_) | AskedBound::Range(..) => behind.push(name),
        }
    }
    // In the order of the key, as far as it has them.
    let place = |name: &str| columns.iter().position(|own| *own == name).unwrap_or(columns.len());
    equal.sort_by_key(|name| place(name));
    behind.extend(columns.iter().filter(|own| !equal.contains(own)));
    let mut seen: Vec<&str> = Vec::new();
    behind.retain(|own| {
        let is_new = !seen.contains(own);
        seen.push(*own);
        is_new
    });
    if equal.is_empty() {
        // A range needs a partition to lie in.
        return format!("(one value for all; {})", behind.join(", "));
    }
    format!("({}; {})", equal.join(", "), behind.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str, ranges: usize) -> Vec<String> {
        let key = ReadKey {
            name: "orders".to_owned(),
            partition: vec!["customer"],
            sort: vec!["placed", "line"],
        };
        let Reading::Asks(asked) = statement(text) else { panic!("{text}") };
        why(&key, &asked[0], ranges)
    }

    #[test]
    fn what_the_range_does_not_say_is_said() {
        assert_eq!(
            said("SELECT * FROM orders WHERE status = 'open' ALLOW FILTERING", 1),
            [
                "The range does not say what customer must be, so it holds other rows: without it orders is \
                 read as a whole.",
                "status is no part of the key (customer; placed, line) of orders: rows with another status \
                 are read and thrown away.",
                "With the key (status; customer, placed, line) it would be one range.",
            ]
        );
        assert_eq!(
            said("SELECT * FROM orders WHERE customer = 'a' AND line = 3 ALLOW FILTERING", 1),
            [
                "The range does not say what placed must be, and line stands behind it in the key \
                 (customer; placed, line), so it holds other rows.",
                "With the key (customer, line; placed) it would be one range.",
            ]
        );
    }

    #[test]
    fn what_is_one_range_needs_no_other_key() {
        let several = said("SELECT * FROM orders WHERE customer IN ('a', 'b')", 2);
        assert_eq!(several, ["Each of its values is a range of its own: 2 ranges."]);
        assert_eq!(
            said("SELECT * FROM orders WHERE customer = 'a' AND placed > 'b'", 1),
            [] as [&str; 0]
        );
    }
}
