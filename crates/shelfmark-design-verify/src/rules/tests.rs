//! The rules of a plan's first read, one by one: a plan that is right, and the same plan with the one
//! change that the rule is about.

use serde_json::{Value as Json, json};

use super::{check, in_model, unservable};
use shelfmark_design_language::certificate::{Certificate, Ground, RowsMax, Status};
use shelfmark_design_language::model::Model;
use shelfmark_design_language::model::resolve::resolve;
use shelfmark_design_language::model::schema::Step;
use shelfmark_design_language::syntax::parser::parse;
use shelfmark_design_prove::prove;

/// A read's certificate beside its model, to be changed in its plan.
struct Proven {
    model: Model,
    one: Certificate,
}

impl Proven {
    /// Proves the only pattern of a text.
    fn of(text: &str) -> Self {
        let (model, diagnostics) = resolve(&parse(text).file);
        assert!(diagnostics.is_empty(), "{diagnostics:?}\n{text}");
        let one = prove(&model, "").pop().expect("a proof").certificate;
        Self { model, one }
    }

    /// Returns the same with another value at a place of the plan's first read.
    fn with(&self, place: &str, value: Json) -> Self {
        let mut one = self.one.clone();
        let old = one.plan.pointer_mut(&format!("/0/Read/{place}")).expect("a place");
        *old = value;
        Self { model: self.model.clone(), one }
    }

    /// Returns the same with one more step.
    fn and(&self, step: Json) -> Self {
        let mut one = self.one.clone();
        one.plan.as_array_mut().expect("steps").push(step);
        Self { model: self.model.clone(), one }
    }

    fn steps(&self) -> Vec<Step> {
        serde_json::from_value(self.one.plan.clone()).expect("steps")
    }

    /// Returns what the rules say, nothing if they hold.
    fn said(&self) -> String {
        let (schema, read) = (self.model.schemas.first(), self.model.reads.first());
        let (schema, read) = (schema.expect("a schema"), read.expect("a read"));
        let steps = self.steps();
        let known = in_model(schema, read, &steps);
        let held = known.and_then(|()| check(&self.model, schema, read, &steps, &self.one));
        held.err().unwrap_or_default()
    }

    fn holds(&self) {
        assert_eq!(self.said(), "", "{}", self.one.plan);
    }

    fn fails(&self, why: &str) {
        let said = self.said();
        assert!(said.contains(why), "`{said}`, not `{why}`: {}", self.one.plan);
    }
}

/// Returns a model of one read on one table.
fn text(read: &str, table: &str) -> String {
    format!(
        "entity E {{ key id: uuid  u: uuid  at: timestamp  n: int(0..9) }}
read {read}
schema s target shelfmark {{ table rows from E {table} }}"
    )
}

const BY_TIME: &str = "key (u; at, id) store all";

/// A plan from somebody else may name what is not there.
#[test]
fn a_plan_names_what_is_in_the_model() {
    let own = Proven::of(&text("some(u) = E where u = u order by at", BY_TIME));
    own.holds();
    own.with("table", json!(7)).fails("reads no table");
    let part = own.one.plan.pointer("/0/Read/bound/0").expect("a bound").clone();
    own.with("bound", json!([part, part, part, part])).fails("binds more columns");
    own.with("each", json!({"Param": 1})).fails("an input that is not there");
    // As many ranges as are run here, and one more.
    let ranges = |high: i64| own.with("each", json!({"Numbers": [1, high]})).said();
    assert!(!ranges(4_097).contains("more ranges"), "{}", ranges(4_097));
    assert!(ranges(4_098).contains("more ranges"), "{}", ranges(4_098));
}

/// A point read names the whole key of a table, another read all of the partition.
#[test]
fn a_read_binds_its_partition() {
    let own = Proven::of(&text("one(i) = E where id = i", "key (id;) store all"));
    own.holds();
    own.with("bound", json!([])).fails("partition key is not bound");
    let own = Proven::of(&text("some(u) = E where u = u order by at", BY_TIME));
    own.with("verb", json!("get")).fails("a point read without the whole key");
}

