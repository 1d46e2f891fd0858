//! Draws the byte-range view: sample rows of each table in key order, and each read's interval on
//! them.
//!
//! A bar is an interval. Its colour says what each row in it is to the pattern: wanted, read and
//! dropped, or of another type; a ring marks a row that is wanted and not read.
//!
//! Invariant: every read of the model is named once for each schema: beside its interval, or
//! below as one that has none.

use super::boxes::{Sources, colour, key_texts, row_types, sources, wrap};
use super::reach::{Mark, Reach, first, follow, table_of};
use super::svg::{Anchor, BODY, CODE, HEAD, MARGIN, MONO, Path, SOFT, Svg, TINY};
use super::{Scene, boxes};
use shelfmark_design_language::certificate::{Range, Status};
use shelfmark_design_language::limits::{DRAWN_PATTERNS_MAX, DRAWN_ROWS_MAX, DRAWN_TABLES_MAX};
use shelfmark_design_language::model::schema::{ReadStep, Schema, Step, TableId};
use shelfmark_design_language::syntax::tree::Verb;
use shelfmark_design_prove::Proof;
use shelfmark_design_prove::eval::rows::{KeyValue, Row, Rows};

const ROW: f64 = 21.0;
const LANE: f64 = 17.0;
const BAR: f64 = 9.0;
const LABEL_MAX: f64 = 470.0;

/// One read's intervals on one table.
struct Interval<'a> {
    proof: &'a Proof,
    reaches: Vec<Reach>,
    descending: bool,
    lane: usize,
    /// The label's lines: call, range, reason.
    call: String,
    range: String,
    reason: Vec<String>,
}

impl Interval<'_> {
    fn low(&self) -> usize {
        self.reaches.iter().map(|reach| reach.low.min(reach.high)).min().unwrap_or(0)
    }

    fn high(&self) -> usize {
        let far = |reach: &Reach| reach.low.max(reach.high).max(reach.low + 1);
        self.reaches.iter().map(far).max().unwrap_or(0)
    }

    fn height(&self) -> f64 {
        36.0 + self.reason.len() as f64 * 14.0
    }
}

pub(super) fn draw(scene: &Scene<'_>, number: usize, schema: &Schema) -> Svg {
    let rows = scene.rows(schema);
    let mut svg = Svg::default();
    legend(&mut svg);
    let mut y = 30.0;
    for id in 0..schema.tables.len().min(DRAWN_TABLES_MAX) {
        let intervals = intervals(scene, number, schema, &rows, id);
        let block = table(scene, schema, &rows, id, intervals);
        svg.place(0.0, y, &block);
        y = svg.size().1 + 26.0;
    }
    if schema.tables.len() > DRAWN_TABLES_MAX {
        let more = schema.tables.len() - DRAWN_TABLES_MAX;
        svg.text(MARGIN, y, SOFT, &super::left_out(more, "table"));
        y += 20.0;
    }
    without(scene, (number, schema, &rows), &mut svg, y);
    svg
}

/// Draws the legend of the dots.
fn legend(svg: &mut Svg) {
    let mut x = MARGIN;
    for (class, text) in
        [("wanted", "wanted"), ("dropped", "read and dropped"), ("foreign", "row of another type")]
    {
        svg.rect(x, 4.0, BAR, 13.0, 2.5, class);
        x = svg.text(x + BAR + 6.0, 14.5, SOFT, text) + 18.0;
    }
    svg.circle(x + 4.0, 10.5, 4.0, "missed");
    x = svg.text(x + 14.0, 14.5, SOFT, "wanted and not read") + 18.0;
    x = svg.styled(x, 14.0, TINY, "bad", Anchor::Start, "×2") + 6.0;
    svg.text(x, 14.5, SOFT, "two sources, one row");
}

/// Sample rows of a table in key order.
type Line<'a> = Vec<(&'a Vec<KeyValue>, &'a Row)>;

fn line_of<'a>(schema: &Schema, rows: &'a Rows, table: TableId) -> Line<'a> {
    let mut line = rows.in_order(schema, table);
    line.truncate(DRAWN_ROWS_MAX);
    line
}

