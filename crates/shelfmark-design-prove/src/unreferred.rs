//! Tells what must refer no more to a tuple that a certified write deletes.
//!
//! A write is defined where its result is a state: what others still refer to is not deleted. No request
//! finds that out, so it is the caller's word, and beside the certificate stands which word it is.
//!
//! What it is not: no refusal. A write that deletes in loops all that refers to the tuple needs no word.

use std::collections::BTreeMap;

use super::analysis::Analysis;
use super::canon::canonical;
use super::write::{Prover, loops_over_itself};
use shelfmark_design_language::certificate::ASSUMED;
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::model::{RelationId, Term};
use shelfmark_design_language::syntax::tree::CondOp;

impl Prover<'_> {
    /// Says of a certified plan what is taken to refer to nothing that it deletes.
    pub(super) fn assumes_unreferred(&self, analysis: &mut Analysis) {
        let mut said: Vec<String> = Vec::new();
        let deletes = self.write.effects.iter().filter(|one| one.kind == EffectKind::Delete);
        for effect in deletes {
            let gone = &self.model.relation(effect.relation).name.text;
            for (id, columns) in self.referring(effect) {
                let relation = self.model.relation(id);
                let names: Vec<&str> = columns.iter().map(|at| relation.column_name(*at)).collect();
                let (name, names) = (&relation.name.text, names.join(", "));
                said.push(format!("no {name} refers to the {gone} that is deleted ({names})"));
            }
        }
        said.dedup();
        for what in said {
            analysis.note(10, format!("{ASSUMED}{what}"));
        }
    }

    /// Returns the attributes that may refer to what an effect deletes, and that the write does not delete
    /// with it.
    fn referring(&self, effect: &Effect) -> BTreeMap<RelationId, Vec<usize>> {
        let mut found: BTreeMap<RelationId, Vec<usize>> = BTreeMap::new();
        for (id, relation) in self.model.relations.iter().enumerate() {
            for (at, column) in relation.columns.iter().enumerate() {
                if column.refers == Some(effect.relation) && !self.goes_too(effect, id, at) {
                    found.entry(id).or_default().push(at);
                }
            }
        }
        found
    }

    /// Returns true if a loop of the write deletes every tuple whose attribute refers to what an effect
    /// deletes.
    fn goes_too(&self, effect: &Effect, id: RelationId, at: usize) -> bool {
        let key = self.model.relation(effect.relation).key();
        let own = effect.key.iter().find(|(column, _)| key == [*column]);
        let Some((_, term @ Term::Param(_))) = own else { return false };
        self.write.effects.iter().any(|other| {
            let asked = other.each.as_ref().map(|each| each.predicates.as_slice());
            let [one] = asked.unwrap_or_default() else { return false };
            other.kind == EffectKind::Delete
                && other.relation == id
                && other.key.len() == self.model.relation(id).key().len()
                && loops_over_itself(self.model, other)
                && one.op == CondOp::Eq
                && canonical(self.model, id, &one.path) == [at]
                && one.values.first() == Some(term)
        })
    }
}
