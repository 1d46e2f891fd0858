//! What a choice of rows and indexes must not lose: a write, a table that can be made, the best choice.

use serde_json::Value as Json;
use shelfmark_design::{Document, Status};

fn document(text: &str) -> Document {
    Document::parse("choices", text).unwrap_or_else(|report| panic!("{report}"))
}

fn planned(text: &str, target: &str) -> String {
    document(text).plan(target, "planned").unwrap_or_else(|why| panic!("{why}")).schema
}

/// Checks that a planned schema serves all patterns, and returns it.
fn all_served(text: &str, target: &str) -> String {
    let schema = planned(text, target);
    assert!(!schema.contains("has no plan"), "{schema}");
    let whole = document(text).with_only(&schema);
    for proof in document(&whole).prove() {
        let good = matches!(proof.status, Status::Certified | Status::Multi);
        assert!(good, "{}: {schema}", proof.pattern);
    }
    schema
}

/// An index of the rows of which a constant holds costs less than one of all; but where a sum decides
/// whether a row is in it, no request keeps it up.
#[test]
fn a_cheaper_index_costs_no_write() {
    let text = |pass: &str| {
        format!(
            "type nm = text(min 1, max 10, only \"a-z\")
entity Student {{ key id: nm name: text(max 30) year: int(1..6) count 100k fanout year avg 15k max 30k }}
read student(s) = Student where id = s unique
read freshmen() = Student where year = 1 order by id limit 100
write admit(s, n, y) = insert Student(id s, name n, year y)
{pass}"
        )
    };
    let sum = "write pass(s) = increment Student(id s) set year by 1 if year < 6";
    let schema = all_served(&text(sum), "dynamodb");
    assert!(schema.contains("key (year; id)"), "{schema}");
    // A value that the caller says decides it as well as a sum would.
    let schema =
        all_served(&text("write pass(s, y) = update Student(id s) set year = y"), "dynamodb");
    assert!(schema.contains("when year = 1"), "{schema}");
}

/// What is added to is a column of its own, though the partition is a text because of a bool.
#[test]
fn what_is_added_to_is_a_column_beside_a_text() {
    let text = "type nm = text(min 1, max 10, only \"a-z\")
entity A { key id: nm at: date on: bool n: int(0..1000) most: int(0..1000) count 100k fanout at avg 10 max 50 }
read a(i) = A where id = i unique
read some(d, o, k) = A where at = d and on = o order by n limit k
write add(i, d, o, n, m) = insert A(id i, at d, on o, n n, most m)
write up(i, m) = increment A(id i) set n by 1 if n < m
";
    let schema = all_served(text, "dynamodb");
    assert!(schema.contains("#<on>\"; n)"), "{schema}");
}

/// A model of one entity with many attributes, of which lists show the first.
fn wide(shown: usize, lists: usize) -> String {
    let all = |form: &dyn Fn(usize) -> String| (0..24).map(form).collect::<Vec<_>>().join(", ");
    let names = (0..shown).map(|at| format!("a{at}")).collect::<Vec<_>>().join(", ");
    let mut text = format!(
        "entity W {{ key id: uuid {} at: timestamp {} count 100k {} }}
read w(i) = W where id = i unique
write add(i, t, {}, {}) = insert W(id i, at t, {}, {})\n",
        (0..lists).map(|at| format!("g{at}: uuid")).collect::<Vec<_>>().join(" "),
        all(&|at| format!("a{at}: int(0..9)")).replace(", ", " "),
        (0..lists).map(|at| format!("fanout g{at} avg 30 max 60")).collect::<Vec<_>>().join(" "),
        (0..lists).map(|at| format!("y{at}")).collect::<Vec<_>>().join(", "),
        all(&|at| format!("x{at}")),
        (0..lists).map(|at| format!("g{at} y{at}")).collect::<Vec<_>>().join(", "),
        all(&|at| format!("a{at} x{at}")),
    );
    for at in 0..lists {
        text += &format!(
            "read list{at}(g, n) = W select id, at, {names} where g{at} = g order by at desc limit n rate 100/s\n"
        );
    }
    text
}

/// Returns how many attributes each index of the tables includes by name.
fn included(text: &str, schema: &str) -> Vec<usize> {
    let whole = document(text).with_only(schema);
    let document = document(&whole);
    let made = document.calls("planned", None).unwrap_or_else(|why| panic!("{why}"));
    let list = |table: &Json| table.get("GlobalSecondaryIndexes").and_then(Json::as_array).cloned();
    let indexes = made.create.iter().filter_map(list).flatten();
    let names = |index: Json| {
        index.pointer("/Projection/NonKeyAttributes").and_then(Json::as_array).map_or(0, Vec::len)
    };
    indexes.map(names).collect()
}

/// An index of DynamoDB includes twenty attributes by name and those of a table a hundred; what needs
/// more has all, or rows of its own.
#[test]
fn indexes_include_no_more_than_they_may_name() {
    for (shown, lists) in [(21, 1), (20, 1), (18, 6), (18, 5)] {
        let text = wide(shown, lists);
        let schema = all_served(&text, "dynamodb");
        let counts = included(&text, &schema);
        assert!(counts.iter().all(|count| *count <= 20), "{counts:?} {schema}");
        assert!(counts.iter().sum::<usize>() <= 100, "{counts:?} {schema}");
    }
}

