//! Warns of writes that miss rows (W1, W5), race (W2), touch many rows (W3) or change keys (W4).
//!
//! Also of hot counters (W6), and of unique attributes without a guard (U3).

use std::collections::BTreeSet;

use super::{Context, Found, threshold};
use crate::lint::setting;
use crate::size::volume::{hottest_share, share};
use shelfmark_design_language::catalogue::Severity;
use shelfmark_design_language::model::pattern::EffectKind;
use shelfmark_design_language::model::schema::{Family, Schema, Stored, WritePlan, WriteStepKind};
use shelfmark_design_language::model::{ColumnPath, Model, RelationId, Term, Write};
use shelfmark_design_language::target::profile;
use shelfmark_design_prove::Proof;
use shelfmark_design_prove::concurrency::concurrency;
use shelfmark_design_prove::paths::all_key_paths;
use shelfmark_design_prove::unique::{available, key_paths};
use shelfmark_design_prove::write_case::WriteCase;

/// Part of a partition's limit that one row takes, since its changes wait for each other.
///
/// Ours: a planning value.
const COUNTER_SHARE: f64 = 0.1;

/// The effects of all writes of a model on entities and links.
#[derive(Default)]
struct Done {
    inserted: BTreeSet<RelationId>,
    deleted: BTreeSet<RelationId>,
    /// Attributes that some write changes.
    set: BTreeSet<(RelationId, usize)>,
}

impl Done {
    fn by(model: &Model) -> Self {
        let mut done = Self::default();
        for effect in model.writes.iter().flat_map(|write| &write.effects) {
            match effect.kind {
                EffectKind::Insert => {
                    done.inserted.insert(effect.relation);
                }
                EffectKind::Delete => {
                    done.deleted.insert(effect.relation);
                }
                EffectKind::Update | EffectKind::Increment => {
                    done.set.extend(effect.set.iter().map(|(at, _)| (effect.relation, *at)));
                }
            }
        }
        done
    }
}

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Found>) {
    let done = Done::by(context.model);
    for proof in context.proofs.iter().filter(|proof| proof.certificate.write) {
        let (Some(schema), Some(write), Some(plan)) = (
            context.model.schemas.get(proof.schema),
            context.model.writes.get(proof.pattern),
            &proof.plan,
        ) else {
            continue;
        };
        races(context.model, schema, write, plan, proof, found);
        fan_out(context.model, schema, write, plan, proof, found);
        counters(context.model, schema, write, proof, found);
    }
    for (number, schema) in context.model.schemas.iter().enumerate() {
        for family in &schema.families {
            changing(context.model, schema, (number, family), &done, found);
            if family.base.is_none() {
                unreachable(context.model, schema, (number, family), &done, found);
                copies(context.model, (number, family), &done, found);
            }
        }
        guards(context.model, (number, schema), &done, found);
    }
}

/// Checks W2: reads and writes that are not one serializable transaction, nor one request that compares
/// what was read.
fn races(
    model: &Model,
    schema: &Schema,
    write: &Write,
    plan: &WritePlan,
    proof: &Proof,
    found: &mut Vec<Found>,
) {
    let Some(target) = profile(&schema.target) else { return };
    let case = WriteCase::all(model, schema, target).nth(proof.pattern);
    if case.and_then(|case| concurrency(case, plan)).is_none_or(|one| one.is_atomic()) {
        return;
    }
    let reads = plan.steps.iter().any(|step| step.kind.is_read());
    let first = plan.steps.first().and_then(|step| step.transaction);
    let one = first.is_some() && plan.steps.iter().all(|step| step.transaction == first);
    let why = if !one || !target.transactions {
        "its steps are not one transaction"
    } else if reads && !target.reading_transactions {
        "transactions of this target do not read"
    } else {
        "it depends on a range that others may write to"
    };
    let span = if plan.derived { write.name.span } else { plan.span };
    let message = format!("{}: {why}", write.name.text);
    let severity = if write.atomic { Severity::Error } else { Severity::Warning };
    let harm = serde_json::json!({
        "kind": "interleaving",
        "call": write.name.text,
        "steps": proof.certificate.steps,
        "between": "another write of the same key between the steps",
    });
    found.push(
        Found::new("W2", proof.schema, &write.name.text, span, message)
            .severity(severity)
            .reproducer(Some(harm)),
    );
}

