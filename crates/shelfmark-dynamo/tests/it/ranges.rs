//! Properties of queries: a key condition keeps what its relation says, in order, and pages of any
//! size put together are the whole answer.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::limits::check_fine;
use crate::runner::Server;

/// A server with one partition of a table and of its index: the sort key `n` is a number, `t`,
/// which the index sorts by, a text that several items may share.
fn server(items: &[(i64, String)]) -> Server {
    let server = Server::new();
    let attribute =
        |name: &str, letter: &str| json!({"AttributeName": name, "AttributeType": letter});
    let element = |name: &str, kind: &str| json!({"AttributeName": name, "KeyType": kind});
    check_fine(
        &server,
        "CreateTable",
        &json!({
            "TableName": "Rows", "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [attribute("h", "S"), attribute("n", "N"), attribute("t", "S")],
            "KeySchema": [element("h", "HASH"), element("n", "RANGE")],
            "GlobalSecondaryIndexes": [{
                "IndexName": "by_t",
                "KeySchema": [element("h", "HASH"), element("t", "RANGE")],
                "Projection": {"ProjectionType": "KEYS_ONLY"}
            }]
        }),
    );
    for (number, text) in items {
        let item = json!({"h": {"S": "x"}, "n": {"N": number.to_string()}, "t": {"S": text}});
        check_fine(&server, "PutItem", &json!({"TableName": "Rows", "Item": item}));
        let other = json!({"h": {"S": "y"}, "n": {"N": number.to_string()}, "t": {"S": text}});
        check_fine(&server, "PutItem", &json!({"TableName": "Rows", "Item": other}));
    }
    server
}

/// Reads a query page by page; returns the numbers and how many items were evaluated.
fn read(server: &Server, query: &Value, limit: Option<usize>) -> (Vec<i64>, u64) {
    let (mut query, mut numbers, mut evaluated) = (query.clone(), Vec::new(), 0);
    if let Some(limit) = limit {
        query["Limit"] = json!(limit);
    }
    loop {
        let page = check_fine(server, "Query", &query);
        let items = page.get("Items").and_then(Value::as_array).unwrap();
        evaluated += page.get("ScannedCount").and_then(Value::as_u64).unwrap();
        numbers.extend(items.iter().map(|item| -> i64 {
            item.pointer("/n/N").and_then(Value::as_str).unwrap().parse().unwrap()
        }));
        match page.get("LastEvaluatedKey") {
            Some(last) => query["ExclusiveStartKey"] = last.clone(),
            None => return (numbers, evaluated),
        }
    }
}

/// Items with distinct numbers, sorted by them.
fn items() -> impl Strategy<Value = Vec<(i64, String)>> {
    prop::collection::btree_map(-8_i64..8, "[ab]{0,2}c", 0..14)
        .prop_map(|items| items.into_iter().collect())
}

#[derive(Debug, Clone)]
enum Relation {
    Compare(&'static str, i64),
    Between(i64, i64),
}

impl Relation {
    fn condition(&self) -> (String, Value) {
        let number = |number: &i64| json!({"N": number.to_string()});
        match self {
            Self::Compare(operator, bound) => {
                (format!("n {operator} :a"), json!({":h": {"S": "x"}, ":a": number(bound)}))
            }
            Self::Between(lower, upper) => {
                let values = json!({":h": {"S": "x"}, ":a": number(lower), ":b": number(upper)});
                ("n BETWEEN :a AND :b".to_owned(), values)
            }
        }
    }

    fn holds(&self, number: i64) -> bool {
        match self {
            Self::Compare("=", bound) => number == *bound,
            Self::Compare("<", bound) => number < *bound,
            Self::Compare("<=", bound) => number <= *bound,
            Self::Compare(">", bound) => number > *bound,
            Self::Compare(_, bound) => number >= *bound,
            Self::Between(lower, upper) => (*lower..=*upper).contains(&number),
        }
    }
}

fn relation() -> impl Strategy<Value = Relation> {
    let operator = prop::sample::select(vec!["=", "<", "<=", ">", ">="]);
    prop_oneof![
        (operator, -9_i64..9).prop_map(|(operator, bound)| Relation::Compare(operator, bound)),
        (-9_i64..9, 0_i64..8).prop_map(|(lower, width)| Relation::Between(lower, lower + width)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_key_condition_keeps_what_it_says_and_reads_nothing_else(
        items in items(),
        relation in relation(),
        forward in any::<bool>(),
        limit in prop::option::of(1_usize..6),
    ) {
        let server = server(&items);
        let (condition, values) = relation.condition();
        let query = json!({
            "TableName": "Rows", "KeyConditionExpression": format!("h = :h AND {condition}"),
            "ExpressionAttributeValues": values, "ScanIndexForward": forward
        });
        let mut expected: Vec<i64> =
            items.iter().map(|(number, _)| *number).filter(|number| relation.holds(*number)).collect();
        if !forward {
            expected.reverse();
        }
        let (found, evaluated) = read(&server, &query, limit);
        prop_assert_eq!(evaluated, expected.len() as u64);
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn pages_of_an_index_put_together_are_the_whole_also_among_equal_keys(
        items in items(),
        prefix in "[ab]{1,2}",
        forward in any::<bool>(),
        limit in 1_usize..5,
    ) {
        let server = server(&items);
        let query = json!({
            "TableName": "Rows", "IndexName": "by_t", "ScanIndexForward": forward,
            "KeyConditionExpression": "h = :h AND begins_with(t, :p)",
            "ExpressionAttributeValues": {":h": {"S": "x"}, ":p": {"S": prefix}}
        });
        let mut expected: Vec<&(i64, String)> =
            items.iter().filter(|(_, text)| text.starts_with(&prefix)).collect();
        expected.sort_by(|a, b| (&a.1, a.0).cmp(&(&b.1, b.0)));
        if !forward {
            expected.reverse();
        }
        let expected: Vec<i64> = expected.into_iter().map(|(number, _)| *number).collect();
        let (whole, evaluated) = read(&server, &query, None);
        prop_assert_eq!(evaluated, expected.len() as u64);
        prop_assert_eq!(&whole, &expected);
        prop_assert_eq!(read(&server, &query, Some(limit)).0, expected);
    }
}
