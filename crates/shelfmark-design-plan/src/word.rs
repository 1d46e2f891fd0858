//! Says above a derived schema which keys are new by the word of who calls, and tells which are not.
//!
//! A row under a tuple's own key costs as much as any other, and ids that are drawn anew need none: that
//! they are new is said, and taken for granted. A tuple that others name by what it refers to, such as a
//! like by its post and its user, comes twice sooner or later: it keeps a row that its second writer meets.
//!
//! What it is not: no obligation. A plan without such a row is certified, with the assumption.

use crate::Plan;
use shelfmark_design_language::model::pattern::EffectKind;
use shelfmark_design_language::model::{Model, RelationId};
use shelfmark_design_language::syntax::tree::Existing;
use shelfmark_design_language::target::Target;
use shelfmark_design_prove::word::new_by_word;
use shelfmark_design_prove::write_case::WriteCase;

/// Adds a note for each key that a plan takes for new.
pub(crate) fn told(model: &Model, target: &Target, plan: &mut Plan) {
    let Some(schema) = model.schemas.first() else { return };
    let mut notes: Vec<(String, Vec<&str>)> = Vec::new();
    for case in WriteCase::all(model, schema, target) {
        let Some(steps) = schema.writes.iter().find(|one| one.write == case.index) else {
            continue;
        };
        for (id, key) in new_by_word(case, steps) {
            let relation = model.relation(id);
            let columns: Vec<&str> = key.iter().map(|at| relation.column_name(*at)).collect();
            let (name, columns) = (&relation.name.text, columns.join(", "));
            let what = format!("no {name} has the {columns} yet");
            let own = case.write.name.text.as_str();
            match notes.iter_mut().find(|(other, _)| *other == what) {
                Some((_, writes)) => writes.push(own),
                None => notes.push((what, vec![own])),
            }
        }
    }
    for (what, writes) in notes.iter().rev() {
        let writes = writes.join(", ");
        let note =
            format!("{writes}: that {what} is the caller's word, since no row lies under it");
        plan.schema.insert_str(0, &format!("# {note}\n"));
        plan.notes.push(note);
    }
}

/// Returns true if tuples of a relation have no key of their own, but one of what they refer to, and are
/// inserted.
pub(crate) fn is_met(model: &Model, relation: RelationId) -> bool {
    let found = model.relation(relation);
    let refers = |at: &usize| found.columns.get(*at).is_some_and(|column| column.refers.is_some());
    let mut effects = model.writes.iter().flat_map(|write| &write.effects);
    found.key().iter().all(refers)
        && effects.any(|effect| {
            effect.relation == relation
                && effect.kind == EffectKind::Insert
                && effect.existing == Existing::Fresh
        })
}
