//! Selects the relations that a search for a witness has to draw: those that a plan may meet; and
//! the values that it should try, because pattern and plan name them.
//!
//! A model may have a thousand entities, of which one pattern concerns two or three. States of all
//! of them would cost a thousand times as much and show nothing more.
//!
//! What it is not: no claim. A state drawn from some relations is a state of the whole model, in
//! which the others are empty.
//!
//! Invariant: with a relation all that it refers to is drawn.

use std::collections::BTreeSet;

use crate::range::{known_beginnings, may_touch};
use crate::unique::keys_may_meet;
use shelfmark_design_language::model::schema::{
    Family, FamilyId, Part, ReadStep, Schema, Serve, Step, Stored, WritePlan,
};
use shelfmark_design_language::model::value::iso_value;
use shelfmark_design_language::model::{Model, Read, RelationId, Term, Type, Value, Write};

/// Most relations that a search begins with, the pattern's own first; what they refer to comes in
/// addition.
///
/// Ours: more row types than this in one range show nothing that fewer do not.
const RELATIONS_MAX: usize = 16;

/// The relations to draw, in the order in which they were found, and the constants to try.
#[derive(Debug, Clone, Default)]
pub struct Focus {
    relations: Vec<RelationId>,
    constants: BTreeSet<Value>,
}

impl Focus {
    /// Returns the focus on one plan of a read.
    pub fn of_read(model: &Model, schema: &Schema, read: &Read, serve: &Serve) -> Self {
        let mut focus = Self::default();
        for source in &read.sources {
            focus.add(source.relation);
            focus.terms(source.predicates.iter().flat_map(|one| &one.values));
        }
        for step in &serve.steps {
            focus.step(step);
            if let Some(step) = step.read() {
                focus.touched(schema, step);
            }
        }
        focus.closed(model)
    }

    /// Returns the constants of all of a schema's plans and of its sparse rows, and no relation.
    pub fn of_plans(schema: &Schema) -> Self {
        let mut focus = Self::default();
        for step in schema.serves.iter().flat_map(|serve| &serve.steps) {
            focus.step(step);
        }
        for family in &schema.families {
            focus.guards(family);
        }
        focus
    }

    /// Returns the focus on one plan of a write.
    pub fn of_write(model: &Model, schema: &Schema, write: &Write, plan: &WritePlan) -> Self {
        let mut focus = Self::default();
        for effect in &write.effects {
            focus.add(effect.relation);
            focus.terms(effect.key.iter().chain(&effect.set).map(|(_, term)| term));
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

    /// Returns the focus on the families that may share keys with one.
    pub fn of_family(model: &Model, schema: &Schema, id: FamilyId) -> Self {
        let mut focus = Self::default();
        if let Some(family) = schema.families.get(id) {
            focus.family(schema, id, family);
        }
        focus.closed(model)
    }

    /// Returns the relations to draw.
    pub fn relations(&self) -> &[RelationId] {
        &self.relations
    }

    /// Returns the constants of the pattern and of its plan, with what a plan's texts may mean.
    pub fn constants(&self) -> &BTreeSet<Value> {
        &self.constants
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Read(step) | Step::Also(step) => self.texts(step),
            Step::Filter(tests) => self.terms(tests.iter().flat_map(|one| &one.values)),
            Step::Sort(_) | Step::Take(_) => {}
        }
    }

    fn terms<'t>(&mut self, terms: impl Iterator<Item = &'t Term>) {
        for term in terms {
            if let Term::Const(value @ (Value::Int(_) | Value::Text(_))) = term {
                self.constants.insert(value.clone());
            }
        }
    }

    /// Adds numbers, days and times in the texts of a plan: `y#2021` may be a year.
    fn texts(&mut self, step: &ReadStep) {
        let ends = step.bounds.iter().map(|(_, parts)| parts);
        for part in step.bound.iter().chain(ends).flatten() {
            match part {
                Part::Hole { term, .. } => self.terms(std::iter::once(term)),
                Part::Literal(text) => {
                    let other = |c: char| !c.is_ascii_alphanumeric() && !"-:.".contains(c);
                    for word in text.split(other).filter(|word| !word.is_empty()) {
                        self.constants.extend(word.parse().ok().map(Value::Int));
                        let times = [Type::Date, Type::Timestamp];
                        self.constants.extend(times.iter().filter_map(|ty| iso_value(word, ty)));
                    }
                }
                Part::End => {}
            }
        }
    }

    fn add(&mut self, relation: RelationId) {
        if self.relations.len() < RELATIONS_MAX && !self.relations.contains(&relation) {
            self.relations.push(relation);
        }
    }

    /// Adds the constants of the conditions under which rows are there.
    fn guards(&mut self, family: &Family) {
        self.terms(family.when.iter().flat_map(|one| &one.values));
    }

    fn kept(&mut self, family: &Family) {
        self.add(family.source);
        self.guards(family);
        for stored in &family.stored {
            if let Stored::Collect { relation, .. } | Stored::Tally { relation, .. } = stored {
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
        for (_, family) in schema.like(step.table, known_beginnings(step)) {
            if may_touch(step, table, family) {
                self.kept(family);
            }
        }
    }

    /// Adds the relations that are referred to, in as many rounds as it takes.
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
