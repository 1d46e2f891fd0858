//! Nesting ends at a limit, not at the end of the stack.

use shelfmark_cql_syntax::{DEPTH_MAX, parse, parse_type};

fn refused(text: &str) {
    let error = parse(text).unwrap_err();
    let expected = format!("statement is nested deeper than {DEPTH_MAX} levels");
    assert!(error.message().contains(&expected), "{}", error.message());
}

#[test]
fn what_is_nested_too_deep_is_refused() {
    let many = 20_000;
    let nested = |open: &str, close: &str| format!("{}1{}", open.repeat(many), close.repeat(many));
    for (open, close) in [("(", ")"), ("[", "]"), ("{", "}"), ("f(", ")"), ("(int)", "")] {
        let term = nested(open, close);
        refused(&format!("INSERT INTO t (a) VALUES ({term})"));
        refused(&format!("SELECT * FROM t WHERE a = {term}"));
        refused(&format!("SELECT {term} FROM t"));
    }
    refused(&format!("SELECT {} FROM t", nested("CAST(", " AS int)")));
    refused(&format!("SELECT a{} FROM t", ".b".repeat(many)).replace(" FROM", " AS c FROM"));
    refused(&format!("SELECT a FROM t WHERE {}", nested("((", ")")));
    refused(&format!("CREATE TABLE t (a {}int)", "list<".repeat(many)));
}

#[test]
fn chains_count_as_nesting() {
    for sign in ["+", "-", "*", "/", "%"] {
        let chain = vec!["a(1)"; 20_000].join(&format!(" {sign} "));
        refused(&format!("INSERT INTO t (a) VALUES ({chain})"));
        refused(&format!("SELECT {chain} FROM t"));
    }
}

#[test]
fn what_people_write_is_far_from_the_limit() {
    let deep = DEPTH_MAX / 2 - 2;
    let nested = format!("{}1{}", "[".repeat(deep), "]".repeat(deep));
    assert!(parse(&format!("INSERT INTO t (a) VALUES ({nested})")).is_ok());
    let nested = format!("{}int{}", "frozen<list<".repeat(deep), ">>".repeat(deep));
    assert!(parse_type(&nested).is_ok());
    let chain = vec!["1"; deep].join(" + ");
    assert!(parse(&format!("SELECT {chain} FROM t")).is_ok());
}
