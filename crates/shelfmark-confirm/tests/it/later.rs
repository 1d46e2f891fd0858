//! Models whose certificates the runner of the engine contradicted once, or which it never called.

use shelfmark_confirm::{Options, Report, confirm, confirm_through_cql, confirm_through_dynamodb};
use shelfmark_design::{Document, Status};

/// One way to run a model.
type Run = fn(&Document, &Options) -> Result<Report, String>;

const RUNS: [Run; 3] = [confirm, confirm_through_dynamodb, confirm_through_cql];

/// Runs a model in each way, and returns what each run says of a pattern.
fn agrees(text: &str) -> Vec<Report> {
    let document = Document::parse("t", text).unwrap_or_else(|report| panic!("{report}"));
    let options = Options { scales: vec![3, 9], calls: 12, ..Options::default() };
    let run = |run: &Run| run(&document, &options).unwrap_or_else(|error| panic!("{error}"));
    let reports = RUNS.iter().map(run);
    reports.inspect(|report| assert!(report.ok(), "{report:?}")).collect()
}

#[test]
fn a_loop_passes_over_tuples_that_are_not_as_it_selects_them() {
    let reports = agrees(
        r##"
entity Mail {
  key id: text(min 1, max 20)
  folder: text(min 1, max 20)
  unread: bool
  at: timestamp
}
write all_seen(f) = update Mail(id m.id, unread true) set unread = false for each Mail as m where folder = f
write sweep(f) = delete Mail(id m.id, unread false) for each Mail as m where folder = f
schema cql target cql {
  table mail from Mail key (id;) store all
  table by_folder from Mail key (folder; at desc, id) store all
}
schema dynamo target dynamodb {
  table mail from Mail key (id;) store all
  table by_folder from Mail key (folder; "<at:iso>#<id>") store all
}
schema own target ordered {
  table mail from Mail key (id;) store all
  table by_folder from Mail key (folder; at, id) store all
}
"##,
    );
    let engine = reports.first().expect("a report");
    assert!(engine.verdicts.iter().all(|one| one.calls > 0), "{engine:?}");
}

/// A put that may replace a tuple is called where what never changes is otherwise, and changes nothing.
#[test]
fn what_never_changes_is_not_written_over() {
    let reports = agrees(
        r##"
entity Event {
  key id: text(min 1, max 9)
  at: timestamp immutable
  who: text(min 1, max 9, without "#") immutable
  note: text(max 9) optional immutable
  body: text(min 1, max 9)
}
write rep(i, at, b, w) = insert Event(id i, at at, body b, who w) or replace
write noted(i, at, b, w, n) = insert Event(id i, at at, body b, who w, note n) or replace
schema dynamo target dynamodb {
  table events from Event key (id;) store all
    index by_body key (body; id)
  table by_who from Event key (who; "<at:iso>#<id>") store { body }
}
schema cql target cql {
  table events from Event key (id;) store all
  table by_who from Event key (who; at, id) store all
}
schema own target shelfmark {
  table events from Event key (id;) store all
  table by_body from Event key (body; id) store all
}
"##,
    );
    for report in &reports {
        assert!(report.verdicts.iter().all(|one| one.undefined > 0), "{report:?}");
    }
}

/// Calls that no draw made defined are told: a folder is deleted only where nothing refers to it.
#[test]
fn calls_that_are_left_out_are_told() {
    let reports = agrees(
        r#"
entity Folder { key id: enum("only") }
entity Mail { key id: text(min 1, max 9)  folder: Folder }
write close(f) = delete Folder(id f)
schema dynamo target dynamodb {
  table folders from Folder key (id;) store { count Mail as total }
  table mails from Mail key (id;) store all
}
schema cql target cql {
  table folders from Folder key (id;) store all
  table mails from Mail key (id;) store all
}
"#,
    );
    for verdict in reports.iter().flat_map(|report| &report.verdicts) {
        assert!(verdict.left_out > 0 && verdict.note.contains("left out"), "{verdict:?}");
    }
}

