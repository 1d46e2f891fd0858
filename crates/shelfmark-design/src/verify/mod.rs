//! Certificates re-checked without the prover.
//!
//! A claim of `certified` or `multi` is checked twice: its shape (what is bound, what makes a row
//! unique, where the limit is) by a few rules of its own, and its meaning by running the plan on
//! states drawn from a seed of the certificate's own, against the definition of the pattern. A
//! refusal must bring a witness.
//!
//! What it is not: no second proof of order and disjointness for all states; those are run, not
//! derived. It shares no rule with `prove`, only the parser, the resolved model and the evaluator.
//!
//! Invariant: says yes only when nothing contradicts the certificate.

mod shape;

use crate::eval::answer::answer;
use crate::eval::generate::{Pool, inputs, state, write_inputs};
use crate::eval::random::Random;
use crate::eval::rows::rows;
use crate::eval::run::run;
use crate::model::schema::{Schema, Serve, Step};
use crate::model::{Model, Read};
use crate::prove::certificate::{Certificate, Status};
use crate::prove::{derive, text, writes};
use crate::target::profile;

/// States that one certificate is run on.
const RUNS: usize = 300;

pub(crate) fn verify(model: &Model, certificate: &Certificate) -> Result<String, String> {
    let schema = model.schemas.iter().find(|schema| schema.name.text == certificate.schema);
    let schema = schema.ok_or("there is no such schema")?;
    if matches!(certificate.status, Status::Refused) {
        let witness = certificate.witness.as_ref().ok_or("a refusal without a witness")?;
        let kind = witness.get("kind").and_then(|kind| kind.as_str()).unwrap_or("");
        return Ok(format!("refused, with a witness ({kind})"));
    }
    if certificate.status == Status::Unservable {
        return Ok("no claim about a plan".to_owned());
    }
    if let Some(broken) = certificate.obligations.iter().find(|obligation| !obligation.holds) {
        return Err(format!("{} is said not to hold", broken.id));
    }
    if certificate.write {
        return write(model, schema, certificate);
    }
    let index = model.reads.iter().position(|read| read.name.text == certificate.pattern);
    let index = index.ok_or("there is no such read")?;
    let read = model.reads.get(index).ok_or("there is no such read")?;
    let serve = plan(model, schema, index, read, certificate)?;
    shape::check(model, schema, read, &serve, certificate.status)?;
    let mut random = Random::new(seed(certificate));
    let pool = Pool::of(Some(schema));
    for attempt in 0..RUNS {
        let state = state(model, &pool, &mut random, 1 + attempt % 5);
        let inputs = inputs(model, &state, read, &pool, &mut random);
        let outcome = run(model, schema, &rows(model, schema, &state), read, &serve, &inputs)
            .map_err(|error| format!("the call cannot be formed: {error}"))?;
        let right = answer(model, &state, read, &inputs);
        if !right.accepts(&outcome.records) {
            return Err(format!("state {attempt} has another answer than the plan gives"));
        }
        if certificate.status == Status::Certified && outcome.rows_read > right.length() {
            return Err(format!("state {attempt}: more rows are read than returned"));
        }
    }
    Ok(format!("shape and {RUNS} states"))
}

/// The plan that the certificate speaks of: the named one, or the derived one with its ranges.
fn plan(
    model: &Model,
    schema: &Schema,
    index: usize,
    read: &Read,
    certificate: &Certificate,
) -> Result<Serve, String> {
    let named = schema.serves.iter().find(|serve| serve.read == index);
    let candidates = match named {
        Some(serve) => vec![serve.clone()],
        None => derive::plans(model, schema, index, read),
    };
    candidates
        .into_iter()
        .find(|serve| text::steps(model, schema, read, &serve.steps) == certificate.steps)
        .ok_or_else(|| "its steps are not those of a plan of this schema".to_owned())
}

fn write(model: &Model, schema: &Schema, certificate: &Certificate) -> Result<String, String> {
    let index = model.writes.iter().position(|write| write.name.text == certificate.pattern);
    let index = index.ok_or("there is no such write")?;
    let write = model.writes.get(index).ok_or("there is no such write")?;
    let target = profile(&schema.target).ok_or("there is no such target")?;
    let plan = writes::plan(model, schema, target, index, write);
    let mut random = Random::new(seed(certificate));
    let pool = Pool::of(Some(schema));
    let mut defined = 0;
    for attempt in 0..RUNS {
        let state = state(model, &pool, &mut random, 1 + attempt % 5);
        let inputs = write_inputs(model, &state, write, &pool, &mut random);
        if crate::eval::change::apply(model, write, &state, &inputs).is_some() {
            defined += 1;
        }
        if writes::differs(model, schema, write, &plan, &state, &inputs) {
            return Err(format!("state {attempt}: other rows than those of the changed state"));
        }
    }
    Ok(format!("{RUNS} states, the call is defined in {defined}"))
}

/// A seed of the certificate's own.
fn seed(certificate: &Certificate) -> u64 {
    let name = format!("{}/{}/{}", certificate.model, certificate.schema, certificate.pattern);
    name.bytes()
        .fold(0x9E37_79B9, |state, byte| (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Whether a plan has one read and nothing after it.
pub(crate) fn is_single(serve: &Serve) -> bool {
    matches!(serve.steps.as_slice(), [Step::Read(step)] if step.each.is_none())
}
