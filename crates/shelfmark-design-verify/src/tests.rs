//! The verifier: it believes every certificate of the seeds and of random models, and none that was
//! changed, whether the seal was mended or not. It uses nothing of the prover.

use serde_json::{Value as Json, json};

use crate::verify;
use shelfmark_design_language::certificate::{Certificate, Ground, RowsMax, Status};
use shelfmark_design_language::model::Model;
use shelfmark_design_language::model::resolve::resolve;
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

fn model(text: &str) -> Model {
    let (model, diagnostics) = resolve(&parse(text).file);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    model
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
        state.map(|state| *state = json!({})).is_some()
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
