//! Warns of partitions that grow too large (P1) or are hot by their key (P2, P3).
//!
//! Also of items near their limit (V2), of collections without a bound (V1), of tables that nothing
//! reads (W7) and of missing counts (M3).

use serde_json::json;

use super::size::{character_bytes, elements, row_bytes, row_bytes_max, sparse_share, value_bytes};
use super::{Context, Found, setting, threshold};
use crate::size::volume::Figure;
use crate::size::{format, show, volume};
use shelfmark_design_language::catalogue::Severity;
use shelfmark_design_language::certificate::text;
use shelfmark_design_language::model::schema::{Family, Part, Schema, Stored};
use shelfmark_design_language::model::{Function, Model, Term, Type, Value};
use shelfmark_design_language::target::profile;
use shelfmark_design_prove::closure::determines_tuple;
use shelfmark_design_prove::implied::never_hold;
use shelfmark_design_prove::{Proof, decisive};

/// Time for which growth is extrapolated: three years, in seconds.
const HORIZON_SECONDS: f64 = 3.0 * 366.0 * 86_400.0;

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Found>) {
    let model = context.model;
    for (number, schema) in model.schemas.iter().enumerate() {
        for family in &schema.families {
            let before = found.len();
            hot(model, schema, number, family, found);
            let told = found.iter().skip(before).any(|one| one.id == "P3");
            if !told {
                uneven(model, schema, number, family, found);
            }
            grows(model, schema, number, family, found);
            if family.base.is_none() {
                collections(model, schema, number, family, found);
            }
            empty(model, schema, number, family, found);
        }
        unused(schema, number, context.proofs, found);
    }
    if model.relations.iter().all(|relation| !relation.facts.contains_key("count"))
        && let Some(relation) = model.relations.first()
    {
        let message = "no entity or link says how many there are".to_owned();
        let mut one = Found::new("M3", 0, "", relation.name.span, message);
        one.schema = None;
        found.push(one);
    }
}

/// Number of characters that a text may begin with, as people write them.
const LETTERS: f64 = 64.0;

/// Checks P2 and P3.
fn hot(model: &Model, schema: &Schema, number: usize, family: &Family, found: &mut Vec<Found>) {
    let Some(table) = schema.tables.get(family.table) else { return };
    let ordered = profile(&schema.target).is_some_and(|target| target.ordered);
    let leading = if ordered { 1 } else { table.partition };
    let parts: Vec<&Part> =
        family.key.iter().take(leading).flat_map(|column| &column.parts).collect();
    let holes: Vec<(&Term, &Type)> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Hole { term, ty, .. } => Some((term, ty)),
            _ => None,
        })
        .collect();
    let name = &family.name.text;
    let mut push =
        |id, message: String| found.push(Found::new(id, number, name, family.name.span, message));
    if holes.is_empty() && !ordered {
        push("P2", format!("{name}: every row lies in one partition"));
        return;
    }
    let in_time = |(term, ty): &(&Term, &Type)| match term {
        Term::Call(function, _) => {
            matches!(
                function,
                Function::Hour | Function::Day | Function::Week | Function::Month | Function::Year
            )
        }
        _ => ordered && ty.grows_with_time() || matches!(ty, Type::Date),
    };
    if let [only] = holes.as_slice()
        && in_time(only)
    {
        push(
            "P2",
            format!("{name}: the leading part grows with time, so all new rows go to one place"),
        );
    }
    let few = threshold(model, schema, "P3.values", 100.0);
    let values = |(term, ty): &(&Term, &Type)| match (term, ty) {
        (Term::Call(Function::First, args), _) => match args.get(1) {
            Some(Term::Const(Value::Int(count))) => Some(LETTERS.powf(*count as f64)),
            _ => None,
        },
        (_, Type::Enum(variants)) => Some(variants.len() as f64),
        (_, Type::Bool) => Some(2.0),
        (_, Type::Int(Some((low, high)))) => Some(*high as f64 - *low as f64 + 1.0),
        (Term::Column(path), _) => {
            let owner = model.path_owner(family.source, path);
            let column = path.last().and_then(|column| model.relation(owner).columns.get(*column));
            column.and_then(|column| column.facts.get("distinct")).copied()
        }
        _ => None,
    };
    let counts: Option<Vec<f64>> = holes.iter().map(values).collect();
    if let Some(counts) = counts
        && !ordered
        && !counts.is_empty()
        && counts.iter().product::<f64>() < few
    {
        push(
            "P3",
            format!("{name}: the partition key has {} values", counts.iter().product::<f64>()),
        );
    }
}

