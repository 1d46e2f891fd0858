//! Tells what a write takes for granted: where a read finds it otherwise, the plan is at its end.
//!
//! A write that changes or deletes what is not there is not defined, nor is one that refers to what is not
//! there, or that inserts what is there. A request finds out by its own condition, or by a key that is not
//! known; but what else the write changes must stay as it is too.
//!
//! What it is not: it does not ask for such a read. Without one a reference is the caller's word.

use super::paths::{all_key_paths, is_optional};
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::model::schema::Family;
use shelfmark_design_language::model::{ColumnPath, Model, Write};
use shelfmark_design_language::syntax::tree::Existing;

/// A condition that a write takes for granted of an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MustBe {
    /// The tuple that it changes or deletes is there.
    There,
    /// The tuple that it makes its own refer to is there.
    Referred,
    /// The tuple that it inserts is not there, nor another one that has a unique value of it.
    New,
    /// The tuple that it inserts is not there.
    Free,
}

/// Returns true if a write takes something for granted of an effect: a read that finds it otherwise ends
/// the plan.
pub(crate) fn takes(write: &Write, effect: &Effect, what: MustBe) -> bool {
    let alone = write.effects.len() == 1;
    let others = || write.effects.iter().filter(|other| other.relation == effect.relation);
    let inserts = effect.kind == EffectKind::Insert;
    let mut before = others().take_while(|other| !std::ptr::eq(*other, effect));
    let granted = match what {
        // What an earlier part of the write makes need not have been there.
        MustBe::There => {
            !inserts
                && !effect.begins()
                && !alone
                && !before.any(|other| other.kind == EffectKind::Insert)
        }
        MustBe::Referred => {
            let refers = inserts || effect.kind == EffectKind::Update;
            refers && alone && effect.existing != Existing::Unless
        }
        // What another part takes away may have been there. An insert `unless exists` is none where its
        // tuple is there, but beside others these are still to be done.
        MustBe::New | MustBe::Free => {
            let new =
                effect.existing == Existing::Fresh || effect.existing == Existing::Unless && alone;
            // A change frees a unique value, and no key.
            let stays = |other: &Effect| match what {
                MustBe::Free => other.kind != EffectKind::Delete,
                _ => other.kind == EffectKind::Insert,
            };
            inserts && new && others().all(stays)
        }
    };
    granted && effect.each.is_none()
}

/// Returns true if some attributes are exactly a key of an effect's tuple: its own, or a unique one.
fn is_key(model: &Model, effect: &Effect, asked: &[ColumnPath]) -> bool {
    model.relation(effect.relation).keys.iter().any(|key| {
        key.len() == asked.len() && key.iter().all(|column| asked.contains(&vec![*column]))
    })
}

/// Returns what a write takes for granted of the own key of an inserted tuple, whose unique values other
/// parts may set free.
pub(crate) fn new_of(model: &Model, effect: &Effect) -> MustBe {
    if model.relation(effect.relation).keys.len() > 1 { MustBe::New } else { MustBe::Free }
}

/// Returns true if a read by some attributes tells whether an inserted tuple, or another one with a unique
/// value of it, is there, and must find none.
pub(crate) fn must_miss(
    model: &Model,
    write: &Write,
    effect: &Effect,
    asked: &[ColumnPath],
) -> bool {
    let own = model.relation(effect.relation).key();
    let by_own = own.len() == asked.len() && own.iter().all(|at| asked.contains(&vec![*at]));
    takes(write, effect, new_of(model, effect)) && by_own
        || takes(write, effect, MustBe::New) && is_key(model, effect, asked)
}

/// Returns true if every tuple has a row in a family: a read that finds none says that there is no tuple.
pub(crate) fn shows_all(model: &Model, family: &Family) -> bool {
    let optional = |path: &Vec<usize>| is_optional(model, family.source, path);
    family.when.is_empty() && !all_key_paths(model, family).iter().any(optional)
}
