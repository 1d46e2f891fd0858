//! Limits of single row types: one range where all but the last are one row each, a request for each
//! otherwise. Each model stands beside its nearest neighbour, which is decided the other way.

#![expect(clippy::expect_used, reason = "the models are there, or the test fails")]

use super::together::statuses;
use shelfmark_design::{Document, Status};

/// Returns a repository and its newest issues with a plan, or without one that is named.
fn page(read: &str, plan: &str) -> String {
    format!(
        r##"
entity Repo {{ key name: text(min 1, max 39, without "#")  stars: int(0..9) }}
entity Issue {{ key (repo, number)  repo: Repo  number: int(0..999)  title: text(max 9) }}
read page(r{read}
schema s target dynamodb {{
  table base {{
    pk text sk text
    row RepoRow from Repo pk "REPO#<name>" sk "REPO" store all
    row IssueRow from Issue pk "REPO#<repo>" sk "ISSUE#<number:pad(3)>" store all
  }}
  {plan}
}}
"##
    )
}

const NEWEST: &str = ") = Repo + Issue where repo = r order by kind, number desc limit 2 of Issue";

const AND: &str = r##"serve page by get base pk "REPO#<r>" sk "REPO" and
    query base pk "REPO#<r>" sk begins "ISSUE#" desc limit 2"##;

fn one_range(limit: &str, direction: &str) -> String {
    format!(r##"serve page by query base pk "REPO#<r>"{direction}{limit}"##)
}

fn decided(read: &str, plan: &str, wanted: &str) {
    let text = page(read, plan);
    assert_eq!(statuses(&text), [format!("s.page {wanted}")], "{text}");
    if wanted == "refused" {
        lies_are_not_believed(&text);
    }
}

/// Checks that no refused plan is believed by the verifier as a certified one.
fn lies_are_not_believed(text: &str) {
    let document = Document::parse("model", text).unwrap_or_else(|report| panic!("{report}"));
    for mut one in document.prove() {
        let requests = one.steps.iter().filter(|step| step.starts_with("and ")).count();
        let sorts = one.steps.iter().any(|step| step.starts_with("sort"));
        let several = requests > 0 || sorts;
        one.status = if several { Status::Multi } else { Status::Certified };
        one.obligations.iter_mut().for_each(|one| one.holds = true);
        (one.obligation, one.witness) = (None, None);
        one.reason.clear();
        let said = document.verify(&one.sealed());
        assert!(said.is_err(), "believed: {said:?}\n{text}");
    }
}

/// The repository is there wherever an issue is: one range backwards ends behind its newest issues.
#[test]
fn a_parent_and_its_newest_children_are_one_range() {
    decided(NEWEST, &one_range(" limit 3", " desc"), "certified");
    // One row less, one more, the other way round, and no end at all.
    decided(NEWEST, &one_range(" limit 2", " desc"), "refused");
    decided(NEWEST, &one_range(" limit 4", " desc"), "refused");
    decided(NEWEST, &one_range(" limit 3", ""), "refused");
    decided(NEWEST, &one_range("", " desc"), "refused");
    // The range may end at the repository's own key, and not before it.
    decided(NEWEST, &one_range(" limit 3", " sk to \"REPO\" desc"), "certified");
    decided(NEWEST, &one_range(" limit 3", " sk before \"REPO\" desc"), "refused");
    // A limit of all rows says the same of a plan as ever.
    let all = NEWEST.replace("limit 2 of Issue", "limit 3");
    decided(&all, &one_range(" limit 3", " desc"), "certified");
    // Found without a plan that is named.
    decided(NEWEST, "", "certified");
    // Where the repository comes last, issues beyond their limit lie before it.
    let last = NEWEST.replace("Repo + Issue", "Issue + Repo");
    decided(&last, &one_range(" limit 3", ""), "refused");
    decided(&last, "", "multi");
    // Oldest first, the repository's key lies behind them all.
    let oldest = NEWEST.replace(" desc", "");
    decided(&oldest, &one_range(" limit 3", " desc"), "refused");
    decided(&oldest, "", "multi");
}

/// Where the repository is asked for by more than what issues refer to, it may be missing.
#[test]
fn a_parent_that_may_be_missing_is_a_request_of_its_own() {
    let starred = NEWEST.replace("repo = r", "repo = r and Repo.stars is present");
    let starred = page(&starred, &one_range(" limit 3", " desc"));
    let starred = starred.replace("stars: int(0..9)", "stars: int(0..9) optional");
    assert_eq!(statuses(&starred), ["s.page refused"]);
    let text = page(NEWEST, &one_range(" limit 3", " desc"));
    // A value refers to nothing.
    let value = text.replace("repo: Repo ", "repo: text(min 1, max 39, without \"#\") ");
    let value = value.replace("where repo = r", "where (Repo.name, Issue.repo) = r");
    assert_eq!(statuses(&value), ["s.page refused"]);
    let unnamed = value.replace(&one_range(" limit 3", " desc"), "");
    assert_eq!(statuses(&unnamed), ["s.page multi"]);
}

/// A request for each row type, one beside the other.
#[test]
fn requests_stand_beside_one_another() {
    decided(NEWEST, AND, "multi");
    for (own, other) in [
        // Its own limit, its own direction, its own rows, and in the order of the row types.
        ("desc limit 2", "desc limit 1"),
        ("desc limit 2", "desc limit 3"),
        ("desc limit 2", "limit 2"),
        ("desc limit 2", "desc"),
        (" sk begins \"ISSUE#\"", ""),
        ("begins \"ISSUE#\"", "begins \"REPO\""),
    ] {
        let plan = AND.replace(own, other);
        assert_ne!(plan, AND, "{own}");
        decided(NEWEST, &plan, "refused");
    }
    let (first, second) = (
        r##"get base pk "REPO#<r>" sk "REPO""##,
        r##"query base pk "REPO#<r>" sk begins "ISSUE#" desc limit 2"##,
    );
    let plan =
        |first: &str, second: &str, more: &str| format!("serve page by {first} and {second}{more}");
    decided(NEWEST, &plan(first, second, ""), "multi");
    decided(NEWEST, &plan(second, first, ""), "refused");
    decided(NEWEST, &plan(second, first, " sort kind, number desc"), "multi");
    decided(NEWEST, &plan(second, first, " sort number desc, kind"), "refused");
    decided(NEWEST, &plan(first, second, " take 2"), "refused");
    decided(NEWEST, &plan(first, first, ""), "refused");
    decided(NEWEST, &plan(second, second, ""), "refused");
    // Descending row types come the other way round.
    let descending = NEWEST.replace("by kind,", "by kind desc,");
    decided(&descending, &plan(second, first, ""), "multi");
    decided(&descending, &plan(first, second, ""), "refused");
    // Without an order any will do.
    let any = NEWEST.replace(" order by kind, number desc", "");
    decided(&any, &plan(second, first, ""), "multi");
    // A read without such limits may be several requests as well.
    let all = NEWEST.replace(" limit 2 of Issue", "");
    let whole = second.replace(" limit 2", "");
    decided(&all, &plan(first, &whole, ""), "multi");
    decided(&all, &plan(first, second, ""), "refused");
    let three = NEWEST.replace("2 of Issue", "3");
    let cut = second.replace("limit 2", "limit 3");
    decided(&three, &plan(first, &cut, ""), "refused");
    decided(&three, &plan(first, &cut, " take 3"), "multi");
}

/// An input as a limit is that of a request, since no range has one row more than an input says.
#[test]
fn an_input_limits_a_request() {
    let inputs = NEWEST.replace(") =", ", n) =").replace("2 of", "n of");
    decided(&inputs, &AND.replace("limit 2", "limit n"), "multi");
    decided(&inputs, &one_range(" limit n", " desc"), "refused");
    decided(&inputs, "", "multi");
    // Of the repository none is asked for where the input is 0.
    let both = inputs.replace("limit n of Issue", "limit n of Issue, m of Repo");
    let both = both.replace(", n)", ", n, m)");
    let get = AND.replace("limit 2", "limit n");
    decided(&both, &get, "refused");
    let query = get.replace(
        "get base pk \"REPO#<r>\" sk \"REPO\"",
        "query base pk \"REPO#<r>\" sk begins \"REPO\" limit m",
    );
    decided(&both, &query, "multi");
    // A constant is at least one, which is all that there is.
    let one = both.replace("m of", "1 of").replace(", m)", ")");
    decided(&one, &get, "multi");
}

/// Rows of two types in one order, of each the newest: two requests, brought together outside the store.
#[test]
fn each_type_has_its_limit_in_a_common_order() {
    let model = |read: &str, plan: &str| {
        format!(
            r#"
entity User {{ key id: uuid }}
entity Post {{ key id: uuid  author: User  at: timestamp  text: text(max 9) }}
entity Note {{ key id: uuid  author: User  at: timestamp }}
read feed(u) = Post + Note where author = u order by at desc {read}
schema s target shelfmark {{
  table posts from Post key (author; at desc, id) store all
  table notes from Note key (author; at desc, id) store all
  {plan}
}}
"#
        )
    };
    let read = "limit 2 of Post, 3 of Note";
    let plan = "serve feed by query posts (u) limit 2 and query notes (u) limit 3 sort at desc";
    assert_eq!(statuses(&model(read, plan)), ["s.feed multi"]);
    assert_eq!(statuses(&model(read, "")), ["s.feed multi"]);
    for (own, other) in [
        (" sort at desc", ""),
        ("sort at desc", "sort at"),
        ("limit 3", "limit 2"),
        ("limit 2", "desc limit 2"),
    ] {
        assert_eq!(
            statuses(&model(read, &plan.replace(own, other))),
            ["s.feed refused"],
            "{other}"
        );
    }
    // Each type may call it otherwise.
    let text = model(read, plan).replace(
        "Note { key id: uuid  author: User  at",
        "Note { key id: uuid  author: User  made",
    );
    let text = text.replace("order by at", "order by (Post.at, Note.made)").replace(
        "author; at desc, id) store all\n  serve",
        "author; made desc, id) store all\n  serve",
    );
    let sorted = text.replace("sort at", "sort (Post.at, Note.made)");
    assert_eq!(statuses(&sorted), ["s.feed multi"]);
    assert_eq!(statuses(&text), ["s.feed refused"]);
    assert_eq!(statuses(&sorted.replace("  serve feed by", "  # serve feed by")), ["s.feed multi"]);
    // All rows of one type are read whole.
    assert_eq!(
        statuses(&model("limit 2 of Post", &plan.replace(" limit 3", ""))),
        ["s.feed multi"]
    );
    assert_eq!(statuses(&model("limit 2 of Post", plan)), ["s.feed refused"]);
}

/// Behind the row type each has an order of its own.
#[test]
fn each_type_has_its_order() {
    let model = |order: &str, plan: &str| {
        format!(
            r#"
entity User {{ key id: uuid }}
entity Post {{ key id: uuid  author: User  at: timestamp }}
entity Note {{ key id: uuid  author: User  at: timestamp }}
read feed(u) = Post + Note where author = u order by kind{order} limit 2 of Post, 2 of Note
schema s target shelfmark {{
  table posts from Post key (author; at, id) store all
  table notes from Note key (author; at, id) store all
  {plan}
}}
"#
        )
    };
    let order = ", Post.at desc, Note.at";
    let plan = "serve feed by query posts (u) desc limit 2 and query notes (u) limit 2";
    assert_eq!(statuses(&model(order, plan)), ["s.feed multi"]);
    assert_eq!(statuses(&model(order, "")), ["s.feed multi"]);
    assert_eq!(statuses(&model(", at desc", plan)), ["s.feed refused"]);
    assert_eq!(statuses(&model(order, &plan.replace(" desc", ""))), ["s.feed refused"]);
    // A sort by the name of both would order notes as posts are.
    let sorted = format!("{plan} sort kind, at desc, at");
    assert_eq!(statuses(&model(order, &sorted)), ["s.feed refused"]);
}

/// Returns the messages about a read.
fn said(read: &str) -> String {
    let text = page(read, "");
    match Document::parse("model", &text) {
        Ok(_) => String::new(),
        Err(report) => report.text,
    }
}

#[test]
fn limits_that_say_nothing_are_refused() {
    assert_eq!(said(NEWEST), "");
    for (own, other, why) in [
        ("2 of Issue", "0 of Issue", "a limit is at least 1"),
        ("2 of Issue", "2 of Isue", "Issue"),
        ("2 of Issue", "2 of Issue, 3 of Issue", "twice"),
        ("limit 2 of Issue", "limit 2 of Issue limit 5", "a limit of all rows"),
        ("limit 2 of Issue", "limit page 2 of Issue", "of"),
        ("limit 2 of Issue", "page 4 limit 2 of Issue", "a page is one of the whole list"),
        ("Repo + Issue", "Issue", "a read of one row type has one limit"),
        ("by kind, number", "by Issue.number", "orders one row type of several"),
    ] {
        let told = said(&NEWEST.replace(own, other));
        assert!(told.contains(why), "{other}: {told}");
    }
}

/// The text of a read is the same after it was read, and so is its JSON.
#[test]
fn limits_are_printed_as_they_are_read() {
    let text = page(&NEWEST.replace("number desc", "Issue.number desc"), AND);
    let printed = Document::format("m", &text).unwrap_or_else(|report| panic!("{report}"));
    assert!(printed.contains("limit 2 of Issue"), "{printed}");
    assert!(printed.contains("and query base pk"), "{printed}");
    let again = Document::format("m", &printed).unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(again, printed);
    let document = Document::parse("m", &text).unwrap_or_else(|report| panic!("{report}"));
    let json = document.to_json().expect("a model");
    let limits = json.pointer("/items/2/read/limits/0/of").and_then(|of| of.as_str());
    assert_eq!(limits, Some("Issue"), "{json:#}");
    let back = Document::text_of_json("m.json", &json.to_string());
    let back = back.unwrap_or_else(|report| panic!("{report}"));
    let made = Document::parse("m", &back).unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(made.to_json(), document.to_json());
    let schema = Document::json_schema().to_string();
    assert!(schema.contains("\"OwnLimit\"") && schema.contains("\"limits\""), "{schema}");
}

fn calls(text: &str) -> Vec<String> {
    let document = Document::parse("m", text).unwrap_or_else(|report| panic!("{report}"));
    let said = document.calls("s", None).expect("requests");
    assert!(said.left_out.is_empty(), "{:?}", said.left_out);
    said.calls.iter().map(|call| call.json().to_string()).collect()
}

/// What needs two requests is two of them; a limit of nothing is not sent.
#[test]
fn each_request_is_one_of_the_target() {
    let one = calls(&page(NEWEST, &one_range(" limit 3", " desc")));
    let [query] = one.as_slice() else { panic!("{one:?}") };
    assert!(
        query.contains("\"Limit\":3") && query.contains("\"ScanIndexForward\":false"),
        "{query}"
    );
    let two = calls(&page(NEWEST, AND));
    let [get, query] = two.as_slice() else { panic!("{two:?}") };
    assert!(get.contains("\"GetItem\"") && !query.contains("for_each"), "{two:?}");
    assert!(
        query.contains("\"Limit\":2") && query.contains("\"ScanIndexForward\":false"),
        "{query}"
    );
    let inputs = NEWEST.replace(") =", ", n) =").replace("2 of", "n of");
    let three = calls(&page(&inputs, &AND.replace("limit 2", "limit n")));
    assert!(three.iter().any(|call| call.contains("only_if")), "{three:?}");
    let tables = r#"
entity Repo { key name: text(min 1, max 9)  stars: int(0..9) }
entity Issue { key (repo, number)  repo: Repo  number: int(0..999)  title: text(max 9) }
read page(r) = Repo + Issue where repo = r order by kind, number desc limit 2 of Issue
schema s target cql {
  table repos from Repo key (name;) store all
  table issues from Issue key (repo; number desc) store all
}
"#;
    assert_eq!(statuses(tables), ["s.page multi"]);
    let said = calls(tables);
    let [repo, issues] = said.as_slice() else { panic!("{said:?}") };
    assert!(repo.contains("FROM repos") && !repo.contains("LIMIT"), "{repo}");
    assert!(issues.contains("FROM issues") && issues.contains("LIMIT 2"), "{issues}");
}

/// The planner finds one range where that is right, and a request for each row type elsewhere.
#[test]
fn plans_are_found_for_all_targets() {
    let model = |read: &str| {
        let text = page(read, "");
        text.split("schema s").next().unwrap_or("").to_owned()
    };
    let oldest = NEWEST.replace(" desc", "");
    let inputs = NEWEST.replace(") =", ", n) =").replace("2 of", "n of");
    let both = NEWEST.replace(") =", ", n, m) =").replace("2 of Issue", "n of Issue, m of Repo");
    for target in ["dynamodb", "cql", "shelfmark", "candb", "ordered"] {
        for read in [NEWEST, &oldest, &inputs, &both] {
            let document = Document::parse("m", &model(read)).expect("a model");
            let plan = document.plan(target, "planned").expect("a plan");
            let planned = document.with_only(&plan.schema);
            let found = statuses(&planned);
            let [only] = found.as_slice() else { panic!("{found:?}") };
            assert!(!only.ends_with("refused"), "{target}: {only}\n{planned}");
            // The rows of an input, and one more, are no range.
            let several = read == inputs || read == both;
            assert!(!several || only.ends_with("multi"), "{target}: {only}\n{planned}");
            assert!(planned.contains("serve page by"), "{target}\n{planned}");
            let again = document.plan(target, "planned").expect("a plan");
            assert_eq!(again.schema, plan.schema, "{target}");
        }
    }
}

/// Requests beside one another are explained and drawn as such.
#[test]
fn requests_are_explained_and_drawn() {
    let text = page(NEWEST, AND);
    let document = Document::parse("m", &text).expect("a model");
    let said = document.explain("page").expect("a read");
    assert!(said.contains("It is one point read of base"), "{said}");
    assert!(said.contains("Beside it, for other row types"), "{said}");
    assert!(said.contains("rows read: 3"), "{said}");
    let drawn = document.page();
    assert!(drawn.matches("first 2").count() > 0, "its second range has a limit");
    let range = page(NEWEST, &one_range(" limit 3", " desc"));
    let range = Document::parse("m", &range).expect("a model");
    let said = range.explain("page").expect("a read");
    assert!(said.contains("first 3") && said.contains("It is certified"), "{said}");
    assert!(range.check().iter().all(|found| found.id != "W7"), "the table is read");
}

/// A published design reads a repository and its newest issues in one request, and so does a planned one.
#[test]
fn a_published_design_has_such_a_read() {
    let path = super::root().join("../../models/designs/repositories.shelf");
    let text = std::fs::read_to_string(path).expect("a model");
    let found = statuses(&text);
    assert!(found.contains(&"published.home certified".to_owned()), "{found:?}");
    let document = Document::parse("repositories", &text).expect("a model");
    let plan = document.plan("dynamodb", "planned").expect("a plan");
    assert!(!plan.notes.iter().any(|note| note.starts_with("home ")), "{:?}", plan.notes);
    assert!(plan.schema.contains("serve home by"), "{}", plan.schema);
}