/// Checks P3 by one value that very many rows share, where a skew is declared.
fn uneven(model: &Model, schema: &Schema, number: usize, family: &Family, found: &mut Vec<Found>) {
    let (known, divisor) = volume::partition(model, schema, family);
    let ordered = profile(&schema.target).is_some_and(|target| target.ordered);
    let one_row = determines_tuple(model, family.source, &known);
    if ordered || one_row || volume::skew(model, family.source, &known).is_none() {
        return;
    }
    let name = &family.name.text;
    let most = threshold(model, schema, "P3.share", 0.1);
    let share = volume::share(model, family.source, &known).map(|share| share / divisor);
    if let Some(share) = share.filter(|share| *share > most) {
        let message =
            format!("{name}: one value of the partition key has {:.0} % of it", share * 100.0);
        found.push(Found::new("P3", number, name, family.name.span, message));
    }
}

/// Checks P1: bytes of the largest partition at the horizon, as `size` counts them.
fn grows(model: &Model, schema: &Schema, number: usize, family: &Family, found: &mut Vec<Found>) {
    let table = schema.tables.get(family.table).filter(|table| table.partition > 0);
    let (Some(table), Some(target)) = (table, profile(&schema.target)) else { return };
    let limit = setting(model, schema, "partition.max", |target| target.partition_bytes_max);
    // Beside local indexes a partition has a limit of its own.
    let beside = |entry: &Family| {
        let base = entry.base.and_then(|base| schema.families.get(base));
        let local = schema.tables.get(entry.table).is_some_and(|table| table.is_local);
        local && base.is_some_and(|base| base.table == family.table)
    };
    let limit = match target.collection_bytes_max {
        Some(most) if schema.families.iter().any(beside) => limit.min(most),
        _ => limit,
    };
    let horizon = threshold(model, schema, "P1.horizon", HORIZON_SECONDS);
    let (known, divisor) = volume::partition(model, schema, family);
    let parts = family.key.iter().take(table.partition).flat_map(|column| &column.parts);
    let mut calls = parts.filter_map(|part| match part {
        Part::Hole { term: Term::Call(function, _), .. } => Some(*function),
        _ => None,
    });
    let cut = calls.clone().next().is_some();
    // A period fills up and is left behind; how full it gets needs a retention.
    let period = calls.any(|function| !matches!(function, Function::Bucket));
    if cut && divisor <= 1.0 {
        return;
    }
    let figure = |figure| volume::rows(model, family.source, &known, figure);
    let Some(all) = figure(Figure::Worst).or_else(|| figure(Figure::Average)) else { return };
    let monthly = volume::growth(model, schema, family).filter(|_| !period).unwrap_or(0.0);
    let factor = (1.0 + monthly).powf(horizon / volume::MONTH_SECONDS);
    let rows = (all * sparse_share(model, family) / divisor).max(1.0) * factor;
    if rows <= 1.0 {
        return;
    }
    let bytes = format::sizes(model, schema, family, target).partition(rows);
    if bytes > limit {
        let when = if factor > 1.0 { " at the horizon" } else { "" };
        let message = format!(
            "{}: the largest partition holds {} rows, {}{when}; {} takes {}",
            family.name.text,
            show::count(Some(rows)),
            show::bytes(Some(bytes)),
            schema.target,
            show::bytes(Some(limit))
        );
        found.push(Found::new("P1", number, &family.name.text, family.name.span, message));
    }
}

