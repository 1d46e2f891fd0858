//! Proves each pattern in each schema: a certificate, or a refusal with a witness.
//!
//! Beside it the evaluator: models run by brute force, in which witnesses are looked for, and against
//! which the prover is tested.
//!
//! What it is not: it does not trust itself; `shelfmark-design-verify` re-checks what it says with
//! other code, and the evaluator in `eval` runs it. It reads no file, opens no socket, starts no
//! thread and asks no clock.
//!
//! Invariant: `certified` and `multi` are given only when every obligation was discharged.

mod align;
pub mod analysis;
mod beside;
mod bounded;
pub mod calls;
mod canon;
mod claims;
pub mod closure;
pub mod concurrency;
mod conditions;
mod constants;
mod copied;
mod defined;
mod derive;
pub mod eval;
mod exact;
mod follow;
pub mod implied;
pub mod key;
mod known;
mod lasting;
mod loops;
mod must_be;
mod needs;
mod once;
pub mod order;
mod ordered;
mod own_key;
pub mod own_limits;
pub mod paths;
pub mod range;
mod read;
mod room;
mod selecting;
mod sizes;
mod source;
mod spare;
mod stated;
pub mod tally;
mod there;
mod together;
pub mod unique;
mod unreferred;
mod whole;
pub mod word;
pub mod write;
pub mod write_case;
pub mod write_certificate;
mod write_plan;
mod write_witness;

use std::collections::BTreeSet;

use serde_json::json;

use shelfmark_design_language::certificate::{self, text};

use crate::closure::{determines_path, determines_tuple};
use crate::eval::witness::{Wanted, find};
use analysis::{Analysis, Failure};
use certificate::{Certificate, Ground, Obligation, Status};
use read::analyse;
use shelfmark_design_language::model::schema::{ReadStep, Schema, Serve, Step, WritePlan};
use shelfmark_design_language::model::{ColumnPath, Model, OrderKey, Read, Term};
use shelfmark_design_language::syntax::tree::CondOp;
use shelfmark_design_language::target::{Target, profile};
use write_case::WriteCase;

/// The seed of witness searches: fixed, so that one model has one output.
pub const SEED: u64 = 20_261_121;

/// The result of proving one read, with its plan.
pub struct ReadProof {
    /// The plan of a read.
    pub serve: Option<Serve>,
    /// The findings about the plan.
    pub analysis: Analysis,
    /// The reason why no key can serve the read.
    pub unservable: Option<Unservable>,
}

/// A reason for which no key can serve a read, with its text for people.
#[derive(Debug, Clone)]
pub struct Unservable {
    /// The ground.
    pub ground: Ground,
    text: String,
}

impl std::fmt::Display for Unservable {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.text)
    }
}

/// A certificate with further results for lints.
pub struct Proof {
    /// The certificate.
    pub certificate: Certificate,
    /// Index of the schema in the model.
    pub schema: usize,
    /// Index into the reads or writes of the model.
    pub pattern: usize,
    /// The findings about the plan.
    pub analysis: Analysis,
    /// True if the schema names no plan.
    pub derived: bool,
    /// The plan of a read.
    pub serve: Option<Serve>,
    /// The plan of a write.
    pub plan: Option<WritePlan>,
}

/// Proves all patterns in all schemas, in the order of the model.
pub fn prove(model: &Model, hash: &str) -> Vec<Proof> {
    model.rested();
    let mut proofs = Vec::new();
    for (number, schema) in model.schemas.iter().enumerate() {
        let Some(target) = profile(&schema.target) else { continue };
        for (index, read) in model.reads.iter().enumerate() {
            let proof = prove_read(model, schema, target, index, read);
            let certificate = certificate(model, schema, read, &proof, hash);
            proofs.push(Proof {
                certificate,
                schema: number,
                pattern: index,
                derived: proof.serve.as_ref().is_none_or(|serve| serve.derived),
                analysis: proof.analysis,
                serve: proof.serve,
                plan: None,
            });
        }
        let reads = proofs.len();
        for case in WriteCase::all(model, schema, target) {
            let (certificate, analysis, plan) = write_certificate::certificate(case, hash);
            proofs.push(Proof {
                certificate,
                schema: number,
                pattern: case.index,
                derived: plan.derived,
                analysis,
                serve: None,
                plan: Some(plan),
            });
        }
        stated::mixed_conditions(schema, proofs.get_mut(reads..).unwrap_or_default());
    }
    proofs
}

