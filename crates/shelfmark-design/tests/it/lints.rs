//! Every lint of the catalogue is explained, and found in some model; those that rest on numbers
//! are not found where the numbers are harmless.

use std::collections::BTreeSet;

use shelfmark_design::{Document, Finding, Severity};

use super::root;

const HEAD: &str = r#"
entity User { key id: uuid  name: text(max 20)  logins: int  }
entity Task {
  key id: uuid
  owner: User immutable
  title: text
  at: timestamp immutable
  number: int
  state: enum("open", "done")
}
"#;

fn findings(text: &str) -> Vec<Finding> {
    let document = Document::parse("lints", text).unwrap_or_else(|report| panic!("{report}"));
    let found = document.check();
    for one in &found {
        assert!(one.line > 0 && !one.message.is_empty(), "{one:?}");
        assert!(one.severity != Severity::Error || one.reproducer.is_some(), "{one:?}");
        assert!(document.render(one).contains("help: "), "{}", document.render(one));
    }
    found
}

fn ids(text: &str) -> BTreeSet<String> {
    findings(text).into_iter().map(|one| one.id).collect()
}

/// What the seeds and the reference models do not show: a lint, and what is added to the head.
const SMALL: [(&str, &str); 19] = [
    (
        "K2",
        r##"schema s target candb { table t { row R from Task pk "u#<owner>" sk "<title>#<number>" store all } }"##,
    ),
    (
        "K8",
        r#"schema s target cql { table t from Task key (owner; at, id) store all
  sample { row t { title = "2021-09-15T02:00:00Z" } row t { title = "2021-09-15T02:00" } } }"#,
    ),
    (
        "K9",
        r##"schema s target candb { table t { row R from Task pk "u#<owner>" sk "<number:lexint>#<id>" store all } }"##,
    ),
    (
        "A8",
        r"read of(u) = Task where owner = u
schema s target dynamodb { table t from Task key (owner; id) store all serve of(u) by query t (u) }",
    ),
    (
        "A6",
        r"read how_many(u) = count of Task where owner = u
schema s target cql { table t from Task key (owner; id) store all }",
    ),
    (
        "F2",
        r#"read open(u, n) = Task where owner = u and state = "open" limit n
schema s target cql { table t from Task key (owner; id) store all
  serve open(u, n) by query t (u) limit n then filter state = "open" }"#,
    ),
    (
        "U4",
        r"read titled(t) = Task where title = t unique
schema s target shelfmark { table t from Task key (id;) store all index by_title key (title;)
  serve titled(t) by query by_title (t) }",
    ),
    (
        "W5",
        r#"write add(i, u, t, at, n) = insert Task(id i, owner u, title t, at at, number n, state "open")
schema s target cql { table a from Task key (id;) store all  table b from Task key (owner; id) store all
  write add { put a } }"#,
    ),
    (
        "W6",
        r"write login(u) = increment User(id u) set logins by 1 rate 5000/s
schema s target shelfmark { table users from User key (id;) store all }",
    ),
    (
        "P4",
        r"read of(us: list of uuid) = Task where owner in us
schema s target cql { table t from Task key (owner; id) store all
  serve of(us) by each u in us query t (u) }",
    ),
    (
        "P5",
        r"read oldest(u, n) = Task where owner = u order by at limit n
write done(i) = delete Task(id i)
schema s target cql { table t from Task key (id;) store all  table queue from Task key (owner; at, id) store all
  serve oldest(u, n) by query queue (u) limit n }",
    ),
    (
        "X3",
        r"read titled(t) = Task where title = t strong
schema s target cql { table t from Task key (id;) store all index by_title key (title;)
  serve titled(t) by query by_title (t) }",
    ),
    (
        "X4",
        r"target shelfmark { indexes.max 0 }
schema s target shelfmark { table t from Task key (id;) store all index by_title key (title;) }",
    ),
    (
        "T1",
        r"entity Cookie { key id: uuid  expires: timestamp ttl }
schema s target shelfmark { table c from Cookie key (id;) store all }",
    ),
    (
        "T2",
        r"entity Session { key id: uuid  user: User  expires: int ttl }
read session(i) = Session where id = i unique
schema s target shelfmark { table c from Session key (id;) store all }",
    ),
    ("M3", ""),
    (
        "M4",
        "schema s target cql { table t from Task key (id;) store all }\nallow K3 in s because \"it was there once\"",
    ),
    (
        "M5",
        "type label = text(max 9)\nschema s target cql { table t from Task key (id;) store all }",
    ),
    (
        "A7",
        "read all() = Task\nschema s target cql { table t from Task key (id;) store all\n  serve all() by scan t }",
    ),
];

