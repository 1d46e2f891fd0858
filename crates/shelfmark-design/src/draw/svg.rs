//! Writes SVG: escaping, numbers, a few shapes, and the positions of labels for tests.
//!
//! What it is not: it knows no models. Whatever text it is given is data: it becomes character
//! data or an attribute's value, never markup.
//!
//! Invariant: the output is well-formed XML, holds no script, no link and no number that is not
//! finite, whatever texts and numbers it is given.

use std::fmt::Write as _;

use super::metrics::{Face, fit, width};
use super::style;

/// A kind of label: a class of the style sheet, its face and its size in pixels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Font {
    pub(super) class: &'static str,
    pub(super) face: Face,
    pub(super) size: f64,
}

pub(super) const TITLE: Font = Font { class: "title", face: Face::Bold, size: 16.0 };
pub(super) const HEAD: Font = Font { class: "head", face: Face::Bold, size: 13.0 };
pub(super) const BODY: Font = Font { class: "body", face: Face::Sans, size: 12.0 };
pub(super) const SOFT: Font = Font { class: "soft", face: Face::Sans, size: 11.0 };
pub(super) const TINY: Font = Font { class: "tiny", face: Face::Sans, size: 9.5 };
pub(super) const MONO: Font = Font { class: "mono", face: Face::Mono, size: 11.5 };
pub(super) const CODE: Font = Font { class: "code", face: Face::Mono, size: 10.5 };

impl Font {
    pub(super) fn width(self, text: &str) -> f64 {
        width(text, self.face, self.size)
    }

    pub(super) fn fit(self, text: &str, width_max: f64) -> String {
        fit(text, self.face, self.size, width_max)
    }
}

/// The position of a label, for tests.
#[derive(Debug, Clone)]
pub(super) struct Label {
    pub(super) text: String,
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

/// The position of a text relative to its `x`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    End,
}

/// A picture being drawn. Its size grows with what is drawn.
#[derive(Debug, Clone, Default)]
pub(super) struct Svg {
    body: String,
    pub(super) labels: Vec<Label>,
    right: f64,
    bottom: f64,
}

