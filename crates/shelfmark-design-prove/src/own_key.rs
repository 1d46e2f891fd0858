//! Determines by which of its keys an effect names its own tuple.

use super::canon::canonical;
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::model::{ColumnPath, Model, Term};
use shelfmark_design_language::syntax::tree::CondOp;

/// Returns the keys by which an effect's tuple is found: an inserted one exists only under its own
/// key, a changed one may be named by any.
pub(crate) fn keys_of<'m>(model: &'m Model, effect: &Effect) -> &'m [Vec<usize>] {
    let keys = model.relation(effect.relation).keys.as_slice();
    match effect.kind {
        EffectKind::Insert => keys.get(..1).unwrap_or(keys),
        _ => keys,
    }
}

/// Returns the keys that an effect names completely.
pub(crate) fn keys_named<'m>(
    model: &'m Model,
    effect: &'m Effect,
) -> impl Iterator<Item = &'m Vec<usize>> {
    let given = |column: &usize| effect.key.iter().any(|(other, _)| other == column);
    keys_of(model, effect).iter().filter(move |key| !key.is_empty() && key.iter().all(given))
}

/// Returns the first key that an effect names completely.
pub(crate) fn selecting_key<'m>(model: &'m Model, effect: &'m Effect) -> Option<&'m Vec<usize>> {
    keys_named(model, effect).next()
}

/// Returns the values that an effect gives of a key.
pub(crate) fn bindings_of(effect: &Effect, key: &[usize]) -> Vec<(ColumnPath, Term)> {
    let given = effect.key.iter().filter(|(column, _)| key.contains(column));
    given.map(|(column, term)| (vec![*column], term.clone())).collect()
}

/// Returns the key of the effect's own tuple, as a read names it.
pub(crate) fn own_bindings(model: &Model, effect: &Effect) -> Vec<(ColumnPath, Term)> {
    let own = model.relation(effect.relation).key();
    bindings_of(effect, selecting_key(model, effect).map_or(own, Vec::as_slice))
}

/// Returns the terms that select the effect's tuple, with inputs where the loop itself asks for
/// their values: of `unlink Cast(actor c.actor, film c.film) for each Cast as c where film = f` the
/// film is `f`.
pub(super) fn settled_key(model: &Model, effect: &Effect) -> Vec<(usize, Term)> {
    let settled = |term: &Term| {
        let (Term::Prior(path), Some(each)) = (term, &effect.each) else { return None };
        let path = canonical(model, each.relation, path);
        let asked = each.predicates.iter().find(|one| {
            one.op == CondOp::Eq && canonical(model, each.relation, &one.path) == path
        })?;
        asked.values.first().filter(|value| matches!(value, Term::Param(_))).cloned()
    };
    let key = effect.key.iter();
    key.map(|(column, term)| (*column, settled(term).unwrap_or_else(|| term.clone()))).collect()
}
