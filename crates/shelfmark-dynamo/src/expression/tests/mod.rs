mod property;

use std::collections::BTreeMap;

use shelfmark_model::{Comparison, Operand, PatchOperation, PatchValue, Path, Step, Value};

use super::*;
use crate::limits::{EXPRESSION_DEPTH_MAX, EXPRESSION_OPERATORS_MAX};

const ALL: [(Kind, bool); 5] = [
    (Kind::Condition, true),
    (Kind::Filter, true),
    (Kind::KeyCondition, true),
    (Kind::Projection, true),
    (Kind::Update, true),
];

/// `#n` is "n.n", `#s` is "status"; `:n` is 1, `:s` is "s", `:t` is the set of "s", `:l` a list.
fn placeholders() -> Placeholders {
    let names =
        [("#n", "n.n"), ("#s", "status")].map(|(key, name)| (key.to_owned(), name.to_owned()));
    let body = br#"{"v":{":n":{"N":"1"},":s":{"S":"s"},":t":{"SS":["s"]},":l":{"L":[]}}}"#;
    let mut values = None;
    crate::json::Reader::body(body, |reader, _| {
        values = reader.checked_map()?;
        Ok(())
    })
    .unwrap();
    Placeholders::check(
        Given { names: Some(BTreeMap::from(names)), values, ..Given::default() },
        &ALL,
    )
    .unwrap()
}

fn check_refused(kind: Kind, source: &str, expected: &str) {
    let placeholders = placeholders();
    let error = match kind {
        Kind::Update => placeholders.update(Some(source)).unwrap_err(),
        Kind::SearchCondition => placeholders.search_condition(Some(source)).unwrap_err(),
        Kind::Projection => placeholders.projection(Some(source)).unwrap_err(),
        Kind::KeyCondition => placeholders.key_condition(Some(source)).unwrap_err(),
        Kind::Condition | Kind::Filter => placeholders.condition(kind, Some(source)).unwrap_err(),
    };
    let message = error.message.strip_prefix(&format!("Invalid {}: ", kind.member()));
    assert_eq!(message.unwrap_or(&error.message), expected, "{source}");
}

fn condition(source: &str) -> Condition {
    placeholders().condition(Kind::Condition, Some(source)).unwrap().unwrap()
}

fn at(name: &str) -> Path {
    Path::attribute(name)
}

fn exists(name: &str) -> Condition {
    Condition::Exists(at(name))
}

#[test]
fn operators_bind_as_they_should() {
    let [a, b, c] = ["a1", "b1", "c1"].map(exists);
    let [x, y, z] = ["a1", "b1", "c1"].map(|name| format!("attribute_exists({name})"));
    let check = |source: String, expected: Condition| assert_eq!(condition(&source), expected);
    check(
        format!("{x} OR {y} AND {z}"),
        Condition::Or(vec![a.clone(), Condition::And(vec![b.clone(), c.clone()])]),
    );
    check(
        format!("({x} or {y}) and {z}"),
        Condition::And(vec![Condition::Or(vec![a.clone(), b.clone()]), c.clone()]),
    );
    check(
        format!("NOT {x} AND NOT ({y})"),
        Condition::And(vec![
            Condition::Not(Box::new(a.clone())),
            Condition::Not(Box::new(b.clone())),
        ]),
    );
    check(format!("{x} AND {y} AND {z}"), Condition::And(vec![a, b, c]));
}

#[test]
fn parentheses_may_stand_around_operands_and_conditions() {
    let equal = condition("a1 = :n");
    for source in ["(a1) = (:n)", "(a1 = :n)", "( (a1) = :n )", "a1 = (:n)"] {
        assert_eq!(condition(source), equal, "{source}");
    }
    for source in ["((a1)) = :n", "((a1 = :n))", "a1 = ((:n))", "(((a1 = :n)))"] {
        check_refused(Kind::Condition, source, texts::REDUNDANT_PARENTHESES);
    }
}

