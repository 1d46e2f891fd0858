//! Which relations a search for a witness has to draw: those that a plan may meet.
//!
//! A model may have a thousand entities, of which one pattern concerns two or three. States of all
//! of them would cost a thousand times as much and show nothing more.
//!
//! What it is not: no claim. A state drawn from some relations is a state of the whole model, in
//! which the others are empty.
//!
//! Invariant: with a relation all that it refers to is drawn.

use crate::model::schema::{Family, FamilyId, ReadStep, Schema, Serve, Step, Stored, WritePlan};
use crate::model::{Model, Read, RelationId, Write};
use crate::prove::range::{may_touch, told};
use crate::prove::unique::keys_may_meet;

/// Most relations that a search begins with, the pattern's own first; what they refer to comes in
/// addition.
///
/// Ours: more row types than this in one range show nothing that fewer do not.
const RELATIONS_MAX: usize = 16;

/// The relations that are drawn, in the order in which they were found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Focus {
    relations: Vec<RelationId>,
}

impl Focus {
    /// What one plan of a read may meet.
    pub(crate) fn of_read(model: &Model, schema: &Schema, read: &Read, serve: &Serve) -> Self {
        let mut focus = Self::default();
        for source in &read.sources {
            focus.add(source.relation);
        }
        for step in &serve.steps {
            let Step::Read(step) = step else { continue };
            focus.touched(schema, step);
        }
        focus.closed(model)
    }

    /// What one plan of a write may meet.
    pub(crate) fn of_write(
        model: &Model,
        schema: &Schema,
        write: &Write,
        plan: &WritePlan,
    ) -> Self {
        let mut focus = Self::default();
        for effect in &write.effects {
            focus.add(effect.relation);
            if let Some(each) = &effect.each {
                focus.add(each.relation);
            }
        }
        for effect in &write.effects {
            for (id, family) in schema.concerned(effect.relation) {
                focus.family(schema, id, family);
            }
        }
        for id in plan.steps.iter().flat_map(|step| &step.families) {
            if let Some(family) = schema.families.get(*id) {
                focus.family(schema, *id, family);
            }
        }
        focus.closed(model)
    }

    /// What shares a family's keys.
    pub(crate) fn of_family(model: &Model, schema: &Schema, id: FamilyId) -> Self {
        let mut focus = Self::default();
        if let Some(family) = schema.families.get(id) {
            focus.family(schema, id, family);
        }
        focus.closed(model)
    }

    pub(crate) fn relations(&self) -> &[RelationId] {
        &self.relations
    }

    fn add(&mut self, relation: RelationId) {
        if self.relations.len() < RELATIONS_MAX && !self.relations.contains(&relation) {
            self.relations.push(relation);
        }
    }

    fn kept(&mut self, family: &Family) {
        self.add(family.source);
        for stored in &family.stored {
            if let Stored::Collect { relation, .. } | Stored::Count { relation, .. } = stored {
                self.add(*relation);
            }
        }
    }

    fn family(&mut self, schema: &Schema, id: FamilyId, family: &Family) {
        self.kept(family);
        let key = family.key.iter().map(|column| column.parts.as_slice());
        for (other_id, other) in schema.like(family.table, key) {
            if other_id != id && keys_may_meet(family, other) {
                self.kept(other);
            }
        }
    }

    fn touched(&mut self, schema: &Schema, step: &ReadStep) {
        let Some(table) = schema.tables.get(step.table) else { return };
        for (_, family) in schema.like(step.table, told(step)) {
            if may_touch(step, table, family) {
                self.kept(family);
            }
        }
    }

    /// Adds what is referred to, in as many rounds as it takes.
    fn closed(mut self, model: &Model) -> Self {
        let mut at = 0;
        while let Some(relation) = self.relations.get(at).copied() {
            for target in model.relation(relation).columns.iter().filter_map(|one| one.refers) {
                if !self.relations.contains(&target) {
                    self.relations.push(target);
                }
            }
            at += 1;
        }
        self
    }
}
