//! Warns of keys that the target cannot hold, and of prefixes that it compares byte by byte (K9).

use serde_json::json;

use super::size::{character_bytes, is_ascii};
use super::{Context, Found, setting};
use shelfmark_design_language::catalogue::Severity;
use shelfmark_design_language::model::schema::{Codec, Column, Family, Part, Schema};
use shelfmark_design_language::model::types::TextDomain;
use shelfmark_design_language::model::{Model, Term, Type};
use shelfmark_design_language::syntax::tree::CondOp;
use shelfmark_design_language::target::{KeyShape, profile};
use shelfmark_design_prove::key::language::Language;
use shelfmark_design_prove::order::term_text;

/// Largest size of a component that is no text, in bytes: a UUID as text.
const VALUE_BYTES: f64 = 36.0;

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Found>) {
    let model = context.model;
    for (number, schema) in model.schemas.iter().enumerate() {
        for family in &schema.families {
            match profile(&schema.target).and_then(|target| target.key_shape.as_ref()) {
                Some(shape) => shaped(model, schema, number, family, shape, found),
                None => whole(model, schema, number, family, found),
            }
        }
    }
    folded(model, found);
}

/// Returns the columns that the family's own key declares: an entry ends with the key of its row.
pub(super) fn own_columns<'a>(schema: &Schema, family: &'a Family) -> &'a [Column] {
    let base = family.base.and_then(|base| schema.families.get(base));
    let inherited = base.map_or(0, |base| base.key.len());
    family.key.get(..family.key.len().saturating_sub(inherited)).unwrap_or(&[])
}

/// Checks columns and bytes where partition and sort key have limits of their own.
fn shaped(
    model: &Model,
    schema: &Schema,
    number: usize,
    family: &Family,
    shape: &KeyShape,
    found: &mut Vec<Found>,
) {
    let Some(table) = schema.tables.get(family.table) else { return };
    let own = own_columns(schema, family);
    let (partition, sort) = own.split_at(table.partition.min(own.len()));
    let (partition_max, sort_max) = if family.base.is_some() {
        (shape.index_partition_columns_max, shape.index_sort_columns_max)
    } else {
        (shape.partition_columns_max, shape.sort_columns_max)
    };
    let name = &family.name.text;
    let mut push = |message: String, harm| {
        found.push(Found::new("K9", number, name, family.span, message).reproducer(Some(harm)));
    };
    for (what, columns, most) in
        [("partition key", partition, partition_max), ("sort key", sort, sort_max)]
    {
        if columns.len() > most {
            let count = columns.len();
            push(
                format!(
                    "{name}: the {what} has {count} columns, {} takes {most}; write one text, \
                     such as \"<a>#<b>\"",
                    schema.target
                ),
                json!({ "kind": "count", "columns": count, "limit": most }),
            );
        }
    }
    let descends = table.desc.iter().take(own.len()).any(|desc| *desc);
    if descends && !shape.descending {
        push(
            format!(
                "{name}: a key column of {} does not descend; read the range backwards",
                schema.target
            ),
            json!({ "kind": "count", "columns": 1, "limit": 0 }),
        );
    }
    let sides = [
        ("partition key", partition, shape.partition_bytes_max),
        ("sort key", sort, shape.sort_bytes_max),
    ];
    for (what, columns, most) in sides {
        for wrong in columns.iter().filter_map(|column| unkeyed(model, schema, family, column)) {
            push(format!("{name}: {wrong}"), json!({ "kind": "count", "bytes": 0, "least": 1 }));
        }
        if let Some(bytes) = bytes_max(columns).filter(|bytes| *bytes > most) {
            push(
                format!("{name}: the {what} may take {bytes} bytes, {most} are allowed"),
                json!({ "kind": "count", "bytes": bytes, "limit": most }),
            );
        }
    }
    let limit = setting(model, schema, "key.max", |target| target.key_bytes_max);
    if limit < shape.partition_bytes_max + shape.sort_bytes_max {
        whole(model, schema, number, family, found);
    }
}

