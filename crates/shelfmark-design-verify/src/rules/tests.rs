//! The rules of a plan's first read, one by one: a plan that is right, and the same plan with the one
//! change that the rule is about.

use serde_json::{Value as Json, json};

use super::{check, in_model};
use shelfmark_design_language::certificate::{Certificate, Status};
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
