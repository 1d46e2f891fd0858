//! Draws the Chebotko diagram: a box for each table with its key columns, directions and
//! attributes, and the queries that lead into it.
//!
//! Notation: K partition key, C↑ and C↓ clustering, IDX index, ++ counter, [] collection; Q1 and
//! on are the model's reads in their order.
//!
//! Source: "A Big Data Modeling Methodology for Apache Cassandra" (2015).
//!
//! Invariant: every read is named: at each table that its plan reads, or below, where it has none.

use std::collections::BTreeSet;

use super::Scene;
use super::boxes::{family_name, key_columns, own_columns};
use super::ranges::call;
use super::svg::{Anchor, BODY, HEAD, MARGIN, MONO, SOFT, Svg, TINY};
use shelfmark_design_language::limits::{
    DRAWN_ATTRIBUTES_MAX, DRAWN_PATTERNS_MAX, DRAWN_TABLES_MAX,
};
use shelfmark_design_language::model::pattern::EffectKind;
use shelfmark_design_language::model::schema::{Family, FamilyId, Schema, Step, Stored, TableId};
use shelfmark_design_prove::Proof;

const LINE: f64 = 18.0;
const BOX_MIN: f64 = 180.0;
const BOX_MAX: f64 = 330.0;
const QUERY: f64 = 20.0;

/// Greatest width of a row of boxes before the next row begins.
const PAGE: f64 = 1180.0;

/// A line of a box: the tag at the left, the column, and whether it is of the key.
struct Entry {
    tag: String,
    text: String,
    keyed: bool,
}

pub(super) fn draw(scene: &Scene<'_>, number: usize, schema: &Schema) -> Svg {
    let mut svg = Svg::default();
    let mut blocks: Vec<Svg> = Vec::new();
    for id in 0..schema.tables.len().min(DRAWN_TABLES_MAX) {
        blocks.push(block(scene, number, schema, id));
    }
    // Columns of equal width, each block under the shortest: few gaps, reading order nearly kept.
    let wide = blocks.iter().map(|block| block.size().0).fold(BOX_MIN, f64::max) + 30.0;
    let columns = [4, 3, 2]
        .into_iter()
        .find(|count| f64::from(*count) * wide <= PAGE)
        .unwrap_or(1)
        .min(i32::try_from(blocks.len()).unwrap_or(1).max(1));
    let mut bottoms = vec![0.0_f64; usize::try_from(columns).unwrap_or(1)];
    for block in &blocks {
        let shortest = bottoms
            .iter()
            .enumerate()
            .min_by(|a, b| a.1.total_cmp(b.1))
            .map_or(0, |(column, _)| column);
        let Some(bottom) = bottoms.get_mut(shortest) else { continue };
        svg.place(MARGIN + shortest as f64 * wide, *bottom, block);
        *bottom += block.size().1 + 26.0;
    }
    let y = bottoms.iter().copied().fold(0.0, f64::max);
    let key = "K partition key   C↑ C↓ clustering   ++ counter   [] collection   Q reads, in the model's order";
    svg.text(MARGIN, y + 4.0, TINY, key);
    let mut y = y + 22.0;
    if schema.tables.len() > DRAWN_TABLES_MAX {
        let more = schema.tables.len() - DRAWN_TABLES_MAX;
        svg.text(MARGIN, y, SOFT, &super::left_out(more, "table"));
        y += 18.0;
    }
    without_table(scene, number, y, &mut svg);
    svg
}

/// Draws the reads that no table serves, below the boxes.
fn without_table(scene: &Scene<'_>, number: usize, mut y: f64, svg: &mut Svg) {
    let reads = |step: &Step| step.read().is_some();
    let lost = scene.proofs_of(number).filter(|proof| {
        !proof.certificate.write && !proof.serve.iter().flat_map(|serve| &serve.steps).any(reads)
    });
    for (at, proof) in lost.take(DRAWN_PATTERNS_MAX).enumerate() {
        if at == 0 {
            svg.text(MARGIN, y + 10.0, HEAD, "No table");
            y += 22.0;
        }
        let word = proof.certificate.status.word();
        svg.circle(MARGIN + 5.0, y + 8.0, 4.5, word);
        svg.open(&format!("{word} {}", proof.certificate.reason));
        let label = format!("Q{}", proof.pattern + 1);
        let end = svg.styled(MARGIN + 16.0, y + 12.0, BODY, "dim", Anchor::Start, &label);
        svg.cut(end + 6.0, y + 12.0, BODY, &call(scene, proof), PAGE - end);
        svg.close();
        y += QUERY;
    }
}

