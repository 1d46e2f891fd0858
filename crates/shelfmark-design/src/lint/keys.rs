//! Warns of row keys that do not sort (K1), are ambiguous (K2) or are not unique (U1, U2).
//!
//! Also of row types whose names are easily confused (K4), of key parts that say nothing (K10), and
//! of indexes that are too many, ill suited or wide (X4, X1, V3).
//!
//! A key that no write can form is K9 here, too.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};

use super::{Context, Found, setting, threshold};
use shelfmark_design_language::catalogue::Severity;
use shelfmark_design_language::certificate::Status;
use shelfmark_design_language::model::canonical;
use shelfmark_design_language::model::schema::{
    Codec, Family, FamilyId, Part, Schema, Serve, Stored, TableId,
};
use shelfmark_design_language::model::{Model, Term, Type};
use shelfmark_design_language::syntax::diagnostic::distance;
use shelfmark_design_language::target::profile;
use shelfmark_design_prove::Proof;
use shelfmark_design_prove::closure::determines_tuple;
use shelfmark_design_prove::eval::focus::Focus;
use shelfmark_design_prove::eval::generate::{Pool, state};
use shelfmark_design_prove::eval::random::Random;
use shelfmark_design_prove::eval::rows::{row_of, rows};
use shelfmark_design_prove::eval::state::State;
use shelfmark_design_prove::eval::witness::{shrink, state_json};
use shelfmark_design_prove::key::facts::{ambiguous_hole, codec_keeps_order};
use shelfmark_design_prove::order::term_text;
use shelfmark_design_prove::unique::{Clash, clash, key_paths};

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Found>) {
    for (number, schema) in context.model.schemas.iter().enumerate() {
        for (id, family) in schema.families.iter().enumerate() {
            if family.base.is_none() {
                unique(context, number, id, family, found);
            }
            parts(context.model, schema, number, family, found);
            says_nothing(context.model, schema, number, family, found);
        }
        siblings(schema, number, found);
        indexes(context.model, schema, number, found);
    }
}

fn unique(
    context: &Context<'_>,
    number: usize,
    id: FamilyId,
    family: &Family,
    found: &mut Vec<Found>,
) {
    let model = context.model;
    let Some(schema) = model.schemas.get(number) else { return };
    let Some(found_clash) = clash(model, schema, id) else {
        instants(model, number, family, found);
        return;
    };
    // Two families that meet are told once, with the first of them.
    if let Clash::Meets(other, _) = &found_clash
        && *other < id
        && matches!(clash(model, schema, *other), Some(Clash::Meets(back, _)) if back == id)
    {
        return;
    }
    let times = key_paths(model, family)
        .iter()
        .any(|path| matches!(model.path_type(family.source, path), Type::Timestamp));
    let lint = match &found_clash {
        Clash::Unwritable(_) => "K9",
        Clash::Collapse(_) if times => "U2",
        _ => "U1",
    };
    let reproducer = match &found_clash {
        Clash::Unwritable(why) => Some(json!({ "kind": "call", "missing": why })),
        _ => lost(model, schema, id),
    };
    let mut one = Found::new(
        lint,
        number,
        &family.name.text,
        family.name.span,
        found_clash.text().to_owned(),
    )
    .reproducer(reproducer);
    if wanted_once(context, number, id, family) {
        one = one.severity(Severity::Note);
        one.message.push_str(", which is what their reads ask for");
    }
    found.push(one);
}

/// Returns true if all reads of a family want rows that collapse: they ask for each shown value
/// once, and are proven, and no write that would distinguish them is refused.
fn wanted_once(context: &Context<'_>, number: usize, id: FamilyId, family: &Family) -> bool {
    let of_schema = || context.proofs.iter().filter(|proof| proof.schema == number);
    let Some(schema) = context.model.schemas.get(number) else { return false };
    // Entries of its indexes collapse with the rows.
    let entries = schema.families.iter().filter(|own| own.base == Some(id));
    let tables: Vec<TableId> = entries.chain([family]).map(|own| own.table).collect();
    let touches = |serve: &Serve| {
        let mut steps = serve.steps.iter();
        steps.any(|step| step.read().is_some_and(|read| tables.contains(&read.table)))
    };
    let mut reads = of_schema().filter(|proof| !proof.certificate.write).filter_map(|proof| {
        let read = context.model.reads.get(proof.pattern)?;
        let own = read.sources.iter().any(|source| source.relation == family.source);
        (own && proof.serve.as_ref().is_some_and(touches)).then_some((read, proof))
    });
    let proven =
        |proof: &Proof| matches!(proof.certificate.status, Status::Certified | Status::Multi);
    let changed = of_schema().filter(|proof| proof.certificate.write).any(|proof| {
        let write = context.model.writes.get(proof.pattern);
        let own = write.is_some_and(|write| {
            write.effects.iter().any(|effect| effect.relation == family.source)
        });
        own && !proven(proof)
    });
    let mut any = false;
    let all = reads.all(|(read, proof)| {
        any = true;
        read.distinct && proven(proof)
    });
    all && any && !changed
}

