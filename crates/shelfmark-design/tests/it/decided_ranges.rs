//! Ranges and keys that experts use and that were refused once, each beside its neighbour that is
//! decided the other way.

use super::together::statuses;
use shelfmark_design::Document;

/// A parent lies behind its children and is read first, backwards: the item collection of a repository
/// and its issues.
#[test]
fn a_range_ends_at_the_parents_own_key() {
    let model = |end: &str, tag: &str| {
        format!(
            r##"
entity Repo {{ key name: text(min 1, max 39, without "#")  stars: int }}
entity Issue {{ key (repo, number)  repo: Repo  number: int(0..999999)  title: text }}
read page(r, n: int(1..99)) = Repo + Issue where repo = r order by kind limit n
schema s target dynamodb {{
  table base {{
    pk text sk text
    row RepoRow from Repo pk "REPO#<name>" sk "{tag}#<name>" store all
    row IssueRow from Issue pk "REPO#<repo>" sk "ISSUE#<number:pad(6)>" store all
  }}
  serve page by query base pk "REPO#<r>" sk {end} desc limit n
}}
"##
        )
    };
    assert_eq!(statuses(&model(r##"to "REPO#<r>""##, "REPO")), ["s.page certified"]);
    // Without a plan that is named, the same is found.
    let unnamed = |tag: &str| {
        let text = model("", tag);
        let at = text.find("  serve").unwrap_or(text.len());
        statuses(&format!("{}}}", text.get(..at).unwrap_or("")))
    };
    assert_eq!(unnamed("REPO"), ["s.page certified"]);
    assert_eq!(unnamed("A"), ["s.page certified"]);
    // An end before the parent leaves it out, and one between the two tags holds no child.
    assert_eq!(statuses(&model(r##"to "ISSUE#<r>""##, "REPO")), ["s.page refused"]);
    assert_eq!(statuses(&model(r##"from "REPO#<r>""##, "REPO")), ["s.page refused"]);
    // A parent before its children comes last.
    assert_eq!(statuses(&model(r##"from "A#<r>""##, "A")), ["s.page refused"]);
}

/// The last delimiter ends the first value, whatever it holds; a beginning has no last delimiter.
#[test]
fn only_the_last_part_is_free_of_the_delimiter() {
    let model = |free: &str, asked: &str| {
        format!(
            r##"
entity E {{ key (x, y)  x: text(max 9)  y: text(max 9{free})  n: int }}
read one(a, b: text(max 9{asked})) = E where x = a and y = b
read some(a) = E where x = a
schema s target dynamodb {{ table base {{ pk text sk text
  row R from E pk "k" sk "<x>#<y>" store all }}
  serve some by query base pk "k" sk begins "<a>#" }}
"##
        )
    };
    let free = r##", without "#""##;
    assert_eq!(statuses(&model(free, free)), ["s.one certified", "s.some refused"]);
    assert_eq!(statuses(&model(free, "")), ["s.one refused", "s.some refused"]);
    assert_eq!(statuses(&model("", free)), ["s.one refused", "s.some refused"]);
}

/// The greatest of what an order begins with is its first row's.
#[test]
fn an_extreme_is_the_first_row_of_an_order() {
    let model = r#"
entity Reading { key (sensor, at)  sensor: uuid  at: timestamp  v: int(0..999)  w: int optional }
read newest(s) = max at of Reading where sensor = s
read oldest(s) = min at of Reading where sensor = s
read hottest(s) = max v of Reading where sensor = s
read heaviest(s) = max w of Reading where sensor = s
read sum_of(s) = sum v of Reading where sensor = s
schema s target dynamodb {
  table base from Reading key (sensor; at) store all  index by_w key (sensor; w)
  serve newest by query base (s) desc limit 1
  serve oldest by query base (s) desc limit 1
  serve hottest by query base (s) desc limit 1
  serve heaviest by query by_w (s) desc limit 1
}
"#;
    let wanted = [
        "s.newest certified",
        "s.oldest refused",
        "s.hottest refused",
        "s.heaviest certified",
        "s.sum_of unservable",
    ];
    assert_eq!(statuses(model), wanted);
}

/// Behind the row type an attribute orders the types that have it: the repository and its newest
/// issues, in one range.
#[test]
fn each_row_type_has_its_own_order() {
    let model = |order: &str, tags: (&str, &str)| {
        let (repo, issue) = tags;
        format!(
            r##"
entity Repo {{ key name: text(min 1, max 39, without "#")  stars: int }}
entity Issue {{ key (repo, number)  repo: Repo  number: int(0..999999)  title: text }}
read page(r) = Repo + Issue where repo = r order by kind{order} limit 26
schema s target dynamodb {{
  table base {{
    pk text sk text
    row RepoRow from Repo pk "REPO#<name>" sk "{repo}#" store all
    row IssueRow from Issue pk "REPO#<repo>" sk "{issue}#<number:pad(6)>" store all
  }}
  serve page by query base pk "REPO#<r>" desc limit 26
}}
"##
        )
    };
    let newest = ", number desc";
    assert_eq!(statuses(&model(newest, ("REPO", "ISSUE"))), ["s.page certified"]);
    assert_eq!(statuses(&model(", number", ("REPO", "ISSUE"))), ["s.page refused"]);
    assert_eq!(statuses(&model(newest, ("A", "ISSUE"))), ["s.page refused"]);
    // Before the row type, or in no type at all, it is no attribute to order by.
    let unknown = model(newest, ("A", "B")).replace("order by kind, number", "order by number");
    let report = Document::parse("unknown", &unknown).expect_err("a repository has no number");
    assert!(report.text.contains("`Repo`"), "{report}");
    // The planner finds such keys by itself.
    let document = Document::parse("page", &model(newest, ("A", "B"))).expect("a model");
    let plan = document.plan("dynamodb", "planned").expect("a plan");
    let planned = document.with_only(&plan.schema);
    assert_eq!(statuses(&planned), ["planned.page certified"], "{planned}");
}
