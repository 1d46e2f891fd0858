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

/// Comparisons are told by constants and by inputs, of any type that has an order.
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
    assert_eq!(statuses(&texts), ["s.late certified", "s.assign certified"]);
    assert!(calls(&texts).contains(r#"[{"$input":"r"},"<","m"]"#), "{}", calls(&texts));
    let told = patterns.replace("assign(r, n, a)", "assign(r, a)");
    for (number, mark) in [("7", "REMOVE #s1"), ("700", "SET #s0 = :s0, #s1 = :s1")] {
        let text = told.replace("number n", &format!("number {number}"));
        let text = issues(&text, "dynamodb", late, "");
        assert_eq!(statuses(&text), ["s.late certified", "s.assign certified"]);
        assert!(calls(&text).contains(mark), "{number}: {}", calls(&text));
    }
}

/// Tasks of owners, with one read, one index and what else a test needs.
fn tasks(target: &str, asked: &str, index: &str, writes: &str) -> String {
    let input = if asked.contains(" x ") { ", x" } else { "" };
    format!(
        r#"
entity Task {{
  key id: uuid
  owner: uuid  at: timestamp  n: int(0..99)  v: int(0..99) optional  day: date  size: decimal
  title: text(min 1, max 9)
}}
read some(o{input}) = Task where owner = o and {asked}
{writes}
schema s target {target} {{
  table tasks from Task key (id;) store all
    index few {index}
}}
"#
    )
}

/// What is asked implies what the index asks, by the order of the constants; an input may be any value.
#[test]
fn a_read_that_asks_for_more_than_the_index_is_served() {
    for target in ["dynamodb", "shelfmark"] {
        for (asked, index, served) in [
            ("n >= 7 order by n", "when n >= 5 key (owner; n)", true),
            ("n >= 4 order by n", "when n >= 5 key (owner; n)", false),
            ("n > 4 order by n", "when n >= 5 key (owner; n)", true),
            ("n > 3 order by n", "when n >= 5 key (owner; n)", false),
            ("n = 3 order by at", "when n < 10 key (owner; n, at)", true),
            ("n = 10 order by at", "when n < 10 key (owner; n, at)", false),
            ("n < 7 order by n", "when n <= 7 key (owner; n)", true),
            ("n <= 7 order by n", "when n < 7 key (owner; n)", false),
            ("n >= x order by n", "when n >= 5 key (owner; n)", false),
            // Of whole numbers `<= 9` is `< 10`, and of others it is not.
            ("n < 10 order by at", "when n <= 9 key (owner; at)", true),
            ("n <= 9 order by at", "when n < 10 key (owner; at)", true),
            ("n <= 8 order by at", "when n < 10 key (owner; at)", false),
            ("size > 4 order by at", "when size >= 4 key (owner; at)", false),
            ("size >= 4 order by at", "when size >= 4 key (owner; at)", true),
            ("size > 4 order by size", "when size >= 4 key (owner; size)", true),
            (
                "day > \"2024-02-01\" order by at",
                "when day >= \"2024-02-02\" key (owner; at)",
                true,
            ),
            (
                "day > \"2024-02-01\" order by at",
                "when day > \"2024-02-02\" key (owner; at)",
                false,
            ),
            ("title >= \"n\" order by title", "when title > \"m\" key (owner; title)", true),
            ("title >= \"m\" order by title", "when title > \"m\" key (owner; title)", false),
            ("v >= 7 order by v", "when v is present key (owner; v)", true),
            ("v >= 7 order by v", "when v > 2 key (owner; v)", true),
            ("v is present order by v", "when v > 2 key (owner; v)", false),
        ] {
            let text = tasks(target, asked, index, "");
            let status = if served { "s.some certified" } else { "s.some refused" };
            assert_eq!(statuses(&text), [status], "{target}: {asked} by {index}");
        }
    }
}

/// A range of constants beside an order has an index that serves it, so it is not unservable anywhere;
/// one of inputs is.
#[test]
fn a_constant_range_beside_an_order_has_an_index() {
    let of = |asked: &str, index: &str| statuses(&tasks("dynamodb", asked, index, ""));
    assert_eq!(of("n < 10 order by at", "key (owner; at)"), ["s.some refused"]);
    assert_eq!(of("n < x order by at", "key (owner; at)"), ["s.some unservable"]);
    assert_eq!(of("n < 10 and at >= x order by at", "key (owner; n)"), ["s.some refused"]);
    assert_eq!(
        of("n < 10 and at >= x order by at", "when n < 10 key (owner; at)"),
        ["s.some certified"]
    );
    for (asked, planned) in [
        ("n < 10 order by at", "when n < 10"),
        ("n < 10 and day >= \"2024-02-01\" order by at", "when n < 10 and day >= \"2024-02-01\""),
    ] {
        for target in ["dynamodb", "shelfmark", "cql"] {
            let text = tasks(target, asked, "key (owner; at)", "");
            let document = Document::parse("m", &text).unwrap_or_else(|report| panic!("{report}"));
            let plan = document.plan(target, "planned").expect("a plan");
            assert!(plan.schema.contains(planned), "{}", plan.schema);
            let found = statuses(&document.with_only(&plan.schema));
            assert_eq!(found, ["planned.some certified"], "{}", plan.schema);
        }
    }
}

/// An input is something, whatever it is: only a row that was read may lack the attribute.
#[test]
fn comparisons_of_what_may_be_absent_are_told() {
    let few = "when v < 3 key (owner; at)";
    let writes = "write set(i, v) = update Task(id i) set v = v
write once(i, v) = update Task(id i) set v = v if v is absent
write unset(i) = update Task(id i) set v = absent
write give(i, o) = update Task(id i) set owner = o";
    let text = tasks("dynamodb", "v < 3 order by at", few, writes);
    assert!(statuses(&text).iter().all(|one| one.ends_with("certified")), "{:?}", statuses(&text));
    let said = calls(&text);
    let guards = |name: &str| -> Vec<String> {
        let own = said.lines().filter(|line| line.contains(&format!(r#""pattern":"{name}""#)));
        let sent = own.filter(|line| line.contains(r#""operation":"UpdateItem""#));
        sent.map(|line| line.split(r#""only_if":"#).nth(1).unwrap_or("").to_owned()).collect()
    };
    let two = guards("set");
    assert!(
        two.len() == 2 && two[0].contains(r#""<",3"#) && two[1].contains(r#"">=",3"#),
        "{said}"
    );
    assert_eq!((guards("once").len(), guards("unset").len()), (2, 1), "{said}");
    let three = guards("give");
    assert!(three.len() == 3 && three[2].contains(r#""absent""#), "{said}");
}

/// What one request changes and another would change again under conditions that exclude each other is
/// not sent; too many requests of which one is sent are refused, and the refusal names the indexes.
#[test]
fn indexes_that_share_a_condition_share_requests() {
    let writes = r#"write set(i, n) = update Task(id i) set n = n
write put(i, o, t, n, v, d, s, x) =
  insert Task(id i, owner o, at t, n n, v v, day d, size s, title x)"#;
    let pair = "when n = 7 key (owner; at)
    index both when n = 7 and v >= 5 key (owner; at)";
    let text = tasks("dynamodb", "n = 7 order by at", pair, writes);
    assert!(statuses(&text).iter().all(|one| one.ends_with("certified")), "{:?}", statuses(&text));
    let said = calls(&text);
    let sent = said.lines().filter(|line| line.contains(r#""pattern":"put""#)).count();
    assert_eq!(sent, 3, "{said}");
    let many = |count: usize| {
        let more = ["v >= 5", "day >= \"2024-01-01\"", "size > 9"];
        let more = more.iter().take(count).enumerate().map(|(at, condition)| {
            format!("\n    index more{at} when {condition} key (owner; at)")
        });
        let index = format!("when n = 7 key (owner; at){}", more.collect::<String>());
        tasks("dynamodb", "n = 7 order by at", &index, writes)
    };
    assert_eq!(statuses(&many(2)), ["s.some certified", "s.set certified", "s.put certified"]);
    let text = many(3);
    assert_eq!(statuses(&text), ["s.some certified", "s.set certified", "s.put refused"]);
    let proofs = Document::parse("m", &text).expect("a model").prove();
    let reason = proofs.last().map(|one| one.reason.clone()).unwrap_or_default();
    assert!(reason.contains("few_pk, more0_pk, more1_pk, more2_pk"), "{reason}");
    assert!(reason.contains("more than 12 requests"), "{reason}");
}

/// Adding to a number does not change that it is there.
#[test]
fn a_sum_leaves_what_is_present() {
    let index = "when v is present key (owner; at)
    index numbered when n is present key (owner; at)
    index large when n >= 5 key (owner; at)";
    let writes = "write more(i) = increment Task(id i) set v by 1 if v is present
write more_of(i) = increment Task(id i) set v by 1 if v >= 1
write may_begin(i) = increment Task(id i) set v by 1";
    let text = tasks("dynamodb", "v is present order by at", index, writes);
    let wanted =
        ["s.some certified", "s.more certified", "s.more_of certified", "s.may_begin refused"];
    assert_eq!(statuses(&text), wanted);
    let writes = "write add(i) = increment Task(id i) set n by 1";
    let text = tasks("dynamodb", "v is present order by at", index, writes);
    assert_eq!(statuses(&text), ["s.some certified", "s.add refused"]);
    let reason = Document::parse("m", &text).expect("a model").prove();
    let reason = reason.last().map(|one| one.reason.clone()).unwrap_or_default();
    assert!(reason.contains("whether tasks.large has the row depends on a sum, n"), "{reason}");
    let text = text.replace("index large when n >= 5 key (owner; at)", "");
    assert_eq!(statuses(&text), ["s.some certified", "s.add certified"]);
}

#[test]
fn what_stands_wrong_in_a_condition_is_told() {
    for (index, told) in [
        ("when n = 1, v = 2 key (owner; at)", "several conditions are parted by `and`"),
        ("when n = 1 local key (owner; at)", "`local` stands before `when`"),
    ] {
        let text = tasks("dynamodb", "n = 1 order by at", index, "");
        let report = Document::parse("m", &text).expect_err(index).to_string();
        assert!(report.contains(told), "{report}");
    }
}

#[test]
fn a_condition_that_holds_of_nothing_is_told() {
    for (condition, never) in [
        ("n >= 20", false),
        ("n > 99", true),
        ("n < 0", true),
        ("n > 3 and n < 5", false),
        ("n > 3 and n < 4", true),
        ("size > 3 and size < 4", false),
        ("v = 1 and v = 2", true),
        ("v is absent and v >= 1", true),
        ("v is absent", false),
        ("n is absent", true),
        ("title > \"b\" and title < \"a\"", true),
        ("title > \"a\" and title < \"b\"", false),
    ] {
        let text = tasks(
            "dynamodb",
            "n = 1 order by at",
            &format!("when {condition} key (owner; at)"),
            "",
        );
        let document = Document::parse("m", &text).unwrap_or_else(|report| panic!("{report}"));
        let found = document.check();
        let told = found
            .iter()
            .any(|one| one.id == "W7" && one.message.starts_with("tasks.few never has a row"));
        assert_eq!(told, never, "{condition}: {found:?}");
    }
}

#[test]
fn what_an_index_asks_is_explained_and_counted() {
    let writes = r#"write open(i, o, t, n, d, s, x) =
  insert Task(id i, owner o, at t, n n, day d, size s, title x) rate 1/s
write begun(i, o, t, n, v, d, s, x) =
  insert Task(id i, owner o, at t, n n, v v, day d, size s, title x) rate 3/s"#;
    let text =
        tasks("dynamodb", "v is present order by at", "when v is present key (owner; at)", writes);
    let text = text.replace(
        "title: text(min 1, max 9)\n",
        "title: text(min 1, max 9)\n  count 1000  fanout owner avg 40 max 100\n",
    );
    let document = Document::parse("m", &text).unwrap_or_else(|report| panic!("{report}"));
    let said = document.explain("some").expect("a pattern");
    assert!(said.contains("Of Task it holds only those of which v is present"), "{said}");
    let size = document.size();
    let [schema] = size.schemas.as_slice() else { panic!("{size}") };
    let few = schema.families.iter().find(|one| one.index).expect("an index");
    assert_eq!(
        (few.total_rows, few.partition_rows.average, few.at_most),
        (Some(750.0), Some(30.0), false)
    );
    assert_eq!(few.partition_rows.worst, Some(100.0));
    let entries: Vec<_> = schema.writes.iter().map(|one| one.entries.average).collect();
    assert_eq!(entries, [Some(0.0), Some(1.0)]);
    // Where nothing says how many there are, all may be.
    let text = text.replace("when v is present", "when v >= 5");
    let document = Document::parse("m", &text).unwrap_or_else(|report| panic!("{report}"));
    let size = document.size();
    let [schema] = size.schemas.as_slice() else { panic!("{size}") };
    let few = schema.families.iter().find(|one| one.index).expect("an index");
    assert_eq!((few.total_rows, few.at_most), (Some(1000.0), true));
    assert!(size.to_string().contains("at most 40"), "{size}");
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