/// Checks U2 as a warning: the model itself distinguishes its tuples by a time.
fn instants(model: &Model, number: usize, family: &Family, found: &mut Vec<Found>) {
    let relation = model.relation(family.source);
    let of_key = || relation.key().iter().filter_map(|column| relation.columns.get(*column));
    let Some(time) = of_key().find(|column| matches!(column.ty, Type::Timestamp)) else { return };
    let others: Vec<&str> = of_key()
        .filter(|column| column.name != time.name)
        .map(|column| column.name.as_str())
        .collect();
    let name = &relation.name.text;
    let message = format!(
        "{}: two {name} of one ({}) in one instant are one, for nothing but {} tells them apart",
        family.name.text,
        others.join(", "),
        time.name
    );
    found.push(Found::new("U2", number, &family.name.text, family.name.span, message));
}

/// Returns a state in which a source of the family has no row of its own.
fn lost(model: &Model, schema: &Schema, id: FamilyId) -> Option<Json> {
    let family = schema.families.get(id)?;
    if !model.may_search(schema, std::iter::once(family.source)) {
        return None;
    }
    let focus = Focus::of_family(model, schema, id);
    // Texts that may run into one another are looked for among few, cut where the key is.
    let pools = [Pool::about(schema, &focus), Pool::glued(schema, &focus)];
    let mut random = Random::new(shelfmark_design_prove::SEED);
    let loses = |state: &State| {
        let tuples = state.tuples(family.source).iter();
        let made = tuples.filter(|tuple| row_of(model, state, id, family, tuple).is_some()).count();
        let there = rows(model, schema, state);
        let kept = there
            .tables
            .get(&family.table)
            .map_or(0, |rows| rows.values().filter(|row| row.family == id).count());
        kept < made
    };
    for attempt in 0..model.witness_tries() {
        let Some(pool) = pools.get(attempt / 4 % pools.len()) else { break };
        let mut found = state(model, pool, &mut random, 2 + attempt % 4);
        if loses(&found) {
            shrink(model, &mut found, |smaller| loses(smaller));
            let keys: Vec<Json> = found
                .tuples(family.source)
                .iter()
                .filter_map(|tuple| row_of(model, &found, id, family, tuple))
                .map(|(key, _)| {
                    let texts: Vec<String> =
                        key.iter().map(|part| part.text(&Type::Int(None))).collect();
                    Json::from(texts.join(" ; "))
                })
                .collect();
            return Some(
                json!({ "kind": "state", "state": state_json(model, &found), "keys": keys }),
            );
        }
    }
    None
}

fn parts(model: &Model, schema: &Schema, number: usize, family: &Family, found: &mut Vec<Found>) {
    // Partitions that lie by their hashes are found by equal values: no order matters there.
    let ordered = profile(&schema.target).is_some_and(|target| target.ordered);
    let table = schema.tables.get(family.table);
    let hashed = table.filter(|_| !ordered).map_or(0, |table| table.partition);
    for (at, column) in family.key.iter().enumerate() {
        if let Some(Part::Hole { term, .. }) = ambiguous_hole(&column.parts) {
            let name = term_text(model, family.source, term);
            let message = format!(
                "{}: {name} may hold the text that follows it in the key",
                family.name.text
            );
            found.push(
                Found::new("K2", number, &family.name.text, column.span, message)
                    .severity(Severity::Warning),
            );
        }
        for part in &column.parts {
            let Part::Hole { term, ty, codec } = part else { continue };
            if at >= hashed && *codec != Codec::Native && !codec_keeps_order(ty, *codec) {
                let name = term_text(model, family.source, term);
                let message = format!(
                    "{}: {name} is {} in a text key and does not sort",
                    family.name.text,
                    ty.a_name()
                );
                found.push(
                    Found::new("K1", number, &family.name.text, column.span, message)
                        .severity(Severity::Warning),
                );
            }
        }
    }
}

