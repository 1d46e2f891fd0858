//! Verifies that a write sets what comes together together.
//!
//! Invariant: says by itself what is wrong; nothing of the prover is asked.

use shelfmark_design_language::model::pattern::{Effect, EffectKind, Predicate};
use shelfmark_design_language::model::{Model, Term, Value, Write};
use shelfmark_design_language::syntax::tree::CondOp;

/// Checks that an update which sets a part of what comes together is of tuples that have it.
pub(super) fn set_together(model: &Model, write: &Write) -> Result<(), String> {
    for effect in write.effects.iter().filter(|effect| effect.kind == EffectKind::Update) {
        let relation = model.relation(effect.relation);
        for group in &relation.together {
            let count = group.iter().filter(|at| gives(&effect.set, **at)).count();
            if count > 0 && count < group.len() && !group.iter().any(|at| has(effect, *at)) {
                let name = &relation.name.text;
                return Err(format!("O10: a {name} gets a part of what comes together"));
            }
        }
    }
    Ok(())
}

fn gives(terms: &[(usize, Term)], column: usize) -> bool {
    terms.iter().any(|(at, term)| *at == column && *term != Term::Const(Value::Null))
}

/// Returns true if an effect asks that its tuple has an attribute.
fn has(effect: &Effect, column: usize) -> bool {
    let asks = |one: &Predicate| one.path.as_slice() == [column] && one.op != CondOp::Absent;
    let each = effect.each.iter().filter(|each| each.relation == effect.relation);
    gives(&effect.key, column)
        || effect.conditions.iter().any(asks)
        || each.flat_map(|each| &each.predicates).any(asks)
}

#[cfg(test)]
mod tests;