/// The limit of a pattern is that of its range, unless the range has one row anyway.
#[test]
fn a_limit_is_the_patterns() {
    let own = Proven::of(&text("some(u) = E where u = u order by at limit 5", BY_TIME));
    own.holds();
    own.with("limit", Json::Null).fails("the limit is not in the plan");
    let plain = Proven::of(&text("some(u) = E where u = u order by at", BY_TIME));
    let limit = own.one.plan.pointer("/0/Read/limit").expect("a limit").clone();
    plain.with("limit", limit.clone()).fails("not the pattern's");
    let one = Proven::of(&text("one(i) = E where id = i limit 5", "key (id;) store all"));
    one.holds();
    // A take outside the store cuts as well, though not what several ranges read.
    let taken = own.with("limit", Json::Null).and(json!({"Take": limit}));
    taken.holds();
    let each = taken.with("each", json!({"Numbers": [0, 3]}));
    assert!(each.said().contains("`multi` is more"), "{}", each.said());
}

/// The next page begins behind a key: one range is one page, and nothing is done with it outside.
#[test]
fn a_page_is_one_range() {
    let own = Proven::of(&text("some(u) = E where u = u order by at limit page 1", BY_TIME));
    own.holds();
    let limit = own.one.plan.pointer("/0/Read/limit").expect("a limit").clone();
    own.and(json!({"Take": limit})).fails("no key ends a page");
    let said = crate::verify(&own.model, &own.one);
    assert!(said.is_ok(), "pages together are the whole list: {said:?}");
}

/// Every tuple that is asked for has a row of its own in the table.
#[test]
fn tuples_have_rows_of_their_own() {
    const ASKED: &str = "some(u) = E where u = u order by at";
    Proven::of(&text(ASKED, BY_TIME)).holds();
    let mut lie = Proven::of(&text(ASKED, "key (u; at) store all"));
    lie.one.status = Status::Certified;
    lie.fails("two of E may be one row");
    let distinct = "some(u) = E select distinct at where u = u order by at";
    Proven::of(&text(distinct, "key (u; at)")).holds();
}

/// A strong read goes to no index that may lag: to a local one it does, and to one of a target whose
/// indexes show a write at once.
#[test]
fn a_strong_read_goes_to_no_late_index() {
    let text = |target: &str, local: &str, strong: &str| {
        format!(
            "entity E {{ key (u, id)  u: uuid  id: ulid  at: timestamp }}
read some(u) = E where u = u order by at {strong}
schema s target {target} {{ table rows from E key (u; id) store all
  index by_at {local} key (u; at) }}"
        )
    };
    let certified = |text: &str| {
        let mut own = Proven::of(text);
        own.one.status = Status::Certified;
        own
    };
    certified(&text("dynamodb", "", "")).holds();
    certified(&text("dynamodb", "local", "strong")).holds();
    certified(&text("shelfmark", "", "strong")).holds();
    // The plan of a read that is not strong, for one that is.
    let plain = certified(&text("dynamodb", "", ""));
    let strong = certified(&text("dynamodb", "", "strong"));
    Proven { model: strong.model, one: plain.one }.fails("an index may lag");
}

/// Returns a model of a parent and its children in one collection of rows.
fn parent(types: &str, order: &str, limit: &str, plan: &str) -> String {
    format!(
        r##"
entity P {{ key id: uuid  w: int(0..9) }}
entity C {{ key (p, n)  p: P  n: int(0..9) }}
read some(x) = {types} where p = x order by {order} limit {limit}
schema s target dynamodb {{
  table data {{
    pk text sk text
    row PRow from P pk "p#<id>" sk "P" store all
    row CRow from C pk "p#<p>" sk "C#<n:pad(1)>" store all
  }}
  serve some by {plan}
}}"##
    )
}

