//! Verifies certificates by other code than the prover's.
//!
//! From the certificate and the model alone: the plan is read back from it, its words and ranges
//! must be those of the plan, and each obligation is looked at again. O1, O4, O6, O8 and O9 by rules
//! of its own in `rules`, O10 in `requests`; O2, O3, O5 and O7 by their meaning: the plan is run on states drawn from a
//! seed of the certificate's own, by an evaluator of its own, against the definition of the
//! pattern. A write is checked by what it must change, row family by row family. A refusal must
//! bring a witness, and a witness that is a state must show what it says.
//!
//! What it is not: no second proof for all states; what it runs, it runs on some hundred. It uses
//! the parser, the resolved model, the codecs' texts and the words of certificates, which is all that
//! `shelfmark-design-language` has; of the prover and its evaluator it knows nothing, as the graph of
//! crates shows.
//!
//! Invariant: says yes only when nothing contradicts the certificate.

mod follows;
mod meaning;
mod projections;
mod requests;
mod rules;
mod shelf;
mod sizes;
mod witness;
mod world;
mod write;
mod write_claims;
mod write_concurrency;
mod write_conditions;
mod write_copies;
mod write_defined;
mod write_families;
mod write_indexes;
mod write_lasting;
mod write_loops;
mod write_parts;
mod write_reads;
mod write_room;
mod write_rows;
mod write_steps;
mod write_whole;

use serde::de::DeserializeOwned;

use shelfmark_design_language::certificate::{Certificate, Status, text};
use shelfmark_design_language::model::schema::{Schema, Step};
use shelfmark_design_language::model::{Model, Read, Term, Value, Write};
use world::{Dice, World, draw_inputs};

/// Number of states that one certificate is run on.
const RUNS: usize = 480;
/// Number of states for a write: many of the changes that are drawn are not defined.
const WRITE_RUNS: usize = 720;

/// Verifies a certificate against its model, and returns how it was checked.
///
/// Cost: some hundred small runs.
///
/// # Errors
///
/// What does not hold. Do not believe the certificate; prove the model anew.
pub fn verify(model: &Model, certificate: &Certificate) -> Result<String, String> {
    if !certificate.is_sealed() {
        return Err("its seal is broken: it was changed after it was made".to_owned());
    }
    let schema = model.schemas.iter().find(|schema| schema.name.text == certificate.schema);
    let schema = schema.ok_or("there is no such schema")?;
    claims(certificate)?;
    if certificate.write {
        let write = model.writes.iter().position(|write| write.name.text == certificate.pattern);
        let index = write.ok_or("there is no such write")?;
        let write = model.writes.get(index).ok_or("there is no such write")?;
        return write::check(model, schema, index, write, certificate);
    }
    let index = model.reads.iter().position(|read| read.name.text == certificate.pattern);
    let index = index.ok_or("there is no such read")?;
    let read = model.reads.get(index).ok_or("there is no such read")?;
    check_read(model, schema, index, read, certificate)
}

/// Checks that status, obligations, reason and witness fit together.
fn claims(certificate: &Certificate) -> Result<(), String> {
    let ids: Vec<&str> = certificate.obligations.iter().map(|one| one.id.as_str()).collect();
    if ids != ["O1", "O2", "O3", "O4", "O5", "O6", "O7", "O8", "O9", "O10"] {
        return Err("it does not speak of O1 to O10".to_owned());
    }
    let broken: Vec<&str> = certificate
        .obligations
        .iter()
        .filter(|one| !one.holds)
        .map(|one| one.id.as_str())
        .collect();
    let reason = |id: &str| {
        certificate
            .obligations
            .iter()
            .any(|one| one.id == id && one.evidence.contains(&certificate.reason))
    };
    let certified = certificate.write && certificate.status == Status::Certified;
    if certificate.concurrency.is_some() && !certified {
        return Err("it claims something of a write that it does not certify".to_owned());
    }
    if certificate.ground.is_some() != (certificate.status == Status::Unservable) {
        return Err("it names a ground beside another outcome, or none".to_owned());
    }
    match certificate.status {
        Status::Certified | Status::Multi => {
            if let Some(id) = broken.first() {
                return Err(format!("{id} is said not to hold"));
            }
            if certificate.obligation.is_some()
                || !certificate.reason.is_empty()
                || certificate.witness.is_some()
            {
                return Err("it gives a reason for a refusal that it does not make".to_owned());
            }
        }
        Status::Refused => {
            let named = certificate.obligation.as_deref().unwrap_or("");
            if !broken.contains(&named) || certificate.reason.is_empty() || !reason(named) {
                return Err("the obligation it names is not the one that fails".to_owned());
            }
            certificate.witness.as_ref().ok_or("a refusal without a witness")?;
        }
        Status::Unservable => {
            if broken.is_empty()
                || certificate.obligation.is_some()
                || certificate.reason.is_empty()
            {
                return Err("it says that no key can do it, and not why".to_owned());
            }
        }
    }
    Ok(())
}

