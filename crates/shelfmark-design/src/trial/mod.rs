//! Prepares models to be run on a real store: states, rows, calls, and the right results.
//!
//! What it is not: it has no store; `shelfmark-confirm` puts the engine behind [`Shelf`]. It judges
//! no certificate by itself.
//!
//! Invariant: everything is a function of the seeds given, and what is right is worked out from the
//! state alone, never from rows.

mod layout;
mod requests;
mod rows;
mod shelf;
mod undefined;

pub use layout::{ColumnForm, Form, Layout, TableForm};
pub use shelf::{Ask, Image, KeyValue, Limit, Shelf, Value};
pub use shelfmark_design_prove::calls::literal as cql_literal;

use serde_json::Value as Json;

use crate::Document;
use rows::OnShelf;
use shelfmark_design_language::certificate::{Certificate, Range};
use shelfmark_design_language::model::schema::{Schema, Serve, Step};
use shelfmark_design_language::model::{Model, Read, Write};
use shelfmark_design_language::target::profile;
use shelfmark_design_prove::eval::answer::answer;
use shelfmark_design_prove::eval::change;
use shelfmark_design_prove::eval::generate::{Pool, inputs, state, write_inputs};
use shelfmark_design_prove::eval::json::{inputs_of_json, state_of_json};
use shelfmark_design_prove::eval::random::Random;
use shelfmark_design_prove::eval::rows::{row_of, rows_after};
use shelfmark_design_prove::eval::run::run_on;
use shelfmark_design_prove::eval::state::State;
use shelfmark_design_prove::eval::witness::{inputs_json, records_json, state_json};
use shelfmark_design_prove::{Proof, prove};

/// One schema of a model, with its proofs.
pub struct Trial<'d> {
    model: &'d Model,
    schema: &'d Schema,
    proofs: Vec<Proof>,
}

/// A state of the model.
#[derive(Debug, Clone)]
pub struct Scene {
    state: State,
}

/// Inputs of one call.
#[derive(Debug, Clone)]
pub struct Call {
    inputs: Vec<shelfmark_design_language::model::Value>,
}

/// One call of a read, with the right result and the plan's.
#[derive(Debug, Clone)]
pub struct ReadRun {
    /// True if the plan's answer is a right one.
    pub agrees: bool,
    /// The right answer.
    pub right: Json,
    /// The plan's.
    pub found: Json,
    /// Number of items in the right answer.
    pub items: usize,
    /// Rows of the ranges.
    pub rows_read: usize,
    /// Ranges and point reads.
    pub ranges: usize,
}

impl Document {
    /// Proves the model and prepares each schema to be run.
    ///
    /// Cost: that of [`Document::prove`].
    #[must_use]
    pub fn trials(&self) -> Vec<Trial<'_>> {
        let mut proofs = prove(&self.model, &self.hash());
        let schemas = self.model.schemas.iter().enumerate();
        schemas
            .map(|(number, schema)| {
                let (own, rest) =
                    std::mem::take(&mut proofs).into_iter().partition(|one| one.schema == number);
                proofs = rest;
                Trial { model: &self.model, schema, proofs: own }
            })
            .collect()
    }
}

