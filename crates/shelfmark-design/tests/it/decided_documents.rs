//! Attributes of several parts: records, references to one of several entities, optional attributes
//! that come together. Each stands beside its nearest neighbour, which is decided the other way.

use super::together::statuses;
use shelfmark_design::Document;

const SHOP: &str = r##"
type address = record { street: text(max 40), city: text(min 1, max 20, only "a-z"), zip: text(max 8) optional }
entity Customer {
  key id: uuid
  home: address
  work: address optional
  limits: record { daily: int(0..999), geo: record { lat: int(-90..90), lon: int(-180..180) } immutable }
}
read in_city(c) = Customer select id, home where home.city = c order by id
read works(c) = Customer select id, work where work.city = c order by id
read employed() = Customer select id, work where work is present order by work.city, id
read at(c, g) = Customer select id, limits.geo where home.city = c and limits.geo = g order by id
write move(i, c, s) = update Customer(id i) set home.city = c, home.street = s
write retire(i) = update Customer(id i) set work = absent
write raise(i, n, m) = update Customer(id i) set limits.daily = n if limits.daily = m
"##;

#[test]
fn fields_of_records_are_attributes() {
    let schema = r##"
schema s target dynamodb {
  table customers from Customer key (id;) store all
  table towns from Customer key (home.city; id) store { home, limits.geo }
  table jobs { pk text sk text
    row Job from Customer pk "JOB" sk "<work.city>#<id>" store { work } }
  table places from Customer key (work.city; id) store { work }
}
"##;
    let found = statuses(&format!("{SHOP}{schema}"));
    let of = |name: &str| found.iter().find(|one| one.starts_with(name)).cloned();
    for (name, status) in [
        ("s.in_city", "certified"),
        ("s.works", "certified"),
        ("s.employed", "certified"),
        ("s.at", "refused"),
        ("s.move", "certified"),
        ("s.retire", "certified"),
        ("s.raise", "certified"),
    ] {
        assert_eq!(of(name), Some(format!("{name} {status}")), "{found:?}");
    }
}

/// Tuples of an optional record have all of its fields or none: what is keyed by one finds all.
#[test]
fn optional_attributes_come_together() {
    let model = |declared: &str| {
        r##"
entity Order {
  key id: uuid
  shipped_at: timestamp optional
  carrier: text(min 1, max 9, without "#") optional
  DECLARED
}
read shipped(a) = Order select id, shipped_at where carrier is present and shipped_at >= a order by shipped_at, id
read open() = Order select id where carrier is absent order by id
write ship(i, c) = update Order(id i) set shipped_at = now(), carrier = c
write lose(i) = update Order(id i) set shipped_at = absent, carrier = absent
schema s target ordered {
  table orders from Order key (id) store all
  table by_ship from Order key (shipped_at, id) store { carrier }
  table waiting from Order when shipped_at is absent key (id) store {}
  serve shipped(a) by range by_ship from a
  serve open() by scan waiting
}
"##
        .replace("DECLARED", declared)
    };
    let found = statuses(&model("together (shipped_at, carrier)"));
    assert_eq!(
        found,
        ["s.shipped certified", "s.open certified", "s.ship certified", "s.lose certified"]
    );
    let apart = statuses(&model(""));
    assert_eq!(apart[..2], ["s.shipped refused", "s.open refused"]);
}

const COMMENTS: &str = r##"
entity Post { key id: uuid  title: text(max 20) }
entity Photo { key id: uuid  url: text(max 20) }
entity Comment {
  key id: ulid
  subject: one of (Post, Photo) immutable
  body: text(max 20)
}
read comments(s) = Comment where subject = s order by id desc limit 20
read of_post(p) = Comment where subject = Post(p) order by id
read of_kind(p) = Comment where subject.key = p order by id
write comment(i, s, b) = insert Comment(id i, subject s, body b)
write on_photo(i, p, b) = insert Comment(id i, subject Photo(p), body b)
write remove(i) = delete Comment(id i)
"##;

