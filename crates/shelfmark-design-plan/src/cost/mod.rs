//! Counts what the patterns of a schema cost: units of each call, and dollars a month.
//!
//! Works on any schema, written or derived: the plans are those that the prover finds, the bytes
//! those of the rows, the rates those that are declared.
//!
//! What it is not: no proof, and no part of one; no bill. A figure that is not declared has the
//! usual one of `load`, and the report names the pattern's rate as assumed.
//!
//! Invariant: the cost of a schema is the sum of its patterns and its storage.

mod item;
mod show;

pub use show::Beside;
pub(crate) use show::dollars;

use std::collections::BTreeSet;

use crate::basis::Basis;
use crate::load;
use crate::price::Prices;
use crate::volume::{Figure, rows};
use crate::{Options, plan_with};
use item::Items;
use shelfmark_design_language::model::pattern::EffectKind;
use shelfmark_design_language::model::schema::{
    EachOf, Family, FamilyId, ReadStep, Schema, Serve, Step, WritePlan, WriteStep, WriteStepKind,
};
use shelfmark_design_language::model::{
    ColumnPath, Consistency, Model, Read, Term, Write, canonical,
};
use shelfmark_design_language::syntax::tree::{CondOp, Verb};
use shelfmark_design_language::target::{Target, profile};
use shelfmark_design_prove::paths::{all_key_paths, asked_by_index};
use shelfmark_design_prove::range::may_touch;
use shelfmark_design_prove::write::prove_write;
use shelfmark_design_prove::write_case::WriteCase;
use shelfmark_design_prove::{decisive, prove_read, write_certificate};

/// Turns of a loop over a list without a declared maximum.
const USUAL_TURNS: f64 = 5.0;

/// The cost of one pattern.
#[derive(Debug, Clone, PartialEq)]
pub struct PatternCost {
    /// Its name.
    pub name: String,
    /// True for a write.
    pub write: bool,
    /// True if the schema serves it, as the prover says.
    pub served: bool,
    /// Calls a second.
    pub rate: f64,
    /// True if the model declares the rate.
    pub declared: bool,
    /// Read units of one call.
    pub read_units: f64,
    /// Write units of one call.
    pub write_units: f64,
    /// Dollars a month.
    pub month: f64,
}

/// The cost of a schema.
#[derive(Debug, Clone, PartialEq)]
pub struct SchemaCost {
    /// Its name.
    pub schema: String,
    /// The target whose prices count.
    pub target: String,
    /// Number of tables.
    pub tables: usize,
    /// Number of indexes.
    pub indexes: usize,
    /// Its patterns, in the order of the model.
    pub patterns: Vec<PatternCost>,
    /// Dollars a month for what is stored.
    pub storage: f64,
    /// Numbers of rows that no declaration tells, with what is taken instead.
    pub assumed: Vec<(String, f64)>,
    /// Reads whose number of rows no declaration tells, with what is taken instead.
    pub assumed_rows: Vec<(String, f64)>,
    /// The hottest partition: write units a second at the declared peaks, and the table.
    pub hottest: Option<(f64, String)>,
}

impl SchemaCost {
    /// Returns the dollars a month of all that is served, storage included.
    #[must_use]
    pub fn month(&self) -> f64 {
        let served = self.patterns.iter().filter(|one| one.served);
        served.map(|one| one.month).sum::<f64>() + self.storage
    }

    /// Returns the cost of a pattern.
    #[must_use]
    pub fn pattern(&self, name: &str) -> Option<&PatternCost> {
        self.patterns.iter().find(|one| one.name == name)
    }
}

/// Derives a schema for the patterns that a written one serves, and puts both side by side.
///
/// # Errors
///
/// There is no such schema, it serves nothing, or the target has no prices.
pub fn beside(basis: &Basis<'_>, schema: &Schema, name: &str) -> Result<Beside, String> {
    let unknown = || format!("{} has no price list", schema.target);
    let mut written = cost(basis.model, schema).ok_or_else(unknown)?;
    let served: BTreeSet<String> =
        written.patterns.iter().filter(|one| one.served).map(|one| one.name.clone()).collect();
    if served.is_empty() {
        return Err(format!(
            "{} serves no pattern, so there is nothing to compare",
            schema.name.text
        ));
    }
    let left_out: Vec<String> =
        written.patterns.iter().filter(|one| !one.served).map(|one| one.name.clone()).collect();
    written.patterns.retain(|one| one.served);
    let text = basis.only(&served);
    let model = crate::basis::model_of(&text)?;
    let same = Basis::new(&model, &text);
    // Beside few tables stand few.
    let options =
        Options { tables_max: written.tables, indexes_max: written.indexes, ..Options::default() };
    let plan = plan_with(&same, &schema.target, name, options)?;
    let whole = same.with(&plan.schema)?;
    let planned = whole.schemas.first().and_then(|schema| cost(&whole, schema));
    let planned = planned.ok_or_else(unknown)?;
    Ok(Beside { written, planned, left_out, schema: plan.schema })
}

