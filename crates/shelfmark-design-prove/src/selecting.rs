//! Finds what selects a tuple beside its row's key and is asked again by the request that changes the row.
//!
//! `update Seat(concert c, number s, state "free") set …` names a seat by more than its key. A read looks
//! for it, and between the read and the change another write may take it. So the change compares once
//! more: `state = :free` in a ConditionExpression of DynamoDB, `IF state = 'free'` in CQL.
//!
//! What it is not: no condition of the model (`if state = "free"`); those have a module of their own.
//!
//! Invariant: a comparison holds wherever what was read before is still so; it changes nothing of a
//! write that is executed alone.

use super::defined::is_counter;
use super::must_be::shows_all;
use super::needs::{Need, needs};
use super::paths::all_key_paths;
use super::unique::available;
use super::write_case::WriteCase;
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::model::schema::{FamilyId, Schema};
use shelfmark_design_language::model::types::Type;
use shelfmark_design_language::model::{Model, Term, Value};

/// Returns the attributes by which an effect selects its tuple that the change of a row compares with
/// what the effect says of them.
///
/// The row is changed where it lies, and its key says nothing of them.
pub(crate) fn asked_again(
    model: &Model,
    schema: &Schema,
    id: FamilyId,
    effect: &Effect,
) -> Vec<usize> {
    let Some(family) = schema.families.get(id) else { return Vec::new() };
    let compares = matches!(schema.target.as_str(), "dynamodb" | "cql");
    let own = family.source == effect.relation && family.base.is_none();
    let stays = || {
        needs(model, schema, id, effect).iter().any(|one| matches!(one, Need::Patch | Need::Delete))
    };
    if !compares
        || !own
        || effect.kind == EffectKind::Insert
        || is_counter(schema, family)
        || !shows_all(model, family)
        || !stays()
    {
        return Vec::new();
    }
    let (key, shown) = (all_key_paths(model, family), available(model, family));
    let asked = effect.key.iter().filter(|(column, term)| {
        let path = vec![*column];
        let list = matches!(model.path_type(family.source, &path), Type::List(..));
        let said = matches!(term, Term::Param(_) | Term::Const(_) | Term::Call(..));
        let nothing = matches!(term, Term::Const(Value::Null));
        said && !nothing && !list && !key.contains(&path) && shown.contains(&path)
    });
    asked.map(|(column, _)| *column).collect()
}

/// Returns the attributes by which an effect selects its tuple beside the tuple's own key.
pub(crate) fn beside_key(case: WriteCase<'_>, effect: &Effect) -> Vec<usize> {
    let key = case.model.relation(effect.relation).key();
    let all = effect.key.iter().map(|(column, _)| *column);
    all.filter(|column| !key.contains(column)).collect()
}