/// Proves the named plan of a read, or the best of the derived ones.
pub fn prove_read(
    model: &Model,
    schema: &Schema,
    target: &Target,
    index: usize,
    read: &Read,
) -> ReadProof {
    let named = schema.serves.iter().find(|serve| serve.read == index);
    let candidates = match named {
        Some(serve) => vec![serve.clone()],
        None => candidates(model, schema, target, index, read),
    };
    let mut best: Option<(Serve, Analysis)> = None;
    let mut before: Option<(ReadStep, bool)> = None;
    for serve in candidates {
        let alone = !serve.steps.iter().any(|step| matches!(step, Step::Also(_)));
        // Read from the other end a range differs in its order, and in nothing else.
        if let (Some(Step::Read(step)), Some((other, in_order))) = (serve.steps.first(), &before)
            && *in_order
            && alone
            && is_reverse(step, other)
        {
            continue;
        }
        let mut analysis = analyse(model, schema, target, read, &serve);
        sizes::asked(schema, target, &read.params, &serve, &mut analysis);
        let calls = askable(target, &mut analysis, || {
            Some(calls::Calls::new(model, schema)?.read(index, &serve))
        });
        if analysis.failures.is_empty() {
            let calls = calls.filter(|_| !read.page).unwrap_or_default();
            stated::asked_to_the_end(target, &calls, &mut analysis);
            stated::counted_until_deleted(model, target, read, &mut analysis);
        }
        let in_order = analysis.failures.iter().all(|failure| failure.obligation != 5);
        before = match serve.steps.first() {
            Some(Step::Read(step)) => Some((step.clone(), in_order)),
            _ => None,
        };
        let cost = |analysis: &Analysis| (analysis.failures.len(), analysis.multi);
        if best.as_ref().is_none_or(|(_, old)| cost(&analysis) < cost(old)) {
            let done = analysis.failures.is_empty() && !analysis.multi;
            best = Some((serve, analysis));
            if done {
                break;
            }
        }
    }
    let unservable = unservable(model, read);
    match best {
        Some((serve, analysis)) => ReadProof { serve: Some(serve), analysis, unservable },
        None => {
            let mut analysis = Analysis::default();
            let names: Vec<&str> = read
                .sources
                .iter()
                .map(|source| model.relation(source.relation).name.text.as_str())
                .collect();
            let why = format!(
                "no plan is named, and no row family of {} has a key that this call can form",
                names.join(", ")
            );
            analysis.fail_call("A1", why);
            ReadProof { serve: None, analysis, unservable }
        }
    }
}

/// Returns plans worth proving: one range, and where row types have limits of their own a request for
/// each of them.
fn candidates(
    model: &Model,
    schema: &Schema,
    target: &Target,
    index: usize,
    read: &Read,
) -> Vec<Serve> {
    let mut found = derive::plans(model, schema, index, read);
    if read.has_own_limits() {
        let best = |own: &Read| {
            let plans = derive::plans(model, schema, index, own).into_iter();
            plans.min_by_key(|serve| {
                let analysis = analyse(model, schema, target, own, serve);
                (analysis.failures.len(), analysis.multi)
            })
        };
        let steps = beside::derived(model, read, best);
        found.extend(steps.map(|steps| Serve {
            read: index,
            steps,
            span: read.span,
            derived: true,
        }));
    }
    found
}

