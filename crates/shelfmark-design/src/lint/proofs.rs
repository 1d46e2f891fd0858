//! Warns of patterns that are not served (M2, A6) or whose proof failed (by the failure's lint).
//!
//! Of patterns that are served it warns of sentinels (K5), many follow-up reads (A5), scans (A7),
//! ranges over an index that finds only equal values (X2), indexes that are taken to be unique
//! (U4), and reads without a maximum (M1).

use serde_json::Value as Json;

use super::{Context, Found, threshold};
use shelfmark_design_language::catalogue::Severity;
use shelfmark_design_language::certificate::RowsMax;
use shelfmark_design_language::certificate::Status;
use shelfmark_design_language::model::canonical;
use shelfmark_design_language::model::schema::{Part, ReadStep, Schema, Serve, Step};
use shelfmark_design_language::model::{Model, Read, Term, Value};
use shelfmark_design_language::syntax::span::Span;
use shelfmark_design_language::syntax::tree::{BoundKind, CondOp, Verb};
use shelfmark_design_prove::eval::witness::{Wanted, find};
use shelfmark_design_prove::{Proof, SEED, decisive};

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Found>) {
    one_of_several(context.model, found);
    for proof in context.proofs {
        let Some(schema) = context.model.schemas.get(proof.schema) else { continue };
        if proof.certificate.write {
            write(context.model, proof, found);
        } else if let Some(read) = context.model.reads.get(proof.pattern) {
            one_read(context.model, schema, read, proof, found);
        }
    }
}

/// Returns the witness, unless the search found none.
fn reproducer(proof: &Proof) -> Option<Json> {
    proof.certificate.witness.clone().filter(|witness| witness.get("found").is_none())
}

/// Returns evidence of the harm; also of a plan that is named for what no key can do: it gives a
/// wrong answer like any other.
fn shown(model: &Model, schema: &Schema, read: &Read, proof: &Proof) -> Option<Json> {
    if proof.certificate.status != Status::Unservable {
        return reproducer(proof);
    }
    let serve = proof.serve.as_ref()?;
    if !model.may_search(schema, read.sources.iter().map(|source| source.relation)) {
        return None;
    }
    find(model, schema, read, serve, Wanted::Wrong, SEED)
}

fn one_read(model: &Model, schema: &Schema, read: &Read, proof: &Proof, found: &mut Vec<Found>) {
    let name = &read.name.text;
    let span = proof
        .serve
        .as_ref()
        .filter(|serve| !serve.derived)
        .map_or(read.name.span, |serve| serve.span);
    if proof.derived
        && proof.certificate.status != Status::Certified
        && proof.certificate.status != Status::Multi
    {
        // Families that lose rows are reported where they are declared, once.
        if decisive(&proof.analysis).is_some_and(|failure| failure.lint == "U1") {
            return;
        }
        let why = &proof.certificate.reason;
        let id = if proof.certificate.status == Status::Unservable { "A6" } else { "M2" };
        found.push(
            Found::new(
                id,
                proof.schema,
                name,
                schema.name.span,
                format!("{name} is not served: {why}"),
            )
            .severity(Severity::Warning),
        );
        return;
    }
    let shown = shown(model, schema, read, proof);
    let formed = !proof.analysis.failures.iter().any(|failure| failure.call);
    let ranges = proof
        .serve
        .iter()
        .flat_map(|serve| &serve.steps)
        .any(|step| step.read().is_some_and(|step| step.verb != Verb::Get));
    for failure in &proof.analysis.failures {
        // Families that lose rows are reported where they are declared; of a call that cannot be
        // formed there is no range to speak of.
        let of_range = failure.lint == "A3" || (failure.lint == "K6" && !ranges);
        if failure.lint == "U1" || (!formed && of_range) {
            continue;
        }
        let message = format!("{name}: {}", failure.reason);
        found.push(
            // What is refused is harm, whatever the lint is elsewhere.
            Found::new(failure.lint, proof.schema, name, span, message)
                .severity(Severity::Error)
                .reproducer(shown.clone()),
        );
    }
    let Some(serve) = &proof.serve else { return };
    sentinels(read, serve, proof, span, found);
    follow_ups(model, schema, read, serve, proof, span, found);
    let also = serve.steps.iter().skip(1).filter(|step| matches!(step, Step::Also(_)));
    for step in serve.steps.iter().take(1).chain(also).filter_map(Step::read) {
        index_use(model, schema, read, step, proof, span, found);
    }
    if proof.analysis.failures.is_empty() && proof.certificate.rows_max == RowsMax::Unbounded {
        let message = format!("{name} reads as many rows as there are: no maximum is declared");
        found.push(Found::new("M1", proof.schema, name, read.name.span, message));
    }
}

