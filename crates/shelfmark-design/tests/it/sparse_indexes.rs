//! Indexes with conditions of their own: what reads them, what their writes must know, what is sent.

#![expect(clippy::expect_used, reason = "the models are there, or the test fails")]

use super::together::statuses;
use shelfmark_design::Document;

/// Issues of repositories, with an index of the open ones.
fn issues(patterns: &str, target: &str, index: &str, plans: &str) -> String {
    format!(
        r#"
type name = text(min 1, max 20, without "\#")
entity Issue {{
  key (repo, number)
  repo: name  number: int(0..99999)  state: enum("open", "closed")  at: timestamp
  assignee: name optional
}}
{patterns}
schema s target {target} {{
  table issues from Issue key (repo; number) store all
    {index}
{plans}
}}
"#
    )
    .replace("\\#", "#")
}

const OPEN: &str = r#"index open_issues when state = "open" key (repo; at)"#;

fn calls(text: &str) -> String {
    let document = Document::parse("m", text).unwrap_or_else(|report| panic!("{report}"));
    let said = document.calls("s", None).expect("requests");
    let mut out: Vec<String> = said.create.iter().map(ToString::to_string).collect();
    out.extend(said.calls.iter().map(|call| call.json().to_string()));
    out.extend(said.left_out.iter().map(|(name, why)| format!("{name} is left out: {why}")));
    out.join("\n")
}

#[test]
fn a_read_that_asks_for_what_the_index_asks_is_served() {
    let patterns = r#"
read opened(r) = Issue where repo = r and state = "open" order by at desc limit 25
read all(r) = Issue where repo = r order by at desc limit 25
read closed(r) = Issue where repo = r and state = "closed" order by at desc limit 25
read either(r, s) = Issue where repo = r and state = s order by at desc limit 25
"#;
    let plans = ["opened(r)", "all(r)", "closed(r)", "either(r, s)"]
        .map(|read| format!("  serve {read} by query open_issues (r) desc limit 25"));
    for target in ["dynamodb", "shelfmark"] {
        let found = statuses(&issues(patterns, target, OPEN, &plans.join("\n")));
        let wanted =
            ["s.opened certified", "s.all refused", "s.closed refused", "s.either refused"];
        assert_eq!(found, wanted, "{target}");
    }
}

