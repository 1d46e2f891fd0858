//! Warns of sample rows with odd values (D1), with mixed forms (K8) and with a wrong expiry (T1).
//!
//! Rows are taken as a document prints them. Odd are outliers, empty values and values outside
//! their domain.

use std::collections::BTreeMap;

use super::{Context, Found, sample_keys};
use shelfmark_design_language::model::Value;
use shelfmark_design_language::model::relation::Relation;
use shelfmark_design_language::model::schema::{Sample, Schema};

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Found>) {
    for (number, schema) in context.model.schemas.iter().enumerate() {
        let mut columns: BTreeMap<&str, Vec<(&Sample, &Value)>> = BTreeMap::new();
        for sample in &schema.samples {
            for (name, value) in &sample.values {
                columns.entry(name).or_default().push((sample, value));
            }
            domain(context, number, sample, found);
        }
        for (name, values) in columns {
            digits(number, name, &values, found);
            let texts = values.iter().filter_map(|(sample, value)| match value {
                Value::Text(text) => Some((*sample, text.as_str())),
                _ => None,
            });
            forms(number, name, texts, found);
        }
        scripts(schema, number, found);
        sample_keys::check(schema, number, found);
    }
}

/// Reports a printed row that differs by one digit from the one that the document's script writes.
fn scripts(schema: &Schema, number: usize, found: &mut Vec<Found>) {
    let (scripts, printed): (Vec<&Sample>, Vec<&Sample>) =
        schema.samples.iter().partition(|sample| sample.script);
    for row in &printed {
        // What is printed as it is written is not what another row was meant to be.
        let taken = |script: &Sample| {
            printed.iter().any(|row| row.family == script.family && row.values == script.values)
        };
        let own = || scripts.iter().filter(|script| script.family == row.family && !taken(script));
        if scripts.iter().any(|own| own.family == row.family && own.values == row.values) {
            continue;
        }
        let Some((name, written, shown)) = own().find_map(|script| one_digit(script, row)) else {
            continue;
        };
        let family = schema.families.get(row.family).map_or("", |family| &family.name.text);
        let message = format!(
            "{family}: the printed row has {name} = {shown}, the script writes {written}; the \
             script is what is stored"
        );
        found.push(Found::new("D1", number, "sample", row.span, message));
    }
}

/// Returns the one value in which two rows differ, and that by one digit: its name, the script's, the
/// printed one.
fn one_digit<'a>(script: &Sample, row: &'a Sample) -> Option<(&'a str, i64, i64)> {
    if script.values.len() != row.values.len() {
        return None;
    }
    let mut differing = script.values.iter().zip(&row.values).filter(|(one, other)| one != other);
    let (written, shown) = differing.next()?;
    if differing.next().is_some() || written.0 != shown.0 {
        return None;
    }
    let (Value::Int(one), Value::Int(other)) = (&written.1, &shown.1) else { return None };
    by_a_digit(&one.to_string(), &other.to_string()).then_some((&shown.0, *one, *other))
}

/// Returns true if one digit was exchanged, left out or added.
fn by_a_digit(one: &str, other: &str) -> bool {
    let (long, short) = if one.len() < other.len() { (other, one) } else { (one, other) };
    let same = long.bytes().zip(short.bytes()).take_while(|(a, b)| a == b).count();
    let rest = |text: &str, from: usize| text.get(from..).unwrap_or_default().to_owned();
    match long.len() - short.len() {
        0 => rest(long, same + 1) == rest(short, same + 1),
        1 => rest(long, same + 1) == rest(short, same),
        _ => false,
    }
}

fn domain(context: &Context<'_>, number: usize, sample: &Sample, found: &mut Vec<Found>) {
    let Some(schema) = context.model.schemas.get(number) else { return };
    let Some(family) = schema.families.get(sample.family) else { return };
    let relation = context.model.relation(family.source);
    expiry(number, relation, sample, found);
    for (name, value) in &sample.values {
        let Some(column) = relation.columns.iter().find(|column| column.name == *name) else {
            continue;
        };
        // Documents count in microseconds too; the number of digits is looked at below.
        let time = matches!(column.ty, shelfmark_design_language::model::Type::Timestamp)
            && matches!(value, Value::Int(_));
        if !time && !column.ty.holds(value) {
            let message = format!("the sample value of {name} is no {}", column.ty.name());
            found.push(Found::new("D1", number, "sample", sample.span, message));
        }
    }
}

