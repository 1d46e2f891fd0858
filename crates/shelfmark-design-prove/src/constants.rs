//! Reads the constants in a plan's text as the family would write them: `y#2021` is the year 2021
//! where rows have `y#<year>`.
//!
//! What it is not: it says nothing of which rows a text fits; that is `align`'s and `range`'s. Texts
//! in texts are `align`'s too, which knows where they end.
//!
//! Invariant: what is returned has the very text that was given.

use std::collections::VecDeque;

use super::align::common_prefix;
use shelfmark_design_language::codec;
use shelfmark_design_language::model::Term;
use shelfmark_design_language::model::schema::{Codec, Part};

/// Returns the plan's parts, with numbers, days, times and identifiers named where its text holds them.
///
/// `family` are the parts over which the plan's lie, from the left.
pub(crate) fn named(plan: &[Part], family: &[Part]) -> Vec<Part> {
    let mut over: VecDeque<Part> = family.iter().cloned().collect();
    let mut out = Vec::new();
    for (at, part) in plan.iter().enumerate() {
        let goes_on = match (part, over.front()) {
            (Part::Literal(text), Some(_)) => literal(text, &mut over, &mut out),
            (Part::Hole { .. }, Some(Part::Hole { .. })) | (Part::End, Some(Part::End)) => {
                over.pop_front();
                out.push(part.clone());
                true
            }
            _ => false,
        };
        if !goes_on {
            let told = usize::from(matches!((part, over.front()), (Part::Literal(_), Some(_))));
            out.extend(plan.iter().skip(at + told).cloned());
            return out;
        }
    }
    out
}

/// Reads one text of the plan, and returns true if what follows it can be read too.
fn literal(text: &str, over: &mut VecDeque<Part>, out: &mut Vec<Part>) -> bool {
    let (mut begin, mut rest) = (String::new(), text);
    let mut fits = true;
    while fits && !rest.is_empty() {
        let Some(first) = over.pop_front() else { break };
        fits = match &first {
            Part::Literal(wanted) => {
                let common = common_prefix(rest, wanted);
                let (same, behind) = rest.split_at(common);
                begin.push_str(same);
                rest = behind;
                let left = wanted.get(common..).unwrap_or("");
                if !left.is_empty() {
                    over.push_front(Part::Literal(left.to_owned()));
                }
                left.is_empty()
            }
            hole @ Part::Hole { .. } => match constant(rest, hole, over.front()) {
                Some((part, behind)) => {
                    if !begin.is_empty() {
                        out.push(Part::Literal(std::mem::take(&mut begin)));
                    }
                    out.push(part);
                    rest = behind;
                    true
                }
                None => {
                    over.push_front(first);
                    false
                }
            },
            Part::End => false,
        };
    }
    begin.push_str(rest);
    if !begin.is_empty() {
        out.push(Part::Literal(begin));
    }
    fits || rest.is_empty()
}

/// Returns the constant that a text begins with, as a part of the hole's form, and the text behind
/// it: nothing, or what begins with the part that follows the hole.
fn constant<'t>(text: &'t str, hole: &Part, follows: Option<&Part>) -> Option<(Part, &'t str)> {
    let Part::Hole { ty, codec, .. } = hole else { return None };
    if ty.is_text() || *codec == Codec::Native {
        return None;
    }
    let delimiter = match follows {
        Some(Part::Literal(text)) => text.chars().next(),
        _ => None,
    };
    let end = delimiter.and_then(|first| text.find(first)).unwrap_or(text.len());
    let (value, behind) = text.split_at(end);
    let value = codec::value(value, ty, *codec)?;
    Some((Part::Hole { term: Term::Const(value), ty: ty.clone(), codec: *codec }, behind))
}
