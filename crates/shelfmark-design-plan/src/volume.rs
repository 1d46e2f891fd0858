//! Computes numbers of rows from declared counts, links and fan-outs.

use std::collections::BTreeSet;

use shelfmark_design_language::model::canonical;
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::model::schema::{Family, Part, Schema};
use shelfmark_design_language::model::{
    ColumnPath, Function, Model, RelationId, Term, Type, Value, Write,
};
use shelfmark_design_prove::closure::{determines_path, determines_tuple};

/// Days of a month, as calendars average it, in seconds.
pub const MONTH_SECONDS: f64 = 30.5 * 86_400.0;

/// The horizon of extrapolation: a hundred years, in months.
const MONTHS_MAX: f64 = 1_200.0;

/// Euler's constant: the difference of the sum of 1/n and the logarithm.
const EULER: f64 = 0.577_215_664_901_532_9;

/// A figure of a distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    /// The mean.
    Average,
    /// A value that one case in a hundred exceeds.
    P99,
    /// The largest that the model allows.
    Worst,
}

/// Returns the number of tuples of a relation that share values of these attributes.
pub fn rows(
    model: &Model,
    relation: RelationId,
    known: &BTreeSet<ColumnPath>,
    figure: Figure,
) -> Option<f64> {
    let found = model.relation(relation);
    let count = found.facts.get("count").copied();
    if known.is_empty() {
        return count;
    }
    if determines_tuple(model, relation, known) {
        return Some(1.0);
    }
    let names: &[&str] = match figure {
        Figure::Average => &["avg"],
        Figure::P99 => &["p99", "max"],
        Figure::Worst => &["max"],
    };
    let declared = found
        .fanouts
        .iter()
        .filter(|fanout| {
            let given = |column: &usize| determines_path(model, relation, known, &[*column]);
            fanout.from.iter().all(given)
        })
        .filter_map(|fanout| names.iter().find_map(|name| fanout.facts.get(*name).copied()))
        .min_by(f64::total_cmp);
    if declared.is_some() || figure != Figure::Average {
        return declared;
    }
    Some((count? / distinct(model, relation, known)?).max(1.0))
}

/// Returns how many values the attributes have together, at most as many as there are tuples.
pub fn distinct(model: &Model, relation: RelationId, known: &BTreeSet<ColumnPath>) -> Option<f64> {
    let mut product = 1.0;
    for path in known {
        let owner = model.path_owner(relation, path);
        let column = model.relation(owner).columns.get(*path.last()?)?;
        let entity = column.refers.and_then(|id| model.relation(id).facts.get("count")).copied();
        let whole = model.relation(owner).facts.get("count").copied();
        product *= match (&column.ty, column.facts.get("distinct"), entity) {
            (_, Some(distinct), _) => *distinct,
            (_, _, Some(entity)) => entity,
            (Type::Enum(variants), ..) => variants.len() as f64,
            (Type::Bool, ..) => 2.0,
            (Type::Int(Some((low, high))), ..) => (*high as f64) - (*low as f64) + 1.0,
            // A key or a unique attribute has a value of its own in each tuple.
            _ if model
                .relation(owner)
                .keys
                .iter()
                .any(|key| key.as_slice() == [*path.last().unwrap_or(&0)]) =>
            {
                whole?
            }
            _ => return None,
        };
    }
    let count = model.relation(relation).facts.get("count").copied();
    Some(count.map_or(product, |count| product.min(count)))
}

/// Returns the attributes of the partition key, and the number of parts into which computed ones
/// divide the rest.
pub fn partition(model: &Model, schema: &Schema, family: &Family) -> (BTreeSet<ColumnPath>, f64) {
    parts_of_key(model, schema, family, false)
}

/// Returns the same for a pattern's calls, where days and periods do not spread inserts: all of
/// them have the last one.
pub fn called(
    model: &Model,
    schema: &Schema,
    family: &Family,
    write: Option<&Write>,
) -> (BTreeSet<ColumnPath>, f64) {
    let inserts = write.is_some_and(|write| {
        let made = |effect: &Effect| effect.kind == EffectKind::Insert;
        write.effects.iter().any(|effect| made(effect) && effect.relation == family.source)
    });
    parts_of_key(model, schema, family, inserts)
}

fn parts_of_key(
    model: &Model,
    schema: &Schema,
    family: &Family,
    inserts: bool,
) -> (BTreeSet<ColumnPath>, f64) {
    let count = schema.tables.get(family.table).map_or(0, |table| table.partition);
    let mut known = BTreeSet::new();
    let mut divisor = 1.0;
    for part in family.key.iter().take(count).flat_map(|column| &column.parts) {
        let Part::Hole { term, .. } = part else { continue };
        match term {
            Term::Column(path) if inserts && model.path_type(family.source, path) == Type::Date => {
            }
            Term::Call(function, _) if inserts && function.is_time() => {}
            Term::Column(path) => {
                known.insert(canonical(model, family.source, path));
            }
            Term::Call(function, args) => {
                let retention = model.relation(family.source).facts.get("retention").copied();
                divisor *= parts(*function, args, retention).max(1.0);
            }
            _ => {}
        }
    }
    (known, divisor)
}

