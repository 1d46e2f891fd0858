//! Draws the entity diagram: entities and links with their attributes and references.
//!
//! Invariant: every attribute that refers to an entity has one line, from the entity it refers
//! to, which ends at the attribute with a crow's foot.

use super::Scene;
use super::layers::layout;
use super::svg::{Anchor, HEAD, MARGIN, MONO, Path, SOFT, Svg, TINY};
use shelfmark_design_language::limits::{DRAWN_ATTRIBUTES_MAX, DRAWN_TABLES_MAX};
use shelfmark_design_language::model::relation::{Column, Relation};
use shelfmark_design_language::model::{Model, Type};

const LINE: f64 = 18.0;
const HEADER: f64 = 26.0;
const BOX_MIN: f64 = 170.0;
const BOX_MAX: f64 = 300.0;

/// A relation as a box.
struct Card {
    width: f64,
    height: f64,
    /// Attributes: tag, name, type, and the number of the column.
    lines: Vec<(String, String, String, usize)>,
    /// Counts and fan-outs.
    facts: Vec<String>,
    more: usize,
}

pub(super) fn draw(scene: &Scene<'_>) -> Svg {
    let model = scene.model;
    let mut svg = Svg::default();
    let count = model.relations.len().min(DRAWN_TABLES_MAX);
    let cards: Vec<Card> =
        model.relations.iter().take(count).map(|relation| card(model, relation)).collect();
    let mut edges: Vec<(usize, usize)> = Vec::new();
    let mut ports: Vec<(usize, usize)> = Vec::new();
    for (child, (relation, card)) in model.relations.iter().zip(&cards).enumerate() {
        for (at, (.., column)) in card.lines.iter().enumerate() {
            let parent = relation.columns.get(*column).and_then(|column| column.refers);
            if let Some(parent) = parent.filter(|parent| *parent < count) {
                edges.push((parent, child));
                ports.push((child, at));
            }
        }
    }
    let sizes: Vec<(f64, f64)> = cards.iter().map(|card| (card.width, card.height)).collect();
    let found = layout(&sizes, &edges);
    let place = |at: usize| {
        let (x, y) = found.places.get(at).copied().unwrap_or_default();
        (x + MARGIN, y + MARGIN)
    };
    for ((edge, (_, line)), bends) in edges.iter().zip(&ports).zip(&found.bends) {
        let parent = place(edge.0);
        let width = cards.get(edge.0).map_or(0.0, |card| card.width);
        let child = place(edge.1);
        let y = child.1 + HEADER + *line as f64 * LINE + LINE / 2.0;
        let from = (parent.0 + width, parent.1 + HEADER / 2.0);
        reference(&mut svg, from, (child.0, y), bends, edge.0 == edge.1);
    }
    for (at, (relation, card)) in model.relations.iter().zip(&cards).enumerate() {
        let (x, y) = place(at);
        draw_card(&mut svg, relation, card, x, y);
    }
    if model.relations.len() > count {
        let more = model.relations.len() - count;
        let y = svg.size().1 + 20.0;
        svg.text(MARGIN, y, SOFT, &format!("{more} more entities are not drawn"));
    }
    svg
}

fn reference(
    svg: &mut Svg,
    from: (f64, f64),
    to: (f64, f64),
    bends: &[(f64, f64, f64)],
    own: bool,
) {
    let foot = (to.0 - 9.0, to.1);
    let start = Path::from(from.0, from.1);
    let path = if own || from.0 > foot.0 {
        // Back to the left: out on the right side, around above, in on the left.
        let out = (from.0 + 18.0, from.1 - 22.0);
        let back = (to.0 - 22.0, from.1 - 22.0);
        start
            .to(out.0, from.1)
            .to(out.0, out.1)
            .to(back.0, back.1)
            .to(back.0, foot.1)
            .to(foot.0, foot.1)
    } else {
        let mut at = from;
        let mut path = start;
        for (left, right, y) in bends {
            let (left, right, y) = (left + MARGIN, right + MARGIN, y + MARGIN + 5.0);
            path = path.bend(at, (left, y)).to(right, y);
            at = (right, y);
        }
        path.bend(at, foot)
    };
    svg.path(&path, "edge");
    svg.line((from.0 + 6.0, from.1 - 5.0), (from.0 + 6.0, from.1 + 5.0), "edge");
    for dy in [-5.0, 0.0, 5.0] {
        svg.line(foot, (to.0, to.1 + dy), "edge");
    }
}

