//! What plans choose where declared numbers decide: each model stands beside its nearest neighbour, for
//! which something else is cheaper.

use super::together::statuses;
use shelfmark_design::Document;

fn planned(text: &str, target: &str) -> (String, Vec<String>) {
    let document = Document::parse("weighed", text).unwrap_or_else(|report| panic!("{report}"));
    let plan = document.plan(target, "planned").unwrap_or_else(|why| panic!("{why}"));
    let found = statuses(&document.with_only(&plan.schema));
    let served = |one: &&String| one.ends_with("certified") || one.ends_with("multi");
    let refused: Vec<&String> = found.iter().filter(|one| !served(one)).collect();
    assert!(refused.is_empty(), "{refused:?}\n{}", plan.schema);
    (plan.schema, found)
}

/// A strong read by an attribute is served beside its rows; a weak one by an index; what may outgrow a
/// collection by a second row.
#[test]
fn strong_reads_have_local_indexes() {
    let of = |fresh: &str, most: &str| {
        let text = format!(
            "type name = text(min 1, max 20, only \"a-z\")
entity Forum {{ key name: name  count 1k }}
entity Thread {{
  forum: Forum  subject: name  last: timestamp  text: text(max 2000) avg 400
  key (forum, subject)  count 1M  fanout forum avg 1k max {most}
}}
read latest(f, n) = Thread where forum = f order by last desc limit n {fresh} rate 50/s
read thread(f, s) = Thread where forum = f and subject = s unique rate 100/s
write open(f, s, l, t) = insert Thread(forum f, subject s, last l, text t) rate 1/s
write reply(f, s, l) = update Thread(forum f, subject s) set last = l rate 10/s
"
        );
        planned(&text, "dynamodb").0
    };
    let strong = of("strong", "50k");
    assert!(strong.contains(" local key (forum; last)"), "{strong}");
    let weak = of("", "50k");
    assert!(weak.contains(" index ") && !weak.contains(" local "), "{weak}");
    let large = of("strong", "50M");
    assert!(!large.contains(" local ") && large.contains("thread_by_forum_last"), "{large}");
}

/// A row by a key that is declared unique needs no second row to keep it so, unless writes know only the
/// other key.
#[test]
fn a_row_may_lie_under_another_key() {
    let of = |write: &str| {
        let text = format!(
            "type name = text(min 1, max 20, only \"a-z\")
entity Course {{ key id: name  title: text(max 40) }}
entity Lesson {{
  course: Course  id: name  number: int(1..999) immutable  title: text(max 40)
  key (course, id)  unique (course, number)
}}
read page(c) = Course + Lesson where course = c order by kind
read lessons(c) = Lesson where course = c order by number
write publish(c, t) = insert Course(id c, title t)
write add(c, l, n, t) = insert Lesson(course c, id l, number n, title t)
{write}"
        );
        planned(&text, "dynamodb").0
    };
    let free = of("");
    assert!(!free.contains("unique_lesson"), "{free}");
    let bound = of("write rename(c, l, t) = update Lesson(course c, id l) set title = t\n");
    assert!(bound.contains("unique_lesson"), "{bound}");
}

/// Row types that come in one order share an index; the second is refused by no one where the order is
/// by type first.
#[test]
fn row_types_in_one_order_share_an_index() {
    let of = |order: &str| {
        let text = format!(
            "entity User {{ key id: uuid }}
entity Post {{ key id: ulid  author: User immutable  at: timestamp immutable }}
entity Comment {{ key id: ulid  by: User immutable  written: timestamp immutable }}
read feed(u, n) = Post + Comment where (Post.author, Comment.by) = u order by {order} limit n
write say(p, u, at) = insert Post(id p, author u, at at)
write comment(c, u, at) = insert Comment(id c, by u, written at)
"
        );
        text
    };
    let both = of("(Post.at, Comment.written) desc");
    for (target, told) in [
        ("dynamodb", "sk \"#<at:iso>\""),
        ("cql", "key (author; at desc, \"0\", \"<id>\")"),
        ("shelfmark", "key (author; at desc, \"0\", \"<id>\")"),
    ] {
        let (schema, _) = planned(&both, target);
        assert!(schema.contains(told), "{target}\n{schema}");
    }
    let (typed, _) = planned(&of("kind, (Post.at, Comment.written) desc"), "dynamodb");
    assert!(!typed.contains("sk \"#<at:iso>\""), "{typed}");
}

/// A partition of CQL that is declared to outgrow what it may hold is spread, and a smaller one is not.
#[test]
fn partitions_that_outgrow_their_target_are_spread() {
    let of = |rows: &str| {
        let text = format!(
            "entity Room {{ key id: uuid  count 1k }}
entity Message {{
  key id: ulid  room: Room immutable  body: text(max 1000) avg 500 immutable
  fanout room avg {rows} growth 5%/mo
}}
read newest(r, n) = Message where room = r order by id desc limit n
write say(m, r, b) = insert Message(id m, room r, body b)
"
        );
        planned(&text, "cql")
    };
    let (large, found) = of("200k");
    assert!(large.contains("bucket(hash(id), "), "{large}");
    assert_eq!(found.first().map(String::as_str), Some("planned.newest multi"));
    let (small, _) = of("2k");
    assert!(!small.contains("bucket("), "{small}");
}

/// Rows that are there only while an attribute has a value are kept beside whole ones, where that is
/// cheaper than entries that move.
#[test]
fn a_constant_that_is_asked_for_makes_a_sparse_table() {
    let of = |rate: &str| {
        let text = format!(
            "entity Hotel {{ key id: uuid  count 1k }}
entity Night {{
  hotel: Hotel  day: date  room: int(1..999)  free: bool
  key (hotel, day, room)  count 10M  fanout hotel avg 10k
}}
read free(h, a, b) = Night
    select day, room where hotel = h and free = true and day between a and b order by day, room
    rate {rate}
write open(h, d, r) = insert Night(hotel h, day d, room r, free true)
write block(h, d, r) = update Night(hotel h, day d, room r) set free = false rate {rate}
"
        );
        planned(&text, "shelfmark").0
    };
    let often = of("40/s");
    assert!(often.contains("when free = true key (hotel; day, room)"), "{often}");
    assert!(often.contains("from Night key (hotel, day, room;)"), "a night has a row: {often}");
}
