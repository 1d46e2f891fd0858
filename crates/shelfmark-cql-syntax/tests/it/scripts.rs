//! Scripts and completion.

use shelfmark_cql_syntax::{complete, split, with_plain_spaces};

fn cut(text: &str) -> (Vec<&str>, Option<&str>) {
    let script = split(text);
    let statements = script.statements.iter().map(|span| span.text(text)).collect();
    (statements, script.rest.map(|span| span.text(text)))
}

#[test]
fn statements_end_at_semicolons_outside_of_quotes_and_comments() {
    let text = "-- one; two\nUSE a; ;; INSERT INTO t (a) VALUES ('x;y', $$p;q$$) /* ; */;\nSELECT";
    assert_eq!(
        cut(text),
        (vec!["USE a;", "INSERT INTO t (a) VALUES ('x;y', $$p;q$$) /* ; */;"], Some("SELECT"))
    );
    assert_eq!(cut("USE a; -- the end"), (vec!["USE a;"], None));
    assert_eq!(cut("USE a; SELECT 'x; y"), (vec!["USE a;"], Some("SELECT 'x; y")));
    assert_eq!(cut("USE # a; USE b"), (vec!["USE # a;"], Some("USE b")));
    assert_eq!(cut("  \n"), (vec![], None));
}

#[test]
fn batches_stay_whole() {
    let batch = "BEGIN BATCH INSERT INTO t (a) VALUES (1); DELETE FROM t WHERE a = 1; APPLY BATCH;";
    assert_eq!(cut(&format!("{batch} USE a;")), (vec![batch, "USE a;"], None));
    let open = "BEGIN BATCH INSERT INTO t (a) VALUES (1); USE a;";
    assert_eq!(cut(open), (vec![], Some(open)));
}

#[test]
fn wide_spaces_become_plain_ones() {
    let text = "CREATE TABLE t (a int,\n\u{a0}\nb text PRIMARY KEY)\u{3000}-- \u{a0}\n";
    let (plain, places) = with_plain_spaces(text);
    assert_eq!(plain, "CREATE TABLE t (a int,\n \nb text PRIMARY KEY) -- \u{a0}\n");
    assert_eq!(places, [23, 45]);
    assert_eq!(with_plain_spaces("a '\u{a0}' #\u{a0}").0, "a '\u{a0}' #\u{a0}");
}

#[track_caller]
fn completed(text: &str, name: bool, keywords: &[&str]) {
    let completions = complete(text);
    assert_eq!(completions.keywords, keywords, "{text}");
    assert_eq!(completions.name, name, "{text}");
}

#[test]
fn what_may_come_next_is_known() {
    completed("CREATE TABLE t (a int) W", false, &["WITH"]);
    completed("SELECT a FROM t ", false, &["ALLOW", "GROUP", "LIMIT", "ORDER", "PER", "WHERE"]);
    completed("DROP KEYSPACE I", true, &["IF"]);
    completed("UPDATE t SET a = 1 WHERE b = 2 ", false, &["AND", "IF"]);
    completed("SELECT 'ins", false, &[]);
    completed("BEGIN UNLOGGED BATCH AP", false, &["APPLY"]);
    assert_eq!(complete("").keywords.len(), 16);
    let selected = complete("SELECT ").keywords;
    for word in ["DISTINCT", "JSON", "CAST", "COUNT", "WRITETIME", "TTL", "TOKEN"] {
        assert!(selected.contains(&word.to_owned()), "{word} in {selected:?}");
    }
    let types = complete("CREATE TABLE t (a ").keywords;
    for word in ["INT", "TEXT", "FROZEN", "LIST", "MAP", "SET", "VECTOR"] {
        assert!(types.contains(&word.to_owned()), "{word} in {types:?}");
    }
    assert!(!types.contains(&"PASSWORD".to_owned()));
}