/// Checks V1 and V2.
fn collections(
    model: &Model,
    schema: &Schema,
    number: usize,
    family: &Family,
    found: &mut Vec<Found>,
) {
    let limit = setting(model, schema, "item.max", |target| target.item_bytes_max);
    let share = threshold(model, schema, "V2.share", 0.8);
    let name = &family.name.text;
    for stored in &family.stored {
        let Stored::Collect { relation, via, path, name: list } = stored else {
            list_attribute(model, number, family, stored, found);
            continue;
        };
        let max = elements(model, *relation, *via, "max");
        let count = json!({ "kind": "count", "elements": max.map_or(json!("unbounded"), |max| json!(max)) });
        let (severity, text) = match max {
            None => (Severity::Error, "without a declared maximum".to_owned()),
            Some(max) => (Severity::Warning, format!("of up to {max} elements")),
        };
        let message = format!("{name} keeps the list {list} in one value, {text}");
        found.push(
            Found::new("V1", number, name, family.name.span, message)
                .severity(severity)
                .reproducer(Some(count)),
        );
        let most = max.or_else(|| elements(model, *relation, *via, "p99"));
        let bytes = most.map(|most| most * value_bytes(model, *relation, path));
        if let (Some(bytes), Some(most)) = (bytes, most)
            && bytes > share * limit
        {
            let message = format!(
                "{name}: {most} elements of {list} take {bytes} bytes, an item of {} takes {limit}",
                schema.target
            );
            let count = json!({ "kind": "count", "bytes": bytes, "limit": limit });
            found.push(
                Found::new("V2", number, name, family.name.span, message).reproducer(Some(count)),
            );
        }
    }
    let bytes = row_bytes(model, family);
    let most = row_bytes_max(model, family, character_bytes).max(bytes);
    let plain = row_bytes_max(model, family, |_| 1.0);
    let (size, bytes) =
        if bytes > share * limit { ("an average", bytes) } else { ("the largest", most) };
    if bytes > share * limit {
        let message =
            format!("{name}: {size} row takes {bytes:.0} bytes, an item takes {limit:.0}");
        let count = json!({ "kind": "count", "bytes": bytes, "limit": limit });
        // What is still taken, and what only texts without a plain letter exceed, is a risk; what is
        // not taken is refused when it is written.
        let surely = plain > limit || size == "an average";
        let severity = if surely { Severity::Error } else { Severity::Warning };
        found.push(
            Found::new("V2", number, name, family.name.span, message)
                .severity(severity)
                .reproducer(Some(count)),
        );
    }
}

fn list_attribute(
    model: &Model,
    number: usize,
    family: &Family,
    stored: &Stored,
    found: &mut Vec<Found>,
) {
    let Stored::Path(path) = stored else { return };
    if matches!(model.path_type(family.source, path), Type::List(_, None)) {
        let list = model.path_text(family.source, path);
        let message = format!(
            "{} keeps the list {list} in one value, without a declared maximum",
            family.name.text
        );
        let count = json!({ "kind": "count", "elements": "unbounded" });
        found.push(
            Found::new("V1", number, &family.name.text, family.name.span, message)
                .reproducer(Some(count)),
        );
    }
}

/// Checks W7: sparse rows and indexes whose conditions hold of nothing.
fn empty(model: &Model, schema: &Schema, number: usize, family: &Family, found: &mut Vec<Found>) {
    // Of an index of no rows the rows tell.
    let base = family.base.and_then(|base| schema.families.get(base));
    let never = |family: &Family| never_hold(model, family.source, &family.when);
    if never(family) && !base.is_some_and(never) {
        let name = &family.name.text;
        let conditions = text::conditions(model, family.source, &family.when);
        let message = format!("{name} never has a row: {conditions} holds of none");
        let mut one = Found::new("W7", number, name, family.span, message);
        one.severity = Severity::Warning;
        found.push(one);
    }
}

/// Checks W7: tables and indexes that no plan touches.
fn unused(schema: &Schema, number: usize, proofs: &[Proof], found: &mut Vec<Found>) {
    use shelfmark_design_language::model::schema::WriteStepKind;
    let mut used = std::collections::BTreeSet::new();
    for proof in proofs.iter().filter(|proof| proof.schema == number) {
        // A family that loses rows is meant for the reads that are refused because of it.
        let lost = decisive(&proof.analysis).is_some_and(|failure| failure.lint == "U1");
        if !proof.analysis.failures.is_empty() && proof.derived && !lost {
            continue;
        }
        for step in proof.serve.iter().flat_map(|serve| &serve.steps) {
            if let Some(step) = step.read() {
                used.insert(step.table);
            }
        }
        for step in proof.plan.iter().flat_map(|plan| &plan.steps) {
            if matches!(step.kind, WriteStepKind::Read { .. }) {
                let families = step.families.iter().filter_map(|id| schema.families.get(*id));
                used.extend(families.map(|family| family.table));
            }
        }
    }
    // A table is needed where one of its indexes is: entries follow from its rows.
    let entries = schema.families.iter().filter(|family| used.contains(&family.table));
    let bases = entries.filter_map(|entry| schema.families.get(entry.base?));
    let needed: Vec<usize> = bases.map(|base| base.table).collect();
    used.extend(needed);
    for (id, table) in schema.tables.iter().enumerate() {
        let reads = used.contains(&id);
        if !reads {
            let message = format!("no pattern reads {}", table.name.text);
            found.push(Found::new("W7", number, &table.name.text, table.name.span, message));
        }
    }
}