/// Proves O10: the target has a request for each step of a plan that is right so far. Returns the requests.
fn askable(
    target: &Target,
    analysis: &mut Analysis,
    requests: impl FnOnce() -> Option<Result<Vec<calls::Call>, calls::Refusal>>,
) -> Option<Vec<calls::Call>> {
    if !analysis.failures.is_empty() {
        return None;
    }
    match requests().unwrap_or_else(|| Ok(Vec::new())) {
        // What is not written down here a program may say all the same.
        Err(refusal) if refusal.of_language && !target.has_requests => {
            analysis.note(10, "the target is called by its programs, which form the call");
            None
        }
        Err(refusal) => {
            analysis.fail_request(refusal.to_string());
            None
        }
        Ok(calls) => {
            analysis.note(10, "each step is a request that the target takes");
            Some(calls)
        }
    }
}

/// Returns true if a step reads the same as another, from the other end.
fn is_reverse(step: &ReadStep, other: &ReadStep) -> bool {
    step.desc != other.desc
        && step.table == other.table
        && step.each.is_some() == other.each.is_some()
        && step.bound == other.bound
        && step.bounds == other.bounds
        && step.limit == other.limit
}

/// Returns the reason why no key can serve a read, if there is one.
pub fn unservable(model: &Model, read: &Read) -> Option<Unservable> {
    let because = |ground, text: &str| Some(Unservable { ground, text: text.to_owned() });
    if read.offset {
        return because(Ground::Offset, "an offset counts rows that are not read");
    }
    if read.aggregate.is_some() {
        let text = "an aggregate without a kept row reads everything it is over";
        return because(Ground::Aggregate, text);
    }
    read.sources.iter().enumerate().find_map(|(at, source)| {
        let Some(asked) = canon::comparisons(model, source.relation, &source.predicates) else {
            let text = "contains, suffix, full text and geography are no ranges of a key";
            return because(Ground::Search, text);
        };
        // Rows of which a comparison with a constant holds may lie by themselves: sparse ones.
        let is_range = |met: &&range::Met| {
            matches!(met.op, CondOp::Lt | CondOp::Le | CondOp::Gt | CondOp::Ge | CondOp::Begins)
                && !matches!(met.plan, Term::Const(_))
                && !implied::literally(&range::Met { op: CondOp::Eq, ..(*met).clone() }, &asked)
        };
        let mut ranged = asked.iter().filter(is_range).map(|met| &met.row);
        let first = ranged.next()?;
        if ranged.any(|other| other != first) {
            return because(Ground::TwoRanges, "ranges or prefixes on two attributes");
        }
        let Term::Column(path) = first else { return None };
        let open = open_order(model, read, at, &paths::fixed_paths(&asked))?;
        if open == *path {
            return None;
        }
        let name = model.path_text(source.relation, path);
        let text = format!("no key order contains this one: the range on {name} comes first");
        because(Ground::OtherOrder, &text)
    })
}

/// Returns the first attribute that a read orders one source by, of those that have more than one value.
fn open_order(
    model: &Model,
    read: &Read,
    source: usize,
    fixed: &BTreeSet<ColumnPath>,
) -> Option<ColumnPath> {
    let relation = read.sources.get(source)?.relation;
    if determines_tuple(model, relation, fixed) {
        return None;
    }
    read.order.iter().find_map(|(key, _)| match key {
        OrderKey::Kind => Some(None),
        OrderKey::Columns(paths) => {
            let path = canon::canonical(model, relation, paths.get(source)?.as_ref()?);
            (!determines_path(model, relation, fixed, &path)).then_some(Some(path))
        }
    })?
}

/// Returns the failure that names the outcome: a call that cannot be formed, then the lowest
/// obligation whose harm is a wrong answer, then excess.
pub fn decisive(analysis: &Analysis) -> Option<&Failure> {
    analysis.failures.iter().min_by_key(|failure| {
        let wasteful = matches!(failure.obligation, 6 | 8 | 9);
        (!failure.call, wasteful, failure.obligation)
    })
}