fn card(model: &Model, relation: &Relation) -> Card {
    let mut lines: Vec<(String, String, String, usize)> = Vec::new();
    for (at, column) in relation.columns.iter().enumerate().take(DRAWN_ATTRIBUTES_MAX) {
        let is_unique = relation.keys.iter().skip(1).any(|key| key.as_slice() == [at]);
        let tag = if relation.key().contains(&at) {
            "K"
        } else if is_unique {
            "U"
        } else if column.optional {
            "?"
        } else {
            ""
        };
        lines.push((tag.to_owned(), column.name.clone(), type_text(model, column), at));
    }
    let facts = facts(relation);
    let widest = lines
        .iter()
        .map(|(_, name, ty, _)| 46.0 + MONO.width(name) + SOFT.width(ty))
        .chain(facts.iter().map(|fact| TINY.width(fact) + 20.0))
        .chain([HEAD.width(&relation.name.text) + 60.0])
        .fold(BOX_MIN, f64::max)
        .min(BOX_MAX);
    let more = relation.columns.len().saturating_sub(DRAWN_ATTRIBUTES_MAX);
    let bottom = facts.len() as f64 * 13.0 + if facts.is_empty() { 0.0 } else { 8.0 };
    let count = lines.len() + usize::from(more > 0);
    Card { width: widest, height: HEADER + count as f64 * LINE + bottom + 4.0, lines, facts, more }
}

fn type_text(model: &Model, column: &Column) -> String {
    match (&column.ty, column.refers) {
        (_, Some(target)) => format!("→ {}", model.relation(target).name.text),
        (Type::List(element, _), None) => format!("[{}]", element.name()),
        (ty, None) => ty.name().to_owned(),
    }
}

/// Returns the declared numbers of a relation: counts and fan-outs.
fn facts(relation: &Relation) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(count) = relation.facts.get("count") {
        lines.push(format!("{} of them", amount(*count)));
    }
    for fanout in relation.fanouts.iter().take(4) {
        let names: Vec<&str> =
            fanout.from.iter().map(|column| relation.column_name(*column)).collect();
        let figures: Vec<String> = ["avg", "p99", "max"]
            .iter()
            .filter_map(|figure| Some(format!("{figure} {}", amount(*fanout.facts.get(*figure)?))))
            .collect();
        if !figures.is_empty() {
            lines.push(format!("for one {}: {}", names.join(", "), figures.join(" · ")));
        }
    }
    lines
}

/// Formats a number for people: 2M, 1.5k.
fn amount(value: f64) -> String {
    let (scaled, unit) = match value {
        value if value >= 1e9 => (value / 1e9, "G"),
        value if value >= 1e6 => (value / 1e6, "M"),
        value if value >= 1e3 => (value / 1e3, "k"),
        value => (value, ""),
    };
    let text = format!("{scaled:.1}");
    format!("{}{unit}", text.strip_suffix(".0").unwrap_or(&text))
}

fn draw_card(svg: &mut Svg, relation: &Relation, card: &Card, x: f64, y: f64) {
    svg.rect(x, y, card.width, card.height, 5.0, "card");
    let band = if relation.is_link { "link" } else { "band" };
    svg.rect(x + 0.5, y + 0.5, card.width - 1.0, HEADER - 1.0, 4.5, band);
    svg.cut(x + 10.0, y + 17.5, HEAD, &relation.name.text, card.width - 60.0);
    if relation.is_link {
        svg.styled(x + card.width - 10.0, y + 17.0, TINY, "", Anchor::End, "link");
    }
    let mut line = y + HEADER;
    for (tag, name, ty, _) in &card.lines {
        if tag == "K" {
            svg.rect(x + 1.0, line, card.width - 2.0, LINE, 0.0, "keyed");
        }
        svg.text(x + 10.0, line + 13.0, TINY, tag);
        let room = card.width - 46.0 - SOFT.width(ty).min(110.0);
        svg.cut(x + 26.0, line + 13.0, MONO, name, room);
        let shown = SOFT.fit(ty, 110.0);
        svg.styled(x + card.width - 10.0, line + 13.0, SOFT, "", Anchor::End, &shown);
        line += LINE;
    }
    if card.more > 0 {
        svg.text(x + 26.0, line + 13.0, SOFT, &format!("{} more", card.more));
        line += LINE;
    }
    if !card.facts.is_empty() {
        svg.line((x, line + 2.0), (x + card.width, line + 2.0), "rule");
        line += 4.0;
    }
    for fact in &card.facts {
        svg.cut(x + 10.0, line + 10.0, TINY, fact, card.width - 20.0);
        line += 13.0;
    }
}