fn intervals<'a>(
    scene: &'a Scene<'_>,
    number: usize,
    schema: &Schema,
    rows: &Rows,
    table: TableId,
) -> Vec<Interval<'a>> {
    let line = line_of(schema, rows, table);
    let shared = sources(scene, schema, table);
    let mut found = Vec::new();
    for proof in scene.proofs_of(number).filter(|proof| !proof.certificate.write) {
        if found.len() >= DRAWN_PATTERNS_MAX {
            break;
        }
        let Some(serve) = &proof.serve else { continue };
        let ranges = &proof.certificate.ranges;
        let steps = serve.steps.iter().filter_map(Step::read);
        let beside = requests_of(proof).count();
        for ((at, step), range) in steps.enumerate().zip(ranges) {
            if step.table != table {
                continue;
            }
            let reaches = if at < beside {
                of_request(scene, schema, rows, (proof, step))
                    .map_or(Vec::new(), |(found, _)| found)
            } else {
                let from = delivered(scene, schema, rows, proof);
                follow(schema, step, &line, &from, scene.inputs_of(proof))
            };
            if reaches.is_empty() {
                continue;
            }
            let within = reaches.iter().filter_map(|reach| line.get(reach.low..reach.high));
            let doubled = within.flatten().any(|(key, _)| shared.get(*key) > Some(&1));
            let hidden = at < beside && !doubled && hides(proof, &reaches);
            let point = step.verb == Verb::Get;
            found.push(interval(scene, proof, reaches, (range, point, hidden), at));
        }
    }
    found
}

fn interval<'a>(
    scene: &Scene<'_>,
    proof: &'a Proof,
    reaches: Vec<Reach>,
    (range, point, hidden): (&Range, bool, bool),
    at: usize,
) -> Interval<'a> {
    let call = call(scene, proof);
    let reason = if at == 0 && proof.certificate.status != Status::Certified {
        let mut reason = proof.certificate.reason.clone();
        if hidden {
            reason.push_str(" (not so on these rows)");
        }
        wrap(&reason, SOFT, LABEL_MAX - 14.0, 3)
    } else {
        Vec::new()
    };
    Interval {
        proof,
        reaches,
        descending: range.descending,
        lane: 0,
        call: if at == 0 { call } else { format!("{call}, then") },
        range: range_text(range, point),
        reason,
    }
}

/// Returns true if a refused read touches just what it wants here: green beside a refusal is to be
/// explained. An order shows elsewhere.
fn hides(proof: &Proof, reaches: &[Reach]) -> bool {
    let of_rows = matches!(proof.certificate.obligation.as_deref(), Some("O2" | "O3" | "O4"));
    let shows = |reach: &Reach| {
        reach.low >= reach.high
            || !reach.missed.is_empty()
            || reach.marks.iter().any(|mark| *mark != Mark::Wanted)
    };
    proof.certificate.status == Status::Refused && of_rows && !reaches.iter().any(shows)
}

pub(super) fn call(scene: &Scene<'_>, proof: &Proof) -> String {
    let name = &proof.certificate.pattern;
    let params: Vec<&str> = if proof.certificate.write {
        let write = scene.model.writes.get(proof.pattern);
        write.into_iter().flat_map(|write| &write.params).map(|param| param.name.as_str()).collect()
    } else {
        let read = scene.model.reads.get(proof.pattern);
        read.into_iter().flat_map(|read| &read.params).map(|param| param.name.as_str()).collect()
    };
    // What the model supplies by itself, such as `now()`, is no input.
    let params: Vec<&str> = params.into_iter().filter(|name| !name.contains('(')).collect();
    format!("{name}({})", params.join(", "))
}