/// Checks K10: a part that an earlier part of the key already fixes, or a constant that
/// distinguishes no row types.
fn says_nothing(
    model: &Model,
    schema: &Schema,
    number: usize,
    family: &Family,
    found: &mut Vec<Found>,
) {
    let Some(table) = schema.tables.get(family.table) else { return };
    // An entry ends with the key of its row, which may well repeat.
    let inherited =
        family.base.and_then(|base| schema.families.get(base)).map_or(0, |base| base.key.len());
    let own = family.key.len().saturating_sub(inherited);
    let alone = schema.of_table(family.table).nth(1).is_none();
    let mut seen: Vec<&Term> = Vec::new();
    let mut push = |span, message| {
        found.push(Found::new("K10", number, &family.name.text, span, message));
    };
    for (at, column) in family.key.iter().take(own).enumerate() {
        let constant = !column.parts.iter().any(|part| match part {
            Part::Hole { term, .. } => !matches!(term, Term::Const(_)),
            _ => false,
        });
        if constant && alone && at >= table.partition && inherited == 0 {
            let message =
                format!("{}: a column of the key is the same in every row", family.name.text);
            push(column.span, message);
        }
        for part in &column.parts {
            let Part::Hole { term: term @ Term::Column(path), .. } = part else { continue };
            if seen.contains(&term) {
                let name = model.path_text(family.source, path);
                let message = format!("{}: {name} is in the key twice", family.name.text);
                push(column.span, message);
            }
            seen.push(term);
        }
    }
}

/// Checks K4: row types of one table whose tags are easily confused.
fn siblings<'s>(schema: &'s Schema, number: usize, found: &mut Vec<Found>) {
    // Tags by what is left of them without one letter: those that differ by one share that.
    let mut stumps: BTreeMap<(usize, usize, String), BTreeMap<&'s str, Vec<FamilyId>>> =
        BTreeMap::new();
    for (id, family, at, tag) in tags(schema) {
        for stump in stumps_of(tag) {
            let tags = stumps.entry((family.table, at, stump)).or_default();
            tags.entry(tag).or_default().push(id);
        }
    }
    let mut told = None;
    for (id, family, at, tag) in tags(schema) {
        // One sibling of each is enough to think of another name.
        if told == Some(id) || tag.len() <= 2 {
            continue;
        }
        // The first behind it, and the first of all: only few have to be compared letter by letter.
        let behind = |(other, ids): (&&'s str, &Vec<FamilyId>)| {
            let next = *ids.get(ids.partition_point(|other| *other <= id))?;
            (*other != tag).then_some((next, *other))
        };
        let mut near: Vec<(FamilyId, &str)> = stumps_of(tag)
            .into_iter()
            .filter_map(|stump| stumps.get(&(family.table, at, stump)))
            .flat_map(|tags| tags.iter().filter_map(behind))
            .collect();
        near.sort_unstable();
        let near = near.into_iter().find(|(_, other)| distance(tag, other) == 1);
        let Some((other_id, other)) = near else { continue };
        let Some(sibling) = schema.families.get(other_id) else { continue };
        let Some(column) = family.key.get(at) else { continue };
        let message = format!(
            "the prefixes {tag:?} of {} and {other:?} of {} differ by one letter",
            family.name.text, sibling.name.text
        );
        found.push(Found::new("K4", number, &family.name.text, column.span, message));
        told = Some(id);
    }
}

/// Returns the tags with which key columns begin.
fn tags(schema: &Schema) -> impl Iterator<Item = (FamilyId, &Family, usize, &str)> {
    schema.families.iter().enumerate().flat_map(|(id, family)| {
        let columns = family.key.iter().enumerate();
        columns.filter_map(move |(at, column)| match column.parts.first() {
            Some(Part::Literal(text)) => Some((id, family, at, tag(text))),
            _ => None,
        })
    })
}