#[test]
fn the_mark_of_an_index_comes_and_goes_with_its_condition() {
    let patterns = r#"
read opened(r) = Issue where repo = r and state = "open" order by at desc limit 25
write file(r, n, t) = insert Issue(repo r, number n, state "open", at t)
write note(r, n, t) = insert Issue(repo r, number n, state "closed", at t)
write import(r, n, s, t) = insert Issue(repo r, number n, state s, at t)
write close(r, n) = update Issue(repo r, number n) set state = "closed"
write reopen(r, n) = update Issue(repo r, number n) set state = "open"
write move(r, n, s) = update Issue(repo r, number n) set state = s
write touch(r, n, t) = update Issue(repo r, number n) set at = t
write drop(r, n) = delete Issue(repo r, number n)
"#;
    let text = issues(patterns, "dynamodb", OPEN, "");
    assert!(statuses(&text).iter().all(|one| one.ends_with("certified")), "{:?}", statuses(&text));
    let said = calls(&text);
    println!("{said}");
    assert!(said.contains(r#"{"AttributeName":"open_issues_pk","KeyType":"HASH"}"#), "{said}");
    let of = |name: &str| -> Vec<&str> {
        let own = format!(r#""pattern":"{name}""#);
        said.lines().filter(|line| line.contains(&own)).collect()
    };
    let mark = r#""open_issues_pk":{"S":{"$input":"r"}}"#;
    assert!(of("file").len() == 1 && of("file")[0].contains(mark), "{said}");
    assert!(of("note").len() == 1 && !of("note")[0].contains("open_issues_pk"), "{said}");
    let [with, without] = of("import")[..] else { panic!("{said}") };
    assert!(with.contains(mark) && with.contains(r#"["#), "{said}");
    assert!(!without.contains("open_issues_pk") && without.contains("other than"), "{said}");
    assert!(of("close").len() == 1 && of("close")[0].contains("REMOVE #s1"), "{said}");
    assert!(
        of("reopen").len() == 1 && of("reopen")[0].contains("SET #s0 = :s0, #s1 = :s1"),
        "{said}"
    );
    assert_eq!(of("move").len(), 2, "{said}");
    assert!(of("touch").len() == 1 && !of("touch")[0].contains("open_issues_pk"), "{said}");
}

/// The key of the mark, or what tells whether it is there, is not always given: it is read.
#[test]
fn a_write_reads_what_tells_whether_an_index_has_the_row() {
    let patterns = r#"
read mine(a) = Issue where assignee = a and state = "open" order by at
write assign(r, n, a) = update Issue(repo r, number n) set assignee = a
write reopen(r, n) = update Issue(repo r, number n) set state = "open"
write close(r, n) = update Issue(repo r, number n) set state = "closed"
"#;
    let index = r#"index mine when state = "open" key (assignee; at)"#;
    let text = issues(patterns, "dynamodb", index, "");
    assert!(statuses(&text).iter().all(|one| one.ends_with("certified")), "{:?}", statuses(&text));
    let said = calls(&text);
    let steps = |name: &str| {
        said.lines().filter(|line| line.contains(&format!(r#""pattern":"{name}""#))).count()
    };
    assert_eq!((steps("assign"), steps("reopen"), steps("close")), (3, 3, 1), "{said}");
    // Without the read nobody knows whether the index has the row.
    let blind = "  write assign { patch issues }\n";
    let found = statuses(&issues(patterns, "dynamodb", index, blind));
    assert!(found.contains(&"s.assign refused".to_owned()), "{found:?}");
}

#[test]
fn a_view_has_all_rows() {
    let patterns =
        r#"read opened(r) = Issue where repo = r and state = "open" order by at limit 25"#;
    let text = issues(patterns, "cql", OPEN, "");
    assert_eq!(statuses(&text), ["s.opened refused"]);
    assert_eq!(statuses(&text.replace(r#"when state = "open" "#, "")), ["s.opened refused"]);
    let said = Document::parse("m", &text).expect("a model").prove();
    let reason = said.first().map(|one| one.reason.clone()).unwrap_or_default();
    assert!(reason.contains("has only some rows of its table"), "{reason}");
}

/// Comparisons of numbers are told by constants and by inputs; those of texts by constants alone.
#[test]
fn conditions_compare() {
    let patterns = r#"
read late(a) = Issue where assignee = a and number >= 100 order by at
write assign(r, n, a) = update Issue(repo r, number n) set assignee = a
"#;
    let late = "index late when number >= 100 key (assignee; at)";
    let text = issues(patterns, "dynamodb", late, "");
    assert_eq!(statuses(&text), ["s.late certified", "s.assign certified"]);
    let said = calls(&text);
    assert!(said.contains(r#"[{"$input":"n"},">=",100]"#), "{said}");
    assert!(said.contains(r#"[{"$input":"n"},"<",100]"#), "{said}");
    let texts = patterns.replace("number >= 100", "repo >= \"m\"");
    let texts = issues(&texts, "dynamodb", &late.replace("number >= 100", "repo >= \"m\""), "");
    assert_eq!(statuses(&texts), ["s.late certified", "s.assign refused"]);
    let told = patterns.replace("assign(r, n, a)", "assign(r, a)");
    for (number, mark) in [("7", "REMOVE #s1"), ("700", "SET #s0 = :s0, #s1 = :s1")] {
        let text = told.replace("number n", &format!("number {number}"));
        let text = issues(&text, "dynamodb", late, "");
        assert_eq!(statuses(&text), ["s.late certified", "s.assign certified"]);
        assert!(calls(&text).contains(mark), "{number}: {}", calls(&text));
    }
}

/// What lies behind a reference changes without the row.
#[test]
fn an_index_asks_its_own_rows() {
    let text = r#"
entity User { key id: uuid  level: int(0..9) }
entity Post { key id: uuid  author: User  at: timestamp }
schema s target dynamodb {
  table posts from Post key (id;) store all
    index best when author.level = 9 key (author; at)
}
"#;
    let report = Document::parse("m", text).expect_err("a condition behind a reference");
    assert!(report.text.contains("an index asks attributes of its rows' own tuples"), "{report}");
}

/// An attribute may be called what the mark would be.
#[test]
fn the_mark_has_a_name_that_no_attribute_has() {
    let patterns = r#"
read opened(r) = Issue where repo = r and state = "open" order by at desc limit 25
write file(r, n, t, x) = insert Issue(repo r, number n, state "open", at t, open_issues_pk x)
write set(r, n, x) = update Issue(repo r, number n) set open_issues_pk = x
"#;
    let text = issues(patterns, "dynamodb", OPEN, "");
    let text = text.replace("assignee: name optional", "open_issues_pk: name");
    assert!(statuses(&text).iter().all(|one| one.ends_with("certified")), "{:?}", statuses(&text));
    let said = calls(&text);
    assert!(said.contains(r#"{"AttributeName":"open_issues_pk_","KeyType":"HASH"}"#), "{said}");
    let mark = r#""open_issues_pk_":{"S":{"$input":"r"}}"#;
    let attribute = r#""open_issues_pk":{"S":{"$input":"x"}}"#;
    assert!(said.contains(mark) && said.contains(attribute), "{said}");
}
