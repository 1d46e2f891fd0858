//! Draws what several views have in common: row types and their colours, key texts, signs of
//! status.

use std::collections::BTreeMap;

use super::Scene;
use super::style::hue;
use super::svg::{BODY, Font, SOFT, Svg};
use shelfmark_design_language::certificate::text::parts;
use shelfmark_design_language::limits::DRAWN_TYPES_MAX;
use shelfmark_design_language::model::schema::{
    Codec, ColumnKind, Family, FamilyId, Part, Schema, Table, TableId,
};
use shelfmark_design_language::model::{Model, Term};
use shelfmark_design_prove::eval::rows::{KeyValue, row_of};
use shelfmark_design_prove::order::term_text;

/// Returns the colour of a row family: the number of its base family within its schema.
pub(super) fn colour(schema: &Schema, id: FamilyId) -> &'static str {
    let base = schema.families.get(id).and_then(|family| family.base).unwrap_or(id);
    let number = schema.families.iter().take(base).filter(|family| family.base.is_none()).count();
    hue(number)
}

/// Returns the name of a row type: without the index behind the dot.
pub(super) fn family_name(family: &Family) -> &str {
    family.name.text.split('.').next().unwrap_or(&family.name.text)
}

/// Returns the parts of a sample key, as texts: partition key, then sort key.
///
/// Of an index only the columns that are its own are shown.
pub(super) fn key_texts(
    scene: &Scene<'_>,
    schema: &Schema,
    table: &Table,
    id: FamilyId,
    key: &[KeyValue],
) -> (String, String) {
    let own = own_columns(schema, id).unwrap_or(key.len());
    let text = |(at, value): (usize, &KeyValue)| {
        let ty = table.kinds.get(at).and_then(|kind| match kind {
            ColumnKind::Typed(ty) => Some(ty),
            ColumnKind::Text => None,
        });
        scene.short.text(&super::sample::shown_key(scene.model, value, ty))
    };
    let texts: Vec<String> = key.iter().enumerate().take(own).map(text).collect();
    let (head, tail) = texts.split_at(table.partition.min(texts.len()));
    (head.join(" · "), tail.join(" · "))
}

/// Returns how many leading columns of an index entry's key are not those of its row.
pub(super) fn own_columns(schema: &Schema, id: FamilyId) -> Option<usize> {
    let family = schema.families.get(id)?;
    let base = schema.families.get(family.base?)?;
    Some(family.key.len().saturating_sub(base.key.len()))
}

/// Returns the columns of a family's key as a schema writes them.
pub(super) fn key_columns(model: &Model, family: &Family) -> Vec<String> {
    let hole = |term: &Term| term_text(model, family.source, term);
    family
        .key
        .iter()
        .map(|column| match column.parts.as_slice() {
            [Part::Hole { term: Term::Const(value), ty, .. }] => format!("\"{}\"", value.text(ty)),
            // A text column of a typed key ends itself; a template's hole keeps its marks.
            [Part::Hole { term, codec: Codec::Native, .. }]
            | [Part::Hole { term, codec: Codec::Plain, .. }]
            | [Part::Hole { term, codec: Codec::Plain, .. }, Part::End] => hole(term),
            [Part::Literal(text)] | [Part::Literal(text), Part::End] => format!("\"{text}\""),
            other => parts(other, &hole),
        })
        .collect()
}

/// Draws a row of dots with the names of a table's row types; of a single one its source and key.
///
/// Returns where it ends.
pub(super) fn row_types(
    svg: &mut Svg,
    scene: &Scene<'_>,
    x: f64,
    y: f64,
    schema: &Schema,
    table: TableId,
) -> f64 {
    let mut x = x;
    let families: Vec<(FamilyId, &Family)> = schema.of_table(table).take(DRAWN_TYPES_MAX).collect();
    let alone = families.len() == 1;
    for (id, family) in families {
        svg.circle(x + 4.0, y - 4.0, 4.0, colour(schema, id));
        let text = if alone {
            signature(scene.model, schema, id, family)
        } else {
            family_name(family).to_owned()
        };
        x = svg.cut(x + 12.0, y, SOFT, &text, if alone { 420.0 } else { 160.0 }) + 14.0;
    }
    x
}

/// Returns the signature of a row type: `Follow by user ; at↓, follower`.
fn signature(model: &Model, schema: &Schema, id: FamilyId, family: &Family) -> String {
    let source = &model.relation(family.source).name.text;
    let Some(table) = schema.tables.get(family.table) else { return source.clone() };
    let own = own_columns(schema, id).unwrap_or(family.key.len());
    let columns: Vec<String> = key_columns(model, family)
        .into_iter()
        .zip(table.desc.iter().chain(std::iter::repeat(&false)))
        .map(|(text, desc)| if *desc { format!("{text}↓") } else { text })
        .take(own)
        .collect();
    let (head, tail) = columns.split_at(table.partition.min(columns.len()));
    let semicolon = if tail.is_empty() || head.is_empty() { "" } else { " ; " };
    format!("{source} by {}{semicolon}{}", head.join(", "), tail.join(", "))
}

/// Number of the sample's sources for each key of a table.
pub(super) type Sources = BTreeMap<Vec<KeyValue>, usize>;

pub(super) fn sources(scene: &Scene<'_>, schema: &Schema, table: TableId) -> Sources {
    let mut found = Sources::new();
    for (id, family) in schema.of_table(table).filter(|(_, family)| family.base.is_none()) {
        for tuple in scene.state.tuples(family.source) {
            if let Some((key, _)) = row_of(scene.model, &scene.state, id, family, tuple) {
                *found.entry(key).or_default() += 1;
            }
        }
    }
    found
}

/// Draws a dot in the colour of a status with a name behind it, and returns where it ends.
pub(super) fn status(
    svg: &mut Svg,
    x: f64,
    y: f64,
    word: &'static str,
    text: &str,
    width_max: f64,
) -> f64 {
    svg.circle(x + 4.5, y - 4.0, 4.5, word);
    svg.cut(x + 14.0, y, BODY, text, width_max - 14.0)
}

/// Returns the lines of a text, wrapped between words.
pub(super) fn wrap(text: &str, font: Font, width_max: f64, lines_max: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    let mut words = text.split(' ').peekable();
    while let Some(word) = words.next() {
        let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
        if font.width(&longer) <= width_max || line.is_empty() {
            line = longer;
            continue;
        }
        if lines.len() + 1 >= lines_max {
            let rest: Vec<&str> = std::iter::once(word).chain(words).collect();
            lines.push(font.fit(&format!("{line} {}", rest.join(" ")), width_max));
            return lines;
        }
        lines.push(font.fit(&line, width_max));
        line = word.to_owned();
    }
    if !line.is_empty() {
        lines.push(font.fit(&line, width_max));
    }
    lines
}