/// Checks K5 also where the sentinel happens to lie above everything.
fn sentinels(read: &Read, serve: &Serve, proof: &Proof, span: Span, found: &mut Vec<Found>) {
    let ends = serve
        .steps
        .iter()
        .filter_map(Step::read)
        .flat_map(|step| &step.bounds)
        .filter(|(kind, _)| matches!(kind, BoundKind::To | BoundKind::Before));
    for (_, parts) in ends {
        let text = match parts.iter().rev().find(|part| **part != Part::End) {
            Some(Part::Literal(text)) => text,
            Some(Part::Hole { term: Term::Const(Value::Text(text)), .. }) => text,
            _ => continue,
        };
        let sentinel = text.ends_with(['~', '\u{7f}', '\u{ffff}', '\u{fffd}', '\u{10ffff}']);
        let known = proof.analysis.failures.iter().any(|failure| failure.lint == "K5");
        if sentinel && !known {
            let message = format!("{}: the range ends at a sentinel, {text:?}", read.name.text);
            found.push(
                Found::new("K5", proof.schema, &read.name.text, span, message)
                    .severity(Severity::Note),
            );
        }
    }
}

fn follow_ups(
    model: &Model,
    schema: &Schema,
    read: &Read,
    serve: &Serve,
    proof: &Proof,
    span: Span,
    found: &mut Vec<Found>,
) {
    let follows = serve.steps.iter().skip(1).filter(|step| matches!(step, Step::Read(_))).count();
    let limit = match &read.limit {
        Some(Term::Const(Value::Int(n))) => *n as f64,
        _ => proof.certificate.rows_max.as_number().unwrap_or(f64::INFINITY),
    };
    let most = threshold(model, schema, "A5.reads", 10.0);
    if follows > 0 && limit >= most {
        let message = format!(
            "{}: one more read for each of {} rows",
            read.name.text, proof.certificate.rows_max
        );
        found.push(Found::new("A5", proof.schema, &read.name.text, span, message));
    }
    let scans = serve
        .steps
        .iter()
        .filter_map(Step::read)
        .any(|step| step.verb == Verb::Scan && step.bound.is_empty() && step.bounds.is_empty());
    if scans && !read.admin {
        let message = format!("{} reads a whole table", read.name.text);
        found.push(Found::new("A7", proof.schema, &read.name.text, span, message));
    }
}

