//! The tools on a store: its tables, and requests with the ranges that they read.

use serde_json::{Value as Json, json};

use crate::arguments::Arguments;

/// The longest answer in bytes; what is longer is cut, and says so.
const ANSWER_BYTES_MAX: usize = 256 * 1024;

/// The operations of DynamoDB that change nothing.
const READS: [&str; 17] = [
    "BatchGetItem",
    "DescribeContinuousBackups",
    "DescribeEndpoints",
    "DescribeLimits",
    "DescribeStream",
    "DescribeTable",
    "DescribeTimeToLive",
    "GetItem",
    "GetRecords",
    "GetShardIterator",
    "ListStreams",
    "ListTables",
    "ListTagsOfResource",
    "Query",
    "Scan",
    "SearchVectors",
    "TransactGetItems",
];

/// The first words of statements of CQL that change nothing.
const READING_WORDS: [&str; 3] = ["SELECT", "DESCRIBE", "DESC"];

/// An answer, and what was read for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    /// The answer as JSON or text.
    pub text: String,
    /// The key ranges and rows that were read, a line for each step; empty where that is not known.
    pub read: String,
}

/// A store that tools ask. Calls may block.
pub trait Store: Send + Sync + 'static {
    /// Lists the tables of every face with their keys.
    ///
    /// # Errors
    ///
    /// Why they cannot be listed.
    fn tables(&self) -> Result<Json, String>;

    /// Runs an operation of DynamoDB, whose request is this JSON.
    ///
    /// # Errors
    ///
    /// The answer of the face to what it refuses.
    fn dynamodb(&self, operation: &str, request: &Json) -> Result<Answered, String>;

    /// Runs a statement of CQL.
    ///
    /// # Errors
    ///
    /// The answer of the face to what it refuses.
    fn cql(&self, statement: &str) -> Result<Answered, String>;
}

/// Lists the tables.
pub(crate) fn tables(store: &dyn Store) -> Result<Json, String> {
    Ok(json!({ "tables": store.tables()? }))
}

/// Runs an operation of DynamoDB.
pub(crate) fn dynamodb(
    store: &dyn Store,
    arguments: &Arguments,
    allow_writes: bool,
) -> Result<Json, String> {
    let operation = arguments.text("operation")?;
    let request = arguments.object("request")?;
    let reads = READS.contains(&operation);
    let selects = operation == "ExecuteStatement"
        && first_word(request.get("Statement").and_then(Json::as_str).unwrap_or_default())
            == "SELECT";
    if !(reads || selects || allow_writes) {
        return Err(refused(operation));
    }
    answer(store.dynamodb(operation, &request)?)
}

/// Runs a statement of CQL.
pub(crate) fn cql(
    store: &dyn Store,
    arguments: &Arguments,
    allow_writes: bool,
) -> Result<Json, String> {
    let statement = arguments.text("statement")?;
    let word = first_word(statement);
    if !(READING_WORDS.contains(&word.as_str()) || allow_writes) {
        return Err(refused(&word));
    }
    answer(store.cql(statement)?)
}

fn refused(what: &str) -> String {
    format!(
        "{what} may change the store, and this server was started without --allow-writes: ask \
         whoever runs it"
    )
}

/// Returns the first word of a statement in capitals; comments before it are no words.
fn first_word(statement: &str) -> String {
    let mut rest = statement.trim_start();
    loop {
        let end = if rest.starts_with("--") || rest.starts_with("//") {
            rest.find('\n')
        } else if rest.starts_with("/*") {
            rest.find("*/").map(|end| end + 1)
        } else {
            let word = rest.chars().take_while(char::is_ascii_alphabetic);
            return word.collect::<String>().to_ascii_uppercase();
        };
        rest = end.and_then(|end| rest.get(end + 1..)).unwrap_or_default().trim_start();
    }
}

fn answer(answered: Answered) -> Result<Json, String> {
    let Answered { mut text, read } = answered;
    if text.len() <= ANSWER_BYTES_MAX {
        let value = serde_json::from_str(&text).unwrap_or(Json::String(text));
        return Ok(json!({ "answer": value, "read": read }));
    }
    let end = (0..=ANSWER_BYTES_MAX).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    text.truncate(end);
    Ok(json!({
        "answer": text,
        "read": read,
        "cut": format!("the answer is longer than {ANSWER_BYTES_MAX} bytes; ask for less, by Limit or LIMIT"),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_stands_behind_comments() {
        for (statement, word) in [
            ("select * from t", "SELECT"),
            ("  -- a\n/* b */ // c\n SELECT 1", "SELECT"),
            ("/* SELECT */ DROP TABLE t", "DROP"),
            ("-- SELECT", ""),
            ("/* SELECT", ""),
            ("", ""),
            ("(SELECT", ""),
        ] {
            assert_eq!(first_word(statement), word, "{statement:?}");
        }
    }
}
