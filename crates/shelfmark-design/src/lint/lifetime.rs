//! Warns of expiries in a wrong unit (T1), of security that rests on expiry (T2), of queues (P5).
//!
//! What it is not: it does not know what an attribute is for. Whether security rests on an expiry
//! is guessed from names, which is why T2 is a warning.

use super::{Context, Found};
use shelfmark_design_language::model::canonical;
use shelfmark_design_language::model::pattern::EffectKind;
use shelfmark_design_language::model::relation::Relation;
use shelfmark_design_language::model::schema::{Family, Part, ReadStep, Schema, Step};
use shelfmark_design_language::model::{ColumnPath, Model, Read, RelationId, Term, Type};
use shelfmark_design_language::syntax::tree::{BoundKind, Verb};
use shelfmark_design_language::target::profile;
use shelfmark_design_prove::Proof;
use shelfmark_design_prove::paths::all_key_paths;

/// Words for things that must not be used once they have expired.
const SECURITY: [&str; 16] = [
    "session",
    "token",
    "grant",
    "permission",
    "otp",
    "password",
    "credential",
    "secret",
    "login",
    "lease",
    "invitation",
    "invite",
    "ban",
    "lockout",
    "nonce",
    "code",
];

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Found>) {
    units(context.model, found);
    trusted(context.model, found);
    for proof in context.proofs.iter().filter(|proof| !proof.certificate.write) {
        let schema = context.model.schemas.get(proof.schema);
        let read = context.model.reads.get(proof.pattern);
        if let (Some(schema), Some(read)) = (schema, read) {
            queue(context.model, schema, read, proof, found);
        }
    }
}

/// Checks T1.
fn units(model: &Model, found: &mut Vec<Found>) {
    for relation in &model.relations {
        for column in relation.columns.iter().filter(|column| column.facts.contains_key("ttl")) {
            if !matches!(column.ty, Type::Int(_) | Type::Decimal(_)) {
                let message = format!(
                    "{} is {}; stores count whole seconds",
                    column.name,
                    column.ty.a_name()
                );
                let mut one = Found::new("T1", 0, &column.name, column.span, message);
                one.schema = None;
                found.push(one);
            }
        }
    }
}

/// Checks T2: a read that ignores the expiry of something that grants access.
fn trusted(model: &Model, found: &mut Vec<Found>) {
    for read in &model.reads {
        for source in &read.sources {
            let relation = model.relation(source.relation);
            let expiry = relation.columns.iter().position(|one| one.facts.contains_key("ttl"));
            let Some(expiry) = expiry.filter(|_| is_security(relation)) else { continue };
            let looked_at = source.predicates.iter().any(|one| one.path == [expiry]);
            if looked_at || read.admin {
                continue;
            }
            let message = format!(
                "{}: a {} that has expired may still be answered, and {} is not compared",
                read.name.text,
                relation.name.text,
                relation.column_name(expiry)
            );
            let mut one = Found::new("T2", 0, &read.name.text, read.name.span, message);
            one.schema = None;
            found.push(one);
        }
    }
}

/// Returns true if the name of an entity, or of its expiry, says that it grants access.
fn is_security(relation: &Relation) -> bool {
    let expiry = relation.columns.iter().filter(|column| column.facts.contains_key("ttl"));
    let names = expiry.map(|column| column.name.as_str()).chain([relation.name.text.as_str()]);
    names.into_iter().flat_map(words).any(|word| {
        let one = word.strip_suffix('s').unwrap_or(&word);
        SECURITY.contains(&word.as_str()) || SECURITY.contains(&one)
    })
}

/// Returns the words of a name: cut at underscores and before capitals.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for c in name.chars() {
        if c == '_' || c == '-' || c.is_uppercase() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Checks P5: the oldest rows are read first, and deleted there once they were read.
fn queue(model: &Model, schema: &Schema, read: &Read, proof: &Proof, found: &mut Vec<Found>) {
    let tombstones = profile(&schema.target).is_some_and(|target| target.tombstones);
    let Some(Step::Read(step)) = proof.serve.iter().flat_map(|serve| &serve.steps).next() else {
        return;
    };
    let whole =
        step.bounds.iter().any(|(kind, _)| matches!(kind, BoundKind::From | BoundKind::After));
    let limited = read.limit.is_some() || read.has_own_limits();
    if !tombstones || !limited || step.verb == Verb::Get || whole {
        return;
    }
    let sources = read.sources.iter().map(|source| source.relation);
    for relation in sources {
        let families = schema.of_table(step.table).map(|(_, family)| family);
        let front = families
            .filter(|family| family.source == relation)
            .find(|family| oldest_first(schema, family, step));
        let Some(family) = front else { continue };
        let Some(taker) = taker(model, relation, family) else { continue };
        let message = format!(
            "{} reads {} from its oldest end, where {taker} takes rows away",
            read.name.text, family.name.text
        );
        let span = proof
            .serve
            .as_ref()
            .filter(|serve| !serve.derived)
            .map_or(read.name.span, |serve| serve.span);
        found.push(Found::new("P5", proof.schema, &read.name.text, span, message));
    }
}

/// Returns true if the first part of the key that the range leaves open is a time, read upwards.
fn oldest_first(schema: &Schema, family: &Family, step: &ReadStep) -> bool {
    let at = step.bound.len();
    let table = schema.tables.get(step.table);
    let descends = table.and_then(|table| table.desc.get(at)).copied().unwrap_or(false);
    let open = family.key.get(at).and_then(|column| {
        column.parts.iter().find_map(|part| match part {
            Part::Hole { term, ty, .. } => Some((term, ty)),
            _ => None,
        })
    });
    let times = matches!(open, Some((Term::Column(_), ty)) if ty.grows_with_time());
    times && descends == step.desc
}

/// Returns the write that removes rows of a family: it deletes, or changes the attribute that the
/// row exists for.
fn taker<'a>(model: &'a Model, relation: RelationId, family: &Family) -> Option<&'a str> {
    let mut needed: Vec<ColumnPath> = all_key_paths(model, family).into_iter().collect();
    needed.extend(family.when.iter().map(|one| canonical(model, family.source, &one.path)));
    let takes = |effect: &shelfmark_design_language::model::pattern::Effect| {
        effect.relation == relation
            && match effect.kind {
                EffectKind::Delete => true,
                EffectKind::Update => {
                    effect.set.iter().any(|(column, _)| needed.contains(&vec![*column]))
                }
                _ => false,
            }
    };
    let write = model.writes.iter().find(|write| write.effects.iter().any(takes))?;
    Some(write.name.text.as_str())
}
