//! Draws the aggregate view: partitions with their rows and attributes, coloured by row type.
//!
//! A table of which the schema prints rows shows those; others show made-up ones.
//!
//! Invariant: a row shows the attributes of its family and no others, in one order and at one
//! place for all rows of the family in a table.

use std::collections::BTreeMap;

use super::Scene;
use super::boxes::{colour, key_columns, key_texts, own_columns, row_types};
use super::sample::shown;
use super::svg::{Anchor, HEAD, MARGIN, MONO, SOFT, Svg, TINY};
use shelfmark_design_language::limits::{DRAWN_ATTRIBUTES_MAX, DRAWN_ROWS_MAX, DRAWN_TABLES_MAX};
use shelfmark_design_language::model::schema::{FamilyId, Schema, Stored, TableId};
use shelfmark_design_language::model::{ColumnPath, Type, Value};
use shelfmark_design_prove::eval::rows::{KeyValue, Row};

const ROW: f64 = 36.0;
const PAD: f64 = 10.0;

/// Attributes of a row: name and value.
pub(super) type Cells = Vec<(String, String)>;

/// A sample row ready to draw.
pub(super) struct Line {
    pub(super) family: FamilyId,
    pub(super) partition: String,
    pub(super) sort: String,
    pub(super) cells: Cells,
}

pub(super) fn draw(scene: &Scene<'_>, schema: &Schema) -> Svg {
    let rows = scene.rows(schema);
    let mut svg = Svg::default();
    let mut y = 0.0;
    for id in 0..schema.tables.len().min(DRAWN_TABLES_MAX) {
        let line = rows.in_order(schema, id);
        let block = table(scene, schema, id, &line);
        svg.place(0.0, y, &block);
        y = svg.size().1 + 28.0;
    }
    if schema.tables.len() > DRAWN_TABLES_MAX {
        let more = schema.tables.len() - DRAWN_TABLES_MAX;
        svg.text(MARGIN, y, SOFT, &super::left_out(more, "table"));
    }
    svg
}

fn cells(scene: &Scene<'_>, schema: &Schema, row: &Row) -> Cells {
    let Some(family) = schema.families.get(row.family) else { return Vec::new() };
    let model = scene.model;
    let mut cells = Cells::new();
    let own = own_columns(schema, row.family).unwrap_or(family.key.len());
    let key: Vec<String> = key_columns(model, family).into_iter().take(own).collect();
    for stored in &family.stored {
        let cell = match stored {
            Stored::Path(path) => {
                let value = value_at(scene, row, family.source, path);
                let ty = model.path_type(family.source, path);
                (model.path_text(family.source, path), shown(model, &value, &ty))
            }
            Stored::Collect { relation, path, name, .. } => {
                let ty = Type::List(Box::new(model.path_type(*relation, path)), None);
                let value = row.kept.get(name).cloned().unwrap_or(Value::Null);
                (name.clone(), shown(model, &value, &ty))
            }
            Stored::Tally { name, .. } => {
                let value = row.kept.get(name).cloned().unwrap_or(Value::Null);
                (name.clone(), shown(model, &value, &Type::Int(None)))
            }
        };
        if !key.contains(&cell.0) {
            cells.push(cell);
        }
    }
    cells
}

fn value_at(scene: &Scene<'_>, row: &Row, source: usize, path: &ColumnPath) -> Value {
    scene.state.value(scene.model, source, &row.origin, path)
}