/// Checks W3: rows of one write against the limit of one transaction.
fn fan_out(
    model: &Model,
    schema: &Schema,
    write: &Write,
    plan: &WritePlan,
    proof: &Proof,
    found: &mut Vec<Found>,
) {
    let limit = threshold(
        model,
        schema,
        "W3.rows",
        setting(model, schema, "transaction.items", |target| target.transaction_items_max),
    );
    let loops: Vec<&str> =
        plan.steps.iter().filter_map(|step| step.kind.each()).map(String::as_str).collect();
    let each = write.effects.iter().find_map(|effect| effect.each.as_ref());
    let by_pattern = each.map(|each| {
        let columns: BTreeSet<usize> =
            each.predicates.iter().filter_map(|one| one.path.first().copied()).collect();
        (each.relation, columns)
    });
    let by_plan = plan.steps.iter().find_map(|step| match &step.kind {
        WriteStepKind::Read { bindings, alias: Some(alias) } if loops.contains(&alias.as_str()) => {
            let family = step.families.first().and_then(|id| schema.families.get(*id))?;
            Some((
                family.source,
                bindings.iter().filter_map(|(path, _)| path.first().copied()).collect(),
            ))
        }
        _ => None,
    });
    let Some((relation, columns)): Option<(usize, BTreeSet<usize>)> = by_pattern.or(by_plan) else {
        return;
    };
    let fanout = model
        .relation(relation)
        .fanouts
        .iter()
        .find(|fanout| fanout.from.iter().all(|column| columns.contains(column)));
    let most = fanout.and_then(|fanout| fanout.max().or(fanout.facts.get("p99").copied()));
    let rows = most.map(|most| most * loops.len().max(1) as f64);
    if rows.is_none_or(|rows| rows > limit) {
        let span = if plan.derived { write.name.span } else { plan.span };
        let rows = rows.map_or_else(|| "any number of".to_owned(), |rows| format!("{rows}"));
        let message = format!(
            "{}: one call writes {rows} rows, a transaction of {} takes {limit}",
            write.name.text, schema.target
        );
        found.push(Found::new("W3", proof.schema, &write.name.text, span, message));
    }
}

/// Checks W6: changes of one counter, faster than one row takes them.
///
/// A rate is spread over all counters of its kind. Only where it is known how many there are, and
/// how unevenly they are asked for, can it be told what the hottest of them sees; where it is not,
/// the rate must be more than a whole partition takes.
fn counters(model: &Model, schema: &Schema, write: &Write, proof: &Proof, found: &mut Vec<Found>) {
    let Some(rate) = write.facts.get("peak").or(write.facts.get("rate")).copied() else { return };
    let limit = setting(model, schema, "partition.writes", |target| target.partition_writes_max);
    let mut push = |share: Option<f64>, what: &str| {
        let per_second = share.map_or(rate, |share| rate * share);
        let most = if share.is_some() { limit * COUNTER_SHARE } else { limit };
        if per_second > most {
            let message = format!(
                "{} changes {what} up to {per_second:.0} times a second; {} takes about {most:.0} \
                 of one row",
                write.name.text, schema.target
            );
            found.push(Found::new("W6", proof.schema, &write.name.text, write.name.span, message));
        }
    };
    for effect in &write.effects {
        let relation = model.relation(effect.relation);
        if effect.kind == EffectKind::Increment {
            let known: BTreeSet<ColumnPath> = effect
                .key
                .iter()
                .filter(|(_, term)| !matches!(term, Term::Const(_)))
                .map(|(column, _)| vec![*column])
                .collect();
            let what = format!("a counter of {}", relation.name.text);
            push(share(model, effect.relation, &known), &what);
        }
        if !matches!(effect.kind, EffectKind::Insert | EffectKind::Delete) {
            continue;
        }
        let kept = schema.concerned(effect.relation).flat_map(|(_, family)| &family.stored);
        for stored in kept {
            let Stored::Tally { relation: counted, via, name, .. } = stored else { continue };
            if *counted == effect.relation {
                let known = BTreeSet::from([vec![*via]]);
                push(hottest_share(model, effect.relation, &known), &format!("the count {name}"));
            }
        }
    }
}

