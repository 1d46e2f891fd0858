//! Unique values that writes change: each wrong plan stands beside its nearest neighbour, which takes a
//! value from nobody.

use super::together::statuses;
use shelfmark_design::Document;

const USERS: &str = "type nm = text(min 1, max 20)
entity U { key id: nm  mail: nm unique  nick: nm }
";

/// A request that puts the row of a changed unique value asks that nobody has it, or is its own.
#[test]
fn a_changed_unique_value_is_asked_for() {
    let text = format!(
        "{USERS}write change(i, e) = update U(id i) set mail = e
write checked(i, e, o) = update U(id i) set mail = e if mail = o
write replace(i, e, n) = insert U(id i, mail e, nick n) or replace
schema d target dynamodb {{ table usr from U key (id;) store all
  table uma from U key (mail;) store all
  write checked {{ read usr where id = i ; transaction {{ patch usr ; delete uma ; put uma }} }} }}
schema c target cql {{ table usr from U key (id;) store all
  table uma from U key (mail;) store all }}
"
    );
    let of = |schema: &str| -> Vec<String> {
        let all = statuses(&text);
        all.into_iter().filter(|one| one.starts_with(schema)).collect()
    };
    assert_eq!(of("d"), ["d.change certified", "d.checked certified", "d.replace certified"]);
    // Its condition is the base row's, and only one row can be the first.
    assert_eq!(of("c"), ["c.change certified", "c.checked refused", "c.replace certified"]);
    let document = Document::parse("unique", &text).expect("a model");
    let said = |schema: &str, pattern: &str| {
        document.calls(schema, Some(pattern)).expect("requests").text()
    };
    for pattern in ["change", "checked", "replace"] {
        let found = said("d", pattern);
        assert!(found.contains("attribute_not_exists(#key)"), "{found}");
        assert!(found.contains("other than"), "the same value stays allowed: {found}");
    }
    for (pattern, base) in [("change", "UPDATE usr"), ("replace", "INSERT INTO usr")] {
        let found = said("c", pattern);
        let at = |words: &str| found.find(words).unwrap_or_else(|| panic!("{words}: {found}"));
        assert!(at("INSERT INTO uma") < at(base), "{found}");
        assert!(at("IF NOT EXISTS") < at("DELETE FROM uma"), "{found}");
    }
}

/// Outside of a transaction a unique value is taken before anything else changes.
#[test]
fn a_unique_value_is_taken_first() {
    let text = |steps: &str| {
        format!(
            "{USERS}write change(i, e) = update U(id i) set mail = e
schema s target dynamodb {{ table usr from U key (id;) store all
  table uma from U key (mail;) store all
  write change {{ read usr where id = i ; {steps} }} }}
"
        )
    };
    let of = |steps: &str| statuses(&text(steps));
    assert_eq!(of("patch usr ; delete uma ; put uma"), ["s.change refused"]);
    assert_eq!(of("delete uma ; put uma ; patch usr"), ["s.change refused"]);
    assert_eq!(of("patch usr ; transaction { delete uma ; put uma }"), ["s.change refused"]);
    assert_eq!(of("put uma ; patch usr ; delete uma"), ["s.change certified"]);
    assert_eq!(of("transaction { delete uma ; put uma } patch usr"), ["s.change certified"]);
    assert_eq!(of("transaction { patch usr ; delete uma ; put uma }"), ["s.change certified"]);
}

/// What never changes is not known to be a tuple's own where it is put in the place of another.
#[test]
fn what_replaces_by_a_lasting_unique_value_may_be_anothers() {
    let text = |key: &str| {
        format!(
            "type nm = text(min 1, max 20)
entity U {{ key id: nm  mail: nm unique immutable  nick: nm }}
write replace(i, e, n) = insert U(id i, mail e, nick n) or replace
schema s target dynamodb {{ table usr from U key (id;) store all  table uma from U {key} store all }}
"
        )
    };
    assert_eq!(statuses(&text("key (mail;)")), ["s.replace refused"]);
    assert_eq!(statuses(&text("key (mail; id)")), ["s.replace certified"]);
}

/// Without a transaction an insert knows before it changes anything that its unique values are free.
#[test]
fn an_inserted_unique_value_is_looked_for() {
    let text = |steps: &str| {
        format!(
            "{USERS}write sign(i, e, n) = insert U(id i, mail e, nick n)
schema s target cql {{ table usr from U key (id;) store all
  table uma from U key (mail;) store all {steps} }}
"
        )
    };
    let of = |steps: &str| statuses(&text(&format!("write sign {{ {steps} }}")));
    assert_eq!(of("put usr ; put uma"), ["s.sign refused"]);
    assert_eq!(of("put uma ; put usr"), ["s.sign refused"]);
    // The row under another value says nothing of this one.
    assert_eq!(of("read usr where id = i ; put usr ; put uma"), ["s.sign refused"]);
    assert_eq!(of("read uma where mail = e ; put uma ; put usr"), ["s.sign refused"]);
    assert_eq!(of("read uma where mail = e ; put usr ; put uma"), ["s.sign certified"]);
    let document = Document::parse("unique", &text("")).expect("a model");
    assert_eq!(statuses(&text("")), ["s.sign certified"]);
    let found = document.calls("s", Some("sign")).expect("requests").text();
    let at = |words: &str| found.find(words).unwrap_or_else(|| panic!("{words}: {found}"));
    assert!(at("SELECT") < at("INSERT INTO usr"), "{found}");
    assert!(at("INSERT INTO usr") < at("INSERT INTO uma"), "{found}");
}

/// A changed unique value is one transaction of DynamoDB: the row under the old value goes, the one under the
/// new value is put where there is none, and the tuple's own row still has the old value.
#[test]
fn a_changed_unique_value_is_one_transaction() {
    let text = |lines: &str| {
        format!(
            "{USERS}write set(i, e) = update U(id i) set mail = e
schema s target dynamodb {{ table usr from U key (id;) store all
  table uma from U key (mail;) store {{ id }} {lines} }}
"
        )
    };
    let apart = "write set { read usr where id = i ; put uma ; patch usr ; delete uma }";
    for (lines, together) in [("", true), (apart, false)] {
        assert_eq!(statuses(&text(lines)), ["s.set certified"]);
        let document = Document::parse("unique", &text(lines)).expect("a model");
        let found = document.calls("s", Some("set")).expect("requests").json();
        let calls = found["calls"].as_array().expect("calls");
        let transaction = calls.iter().find(|one| one["operation"] == "TransactWriteItems");
        assert_eq!(transaction.is_some(), together, "{found}");
        let Some(parts) = transaction.map(|one| one["request"]["TransactItems"].clone()) else {
            continue;
        };
        assert_eq!(calls.len(), 2, "{found}");
        let update = parts.as_array().expect("parts").iter().find_map(|one| one.get("Update"));
        let update = update.expect("an update").to_string();
        assert!(update.contains("AND #c0 = :c0"), "{update}");
        assert!(update.contains(r#"{"$row":"mail","step":1}"#), "{update}");
        assert!(parts.to_string().contains("attribute_not_exists"), "{parts}");
    }
    let planned = Document::parse("unique", &text("")).expect("a model");
    let planned = planned.plan("dynamodb", "planned").expect("a plan").schema;
    assert!(planned.contains("; transaction {"), "{planned}");
}
