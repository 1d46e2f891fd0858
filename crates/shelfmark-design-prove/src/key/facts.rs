//! Properties of a column: which parts can be told apart, and which orders survive.

use super::language::{Language, fits_width, same_width};
use shelfmark_design_language::codec::ESCAPED_MAX;
use shelfmark_design_language::model::schema::{Codec, Part};
use shelfmark_design_language::model::types::{ByteSet, Type};

/// The first bytes of the rest of a column, and whether the column can end there.
#[derive(Debug, Clone, Copy)]
pub struct First {
    /// The possible bytes.
    pub bytes: ByteSet,
    /// True if the text may end there.
    pub end: bool,
}

/// Returns the first bytes of the rest. Without an end mark the rest may be anything after it.
pub fn first_of(rest: &[Part]) -> First {
    let mut first = First { bytes: ByteSet::EMPTY, end: false };
    for part in rest {
        match part {
            Part::End => return First { end: true, ..first },
            // A column of its own ends the one before it.
            Part::Hole { codec: Codec::Native, .. } => return First { end: true, ..first },
            part => {
                let language = Language::of(part);
                first.bytes = first.bytes.or(language.first());
                if !language.has_empty() {
                    return first;
                }
            }
        }
    }
    First { end: true, ..first }
}

/// Returns true if no text of the hole begins another.
pub fn ends_itself(part: &Part) -> bool {
    match part {
        Part::Hole { codec: Codec::Native, .. } | Part::Literal(_) | Part::End => true,
        part => Language::of(part).continuing().is_empty(),
    }
}

/// Returns true if the end of the hole is unambiguous, given what follows.
pub fn is_delimited(part: &Part, rest: &[Part]) -> bool {
    if ends_itself(part) {
        return true;
    }
    Language::of(part).continuing().and(first_of(rest).bytes).is_empty()
}

/// Returns the bytes with which a text of one hole can continue behind a whole text of the other.
///
/// What a plan asks for may be of another type than what the rows hold, and each of the two may end
/// itself among its own: `ab` among texts of two letters, `abc` among those of three.
pub fn going_past(a: &Part, b: &Part) -> ByteSet {
    let native = |part: &Part| matches!(part, Part::Hole { codec: Codec::Native, .. });
    if native(a) || native(b) {
        return ByteSet::EMPTY;
    }
    Language::of(a).going_past(&Language::of(b))
}

/// Returns true if texts compare as values do at this hole, given what follows.
///
/// A text that goes on must sort above whatever ends the shorter one.
pub fn keeps_order(part: &Part, rest: &[Part]) -> bool {
    let Part::Hole { ty, codec, .. } = part else { return false };
    if !codec_keeps_order(ty, *codec) {
        return false;
    }
    if ends_itself(part) {
        return true;
    }
    let going_on = Language::of(part).continuing().min();
    let ending = first_of(rest).bytes.max();
    match (ending, going_on) {
        (Some(ending), Some(going_on)) => ending < going_on,
        _ => true,
    }
}

/// Returns true if the asked values compare with those in the rows as their texts do, given what
/// follows each.
pub fn compares(asked: &Part, behind: &[Part], found: &Part, next: &[Part]) -> bool {
    let (Part::Hole { ty: wide, codec, .. }, Part::Hole { ty, .. }) = (asked, found) else {
        return false;
    };
    let joined = match (wide, ty) {
        (Type::Int(Some((a, b))), Type::Int(Some((c, d)))) => {
            Type::Int(Some((*a.min(c), *b.max(d))))
        }
        (wide, _) => wide.clone(),
    };
    let past = going_past(asked, found).min();
    let below = |rest| match (first_of(rest).bytes.max(), past) {
        (Some(ending), Some(going_on)) => ending < going_on,
        _ => true,
    };
    keeps_order(found, next)
        && keeps_order(asked, behind)
        && codec_keeps_order(&joined, *codec)
        && below(next)
        && below(behind)
}