fn check_read(
    model: &Model,
    schema: &Schema,
    index: usize,
    read: &Read,
    certificate: &Certificate,
) -> Result<String, String> {
    let named = schema.serves.iter().find(|serve| serve.read == index);
    let named = named.map(|serve| serde_json::to_value(&serve.steps).unwrap_or_default());
    if named.as_ref().is_some_and(|named| *named != certificate.plan) {
        return Err("its plan is not the one that the schema names".to_owned());
    }
    if certificate.status == Status::Unservable {
        rules::unservable(model, read, certificate.ground)?;
    }
    if certificate.plan.is_null() {
        if matches!(certificate.status, Status::Certified | Status::Multi) {
            return Err("it has no plan".to_owned());
        }
        if certificate.status == Status::Refused {
            rules::no_plan(model, schema, read)?;
        }
        return Ok("no plan, and no key that the call can form".to_owned());
    }
    let steps: Vec<Step> = plan(certificate)?;
    rules::in_model(schema, read, &steps)?;
    let words = text::steps(model, schema, read, &steps);
    let reads = steps.iter().filter_map(Step::read);
    let ranges: Vec<_> = reads.map(|step| text::range(model, schema, read, step)).collect();
    if words != certificate.steps || ranges != certificate.ranges {
        return Err("its words are not those of its plan".to_owned());
    }
    match certificate.status {
        Status::Unservable => Ok("one of the five reasons".to_owned()),
        Status::Refused => witness::read(model, schema, read, &steps, certificate),
        Status::Certified | Status::Multi => {
            rules::check(model, schema, read, &steps, certificate)?;
            requests::read(model, schema, read, &steps)?;
            sizes::asked(schema, read, &steps)?;
            run(model, schema, read, &steps, certificate)
        }
    }
}

/// Checks O2, O3, O5 and O7, and the bound of O6, on states.
fn run(
    model: &Model,
    schema: &Schema,
    read: &Read,
    steps: &[Step],
    certificate: &Certificate,
) -> Result<String, String> {
    let mut dice = Dice::new(&certificate.model, &certificate.schema, &certificate.pattern);
    let words = world::words(model, schema);
    let uses: Vec<_> = read.sources.iter().map(|one| (one.relation, &one.predicates)).collect();
    let own = read.sources.iter().filter_map(|source| source.limit.as_ref());
    // Of a row type none may be asked for.
    let own = own.map(|limit| (limit, 0));
    let limits: Vec<(&Term, i64)> = read.limit.iter().map(|limit| (limit, 1)).chain(own).collect();
    for attempt in 0..RUNS {
        let world = World::draw(model, &words, &mut dice, 1 + attempt % 5);
        let inputs = draw_inputs(&world, &read.params, &uses, &limits, &words, &mut dice);
        let answer = meaning::answer(&world, read, &inputs);
        let rows = shelf::rows(&world, schema);
        let found = shelf::run(model, schema, &rows, read, steps, &inputs)
            .map_err(|error| format!("the call cannot be formed: {error}"))?;
        if !answer.accepts(&found.items) {
            return Err(format!("state {attempt} has another answer than the plan gives"));
        }
        if read.page && !joined(&world, schema, &rows, read, steps, &inputs)? {
            return Err(format!("state {attempt}: pages together are not what is asked for"));
        }
        // A filter that drops what was read is no answer without other rows.
        let reads = steps.iter().filter(|step| matches!(step, Step::Read(_))).count();
        let filters = steps.iter().any(|step| matches!(step, Step::Filter(_)));
        let most = match certificate.status {
            Status::Certified => Some(answer.length()),
            _ if filters => Some(answer.length() * reads),
            _ => rules::most(read, &certificate.rows_max, &inputs, steps),
        };
        if most.is_some_and(|most| found.rows_read > most) {
            return Err(format!("state {attempt}: more rows are read than stated"));
        }
    }
    Ok(format!("rules and {RUNS} states"))
}

/// Returns true if all pages together are the whole answer: the rows of the range without its limit.
fn joined(
    world: &World<'_>,
    schema: &Schema,
    rows: &shelf::Rows,
    read: &Read,
    steps: &[Step],
    inputs: &[Value],
) -> Result<bool, String> {
    let whole = Read { limit: None, ..read.clone() };
    let mut steps = steps.to_vec();
    if let Some(Step::Read(first)) = steps.first_mut() {
        first.limit = None;
    }
    let found = shelf::run(world.model, schema, rows, &whole, &steps, inputs)
        .map_err(|error| format!("the call cannot be formed: {error}"))?;
    Ok(meaning::answer(world, &whole, inputs).accepts(&found.items))
}

/// Decodes the steps of the certificate.
fn plan<T: DeserializeOwned>(certificate: &Certificate) -> Result<Vec<T>, String> {
    serde_json::from_value(certificate.plan.clone())
        .map_err(|error| format!("its plan cannot be read: {error}"))
}

/// Returns the relations and predicates that a write's inputs are compared with.
fn uses_of(write: &Write) -> Vec<(usize, Vec<shelfmark_design_language::model::Predicate>)> {
    let equal = |column: usize, term: &shelfmark_design_language::model::Term| {
        shelfmark_design_language::model::Predicate {
            path: vec![column],
            op: shelfmark_design_language::syntax::tree::CondOp::Eq,
            values: vec![term.clone()],
            max: None,
            span: write.span,
        }
    };
    let mut uses = Vec::new();
    for effect in &write.effects {
        let own = effect.key.iter().chain(&effect.set);
        uses.push((effect.relation, own.map(|(at, term)| equal(*at, term)).collect()));
        if let Some(each) = &effect.each {
            uses.push((each.relation, each.predicates.clone()));
        }
    }
    uses
}

#[cfg(test)]
mod tests;
