//! Aligns a plan's text with a family's key: which attributes it fixes.
//!
//! Invariant: [`Aligned::Fixes`] is returned only when every row of the family whose key has the
//! plan's text at this place has exactly the values it says, and every row with those values has
//! that text.

use crate::key::facts::{first_of, going_past, marked_alike, same_form};
use crate::key::language::{Language, may_meet};
use shelfmark_design_language::model::schema::{Codec, Part};
use shelfmark_design_language::model::types::TextDomain;
use shelfmark_design_language::model::{Term, Type, Value};

/// A term of the row equals (or begins with) a term of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fixed {
    pub row: Term,
    pub plan: Term,
    /// True if only the beginning is fixed.
    pub begins: bool,
}

#[derive(Debug, Clone)]
pub(crate) enum Aligned {
    /// The terms that are fixed, and the parts of the family behind the plan's.
    Fixes(Vec<Fixed>, Vec<Part>),
    /// No row of the family has such a text.
    Disjoint,
    /// The text may stop inside a value: more or fewer rows than those fixed.
    Ambiguous(String),
    /// The parts do not correspond.
    Apart(String),
}

/// Aligns `plan` with `family` from the left.
pub(crate) fn align(plan: &[Part], family: &[Part]) -> Aligned {
    let mut fixed = Vec::new();
    let mut plan: Vec<Part> = plan.to_vec();
    let mut family: Vec<Part> = family.to_vec();
    plan.reverse();
    family.reverse();
    loop {
        let Some(wanted) = plan.pop() else {
            family.reverse();
            return Aligned::Fixes(fixed, family);
        };
        let Some(found) = family.pop() else {
            return Aligned::Apart("the plan's key goes on where the row's key ends".to_owned());
        };
        match (&wanted, &found) {
            (Part::End, Part::End) => {}
            (Part::Literal(a), Part::Literal(b)) => {
                let common = common_prefix(a, b);
                let (rest_a, rest_b) =
                    (a.get(common..).unwrap_or(""), b.get(common..).unwrap_or(""));
                match (rest_a.is_empty(), rest_b.is_empty()) {
                    (true, true) => {}
                    (false, true) => plan.push(Part::Literal(rest_a.to_owned())),
                    (true, false) => family.push(Part::Literal(rest_b.to_owned())),
                    (false, false) => return Aligned::Disjoint,
                }
            }
            (Part::Hole { .. }, Part::Hole { .. }) => {
                match hole(&wanted, &found, &plan, &family) {
                    Ok(one) => {
                        // A value of which only the beginning is fixed still orders the rows.
                        if one.begins {
                            family.push(found.clone());
                        }
                        fixed.push(one);
                    }
                    Err(other) => return other,
                }
            }
            (Part::Literal(text), Part::Hole { term, ty, codec: Codec::Plain }) if ty.is_text() => {
                // A constant where the row has an attribute: only when both end together, or where
                // what follows the attribute tells its end in the plan's text too.
                let ends = (plan.last(), family.last());
                let value = if matches!(ends, (Some(Part::End), Some(Part::End))) {
                    text.clone()
                } else if let Some((value, rest)) = constant(text, &found, family.last()) {
                    plan.push(Part::Literal(rest.to_owned()));
                    value.to_owned()
                } else {
                    return Aligned::Apart(format!(
                        "the plan has {text:?} where the row has a value"
                    ));
                };
                let value = Value::Text(value);
                if !ty.holds(&value) {
                    return Aligned::Disjoint;
                }
                fixed.push(Fixed { row: term.clone(), plan: Term::Const(value), begins: false });
            }
            (Part::Literal(_), Part::End) | (Part::End, Part::Literal(_)) => {
                return Aligned::Disjoint;
            }
            (Part::End, Part::Hole { .. }) | (Part::Hole { .. }, Part::End) => {
                return Aligned::Apart("one key ends where the other has a value".to_owned());
            }
            (Part::Hole { .. }, Part::Literal(text)) => {
                return Aligned::Apart(format!("the plan has a value where the row has {text:?}"));
            }
            (Part::Literal(text), _) => {
                return Aligned::Apart(format!("the plan has {text:?} where the row has a value"));
            }
        }
    }
}