/// D1 by a script: a printed row that differs by one digit from what the document's script writes.
#[test]
fn a_printed_row_and_its_script_are_compared() {
    let told = |printed: &str, script: &str| {
        let text = format!(
            "{HEAD}schema s target cql {{ table t from Task key (owner; number) store all\n  \
             sample {{ row t {{ number = {printed} }}  script t {{ number = {script} }} }} }}\n"
        );
        let found = findings(&text);
        let of_script: Vec<String> = found
            .into_iter()
            .filter(|one| one.id == "D1" && one.message.contains("the script"))
            .map(|one| one.message)
            .collect();
        of_script
    };
    for (printed, script) in [("1329", "1328"), ("1329", "329"), ("329", "3299"), ("11", "1")] {
        let message = format!(
            "t: the printed row has number = {printed}, the script writes {script}; the script is \
             what is stored"
        );
        assert_eq!(told(printed, script), [message]);
    }
    for (printed, script) in [("1329", "1329"), ("1329", "1428"), ("1329", "29"), ("12", "21")] {
        assert!(told(printed, script).is_empty(), "{printed} and {script}");
    }
}

#[test]
fn every_lint_is_found_somewhere() {
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for folder in ["seeds", "reference"] {
        let path = root().join("../../models").join(folder);
        for entry in std::fs::read_dir(path).expect("models").flatten() {
            seen.extend(ids(&std::fs::read_to_string(entry.path()).expect("a model")));
        }
    }
    let mut silent = Vec::new();
    for (id, text) in SMALL {
        let found = ids(&format!("{HEAD}{text}\n"));
        if !found.contains(id) {
            silent.push(format!("{id} is not found: {found:?}\n{text}"));
        }
        seen.extend(found);
    }
    assert!(silent.is_empty(), "{}", silent.join("\n"));
    let missing: Vec<&str> =
        shelfmark_design::lints().into_iter().filter(|id| !seen.contains(*id)).collect();
    assert!(missing.is_empty(), "no model shows {missing:?}");
}

#[test]
fn every_lint_and_obligation_is_explained() {
    for id in shelfmark_design::lints() {
        let text = shelfmark_design::explain(id).expect("explained");
        let paragraphs: Vec<&str> = text.trim_end().split("\n\n").collect();
        assert_eq!(paragraphs.len(), 3, "a line, why, and what to do: {text}");
        assert!(paragraphs.iter().all(|one| one.len() > 15), "{text}");
        assert!(text.contains("What to do: "), "{text}");
    }
    for number in 1..=10 {
        let text = shelfmark_design::explain(&format!("O{number}")).expect("explained");
        assert!(text.len() > 60, "{text}");
    }
    assert!(shelfmark_design::explain("Z1").is_none());
}