/// A loop deletes rows of a second table, whose key it has from the first.
#[test]
fn a_loop_deletes_what_its_rows_lead_to() {
    let reports = agrees(
        r##"
entity Post { key id: text(min 1, max 9) }
entity Tag { key (post, tag)  post: Post  tag: text(min 1, max 9)  at: timestamp immutable }
write drop(p) = delete Tag(post p, tag t.tag) for each Tag as t where post = p
schema cql target cql {
  table tags from Tag key (post; tag) store all
  table by_tag from Tag key (tag; at desc, post) store { }
}
schema dynamo target dynamodb {
  table tags from Tag key (post; tag) store all
  table by_tag from Tag key (tag; "<at:iso>#<post>") store { }
}
"##,
    );
    for verdict in reports.iter().flat_map(|report| &report.verdicts) {
        assert!(verdict.calls > 0, "{verdict:?}");
    }
}

/// Two inputs that are said to differ name two tuples; where they are one, nothing is changed.
#[test]
fn inputs_that_differ_name_two_tuples() {
    let reports = agrees(
        r##"
entity Account { key id: text(min 1, max 9, without "#")  balance: int(0..1000) }
entity Friend { key (user, friend)  user: Account  friend: Account  at: timestamp }
write move_money(s, t, n) = increment Account(id s) set balance by -n if balance >= n, s != t
  and increment Account(id t) set balance by n
write meet(s, t) = increment Account(id s) set balance by 1 if s != t
  and increment Account(id t) set balance by 2
write befriend(a, b, at) = insert Friend(user a, friend b, at at) if a != b
  and insert Friend(user b, friend a, at at)
schema dynamo target dynamodb {
  table accounts from Account key (id;) store all
  table friends from Friend key (user; friend) store all
}
schema text target dynamodb {
  table all { pk text  sk text
    row A from Account pk "A#<id>" sk "A" store all
    row F from Friend pk "F#<user>" sk "<friend>" store all }
}
schema cql target cql {
  table accounts from Account key (id;) store all
  table friends from Friend key (user; friend) store all
}
schema own target shelfmark {
  table accounts from Account key (id;) store all
  table friends from Friend key (user; friend) store all
}
"##,
    );
    for verdict in reports.iter().flat_map(|report| &report.verdicts) {
        // CQL adds to counters alone.
        let cql = verdict.schema == "cql" && verdict.pattern != "befriend";
        assert!(cql || verdict.calls > 0, "{verdict:?}");
        assert!(cql || verdict.status == Status::Certified, "{verdict:?}");
    }
}

/// A refusal of which nothing shows why is told, and is no contradiction.
#[test]
fn a_refusal_that_nothing_shows_contradicts_nothing() {
    let document = Document::parse(
        "t",
        r##"
entity Issue { key number: int(0..99)  repo: text(min 1, max 9)  state: enum("open", "closed") }
write reopen(n) = update Issue(number n) set state = "open" if state = "closed"
schema candb target candb {
  table issue { pk text  sk text  row I from Issue pk "issue" sk "<number:pad(2)>" store all }
  table by_repo { pk text  sk text  row R from Issue pk "<repo>" sk "<state>#<number:pad(2)>" store all }
}
"##,
    );
    let document = document.unwrap_or_else(|report| panic!("{report}"));
    let report = confirm(&document, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
    let verdict = report.verdicts.first().expect("a verdict");
    assert!(!verdict.ok && verdict.unshown, "{report:?}");
    assert!(report.ok(), "{report:?}");
    assert!(report.text().contains("Of 1 refusal no call showed why"), "{}", report.text());
}

/// A counter begins to be when it is added to, and goes on afterwards.
#[test]
fn a_counter_begins_to_be() {
    let reports = agrees(
        r##"
entity Views { key (page, day)  page: text(min 1, max 9, without "#")  day: int(0..99)  n: int }
write view(p, d) = increment Views(page p, day d) set n by 1 or insert
write more(p, d, k) = increment Views(page p, day d) set n by k or insert
write drop(p, d) = delete Views(page p, day d)
schema cql target cql {
  table views from Views key (page; day) store all
}
schema native target dynamodb {
  table views from Views key (page; day) store all
    index by_n key (page; n) store all
}
schema text target dynamodb {
  table all { pk text  sk text
    row V from Views pk "V#<page>" sk "<day:pad(2)>" store all }
}
schema own target shelfmark {
  table views from Views key (page; day) store all
}
"##,
    );
    for verdict in reports.iter().flat_map(|report| &report.verdicts) {
        assert!(verdict.calls > 0, "{verdict:?}");
        assert!(verdict.status == Status::Certified, "{verdict:?}");
    }
}