fn certificate(
    model: &Model,
    schema: &Schema,
    read: &Read,
    proof: &ReadProof,
    hash: &str,
) -> Certificate {
    let analysis = &proof.analysis;
    let failure = decisive(analysis);
    let status = match (failure, &proof.unservable) {
        (None, _) if analysis.multi => Status::Multi,
        (None, _) => Status::Certified,
        (Some(_), Some(_)) => Status::Unservable,
        (Some(_), None) => Status::Refused,
    };
    let reason = match (status, failure, &proof.unservable) {
        (Status::Unservable, _, Some(why)) => why.to_string(),
        (_, Some(failure), _) => failure.reason.clone(),
        _ => String::new(),
    };
    let witness = match (status, failure) {
        (Status::Refused, Some(failure)) => Some(witness(model, schema, read, proof, failure)),
        _ => None,
    };
    let ranges = proof.serve.iter().flat_map(|serve| &serve.steps).filter_map(Step::read);
    let ranges = ranges.map(|step| text::range(model, schema, read, step));
    let steps = proof.serve.as_ref().map(|serve| text::steps(model, schema, read, &serve.steps));
    Certificate {
        schema: schema.name.text.clone(),
        pattern: read.name.text.clone(),
        write: false,
        status,
        obligation: failure
            .filter(|_| status == Status::Refused)
            .map(|failure| format!("O{}", failure.obligation)),
        ground: proof
            .unservable
            .as_ref()
            .filter(|_| status == Status::Unservable)
            .map(|why| why.ground),
        obligations: obligations(analysis),
        ranges: ranges.collect(),
        steps: steps.unwrap_or_default(),
        rows_max: analysis.rows_max.clone(),
        concurrency: None,
        reason,
        witness,
        plan: proof
            .serve
            .as_ref()
            .and_then(|serve| serde_json::to_value(&serve.steps).ok())
            .unwrap_or(serde_json::Value::Null),
        model: hash.to_owned(),
        seal: String::new(),
    }
    .sealed()
}

/// Lists O1 to O10 with their evidence.
pub fn obligations(analysis: &Analysis) -> Vec<Obligation> {
    (1..=10)
        .map(|number| {
            let broken: Vec<&str> = analysis
                .failures
                .iter()
                .filter(|failure| failure.obligation == number)
                .map(|failure| failure.reason.as_str())
                .collect();
            let good: Vec<&str> = analysis
                .evidence
                .iter()
                .filter(|(of, _)| *of == number)
                .map(|(_, text)| text.as_str())
                .collect();
            let holds = broken.is_empty();
            let evidence = if holds { good.join("; ") } else { broken.join("; ") };
            Obligation { id: format!("O{number}"), holds, evidence }
        })
        .collect()
}

fn witness(
    model: &Model,
    schema: &Schema,
    read: &Read,
    proof: &ReadProof,
    failure: &Failure,
) -> serde_json::Value {
    let call = || {
        let names: Vec<&str> = read.params.iter().map(|param| param.name.as_str()).collect();
        json!({ "kind": "call", "call": format!("{}({})", read.name.text, names.join(", ")), "missing": failure.reason })
    };
    let Some(serve) = proof.serve.as_ref().filter(|_| !failure.call) else { return call() };
    if failure.obligation == 8 {
        return json!({ "kind": "excess", "excess": "staleness: the index may show the state before the last write" });
    }
    if failure.obligation == 9 {
        return json!({ "kind": "excess", "excess": failure.reason });
    }
    // Rows that are read and dropped make no answer wrong: excess is what there is to be found.
    let wanted = match failure.lint {
        "F1" => [Wanted::Excess, Wanted::Wrong],
        _ => [Wanted::Wrong, Wanted::Excess],
    };
    if !model.may_search(schema, read.sources.iter().map(|source| source.relation)) {
        return unseen(0);
    }
    let found = wanted.into_iter().find_map(|one| find(model, schema, read, serve, one, SEED));
    found.unwrap_or_else(|| unseen(model.witness_tries()))
}

/// Returns the note that stands for a witness where none was found.
pub fn unseen(tries: usize) -> serde_json::Value {
    json!({ "kind": "state", "found": false, "tries": tries })
}

#[cfg(test)]
mod tests;
