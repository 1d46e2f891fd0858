//! Statements against the operations that they stand for: what a SELECT answers, Query and Scan
//! answer; what a write leaves behind, PutItem, UpdateItem and DeleteItem leave behind. Also the
//! tokens of pages, and the limits of statements.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::limits::{check_fine, check_refused, send};
use crate::runner::Server;

/// Creates a table with keys `h` and `n`, and indexes `by_t` (global) and `own_t` (local) by `t`.
fn create(server: &Server, table: &str) {
    let attribute =
        |name: &str, letter: &str| json!({"AttributeName": name, "AttributeType": letter});
    let element = |name: &str, kind: &str| json!({"AttributeName": name, "KeyType": kind});
    let index = |name: &str| {
        json!({
            "IndexName": name, "KeySchema": [element("h", "HASH"), element("t", "RANGE")],
            "Projection": {"ProjectionType": "ALL"}
        })
    };
    let request = json!({
        "TableName": table, "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [attribute("h", "S"), attribute("n", "N"), attribute("t", "S")],
        "KeySchema": [element("h", "HASH"), element("n", "RANGE")],
        "GlobalSecondaryIndexes": [index("by_t")], "LocalSecondaryIndexes": [index("own_t")]
    });
    check_fine(server, "CreateTable", &request);
}

/// Partitions, numbers, and texts that not every item has.
type Rows = Vec<(String, i64, Option<String>)>;

fn server(rows: &Rows) -> Server {
    let server = Server::new();
    create(&server, "Rows");
    for (partition, number, text) in rows {
        let mut item = json!({
            "h": {"S": partition}, "n": {"N": number.to_string()}, "v": {"N": (number % 4).to_string()}
        });
        if let Some(text) = text {
            item["t"] = json!({"S": text});
        }
        check_fine(&server, "PutItem", &json!({"TableName": "Rows", "Item": item}));
    }
    server
}

fn rows() -> impl Strategy<Value = Rows> {
    let text = prop::option::of("[ab]{1,2}");
    prop::collection::btree_map(("[xyz]", -6_i64..6), text, 0..24)
        .prop_map(|rows| rows.into_iter().map(|((h, n), t)| (h, n, t)).collect())
}

/// Reads page by page and puts the items together. `next` is the member of the answer that the next
/// request has under the name `start`.
fn pages(server: &Server, operation: &str, body: &Value, next: &str, start: &str) -> Vec<Value> {
    let (mut body, mut all) = (body.clone(), Vec::new());
    loop {
        let page = check_fine(server, operation, &body);
        all.extend(page.get("Items").and_then(Value::as_array).unwrap().iter().cloned());
        match page.get(next) {
            Some(token) => body[start] = token.clone(),
            None => return all,
        }
    }
}

fn selected(server: &Server, body: &Value) -> Vec<Value> {
    pages(server, "ExecuteStatement", body, "NextToken", "NextToken")
}

fn number(value: i64) -> Value {
    json!({"N": value.to_string()})
}

