//! Names, markers, places.

use shelfmark_cql_syntax::ast::{Statement, Term};
use shelfmark_cql_syntax::{parse, parse_term, parse_type, quoted_name, quoted_string};

#[test]
fn markers_are_numbered_in_the_order_of_the_text() {
    let text = "INSERT INTO t (a, b) VALUES (?, [:X, (int) ?]) USING TTL :ttl AND TIMESTAMP ?";
    let parsed = parse(text).unwrap();
    let names: Vec<Option<&str>> =
        parsed.markers.iter().map(|marker| Some(marker.name.as_ref()?.as_str())).collect();
    assert_eq!(names, [None, Some("x"), None, Some("ttl"), None]);
    let spans: Vec<&str> = parsed.markers.iter().map(|marker| marker.span.text(text)).collect();
    assert_eq!(spans, ["?", ":X", "?", ":ttl", "?"]);
}

#[test]
fn markers_of_a_failed_attempt_are_not_counted() {
    for text in ["SELECT distinct, ? FROM t", "SELECT json - f(?) FROM t", "SELECT (a), ? FROM t"] {
        assert_eq!(parse(text).unwrap().markers.len(), 1, "{text}");
    }
}

#[test]
fn names_fold_unless_quoted_and_know_their_place() {
    let text = "USE  MyKeyspace";
    let Statement::Use(name) = parse(text).unwrap().statement else { panic!() };
    assert_eq!(name.as_str(), "mykeyspace");
    assert_eq!(name.span().text(text), "MyKeyspace");
    let Statement::Use(name) = parse("USE \"My\"\"K\"").unwrap().statement else { panic!() };
    assert_eq!(name.as_str(), "My\"K");
}

#[test]
fn names_are_quoted_where_they_must_be() {
    for plain in ["a", "a1_b", "key", "list", "ttl", "timestamp"] {
        assert_eq!(quoted_name(plain), plain);
    }
    for (name, quoted) in [
        ("A", "\"A\""),
        ("1a", "\"1a\""),
        ("select", "\"select\""),
        ("token", "\"token\""),
        ("true", "\"true\""),
        ("a\"b", "\"a\"\"b\""),
        ("a b", "\"a b\""),
        ("", "\"\""),
    ] {
        assert_eq!(quoted_name(name), quoted);
    }
    assert_eq!(quoted_string("it's"), "'it''s'");
}

#[test]
fn an_error_knows_its_place() {
    let error = parse("SELECT *\nFROM t\nWHERE é").unwrap_err();
    assert_eq!((error.line(), error.column(), error.offset()), (3, 6, 22));
    let error = parse("SELECT * FROM t WHERE a =").unwrap_err();
    assert_eq!(error.offset(), 25);
}

#[test]
fn parts_parse_alone() {
    assert_eq!(parse_type("FROZEN<List<Int>>").unwrap().to_string(), "frozen<list<int>>");
    assert!(parse_type("list<int").is_err());
    assert!(matches!(parse_term("{1: 2}"), Ok(Term::Map(_))));
    assert!(parse_term("1 1").is_err());
}
