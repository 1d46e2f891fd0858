//! Bounds the bytes of keys and items by the declared types, where the target refuses longer ones.
//!
//! A text that is declared without a maximum may have any length, and one of so many letters takes up to
//! four times as many bytes. That such a key or item fits is an assumption, which the certificate says;
//! what declared maxima of plain letters let grow beyond the limit is refused.
//!
//! What it is not: no estimate. Names of attributes and the overhead of an item are not counted, so an
//! item that just fits by its values may be refused all the same.
//!
//! Invariant: a plan passes only if what is declared of each text in a key fits into it.

use super::analysis::Analysis;
use super::canon::canonical;
use super::unique::available;
use shelfmark_design_language::certificate::ASSUMED;
use shelfmark_design_language::model::pattern::Param;
use shelfmark_design_language::model::schema::{Codec, Column, Family, Part, Schema, Serve, Step};
use shelfmark_design_language::model::types::{TextDomain, Type};
use shelfmark_design_language::model::{ColumnPath, Model, Term};
use shelfmark_design_language::target::Target;

/// Bytes of a character outside ASCII, at most.
const CHARACTER_BYTES: u64 = 4;

/// Bytes of a value of fixed length, its mark and overhead, at most.
///
/// Source: DynamoDB Developer Guide, item sizes, read 2026-11: a number has up to 21 bytes, a text of a UUID
/// 36.
const FIXED_BYTES: u64 = 40;

/// The most bytes that values may take.
#[derive(Default)]
struct Longest {
    /// Those of plain letters.
    plain: u64,
    bytes: u64,
    /// True if some value has no declared maximum.
    open: bool,
}

impl Longest {
    fn add(&mut self, ty: &Type) {
        match (most(ty, &|_| 1), most(ty, &character_bytes)) {
            (Some(plain), Some(bytes)) => self.put(plain, bytes),
            _ => self.open = true,
        }
    }

    fn put(&mut self, plain: u64, bytes: u64) {
        self.plain = self.plain.saturating_add(plain);
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// Returns the bytes of key columns whose holes have these types.
    fn of_columns<'c>(
        columns: impl Iterator<Item = &'c [Part]>,
        of: &impl Fn(&Term, &Type) -> Type,
    ) -> Self {
        let mut found = Self::default();
        for part in columns.flatten() {
            match part {
                Part::Literal(text) => found.put(text.len() as u64, text.len() as u64),
                Part::End => {}
                Part::Hole { codec: Codec::Pad(width), .. } => {
                    found.put(u64::from(*width), u64::from(*width));
                }
                Part::Hole { term, ty, .. } => found.add(&of(term, ty)),
            }
        }
        found
    }
}

/// Returns the most bytes of a value, counting what has a fixed length as nothing; `None` without a
/// declared maximum.
fn most(ty: &Type, character: &impl Fn(&TextDomain) -> u64) -> Option<u64> {
    match ty {
        Type::Text(domain) => Some(domain.max?.saturating_mul(character(domain))),
        Type::Bytes(sizes) => sizes.max,
        Type::List(of, max) => Some(max.as_ref()?.saturating_mul(most(of, character)?)),
        _ => Some(0),
    }
}

fn character_bytes(domain: &TextDomain) -> u64 {
    let ascii = domain.bytes().max().is_none_or(|byte| byte < 0x80);
    if ascii { 1 } else { CHARACTER_BYTES }
}

/// Returns the most bytes of an item with these values and the names of its attributes; `None` where one
/// of them has no declared maximum.
pub(crate) fn item_bytes(model: &Model, family: &Family, shown: &[ColumnPath]) -> Option<u64> {
    let mut item = Longest::default();
    for path in shown {
        item.add(&model.path_type(family.source, &canonical(model, family.source, path)));
        let name = model.path_text(family.source, path).len() as u64;
        item.put(name + FIXED_BYTES, name + FIXED_BYTES);
    }
    (!item.open).then_some(item.bytes)
}

