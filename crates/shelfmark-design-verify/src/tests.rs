//! The verifier: it believes every certificate of the seeds and of random models, and none that was
//! changed, whether the seal was mended or not. It uses nothing of the prover.

use serde_json::{Value as Json, json};

use crate::verify;
use shelfmark_design_language::certificate::{Certificate, Ground, RowsMax, Status};
use shelfmark_design_language::model::resolve::resolve;
use shelfmark_design_language::model::schema::{Schema, WriteStep};
use shelfmark_design_language::model::{Model, Write};
use shelfmark_design_language::syntax::parser::parse;
use shelfmark_design_prove::prove;

/// Makes the tests of each model: a fault is told by the first model that shows it.
macro_rules! models {
    ($($name:ident $path:literal)*) => {
        $(
            mod $name {
                const TEXT: &str = include_str!($path);

                #[test]
                fn certificates_are_believed() {
                    super::check_believed(TEXT);
                }

                #[test]
                fn changed_certificates_are_not_believed() {
                    super::check_changes(TEXT);
                }

                #[test]
                fn sentences_may_be_worded_anew() {
                    super::check_reworded(TEXT);
                }
            }
        )*
    };
}

models! {
    blog "../../../models/seeds/blog.shelf"
    followers "../../../models/seeds/followers.shelf"
    openchat "../../../models/seeds/openchat.shelf"
    phonebook "../../../models/seeds/phonebook.shelf"
    publication "../../../models/seeds/publication.shelf"
    reddit "../../../models/seeds/reddit.shelf"
    twissandra "../../../models/seeds/twissandra.shelf"
    features "../../shelfmark-design-prove/src/tests/features.shelf"
}

pub(crate) fn model(text: &str) -> Model {
    let (model, diagnostics) = resolve(&parse(text).file);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    model
}

/// A rule about the plan of a write, asked by itself.
pub(crate) type Rule = fn(&Model, &Schema, &Write, &[WriteStep]) -> Result<(), String>;

/// Checks what a rule says of the only write of a text by each of some plans, which stand where the text
/// says `PLAN`: nothing, or a text with these words. Nothing is asked of the prover.
pub(crate) fn check_rule(rule: Rule, text: &str, expected: &[(&str, &str)]) {
    for (plan, words) in expected {
        let text = text.replace("PLAN", plan);
        let (model, diagnostics) = resolve(&parse(&text).file);
        // A plan may ask by inputs that its write does not use.
        let unused = diagnostics.iter().all(|one| one.message.contains("is not used"));
        assert!(unused, "{diagnostics:?}\n{text}");
        let schema = model.schemas.first().expect("a schema");
        let (write, named) = (model.writes.first(), schema.writes.first());
        let (write, named) = (write.expect("a write"), named.expect("a plan"));
        let said = rule(&model, schema, write, &named.steps).err().unwrap_or_default();
        let right = if words.is_empty() { said.is_empty() } else { said.contains(words) };
        assert!(right, "`{said}`, not `{words}`\n{text}");
    }
}

fn certificates(model: &Model) -> Vec<Certificate> {
    prove(model, "").into_iter().map(|proof| proof.certificate).collect()
}

fn check_believed(text: &str) {
    let model = model(text);
    for one in certificates(&model) {
        let said = verify(&model, &one);
        assert!(said.is_ok(), "{}.{} {:?}: {said:?}", one.schema, one.pattern, one.status);
    }
}