/// Returns true if the codec writes larger values as larger texts, a shorter text before the longer one
/// it begins.
pub fn codec_keeps_order(ty: &Type, codec: Codec) -> bool {
    match (codec, ty) {
        (Codec::Native, _) => true,
        (Codec::Pad(width), Type::Int(Some((low, high)))) => {
            fits_width(*low, *high, width) || same_width(*low, *high).is_some()
        }
        (Codec::Lexint, Type::Int(Some((low, _)))) => *low >= 0,
        (Codec::Iso, Type::Timestamp) => true,
        (Codec::Esc, Type::Text(_) | Type::Enum(_)) => true,
        (Codec::Plain, Type::Int(Some((low, high)))) => same_width(*low, *high).is_some(),
        (Codec::Plain, ty) => {
            !matches!(ty, Type::Int(_) | Type::Decimal(_) | Type::Timestamp | Type::List(..))
        }
        _ => false,
    }
}

/// Returns true if the codec can write every value of the type.
pub fn codec_is_total(ty: &Type, codec: Codec) -> bool {
    codec != Codec::Lexint || codec_keeps_order(ty, codec)
}

/// Returns true if the plan's hole writes each value of the row's hole in the same form.
///
/// What the plan asks for may be of a wider type: in the row's form that is no value's text either.
pub fn same_form(asked: &Part, row: &Part) -> bool {
    let (Part::Hole { ty: wide, codec: asked, .. }, Part::Hole { ty, codec, .. }) = (asked, row)
    else {
        return false;
    };
    let plainly = || writes_plainly(ty, *asked) && writes_plainly(ty, *codec);
    wide.comparable(ty) && (asked == codec || plainly())
}

/// Returns true if the codec writes each value of the type as it would stand without one.
fn writes_plainly(ty: &Type, codec: Codec) -> bool {
    match (codec, ty) {
        (Codec::Plain, _) => true,
        (Codec::Esc, Type::Text(domain)) => {
            domain.bytes().and(ByteSet::range(0, ESCAPED_MAX)).is_empty()
        }
        (Codec::Esc, Type::Enum(variants)) => {
            variants.iter().all(|text| text.bytes().all(|byte| byte > ESCAPED_MAX))
        }
        (Codec::Pad(width), Type::Int(Some((low, high)))) => {
            same_width(*low, *high).is_some_and(|digits| usize::from(width) <= digits)
        }
        _ => false,
    }
}

/// Returns the first hole of a column that may hold what follows it, if there is one.
pub fn ambiguous_hole(parts: &[Part]) -> Option<&Part> {
    parts.iter().enumerate().find_map(|(index, part)| {
        let rest = parts.get(index + 1..).unwrap_or(&[]);
        // With only fixed lengths behind it, the end is found from the right.
        let from_right = rest.iter().all(|part| {
            matches!(part, Part::Hole { codec: Codec::Native, .. })
                || Language::of(part).is_fixed_length()
        });
        (!is_delimited(part, rest) && !from_right).then_some(part)
    })
}

/// Returns the first hole of a column whose end is ambiguous, if there is one: a hole that may hold
/// its delimiter is still unambiguous if what follows never holds it.
pub fn endless_hole(parts: &[Part]) -> Option<&Part> {
    let mut from = 0;
    while let Some(found) = parts.get(from..).and_then(ambiguous_hole) {
        let at = parts.iter().position(|part| std::ptr::eq(part, found))?;
        if marks(parts.get(at + 1..).unwrap_or(&[])).is_none() {
            return Some(found);
        }
        from = at + 1;
    }
    None
}

/// Returns true if what follows a hole, in a plan's text and in a row's, begins with one byte that comes
/// equally often behind it in both, whatever the values are: whole texts that are equal have it at one
/// place, counted from their ends.
pub(crate) fn marked_alike(plan: &[Part], row: &[Part]) -> bool {
    let whole = |rest: &[Part]| rest.last() == Some(&Part::End);
    whole(plan) && whole(row) && marks(plan).is_some() && marks(plan) == marks(row)
}

/// Returns the byte that what follows a hole begins with, and how often it comes there, where no value
/// behind the hole holds it: counted from the end of the column it ends the hole, whatever the hole
/// holds.
fn marks(rest: &[Part]) -> Option<(u8, usize)> {
    let Some(Part::Literal(text)) = rest.first() else { return None };
    let mark = text.bytes().next()?;
    let count = |part: &Part| match part {
        Part::Literal(text) => Some(text.bytes().filter(|byte| *byte == mark).count()),
        Part::Hole { codec: Codec::Native, .. } => None,
        other => (!Language::of(other).bytes().contains(mark)).then_some(0),
    };
    let counts: Option<Vec<usize>> = rest.iter().map(count).collect();
    Some((mark, counts?.into_iter().sum()))
}