/// Counts the cost of a schema of a model.
#[must_use]
pub fn cost(model: &Model, schema: &Schema) -> Option<SchemaCost> {
    counted(model, schema, false)
}

/// Counts the cost of a schema whose writes with a named plan have been proven.
pub(crate) fn cost_of_proven(model: &Model, schema: &Schema) -> Option<SchemaCost> {
    counted(model, schema, true)
}

fn counted(model: &Model, schema: &Schema, proven: bool) -> Option<SchemaCost> {
    let target = profile(&schema.target)?;
    let prices = Prices::of(&target.name)?;
    let items = Items { model, schema, target };
    Some(Counter { model, schema, target, prices, items, proven }.schema())
}

struct Counter<'a> {
    model: &'a Model,
    schema: &'a Schema,
    target: &'a Target,
    prices: &'static Prices,
    items: Items<'a>,
    /// True if the named plans of writes have been proven.
    proven: bool,
}

impl Counter<'_> {
    fn schema(&self) -> SchemaCost {
        let mut patterns = Vec::new();
        for (index, read) in self.model.reads.iter().enumerate() {
            let proof = prove_read(self.model, self.schema, self.target, index, read);
            let served = decisive(&proof.analysis).is_none();
            let units = proof.serve.as_ref().map_or(0.0, |serve| self.read(read, serve));
            let facts = (&read.name.text, &read.facts);
            patterns.push(self.pattern(facts, false, served, (units, 0.0)));
        }
        for case in WriteCase::all(self.model, self.schema, self.target) {
            let plan = write_certificate::plan(case);
            let named = || self.schema.writes.iter().any(|plan| plan.write == case.index);
            let served = self.proven && named() || decisive(&prove_write(case, &plan)).is_none();
            let units = self.write(case.write, &plan);
            let facts = (&case.write.name.text, &case.write.facts);
            patterns.push(self.pattern(facts, true, served, units));
        }
        let indexes = self.schema.tables.iter().filter(|table| table.is_index).count();
        SchemaCost {
            schema: self.schema.name.text.clone(),
            target: self.target.name.clone(),
            tables: self.schema.tables.len() - indexes,
            indexes,
            patterns,
            storage: self.storage(),
            assumed: self.assumed(),
            assumed_rows: self.assumed_rows(),
            hottest: self.hottest(),
        }
    }

    fn pattern(
        &self,
        (name, facts): (&String, &std::collections::BTreeMap<String, f64>),
        write: bool,
        served: bool,
        (read_units, write_units): (f64, f64),
    ) -> PatternCost {
        let rate = load::rate(facts);
        PatternCost {
            name: name.clone(),
            write,
            served,
            rate,
            declared: facts.contains_key("rate") || facts.contains_key("peak"),
            read_units,
            write_units,
            month: self.prices.reads(rate * read_units) + self.prices.writes(rate * write_units),
        }
    }

    fn storage(&self) -> f64 {
        let of = |(id, family): (usize, &Family)| {
            let items = load::count(self.model, family.source) * self.items.share(family);
            self.prices.storage(items, self.items.bytes(id))
        };
        self.schema.families.iter().enumerate().map(of).sum()
    }

    /// Returns the relations whose number of tuples is not declared.
    fn assumed(&self) -> Vec<(String, f64)> {
        let sources: BTreeSet<usize> =
            self.schema.families.iter().map(|family| family.source).collect();
        let open = sources
            .into_iter()
            .filter(|source| !self.model.relation(*source).facts.contains_key("count"));
        open.map(|source| {
            let name = self.model.relation(source).name.text.clone();
            (name, load::count(self.model, source))
        })
        .collect()
    }

    /// Returns the reads of which no fan-out and no number of values tells how many rows a call finds.
    fn assumed_rows(&self) -> Vec<(String, f64)> {
        let mut found = Vec::new();
        for read in &self.model.reads {
            for (at, source) in read.sources.iter().enumerate() {
                let known = load::equal(self.model, source.relation, &source.predicates);
                let open = !known.is_empty()
                    && rows(self.model, source.relation, &known, Figure::Average).is_none();
                if open {
                    found.push((read.name.text.clone(), load::rows_read(self.model, read, at)));
                }
            }
        }
        found
    }

    /// Returns the read units of one call.
    fn read(&self, read: &Read, serve: &Serve) -> f64 {
        let strong = matches!(read.consistency, Consistency::Strong | Consistency::Session);
        let mut units = 0.0;
        let mut found = 0.0;
        for (at, step) in serve.steps.iter().enumerate() {
            let beside = matches!(step, Step::Also(_));
            let Some(step) = step.read() else { continue };
            if at > 0 && !beside {
                let bytes = self.followed(read, step);
                units += found * self.prices.read_units(bytes, strong);
                continue;
            }
            let turns = turns(read, step);
            let mut bytes = 0.0;
            let mut rows = 0.0;
            let Some(table) = self.schema.tables.get(step.table) else { continue };
            for (id, family) in self.schema.of_table(step.table) {
                if !may_touch(step, table, family) {
                    continue;
                }
                let count = self.rows(read, step, family, turns);
                rows += count;
                bytes += count * self.items.bytes(id) * self.share_read(step, family);
            }
            found += rows * turns;
            units += turns * self.prices.read_units(bytes, strong);
        }
        units
    }

    /// Returns the part of a sparse family's rows that a scan meets.
    fn share_read(&self, step: &ReadStep, family: &Family) -> f64 {
        if step.verb == Verb::Scan { self.items.share(family) } else { 1.0 }
    }

    /// Returns the rows of one family that one turn of a step meets.
    fn rows(&self, read: &Read, step: &ReadStep, family: &Family, turns: f64) -> f64 {
        if step.verb == Verb::Scan && step.bound.is_empty() && step.bounds.is_empty() {
            return load::count(self.model, family.source);
        }
        let Some(at) = read.sources.iter().position(|one| one.relation == family.source) else {
            return 0.0;
        };
        if step.verb == Verb::Get {
            return 1.0;
        }
        let Some(source) = read.sources.get(at) else { return 0.0 };
        let wanted = load::rows_read(self.model, read, at);
        let known = load::equal(self.model, family.source, &source.predicates);
        let mut keys = all_key_paths(self.model, family);
        // What all rows have need not be looked for.
        let fixed = family.when.iter().filter(|one| one.op == CondOp::Eq);
        keys.extend(fixed.map(|one| canonical(self.model, family.source, &one.path)));
        // What the key does not hold is filtered afterwards, and read before.
        let held: BTreeSet<ColumnPath> =
            known.iter().filter(|path| keys.contains(*path)).cloned().collect();
        let dropped = load::rows_of(self.model, family.source, &held)
            / load::rows_of(self.model, family.source, &known).max(1.0);
        let over = if step.limit.is_some() { 1.0 } else { dropped.max(1.0) };
        let list = source.predicates.iter().any(|one| one.op == CondOp::In);
        let share = if list || step.each.is_some() { 1.0 / turns } else { 1.0 };
        // Each turn takes as many as are asked for; the rest is dropped.
        let limited = step.limit.is_some() && step.each.is_some();
        if limited { wanted } else { (wanted * over * share).max(1.0) }
    }

    /// Returns the bytes of what a follow-up read finds.
    fn followed(&self, read: &Read, step: &ReadStep) -> f64 {
        let families: Vec<FamilyId> = self.schema.of_table(step.table).map(|(id, _)| id).collect();
        let literal = |family: &Family| {
            let parts = family.key.first().map(|column| column.parts.as_slice());
            let asked = step.bound.first().map(Vec::as_slice);
            parts.and_then(<[_]>::first) == asked.and_then(<[_]>::first)
        };
        let same = families.iter().filter(|id| {
            self.schema.families.get(**id).is_some_and(|family| {
                literal(family) || families.len() == 1 || read.sources.is_empty()
            })
        });
        same.map(|id| self.items.bytes(*id)).fold(1.0, f64::max)
    }

    /// Returns the read and write units of one call.
    fn write(&self, write: &Write, plan: &WritePlan) -> (f64, f64) {
        let (mut reads, mut writes) = (0.0, 0.0);
        let mut changes = 0.0;
        for step in &plan.steps {
            changes += if step.kind.is_read() { 0.0 } else { self.times(plan, step) };
        }
        for step in &plan.steps {
            if let WriteStepKind::Read { bindings, .. } = &step.kind {
                reads += self.looked_up(step, bindings);
                continue;
            }
            let together = self.target.transactions
                && changes > 1.0
                && (step.transaction.is_some() || plan.derived);
            let times = self.times(plan, step);
            for id in &step.families {
                let factor = if together { self.prices.transaction } else { 1.0 };
                writes += times * factor * self.prices.write_units(self.items.bytes(*id));
                for (entry, family) in self.schema.entries(*id) {
                    let units = self.prices.write_units(self.items.bytes(entry));
                    writes += times * units * self.entries(write, step, family);
                }
            }
        }
        (reads, writes)
    }

    /// Returns how many entries of an index one change of its row writes.
    fn entries(&self, write: &Write, step: &WriteStep, entry: &Family) -> f64 {
        let share = self.items.share(entry);
        let own = self.schema.own_conditions(entry);
        if !step.kind.is_patch() {
            let mut about = write.effects.iter().filter(|effect| effect.relation == entry.source);
            let told = match (about.next(), about.next()) {
                (Some(only), None) if only.kind == EffectKind::Insert && step.kind.is_put() => {
                    crate::sparse::told_by_insert(own, only)
                }
                _ => None,
            };
            return match told {
                Some(false) => 0.0,
                Some(true) if !own.is_empty() => 1.0,
                _ => share,
            };
        }
        let set = |path: &ColumnPath| {
            let owner = self.model.path_owner(entry.source, path);
            write.effects.iter().any(|effect| {
                effect.relation == owner
                    && effect.kind != EffectKind::Insert
                    && effect.set.iter().any(|(column, _)| path.last() == Some(column))
            })
        };
        if asked_by_index(self.model, self.schema, entry).iter().any(set) {
            return 1.0;
        }
        if all_key_paths(self.model, entry).iter().any(set) {
            // An entry that only comes or goes is one write; one that moves is two.
            return match (share < 1.0, own.is_empty()) {
                (true, true) => 1.0,
                _ => 2.0 * share,
            };
        }
        let shown = entry.stored.iter().any(|stored| match stored {
            shelfmark_design_language::model::schema::Stored::Path(path) => {
                set(&canonical(self.model, entry.source, path))
            }
            _ => false,
        });
        if shown { share } else { 0.0 }
    }

    /// Returns how often a change is made in one call.
    fn times(&self, plan: &WritePlan, step: &WriteStep) -> f64 {
        let Some(alias) = step.kind.each() else { return 1.0 };
        let found = plan.steps.iter().find_map(|step| match &step.kind {
            WriteStepKind::Read { bindings, alias: Some(name) } if name == alias => {
                let family = step.families.first().and_then(|id| self.schema.families.get(*id))?;
                Some(self.found(family, bindings))
            }
            _ => None,
        });
        found.unwrap_or(1.0)
    }

    fn found(&self, family: &Family, bindings: &[(ColumnPath, Term)]) -> f64 {
        let known = bindings.iter().map(|(path, _)| canonical(self.model, family.source, path));
        load::rows_of(self.model, family.source, &known.collect())
    }

    fn looked_up(&self, step: &WriteStep, bindings: &[(ColumnPath, Term)]) -> f64 {
        let of = |id: &FamilyId| {
            let family = self.schema.families.get(*id)?;
            let bytes = self.items.bytes(*id) * self.found(family, bindings);
            Some(self.prices.read_units(bytes, family.base.is_none()))
        };
        step.families.iter().filter_map(of).sum()
    }

    /// Returns the hottest partition that declared peaks write to.
    fn hottest(&self) -> Option<(f64, String)> {
        let load = load::Load::of(self.model, self.target, self.prices);
        let mut worst: Option<(f64, String)> = None;
        for (id, family) in self.schema.families.iter().enumerate() {
            let Some(table) = self.schema.tables.get(family.table) else { continue };
            let (known, parts) = crate::volume::called(self.model, self.schema, family, None);
            let units = self.prices.write_units(self.items.bytes(id));
            let partition: Vec<ColumnPath> = known.into_iter().collect();
            let held: BTreeSet<ColumnPath> = all_key_paths(self.model, family)
                .into_iter()
                .chain(family.stored.iter().filter_map(|stored| match stored {
                    shelfmark_design_language::model::schema::Stored::Path(path) => {
                        Some(path.clone())
                    }
                    _ => None,
                }))
                .collect();
            let held = family.base.map(|_| &held);
            let heat =
                load::hottest(self.model, &load, family.source, &partition, held, units) / parts;
            if heat > 0.0 && worst.as_ref().is_none_or(|(most, _)| heat > *most) {
                worst = Some((heat, table.name.text.clone()));
            }
        }
        worst
    }
}

/// Returns how many ranges a step reads.
fn turns(read: &Read, step: &ReadStep) -> f64 {
    match &step.each {
        None => 1.0,
        Some(EachOf::Numbers(low, high)) => ((high - low) as f64 + 1.0).max(1.0),
        Some(EachOf::Param(_)) => {
            let lists = read.sources.iter().flat_map(|source| &source.predicates);
            let most = lists.filter(|one| one.op == CondOp::In).find_map(|one| one.max);
            most.map_or(USUAL_TURNS, |most| (most as f64 / 2.0).max(1.0))
        }
    }
}