/// Returns the text itself and all texts that result from deleting one character.
fn stumps_of(text: &str) -> Vec<String> {
    let without = text.char_indices().map(|(at, char)| {
        let behind = text.get(at + char.len_utf8()..).unwrap_or("");
        format!("{}{behind}", text.get(..at).unwrap_or(""))
    });
    without.chain([text.to_owned()]).collect()
}

fn tag(text: &str) -> &str {
    text.split(['#', ':', '/', '|']).next().unwrap_or(text)
}

/// Checks X1, X4 and V3.
fn indexes(model: &Model, schema: &Schema, number: usize, found: &mut Vec<Found>) {
    let most = setting(model, schema, "indexes.max", |target| target.indexes_max);
    let mut of_table: BTreeMap<TableId, BTreeSet<TableId>> = BTreeMap::new();
    for family in &schema.families {
        if let Some(base) = family.base.and_then(|base| schema.families.get(base)) {
            of_table.entry(base.table).or_default().insert(family.table);
        }
    }
    let local = |id: &TableId| schema.tables.get(*id).is_some_and(|table| table.is_local);
    let target = profile(&schema.target);
    let beside = target.map_or(0.0, |target| target.local_indexes_max);
    for (table, indexes) in &of_table {
        let count = indexes.iter().filter(|id| local(id)).count() as f64;
        let Some(table) = schema.tables.get(*table).filter(|_| count > beside) else { continue };
        let name = &table.name;
        let message =
            format!("{} has {count} local indexes, {} takes {beside}", name.text, schema.target);
        let count = json!({ "kind": "count", "indexes": count, "limit": beside });
        found
            .push(Found::new("X4", number, &name.text, name.span, message).reproducer(Some(count)));
    }
    for (table, indexes) in of_table {
        let count = indexes.iter().filter(|id| !local(id)).count() as f64;
        let Some(table) = schema.tables.get(table).filter(|_| count > most) else { continue };
        let name = &table.name;
        let message = format!("{} has {count} indexes, {} takes {most}", name.text, schema.target);
        let count = json!({ "kind": "count", "indexes": count, "limit": most });
        found
            .push(Found::new("X4", number, &name.text, name.span, message).reproducer(Some(count)));
    }
    for family in schema.families.iter().filter(|family| family.base.is_some()) {
        let Some(base) = family.base.and_then(|base| schema.families.get(base)) else { continue };
        if let Some(why) = ill_suited(model, schema, family, base) {
            let message = format!("{} is an index on an attribute that {why}", family.name.text);
            found.push(Found::new("X1", number, &family.name.text, family.span, message));
        }
        for stored in &family.stored {
            let Stored::Path(path) = stored else { continue };
            let owner = model.path_owner(family.source, path);
            let column = path.last().and_then(|column| model.relation(owner).columns.get(*column));
            if column.is_some_and(|column| {
                column.facts.get("avg").is_some_and(|bytes| *bytes >= 1_000.0)
            }) {
                let name = model.path_text(family.source, path);
                let message = format!("{} holds another copy of {name}", family.name.text);
                found.push(Found::new("V3", number, &family.name.text, family.span, message));
            }
        }
    }
}

/// Returns why an index that is scattered over the partitions finds its rows badly (X1). One that
/// has partitions of its own, or an order, is a table like any other.
fn ill_suited(
    model: &Model,
    schema: &Schema,
    family: &Family,
    base: &Family,
) -> Option<&'static str> {
    let own = family.key.get(..family.key.len().saturating_sub(base.key.len()))?;
    let [column] = own else { return None };
    let [Part::Hole { term: Term::Column(path), ty, .. }, rest @ ..] = column.parts.as_slice()
    else {
        return None;
    };
    if rest.iter().any(|part| *part != Part::End) {
        return None;
    }
    if !profile(&schema.target).is_some_and(|target| target.scattered_indexes) {
        return None;
    }
    let path = canonical(model, family.source, path);
    let known = BTreeSet::from([path.clone()]);
    if determines_tuple(model, family.source, &known) || matches!(ty, Type::Timestamp) {
        return Some("hardly repeats");
    }
    let few = threshold(model, schema, "P3.values", 100.0);
    let values = crate::size::volume::distinct(model, family.source, &known);
    values.is_some_and(|values| values < few).then_some("nearly always repeats")
}