/// A condition on one attribute, as both languages write it, with values by position and by name.
#[derive(Debug, Clone)]
enum Relation {
    Compare(&'static str, i64),
    Between(i64, i64),
    /// Written with the value first.
    Turned(&'static str, i64),
}

impl Relation {
    fn statement(&self, attribute: &str) -> String {
        match self {
            Self::Compare(operator, bound) => format!("{attribute} {operator} {bound}"),
            Self::Between(lower, upper) => format!("{attribute} BETWEEN {lower} AND {upper}"),
            Self::Turned(operator, bound) => format!("{bound} {operator} {attribute}"),
        }
    }

    fn expression(&self, attribute: &str, values: &mut Value) -> String {
        let (lower, upper) = (format!(":{attribute}1"), format!(":{attribute}2"));
        let mirrored = |operator| match operator {
            "<" => ">",
            "<=" => ">=",
            ">" => "<",
            ">=" => "<=",
            other => other,
        };
        match self {
            Self::Compare(operator, bound) => {
                values[&lower] = number(*bound);
                format!("{attribute} {operator} {lower}")
            }
            Self::Between(from, to) => {
                (values[&lower], values[&upper]) = (number(*from), number(*to));
                format!("{attribute} BETWEEN {lower} AND {upper}")
            }
            Self::Turned(operator, bound) => {
                values[&lower] = number(*bound);
                format!("{attribute} {} {lower}", mirrored(operator))
            }
        }
    }
}

fn relation() -> impl Strategy<Value = Relation> {
    let operator = || prop::sample::select(vec!["=", "<", "<=", ">", ">="]);
    prop_oneof![
        (operator(), -7_i64..7).prop_map(|(operator, bound)| Relation::Compare(operator, bound)),
        (operator(), -7_i64..7).prop_map(|(operator, bound)| Relation::Turned(operator, bound)),
        (-7_i64..7, 0_i64..8).prop_map(|(lower, width)| Relation::Between(lower, lower + width)),
    ]
}

/// What a SELECT names: partitions, conditions, an index and an order.
#[derive(Debug, Clone)]
struct Asked {
    partitions: Vec<String>,
    sort: Option<Relation>,
    filter: Option<Relation>,
    prefix: Option<String>,
    index: Option<&'static str>,
    descending: Option<bool>,
    limit: Option<usize>,
}

fn asked() -> impl Strategy<Value = Asked> {
    (
        prop::collection::btree_set("[xyz]", 0..3),
        prop::option::of(relation()),
        prop::option::of(relation()),
        prop::option::of("[ab]"),
        prop::sample::select(vec![None, Some("by_t"), Some("own_t")]),
        prop::option::of(any::<bool>()),
        prop::option::of(1_usize..7),
    )
        .prop_map(|(partitions, sort, filter, prefix, index, descending, limit)| Asked {
            partitions: partitions.into_iter().collect(),
            sort,
            filter,
            prefix,
            index,
            descending,
            limit,
        })
}

impl Asked {
    fn statement(&self) -> Value {
        let quoted: Vec<String> = self.partitions.iter().map(|own| format!("'{own}'")).collect();
        let mut all = match quoted.as_slice() {
            [] => Vec::new(),
            [only] => vec![format!("h = {only}")],
            some => vec![format!("h IN [{}]", some.join(", "))],
        };
        all.extend(self.filter.as_ref().map(|filter| filter.statement("v")));
        all.extend(self.sort.as_ref().map(|sort| sort.statement("n")));
        all.extend(self.prefix.as_ref().map(|prefix| format!("begins_with(t, '{prefix}')")));
        let mut text = "SELECT * FROM \"Rows\"".to_owned();
        if let Some(index) = self.index {
            text.push_str(&format!(".\"{index}\""));
        }
        if !all.is_empty() {
            text.push_str(&format!(" WHERE {}", all.join(" AND ")));
        }
        if let (Some(descending), false) = (self.descending, self.partitions.is_empty()) {
            let sort = if self.index.is_some() { "t" } else { "n" };
            text.push_str(&format!(" ORDER BY {sort} {}", if descending { "DESC" } else { "ASC" }));
        }
        let mut body = json!({"Statement": text});
        if let Some(limit) = self.limit {
            body["Limit"] = json!(limit);
        }
        body
    }

    /// Returns the items of the same requests without statements.
    fn expected(&self, server: &Server) -> Vec<Value> {
        let mut values = json!({});
        let sort = self.sort.as_ref().map(|sort| sort.expression("n", &mut values));
        let prefix = self.prefix.as_ref().map(|prefix| {
            values[":p"] = json!({"S": prefix});
            "begins_with(t, :p)".to_owned()
        });
        let filter = self.filter.as_ref().map(|filter| filter.expression("v", &mut values));
        let mut request = json!({"TableName": "Rows"});
        if let Some(index) = self.index {
            request["IndexName"] = json!(index);
        }
        let is_query = !self.partitions.is_empty();
        let (of_key, other) = if self.index.is_some() { (prefix, sort) } else { (sort, prefix) };
        let key = of_key.clone().filter(|_| is_query);
        let rest = [of_key.filter(|_| !is_query), other, filter];
        let rest: Vec<String> = rest.into_iter().flatten().collect();
        if is_query && rest.iter().any(|text| text.starts_with(['n', 't', 'b'])) {
            return self.expected_by_scan(server);
        }
        if !rest.is_empty() {
            request["FilterExpression"] = json!(rest.join(" AND "));
        }
        let mut all = Vec::new();
        let start = "ExclusiveStartKey";
        for partition in &self.partitions {
            let mut request = request.clone();
            let mut values = values.clone();
            values[":h"] = json!({"S": partition});
            let condition = ["h = :h".to_owned()].into_iter().chain(key.clone());
            let condition: Vec<String> = condition.collect();
            request["KeyConditionExpression"] = json!(condition.join(" AND "));
            request["ExpressionAttributeValues"] = values;
            request["ScanIndexForward"] = json!(self.descending != Some(true));
            all.extend(pages(server, "Query", &request, "LastEvaluatedKey", start));
        }
        if is_query {
            return all;
        }
        if values != json!({}) {
            request["ExpressionAttributeValues"] = values;
        }
        pages(server, "Scan", &request, "LastEvaluatedKey", start)
    }

    /// Returns the items where a query would refuse to filter by a key: all of the partitions, and
    /// of them those that the conditions keep.
    fn expected_by_scan(&self, server: &Server) -> Vec<Value> {
        let whole = Self { sort: None, prefix: None, filter: None, limit: None, ..self.clone() };
        let value = |item: &Value, name: &str| -> Option<i64> {
            item.pointer(&format!("/{name}/N"))?.as_str()?.parse().ok()
        };
        let holds = |relation: &Option<Relation>, of: Option<i64>| match (relation, of) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(Relation::Compare(operator, bound)), Some(of)) => compare(of, operator, *bound),
            (Some(Relation::Turned(operator, bound)), Some(of)) => compare(*bound, operator, of),
            (Some(Relation::Between(lower, upper)), Some(of)) => (*lower..=*upper).contains(&of),
        };
        let begins = |item: &Value| {
            let text = item.pointer("/t/S").and_then(Value::as_str);
            self.prefix
                .as_ref()
                .is_none_or(|prefix| text.is_some_and(|text| text.starts_with(prefix.as_str())))
        };
        let kept = whole.expected(server).into_iter().filter(|item| {
            holds(&self.sort, value(item, "n"))
                && holds(&self.filter, value(item, "v"))
                && begins(item)
        });
        kept.collect()
    }
}