impl Svg {
    pub(super) fn rect(&mut self, x: f64, y: f64, w: f64, h: f64, radius: f64, class: &str) {
        self.reach(x + w, y + h);
        let (x, y, w, h) = (number(x), number(y), number(w.max(0.0)), number(h.max(0.0)));
        let radius = number(radius);
        let class = escape(class);
        let _ = writeln!(
            self.body,
            r#"<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="{radius}" class="{class}"/>"#
        );
    }

    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), class: &str) {
        self.reach(from.0.max(to.0), from.1.max(to.1));
        let (a, b, c, d) = (number(from.0), number(from.1), number(to.0), number(to.1));
        let class = escape(class);
        let _ =
            writeln!(self.body, r#"<line x1="{a}" y1="{b}" x2="{c}" y2="{d}" class="{class}"/>"#);
    }

    pub(super) fn circle(&mut self, x: f64, y: f64, radius: f64, class: &str) {
        self.reach(x + radius, y + radius);
        let (x, y, radius, class) = (number(x), number(y), number(radius), escape(class));
        let _ = writeln!(self.body, r#"<circle cx="{x}" cy="{y}" r="{radius}" class="{class}"/>"#);
    }

    /// Draws a closed shape through points.
    pub(super) fn polygon(&mut self, points: &[(f64, f64)], class: &str) {
        let mut list = String::new();
        for (x, y) in points {
            self.reach(*x, *y);
            let _ = write!(list, "{},{} ", number(*x), number(*y));
        }
        let class = escape(class);
        let _ = writeln!(self.body, r#"<polygon points="{}" class="{class}"/>"#, list.trim_end());
    }

    /// Draws a line through points, smooth where it is made of curves.
    pub(super) fn path(&mut self, path: &Path, class: &str) {
        self.reach(path.right, path.bottom);
        let class = escape(class);
        let _ = writeln!(self.body, r#"<path d="{}" class="{class}"/>"#, path.data.trim_end());
    }

    /// Writes a label with its base line at `y`, and returns where it ends.
    pub(super) fn text(&mut self, x: f64, y: f64, font: Font, text: &str) -> f64 {
        self.styled(x, y, font, "", Anchor::Start, text)
    }

    /// Writes a label with a class beside its font's, anchored.
    pub(super) fn styled(
        &mut self,
        x: f64,
        y: f64,
        font: Font,
        class: &str,
        anchor: Anchor,
        text: &str,
    ) -> f64 {
        let wide = font.width(text);
        let (left, word) = match anchor {
            Anchor::Start => (x, ""),
            Anchor::End => (x - wide, r#" text-anchor="end""#),
        };
        self.reach(left + wide, y + font.size * 0.3);
        self.labels.push(Label {
            text: text.to_owned(),
            left,
            top: y - font.size * 0.8,
            right: left + wide,
            bottom: y + font.size * 0.22,
        });
        let (x, y) = (number(x), number(y));
        let classes = if class.is_empty() {
            font.class.to_owned()
        } else {
            format!("{} {}", font.class, escape(class))
        };
        let text = escape(text);
        let _ =
            writeln!(self.body, r#"<text x="{x}" y="{y}"{word} class="{classes}">{text}</text>"#);
        left + wide
    }

    /// Writes a label that is cut to a width; the whole is shown on hovering.
    pub(super) fn cut(&mut self, x: f64, y: f64, font: Font, text: &str, width_max: f64) -> f64 {
        let shown = font.fit(text, width_max);
        if shown == text {
            return self.text(x, y, font, text);
        }
        self.open(text);
        let end = self.text(x, y, font, &shown);
        self.close();
        end
    }

    /// Begins a group with a tooltip.
    pub(super) fn open(&mut self, title: &str) {
        let title = escape(&fit_tooltip(title));
        let _ = writeln!(self.body, "<g><title>{title}</title>");
    }

    pub(super) fn close(&mut self) {
        self.body.push_str("</g>\n");
    }

    /// Draws another picture at a place.
    pub(super) fn place(&mut self, x: f64, y: f64, other: &Self) {
        self.reach(x + other.right, y + other.bottom);
        let _ = writeln!(self.body, r#"<g transform="translate({} {})">"#, number(x), number(y));
        self.body.push_str(&other.body);
        self.body.push_str("</g>\n");
        self.labels.extend(other.labels.iter().map(|label| Label {
            text: label.text.clone(),
            left: label.left + x,
            right: label.right + x,
            top: label.top + y,
            bottom: label.bottom + y,
        }));
    }

    pub(super) fn size(&self) -> (f64, f64) {
        (self.right, self.bottom)
    }

    /// Makes sure that the picture is at least so large.
    pub(super) fn reach(&mut self, x: f64, y: f64) {
        if x.is_finite() {
            self.right = self.right.max(x);
        }
        if y.is_finite() {
            self.bottom = self.bottom.max(y);
        }
    }

    /// Returns the whole document; `alone` with its own style sheet, otherwise for a page that has one.
    pub(super) fn finish(&self, title: &str, alone: bool) -> String {
        let (w, h) = (number(self.right + MARGIN), number(self.bottom + MARGIN));
        let title = escape(&fit_tooltip(title));
        let (space, sheet) = if alone {
            (
                r#" xmlns="http://www.w3.org/2000/svg""#,
                format!("<style>{}</style>\n", style::sheet()),
            )
        } else {
            ("", String::new())
        };
        format!(
            "<svg{space} class=\"shelf\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" height=\"{h}\" role=\"img\">\n\
             <title>{title}</title>\n{sheet}<rect width=\"100%\" height=\"100%\" class=\"paper\"/>\n{}</svg>\n",
            self.body
        )
    }
}

/// Margin around everything, in pixels.
pub(super) const MARGIN: f64 = 20.0;

/// The course of a line.
#[derive(Debug, Clone, Default)]
pub(super) struct Path {
    data: String,
    right: f64,
    bottom: f64,
}

impl Path {
    pub(super) fn from(x: f64, y: f64) -> Self {
        Self { data: format!("M{} {} ", number(x), number(y)), right: x, bottom: y }
    }

    pub(super) fn to(mut self, x: f64, y: f64) -> Self {
        let _ = write!(self.data, "L{} {} ", number(x), number(y));
        self.far(x, y);
        self
    }

    /// Returns a curve that leaves and arrives horizontally.
    pub(super) fn bend(mut self, from: (f64, f64), to: (f64, f64)) -> Self {
        let middle = f64::midpoint(from.0, to.0);
        let _ = write!(
            self.data,
            "C{m} {} {m} {} {} {} ",
            number(from.1),
            number(to.1),
            number(to.0),
            number(to.1),
            m = number(middle)
        );
        self.far(to.0.max(from.0), to.1.max(from.1));
        self
    }

    fn far(&mut self, x: f64, y: f64) {
        self.right = self.right.max(x);
        self.bottom = self.bottom.max(y);
    }
}

/// Longest tooltip and title in characters; ours: nobody reads more in one.
const TOOLTIP_CHARS_MAX: usize = 400;

fn fit_tooltip(text: &str) -> String {
    if text.chars().count() <= TOOLTIP_CHARS_MAX {
        return text.to_owned();
    }
    text.chars().take(TOOLTIP_CHARS_MAX).chain(['…']).collect()
}

/// Returns a coordinate with at most one digit behind the point; what is not finite is 0.
pub(super) fn number(value: f64) -> String {
    let value = if value.is_finite() { (value * 10.0).round() / 10.0 } else { 0.0 };
    // Minus zero is zero.
    format!("{}", value + 0.0)
}

/// Escapes text as character data or the value of a quoted attribute.
///
/// Characters that XML 1.0 forbids, and those that turn the direction of what follows, become
/// U+FFFD: a name must not make its surroundings look like something else.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' | '\r' => out.push(c),
            c if c.is_control() => out.push('\u{fffd}'),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                out.push('\u{fffd}');
            }
            c => out.push(c),
        }
    }
    out
}
