//! Computes the costs of patterns: rows of a write, and the partition that takes most of a
//! pattern's calls.

use std::collections::BTreeSet;

use super::volume::{self, Figure};
use super::{HotPartition, Sizer, Spread, WriteSize, format};
use shelfmark_design_language::model::canonical;
use shelfmark_design_language::model::pattern::EffectKind;
use shelfmark_design_language::model::schema::{Family, FamilyId, WritePlan, WriteStepKind};
use shelfmark_design_language::model::{ColumnPath, Predicate, Write};
use shelfmark_design_language::syntax::tree::Existing;
use shelfmark_design_language::syntax::tree::{Fact, Item};
use shelfmark_design_plan::sparse::{declared_share, told_by_insert};
use shelfmark_design_prove::write_case::WriteCase;
use shelfmark_design_prove::{prove_read, write_certificate};

impl Sizer<'_> {
    pub(super) fn writes(&self) -> Vec<WriteSize> {
        WriteCase::all(self.model, self.schema, self.target)
            .map(|case| self.write(case.write, &write_certificate::plan(case)))
            .collect()
    }

    fn write(&self, write: &Write, plan: &WritePlan) -> WriteSize {
        let mut at_most = false;
        let mut figure = |figure| {
            let (mut rows, mut entries, mut bytes) = (Some(0.0), Some(0.0), Some(0.0));
            for step in &plan.steps {
                let each = match &step.kind {
                    WriteStepKind::Read { .. } => continue,
                    WriteStepKind::Put { each }
                    | WriteStepKind::Delete { each }
                    | WriteStepKind::Patch { each } => each,
                };
                let times =
                    each.as_ref().map_or(Some(1.0), |alias| self.loop_rows(plan, alias, figure));
                for id in &step.families {
                    let Some(family) = self.schema.families.get(*id) else { continue };
                    let indexes = self.indexes(*id);
                    let row = format::sizes(self.model, self.schema, family, self.target).row();
                    let (mut held, mut indexed) = (0.0, 0.0);
                    for one in indexes {
                        let share = self.held_by(one, family, write);
                        at_most |= share.is_none();
                        // The worst is an entry wherever there may be one.
                        let least = if figure == Figure::Worst { 1.0 } else { 0.0 };
                        let share = share.unwrap_or(1.0);
                        let share = if share > 0.0 { share.max(least) } else { share };
                        held += share;
                        let row = format::sizes(self.model, self.schema, one, self.target).row();
                        indexed += share * row;
                    }
                    let add = |sum: Option<f64>, each: f64| {
                        sum.zip(times).map(|(sum, times)| sum + times * each)
                    };
                    rows = add(rows, 1.0);
                    entries = add(entries, held);
                    bytes = add(bytes, row + indexed);
                }
            }
            (rows, entries, bytes)
        };
        let (average, p99, worst) =
            (figure(Figure::Average), figure(Figure::P99), figure(Figure::Worst));
        let changed = write.effects.len().max(1) as f64;
        let reads =
            plan.steps.iter().filter(|step| matches!(step.kind, WriteStepKind::Read { .. }));
        WriteSize {
            write: write.name.text.clone(),
            reads: reads.count(),
            rows: Spread { average: average.0, p99: p99.0, worst: worst.0 },
            entries: Spread { average: average.1, p99: p99.1, worst: worst.1 },
            at_most,
            bytes: Spread { average: average.2, p99: p99.2, worst: worst.2 },
            amplification: average
                .0
                .zip(average.1)
                .map(|(rows, entries)| (rows + entries) / changed),
            limit_rows: self.setting(
                self.target,
                "transaction.items",
                self.target.transaction_items_max,
            ),
        }
    }

    /// Returns the share of the calls of a write in which an index has an entry of its row, before or after,
    /// where the model says it.
    fn held_by(&self, entry: &Family, base: &Family, write: &Write) -> Option<f64> {
        let when = self.schema.own_conditions(entry);
        if when.is_empty() {
            return Some(1.0);
        }
        let mut own = write.effects.iter().filter(|effect| effect.relation == base.source);
        if let (Some(effect), None) = (own.next(), own.next()) {
            let sets = |one: &Predicate| effect.set.iter().any(|(at, _)| one.path == [*at]);
            match effect.kind {
                EffectKind::Insert if effect.existing != Existing::Replace => {
                    if let Some(held) = told_by_insert(when, effect) {
                        return Some(if held { 1.0 } else { 0.0 });
                    }
                }
                // Before it the conditions held of some, and after it of others.
                EffectKind::Update | EffectKind::Increment if when.iter().any(sets) => return None,
                _ => {}
            }
        }
        declared_share(self.model, entry.source, when)
    }

    /// Returns the indexes that follow a base row.
    fn indexes(&self, base: FamilyId) -> Vec<&Family> {
        self.schema.families.iter().filter(|family| family.base == Some(base)).collect()
    }

    /// Returns how many rows a loop of the plan goes through.
    fn loop_rows(&self, plan: &WritePlan, alias: &str, figure: Figure) -> Option<f64> {
        plan.steps.iter().find_map(|step| match &step.kind {
            WriteStepKind::Read { bindings, alias: Some(name) } if name == alias => {
                let family = step.families.first().and_then(|id| self.schema.families.get(*id))?;
                let known: BTreeSet<ColumnPath> = bindings
                    .iter()
                    .map(|(path, _)| canonical(self.model, family.source, path))
                    .collect();
                volume::rows(self.model, family.source, &known, figure)
            }
            _ => None,
        })
    }

    pub(super) fn hot(&self) -> Vec<HotPartition> {
        let mut found = Vec::new();
        for (index, read) in self.model.reads.iter().enumerate() {
            let Some(rate) = self.rate(&read.name.text) else { continue };
            let proof = prove_read(self.model, self.schema, self.target, index, read);
            for step in proof.serve.iter().flat_map(|serve| &serve.steps) {
                let Some(step) = step.read() else { continue };
                let family = self.schema.of_table(step.table).next().map(|(_, family)| family);
                found.extend(family.and_then(|one| self.hottest(&read.name.text, one, rate, None)));
            }
        }
        for case in WriteCase::all(self.model, self.schema, self.target) {
            let write = case.write;
            let Some(rate) = self.rate(&write.name.text) else { continue };
            let plan = write_certificate::plan(case);
            let mut seen = BTreeSet::new();
            for step in &plan.steps {
                if matches!(step.kind, WriteStepKind::Read { .. }) {
                    continue;
                }
                for id in step.families.iter().filter(|id| seen.insert(**id)) {
                    let base = self.schema.families.get(*id);
                    for family in base.into_iter().chain(self.indexes(*id)) {
                        found.extend(self.hottest(&write.name.text, family, rate, Some(write)));
                    }
                }
            }
        }
        found
    }

    /// Returns the rate of a pattern per second, at its peak when one is declared.
    fn rate(&self, pattern: &str) -> Option<f64> {
        let facts: &[Fact] = self.file.items.iter().find_map(|item| match item {
            Item::Read(read) if read.name.text == pattern => Some(read.facts.as_slice()),
            Item::Write(write) if write.name.text == pattern => Some(write.facts.as_slice()),
            _ => None,
        })?;
        let quantity = |name: &str| {
            let fact = facts.iter().find(|fact| fact.name.text == name)?;
            shelfmark_design_language::model::quantity::parse(fact.value.as_deref()?)
                .map(|found| found.value)
        };
        quantity("peak").or_else(|| quantity("rate"))
    }

    fn hottest(
        &self,
        pattern: &str,
        family: &Family,
        rate: f64,
        write: Option<&Write>,
    ) -> Option<HotPartition> {
        let table = self.schema.tables.get(family.table)?;
        if table.partition == 0 {
            return None;
        }
        let (known, divisor) = volume::called(self.model, self.schema, family, write);
        let share = volume::share(self.model, family.source, &known)? / divisor;
        let (name, usual) = if write.is_some() {
            ("partition.writes", self.target.partition_writes_max)
        } else {
            ("partition.reads", self.target.partition_reads_max)
        };
        Some(HotPartition {
            pattern: pattern.to_owned(),
            table: table.name.text.clone(),
            write: write.is_some(),
            share,
            per_second: rate * share,
            limit_per_second: self.setting(self.target, name, usual),
        })
    }
}