fn compare(one: i64, operator: &str, other: i64) -> bool {
    match operator {
        "=" => one == other,
        "<" => one < other,
        "<=" => one <= other,
        ">" => one > other,
        _ => one >= other,
    }
}

/// A write of one item: as a statement, and as the operation that it stands for.
#[derive(Debug, Clone)]
struct Written {
    statement: String,
    operation: &'static str,
    body: Value,
}

fn written() -> impl Strategy<Value = Written> {
    let text = prop::option::of("[ab]");
    let condition = prop::option::of(0_i64..4);
    let changes = prop::sample::select(vec![
        ("SET v = 3", "SET v = :three"),
        ("SET v = v + 1", "SET v = v + :one"),
        (
            "SET v = if_not_exists(v, 3) - 1 SET c = v",
            "SET v = if_not_exists(v, :three) - :one, c = v",
        ),
        ("REMOVE t", "REMOVE t"),
        ("SET m = {'a': [1]} REMOVE c", "SET m = :map REMOVE c"),
        ("SET m.a[0] = 3", "SET m.a[0] = :three"),
        ("SET m.a = list_append(m.a, [3])", "SET m.a = list_append(m.a, :list)"),
        ("SET s = set_add(s, <<'q'>>)", "ADD s :set"),
        ("SET s = set_delete(s, <<'q'>>)", "DELETE s :set"),
        ("SET n = 1", "SET n = :one"),
        ("SET t = 1", "SET t = :one"),
    ]);
    (0_usize..3, "[xy]", 0_i64..3, text, condition, changes).prop_map(
        |(kind, h, n, text, condition, (change, expression))| {
            let key = json!({"h": {"S": h}, "n": number(n)});
            let and = condition.map(|v| format!(" AND v = {v}")).unwrap_or_default();
            let place = format!("h = '{h}' AND n = {n}{and}");
            let values = json!({
                ":three": number(3), ":one": number(1), ":map": {"M": {"a": {"L": [number(1)]}}},
                ":list": {"L": [number(3)]}, ":set": {"SS": ["q"]}, ":v": number(condition.unwrap_or(0))
            });
            match kind {
                0 => {
                    let mut item = key;
                    item["v"] = number(0);
                    let mut given = format!("'h': '{h}', 'n': {n}, 'v': 0");
                    if let Some(text) = text {
                        item["t"] = json!({"S": text});
                        given.push_str(&format!(", 't': '{text}'"));
                    }
                    Written {
                        statement: format!("INSERT INTO \"Rows\" VALUE {{{given}}}"),
                        operation: "PutItem",
                        body: json!({"TableName": "Twin", "Item": item,
                            "ConditionExpression": "attribute_not_exists(h)"}),
                    }
                }
                1 => Written {
                    statement: format!("UPDATE \"Rows\" {change} WHERE {place}"),
                    operation: "UpdateItem",
                    body: json!({"TableName": "Twin", "Key": key, "UpdateExpression": expression,
                        "ConditionExpression": if condition.is_some() {
                            "attribute_exists(h) AND v = :v"
                        } else {
                            "attribute_exists(h)"
                        },
                        "ExpressionAttributeValues": used(values, expression, condition.is_some())}),
                },
                _ => {
                    let mut body = json!({"TableName": "Twin", "Key": key});
                    if condition.is_some() {
                        body["ConditionExpression"] = json!("attribute_not_exists(h) OR v = :v");
                        body["ExpressionAttributeValues"] = used(values, "", true);
                    }
                    let statement = format!("DELETE FROM \"Rows\" WHERE {place}");
                    Written { statement, operation: "DeleteItem", body }
                }
            }
        },
    )
}