#[test]
fn paths_and_placeholders() {
    let path = Path {
        attribute: "n.n".to_owned(),
        steps: vec![Step::Index(3), Step::Name("c1".to_owned()), Step::Name("status".to_owned())],
    };
    assert_eq!(condition("attribute_exists(#n [ 3 ] . c1.#s)"), Condition::Exists(path));
    let size = Operand::Size(at("a1"));
    let one = Operand::Value(Value::number(1));
    assert_eq!(
        condition("size(a1)>=:n"),
        Condition::Compare(Comparison::GreaterOrEqual, size, one)
    );
}

/// Refused conditions, and the words for each.
const REFUSED_CONDITIONS: &[(&str, &str)] = &[
    ("a1", r#"Syntax error; token: "<EOF>", near: "a1""#),
    ("a1 = ", r#"Syntax error; token: "<EOF>", near: "= ""#),
    ("_a1 = :n", r#"Syntax error; token: "_", near: "_a1""#),
    ("a1[01] = :n", r#"Syntax error; token: "1", near: "01]""#),
    ("add = :n", r#"Syntax error; token: "add", near: "add =""#),
    ("NOT a1", r#"Syntax error; token: "<EOF>", near: "a1""#),
    ("(NOT a1)", r#"Syntax error; token: ")", near: "a1)""#),
    ("(a1 = :n", r#"Syntax error; token: "<EOF>", near: ":n""#),
    ("a1 = :n)", r#"Syntax error; token: ")", near: ":n)""#),
    ("a1 == :n", r#"Syntax error; token: "=", near: "== :n""#),
    ("a1 = :n b1", r#"Syntax error; token: "b1", near: ":n b1""#),
    ("a1 = 1", r#"Syntax error; token: "1", near: "= 1""#),
    ("a1 = \"x\"", r#"Syntax error; token: """, near: "= "x""#),
    ("a1[x] = :n", r#"Syntax error; token: "x", near: "[x]""#),
    (
        "a1[99999999999999999999] = :n",
        "List index is not within the allowable range; index: [99999999999999999999]",
    ),
    ("AND = :n", r#"Syntax error; token: "AND", near: "AND =""#),
    ("a1 IN ()", r#"Syntax error; token: ")", near: "()""#),
    ("a1 BETWEEN :n OR :n", r#"Syntax error; token: "OR", near: ":n OR :n""#),
    ("# = :n", r##"Syntax error; token: "#", near: "# =""##),
    ("ä = :n", r#"Syntax error; token: "ä", near: "ä =""#),
    ("name = :n", "Attribute name is a reserved keyword; reserved keyword: name"),
    ("a1.Size = :n", "Attribute name is a reserved keyword; reserved keyword: Size"),
    (
        "#q = :n",
        "An expression attribute name used in the document path is not defined; attribute name: #q",
    ),
    (
        "a1 = :q",
        "An expression attribute value used in expression is not defined; attribute value: :q",
    ),
    ("exists(a1)", "Invalid function name; function: exists"),
    ("Size(a1) = :n", "Invalid function name; function: Size"),
    (
        "contains(a1, begins_with(b1, :s))",
        "The function is not allowed to be used this way in an expression; function: begins_with",
    ),
    (
        "a1 = attribute_exists(b1)",
        "The function is not allowed to be used this way in an expression; function: attribute_exists",
    ),
    (
        "size(a1)",
        "The function is not allowed to be used this way in an expression; function: size",
    ),
    (
        "contains(a1)",
        "Incorrect number of operands for operator or function; operator or function: contains, number of operands: 1",
    ),
    (
        "size(a1, b1) = :n",
        "Incorrect number of operands for operator or function; operator or function: size, number of operands: 2",
    ),
    (
        "size(:n) = :n",
        "Incorrect operand type for operator or function; operator or function: size, operand type: N",
    ),
    (
        "attribute_type(a1, b1)",
        "Incorrect operand type for operator or function; operator or function: attribute_type, operand type: {NS,SS,L,BS,N,M,B,BOOL,NULL,S}",
    ),
    (
        "attribute_type(a1, :s)",
        "Invalid attribute type name found; type: s, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}",
    ),
    (
        "a1 BETWEEN :n AND :s",
        "The BETWEEN operator requires same data type for lower and upper bounds; lower bound operand: AttributeValue: {N:1}, upper bound operand: AttributeValue: {S:s}",
    ),
    (
        "a1 < :t",
        "Incorrect operand type for operator or function; operator or function: <, operand type: SS",
    ),
    (
        "a1 <> a1",
        "The first operand must be distinct from the remaining operands for this operator or function; operator: <>, first operand: [a1]",
    ),
];

#[test]
fn refused_conditions() {
    for (source, expected) in REFUSED_CONDITIONS {
        check_refused(Kind::Condition, source, expected);
    }
}

#[test]
fn which_of_two_faults_is_reported() {
    // Parentheses, then functions, then reserved words, then names and values.
    check_refused(Kind::Condition, "((a1 = :q))", texts::REDUNDANT_PARENTHESES);
    check_refused(Kind::Condition, "nope(name)", &texts::unknown_function("nope"));
    check_refused(Kind::Condition, "a1 = :q AND name = :n", &texts::reserved_word("name"));
    check_refused(
        Kind::Condition,
        "begins_with(a1) AND a1 = :q",
        &texts::operand_count("begins_with", 1),
    );
}

#[test]
fn limits_hold_and_nothing_overflows() {
    let nots = |count: usize| format!("{}attribute_exists(a1)", "NOT ".repeat(count));
    let parses = |source: &str| placeholders().condition(Kind::Condition, Some(source)).is_ok();
    // A function is an operator like the others.
    assert!(parses(&nots(EXPRESSION_OPERATORS_MAX - 1)));
    let too_many = texts::expression_operators(EXPRESSION_OPERATORS_MAX + 1);
    check_refused(Kind::Condition, &nots(EXPRESSION_OPERATORS_MAX), &too_many);
    // Parentheses count as nothing: only what is in them does.
    let nested = |count: usize| format!("a1=:n{}{}", " OR (a1=:n".repeat(count), ")".repeat(count));
    assert!(parses(&nested(149)));
    check_refused(Kind::Condition, &nested(150), &too_many);
    let negated = "NOT (".repeat(299);
    assert!(parses(&format!("{negated}attribute_exists(a1){}", ")".repeat(299))));
    let wrapped = format!("{}a1=:n{}", "(".repeat(2_000), ")".repeat(2_000));
    check_refused(Kind::Condition, &wrapped, texts::REDUNDANT_PARENTHESES);
    check_refused(Kind::Condition, &"(".repeat(4_096), &texts::syntax_error("<EOF>", "("));
    let deep = |count: usize| format!("a1 = {}:n{}", "(".repeat(count), ")".repeat(count));
    check_refused(Kind::Condition, &deep(EXPRESSION_DEPTH_MAX), texts::REDUNDANT_PARENTHESES);
    check_refused(Kind::Condition, &deep(EXPRESSION_DEPTH_MAX + 1), texts::EXPRESSION_TOO_DEEP);
    check_refused(Kind::Condition, &"size(".repeat(800), texts::EXPRESSION_TOO_DEEP);
    check_refused(
        Kind::Update,
        &format!("SET a1 = {}", "(".repeat(4_000)),
        texts::EXPRESSION_TOO_DEEP,
    );
    check_refused(
        Kind::Update,
        &format!("SET a1 = {}", "list_append(a1,".repeat(250)),
        texts::EXPRESSION_TOO_DEEP,
    );
    let ors = |count: usize| vec!["a1=:n"; count].join(" OR ");
    // Each comparison is an operator, and so is each OR between them.
    let most = EXPRESSION_OPERATORS_MAX.div_ceil(2);
    assert!(placeholders().condition(Kind::Filter, Some(&ors(most))).is_ok());
    check_refused(Kind::Filter, &ors(most + 1), &texts::expression_operators(301));
    check_refused(Kind::Filter, &" ".repeat(4_097), &texts::expression_size(Some(4_097)));
    let among = |count: usize| format!("a1 IN ({})", vec![":n"; count].join(","));
    assert!(placeholders().condition(Kind::Filter, Some(&among(100))).is_ok());
    check_refused(Kind::Filter, &among(101), &texts::in_operand_count(101));
}

#[test]
fn updates() {
    let update = |source: &str| placeholders().update(Some(source)).unwrap().unwrap().operations;
    let value = |name: &str| PatchValue::Operand(Operand::Path(at(name)));
    let one = PatchValue::Operand(Operand::Value(Value::number(1)));
    assert_eq!(
        update("REMOVE a1, b1[2] set c1=d1-:n,e1 = if_not_exists(e1, :n) add f1 :n delete g1 :t"),
        vec![
            PatchOperation::Remove(at("a1")),
            PatchOperation::Remove(Path {
                attribute: "b1".to_owned(),
                steps: vec![Step::Index(2)]
            }),
            PatchOperation::Set(
                at("c1"),
                PatchValue::Minus(Box::new(value("d1")), Box::new(one.clone()))
            ),
            PatchOperation::Set(at("e1"), PatchValue::IfNotExists(at("e1"), Box::new(one))),
            PatchOperation::Add(at("f1"), Value::number(1)),
            PatchOperation::Subtract(at("g1"), Value::set(vec!["s".into()])),
        ]
    );
    let nested = update("SET a1 = list_append(if_not_exists(a1, :l), (:l))");
    assert_eq!(nested.len(), 1);
    assert_eq!(update("SET a1 = (b1 + :n)"), update("SET a1 = b1 + :n"));
}

/// Refused updates, and the words for each.
const REFUSED_UPDATES: &[(&str, &str)] = &[
    ("SET", r#"Syntax error; token: "<EOF>", near: "SET""#),
    ("a1 = :n", r#"Syntax error; token: "a1", near: "a1 =""#),
    ("SET a1 :n", r#"Syntax error; token: ":n", near: "a1 :n""#),
    ("SET a1 = :n,", r#"Syntax error; token: "<EOF>", near: ",""#),
    ("SET a1 = :n REMOVE", r#"Syntax error; token: "<EOF>", near: "REMOVE""#),
    ("ADD a1 b1", r#"Syntax error; token: "b1", near: "a1 b1""#),
    ("SET in = :n", r#"Syntax error; token: "in", near: "SET in =""#),
    ("SET a1 = (b1 + :n) + :n", r#"Syntax error; token: "+", near: ") + :n""#),
    ("SET a1 = ((b1))", "The expression has redundant parentheses;"),
    (
        "SET a1 = list_append(list_append(b1, b1), b1)",
        "The function is not allowed to be used this way in an expression; function: list_append",
    ),
    (
        "SET a1 = list_append(b1, b1) + :n",
        "The function is not allowed to be used this way in an expression; function: list_append",
    ),
    ("SET a1 = size(b1)", "The function is not allowed in an update expression; function: size"),
    ("SET a1 = sizes(b1)", "Invalid function name; function: sizes"),
    (
        "SET a1[0] = :n, a1.b1 = :n",
        "Two document paths conflict with each other; must remove or rewrite one of these paths; \
         path one: [a1, [0]], path two: [a1, b1]",
    ),
    (
        "SET a1 = if_not_exists(:n, :n)",
        "Operator or function requires a document path; operator or function: if_not_exists",
    ),
    (
        "SET a1 = list_append(b1)",
        "Incorrect number of operands for operator or function; operator or function: list_append, number of operands: 1",
    ),
    (
        "SET a1 = list_append(b1, :n)",
        "Incorrect operand type for operator or function; operator or function: list_append, operand type: N",
    ),
    (
        "SET a1 = :n + :s",
        "Incorrect operand type for operator or function; operator or function: +, operand type: S",
    ),
    (
        "SET a1 = :q, #q = :n",
        "An expression attribute name used in the document path is not defined; attribute name: #q",
    ),
    (
        "SET a1 = :n REMOVE a1.b1",
        "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a1], path two: [a1, b1]",
    ),
    (
        "REMOVE a1[1], a1.b1",
        "Two document paths conflict with each other; must remove or rewrite one of these paths; path one: [a1, [1]], path two: [a1, b1]",
    ),
    (
        "ADD a1 :s",
        "Incorrect operand type for operator or function; operator: ADD, operand type: STRING, typeSet: ALLOWED_FOR_ADD_OPERAND",
    ),
    (
        "DELETE a1 :l",
        "Incorrect operand type for operator or function; operator: DELETE, operand type: LIST, typeSet: ALLOWED_FOR_DELETE_OPERAND",
    ),
];

#[test]
fn refused_updates() {
    for (source, expected) in REFUSED_UPDATES {
        check_refused(Kind::Update, source, expected);
    }
}

#[test]
fn key_conditions() {
    let conditions = placeholders().key_condition(Some("a1 = :s AND (:n < b1)")).unwrap().unwrap();
    let relation = |name: &str| {
        conditions.iter().find(|one| one.attribute == name).map(|one| one.relation.clone())
    };
    assert_eq!(relation("a1"), Some(KeyRelation::Equal("s".into())));
    assert_eq!(relation("b1"), Some(KeyRelation::Greater(Value::number(1))));
    for (source, expected) in [
        ("a1 = :s OR b1 = :s", "Invalid operator used in KeyConditionExpression: OR"),
        ("NOT a1 = :s", "Invalid operator used in KeyConditionExpression: NOT"),
        ("a1 <> :s", "Invalid operator used in KeyConditionExpression: <>"),
        ("a1 IN (:s)", "Invalid operator used in KeyConditionExpression: IN"),
        (
            "attribute_exists(a1)",
            "Invalid operator used in KeyConditionExpression: attribute_exists",
        ),
        ("a1.b1 = :s", "KeyConditionExpressions cannot have conditions on nested attributes"),
        ("a1 = b1", texts::KEY_CONDITION_TWO_NAMES),
        (":s = :s", texts::KEY_CONDITION_NO_NAME),
        ("size(a1) = :n", texts::KEY_CONDITION_OPERATIONS),
        (
            "begins_with(:s, a1)",
            "Invalid condition in KeyConditionExpression: begins_with operator must have the key attribute as its first operand",
        ),
        ("a1 = :s AND a1 = :n", "KeyConditionExpressions must only contain one condition per key"),
    ] {
        check_refused(Kind::KeyCondition, source, expected);
    }
}

#[test]
fn relations_hold_for_the_keys_they_name() {
    let two = || Value::number(2);
    for (relation, number, expected) in [
        (KeyRelation::Equal(two()), 2, true),
        (KeyRelation::Less(two()), 2, false),
        (KeyRelation::LessOrEqual(two()), 2, true),
        (KeyRelation::Greater(two()), 3, true),
        (KeyRelation::GreaterOrEqual(two()), 1, false),
        (KeyRelation::Between(two(), Value::number(4)), 4, true),
        (KeyRelation::Between(two(), Value::number(4)), 5, false),
    ] {
        assert_eq!(relation.holds(&Value::number(number)), expected, "{relation:?}");
    }
    assert!(KeyRelation::BeginsWith("ab".into()).holds(&"abc".into()));
    assert!(!KeyRelation::BeginsWith("ab".into()).holds(&"a".into()));
    assert!(!KeyRelation::BeginsWith("ab".into()).holds(&two()));
}

#[test]
fn all_entries_must_be_used() {
    let unused = |names: &[&str], values: &str| {
        let names = names.iter().map(|name| ((*name).to_owned(), "x".to_owned())).collect();
        let mut read = None;
        crate::json::Reader::body(format!("{{\"v\":{values}}}").as_bytes(), |reader, _| {
            read = reader.checked_map()?;
            Ok(())
        })
        .unwrap();
        let given = Given { names: Some(names), values: read, ..Given::default() };
        let placeholders = Placeholders::check(given, &ALL).unwrap();
        placeholders.condition(Kind::Condition, Some("#a = :a")).unwrap();
        placeholders.all_used().map_err(|error| error.message)
    };
    assert_eq!(unused(&["#a"], r#"{":a":{"N":"1"}}"#), Ok(()));
    assert_eq!(
        unused(&["#a", "#b"], r#"{":a":{"N":"1"},":z":{"N":"1"}}"#),
        Err(texts::map_unused("ExpressionAttributeNames", &["#b"]))
    );
    assert_eq!(
        unused(&["#a"], r#"{":a":{"N":"1"},":y":{"N":"1"},":z":{"N":"1"}}"#),
        Err(texts::map_unused("ExpressionAttributeValues", &[":y", ":z"]))
    );
}