/// Returns the claimed range in one line: partition, then the ends of the sort key.
fn range_text(range: &Range, point: bool) -> String {
    let mut out = range.partition.join(" · ");
    if out.is_empty() {
        "every row".clone_into(&mut out);
    }
    let (from, to) = (range.from.join(" · "), range.to.join(" · "));
    if range.prefix {
        if !from.is_empty() {
            out.push_str(&format!(" ; {from}"));
            if !point {
                out.push('…');
            }
        }
    } else {
        let from = if from.is_empty() { "start" } else { &from };
        // `through` goes to the end of all that begins so.
        let to = match to.strip_prefix("through ") {
            Some(to) => format!("{to}…"),
            None => to.strip_prefix("to ").unwrap_or(&to).to_owned(),
        };
        let to = if to.is_empty() { "end" } else { &to };
        out.push_str(&format!(" ; {from} → {to}"));
    }
    if range.descending {
        out.push_str(", backwards");
    }
    if let Some(limit) = &range.limit {
        out.push_str(&format!(", first {limit}"));
    }
    out
}

/// Returns the requests of a plan that follow no other: the first, and those beside it.
fn requests_of(proof: &Proof) -> impl Iterator<Item = &ReadStep> {
    let steps = proof.serve.iter().flat_map(|serve| &serve.steps).enumerate();
    let own = steps.filter(|(at, step)| *at == 0 || matches!(step, Step::Also(_)));
    own.filter_map(|(_, step)| step.read())
}

/// Returns the intervals of one request that follows no other, and the rows they are on.
fn of_request<'a>(
    scene: &Scene<'_>,
    schema: &Schema,
    rows: &'a Rows,
    (proof, step): (&Proof, &ReadStep),
) -> Option<(Vec<Reach>, Line<'a>)> {
    let read = scene.model.reads.get(proof.pattern)?;
    let line = line_of(schema, rows, step.table);
    let asked = (read, &proof.analysis.families);
    let inputs = scene.inputs_of(proof);
    let found = first(scene.model, schema, &scene.state, asked, step, &line, inputs);
    Some((found, line))
}

/// Returns the rows that a plan's requests deliver before any that follow them.
fn delivered<'a>(
    scene: &Scene<'_>,
    schema: &Schema,
    rows: &'a Rows,
    proof: &Proof,
) -> Vec<&'a Row> {
    let mut delivered = Vec::new();
    for step in requests_of(proof) {
        let Some((reaches, line)) = of_request(scene, schema, rows, (proof, step)) else {
            continue;
        };
        let within = reaches.iter().filter_map(|reach| line.get(reach.low..reach.high));
        delivered.extend(within.flatten().map(|(_, row)| *row));
    }
    delivered
}