/// Checks W1 as a risk: rows that a delete by the source's own key could not reach.
fn unreachable(
    model: &Model,
    schema: &Schema,
    (number, family): (usize, &Family),
    done: &Done,
    found: &mut Vec<Found>,
) {
    let relation = model.relation(family.source);
    if done.deleted.contains(&family.source) || !relation.is_link {
        return;
    }
    let own: BTreeSet<ColumnPath> = relation.key().iter().map(|column| vec![*column]).collect();
    let needed: BTreeSet<ColumnPath> =
        all_key_paths(model, family).into_iter().filter(|path| !own.contains(path)).collect();
    let reachable = schema.of_source(family.source).any(|(_, other)| {
        key_paths(model, other).is_subset(&own) && needed.is_subset(available(model, other))
    });
    if !needed.is_empty() && !reachable {
        let names: Vec<String> =
            needed.iter().map(|path| model.path_text(family.source, path)).collect();
        let message = format!(
            "{}: who knows the two ends of a {} does not know {}, so its row cannot be deleted",
            family.name.text,
            relation.name.text,
            names.join(", ")
        );
        found.push(
            Found::new("W1", number, &family.name.text, family.name.span, message)
                .severity(Severity::Warning),
        );
    }
}

/// Checks W5 as a risk: a copy of what may change, which no write updates.
fn copies(model: &Model, (number, family): (usize, &Family), done: &Done, found: &mut Vec<Found>) {
    if family.follows.is_some() {
        return;
    }
    let stale: Vec<String> = family
        .stored
        .iter()
        .filter_map(|stored| match stored {
            Stored::Path(path) if path.len() > 1 => Some(path),
            _ => None,
        })
        .filter(|path| {
            let owner = model.path_owner(family.source, path);
            let Some(column) = path.last().copied() else { return false };
            let relation = model.relation(owner);
            let stable = relation.columns.get(column).is_none_or(|one| one.immutable)
                || relation.key().contains(&column);
            !stable && !done.set.contains(&(owner, column))
        })
        .map(|path| model.path_text(family.source, path))
        .collect();
    if stale.is_empty() {
        return;
    }
    let message = format!(
        "{} copies {}, which nothing keeps up: declare it immutable, or name the write that \
         changes it",
        family.name.text,
        stale.join(", ")
    );
    found.push(
        Found::new("W5", number, &family.name.text, family.name.span, message)
            .severity(Severity::Warning),
    );
}

/// Checks W4: attributes in keys that writes change.
fn changing(
    model: &Model,
    schema: &Schema,
    (number, family): (usize, &Family),
    done: &Done,
    found: &mut Vec<Found>,
) {
    let base = family.base.and_then(|base| schema.families.get(base));
    let told = base.map(|base| all_key_paths(model, base)).unwrap_or_default();
    let (key, harm) = match base {
        None => ("the key", ""),
        Some(_) => ("the index's key", ", so a change writes two entries"),
    };
    for path in all_key_paths(model, family).into_iter().filter(|path| !told.contains(path)) {
        let owner = model.path_owner(family.source, &path);
        let Some(column) = path.last().copied() else { continue };
        let is_key = model.relation(owner).key().contains(&column);
        let attribute = model.relation(owner).columns.get(column);
        let stable = attribute.is_none_or(|attribute| attribute.immutable) || is_key;
        let changed = done.set.contains(&(owner, column));
        let declared = attribute.is_some_and(|attribute| {
            attribute.facts.contains_key("mutable") || attribute.facts.contains_key("changes")
        });
        if changed || (declared && !stable) || (!stable && path.len() > 1) {
            let name = model.path_text(family.source, &path);
            let message =
                format!("{}: {name} changes and is part of {key}{harm}", family.name.text);
            found.push(Found::new("W4", number, &family.name.text, family.name.span, message));
        }
    }
}

/// Checks U3: unique attributes without a row that a second writer would meet.
fn guards(model: &Model, (number, schema): (usize, &Schema), done: &Done, found: &mut Vec<Found>) {
    for (id, relation) in model.relations.iter().enumerate() {
        if schema.of_source(id).next().is_none() {
            continue;
        }
        let inserted = done.inserted.contains(&id);
        for key in relation.keys.iter().skip(1) {
            if !inserted && !key.iter().any(|column| done.set.contains(&(id, *column))) {
                continue;
            }
            let wanted: BTreeSet<ColumnPath> = key.iter().map(|column| vec![*column]).collect();
            let guarded = schema
                .of_source(id)
                .any(|(_, family)| family.base.is_none() && key_paths(model, family) == wanted);
            if !guarded {
                let names: Vec<&str> =
                    key.iter().map(|column| relation.column_name(*column)).collect();
                let message =
                    format!("{} is declared unique, and no row is keyed by it", names.join(", "));
                found.push(Found::new(
                    "U3",
                    number,
                    &relation.name.text,
                    schema.name.span,
                    message,
                ));
            }
        }
    }
}