/// Keeps the values that an expression names; none at all is no member.
fn used(values: Value, expression: &str, has_condition: bool) -> Value {
    let Value::Object(values) = values else { return Value::Null };
    let used: serde_json::Map<String, Value> = values
        .into_iter()
        .filter(|(name, _)| expression.contains(name.as_str()) || has_condition && name == ":v")
        .collect();
    if used.is_empty() { Value::Null } else { Value::Object(used) }
}

/// Returns what is wrong with an answer, without the words in which only statements say it.
fn fault((status, answer): &(u16, Value)) -> Option<String> {
    if *status == 200 {
        return None;
    }
    let of = answer.get("__type").and_then(Value::as_str).unwrap_or_default();
    let of = of.rsplit('#').next().unwrap_or_default();
    Some(match of {
        "DuplicateItemException" => "ConditionalCheckFailedException".to_owned(),
        other => other.to_owned(),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(160))]

    #[test]
    fn a_select_answers_what_queries_and_scans_answer(rows in rows(), asked in asked()) {
        let server = server(&rows);
        let found = selected(&server, &asked.statement());
        prop_assert_eq!(found, asked.expected(&server), "{}", asked.statement());
    }

    #[test]
    fn writes_leave_behind_what_the_operations_leave(
        writes in prop::collection::vec(written(), 1..16),
    ) {
        let server = Server::new();
        create(&server, "Rows");
        create(&server, "Twin");
        for write in &writes {
            let own = send(&server, "ExecuteStatement", &json!({"Statement": write.statement}));
            let other = send(&server, write.operation, &write.body);
            prop_assert_eq!(fault(&own), fault(&other), "{:?}: {:?} {:?}", write, own, other);
        }
        for index in [None, Some("by_t"), Some("own_t")] {
            let scan = |table: &str| {
                let mut request = json!({"TableName": table});
                if let Some(index) = index {
                    request["IndexName"] = json!(index);
                }
                check_fine(&server, "Scan", &request)["Items"].clone()
            };
            prop_assert_eq!(scan("Rows"), scan("Twin"));
        }
    }
}