#[test]
fn a_reference_to_one_of_several_is_its_kind_and_key() {
    let schema = r##"
schema s target dynamodb {
  table data { pk text sk text
    row Comment from Comment pk "<subject.kind>#<subject.key>" sk "C#<id>" store all }
  table comments from Comment key (id;) store { subject }
  serve comments(s) by query data pk "<s.kind>#<s.key>" sk begins "C#" desc limit 20
  serve of_post(p) by query data pk "Post#<p>" sk begins "C#"
  serve of_kind(p) by query data pk "Post#<p>" sk begins "C#"
}
"##;
    let found = statuses(&format!("{COMMENTS}{schema}"));
    assert_eq!(
        found,
        [
            "s.comments certified",
            "s.of_post certified",
            "s.of_kind refused",
            "s.comment certified",
            "s.on_photo certified",
            "s.remove certified"
        ]
    );
}

#[test]
fn schemas_are_derived_for_attributes_of_several_parts() {
    for model in [SHOP, COMMENTS] {
        let document = Document::parse("m", model).unwrap_or_else(|report| panic!("{report}"));
        for target in ["shelfmark", "cql", "dynamodb", "ordered", "candb"] {
            let plan = document.plan(target, "planned").unwrap_or_else(|why| panic!("{why}"));
            let whole = format!("{model}\n{}", plan.schema);
            let planned = Document::parse("planned", &whole)
                .unwrap_or_else(|report| panic!("{target}: {report}\n{whole}"));
            for one in planned.prove() {
                planned
                    .verify(&one)
                    .unwrap_or_else(|why| panic!("{target} {}: {why}", one.pattern));
            }
        }
    }
}

#[test]
fn what_has_no_meaning_is_told() {
    for (text, told) in [
        ("entity A { key id: uuid  m: map }", "a map's keys are not part of the model"),
        (
            "entity A { key id: uuid  l: list of record { a: int } }",
            "the elements of a list are single",
        ),
        (
            "entity A { key id: uuid  r: record { a: int, a: int } }",
            "the field `a` is defined twice",
        ),
        (
            "entity A { key id: uuid  r: record { a: int optional } optional }",
            "and so is all that is in it",
        ),
        ("type r = record { again: r }\nentity A { key id: uuid  r: r }", "holds itself"),
        ("entity A { key id: uuid  o: one of (A) }", "a reference to one of several names them"),
        (
            "entity A { key id: uuid }\nentity B { key n: int  o: one of (A, B) }",
            "keys are one attribute each, all of one type",
        ),
        (
            "entity A { key id: uuid  n: int  m: int optional  together (n, m) }",
            "`n` is always there",
        ),
        (
            "entity A { key id: uuid  n: int optional  m: int optional  together (n, m) }\n\
             write w(i, n) = insert A(id i, n n)",
            "`n` comes together with `m`, which is not given",
        ),
        (
            "entity A { key id: uuid  n: int optional  m: int optional  together (n, m) }\n\
             write w(i) = update A(id i) set m = absent",
            "they come together",
        ),
        (
            "entity A { key id: uuid  r: record { a: int, b: int } }\nread x(n) = A where r > n",
            "`r` stands for several attributes",
        ),
        (
            "entity A { key id: uuid  r: record { a: int, b: int } }\nread x(n) = A where r.c = n",
            "`r.c`",
        ),
        (
            "entity A { key id: uuid }\nentity B { key id: uuid  o: one of (A, B) }\n\
             read x(n) = B where o = C(n)",
            "is no such enum",
        ),
    ] {
        let report = Document::parse("wrong", &format!("{text}\n"));
        let report = report.err().unwrap_or_else(|| panic!("{text} is taken"));
        assert!(report.text.contains(told), "{told} in\n{}", report.text);
    }
}

#[test]
fn the_new_words_are_printed_as_they_are_read() {
    let text = "type address = record { street: text(max 40), zip: text optional }\n\
        \nentity A {\n  key id: uuid\n  home: address optional\n  \
        of: one of (A, B) immutable\n  n: int optional\n  m: int optional\n  together (n, m)\n}\n\
        \nentity B {\n  key id: uuid\n}\n\
        \nwrite w(i, s) = update A(id i) set home.street = s if of.kind = \"B\"\n";
    let printed = Document::format("m", text).unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(printed, text);
    let document = Document::parse("m", text).unwrap_or_else(|report| panic!("{report}"));
    let json = document.to_json().unwrap_or_default().to_string();
    let back = Document::text_of_json("m", &json).unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(back, text.replace("\n\n", "\n"));
}
