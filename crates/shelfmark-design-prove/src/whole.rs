//! Proves that a write leaves all or none of what comes together.
//!
//! An update that sets one of several attributes which a tuple has all or none of makes, of a tuple
//! without them, one that is no state. It is defined only where the others are there, which it must ask.
//!
//! What it is not: what takes one of them away, or inserts it, and leaves the others is no model.

use super::analysis::Analysis;
use super::write::Prover;
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::model::{Term, Value};
use shelfmark_design_language::syntax::tree::CondOp;

impl Prover<'_> {
    /// Proves that an update that sets a part of what comes together asks for the rest.
    pub(super) fn whole(&self, analysis: &mut Analysis) {
        for effect in self.write.effects.iter().filter(|one| one.kind == EffectKind::Update) {
            let relation = self.model.relation(effect.relation);
            for group in &relation.together {
                let gives = |at: &&usize| {
                    let mut set = effect.set.iter();
                    set.any(|(column, term)| column == *at && *term != Term::Const(Value::Null))
                };
                let (given, left): (Vec<&usize>, Vec<&usize>) = group.iter().partition(gives);
                let (Some(given), Some(left)) = (given.first(), left.first()) else { continue };
                if group.iter().any(|at| asks(effect, *at)) {
                    continue;
                }
                analysis.fail_request(format!(
                    "{} is given where {} may be absent, and they come together: set both, or ask \
                     `if {} is present`",
                    relation.column_name(**given),
                    relation.column_name(**left),
                    relation.column_name(**left),
                ));
            }
        }
    }
}

/// Returns true if an effect is only of tuples that have an attribute.
fn asks(effect: &Effect, column: usize) -> bool {
    let present =
        effect.conditions.iter().any(|one| one.path == [column] && one.op != CondOp::Absent);
    let selected = |(at, term): &(usize, Term)| *at == column && *term != Term::Const(Value::Null);
    // A loop asks for what it goes through.
    let looped = effect.each.as_ref().is_some_and(|each| {
        each.relation == effect.relation
            && each.predicates.iter().any(|one| one.path == [column] && one.op != CondOp::Absent)
    });
    present || looped || effect.key.iter().any(selected)
}
