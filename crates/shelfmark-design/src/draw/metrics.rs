//! Estimates the width of texts without a font at hand.
//!
//! What it is not: no shaping. Widths are those of common sans-serif and monospaced faces, a
//! little on the wide side, so that a label that fits here fits on the reader's screen.
//!
//! Invariant: widths are finite and never negative; [`fit`] returns a text that fits.

/// The faces that pictures use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Face {
    Sans,
    Bold,
    Mono,
}

/// Advance of monospaced faces in ems.
///
/// Source: DejaVu Sans Mono and Menlo, 0.602; others are narrower.
const MONO_EMS: f64 = 0.602;

/// Returns the width in pixels of a text at a size in pixels.
pub(super) fn width(text: &str, face: Face, size: f64) -> f64 {
    text.chars().map(|c| ems(c, face)).sum::<f64>() * size
}

fn ems(c: char, face: Face) -> f64 {
    if is_wide(c) {
        return 1.05;
    }
    if face == Face::Mono {
        return MONO_EMS;
    }
    let base = match c {
        'i' | 'j' | 'l' | '|' | '\'' | '.' | ',' | ':' | ';' | '!' => 0.32,
        ' ' | 'f' | 't' | 'r' | 'I' | '(' | ')' | '[' | ']' | '/' | '-' | '"' => 0.40,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.94,
        'a'..='z' => 0.61,
        '0'..='9' | '_' | '$' => 0.636,
        'A'..='Z' | '&' => 0.70,
        '<' | '>' | '=' | '+' | '~' | '#' | '→' | '…' => 0.84,
        _ => 0.68,
    };
    if face == Face::Bold { base * 1.09 } else { base }
}

/// Returns true for East Asian wide characters and pictographs, roughly.
fn is_wide(c: char) -> bool {
    matches!(u32::from(c),
        0x1100..=0x115F | 0x2E80..=0xA4CF | 0xAC00..=0xD7A3 | 0xF900..=0xFAFF
        | 0xFE30..=0xFE6F | 0xFF00..=0xFF60 | 0xFFE0..=0xFFE6 | 0x1F300..=0x1FAFF | 0x20000..=0x3FFFD)
}

/// Returns the text, or as much of its beginning as fits with an ellipsis behind it.
pub(super) fn fit(text: &str, face: Face, size: f64, width_max: f64) -> String {
    if width(text, face, size) <= width_max {
        return text.to_owned();
    }
    let mut room = width_max - ems('…', face) * size;
    let mut out = String::new();
    for c in text.chars() {
        room -= ems(c, face) * size;
        if room < 0.0 {
            break;
        }
        out.push(c);
    }
    out.truncate(out.trim_end().len());
    out.push('…');
    out
}