impl Trial<'_> {
    /// Returns the name of the schema.
    #[must_use]
    pub fn schema(&self) -> &str {
        &self.schema.name.text
    }

    /// Returns the target that it is written for.
    #[must_use]
    pub fn target(&self) -> &str {
        &self.schema.target
    }

    /// Returns the certificates, in the order of the model; other calls name a pattern by its index
    /// here.
    pub fn certificates(&self) -> impl Iterator<Item = &Certificate> {
        self.proofs.iter().map(|proof| &proof.certificate)
    }

    /// Returns the tables that the schema needs in a store.
    ///
    /// # Errors
    ///
    /// What of the schema no store has. Change the schema.
    pub fn layout(&self) -> Result<Layout, String> {
        layout::layout(self.schema, profile(&self.schema.target).ok_or("no such target")?)
    }

    /// Returns a consistent state: about `scale` entities and links of each kind, drawn from the seed.
    #[must_use]
    pub fn scene(&self, seed: u64, scale: usize) -> Scene {
        let pool = Pool::wide(self.schema, scale);
        Scene { state: state(self.model, &pool, &mut Random::new(seed), scale) }
    }

    /// Returns the rows of a state, in no particular order.
    ///
    /// # Errors
    ///
    /// An index that is computed from what its rows do not hold. Change the schema.
    pub fn images(&self, scene: &Scene) -> Result<Vec<Image>, String> {
        self.images_after(scene, scene)
    }

    /// Returns the rows that a write leaves which makes the second state of the first: rows that follow
    /// later are still those of the first.
    ///
    /// # Errors
    ///
    /// As [`Trial::images`].
    pub fn images_after(&self, before: &Scene, after: &Scene) -> Result<Vec<Image>, String> {
        let all = rows_after(self.model, self.schema, &before.state, &after.state);
        let mut images = Vec::new();
        for (table, rows) in &all.tables {
            if self.schema.tables.get(*table).is_some_and(|table| table.is_index) {
                continue;
            }
            for (key, row) in rows {
                let family = self.schema.families.get(row.family).ok_or("no such row family")?;
                let scene = if family.follows.is_some() { before } else { after };
                let value = |path: &Vec<usize>| {
                    Some(scene.state.value(self.model, family.source, &row.origin, path))
                };
                images.push(rows::image(self.model, self.schema, key, row, &value)?);
            }
        }
        Ok(images)
    }

    /// Returns the rows that a write leaves, one for each source: where two have one key, a store can
    /// hold only one of them, and the other is lost.
    ///
    /// # Errors
    ///
    /// As [`Trial::images`].
    pub fn wanted(&self, before: &Scene, after: &Scene) -> Result<Vec<Image>, String> {
        let mut images = Vec::new();
        for (id, family) in self.schema.families.iter().enumerate() {
            if family.base.is_some() {
                continue;
            }
            let scene = if family.follows.is_some() { before } else { after };
            for tuple in scene.state.tuples(family.source) {
                let Some((key, row)) = row_of(self.model, &scene.state, id, family, tuple) else {
                    continue;
                };
                let value = |path: &Vec<usize>| {
                    Some(scene.state.value(self.model, family.source, tuple, path))
                };
                images.push(rows::image(self.model, self.schema, &key, &row, &value)?);
            }
        }
        Ok(images)
    }

    /// Returns inputs that mostly hit what the state holds.
    #[must_use]
    pub fn call(&self, pattern: usize, scene: &Scene, seed: u64) -> Call {
        let pool = Pool::wide(self.schema, scene.state.size());
        let mut random = Random::new(seed);
        let inputs = if let Some(read) = self.read_of(pattern) {
            inputs(self.model, &scene.state, read, &pool, &mut random)
        } else if let Some(write) = self.write_of(pattern) {
            write_inputs(self.model, &scene.state, write, &pool, &mut random)
        } else {
            Vec::new()
        };
        Call { inputs }
    }

    /// Returns the call as JSON, inputs by name.
    #[must_use]
    pub fn call_json(&self, pattern: usize, call: &Call) -> Json {
        match (self.read_of(pattern), self.write_of(pattern)) {
            (Some(read), _) => inputs_json(&read.params, &call.inputs),
            (_, Some(write)) => inputs_json(&write.params, &call.inputs),
            _ => Json::Null,
        }
    }

    /// Returns the state as JSON.
    #[must_use]
    pub fn scene_json(&self, scene: &Scene) -> Json {
        state_json(self.model, &scene.state)
    }

    /// Runs a read by its plan on a store, and computes the right result from the state.
    ///
    /// # Errors
    ///
    /// Why the call cannot be formed, or what the store says.
    pub fn read(
        &self,
        pattern: usize,
        scene: &Scene,
        call: &Call,
        shelf: &dyn Shelf,
    ) -> Result<ReadRun, String> {
        let (read, serve) = self.planned(pattern)?;
        self.run(read, serve, scene, call, shelf)
    }

    /// Returns true if a read comes page by page.
    #[must_use]
    pub fn has_pages(&self, pattern: usize) -> bool {
        self.planned(pattern).is_ok_and(|(read, _)| read.page)
    }

    /// Runs a read whose limit is the size of a page, without the limit: what all pages together are.
    ///
    /// # Errors
    ///
    /// Those of [`Trial::read`].
    pub fn read_pages(
        &self,
        pattern: usize,
        scene: &Scene,
        call: &Call,
        shelf: &dyn Shelf,
    ) -> Result<ReadRun, String> {
        let (read, serve) = self.planned(pattern)?;
        let mut serve = serve.clone();
        if let Some(Step::Read(first)) = serve.steps.first_mut() {
            first.limit = None;
        }
        let whole = Read { limit: None, page: false, ..read.clone() };
        self.run(&whole, &serve, scene, call, shelf)
    }

    /// Returns a read with its plan.
    fn planned(&self, pattern: usize) -> Result<(&Read, &Serve), String> {
        let read = self.read_of(pattern).ok_or("no such read")?;
        let serve = self.proofs.get(pattern).and_then(|proof| proof.serve.as_ref());
        Ok((read, serve.ok_or("there is no plan")?))
    }

    fn run(
        &self,
        read: &Read,
        serve: &Serve,
        scene: &Scene,
        call: &Call,
        shelf: &dyn Shelf,
    ) -> Result<ReadRun, String> {
        let on = OnShelf { model: self.model, schema: self.schema, shelf };
        let outcome = run_on(self.model, self.schema, &on, read, serve, &call.inputs)?;
        let answer = answer(self.model, &scene.state, read, &call.inputs);
        Ok(ReadRun {
            agrees: answer.accepts(&outcome.records),
            right: records_json(self.model, read, &answer.records()),
            found: records_json(self.model, read, &outcome.records),
            items: answer.length(),
            rows_read: outcome.rows_read,
            ranges: outcome.ranges,
        })
    }

    /// Runs a write by its plan on a store.
    ///
    /// # Errors
    ///
    /// Why the call cannot be formed, or what the store says.
    pub fn write(&self, pattern: usize, call: &Call, shelf: &dyn Shelf) -> Result<(), String> {
        let write = self.write_of(pattern).ok_or("no such write")?;
        let plan = self.proofs.get(pattern).and_then(|proof| proof.plan.as_ref());
        let plan = plan.ok_or("there is no plan")?;
        let mut on = OnShelf { model: self.model, schema: self.schema, shelf };
        change::run_on(self.model, self.schema, write, plan, &mut on, &call.inputs)
    }

    /// Returns the state after a write, or nothing where the write is not defined.
    #[must_use]
    pub fn after(&self, pattern: usize, scene: &Scene, call: &Call) -> Option<Scene> {
        let write = self.write_of(pattern)?;
        let state = change::apply(self.model, write, &scene.state, &call.inputs)?;
        Some(Scene { state })
    }

    /// Returns the state and the call that a refusal brings, when it brings a state.
    ///
    /// # Errors
    ///
    /// What in the witness is no state or call of this model.
    pub fn witness(&self, pattern: usize) -> Result<Option<(Scene, Call)>, String> {
        let witness = self.proofs.get(pattern).and_then(|proof| proof.certificate.witness.as_ref());
        let Some((witness, state)) = witness.and_then(|one| Some((one, one.get("state")?))) else {
            return Ok(None);
        };
        let call = witness.get("call").unwrap_or(&Json::Null);
        let params = match (self.read_of(pattern), self.write_of(pattern)) {
            (Some(read), _) => &read.params,
            (_, Some(write)) => &write.params,
            _ => return Err("no such pattern".to_owned()),
        };
        let inputs = inputs_of_json(params, call)?;
        let state = state_of_json(self.model, state)?;
        Ok(Some((Scene { state }, Call { inputs })))
    }

    /// Returns true if no row of the schema keeps what a write changes: nothing in a store shows that it
    /// is lost.
    #[must_use]
    pub fn is_lost(&self, pattern: usize) -> bool {
        self.proofs.get(pattern).is_some_and(|proof| {
            proof.certificate.write && proof.analysis.failures.iter().any(|one| one.lint == "M2")
        })
    }

    /// Returns true if the pattern has a plan that can be run.
    #[must_use]
    pub fn has_plan(&self, pattern: usize) -> bool {
        self.proofs.get(pattern).is_some_and(|proof| proof.serve.is_some() || proof.plan.is_some())
    }

    /// Returns the most rows that one call of a read may return, follow-up reads included: the
    /// bound of its certificate, with this call's inputs; `None` when it states no bound.
    #[must_use]
    pub fn bound(&self, pattern: usize, call: &Call) -> Option<usize> {
        let proof = self.proofs.get(pattern)?;
        let read = self.read_of(pattern)?;
        let rows = proof.certificate.rows_max.of_call(&read.params, &call.inputs)?;
        let steps = &proof.serve.as_ref()?.steps;
        let reads = steps.iter().filter(|step| matches!(step, Step::Read(_))).count();
        Some(rows.saturating_mul(reads.max(1)))
    }

    /// Returns the symbolic range of a read step of a pattern.
    #[must_use]
    pub fn range(&self, pattern: usize, step: usize) -> Option<&Range> {
        self.proofs.get(pattern)?.certificate.ranges.get(step)
    }

    fn read_of(&self, pattern: usize) -> Option<&Read> {
        let proof = self.proofs.get(pattern).filter(|proof| !proof.certificate.write)?;
        self.model.reads.get(proof.pattern)
    }

    fn write_of(&self, pattern: usize) -> Option<&Write> {
        let proof = self.proofs.get(pattern).filter(|proof| proof.certificate.write)?;
        self.model.writes.get(proof.pattern)
    }
}