/// Returns the value at the beginning of a plan's text and what is behind it: up to the first byte of the
/// literal that follows the row's attribute, where no value of the attribute holds that byte.
fn constant<'t>(text: &'t str, found: &Part, follows: Option<&Part>) -> Option<(&'t str, &'t str)> {
    let Some(Part::Literal(literal)) = follows else { return None };
    let first = literal.chars().next()?;
    let starts = first_of(&[Part::Literal(literal.clone())]).bytes;
    let apart = Language::of(found).bytes().and(starts).is_empty();
    let at = text.find(first).filter(|_| apart)?;
    Some(text.split_at(at))
}

/// Aligns two holes; both rests are reversed: their next part is last.
fn hole(wanted: &Part, found: &Part, plan: &[Part], family: &[Part]) -> Result<Fixed, Aligned> {
    let (Part::Hole { term: asked, ty: asked_type, .. }, Part::Hole { term: row, ty, codec }) =
        (wanted, found)
    else {
        return Err(Aligned::Apart("no values".to_owned()));
    };
    if !same_form(wanted, found) {
        let message = "the plan writes the value in another form than the row".to_owned();
        return Err(Aligned::Apart(message));
    }
    let fixed = |begins| Fixed { row: row.clone(), plan: asked.clone(), begins };
    let going_on = going_past(wanted, found);
    if going_on.is_empty() {
        return Ok(fixed(false));
    }
    let plan_rest: Vec<Part> = plan.iter().rev().cloned().collect();
    let family_rest: Vec<Part> = family.iter().rev().cloned().collect();
    if plan_rest.is_empty() {
        // What the plan asks for is only how the value begins.
        return match codec {
            // What is asked for must not reach into what follows the value.
            Codec::Plain | Codec::Esc
                if ty.is_text() && {
                    let reach = Language::of(wanted).bytes();
                    reach.and(first_of(&family_rest).bytes).is_empty()
                } =>
            {
                Ok(fixed(true))
            }
            _ => Err(Aligned::Ambiguous("the text stops behind a value that may go on".to_owned())),
        };
    }
    let (after_plan, after_family) = (first_of(&plan_rest), first_of(&family_rest));
    let clear = going_on.and(after_plan.bytes).is_empty()
        && going_on.and(after_family.bytes).is_empty()
        // Without an end mark, nothing says that the plan's text ends here.
        && (!after_plan.end || plan_rest.contains(&Part::End));
    // An input may hold what no value does. Such a one is no beginning of a row's text where nothing
    // that it goes on with, behind a value, fits what follows the value in a row.
    let wider = || {
        let longer = goes_on(asked_type, *codec).map(|part| {
            let mut text = vec![part];
            text.extend(plan_rest.iter().cloned());
            text
        });
        Language::of(found).bytes().and(after_plan.bytes).is_empty()
            && Language::of(found).continuing().and(after_family.bytes).is_empty()
            && longer.is_some_and(|longer| !may_meet(&longer, &family_rest, true))
            && (!after_plan.end || plan_rest.contains(&Part::End))
    };
    if clear || wider() || marked_alike(&plan_rest, &family_rest) {
        return Ok(fixed(false));
    }
    let message = "what follows the value may be part of it, so the text fits other values too";
    Err(Aligned::Ambiguous(message.to_owned()))
}

/// Returns the part that a text may continue with behind a beginning: one character and more.
fn goes_on(ty: &Type, codec: Codec) -> Option<Part> {
    let Type::Text(domain) = ty else { return None };
    let plain = matches!(codec, Codec::Plain | Codec::Esc);
    let domain = TextDomain { min: 1, max: None, ..domain.clone() };
    plain.then_some(Part::Hole { term: Term::Each, ty: Type::Text(domain), codec })
}

/// Returns the length of the common beginning, on a character boundary.
pub(crate) fn common_prefix(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(x, y)| x == y).map(|(x, _)| x.len_utf8()).sum()
}
