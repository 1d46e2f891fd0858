//! Proves that a put which may replace what is there looks before whether what never changes stays as it is.
//!
//! `insert … or replace` gives what is immutable as it was, or is not defined: then nothing may change. A
//! put alone would write another value over it, and leave the rows that lie under the old one.
//!
//! What it is not: it does not compare. The read that it asks for ends the plan where the row shows other
//! values.

use super::analysis::Analysis;
use super::must_be::shows_all;
use super::needs::replaces;
use super::paths::all_key_paths;
use super::unique::available;
use super::write::Prover;
use shelfmark_design_language::model::pattern::Effect;
use shelfmark_design_language::model::schema::{Family, Schema};
use shelfmark_design_language::model::{ColumnPath, Model, Write};

/// Returns the attributes of what an effect may replace that never change, as far as some row shows them;
/// what none shows is the caller's word.
pub(crate) fn lasting(model: &Model, schema: &Schema, effect: &Effect) -> Vec<ColumnPath> {
    if !replaces(effect) {
        return Vec::new();
    }
    let relation = model.relation(effect.relation);
    let columns = relation.columns.iter().enumerate();
    let lasts = columns.filter(|(at, column)| column.lasts() && !relation.key().contains(at));
    let shows = |path: &ColumnPath| {
        let mut rows = schema.of_source(effect.relation).map(|(_, family)| family);
        rows.any(|family| {
            let guards = || family.when.iter().any(|one| one.path == *path);
            available(model, family).contains(path)
                || all_key_paths(model, family).contains(path)
                || guards()
        })
    };
    lasts.map(|(at, _)| vec![at]).filter(shows).collect()
}

/// Returns true if a row tells of every tuple whether what never changes is as it is given.
pub(crate) fn tells_lasting(
    model: &Model,
    schema: &Schema,
    family: &Family,
    effect: &Effect,
) -> bool {
    let shown = available(model, family);
    family.source == effect.relation
        && shows_all(model, family)
        && lasting(model, schema, effect).iter().all(|path| shown.contains(path))
}

/// Returns true if a read of an effect's tuple says what the effect may replace: no other part of the write
/// changes it before.
pub(crate) fn is_as_read(write: &Write, effect: &Effect) -> bool {
    let own = write.effects.iter().filter(|other| other.relation == effect.relation);
    effect.each.is_none() && own.count() == 1
}

impl Prover<'_> {
    /// Proves of each effect that may replace a tuple that what never changes is looked up before.
    pub(super) fn keeps_lasting(&self, analysis: &mut Analysis) {
        let (model, schema) = (self.model, self.schema);
        let requests = self.changing();
        let Some((first, _)) = requests.first().and_then(|request| request.first()) else { return };
        for effect in &self.write.effects {
            let lasting = lasting(model, schema, effect);
            let mut read = self.reads_before(effect, *first);
            let looked = is_as_read(self.write, effect)
                && read.any(|family| tells_lasting(model, schema, family, effect));
            if lasting.is_empty() || looked {
                continue;
            }
            let names: Vec<String> =
                lasting.iter().map(|path| model.path_text(effect.relation, path)).collect();
            let why = format!(
                "whether what is replaced has the same {}, which never changes, is not read before \
                 {} changes",
                names.join(", "),
                requests.first().map_or("", |request| self.name_of(request)),
            );
            analysis.fail(4, "W2", why);
        }
    }
}