/// Returns the number of parts into which a computed component divides rows; 1 where nothing is
/// declared that tells.
fn parts(function: Function, args: &[Term], retention: Option<f64>) -> f64 {
    let period = match function {
        Function::Hour => 3_600.0,
        Function::Day => 86_400.0,
        Function::Week => 7.0 * 86_400.0,
        Function::Month => MONTH_SECONDS,
        Function::Year => 12.0 * MONTH_SECONDS,
        Function::Bucket => {
            return match args.get(1) {
                Some(Term::Const(Value::Int(count))) => *count as f64,
                _ => 1.0,
            };
        }
        Function::First | Function::Div | Function::Hash | Function::Minus => return 1.0,
    };
    retention.map_or(1.0, |retention| retention / period)
}

/// Returns the share by which a partition grows in a month; `None` when nothing is declared.
pub fn growth(model: &Model, schema: &Schema, family: &Family) -> Option<f64> {
    let (known, _) = partition(model, schema, family);
    growth_of(model, family.source, &known)
}

/// Returns the share by which tuples that share values of these attributes become more in a month;
/// `None` when nothing is declared.
pub fn growth_of(model: &Model, source: RelationId, known: &BTreeSet<ColumnPath>) -> Option<f64> {
    let relation = model.relation(source);
    if known.is_empty() {
        return relation.facts.get("growth").map(|rate| rate * MONTH_SECONDS);
    }
    if determines_tuple(model, source, known) {
        return None;
    }
    let given = |column: &usize| determines_path(model, source, known, &[*column]);
    relation
        .fanouts
        .iter()
        .filter(|fanout| fanout.from.iter().all(given))
        .find_map(|fanout| fanout.facts.get("growth"))
        // Where the values cannot become more, each takes its share of what comes.
        .or_else(|| {
            let all = relation.facts.get("growth");
            all.filter(|_| fixed_values(model, source, known))
        })
        .map(|rate| rate * MONTH_SECONDS)
}

/// Returns true if the attributes have a number of values that does not grow.
fn fixed_values(model: &Model, relation: RelationId, known: &BTreeSet<ColumnPath>) -> bool {
    known.iter().all(|path| matches!(model.path_type(relation, path), Type::Enum(_) | Type::Bool))
}

/// Returns the months until a size is reached.
pub fn months(bytes: f64, limit: f64, growth: Option<f64>) -> Option<f64> {
    if bytes >= limit {
        return Some(0.0);
    }
    let growth = growth.filter(|growth| *growth > 0.0)?;
    let months = (limit / bytes.max(1.0)).ln() / (1.0 + growth).ln();
    (months.is_finite() && months <= MONTHS_MAX).then_some(months)
}

/// Returns the share of all calls that goes to the most wanted values.
pub fn share(model: &Model, relation: RelationId, known: &BTreeSet<ColumnPath>) -> Option<f64> {
    if known.is_empty() {
        return Some(1.0);
    }
    let values = distinct(model, relation, known).or_else(|| {
        let count = model.relation(relation).facts.get("count")?;
        Some(count / rows(model, relation, known, Figure::Average)?)
    });
    let values = values?.max(1.0);
    Some(match skew(model, relation, known) {
        Some(skew) => 1.0 / zipf_sum(values, skew),
        None => 1.0 / values,
    })
}

/// Returns the share of all rows that the most wanted values have: by a declared skew; else at least
/// what the largest declared fan-out is of the declared count.
pub fn hottest_share(
    model: &Model,
    relation: RelationId,
    known: &BTreeSet<ColumnPath>,
) -> Option<f64> {
    let even = share(model, relation, known);
    let count = model.relation(relation).facts.get("count").filter(|count| **count > 0.0);
    let largest = || Some(rows(model, relation, known, Figure::Worst)? / count?);
    match largest().filter(|_| skew(model, relation, known).is_none()) {
        Some(largest) => Some(even.unwrap_or(0.0).max(largest).min(1.0)),
        None => even,
    }
}

/// Returns the exponent of the declared skew of calls, if there is one.
pub fn skew(model: &Model, relation: RelationId, known: &BTreeSet<ColumnPath>) -> Option<f64> {
    let fanouts = &model.relation(relation).fanouts;
    let of_fanout = fanouts
        .iter()
        .filter(|fanout| fanout.from.iter().all(|column| known.contains(&vec![*column])))
        .find_map(|fanout| fanout.facts.get("zipf").copied());
    of_fanout.or_else(|| {
        known.iter().find_map(|path| {
            let owner = model.path_owner(relation, path);
            let column = model.relation(owner).columns.get(*path.last()?)?;
            column.facts.get("zipf").copied()
        })
    })
}

/// Returns the sum of 1/k^s up to n, by its integral.
fn zipf_sum(n: f64, s: f64) -> f64 {
    if (s - 1.0).abs() < 1e-6 {
        return n.ln() + EULER;
    }
    // The integral from 1, and half of the first and the last term.
    (n.powf(1.0 - s) - 1.0) / (1.0 - s) + 0.5 + 0.5 * n.powf(-s)
}