/// Rows in which every number of pages is met: three partitions, some of them longer than a page.
fn many() -> Rows {
    let texts = |n: i64| (n % 3 > 0).then(|| format!("t{}", n % 5));
    let of =
        |h: &str, count: i64| -> Rows { (0..count).map(|n| (h.to_owned(), n, texts(n))).collect() };
    [of("x", 13), of("y", 1), of("z", 7)].concat()
}

/// SELECTs of every way to read.
const SELECTS: [&str; 8] = [
    "SELECT * FROM \"Rows\"",
    "SELECT * FROM \"Rows\" WHERE v > 1",
    "SELECT * FROM \"Rows\" WHERE h = 'x' ORDER BY n DESC",
    "SELECT * FROM \"Rows\" WHERE h IN ['z', 'x', 'y', 'q']",
    "SELECT * FROM \"Rows\" WHERE h IN ['z', 'x'] AND n IN [5, 1, 3, 40]",
    "SELECT * FROM \"Rows\" WHERE h = 'x' AND n < 3 OR h = 'x' AND n > 5 OR h = 'z'",
    "SELECT * FROM \"Rows\".\"by_t\" WHERE h IN ['x', 'z'] ORDER BY t DESC",
    "SELECT * FROM \"Rows\".\"own_t\" WHERE h = 'x' AND t >= 't2'",
];

#[test]
fn pages_of_any_size_put_together_are_the_whole() {
    let server = server(&many());
    for statement in SELECTS {
        let whole = selected(&server, &json!({"Statement": statement}));
        assert!(!whole.is_empty(), "{statement}");
        for limit in 1..=22 {
            let body = json!({"Statement": statement, "Limit": limit});
            assert_eq!(selected(&server, &body), whole, "{statement} by {limit}");
        }
    }
}

#[test]
fn a_page_goes_on_behind_an_item_that_is_gone_and_after_a_restart() {
    for statement in SELECTS {
        let mut server = server(&many());
        let whole = selected(&server, &json!({"Statement": statement}));
        let mut body = json!({"Statement": statement, "Limit": 2});
        let mut found = Vec::new();
        loop {
            let page = check_fine(&server, "ExecuteStatement", &body);
            let items = page.get("Items").and_then(Value::as_array).unwrap();
            for item in items {
                let key = json!({"h": item["h"], "n": item["n"]});
                check_fine(&server, "DeleteItem", &json!({"TableName": "Rows", "Key": key}));
            }
            found.extend(items.iter().cloned());
            server.reopen();
            match page.get("NextToken") {
                Some(token) => body["NextToken"] = token.clone(),
                None => break,
            }
        }
        assert_eq!(found, whole, "{statement}");
    }
}

#[test]
fn a_token_is_of_one_statement_and_its_parameters() {
    let server = server(&many());
    let page = |body: Value| {
        json!({"Limit": 1, "Statement": "SELECT * FROM \"Rows\" WHERE h = ?",
        "Parameters": [{"S": "x"}]})
        .as_object()
        .unwrap()
        .clone()
        .into_iter()
        .chain(body.as_object().unwrap().clone())
        .collect::<Value>()
    };
    let first = check_fine(&server, "ExecuteStatement", &page(json!({})));
    let token = &first["NextToken"];
    let same = page(json!({"NextToken": token}));
    let second = check_fine(&server, "ExecuteStatement", &same);
    assert_eq!(check_fine(&server, "ExecuteStatement", &same), second);
    let of_another = "NextToken does not match request";
    for other in [
        json!({"NextToken": token, "Parameters": [{"S": "z"}]}),
        json!({"NextToken": token, "Statement": "SELECT * FROM \"Rows\"  WHERE h = ?"}),
    ] {
        check_refused(&server, "ExecuteStatement", &page(other), of_another);
    }
    let text = token.as_str().unwrap();
    let cut = text.get(..text.len() - 4).unwrap();
    let turned: String = text.chars().rev().collect();
    for bad in ["x", cut, turned.as_str(), "AAAAAAAAAAAAAAAAAAAAAAAA"] {
        let body = page(json!({"NextToken": bad}));
        check_refused(&server, "ExecuteStatement", &body, "Invalid NextToken");
    }
}