fn block(scene: &Scene<'_>, number: usize, schema: &Schema, id: TableId) -> Svg {
    let mut svg = Svg::default();
    let Some(table) = schema.tables.get(id) else { return svg };
    let families: Vec<(FamilyId, &Family)> =
        schema.of_table(id).take(shelfmark_design_language::limits::DRAWN_TYPES_MAX).collect();
    let several = families.len() > 1;
    let mut entries: Vec<(Option<&str>, Vec<Entry>)> = Vec::new();
    for (family_id, family) in families {
        let name = several.then(|| family_name(family));
        entries.push((name, entries_of(scene, schema, family_id, family)));
    }
    let queries = queries(scene, number, id);
    let widest =
        entries
            .iter()
            .flat_map(|(_, list)| list)
            .map(|entry| MONO.width(&entry.text) + 46.0)
            .chain([HEAD.width(&table.name.text) + 70.0])
            .chain(queries.iter().map(|(label, proof)| {
                BODY.width(&format!("{label} {}", call(scene, proof))) + 30.0
            }))
            .fold(BOX_MIN, f64::max)
            .min(BOX_MAX);
    let mut y = 0.0;
    for (label, proof) in &queries {
        query(&mut svg, y, label, &call(scene, proof), proof, widest);
        y += QUERY;
    }
    if !queries.is_empty() {
        // All of them go in by one arrow.
        svg.line((9.0, 4.0), (9.0, y + 4.0), "edge");
        svg.polygon(&[(5.0, y + 2.0), (13.0, y + 2.0), (9.0, y + 9.0)], "tip");
        for (at, (_, proof)) in queries.iter().enumerate() {
            let word = proof.certificate.status.word();
            svg.circle(9.0, at as f64 * QUERY + 8.0, 4.5, word);
        }
        y += 10.0;
    }
    let count: usize =
        entries.iter().map(|(name, list)| list.len() + usize::from(name.is_some())).sum();
    svg.rect(0.0, y, widest, 26.0 + count as f64 * LINE + 6.0, 5.0, "card");
    svg.rect(0.5, y + 0.5, widest - 1.0, 25.0, 4.5, "band");
    svg.cut(10.0, y + 17.5, HEAD, &table.name.text, widest - 60.0);
    if table.is_index {
        svg.styled(widest - 10.0, y + 17.0, TINY, "", Anchor::End, "IDX");
    }
    y += 26.0;
    for (at, (name, list)) in entries.iter().enumerate() {
        if let Some(name) = name {
            if at > 0 {
                svg.line((0.0, y + 1.0), (widest, y + 1.0), "rule");
            }
            svg.cut(10.0, y + 13.0, SOFT, name, widest - 20.0);
            y += LINE;
        }
        for entry in list {
            if entry.keyed {
                svg.rect(1.0, y, widest - 2.0, LINE, 0.0, "keyed");
            }
            svg.text(10.0, y + 13.0, TINY, &entry.tag);
            svg.cut(36.0, y + 13.0, MONO, &entry.text, widest - 46.0);
            y += LINE;
        }
    }
    svg
}

fn query(svg: &mut Svg, y: f64, label: &str, call: &str, proof: &Proof, width: f64) {
    svg.open(&format!("{} {}", proof.certificate.status.word(), proof.certificate.reason));
    let end = svg.styled(20.0, y + 12.0, BODY, "dim", Anchor::Start, label);
    svg.cut(end + 6.0, y + 12.0, BODY, call, width - end - 6.0);
    svg.close();
}

/// Returns the reads whose plans touch a table; those that follow an earlier step say so.
fn queries<'a>(scene: &'a Scene<'_>, number: usize, table: TableId) -> Vec<(String, &'a Proof)> {
    let mut found = Vec::new();
    let mut seen: BTreeSet<(usize, bool)> = BTreeSet::new();
    for proof in scene.proofs_of(number).filter(|proof| !proof.certificate.write) {
        for (at, step) in proof.serve.iter().flat_map(|serve| &serve.steps).enumerate() {
            let follows = at > 0 && !matches!(step, Step::Also(_));
            let Some(step) = step.read() else { continue };
            if step.table == table && seen.insert((proof.pattern, follows)) {
                let word = if follows { " then" } else { "" };
                found.push((format!("Q{}{word}", proof.pattern + 1), proof));
            }
        }
        if found.len() >= DRAWN_PATTERNS_MAX {
            break;
        }
    }
    found
}

fn entries_of(scene: &Scene<'_>, schema: &Schema, id: FamilyId, family: &Family) -> Vec<Entry> {
    let Some(table) = schema.tables.get(family.table) else { return Vec::new() };
    let own = own_columns(schema, id);
    let mut entries = Vec::new();
    let mut shown: BTreeSet<String> = BTreeSet::new();
    for (at, text) in key_columns(scene.model, family).into_iter().enumerate() {
        let desc = table.desc.get(at).copied().unwrap_or(false);
        let tag = if at < table.partition {
            "K"
        } else if desc {
            "C↓"
        } else {
            "C↑"
        };
        // What an entry has behind its own columns is the key of its row.
        let inherited = own.is_some_and(|own| at >= own);
        if !shown.insert(text.clone()) && inherited {
            continue;
        }
        entries.push(Entry { tag: tag.to_owned(), text, keyed: !inherited });
    }
    for stored in &family.stored {
        let entry = stored_entry(scene, family, stored);
        if !shown.contains(&entry.text) {
            entries.push(entry);
        }
    }
    let most = family.key.len() + DRAWN_ATTRIBUTES_MAX;
    if entries.len() > most {
        let more = entries.len() - most;
        entries.truncate(most);
        entries.push(Entry { tag: String::new(), text: format!("{more} more"), keyed: false });
    }
    entries
}

fn stored_entry(scene: &Scene<'_>, family: &Family, stored: &Stored) -> Entry {
    let model = scene.model;
    let (tag, text) = match stored {
        Stored::Collect { name, .. } => ("[]", name.clone()),
        Stored::Tally { name, .. } => ("++", name.clone()),
        Stored::Path(path) => {
            let text = model.path_text(family.source, path);
            let counts = model.writes.iter().flat_map(|write| &write.effects).any(|effect| {
                effect.kind == EffectKind::Increment
                    && effect.relation == family.source
                    && effect.set.iter().any(|(column, _)| *path == [*column])
            });
            let is_list = matches!(
                model.path_type(family.source, path),
                shelfmark_design_language::model::Type::List(..)
            );
            (
                if counts {
                    "++"
                } else if is_list {
                    "[]"
                } else {
                    ""
                },
                text,
            )
        }
    };
    Entry { tag: tag.to_owned(), text, keyed: false }
}