/// Demands of different entities share nothing: eight are searched to their end as one is.
#[test]
fn entities_are_searched_apart() {
    let mut text = String::from("type nm = text(min 1, max 20, only \"a-z0-9\")\n");
    let fans = [(5, 300, 50), (50, 5, 300), (300, 50, 5)];
    for entity in 0..8 {
        let (a, b, c) = fans[entity % 3];
        text += &format!(
            "entity E{entity} {{ key id: ulid a: nm b: nm c: nm n: int(0..1000) at: timestamp body: text(max 300) avg 100 count 1M fanout a avg {a} max 5k fanout b avg {b} max 5k fanout c avg {c} max 5k }}
read r{entity}(i) = E{entity} where id = i unique rate 100/s
read s{entity}(x) = E{entity} where c = x order by id rate {a}/s
read t{entity}(x, y) = E{entity} select id, a, b where a = x and b = y order by n limit 10 rate {b}/s
read u{entity}(x) = E{entity} select id, n where b = x order by at desc limit 20 rate {c}/s
write w{entity}(i, a, b, c, n, t, x) = insert E{entity}(id i, a a, b b, c c, n n, at t, body x) rate {a}/s
"
        );
    }
    let schema = all_served(&text, "dynamodb");
    assert!(!schema.contains("ended early"), "{schema}");
}

/// All of a list without a limit is read in one range, whatever its order; the first of it are none.
#[test]
fn a_list_of_two_directions_is_sorted_outside() {
    let text = |limit: &str| {
        format!(
            "type nm = text(min 1, max 20, only \"a-z\")
entity Book {{ key id: ulid home: nm year: int(0..3000) title: nm count 1M fanout home avg 50 max 500 }}
read book(i) = Book where id = i unique
read at_home(h) = Book where home = h order by year desc, title{limit}
write buy(i, h, y, t) = insert Book(id i, home h, year y, title t)
"
        )
    };
    for target in ["dynamodb", "candb"] {
        let schema = all_served(&text(""), target);
        assert!(schema.contains("then sort by year desc, title"), "{schema}");
        let schema = planned(&text(" limit 10"), target);
        assert!(schema.contains("at_home has no plan") && !schema.contains("sort by"), "{schema}");
    }
    let schema = all_served(&text(""), "cql");
    assert!(!schema.contains("then sort by"), "{schema}");
}

/// What is there with another attribute has a place in an order among the rows that have that one.
#[test]
fn attributes_that_come_together_have_a_place() {
    let text = |together: &str| {
        format!(
            "type nm = text(min 1, max 20, only \"a-z\")
entity Product {{ key sku: nm cat: nm maker: record {{ name: nm, land: nm }} optional a: int(0..9) optional b: int(0..9) optional {together} }}
read land(l) = Product where maker.land = l order by maker.name
read ab(x) = Product where a = x order by b
read some(c) = Product where cat = c and a is present order by b
write add(s, c) = insert Product(sku s, cat c)
write made(s, n, l) = update Product(sku s) set maker.name = n, maker.land = l
"
        )
    };
    for target in ["dynamodb", "cql", "shelfmark", "candb", "ordered"] {
        all_served(&text("together (a, b)"), target);
        let schema = planned(&text(""), target);
        let lost = ["ab", "some"].map(|read| schema.contains(&format!("{read} has no plan: rows")));
        assert_eq!((lost, schema.matches("has no plan").count()), ([true; 2], 2), "{schema}");
    }
}

/// A row that is put whatever is there is not read before it, also beside another change; one that
/// must be new is put under its condition.
#[test]
fn what_is_replaced_is_not_looked_at() {
    let text = "type nm = text(min 1, max 20, only \"a-z\")
entity Device { key id: nm last: timestamp optional val: int(0..1000) optional }
entity Reading { dev: Device at: timestamp key (dev, at) val: int(0..1000) fanout dev avg 50 max 200 }
read device(d) = Device where id = d unique
read newest(d, n) = Reading where dev = d order by at desc limit n
write add(d) = insert Device(id d)
write measure(d, t, v) = insert Reading(dev d, at t, val v) or replace and update Device(id d) set last = t, val = v
";
    let schema = all_served(text, "dynamodb");
    let line = schema.lines().find(|line| line.contains("write measure")).unwrap_or_default();
    assert!(line.contains("transaction { put reading") && !line.contains("read "), "{schema}");
}

/// In one order all new rows whose keys grow with time come to one place: it is said where that is hot.
#[test]
fn the_end_of_one_order_is_one_place() {
    let text = |id: &str, rate: &str| {
        format!(
            "entity Event {{ key id: {id} note: text(max 100) count 1M }}
read one(i) = Event where id = i unique
write log(i, n) = insert Event(id i, note n) rate {rate}
"
        )
    };
    let told = "log may land 20000 times a second in one place of event";
    assert!(planned(&text("ulid", "20k/s"), "ordered").contains(told));
    assert!(!planned(&text("ulid", "500/s"), "ordered").contains("may land"));
    assert!(!planned(&text("uuid", "20k/s"), "ordered").contains("may land"));
    assert!(!planned(&text("ulid", "20k/s"), "candb").contains("may land"));
}