/// Assigns each interval the first lane where it overlaps no other.
fn lanes(intervals: &mut [Interval<'_>]) -> usize {
    let mut ends: Vec<usize> = Vec::new();
    for one in intervals.iter_mut() {
        let (low, high) = (one.low(), one.high());
        let lane = ends.iter().position(|end| *end <= low).unwrap_or(ends.len());
        match ends.get_mut(lane) {
            Some(end) => *end = high + 1,
            None => ends.push(high + 1),
        }
        one.lane = lane;
    }
    ends.len()
}

fn table(
    scene: &Scene<'_>,
    schema: &Schema,
    rows: &Rows,
    id: TableId,
    mut intervals: Vec<Interval<'_>>,
) -> Svg {
    let mut svg = Svg::default();
    let Some(found) = schema.tables.get(id) else { return svg };
    let line = line_of(schema, rows, id);
    let kind = if found.is_index { "index" } else { "table" };
    let end = svg.cut(MARGIN, 13.0, HEAD, &found.name.text, 260.0);
    let end = svg.text(end + 8.0, 13.0, TINY, kind);
    row_types(&mut svg, scene, end + 18.0, 13.0, schema, id);
    let top = 28.0;
    let texts: Vec<(String, String)> =
        line.iter().map(|(key, row)| key_texts(scene, schema, found, row.family, key)).collect();
    let widest = |of: fn(&(String, String)) -> &String, max: f64| {
        texts.iter().map(|text| MONO.width(of(text))).fold(40.0, f64::max).min(max)
    };
    let (head, tail) = (widest(|text| &text.0, 230.0), widest(|text| &text.1, 440.0));
    let sort_x = MARGIN + head + 16.0;
    let axis_x = sort_x + tail + 18.0;
    intervals.sort_by_key(|one| (one.low(), one.high()));
    let count = lanes(&mut intervals);
    let lane_x = axis_x + 26.0;
    let label_x = lane_x + count as f64 * LANE + 22.0;
    let bottom = top + line.len().max(1) as f64 * ROW;
    if line.is_empty() {
        svg.text(MARGIN, top + 14.0, SOFT, "no sample rows");
    }
    let places = places(&intervals, top);
    let right = label_x + if intervals.is_empty() { 0.0 } else { LABEL_MAX };
    let sources = sources(scene, schema, id);
    keys(&mut svg, schema, (&line, &sources), &texts, (sort_x, axis_x, top, head, tail));
    for (one, place) in intervals.iter().zip(&places) {
        let x = lane_x + one.lane as f64 * LANE;
        let middle = top + f64::midpoint(one.low() as f64, one.high() as f64) * ROW;
        let from = (x + BAR + 2.0, middle);
        let lead = Path::from(from.0, from.1).bend(from, (label_x - 6.0, place + 9.0));
        svg.path(&lead, "lead");
    }
    for (one, place) in intervals.iter().zip(&places) {
        let x = lane_x + one.lane as f64 * LANE;
        for reach in &one.reaches {
            bar(&mut svg, one, reach, x, top);
        }
        label(&mut svg, one, label_x, *place);
    }
    svg.reach(right, bottom);
    svg
}

/// Draws the rows: the partition key once for a partition, the sort key, a dot on the key line.
fn keys(
    svg: &mut Svg,
    schema: &Schema,
    (line, sources): (&[(&Vec<KeyValue>, &Row)], &Sources),
    texts: &[(String, String)],
    (sort_x, axis_x, top, head, tail): (f64, f64, f64, f64, f64),
) {
    let bottom = top + line.len() as f64 * ROW;
    if !line.is_empty() {
        svg.line((axis_x, top - 4.0), (axis_x, bottom + 4.0), "axis");
    }
    let mut before: Option<&str> = None;
    for (at, ((key, row), (partition, sort))) in line.iter().zip(texts).enumerate() {
        let y = top + at as f64 * ROW;
        let base = y + 14.5;
        if before != Some(partition.as_str()) {
            svg.line((MARGIN, y), (axis_x + 6.0, y), "rule");
            svg.cut(MARGIN, base, MONO, partition, head);
        }
        before = Some(partition.as_str());
        svg.cut(sort_x, base, MONO, sort, tail);
        svg.circle(axis_x, y + ROW / 2.0, 4.5, colour(schema, row.family));
        if let Some(count) = sources.get(*key).filter(|count| **count > 1) {
            svg.open(&format!(
                "{count} sources have this key: one of them is the row, the others are lost"
            ));
            svg.styled(axis_x + 7.0, base - 0.5, TINY, "bad", Anchor::Start, &format!("×{count}"));
            svg.close();
        }
    }
}

/// Returns where each label begins: beside its bar, pushed down by the one above.
fn places(intervals: &[Interval<'_>], top: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..intervals.len()).collect();
    let middle =
        |one: &Interval<'_>| top + f64::midpoint(one.low() as f64, one.high() as f64) * ROW;
    order.sort_by(|a, b| {
        let of = |at: &usize| intervals.get(*at).map_or(0.0, middle);
        of(a).total_cmp(&of(b))
    });
    let mut places = vec![0.0; intervals.len()];
    let mut free = top - 6.0;
    for at in order {
        let Some(one) = intervals.get(at) else { continue };
        let y = (middle(one) - 18.0).max(free);
        if let Some(place) = places.get_mut(at) {
            *place = y;
        }
        free = y + one.height() + 6.0;
    }
    places
}

fn bar(svg: &mut Svg, one: &Interval<'_>, reach: &Reach, x: f64, top: f64) {
    let y_of = |row: usize| top + row as f64 * ROW;
    let center = x + BAR / 2.0;
    if reach.low >= reach.high {
        let (low, high) = (y_of(reach.high), y_of(reach.low));
        svg.open(if reach.low > reach.high {
            "the lower end lies above the upper end: nothing is read"
        } else {
            "no row lies in this range"
        });
        svg.line((x - 1.0, low), (x + BAR + 1.0, low), "refused-line thick");
        svg.line((x - 1.0, high), (x + BAR + 1.0, high), "refused-line thick");
        if reach.low > reach.high {
            svg.line((center, low), (center, high), "refused-line dash");
        }
        svg.close();
    } else if reach.follows {
        for row in reach.low..reach.high {
            svg.circle(center, y_of(row) + ROW / 2.0, 4.0, "multi");
        }
    } else {
        let mut at = 0;
        while let Some(mark) = reach.marks.get(at) {
            let same = reach.marks.iter().skip(at).take_while(|other| *other == mark).count();
            let class = match mark {
                Mark::Wanted => "wanted",
                Mark::Dropped => "dropped",
                Mark::Foreign => "foreign",
            };
            let (from, to) = (y_of(reach.low + at) + 2.0, y_of(reach.low + at + same) - 2.0);
            svg.rect(x, from, BAR, to - from, 2.5, class);
            at += same;
        }
        // Which way it is read.
        if one.reaches.len() == 1 && reach.high > reach.low + 1 {
            let (y, way) = if one.descending {
                (y_of(reach.high) - 6.0, -1.0)
            } else {
                (y_of(reach.low) + 6.0, 1.0)
            };
            let tip = [(center - 2.8, y), (center + 2.8, y), (center, y + way * 4.5)];
            svg.polygon(&tip, "on");
        }
    }
    for row in &reach.missed {
        svg.circle(center, y_of(*row) + ROW / 2.0, 3.8, "missed");
    }
}

fn label(svg: &mut Svg, one: &Interval<'_>, x: f64, y: f64) {
    let certificate = &one.proof.certificate;
    let word = certificate.status.word();
    let failed = certificate.obligation.as_deref().unwrap_or("");
    svg.circle(x + 4.5, y + 9.0, 4.5, word);
    let end = svg.cut(x + 14.0, y + 13.0, BODY, &one.call, LABEL_MAX - 100.0);
    svg.styled(end + 8.0, y + 13.0, TINY, "", Anchor::Start, &format!("{word} {failed}"));
    svg.cut(x + 14.0, y + 28.0, CODE, &one.range, LABEL_MAX - 14.0);
    for (at, text) in one.reason.iter().enumerate() {
        svg.text(x + 14.0, y + 42.0 + at as f64 * 14.0, SOFT, text);
    }
}

/// Draws the reads that have no interval: without a plan, or with a call that cannot be formed.
fn without(
    scene: &Scene<'_>,
    (number, schema, rows): (usize, &Schema, &Rows),
    svg: &mut Svg,
    y: f64,
) {
    let has_range = |proof: &Proof| {
        let table = proof.serve.as_ref().and_then(table_of);
        table.is_some_and(|table| table < DRAWN_TABLES_MAX)
            && requests_of(proof).any(|step| {
                let found = of_request(scene, schema, rows, (proof, step));
                found.is_some_and(|(found, _)| !found.is_empty())
            })
    };
    let rest: Vec<&Proof> = scene
        .proofs_of(number)
        .filter(|proof| !proof.certificate.write && !has_range(proof))
        .take(DRAWN_PATTERNS_MAX)
        .collect();
    if rest.is_empty() {
        return;
    }
    let mut y = y + 6.0;
    svg.text(MARGIN, y, HEAD, "No range at all");
    for proof in rest {
        y += 20.0;
        let certificate = &proof.certificate;
        let word = certificate.status.word();
        let end = boxes::status(svg, MARGIN, y, word, &call(scene, proof), 320.0);
        let mut x = end + 10.0;
        for line in wrap(&certificate.reason, SOFT, 620.0, 2) {
            svg.text(x, y, SOFT, &line);
            x = end + 10.0;
            y += 14.0;
        }
        y -= 14.0;
    }
}