/// A range ends behind the last of its row types where all others are one row each.
#[test]
fn a_range_has_the_limit_of_its_last_row_type() {
    let range = |limit: u32| format!(r##"query data pk "p#<x>" desc limit {limit}"##);
    let text = |types, order, limit| Proven::of(&parent(types, order, limit, &range(3)));
    let own = text("P + C", "kind, n desc", "2 of C");
    assert_eq!(own.one.status, Status::Certified);
    own.holds();
    for other in [json!({"Const": {"Int": 2}}), json!({"Const": {"Int": 4}}), Json::Null] {
        own.with("limit", other).fails("O6: the range does not end behind");
    }
    // The same plan for reads that ask otherwise.
    let with = |other: Proven| Proven { model: other.model, one: own.one.clone() };
    with(text("P + C", "kind, n desc", "3 of C")).fails("O6: the range does not end behind");
    with(text("C + P", "kind, n desc", "2 of C")).fails("O6: one range has the limit of its last");
    with(text("P + C", "kind desc, n desc", "2 of C"))
        .fails("O6: one range has the limit of its last");
    with(text("P + C", "kind, n desc", "3")).holds();
    let value = parent("P + C", "kind, n desc", "2 of C", &range(3));
    let value = value.replace("p: P ", "p: uuid ").replace("where p = x", "where (P.id, C.p) = x");
    with(Proven::of(&value)).fails("O6: the number of rows before the last row type");
    // The parent is told by another key than that which its children refer to.
    let told = parent("P + C", "kind, n desc", "2 of C", &range(3));
    let told = told.replace("w: int(0..9)", "w: int(0..9)  u: uuid unique");
    let told = told.replace("where p = x", "where (P.u, C.p) = x");
    with(Proven::of(&told)).fails("O6: the number of rows before the last row type");
    let narrower = parent("P + C", "kind, n desc", "2 of C", &range(3));
    let narrower = narrower.replace("where p = x", "where p = x and P.w = 1");
    with(Proven::of(&narrower)).fails("O6: the number of rows before the last row type");
}

/// Requests beside one another share the row types out, each with its limit, in the order of row types.
#[test]
fn requests_share_the_row_types_out() {
    let get = r##"get data pk "p#<x>" sk "P""##;
    let query = r##"query data pk "p#<x>" sk begins "C#" desc limit 2"##;
    let both = |first: &str, second: &str, limit| {
        let plan = format!("{first} and {second}");
        Proven::of(&parent("P + C", "kind, n desc", limit, &plan))
    };
    let own = both(get, query, "2 of C");
    assert_eq!(own.one.status, Status::Multi);
    own.holds();
    // A beginning is that of a row type, also where it is a part of what its rows begin with.
    both(get, &query.replace("C#", "C"), "2 of C").holds();
    let changed = |place: &str, value: Json| {
        let mut one = own.one.clone();
        *one.plan.pointer_mut(place).expect("a place") = value;
        Proven { model: own.model.clone(), one }
    };
    changed("/1/Also/limit", json!({"Const": {"Int": 3}})).fails("O6: the limit of C");
    changed("/1/Also/limit", Json::Null).fails("O6: the limit of C");
    let step = |place: &str| own.one.plan.pointer(place).expect("a step").clone();
    let (first, second) = (step("/0/Read"), step("/1/Also"));
    let plan = |steps: Json| changed("", steps);
    plan(json!([{"Read": second}, {"Also": first}])).fails("O5: requests follow one another");
    plan(json!([{"Read": second}, {"Also": second}])).fails("O4");
    plan(json!([{"Read": first}, {"Also": first}])).fails("O4");
    let two = json!({"Const": {"Int": 2}});
    plan(json!([{"Read": first}, {"Also": second}, {"Take": two}])).fails("O6: what is taken");
    plan(json!([{"Read": first}, {"Sort": [["kind", false]]}, {"Also": second}]))
        .fails("O1: a request stands behind");
    let mut lie = changed("", own.one.plan.clone());
    lie.one.status = Status::Certified;
    lie.fails("`multi` is more");
    // Of the parent none may be asked for, and a point read has no end.
    let text =
        parent("P + C", "kind, n desc", "k of P, 2 of C", &format!("{get} limit k and {query}"));
    let input = Proven::of(&text.replace("some(x)", "some(x, k)"));
    input.holds();
    input.with("limit", Json::Null).fails("O6: the limit of P");
}

/// A whole table is scanned without a bound; another read of it has one.
#[test]
fn a_scan_reads_a_whole_table() {
    let plan = "key (u; at, id) store all  serve some() by scan rows";
    Proven::of(&text("some() = E", plan)).holds();
}

/// An index of DynamoDB is asked by its own columns, not by those of the base key behind them.
#[test]
fn an_index_is_asked_by_its_own_columns() {
    let text = |target: &str, asked: &str, plan: &str| {
        format!(
            "entity E {{ key id: uuid  u: uuid  at: timestamp }}
read some(u, a, i) = E where u = u and {asked}
schema s target {target} {{ table rows from E key (id;) store all  index by_at key (u; at)
  serve some by query by_at {plan} }}"
        )
    };
    const BASE: &str = "asked by the columns of the base key";
    for (asked, plan) in
        [("at = a and id = i", "(u, a, i)"), ("at = a and id >= i", "(u, a) from i")]
    {
        let certified = |target: &str| {
            let mut own = Proven::of(&text(target, asked, plan));
            own.one.status = Status::Certified;
            own
        };
        certified("dynamodb").fails(BASE);
        let said = certified("shelfmark").said();
        assert!(!said.contains("base key"), "{said}");
    }
}

/// Rows of a loop are as many for each of its values as the fan-out allows.
#[test]
fn a_loop_has_rows_for_each_value() {
    let read = "some(us: list of uuid (max 5)) = E where u in us";
    let plan = "key (u; id) store all  serve some(us) by each u in us query rows (u)";
    let own = text(read, plan).replace("n: int(0..9)", "n: int(0..9)  fanout u max 3");
    Proven::of(&own).holds();
    // A range tells no column of a fan-out.
    let ranged = own
        .replace("fanout u max 3", "fanout (u, n) max 3")
        .replace("u in us", "u in us and n > 3");
    let mut lie = Proven::of(&ranged.replace("query rows (u)", "query rows (u) then filter n > 3"));
    lie.one.rows_max = RowsMax::number(15.0);
    lie.fails("O9: one call delivers");
}

/// A pattern that no key serves has what makes it so.
#[test]
fn a_ground_is_told_by_the_pattern() {
    let told = |read: &str| {
        let (model, diagnostics) = resolve(&parse(&text(read, BY_TIME)).file);
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        let read = model.reads.first().expect("a read");
        let grounds = [
            Ground::Offset,
            Ground::Aggregate,
            Ground::Search,
            Ground::TwoRanges,
            Ground::OtherOrder,
        ];
        let mut found = Vec::new();
        found
            .extend(grounds.into_iter().filter(|own| unservable(&model, read, Some(*own)).is_ok()));
        assert!(unservable(&model, read, None).is_err());
        found
    };
    assert_eq!(told("r(u, a) = E where u = u and at > a order by at"), []);
    assert_eq!(told("r(u, a) = E where u = u and at > a order by u, at"), []);
    assert_eq!(told("r(u, a) = E where u = u and at > a order by n"), [Ground::OtherOrder]);
    assert_eq!(told("r(u, a, b) = E where u = u and at > a and at < b order by at"), []);
    assert_eq!(
        told("r(u, a, b) = E where u = u and at > a and n > b order by at"),
        [Ground::TwoRanges]
    );
    // A constant may be that of sparse rows.
    assert_eq!(told("r(u, a) = E where u = u and at > a and n > 3 order by at"), []);
    assert_eq!(told("r(u) = count of E where u = u"), [Ground::Aggregate]);
}
