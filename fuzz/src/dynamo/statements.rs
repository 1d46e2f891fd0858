//! PartiQL from nowhere: statements that are parsed, read and write.
//!
//! Input: text, a line for each statement; `\u{1}` stands for a line's end within one. The
//! parameters of a line are counted by its question marks and chosen by its length. What a SELECT
//! reads page by page must be what it reads at once, and a statement gets the same answer alone and
//! twice if it only reads.

use serde_json::{Map, Value, json};
use shelfmark_dynamo::Face;

use super::{TABLE, asked, call, expect_fine, face, items_of, scan};

/// Most statements of one input.
const STATEMENTS_MAX: usize = 12;

/// Most items of an answer that are read page by page.
const PAGED_MAX: usize = 12;

/// Runs one input.
pub fn run(data: &[u8]) {
    let face = face();
    for line in data.split(|byte| *byte == b'\n').take(STATEMENTS_MAX) {
        let text = String::from_utf8_lossy(line).replace('\u{1}', "\n");
        let mut request = json!({"Statement": text});
        let parameters = parameters(&text);
        if !parameters.is_empty() {
            request["Parameters"] = Value::Array(parameters);
        }
        for (operation, member) in
            [("BatchExecuteStatement", "Statements"), ("ExecuteTransaction", "TransactStatements")]
        {
            let body = json!({member: [request], "ReturnConsumedCapacity": "INDEXES"});
            call(&face, operation, body.to_string().as_bytes());
        }
        let before = scan(&face, TABLE);
        let answer = asked(&face, "ExecuteStatement", &request);
        let is_read =
            text.trim_start().get(..6).is_some_and(|word| word.eq_ignore_ascii_case("SELECT"));
        match answer {
            Some(answer) if is_read => check_pages(&face, &request, answer),
            Some(_) => {}
            None => assert_eq!(scan(&face, TABLE), before, "a refused statement wrote"),
        }
    }
    for item in scan(&face, TABLE) {
        expect_fine(&face, "PutItem", &json!({"TableName": TABLE, "Item": item}));
    }
}

/// Returns a value for each question mark of a text.
fn parameters(text: &str) -> Vec<Value> {
    let values = [
        json!({"S": "a"}),
        json!({"N": "1"}),
        json!({"S": "1"}),
        json!({"SS": ["b", "q"]}),
        json!({"L": [{"N": "1"}]}),
        json!({"M": {"a": {"S": "x"}}}),
        json!({"NULL": true}),
        json!({"BOOL": true}),
        json!({"B": "AAE="}),
        json!({"N": "-0.50"}),
    ];
    let marks = text.bytes().filter(|byte| *byte == b'?').count().min(64);
    let chosen = values.iter().cycle().skip(text.len() % values.len());
    chosen.take(marks).cloned().collect()
}

/// Reads a SELECT again with every size of pages.
fn check_pages(face: &Face, request: &Value, answer: Map<String, Value>) {
    if answer.contains_key("NextToken") {
        return;
    }
    let whole = items_of(answer);
    for limit in 1..=whole.len().min(PAGED_MAX) {
        let mut request = request.clone();
        request["Limit"] = json!(limit);
        let mut found = Vec::new();
        loop {
            let page = expect_fine(face, "ExecuteStatement", &request);
            let next = page.get("NextToken").cloned();
            found.extend(items_of(page));
            match next {
                Some(token) => request["NextToken"] = token,
                None => break,
            }
        }
        assert_eq!(found, whole, "{request}");
    }
}