/// Checks T1 by printed values: an expiry of so many digits counts milliseconds.
fn expiry(number: usize, relation: &Relation, sample: &Sample, found: &mut Vec<Found>) {
    let columns = relation.columns.iter().filter(|column| column.facts.contains_key("ttl"));
    for column in columns {
        let value = sample.values.iter().find(|(name, _)| *name == column.name);
        if let Some((name, Value::Int(n))) = value
            && unit(*n).is_some_and(|unit| unit != "seconds")
        {
            let message = format!("{name} = {n} is no time in seconds, and stores count seconds");
            found.push(Found::new("T1", number, "sample", sample.span, message));
        }
    }
}

/// Returns the unit of a number, if it is a time of our days.
fn unit(n: i64) -> Option<&'static str> {
    // From 1990 to 2100.
    let within = |per_second: i64| (631_152_000..4_102_444_800).contains(&n.div_euclid(per_second));
    [("seconds", 1), ("milliseconds", 1_000), ("microseconds", 1_000_000)]
        .into_iter()
        .find(|(_, per_second)| within(*per_second))
        .map(|(name, _)| name)
}

/// Reports a number with fewer or more digits than most of its column (D1), or that counts another
/// unit (K8).
fn digits(number: usize, name: &str, values: &[(&Sample, &Value)], found: &mut Vec<Found>) {
    let numbers = || {
        values.iter().filter_map(|(sample, value)| match value {
            Value::Int(n) if *n >= 100_000 => Some((*sample, *n)),
            _ => None,
        })
    };
    let mut sorted: Vec<usize> = numbers().map(|(_, n)| n.to_string().len()).collect();
    sorted.sort_unstable();
    let Some(usual) = sorted.get(sorted.len() / 2).copied() else { return };
    let units: Vec<&str> = numbers().filter_map(|(_, n)| unit(n)).collect();
    let first = units.first().copied().filter(|_| units.len() == sorted.len());
    for (sample, n) in numbers() {
        if let (Some(first), Some(own)) = (first, unit(n))
            && first != own
        {
            let message = format!("{name} = {n} counts {own}, others of it {first}");
            found.push(Found::new("K8", number, "sample", sample.span, message));
        } else if sorted.len() > 2 && n.to_string().len() != usual && first.is_none() {
            let message = format!(
                "{name} = {n} has {} digits where the others have {usual}",
                n.to_string().len()
            );
            found.push(Found::new("D1", number, "sample", sample.span, message));
        }
    }
}

/// Checks K8: dates of one column in different forms.
pub(super) fn forms<'a>(
    number: usize,
    name: &str,
    texts: impl Iterator<Item = (&'a Sample, &'a str)>,
    found: &mut Vec<Found>,
) {
    let mut first = None;
    for (sample, text) in texts {
        let Some(shape) = shape(text) else { continue };
        if *first.get_or_insert_with(|| shape.clone()) != shape {
            let message = format!("{name} is written in several forms, {text:?} among them");
            found.push(Found::new("K8", number, "sample", sample.span, message));
            return;
        }
    }
}

/// Returns the form of a date: runs of digits by their lengths, all else unchanged. A zone's digits
/// stay, since another offset sorts otherwise.
fn shape(text: &str) -> Option<String> {
    let (date, zone) = match text.find(['T', ' ']) {
        Some(at) => {
            let sign = text.get(at..)?.find(['+', '-']).map(|offset| at + offset);
            sign.map_or((text, ""), |sign| text.split_at(sign))
        }
        None => (text, ""),
    };
    let mut out = String::new();
    let mut runs = Vec::new();
    let mut run = 0_usize;
    for c in date.chars().chain(['\0']) {
        if c.is_ascii_digit() {
            run += 1;
            continue;
        }
        if run > 0 {
            runs.push(run);
            out.push_str(&run.to_string());
            run = 0;
        }
        if c != '\0' {
            out.push(c);
        }
    }
    let between = |c: char| c.is_ascii_digit() || "-/.:TZ \"'_,".contains(c);
    let dated = matches!(runs.as_slice(), [4, 1..=2, 1..=2, ..] | [1..=2, 1..=2, 4, ..]);
    (dated && date.starts_with(|c: char| c.is_ascii_digit()) && date.chars().all(between))
        .then(|| out + zone)
}
