//! What plans choose where declared numbers decide: each model stands beside its nearest neighbour, for
//! which something else is cheaper.

use super::together::statuses;
use shelfmark_design::{Document, Status};

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

/// An index of the open ones alone is written less than one of all by their states; where a read asks
/// for either state, one of all is needed.
#[test]
fn reads_of_a_constant_have_indexes_of_some_rows() {
    let of = |state: &str| {
        let (inputs, state) = if state == "s" { ("c, s", "s") } else { ("c", state) };
        let text = format!(
            "type name = text(min 1, max 20, only \"a-z\")
entity Order {{
  customer: name  id: ulid  state: enum(\"open\", \"shipped\")  at: timestamp immutable
  address: text(max 400) avg 200
  key (customer, id)  count 10M  fanout customer avg 100
}}
read order(c, i) = Order where customer = c and id = i unique rate 10/s
read some({inputs}) = Order select id, at where customer = c and state = {state} order by at rate 50/s
write place(c, i, t, a) = insert Order(customer c, id i, state \"open\", at t, address a) rate 20/s
write ship(c, i) = update Order(customer c, id i) set state = \"shipped\" rate 20/s
"
        );
        ["dynamodb", "shelfmark"].map(|target| planned(&text, target).0)
    };
    let [open, fresh] = of("\"open\"");
    assert!(open.contains("index order_open when state = \"open\" key (customer; at)"), "{open}");
    // Where an index shows a write at once the rows that it needs are as good as a table of them.
    assert!(fresh.contains("when state = \"open\" key (customer; at"), "{fresh}");
    for either in of("s") {
        assert!(!either.contains(" when "), "{either}");
    }
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
    // One that may hold many times as much as a usual one is spread for its own sake.
    let (tail, found) = of("2k max 50M");
    assert!(tail.contains("bucket(hash(id), "), "{tail}");
    assert_eq!(found.first().map(String::as_str), Some("planned.newest multi"));
    let (short, _) = of("2k max 500k");
    assert!(!short.contains("bucket("), "{short}");
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

const REPOS: &str = r##"
entity Repo { key id: uuid  title: text(max 100)  count 10k }
entity Issue {
  repo: Repo
  number: int(0..999999)
  state: enum("open", "closed")
  key (repo, number)
  fanout repo avg 100 max 10k
}
READ
read repo(r) = Repo where id = r unique
write new(r, t) = insert Repo(id r, title t)
write add(r, n) = insert Issue(repo r, number n, state "open")
write close(r, n) = update Issue(repo r, number n) set state = "closed"
"##;

/// The repository and its newest issues are one range on every target, also where keys are typed columns
/// and one row type lacks what the other is ordered by; and so are those that are open.
#[test]
fn row_types_are_ordered_and_limited_together() {
    for (read, status) in [
        ("Repo + Issue where repo = r order by kind, number desc limit 26", "certified"),
        ("Repo + Issue where repo = r order by kind, Issue.number desc limit 26", "certified"),
        ("Repo + Issue where repo = r order by kind, number limit n", "certified"),
        ("Issue + Repo where repo = r order by kind desc, number desc limit n", "certified"),
        (
            "Repo + Issue where repo = r and Issue.state = \"open\" order by kind, number desc limit 26",
            "certified",
        ),
    ] {
        let inputs = if read.ends_with('n') { "r, n" } else { "r" };
        let text = REPOS.replace("READ", &format!("read page({inputs}) = {read} rate 50/s"));
        for target in ["dynamodb", "cql", "shelfmark", "ordered", "candb"] {
            let (schema, found) = planned(&text, target);
            let right = format!("planned.page {status}");
            assert_eq!(found.first(), Some(&right), "{target}: {read}\n{schema}");
        }
    }
}

/// A condition behind the name of a row type is of that type alone: a row of another is asked for nothing,
/// and one range over all issues is not the answer.
#[test]
fn a_condition_of_one_row_type_is_none_of_the_others() {
    let read = "read page(r) = Repo + Issue where repo = r and Issue.state = \"open\" \
                order by kind, number desc";
    let of = |when: &str| {
        let schema = format!(
            "schema s target shelfmark {{ table page {{\n\
             row repo from Repo key (id; \"0\", 0 desc) store {{ title }}\n\
             row issue from Issue {when} key (repo; \"1\", number desc) store {{ state }} }} }}"
        );
        let text = format!("{}\n{schema}", REPOS.replace("READ", read));
        let document = Document::parse("m", &text).unwrap_or_else(|report| panic!("{report}"));
        let page = document.prove().into_iter().find(|one| one.pattern == "page");
        page.map(|one| (document.verify(&one).is_ok(), one.status))
    };
    assert_eq!(of("when state = \"open\""), Some((true, Status::Certified)));
    assert_eq!(of(""), Some((true, Status::Refused)));
}

/// Numbers lie in a table of counters where a target adds to nothing else, and no write is lost for them.
#[test]
fn counters_have_a_table_of_their_own() {
    let text = "
entity Post { key id: uuid  title: text(max 100) }
entity Vote { key (post, voter)  post: Post  voter: uuid  weight: int(0..10) }
read post(p) = Post where id = p unique
read votes(p) = count of Vote where post = p
read weight(p) = sum weight of Vote where post = p
write new(p, t) = insert Post(id p, title t)
write vote(p, v, w) = insert Vote(post p, voter v, weight w)
write unvote(p, v) = delete Vote(post p, voter v)
";
    let (schema, found) = planned(text, "cql");
    assert!(schema.contains("table post_counts from Post key (id;)"), "{schema}");
    assert!(found.iter().all(|one| one.ends_with("certified")), "{found:?}\n{schema}");
    let (schema, _) = planned(text, "shelfmark");
    assert!(!schema.contains("post_counts"), "{schema}");
}

/// The largest value is kept in the row where that saves an index of its own, and not where it would take
/// a write out of its transaction.
#[test]
fn a_largest_value_is_kept_where_that_pays() {
    let text = "
entity Sensor { key id: uuid  place: text(max 40)  count 1k }
entity Reading {
  key id: uuid  sensor: Sensor immutable  at: timestamp immutable  value: int immutable
  count 1G
  fanout sensor avg 1M
}
read last(s) = max at of Reading where sensor = s rate 100/s
read sensor(s) = Sensor where id = s unique
read reading(r) = Reading where id = r unique rate 10/s
write place(s, p) = insert Sensor(id s, place p)
write read_off(r, s, at, v) = insert Reading(id r, sensor s, at at, value v) rate 500/s
";
    let (schema, found) = planned(text, "shelfmark");
    assert!(schema.contains("max at of Reading"), "{schema}");
    assert_eq!(found.first().map(String::as_str), Some("planned.last multi"), "{found:?}");
    let (schema, found) = planned(text, "dynamodb");
    assert!(!schema.contains("max at of Reading"), "{schema}");
    assert_eq!(found.first().map(String::as_str), Some("planned.last certified"), "{found:?}");
}

/// What a conditioned write changes is in one row of CQL, whose conditions are of one partition: reads by
/// another key follow it. Without the condition it is copied.
#[test]
fn what_a_condition_guards_lies_in_one_row() {
    let of = |condition: &str| {
        let text = format!(
            "
entity Member {{
  key id: uuid  team: text(min 1, max 30)  role: text(max 20)  name: text(max 40)
  count 1M
  fanout team avg 20 max 500
}}
read member(m) = Member where id = m unique
read of_team(t) = Member where team = t order by name
write join(m, t, n) = insert Member(id m, team t, role \"user\", name n)
write promote(m, r) = update Member(id m) set role = r{condition}
"
        );
        planned(&text, "cql").0
    };
    let guarded = of(" if role = \"user\"");
    assert!(guarded.contains("(t) then get member (row.id)"), "{guarded}");
    assert!(guarded.contains("write promote { patch member }"), "{guarded}");
    let free = of("");
    assert!(!free.contains("then get"), "{free}");
}