#[test]
fn a_statement_has_at_most_8192_characters() {
    let server = server(&many());
    let padded = |chars: usize| {
        let text = "SELECT * FROM \"Rows\" WHERE h = 'é'";
        format!("{text}{}", " ".repeat(chars - text.chars().count()))
    };
    check_fine(&server, "ExecuteStatement", &json!({"Statement": padded(8192)}));
    let text = "Member must have length less than or equal to 8192";
    check_refused(&server, "ExecuteStatement", &json!({"Statement": padded(8193)}), text);
    let text = "Member must have length greater than or equal to 1";
    check_refused(&server, "ExecuteStatement", &json!({"Statement": ""}), text);
}

#[test]
fn statements_nest_to_a_depth_and_not_deeper() {
    let server = server(&many());
    for (open, close) in [("(", ")"), ("NOT ", ""), ("NOT (", ")"), ("[", "]"), ("- ", "")] {
        for depth in [20, 90, 200, 1500] {
            let text = format!(
                "SELECT * FROM \"Rows\" WHERE {}v = 1{}",
                open.repeat(depth),
                close.repeat(depth)
            );
            let (status, answer) = send(&server, "ExecuteStatement", &json!({"Statement": text}));
            assert!(status == 200 || status == 400, "{open} {depth}: {answer}");
            assert!(depth < 200 || status == 400, "{open} {depth}: {answer}");
            assert!(depth > 90 || open != "(" || status == 200, "{open} {depth}: {answer}");
        }
    }
}

#[test]
fn lists_of_in_and_of_statements_have_their_limits() {
    let server = server(&many());
    let texts = |count: usize| (0..count).map(|at| format!("'{at}'")).collect::<Vec<_>>().join(",");
    let select = |attribute: &str, count: usize| json!({"Statement": format!("SELECT * FROM \"Rows\" WHERE {attribute} IN [{}]", texts(count))});
    for (attribute, most) in [("h", 50), ("t", 100)] {
        check_fine(&server, "ExecuteStatement", &select(attribute, most));
        let (status, answer) = send(&server, "ExecuteStatement", &select(attribute, most + 1));
        assert_eq!(status, 400, "{attribute}: {answer}");
    }
    for (operation, member, most) in [
        ("BatchExecuteStatement", "Statements", 25),
        ("ExecuteTransaction", "TransactStatements", 100),
    ] {
        let request = |count: usize| {
            let one = |at| json!({"Statement": format!("DELETE FROM \"Rows\" WHERE h = 'q' AND n = {at}")});
            json!({member: (0..count).map(one).collect::<Vec<_>>()})
        };
        check_fine(&server, operation, &request(most));
        let text = format!("Member must have length less than or equal to {most}");
        check_refused(&server, operation, &request(most + 1), &text);
        check_refused(&server, operation, &request(0), "Member must have length greater than");
    }
}

#[test]
fn a_condition_has_at_most_300_operators() {
    let server = server(&many());
    let select = |terms: usize| {
        let terms: Vec<&str> = (0..terms).map(|_| "v=1").collect();
        json!({"Statement": format!("SELECT * FROM \"Rows\" WHERE {}", terms.join(" OR "))})
    };
    // Each term but the first has an OR before it.
    check_fine(&server, "ExecuteStatement", &select(150));
    let (status, answer) = send(&server, "ExecuteStatement", &select(151));
    assert_eq!(status, 400, "{answer}");
}
