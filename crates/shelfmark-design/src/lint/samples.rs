//! Sample rows as a document prints them: outliers, empties, forms that differ.

use std::collections::BTreeMap;

use super::{Context, Found};
use crate::model::Value;
use crate::model::schema::Sample;

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Found>) {
    for (number, schema) in context.model.schemas.iter().enumerate() {
        let mut columns: BTreeMap<&str, Vec<(&Sample, &Value)>> = BTreeMap::new();
        for sample in &schema.samples {
            for (name, value) in &sample.values {
                columns.entry(name).or_default().push((sample, value));
            }
            for key in &sample.keys {
                let unexpanded = key.contains(['<', '{']) || key.is_empty() || key.contains("##");
                if unexpanded {
                    let message = format!("the sample key {key:?} is empty or was not filled in");
                    found.push(Found::new("D1", number, "sample", sample.span, message));
                }
            }
            domain(context, number, sample, found);
        }
        for (name, values) in columns {
            digits(number, name, &values, found);
            forms(number, name, &values, found);
        }
    }
}

fn domain(context: &Context<'_>, number: usize, sample: &Sample, found: &mut Vec<Found>) {
    let Some(schema) = context.model.schemas.get(number) else { return };
    let Some(family) = schema.families.get(sample.family) else { return };
    let relation = context.model.relation(family.source);
    for (name, value) in &sample.values {
        let Some(column) = relation.columns.iter().find(|column| column.name == *name) else {
            continue;
        };
        // Documents count in microseconds too; the number of digits is looked at below.
        let time =
            matches!(column.ty, crate::model::Type::Timestamp) && matches!(value, Value::Int(_));
        if !time && !column.ty.holds(value) {
            let message = format!("the sample value of {name} is no {}", column.ty.name());
            found.push(Found::new("D1", number, "sample", sample.span, message));
        }
    }
}

/// A number with fewer or more digits than most of its column.
fn digits(number: usize, name: &str, values: &[(&Sample, &Value)], found: &mut Vec<Found>) {
    let lengths: Vec<usize> = values
        .iter()
        .filter_map(|(_, value)| match value {
            Value::Int(n) if *n >= 100_000 => Some(n.to_string().len()),
            _ => None,
        })
        .collect();
    let mut sorted = lengths.clone();
    sorted.sort_unstable();
    let Some(usual) = sorted.get(sorted.len() / 2).copied() else { return };
    for (sample, value) in values {
        if let Value::Int(n) = value
            && lengths.len() > 2
            && n.to_string().len() != usual
        {
            let message = format!(
                "{name} = {n} has {} digits where the others have {usual}",
                n.to_string().len()
            );
            found.push(Found::new("D1", number, "sample", sample.span, message));
        }
    }
}

/// K8: dates of one column with and without zones or separators.
fn forms(number: usize, name: &str, values: &[(&Sample, &Value)], found: &mut Vec<Found>) {
    let shape = |text: &str| -> Option<(bool, bool, bool)> {
        let dated = text.len() >= 10
            && text.as_bytes().get(4) == Some(&b'-')
            && text.as_bytes().get(7) == Some(&b'-');
        dated.then(|| (text.contains('T'), text.ends_with('Z'), text.contains('+')))
    };
    let mut first = None;
    for (sample, value) in values {
        let Value::Text(text) = value else { continue };
        let Some(shape) = shape(text) else { continue };
        if *first.get_or_insert(shape) != shape {
            let message = format!("{name} is written in several forms, {text:?} among them");
            found.push(Found::new("K8", number, "sample", sample.span, message));
            return;
        }
    }
}