/// Proves that the keys and items that a write changes are no longer than the target takes.
pub(super) fn written(model: &Model, schema: &Schema, target: &Target, analysis: &mut Analysis) {
    let Some(rule) = target.rules.get("sizes") else { return };
    let mut open: Vec<String> = Vec::new();
    let mut found = Vec::new();
    for id in &analysis.families {
        let Some(family) = schema.families.get(*id).filter(|one| one.base.is_none()) else {
            continue;
        };
        let entries = schema.entries(*id).map(|(_, entry)| entry);
        for lain in [family].into_iter().chain(entries) {
            for (what, columns, limit) in sides(schema, target, lain) {
                let longest = Longest::of_columns(columns.into_iter(), &|_, ty: &Type| ty.clone());
                found.push((format!("{what} of {}", lain.name.text), longest, limit));
            }
        }
        let mut item = Longest::default();
        for path in available(model, family) {
            item.add(&model.path_type(family.source, &canonical(model, family.source, path)));
        }
        found.push((format!("an item of {}", family.name.text), item, target.item_bytes_max));
    }
    for (what, longest, limit) in found {
        if longest.plain as f64 > limit {
            let why = format!("{what} may take {} bytes, {limit} are taken", longest.plain);
            analysis.fail_request(format!("{why}: {} ({})", rule.says, rule.source));
        } else if longest.open || longest.bytes as f64 > limit {
            open.push(format!("{what} has at most {limit} bytes"));
        }
    }
    if !open.is_empty() {
        analysis.note(10, format!("{ASSUMED}{}", open.join(", ")));
    }
}

/// Proves that the values by which a plan asks are no longer than the target's keys.
pub(super) fn asked(
    schema: &Schema,
    target: &Target,
    params: &[Param],
    serve: &Serve,
    analysis: &mut Analysis,
) {
    let Some(rule) = target.rules.get("sizes") else { return };
    let of = |term: &Term, ty: &Type| match term {
        Term::Param(at) => params.get(*at).map_or_else(|| ty.clone(), |param| param.ty.clone()),
        _ => ty.clone(),
    };
    for step in serve.steps.iter().filter_map(Step::read) {
        let Some(table) = schema.tables.get(step.table) else { continue };
        let asked = || step.bound.iter().map(Vec::as_slice);
        let [partition, sort] = limits(target);
        let sides = [
            (Longest::of_columns(asked().take(table.partition), &of), partition),
            (Longest::of_columns(asked().skip(table.partition), &of), sort),
        ];
        for (longest, limit) in sides {
            if longest.plain as f64 > limit {
                analysis.fail_request(format!(
                    "a key of {} that is asked for may take {} bytes, {limit} are taken: {} ({})",
                    table.name.text, longest.plain, rule.says, rule.source
                ));
            }
        }
    }
}

/// Returns the limits of the two halves of a key.
fn limits(target: &Target) -> [f64; 2] {
    match &target.key_shape {
        Some(shape) => [shape.partition_bytes_max, shape.sort_bytes_max],
        None => [target.key_bytes_max, target.key_bytes_max],
    }
}

/// Returns the halves of a family's key: of an index only its own columns.
fn sides<'f>(
    schema: &Schema,
    target: &Target,
    family: &'f Family,
) -> Vec<(&'static str, Vec<&'f [Part]>, f64)> {
    let Some(table) = schema.tables.get(family.table) else { return Vec::new() };
    let below = family.base.and_then(|base| schema.families.get(base));
    let own = family.key.len().saturating_sub(below.map_or(0, |base| base.key.len()));
    let own = if below.is_some() { own } else { family.key.len() };
    let columns: Vec<&[Part]> =
        family.key.iter().take(own).map(|column: &Column| column.parts.as_slice()).collect();
    let (partition, sort) = columns.split_at(table.partition.min(columns.len()));
    let [first, second] = limits(target);
    vec![("the partition key", partition.to_vec(), first), ("the sort key", sort.to_vec(), second)]
}
