//! Estimates how much there is to prove, and refuses models that would take more than seconds.
//!
//! Invariant: costs less than the proofs that it counts.

use std::collections::BTreeSet;

use super::super::{OrderKey, Read, Schema};
use super::Resolver;
use crate::limits::{ALIKE_MAX, PLANS_TRIED_MAX, PROOFS_MAX, WRITTEN_FAMILIES_MAX};
use crate::model::ColumnPath;
use crate::model::canonical;
use crate::model::schema::{Family, FamilyId};
use crate::syntax::diagnostic::Diagnostic;
use crate::syntax::span::Span;

/// Cost of comparing two row types, in looks of a read at a row type.
///
/// Ours, measured: whole keys are compared, where a read mostly looks at how they begin.
const PAIR_LOOKS: usize = 2;

impl Resolver {
    /// Refuses what is too much to prove, with a suggestion.
    pub(super) fn weigh(&mut self) {
        let model = &self.model;
        let patterns = model.reads.len() + model.writes.len();
        let proofs = patterns * model.schemas.len();
        let written: usize = model
            .schemas
            .iter()
            .map(|schema| {
                let effects = model.writes.iter().flat_map(|write| &write.effects);
                effects.map(|effect| schema.concerned(effect.relation).count()).sum::<usize>()
            })
            .sum();
        // Above the limit of proofs nothing more is counted.
        let tried = if proofs > PROOFS_MAX { 0 } else { self.tried() };
        let alike = if tried > PLANS_TRIED_MAX { 0 } else { self.alike() };
        let (message, help) = if proofs > PROOFS_MAX {
            let schemas = model.schemas.len();
            (
                format!(
                    "{patterns} patterns in {schemas} schemas are {proofs} proofs; at most \
                     {PROOFS_MAX} are answered"
                ),
                "put some of the schemas into a file of their own",
            )
        } else if written > WRITTEN_FAMILIES_MAX {
            (
                format!(
                    "the writes of this model keep {written} row families, counted once for each \
                     write; at most {WRITTEN_FAMILIES_MAX} are answered"
                ),
                "split the model",
            )
        } else if tried > PLANS_TRIED_MAX {
            (
                format!(
                    "reads for which no plan is named may go by {tried} row families, counted once \
                     for each read; at most {PLANS_TRIED_MAX} are tried"
                ),
                "name plans with `serve`, or split the model",
            )
        } else if alike > ALIKE_MAX {
            (
                format!(
                    "row types of one table whose keys begin alike are looked at {alike} times, by \
                     each other and by reads; at most {ALIKE_MAX} times are answered"
                ),
                "begin the keys of each row type with a text of its own, or put them into tables of \
                 their own",
            )
        } else {
            return;
        };
        self.error(Diagnostic::error(Span::default(), message).help(help));
    }

    /// Returns the number of row families that are tried for reads without a named plan.
    fn tried(&self) -> usize {
        let of_schema = |schema: &Schema| -> usize {
            let served: BTreeSet<usize> = schema.serves.iter().map(|serve| serve.read).collect();
            let open = self.model.reads.iter().enumerate();
            open.filter(|(index, _)| !served.contains(index))
                .map(|(_, read)| self.candidates(schema, read))
                .sum()
        };
        self.model.schemas.iter().map(of_schema).sum()
    }

    fn candidates(&self, schema: &Schema, read: &Read) -> usize {
        self.families_of(schema, read).len()
    }

    /// Returns the families that a read without a named plan may use.
    fn families_of(&self, schema: &Schema, read: &Read) -> Vec<FamilyId> {
        let Some(source) = read.sources.first() else { return Vec::new() };
        let known = read.known_paths(|path| canonical(&self.model, source.relation, path));
        schema.tried(source.relation, read.aggregate.is_some(), &known).collect()
    }

    /// Returns how often row types are compared, with each other and by the reads of the table,
    /// because nothing in front of their keys distinguishes them.
    fn alike(&self) -> usize {
        let of_schema = |schema: &Schema| -> usize {
            // A lone row type is like itself.
            let others = |family: &Family, columns| schema.alike(family, columns).saturating_sub(1);
            let pairs: usize =
                schema.families.iter().map(|family| others(family, family.key.len())).sum();
            let found_by: Vec<usize> = schema
                .families
                .iter()
                .map(|family| {
                    let partition = schema.tables.get(family.table).map_or(0, |one| one.partition);
                    others(family, partition + 1)
                })
                .collect();
            let reads = self.model.reads.iter().flat_map(|read| self.families_of(schema, read));
            let read: usize = reads.filter_map(|id| found_by.get(id)).sum();
            pairs * PAIR_LOOKS + read
        };
        self.model.schemas.iter().map(of_schema).sum()
    }
}

impl Read {
    /// Returns the attributes of its first source that it compares or orders by.
    pub fn known_paths(&self, form: impl Fn(&ColumnPath) -> ColumnPath) -> BTreeSet<ColumnPath> {
        let compared =
            self.sources.first().into_iter().flat_map(|one| &one.predicates).map(|one| &one.path);
        let ordering = self.order.iter().filter_map(|(key, _)| match key {
            OrderKey::Columns(paths) => paths.first()?.as_ref(),
            OrderKey::Kind => None,
        });
        compared.chain(ordering).map(form).collect()
    }
}