/// The numbers of one model, and whether the lint is found with them.
const NUMBERS: [(&str, &str, bool); 18] = [
    // 5,000 a second over a million counters, over ten, and over very uneven ones.
    ("W6", "entity Page { key id: uuid  count 1M  views: int }
write view(p) = increment Page(id p) set views by 1 rate 5000/s
schema s target shelfmark { table pages from Page key (id;) store all }", false),
    ("W6", "entity Page { key id: uuid  count 10  views: int }
write view(p) = increment Page(id p) set views by 1 rate 5000/s
schema s target shelfmark { table pages from Page key (id;) store all }", true),
    ("W6", "entity Page { key id: uuid zipf 1.2  count 1M  views: int }
write view(p) = increment Page(id p) set views by 1 rate 5000/s
schema s target shelfmark { table pages from Page key (id;) store all }", true),
    // A count that rows keep of others is a counter too.
    ("W6", "entity Page { key id: uuid  count 10 }
entity View { key id: uuid  page: Page immutable }
read views(p) = count of View where page = p
write view(i, p) = insert View(id i, page p) rate 5000/s
schema s target shelfmark { table pages from Page key (id;) store { count View as views }  table views from View key (id;) store all }", true),
    // An index that lies beside its rows, and one that has partitions or an order of its own.
    ("X1", "entity Page { key id: uuid  made: timestamp }
schema s target cql { table pages from Page key (id;) store all index by_made key (made;) }", true),
    ("X1", "entity Page { key id: uuid  made: timestamp }
schema s target dynamodb { table pages from Page key (id;) store all index by_made key (made;) }", false),
    ("X1", "entity Page { key id: uuid  made: timestamp }
schema s target cql { table pages from Page key (id;) store all index by_made key (\"all\"; made) }", false),
    ("X1", "entity Page { key id: uuid  shown: bool }
schema s target cql { table pages from Page key (id;) store all index by_shown key (shown;) }", true),
    // A queue; from where it was left off; newest first; on a store without tombstones.
    ("P5", "entity Job { key id: ulid  lane: int(0..9)  note: text(max 9) }
read next(l, n) = Job where lane = l order by id limit n
write done(i) = delete Job(id i)
schema s target shelfmark { table jobs from Job key (id;) store all index lanes key (lane; id) }", true),
    ("P5", "entity Job { key id: ulid  lane: int(0..9)  note: text(max 9) }
read next(l, last, n) = Job where lane = l and id > last order by id limit n
write done(i) = delete Job(id i)
schema s target shelfmark { table jobs from Job key (id;) store all index lanes key (lane; id) }", false),
    ("P5", "entity Job { key id: ulid  lane: int(0..9)  note: text(max 9) }
read last(l, n) = Job where lane = l order by id desc limit n
write done(i) = delete Job(id i)
schema s target shelfmark { table jobs from Job key (id;) store all index lanes key (lane; id) }", false),
    ("P5", "entity Job { key id: ulid  lane: int(0..9)  note: text(max 9) }
read next(l, n) = Job where lane = l order by id limit n
write done(i) = delete Job(id i)
schema s target dynamodb { table jobs from Job key (id;) store all index lanes key (lane; id) }", false),
    // A door that closes by itself, with and without a look at the clock.
    ("T2", "entity AccessToken { key id: uuid  expires: int ttl }
read token(i, now) = AccessToken where id = i and expires > now
schema s target shelfmark { table tokens from AccessToken key (id; expires) }", false),
    ("T2", "entity Draft { key id: uuid  expires: int ttl }
read draft(i) = Draft where id = i unique
schema s target shelfmark { table drafts from Draft key (id;) store all }", false),
    // Today's rows all go to one partition; of a hundred sensors each has one of its own.
    ("P2", "entity R { sensor: int(1..100)  at: timestamp  day: date  room: int(1..4)  key (sensor, at)  count 1M  fanout room, day avg 1k }
write add(s, a, d, r) = insert R(sensor s, at a, day d, room r) rate 8000/s
target cql { partition.writes 1000/s }
schema s target cql { table t from R key (room, day; at, sensor) }", true),
    ("P2", "entity R { sensor: int(1..100)  at: timestamp  day: date  room: int(1..4)  key (sensor, at)  count 1M  fanout sensor, day avg 1k }
write add(s, a, d, r) = insert R(sensor s, at a, day d, room r) rate 8000/s
target cql { partition.writes 1000/s }
schema s target cql { table t from R key (sensor, day; at) store { room } }", false),
    // A table that loses rows is read, by who is refused for it; one that nobody can ask is not.
    ("W7", "entity O { key id: uuid  u: uuid  at: timestamp }
read of(x) = O where u = x order by at
schema s target cql { table t from O key (u; at) store all }", false),
    ("W7", "entity O { key id: uuid  u: uuid  at: timestamp }
read of(x) = O where u = x order by at
schema s target cql { table t from O key (at; u) store all }", true),
];

#[test]
fn lints_that_rest_on_numbers_follow_them() {
    let mut wrong = Vec::new();
    for (id, text, wanted) in NUMBERS {
        let found = ids(text);
        if found.contains(id) != wanted {
            wrong.push(format!("{id}: {found:?}\n{text}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn one_value_that_most_rows_share_is_p3() {
    let model = |skew: &str| {
        format!(
            "entity Topic {{ key name: text(max 9)  count 100k }}
entity Post {{ key id: uuid  topic: Topic immutable  fanout topic avg 10 {skew} }}
schema s target shelfmark {{ table posts from Post key (topic; id) }}"
        )
    };
    assert!(ids(&model("zipf 1.5")).contains("P3"));
    assert!(!ids(&model("zipf 0.5")).contains("P3"));
    assert!(!ids(&model("")).contains("P3"));
}

#[test]
fn what_a_store_takes_in_no_key_is_k9() {
    let model = |target: &str, rest: &str| {
        let text = format!(
            "entity A {{ key id: text(min 1, max 40)  flag: bool  title: text(max 99)  n: int\n\
             mark: text(min 1, max 9) optional }}\n\
             schema s target {target} {{ table t from A {rest} }}"
        );
        let found = findings(&text);
        let errors = found.into_iter().filter(|one| one.severity == Severity::Error);
        errors.map(|one| one.id).collect::<Vec<String>>()
    };
    for (target, rest, told) in [
        ("dynamodb", "key (title; id)", true),
        ("dynamodb", "key (id; title)", true),
        ("dynamodb", r#"key (id; "<title>#")"#, false),
        ("dynamodb", r#"when title = "x" key (title; id)"#, false),
        ("dynamodb", "key (id;) store all index g key (flag; n)", true),
        ("dynamodb", r#"key (id;) store all index g key ("<flag>"; n)"#, false),
        ("dynamodb", "key (id;) store all index g key (n; title)", true),
        ("dynamodb", "key (id;) store all index g key (mark; n)", false),
        ("shelfmark", "key (title; flag, id)", false),
    ] {
        let found = model(target, rest);
        assert_eq!(found.contains(&"K9".to_owned()), told, "{target} {rest}: {found:?}");
    }
}

/// Characters of texts are many: few only where the first of them is all that is kept.
#[test]
fn first_characters_are_few_only_when_one_is_kept() {
    let model = |count: usize| {
        format!(
            "entity A {{ key id: uuid  name: text(min 4, max 40)\n\
             low: int(-9223372036854775807..9223372036854775807) }}\n\
             schema s target shelfmark {{ table t from A key (first(name, {count}); id) store all\n\
             table n from A key (low; id) store all }}"
        )
    };
    assert!(ids(&model(1)).contains("P3"));
    assert!(!ids(&model(2)).contains("P3"));
}

#[test]
fn an_index_orders_by_its_own_columns() {
    let model = |target: &str, key: &str, order: &str| {
        format!(
            "{HEAD}read mine(u) = Task where owner = u order by {order}\n\
             schema s target {target} {{ table t from Task key (id;) store all index i key ({key})\n\
             serve mine(u) by query i (u) }}"
        )
    };
    for (target, key, order, told) in [
        ("dynamodb", "owner; at", "at, id", true),
        ("cql", "owner; at", "at, id", true),
        ("dynamodb", "owner; at", "at", false),
        ("dynamodb", "owner; at, id", "at, id", false),
        ("shelfmark", "owner; at", "at, id", false),
    ] {
        let found = ids(&model(target, key, order));
        assert_eq!(found.contains("X2"), told, "{target} ({key}) by {order}: {found:?}");
    }
}

#[test]
fn a_text_key_that_stops_early_lacks_a_part() {
    let model = |how: &str| {
        format!(
            "{HEAD}read one(u, a) = Task where owner = u and at = a\n\
             schema s target candb {{ table t {{ pk text sk text\n\
             row R from Task pk \"u#<owner>\" sk \"t#<at:iso>#<id>\" store all }}\n\
             serve one(u, a) by {how} }}"
        )
    };
    let get = ids(&model(r##"get t pk "u#<u>" sk "t#<a:iso>""##));
    assert!(get.contains("A2") && !get.contains("K3"), "{get:?}");
    let elsewhere = ids(&model(r##"get t pk "u#<u>" sk "x#<a:iso>""##));
    assert!(elsewhere.contains("K3") && !elsewhere.contains("A2"), "{elsewhere:?}");
    let query = ids(&model(r##"query t pk "u#<u>" sk begins "t#<a:iso>#""##));
    assert!(!query.contains("A2") && !query.contains("K3"), "{query:?}");
    // No sentinel ends this range: it asks for another thing than a task's time.
    let tag = ids(&model(r##"query t pk "u#<u>" sk begins "t#2021""##));
    assert!(tag.contains("A4") && !tag.contains("K5"), "{tag:?}");
}

#[test]
fn a_slip_in_a_date_is_another_form() {
    let model = |second: &str| {
        format!(
            r#"{HEAD}schema s target cql {{ table t from Task key (owner; at, id) store all
  sample {{ row t {{ title = "2021-09-15T02:00:00" }} row t {{ title = "{second}" }} }} }}"#
        )
    };
    assert!(ids(&model(r#"2021-09-15T02:00\"00"#)).contains("K8"));
    assert!(!ids(&model("2021-09-16T03:00:00")).contains("K8"));
}

/// One defect is one finding, however many rows and attributes it shows in.
#[test]
fn one_defect_is_told_once() {
    let count = |text: &str, id: &str| {
        let found = findings(text);
        let told: Vec<String> =
            found.iter().filter(|one| one.id == id).map(|one| one.message.clone()).collect();
        assert_eq!(told.len(), 1, "{id}: {told:#?}");
        told.concat()
    };
    // A new key without a look at the old row: the key and three attributes are unknown.
    let moved = count(
        r#"entity Mail { key id: uuid  folder: text  label: text  subject: text  size: int }
        read list(f) = Mail where folder = f order by label
        write move(m, f) = update Mail(id m) set folder = f
        schema s target dynamodb { table mails from Mail key (folder; label, id) store all
          write move(m, f) { delete mails put mails } }"#,
        "W1",
    );
    assert!(moved.ends_with("does not know folder, label, subject, size"), "{moved}");
    // Two row types that may meet, seen from one side.
    let pair = r##"entity A { key id: uuid  n: text }
        entity B { key id: uuid  n: text }
        schema s target candb { table t { pk text  sk text
          row Ones from A pk "all" sk "<n>#<id>" store all
          row Twos from B pk "all" sk "<n>#<id>" store all } }"##;
    assert!(count(pair, "U1").contains("Ones and Twos"));
    // Several row types in one range.
    let range = r##"entity U { key id: uuid }
        entity A { key id: uuid  u: U immutable }
        entity B { key id: uuid  u: U immutable }
        entity C { key id: uuid  u: U immutable }
        read of(x) = A where u = x
        schema s target candb { table t { pk text  sk text
          row Ones from A pk "u#<u>" sk "a#<id>" store all
          row Twos from B pk "u#<u>" sk "b#<id>" store all
          row Threes from C pk "u#<u>" sk "c#<id>" store all }
          serve of(x) by query t pk "u#<x>" }"##;
    assert!(count(range, "K6").contains("Twos, Threes"), "{}", count(range, "K6"));
}

/// A filter that asks what the pattern asks is F1, however it is written; another one is A4.
#[test]
fn a_filter_on_both_ends_is_the_patterns_own() {
    let of = |filter: &str| {
        ids(&format!(
            r#"entity T {{ key id: ulid  s: uuid immutable  t: enum("a", "b") immutable  due: date optional }}
read x(s, lo, hi, d: ulid) = T where s = s and id between lo and hi and due is present
schema w target cql {{
  table t from T key (s; t, id) store {{ due }}
  serve x(s, lo, hi, d) by query t (s) then filter {filter}
}}"#
        ))
    };
    let own = of("id between lo and hi and due is present");
    assert!(own.contains("F1") && !own.contains("A4") && !own.contains("A3"), "{own:?}");
    assert!(of("id between lo and d and due is present").contains("A4"));
    assert!(of("id between lo and hi and due is absent").contains("A4"));
}