/// One change of a certificate, by name; nothing where it changes nothing.
type Change = (&'static str, fn(&mut Certificate) -> bool);

const CHANGES: [Change; 26] = [
    ("schema", |one| {
        one.schema = "another".to_owned();
        true
    }),
    ("pattern", |one| {
        one.pattern = "another".to_owned();
        true
    }),
    ("write", |one| {
        one.write = !one.write;
        true
    }),
    ("status: certified", |one| claim(one, Status::Certified)),
    ("status: multi", |one| claim(one, Status::Multi)),
    ("status: refused", |one| set(&mut one.status, Status::Refused)),
    ("status: unservable", |one| set(&mut one.status, Status::Unservable)),
    ("obligation", |one| set(&mut one.obligation, Some("O3".to_owned())) && !is_o3(one)),
    ("obligations: one holds not", |one| {
        let first = one.obligations.iter_mut().find(|obligation| obligation.holds);
        // A refusal may rest on several; a certificate on none.
        let refused = one.status == Status::Refused || one.status == Status::Unservable;
        first.map(|obligation| obligation.holds = false).is_some() && !refused
    }),
    ("obligations: one less", |one| one.obligations.pop().is_some()),
    ("ranges: table", |one| one.ranges.first_mut().map(|range| range.table.push('x')).is_some()),
    ("ranges: partition", |one| {
        !one.write && one.ranges.first_mut().map(|range| range.partition.push("x".into())).is_some()
    }),
    ("ranges: from", |one| {
        !one.write && one.ranges.first_mut().map(|range| range.from.push("x".into())).is_some()
    }),
    ("ranges: to", |one| {
        !one.write && one.ranges.first_mut().map(|range| range.to.clear()).is_some() && {
            one.ranges.iter_mut().for_each(|range| range.prefix = !range.prefix);
            true
        }
    }),
    ("ranges: descending", |one| {
        !one.write
            && one.ranges.first_mut().map(|range| range.descending = !range.descending).is_some()
    }),
    ("ranges: limit", |one| {
        !one.write && one.ranges.first_mut().map(|range| range.limit = Some("7".into())).is_some()
    }),
    ("ranges: ends", |one| {
        !one.write && one.ranges.first_mut().map(|range| range.equal.push("x".into())).is_some()
    }),
    ("steps", |one| one.steps.first_mut().map(|step| step.push('x')).is_some()),
    ("steps: one more", |one| {
        one.steps.push("read everything".to_owned());
        !one.plan.is_null()
    }),
    ("rows_max", |one| {
        let claims = matches!(one.status, Status::Certified | Status::Multi);
        let several = RowsMax::from("several".to_owned());
        let before = std::mem::replace(&mut one.rows_max, several.clone());
        // A count is one row, whatever is stated beside it.
        claims && before != several && !one.steps.is_empty() && !counts(one)
    }),
    ("reason", |one| {
        one.reason.push_str(" and more");
        one.status != Status::Unservable
    }),
    ("ground", |one| {
        let other = match one.ground {
            Some(Ground::Offset) => Some(Ground::Search),
            Some(_) => Some(Ground::Offset),
            None => Some(Ground::Offset),
        };
        one.ground = other;
        true
    }),
    ("ground: none", |one| one.ground.take().is_some()),
    ("witness: none", |one| one.witness.take().is_some()),
    ("witness: another state", |one| {
        let state = one.witness.as_mut().and_then(|witness| witness.get_mut("state"));
        // Some are shown by no tuple at all.
        state.is_some_and(|state| set(state, json!({})))
    }),
    ("plan", |one| {
        let flipped = match one.plan.pointer_mut("/0/Read/desc") {
            Some(desc) => {
                *desc = Json::from(desc != &Json::from(true));
                true
            }
            None => false,
        };
        flipped || one.plan.as_array_mut().is_some_and(|steps| steps.pop().is_some())
    }),
];

fn set<T: PartialEq>(place: &mut T, value: T) -> bool {
    let changes = *place != value;
    *place = value;
    changes
}

/// Forges a certificate so that no obligation fails.
fn claim(one: &mut Certificate, status: Status) -> bool {
    if one.status == status || one.plan.is_null() {
        return false;
    }
    one.status = status;
    one.obligation = None;
    one.reason.clear();
    one.witness = None;
    one.obligations.iter_mut().for_each(|obligation| obligation.holds = true);
    // O7 to O9 of a refusal by a call are about steps, not about rows: those are `confirm`'s.
    true
}

fn is_o3(one: &Certificate) -> bool {
    one.obligations.iter().any(|obligation| obligation.id == "O3" && !obligation.holds)
}

fn counts(one: &Certificate) -> bool {
    one.pattern == "how_many"
}

fn check_changes(text: &str) {
    let model = model(text);
    let certificates = certificates(&model);
    let mut tried = 0;
    for whole in &certificates {
        for (what, change) in CHANGES {
            let mut one = whole.clone();
            if !change(&mut one) {
                continue;
            }
            tried += 1;
            assert!(verify(&model, &one).is_err(), "{what}: the broken seal is not noticed");
            // The same lie with a new seal.
            let Certificate { schema, pattern, status, .. } = whole;
            let said = verify(&model, &one.sealed());
            assert!(said.is_err(), "{schema}.{pattern} {status:?}: {what}");
        }
    }
    assert!(tried > 8 * certificates.len(), "only {tried} changes of {}", certificates.len());
}

fn evidence(one: &Certificate) -> Vec<&str> {
    one.obligations.iter().map(|own| own.evidence.as_str()).collect()
}

fn check_reworded(text: &str) {
    let anew = |text: &mut String| *text = text.replace("the ", "that ").replace("is ", "was ");
    let model = model(text);
    let mut reworded = 0;
    for whole in certificates(&model) {
        let mut one = whole.clone();
        anew(&mut one.reason);
        one.obligations.iter_mut().for_each(|own| anew(&mut own.evidence));
        reworded += usize::from(one.text() != whole.text() || evidence(&one) != evidence(&whole));
        assert_eq!(one.sum(), whole.sum(), "{}", one.pattern);
        // What the witness of a refused call says, its reason repeats.
        if one.witness.as_ref().is_none_or(|witness| witness["kind"] != "call") {
            assert_eq!(verify(&model, &one).err(), None, "{}", one.pattern);
        }
    }
    assert!(reworded > 0, "nothing was worded anew");
}

/// Conditions that decide: rows that change do not show what they compare, so the plans change them
/// where they must not.
const CONDITIONS: &str = r#"
entity Stock { key id: uuid  n: int(0..9)  state: enum("open", "shut") immutable  by: uuid optional immutable }
write empty(i) = update Stock(id i) set n = 0 if state = "open"
write take(i, k) = increment Stock(id i) set n by -1 if n >= k
write drop(i) = delete Stock(id i) if by is absent
schema s target shelfmark { table stock from Stock key (id;) store { n } }
schema shown target shelfmark { table stock from Stock key (id;) store all }
"#;

#[test]
fn a_condition_that_does_not_hold_changes_nothing() {
    check_believed(CONDITIONS);
    let model = model(CONDITIONS);
    for one in certificates(&model) {
        let refused = one.schema == "s" && one.pattern != "take";
        let shown = one.witness.as_ref().is_some_and(|witness| witness.get("state").is_some());
        let place = format!("{}.{}", one.schema, one.pattern);
        assert_eq!((one.status == Status::Refused, shown), (refused, refused), "{place}");
        if refused {
            // The same state, with the rows of a write without its condition.
            let mut lie = one.clone();
            let witness = lie.witness.as_mut().and_then(Json::as_object_mut).expect("a witness");
            let plan = witness.get("plan").cloned().unwrap_or(Json::Null);
            witness.insert("right".to_owned(), plan);
            let said = verify(&model, &lie.sealed());
            assert!(said.is_err(), "{place} changes what its condition keeps");
        }
    }
}

/// A plan without a step is a lie only where a tuple is named: six inputs have to be those of one tuple.
#[test]
fn inputs_of_a_write_name_what_is_there() {
    let text = r#"
entity Seat { a: int  b: int  c: int  d: int  e: int  f: int  key (a, b, c, d, e, f) }
write leave(a, b, c, d, e, f) = delete Seat(a a, b b, c c, d d, e e, f f)
schema s target shelfmark { table seats from Seat key (a, b, c, d, e, f;) store all }
"#;
    let model = model(text);
    let [whole] = certificates(&model).try_into().expect("one certificate");
    assert_eq!(whole.status, Status::Certified);
    let mut lie = whole;
    (lie.plan, lie.steps) = (json!([]), Vec::new());
    let said = verify(&model, &lie.sealed());
    assert!(said.is_err_and(|why| why.contains("no step")), "nothing is named");
}

/// Two of another link share a row of the same table: that is no harm of a write that leaves it alone,
/// and is one where a row that goes may be theirs.
#[test]
fn rows_that_a_write_leaves_alone_may_be_of_several() {
    let text = |tag: &str| {
        format!(
            r##"
entity E {{ key id: uuid  n: int(0..99) }}
link A from E as a to E as b {{ v: int(0..3) }}
link B from E as a to E as b {{ w: int(0..3) }}
write drop(x, y, z) = unlink A(a x, b y) and increment E(id z) set n by 1
schema s target shelfmark {{ table t {{ pk text sk text
  row E from E pk "e#<id>" sk "e" store all
  row A from A pk "a#<a>" sk "<b>" store all
  row B from B pk "{tag}#<a>" sk "0" store all
}} }}
schema shows target shelfmark {{ table t {{ pk text sk text
  row A from A pk "a#<a>" sk "<b>" store all
  row B from B pk "{tag}#<a>" sk "0" store {{ a.n }}
}} }}
"##
        )
    };
    let statuses = |text: &str| -> Vec<Status> {
        check_believed(text);
        certificates(&model(text)).iter().map(|one| one.status).collect()
    };
    assert_eq!(statuses(&text("b")), [Status::Certified, Status::Refused]);
    // Under one beginning the row of one may be that of the other.
    let meets = text("a").replace("sk \"0\"", "sk \"<b>\"");
    assert_eq!(statuses(&meets), [Status::Refused, Status::Refused]);
    // A certificate that says otherwise is a lie.
    let model = model(&meets);
    let [mut lie, _] = certificates(&model).try_into().expect("two certificates");
    assert!(claim(&mut lie, Status::Certified));
    let said = verify(&model, &lie.sealed());
    assert!(said.is_err_and(|why| why.contains("two sources")), "a row of two is taken away");
}

/// Checks that the certificates of a schema for Shelfmark are believed, and as ones for CanDB only if that
/// takes their steps. `why` is a part of the reason otherwise.
fn check_for_candb(text: &str, why: Option<&str>) {
    check_believed(text);
    let (typed, mut candb) = (model(text), model(text));
    // The language takes no such schemas under this name.
    candb.schemas.iter_mut().for_each(|schema| schema.target = "candb".to_owned());
    for (one, own) in certificates(&typed).into_iter().zip(certificates(&candb)) {
        assert_eq!(one.status, Status::Certified, "{text}");
        // A transaction of the one is none of the other.
        let lie = Certificate { model: own.model, concurrency: None, ..one };
        let said = verify(&candb, &lie.sealed());
        let told = said.as_ref().err().zip(why).is_some_and(|(told, why)| told.contains(why));
        assert_eq!((said.is_ok(), told), (why.is_none(), why.is_some()), "{text}: {said:?}");
    }
}

/// An entity of CanDB has a partition key and a sort key that are texts, whatever other targets take.
#[test]
fn a_plan_of_another_target_is_no_plan_for_candb() {
    let text = |key: &str| {
        format!(
            r#"
entity E {{ key id: uuid  x: uuid  y: uuid  n: int(0..9) }}
read one(i) = E where id = i
write add(i, a, b, m) = insert E(id i, x a, y b, n m)
schema s target shelfmark {{ table t from E key ({key}) store all }}
"#
        )
    };
    let no_pair = Some("partition and sort keys");
    check_for_candb(&text("id;"), None);
    for key in ["id; x, y", "id, x;", "id; n"] {
        // A read by less than the key, where the key is more than a pair, is another matter.
        let write_alone = text(key).replace("read one(i) = E where id = i\n", "");
        check_for_candb(&write_alone, no_pair);
    }
}

/// One message of CanDB goes to one partition.
#[test]
fn changes_of_two_partitions_are_no_message_of_candb() {
    let text = |other: &str| {
        format!(
            r#"
entity E {{ key id: uuid  n: int(0..9) }}
write add(i, m) = insert E(id i, n m)
schema s target shelfmark {{ table t {{ pk text sk text
  row One from E pk "a" sk "1#<id>" store all
  row Two from E pk "{other}" sk "2#<id>" store all
}} }}
"#
        )
    };
    check_for_candb(&text("a"), None);
    check_for_candb(&text("b"), Some("one message goes to one partition"));
}

/// The first page of a range may be right by itself: rows of a second type come behind the one that is
/// asked for, and are never there without it. All pages together show them.
#[test]
fn pages_together_are_the_list() {
    let text = r##"
entity P { key id: uuid }
entity C { key id: uuid  p: P }
read some(i) = P where id = i limit page 1
schema s target shelfmark { table rows { pk text sk text
    row RP from P pk "p#<id>" sk "a" store all
    row RC from C pk "p#<p>" sk "c#<id>" store all }
  serve some by query rows pk "p#<i>" limit 1 }
"##;
    let model = model(text);
    let [mut lie] = certificates(&model).try_into().expect("one certificate");
    assert!(claim(&mut lie, Status::Certified), "{:?}", lie.status);
    let said = verify(&model, &lie.sealed());
    assert!(said.as_ref().is_err_and(|why| why.contains("pages together")), "{said:?}");
}

/// A loop may find its tuples among sparse rows that hold all of them, and what is found there is counted
/// as little afterwards as if all rows had been looked at.
#[test]
fn sparse_rows_find_what_their_condition_says() {
    let text = |issues: &str, asked: &str, plan: &str| {
        format!(
            r#"
entity Repo {{ key id: uuid }}
entity Issue {{
  key id: uuid  repo: Repo  state: enum("open", "closed")  votes: int(0..99)
}}
write remove(r) = delete Issue(id x.id) for each Issue as x where repo = r and {asked}
schema s target shelfmark {{
  table repos from Repo key (id;) store {{ count Issue where state = "open" as opened }}
  {issues}
  write remove {{ {plan} }}
}}
"#
        )
    };
    let index = r#"table issues from Issue key (id;) store all
    index opened when state = "open" key (repo; votes)"#;
    let table = r#"table opened from Issue when state = "open" key (repo; id) store all"#;
    let by_votes = index.replace(r#"state = "open" key"#, "votes >= 5 key");
    let all = "transaction { patch repos for each x ; delete ISSUES for each x }";
    let few = "delete ISSUES for each x";
    let open = "state = \"open\"";
    // Says of each plan whether it is right.
    for (issues, asked, changes, right) in [
        (index, open, all, true),
        (table, open, all, true),
        (index, "state = \"open\" and votes = 5", all, true),
        (&by_votes, "votes = 7", all, true),
        // Counted tuples go, and the number stays.
        (index, open, few, false),
        (table, open, few, false),
        (&by_votes, "votes = 7", few, false),
        // The rows that are looked at are not all that go.
        (index, "votes = 5", all, false),
        (index, "state = \"closed\"", all, false),
        (&by_votes, "votes = 4", all, false),
        (&by_votes, open, all, false),
    ] {
        let changed = if issues == table { "opened" } else { "issues" };
        let changes = changes.replace("ISSUES", changed);
        let plan = format!("read opened where repo = r and {asked} as x ; {changes}");
        let text = text(issues, asked, &plan);
        check_believed(&text);
        let model = model(&text);
        let [mut one] = certificates(&model).try_into().expect("one certificate");
        let status = if right { Status::Certified } else { Status::Refused };
        assert_eq!(one.status, status, "{text}\n{}", one.reason);
        if !right {
            assert!(claim(&mut one, Status::Certified));
            assert!(verify(&model, &one.sealed()).is_err(), "a lie is believed\n{text}");
        }
    }
}

/// Rows of which a condition does not follow from what is asked are not all rows, whatever states show.
#[test]
fn sparse_rows_are_all_that_are_asked_for() {
    let text = |asked: &str, condition: &str| {
        format!(
            r#"
entity Issue {{
  key id: uuid  repo: uuid  votes: int(0..99)  size: decimal  at: timestamp  title: text(max 9)
}}
read some(r) = Issue where repo = r and {asked} order by at
schema s target shelfmark {{
  table issues from Issue key (id;) store all
    index some when {condition} key (repo; at)
  serve some by query some (r) }}
"#
        )
    };
    for (asked, condition, right) in [
        ("votes > 4", "votes >= 5", true),
        ("votes > 3", "votes >= 5", false),
        ("votes <= 9", "votes < 10", true),
        ("votes <= 10", "votes < 10", false),
        ("size >= 5", "size >= 5", true),
        ("size > 4", "size >= 5", false),
        ("title >= \"m\"", "title >= \"m\"", true),
        ("title >= \"m\"", "title > \"m\"", false),
    ] {
        let text = text(asked, condition);
        check_believed(&text);
        let model = model(&text);
        let [mut one] = certificates(&model).try_into().expect("one certificate");
        assert_eq!(one.status == Status::Certified, right, "{text}\n{}", one.reason);
        if !right {
            assert!(claim(&mut one, Status::Certified));
            let said = verify(&model, &one.sealed());
            let told = said.as_ref().is_err_and(|why| why.starts_with("O4"));
            assert!(told, "{said:?}\n{text}");
        }
    }
}

/// Numbers that a row keeps of others, and largest and smallest values: of several alike the one that is
/// asked for.
const KEPT: &str = r#"
entity R { key id: uuid }
entity J { key id: uuid  r: R  votes: int(0..99) }
entity I {
  key id: uuid  r: R  state: enum("open", "shut")  votes: int(0..99)  size: int(0..99)
}
read all(r) = count of I where r = r
read opened(r) = count of I where r = r and state = "open"
read liked(r) = sum votes of I where r = r
read liked_open(r) = sum votes of I where r = r and state = "open"
read highest(r) = max votes of I where r = r
read lowest(r) = min votes of I where r = r
read highest_open(r) = max votes of I where r = r and state = "open"
write file(i, r, v, w) = insert I(id i, r r, state "open", votes v, size w)
write vote(i) = increment I(id i) set votes by 1
schema s target shelfmark {
  table rs from R key (id;) store {
    count J as others, sum votes of J as other_votes, max votes of J as other_top,
    sum size of I as sizes, sum votes of I where state = "shut" as shut_votes,
    sum votes of I where state = "open" as open_votes, sum votes of I as all_votes,
    count I where state = "shut" as shut, count I where state = "open" as opened, count I as number,
    max size of I as largest, max votes of I where state = "open" as top_open,
    max votes of I as top, min votes of I as least }
  table items from I key (id;) store all
}
"#;

#[test]
fn a_number_is_the_one_that_is_asked_for() {
    check_believed(KEPT);
    let reads = ["all", "opened", "liked", "liked_open", "highest", "lowest", "highest_open"];
    for one in certificates(&model(KEPT)) {
        let claims = matches!(one.status, Status::Certified | Status::Multi);
        assert!(
            claims || !reads.contains(&one.pattern.as_str()),
            "{}: {}",
            one.pattern,
            one.reason
        );
    }
}

/// Holds that what a range returns has its own value, whatever largest one it keeps of others.
#[test]
fn a_range_returns_values_of_its_own() {
    let text = r#"
entity N { key id: uuid  up: N optional  v: int(0..99) }
read highest(u) = N select v where up = u order by v desc limit 1
schema s target shelfmark { table ns from N key (up; v, id) store { max v of N as top } }
"#;
    check_believed(text);
    assert_eq!(certificates(&model(text)).first().map(|one| one.status), Some(Status::Certified));
}

/// The end of a range is left out where the pattern leaves it out, and a filter by row type is told
/// without regard to capital letters.
#[test]
fn a_range_begins_behind_its_end() {
    let text = r#"
entity E { key id: uuid  u: uuid  at: int(0..9) }
read since(u, a) = E where u = u and at > a order by at
read until(u, a) = E where u = u and at < a order by at
read through(u, a) = E where u = u and at <= a order by at
read whole(u) = E where u = u order by at
schema s target shelfmark { table rows from E key (u; at, id) store all
  serve whole(u) by query rows (u) then filter kind = "e" }
"#;
    check_believed(text);
    for one in certificates(&model(text)) {
        assert_eq!(one.status, Status::Certified, "{}: {}", one.pattern, one.reason);
    }
}

/// A refusal without a state says what no target takes, or what lags behind: not of a neighbour.
#[test]
fn a_refusal_says_what_is_wrong() {
    let text = |target: &str, local: &str| {
        format!(
            "entity E {{ key (u, id)  u: uuid  id: uuid  at: timestamp }}
read now(u) = E where u = u order by at strong
read by_id(u) = E where u = u order by id
schema s target {target} {{ table items from E key (u; id) store all  index by_at {local} key (u; at)
  serve now by query by_at (u) }}"
        )
    };
    let refused = |text: &str, pattern: &str| {
        check_believed(text);
        let mut all = certificates(&model(text));
        all.retain(|one| one.pattern == pattern);
        let one = all.pop().expect("a certificate");
        assert_eq!(one.status, Status::Refused, "{pattern}\n{text}");
        one
    };
    let late = refused(&text("dynamodb", ""), "now");
    // The same of an index that does not lag.
    let local = model(&text("dynamodb", "local"));
    let sum = certificates(&local).pop().expect("a certificate").model;
    let lie = Certificate { model: sum, ..late };
    assert!(verify(&local, &lie.sealed()).is_err(), "a local index shows what is there");
    let cql = text("cql", "").replace("  serve now by query by_at (u) ", "");
    let cql = cql
        .replace("index by_at  key (u; at)", "")
        .replace("read now(u) = E where u = u order by at strong\n", "");
    let order = refused(&cql, "by_id");
    let mut lie = order.clone();
    let witness = lie.witness.as_mut().and_then(Json::as_object_mut).expect("a witness");
    witness.insert("missing".to_owned(), Json::from("something else"));
    assert!(verify(&model(&cql), &lie.sealed()).is_err(), "the witness says something else");
}

/// DynamoDB takes two operations on one item in no transaction, whatever they leave there together.
#[test]
fn an_item_is_changed_once_by_a_transaction() {
    let text = "entity A { key id: uuid  n: int }
write w(i, n) = update A(id i) set n = n
schema s target dynamodb { table rows from A key (id;) store all
  write w { transaction { read rows where id = i ; put rows ; patch rows } } }";
    check_believed(text);
    let model = model(text);
    let [mut lie] = certificates(&model).try_into().expect("one certificate");
    assert!(claim(&mut lie, Status::Certified), "{:?}", lie.status);
    let said = verify(&model, &lie.sealed());
    assert!(said.is_err_and(|why| why.contains("one item twice")), "a put beside a patch");
}
