//! How an effect names its own tuple: by the entity's key, or by any other key of it.

use crate::model::pattern::{Effect, EffectKind};
use crate::model::{ColumnPath, Model, Term};

/// The keys by which an effect's tuple is found: what is made is there already only under its own
/// key, what is changed may be named by any.
pub(crate) fn keys_of<'m>(model: &'m Model, effect: &Effect) -> &'m [Vec<usize>] {
    let keys = model.relation(effect.relation).keys.as_slice();
    match effect.kind {
        EffectKind::Insert => keys.get(..1).unwrap_or(keys),
        _ => keys,
    }
}

/// The keys that an effect names whole.
pub(crate) fn keys_named<'m>(
    model: &'m Model,
    effect: &'m Effect,
) -> impl Iterator<Item = &'m Vec<usize>> {
    let given = |column: &usize| effect.key.iter().any(|(other, _)| other == column);
    keys_of(model, effect).iter().filter(move |key| !key.is_empty() && key.iter().all(given))
}

/// The first key that an effect names whole.
pub(crate) fn selecting_key<'m>(model: &'m Model, effect: &'m Effect) -> Option<&'m Vec<usize>> {
    keys_named(model, effect).next()
}

/// What an effect gives of a key.
pub(crate) fn bindings_of(effect: &Effect, key: &[usize]) -> Vec<(ColumnPath, Term)> {
    let given = effect.key.iter().filter(|(column, _)| key.contains(column));
    given.map(|(column, term)| (vec![*column], term.clone())).collect()
}

/// The key of the effect's own tuple, as a read names it.
pub(crate) fn own_bindings(model: &Model, effect: &Effect) -> Vec<(ColumnPath, Term)> {
    let own = model.relation(effect.relation).key();
    bindings_of(effect, selecting_key(model, effect).map_or(own, Vec::as_slice))
}