/// Checks X2, a range over an index that only finds equal values, and U4, an index that is assumed
/// to be unique.
fn index_use(
    model: &Model,
    schema: &Schema,
    read: &Read,
    step: &ReadStep,
    proof: &Proof,
    span: Span,
    found: &mut Vec<Found>,
) {
    let Some(table) = schema.tables.get(step.table).filter(|table| table.is_index) else { return };
    if proof.analysis.leans_on_base_key {
        let message = format!(
            "{}: rows that are equal in the columns of the index {} come in the order of their own \
             key, which {} does not promise; end the index's key with what is ordered by",
            read.name.text, table.name.text, schema.target
        );
        let one = Found::new("X2", proof.schema, &read.name.text, span, message);
        found.push(one.severity(Severity::Warning));
    }
    for source in &read.sources {
        let mut families = schema.of_table(step.table).map(|(_, family)| family);
        let Some(family) = families.find(|family| family.source == source.relation) else {
            continue;
        };
        let partition: Vec<_> = family
            .key
            .iter()
            .take(table.partition)
            .flat_map(|column| &column.parts)
            .filter_map(|part| match part {
                Part::Hole { term: Term::Column(path), .. } => {
                    Some(canonical(model, family.source, path))
                }
                _ => None,
            })
            .collect();
        let ranged = source.predicates.iter().find(|predicate| {
            !matches!(predicate.op, CondOp::Eq | CondOp::In | CondOp::Present | CondOp::Absent)
                && partition.contains(&canonical(model, source.relation, &predicate.path))
        });
        if let Some(predicate) = ranged {
            let attribute = model.path_text(source.relation, &predicate.path);
            let message = format!(
                "{}: the index {} finds equal values of {attribute} only, a range is asked for",
                read.name.text, table.name.text
            );
            found.push(
                Found::new("X2", proof.schema, &read.name.text, span, message)
                    .reproducer(reproducer(proof)),
            );
        }
        let known: std::collections::BTreeSet<_> = source
            .predicates
            .iter()
            .filter(|predicate| predicate.op == CondOp::Eq)
            .map(|predicate| canonical(model, source.relation, &predicate.path))
            .collect();
        if read.unique
            && !shelfmark_design_prove::closure::determines_tuple(model, source.relation, &known)
        {
            let message = format!(
                "{}: nothing keeps {} from having several entries",
                read.name.text, table.name.text
            );
            found.push(Found::new("U4", proof.schema, &read.name.text, span, message));
        }
    }
}

fn write(model: &Model, proof: &Proof, found: &mut Vec<Found>) {
    let Some(write) = model.writes.get(proof.pattern) else { return };
    let span =
        proof.plan.as_ref().filter(|plan| !plan.derived).map_or(write.name.span, |plan| plan.span);
    let mut told = false;
    for failure in &proof.analysis.failures {
        if failure.lint == "U1" {
            continue;
        }
        let message = format!("{}: {}", write.name.text, failure.reason);
        let lint = if failure.lint == "W5" && failure.call { "W1" } else { failure.lint };
        if proof.derived && lint == "W5" {
            // One reason says that there is no plan; the others follow from the same.
            if std::mem::replace(&mut told, true) {
                continue;
            }
            let message = format!(
                "{}: no plan is named and none was found: {}",
                write.name.text, failure.reason
            );
            found.push(Found::new("M2", proof.schema, &write.name.text, span, message));
            continue;
        }
        let mut one = Found::new(lint, proof.schema, &write.name.text, span, message);
        // A plan that is named and refused is harm, whatever the lint is elsewhere.
        if !proof.derived {
            one.severity = Severity::Error;
        }
        found.push(one.reproducer(reproducer(proof)));
    }
}

/// Checks U4 by the pattern alone: it asks for one, and nothing prevents several.
fn one_of_several(model: &Model, found: &mut Vec<Found>) {
    for read in model.reads.iter().filter(|read| read.unique && read.aggregate.is_none()) {
        for source in &read.sources {
            let fixed = source.predicates.iter().filter(|predicate| predicate.op == CondOp::Eq);
            let known =
                fixed.map(|predicate| canonical(model, source.relation, &predicate.path)).collect();
            if shelfmark_design_prove::closure::determines_tuple(model, source.relation, &known) {
                continue;
            }
            let names: Vec<String> =
                known.iter().map(|path| model.path_text(source.relation, path)).collect();
            let relation = &model.relation(source.relation).name.text;
            let message = format!(
                "{} asks for one {relation}, and several may have the same {}",
                read.name.text,
                if names.is_empty() { "form".to_owned() } else { names.join(", ") }
            );
            let mut one = Found::new("U4", 0, &read.name.text, read.name.span, message);
            one.schema = None;
            found.push(one);
        }
    }
}