fn table(scene: &Scene<'_>, schema: &Schema, id: TableId, all: &[(&Vec<KeyValue>, &Row)]) -> Svg {
    let mut svg = Svg::default();
    let Some(found) = schema.tables.get(id) else { return svg };
    let mut lines = super::printed::lines(scene.model, schema, id);
    let kind = match (found.is_index, lines.is_empty()) {
        (true, true) => "index",
        (false, true) => "table",
        (true, false) => "index, of rows as printed",
        (false, false) => "table, rows as printed",
    };
    let end = svg.cut(MARGIN, 13.0, HEAD, &found.name.text, 260.0);
    let end = svg.text(end + 8.0, 13.0, TINY, kind);
    row_types(&mut svg, scene, end + 18.0, 13.0, schema, id);
    if lines.is_empty() {
        let made_up = all.iter().take(DRAWN_ROWS_MAX + 1).map(|(key, row)| {
            let (partition, sort) = key_texts(scene, schema, found, row.family, key);
            Line { family: row.family, partition, sort, cells: cells(scene, schema, row) }
        });
        lines.extend(made_up);
    }
    let count = lines.len().max(all.len());
    lines.truncate(DRAWN_ROWS_MAX);
    let wide = |of: fn(&Line) -> &String, least: f64, most: f64| {
        lines.iter().map(|line| MONO.width(of(line))).fold(least, f64::max).min(most)
    };
    let head = wide(|line| &line.partition, 90.0, 230.0) + 2.0 * PAD;
    let tail = wide(|line| &line.sort, 60.0, 330.0) + 2.0 * PAD;
    let widths = widths(&lines);
    let reach = lines
        .iter()
        .map(|line| widths.get(&line.family).map_or(0.0, |widths| widths.iter().sum()))
        .fold(200.0_f64, f64::max);
    let (sort_x, cells_x) = (MARGIN + head, MARGIN + head + tail);
    let right = cells_x + reach;
    let mut y = 24.0;
    svg.rect(MARGIN, y, right - MARGIN, 20.0, 4.0, "band");
    for (x, text) in [(MARGIN, "partition key"), (sort_x, "sort key"), (cells_x, "attributes")] {
        svg.text(x + PAD, y + 14.0, TINY, text);
    }
    y += 24.0;
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let partition = &line.partition;
        let count = lines.iter().skip(at).take_while(|other| other.partition == *partition).count();
        let height = count as f64 * ROW;
        svg.rect(MARGIN, y, right - MARGIN, height, 4.0, "card");
        svg.cut(MARGIN + PAD, y + height.min(ROW) / 2.0 + 4.0, MONO, partition, head - 2.0 * PAD);
        svg.line((sort_x, y), (sort_x, y + height), "rule");
        svg.line((cells_x, y), (cells_x, y + height), "rule");
        for (index, line) in lines.iter().skip(at).take(count).enumerate() {
            let top = y + index as f64 * ROW;
            if index > 0 {
                svg.line((sort_x, top), (right, top), "rule");
            }
            row(&mut svg, schema, line, &widths, (sort_x, cells_x, tail, top));
        }
        at += count;
        y += height + 5.0;
    }
    if lines.is_empty() {
        svg.text(MARGIN + PAD, y + 14.0, SOFT, "no sample rows");
    } else if count > lines.len() && lines.len() == DRAWN_ROWS_MAX {
        let more = count - lines.len();
        svg.text(MARGIN + PAD, y + 14.0, SOFT, &super::left_out(more, "sample row"));
    }
    svg
}

fn row(
    svg: &mut Svg,
    schema: &Schema,
    line: &Line,
    widths: &BTreeMap<FamilyId, Vec<f64>>,
    (sort_x, cells_x, tail, top): (f64, f64, f64, f64),
) {
    svg.rect(sort_x + 0.5, top + 4.0, 3.5, ROW - 8.0, 1.5, colour(schema, line.family));
    let sort = if line.sort.is_empty() { "–" } else { &line.sort };
    svg.cut(sort_x + PAD, top + ROW / 2.0 + 4.0, MONO, sort, tail - 2.0 * PAD);
    let Some(widths) = widths.get(&line.family) else { return };
    let mut x = cells_x;
    for ((name, value), width) in line.cells.iter().zip(widths) {
        svg.cut(x + PAD, top + 14.0, TINY, name, width - PAD - 4.0);
        svg.cut(x + PAD, top + 28.0, MONO, value, width - PAD - 4.0);
        x += width;
    }
    if line.cells.len() > widths.len() {
        let more = format!("+{}", line.cells.len() - widths.len());
        svg.styled(x + PAD, top + 22.0, TINY, "", Anchor::Start, &more);
    }
}

/// Returns the width of each attribute of each family.
fn widths(lines: &[Line]) -> BTreeMap<FamilyId, Vec<f64>> {
    let mut found: BTreeMap<FamilyId, Vec<f64>> = BTreeMap::new();
    for line in lines {
        let widths = found.entry(line.family).or_default();
        for (at, (name, value)) in line.cells.iter().enumerate().take(DRAWN_ATTRIBUTES_MAX) {
            let wide = TINY.width(name).max(MONO.width(value)).clamp(28.0, 170.0) + PAD + 6.0;
            match widths.get_mut(at) {
                Some(old) => *old = old.max(wide),
                None => widths.push(wide),
            }
        }
    }
    found
}