/// Returns why a store whose keys are texts, numbers and bytes, none of them empty, refuses to put
/// an item: for a key of an index as for the item's own.
fn unkeyed(model: &Model, schema: &Schema, family: &Family, column: &Column) -> Option<String> {
    let target = &schema.target;
    let named = |term: &Term| term_text(model, family.source, term);
    if let [Part::Hole { term, ty: Type::Bool, codec: Codec::Native }] = column.parts.as_slice() {
        return Some(format!(
            "{} is a bool, and no key of {target} is one; write it into a text, such as \"<{0}>\"",
            named(term)
        ));
    }
    let mut holes = Vec::new();
    for part in &column.parts {
        match part {
            Part::Hole { codec: Codec::Native, .. } => return None,
            Part::Hole { term, .. } if Language::of(part).has_empty() => holes.push(term),
            Part::End => {}
            Part::Literal(text) if text.is_empty() => {}
            _ => return None,
        }
    }
    // What a sparse family asks for by a text is that text in all its rows.
    let guarded = |term: &Term| {
        family
            .when
            .iter()
            .any(|guard| guard.op == CondOp::Eq && *term == Term::Column(guard.path.clone()))
    };
    let empty: Vec<String> = holes.into_iter().filter(|term| !guarded(term)).map(named).collect();
    (!empty.is_empty()).then(|| {
        format!(
            "{} may be the empty text, which {target} takes in no key; declare `min 1`, or write \
             some text before it",
            empty.join(" and ")
        )
    })
}

/// Checks the longest key, where every part has a known length.
fn whole(model: &Model, schema: &Schema, number: usize, family: &Family, found: &mut Vec<Found>) {
    let limit = setting(model, schema, "key.max", |target| target.key_bytes_max);
    let Some(total) = bytes_max(&family.key).filter(|total| *total > limit) else { return };
    let message =
        format!("{}: a key may take {total} bytes, {limit} are allowed", family.name.text);
    found.push(
        Found::new("K9", number, &family.name.text, family.span, message)
            .reproducer(Some(json!({ "kind": "count", "bytes": total, "limit": limit }))),
    );
}

fn bytes_max(columns: &[Column]) -> Option<f64> {
    let mut total = 0.0;
    for part in columns.iter().flat_map(|column| &column.parts) {
        total += match part {
            Part::Literal(text) => text.len() as f64,
            Part::End => 1.0,
            Part::Hole { ty: Type::Text(domain), .. } => {
                domain.max? as f64 * character_bytes(domain)
            }
            Part::Hole { .. } => VALUE_BYTES,
        };
    }
    Some(total)
}

/// Checks K9 as advice: a prefix is compared byte by byte, so case and Unicode form matter.
fn folded(model: &Model, found: &mut Vec<Found>) {
    for read in &model.reads {
        for source in &read.sources {
            let open = source.predicates.iter().find(|one| {
                one.op == CondOp::Begins
                    && matches!(model.path_type(source.relation, &one.path),
                        Type::Text(domain) if has_two_forms(&domain))
            });
            let Some(predicate) = open else { continue };
            let attribute = model.path_text(source.relation, &predicate.path);
            let message = format!(
                "{}: a prefix of {attribute} is compared byte by byte, so capitals and accents \
                 matter; keep a folded copy, or declare the characters it has",
                read.name.text
            );
            let mut one = Found::new("K9", 0, &read.name.text, predicate.span, message)
                .severity(Severity::Note);
            one.schema = None;
            found.push(one);
        }
    }
}

/// Returns true if one text, as people see it, can be written in two ways.
fn has_two_forms(domain: &TextDomain) -> bool {
    let bytes = domain.bytes();
    let cases = (b'a'..=b'z')
        .any(|small| bytes.contains(small) && bytes.contains(small.to_ascii_uppercase()));
    cases || !is_ascii(domain)
}
