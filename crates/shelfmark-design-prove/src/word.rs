//! Tells which keys and unique values a certified write takes for new by its caller's word alone.
//!
//! A put is refused where its row is there. So a key is found to be taken where some row lies under nothing
//! but that key, or where a read before looks for it; else a second tuple with the same key gets rows of its
//! own, and nothing notices.
//!
//! What it is not: no refusal. What it finds is said beside the certificate, as an assumption.

use super::analysis::Analysis;
use super::defined::is_below;
use super::eval::change::lies_under;
use super::must_be::shows_all;
use super::needs::replaces;
use super::write::Prover;
use super::write_case::WriteCase;
use shelfmark_design_language::certificate::ASSUMED;
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::model::schema::WritePlan;
use shelfmark_design_language::model::{RelationId, Term, Value};

/// Returns the keys that are new by the word of a plan's caller.
pub fn new_by_word(case: WriteCase<'_>, plan: &WritePlan) -> Vec<(RelationId, Vec<usize>)> {
    Prover::new(case, plan).new_by_word()
}

impl Prover<'_> {
    /// Says of a certified plan which keys are taken for new.
    pub(super) fn assumes_new(&self, analysis: &mut Analysis) {
        for (id, key) in self.new_by_word() {
            let relation = self.model.relation(id);
            let columns: Vec<&str> = key.iter().map(|at| relation.column_name(*at)).collect();
            let (name, columns) = (&relation.name.text, columns.join(", "));
            let what = format!("no {name} has the {columns} yet, under which no row lies");
            analysis.note(10, format!("{ASSUMED}{what}"));
        }
    }

    fn new_by_word(&self) -> Vec<(RelationId, Vec<usize>)> {
        let mut found = Vec::new();
        for effect in &self.write.effects {
            let keys = &self.model.relation(effect.relation).keys;
            for (place, key) in keys.iter().enumerate() {
                let one = (effect.relation, key.clone());
                let own = place == 0;
                if brings(effect, key, own)
                    && !self.is_met(effect, key, own)
                    && !found.contains(&one)
                {
                    found.push(one);
                }
            }
        }
        found
    }

    /// Returns true if a tuple that has the key already is met by a put, or by a read before.
    fn is_met(&self, effect: &Effect, key: &[usize], own: bool) -> bool {
        let (model, schema) = (self.model, self.schema);
        let mut rows = schema.of_source(effect.relation);
        let lies = rows.any(|(_, one)| lies_under(schema, one, key) && shows_all(model, one));
        let requests = self.changing();
        let first = requests.first().and_then(|request| request.first()).map_or(0, |one| one.0);
        let looked = match own {
            true => is_below(model, self.write, effect) || self.was_looked_up(effect, first),
            false => self.looked_for(effect, &key.iter().copied().collect(), first),
        };
        lies || looked
    }
}

/// Returns true if an effect gives a tuple a key that others must not have.
fn brings(effect: &Effect, key: &[usize], own: bool) -> bool {
    let is_given = |terms: &[(usize, Term)], column: &usize| {
        let mut own = terms.iter().filter(|(at, _)| at == column);
        own.any(|(_, term)| *term != Term::Const(Value::Null))
    };
    match effect.kind {
        EffectKind::Insert => {
            (!own || !replaces(effect)) && key.iter().all(|at| is_given(&effect.key, at))
        }
        EffectKind::Update => !own && key.iter().any(|at| is_given(&effect.set, at)),
        _ => false,
    }
}
