//! Changes plans at random: derived plans are mostly right, and a proof of what is right says
//! little.
//!
//! What it is not: no plan that is known to be wrong; a change may change nothing.
//!
//! Invariant: a changed plan is named, so that certificates are of it.

use super::random_models::mutate;
use crate::eval::random::Random;
use crate::write_case::WriteCase;
use crate::write_certificate;
use shelfmark_design_language::model::schema::{
    ReadStep, Schema, Serve, Step, WritePlan, WriteStepKind,
};
use shelfmark_design_language::model::{Model, Read};
use shelfmark_design_language::target::profile;

/// Returns the same model, in whose schemas each pattern has a plan that was changed in something.
pub(super) fn changed(model: &Model, random: &mut Random) -> Model {
    let mut out = model.clone();
    for (schema, changed) in model.schemas.iter().zip(&mut out.schemas) {
        let reads = model.reads.iter().enumerate();
        changed.serves =
            reads.filter_map(|(index, read)| serve(model, schema, index, read, random)).collect();
        let target = profile(&schema.target).expect("a known target");
        let cases = WriteCase::all(model, schema, target);
        changed.writes = cases
            .map(|case| {
                let mut plan = write_certificate::plan(case);
                for _ in 0..1 + random.below(4) / 3 {
                    write(&mut plan, random);
                }
                WritePlan { derived: false, ..plan }
            })
            .collect();
    }
    out
}

/// Returns the plan that is named, or one of those that were derived, changed.
fn serve(
    model: &Model,
    schema: &Schema,
    index: usize,
    read: &Read,
    random: &mut Random,
) -> Option<Serve> {
    let named = schema.serves.iter().find(|serve| serve.read == index).cloned();
    let target = profile(&schema.target).expect("a known target");
    let derived = crate::candidates(model, schema, target, index, read);
    let mut serve = match named {
        Some(serve) if random.below(2) == 0 => serve,
        _ => random.pick(&derived)?.clone(),
    };
    let own = read.sources.iter().find_map(|source| source.limit.clone());
    let limit = read.limit.clone().or(own);
    let beside = serve.steps.iter().filter(|step| matches!(step, Step::Also(_))).count();
    match random.below(10) {
        0..=5 => {
            if let Some(step) = request(&mut serve, beside, random) {
                mutate(step, random);
            }
        }
        6 => {
            // Fewer columns are bound.
            if let Some(step) = request(&mut serve, beside, random) {
                step.bound.pop();
                step.bounds.clear();
                step.verb = shelfmark_design_language::syntax::tree::Verb::Query;
            }
        }
        7 => {
            if let Some(step) = request(&mut serve, beside, random) {
                step.limit = limit;
            }
        }
        8 => {
            let at = 1 + beside + random.below(serve.steps.len() - beside);
            serve.steps.extend(limit.map(Step::Take));
            let last = serve.steps.len() - 1;
            serve.steps.swap(at.min(last), last);
        }
        _ => {
            let last = serve.steps.len() - 1;
            if last > 0 {
                serve.steps.remove(1 + random.below(last));
            }
        }
    }
    Some(Serve { derived: false, ..serve })
}

/// Returns the first request of a plan, or one of those beside it.
fn request<'s>(
    serve: &'s mut Serve,
    beside: usize,
    random: &mut Random,
) -> Option<&'s mut ReadStep> {
    let at = if beside > 0 { random.below(1 + beside) } else { 0 };
    match serve.steps.get_mut(at)? {
        Step::Read(step) | Step::Also(step) => Some(step),
        _ => None,
    }
}

/// A step goes away, moves, leaves its transaction, reads by less, or writes otherwise.
fn write(plan: &mut WritePlan, random: &mut Random) {
    let count = plan.steps.len();
    if count == 0 {
        return;
    }
    let at = random.below(count);
    match random.below(8) {
        0 | 1 => drop(plan.steps.remove(at)),
        2 | 3 => plan.steps.swap(at, random.below(count)),
        4 => {
            let step = plan.steps.remove(at);
            plan.steps.push(step);
        }
        5 => {
            let step = plan.steps.remove(at);
            plan.steps.insert(0, step);
        }
        6 => otherwise(&mut plan.steps[at].kind),
        _ => plan.steps[at].transaction = None,
    }
}

fn otherwise(kind: &mut WriteStepKind) {
    *kind = match kind.clone() {
        WriteStepKind::Read { mut bindings, alias } => {
            bindings.pop();
            WriteStepKind::Read { bindings, alias }
        }
        WriteStepKind::Put { each } => WriteStepKind::Patch { each },
        WriteStepKind::Patch { each } => WriteStepKind::Put { each },
        delete @ WriteStepKind::Delete { .. } => delete,
    };
}
