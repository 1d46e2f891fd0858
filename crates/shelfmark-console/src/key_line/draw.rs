//! Draws a key line as SVG inside a page, and its stretches as a table for who does not see it.
//!
//! Invariant: every text is character data, and every number on the picture is finite.

use maud::{Markup, html};
use shelfmark_admin::key_line::{Line, Stretch};
use shelfmark_store::KeyRange;

use super::keys::LineKeys;
use crate::figures::{bytes, count, float, length};

const WIDTH: f64 = 1_000.0;
const BAR_TOP: f64 = 14.0;
const BAR_HEIGHT: f64 = 30.0;
const HEIGHT: f64 = 58.0;
/// The narrowest stretch.
const STRETCH_MIN: f64 = 4.0;
/// The narrowest touched range.
const TOUCHED_MIN: f64 = 5.0;
/// Classes of colours, from cold to hot.
const HEATS: [&str; 5] = ["heat-0", "heat-1", "heat-2", "heat-3", "heat-4"];

/// The ranges that a request touched.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Touched<'a> {
    /// Ranges of stored keys, in any order.
    pub(crate) ranges: &'a [KeyRange],
}

/// A key line to be drawn.
pub(crate) struct Picture<'a> {
    /// The words for who hears it.
    pub(crate) label: String,
    /// The stretches.
    pub(crate) line: &'a Line,
    /// Takes their keys apart.
    pub(crate) keys: &'a LineKeys,
    /// The address that shows a stretch closer; it is given `from` and `to`. `None` draws no links.
    pub(crate) zoom: Option<&'a str>,
    /// The ranges that are marked.
    pub(crate) touched: Touched<'a>,
}

/// A stretch with its place in the picture.
struct Placed<'a> {
    stretch: &'a Stretch,
    left: f64,
    width: f64,
    heat: &'static str,
}

impl Picture<'_> {
    /// Draws the line.
    pub(crate) fn svg(&self) -> Markup {
        let placed = self.placed();
        html! {
            svg class="key-line" viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="group"
                aria-label=(self.label) preserveAspectRatio="none" {
                rect class="ground" x="0" y=(BAR_TOP) width=(WIDTH) height=(BAR_HEIGHT) {}
                @for own in &placed { (self.stretch(own)) }
                @for (left, width) in self.marks(&placed) {
                    rect class="touched" x=(number(left)) y=(BAR_TOP - 8.0) width=(number(width))
                        height=(BAR_HEIGHT + 16.0) rx="3" {}
                }
            }
        }
    }

    fn stretch(&self, own: &Placed<'_>) -> Markup {
        let text = self.sentence(own.stretch);
        let bar = html! {
            rect class=(own.heat) x=(number(own.left)) y=(BAR_TOP)
                width=(number((own.width - 1.0).max(1.0))) height=(BAR_HEIGHT) {
                title { (text) }
            }
        };
        match self.link(own.stretch) {
            Some(link) => html! { a href=(link) tabindex="-1" aria-label=(text) { (bar) } },
            None => bar,
        }
    }

    fn link(&self, stretch: &Stretch) -> Option<String> {
        let base = self.zoom?;
        let end = stretch.range.end.as_ref().map(hex::encode).unwrap_or_default();
        Some(format!("{base}?from={}&to={end}", hex::encode(&stretch.range.start)))
    }

    /// Lists the stretches.
    pub(crate) fn table(&self) -> Markup {
        html! {
            div class="scroll" tabindex="0" {
                table {
                    thead { tr {
                        th scope="col" { "from" }
                        th scope="col" class="number" { "partitions" }
                        th scope="col" class="number" { "rows" }
                        th scope="col" class="number" { "size" }
                    } }
                    tbody {
                        @for stretch in &self.line.stretches {
                            @let about = if stretch.is_exact { "" } else { "about " };
                            tr {
                                th scope="row" {
                                    @let text = self.keys.text(&stretch.first);
                                    @match self.link(stretch) {
                                        Some(link) => { a href=(link) { (text) } }
                                        None => { (text) }
                                    }
                                }
                                td class="number" { (about) (count(stretch.partitions)) }
                                td class="number" { (about) (count(stretch.rows)) }
                                td class="number" { (about) (bytes(stretch.bytes)) }
                            }
                        }
                    }
                }
            }
        }
    }

    fn sentence(&self, stretch: &Stretch) -> String {
        let about = if stretch.is_exact { "" } else { "about " };
        let place = if stretch.partitions > 1 {
            let first = self.keys.partition_text(&stretch.first);
            format!("{about}{} partitions from {first}", count(stretch.partitions))
        } else {
            self.keys.text(&stretch.first)
        };
        format!("{place}: {about}{} rows, {about}{}", count(stretch.rows), bytes(stretch.bytes))
    }

    /// Gives each stretch its place: as wide as it has bytes, but none too narrow to be seen.
    fn placed(&self) -> Vec<Placed<'_>> {
        let stretches = &self.line.stretches;
        let all = float(self.line.bytes()).max(1.0);
        let room = WIDTH - STRETCH_MIN * float(length(stretches.len()));
        let usual = usual_density(stretches);
        let mut left = 0.0;
        stretches
            .iter()
            .map(|stretch| {
                let width = STRETCH_MIN + room.max(0.0) * float(stretch.bytes) / all;
                let own = Placed { stretch, left, width, heat: heat(stretch, usual) };
                left += width;
                own
            })
            .collect()
    }

    /// Returns left edges and widths of the ranges touched, those side by side as one.
    fn marks(&self, placed: &[Placed<'_>]) -> Vec<(f64, f64)> {
        let mut marks: Vec<(f64, f64)> = self
            .touched
            .ranges
            .iter()
            .map(|range| {
                let left = self.place(placed, &range.start);
                let right = range.end.as_ref().map_or(WIDTH, |end| self.place(placed, end));
                let width = (right - left).max(TOUCHED_MIN);
                (left.min(WIDTH - width).max(0.0), width)
            })
            .collect();
        marks.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut joined: Vec<(f64, f64)> = Vec::new();
        for (left, width) in marks {
            match joined.last_mut() {
                Some((before, wide)) if left <= *before + *wide => {
                    *wide = wide.max(left + width - *before);
                }
                _ => joined.push((left, width)),
            }
        }
        joined
    }

    fn place(&self, placed: &[Placed<'_>], key: &[u8]) -> f64 {
        let holds = |own: &&Placed<'_>| own.stretch.range.contains(key);
        match placed.iter().find(holds) {
            Some(own) => own.left + own.width * self.line.place_in(own.stretch, key),
            None => {
                let before = |own: &&Placed<'_>| *key < *own.stretch.range.start;
                placed.iter().find(before).map_or(WIDTH, |own| own.left)
            }
        }
    }
}

/// Returns the median of bytes per partition.
fn usual_density(stretches: &[Stretch]) -> f64 {
    let mut all: Vec<f64> = stretches.iter().map(density).collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(1.0).max(1.0)
}

fn density(stretch: &Stretch) -> f64 {
    float(stretch.bytes) / float(stretch.partitions.max(1))
}

/// Returns a warmer colour for partitions that are larger than usual: one step for each factor of four.
fn heat(stretch: &Stretch, usual: f64) -> &'static str {
    let times = density(stretch) / usual;
    let steps = [2.0, 8.0, 32.0, 128.0];
    let step = steps.iter().filter(|limit| times >= **limit).count();
    HEATS.get(step).copied().unwrap_or("heat-4")
}

fn number(value: f64) -> String {
    format!("{:.1}", if value.is_finite() { value } else { 0.0 })
}
