//! Statements, run.
//!
//! What it is not: a check; what is not as the check left it ends in an exception.
//!
//! Invariant: a `finally` runs on every way out but that of a limit.

use std::rc::Rc;

use super::{Machine, Run};
use crate::program::{Handler, Label, Loop, Step};
use crate::value::{Class, Object, Thrown, Value};

/// The end of a statement.
pub(super) enum Flow {
    Next,
    Return(Value),
    Break(Label),
    Continue(Label),
}

impl Machine<'_> {
    /// Runs statements, one after the other.
    pub(super) fn steps(&mut self, all: &[Step]) -> Run<Flow> {
        for step in all {
            match self.step(step)? {
                Flow::Next => {}
                other => return Ok(other),
            }
        }
        Ok(Flow::Next)
    }

    fn step(&mut self, step: &Step) -> Run<Flow> {
        self.spend(1)?;
        match step {
            Step::Block(all) => self.steps(all),
            Step::Do(code) => self.code(code).map(|_| Flow::Next),
            Step::If(condition, yes, no) => {
                let chosen = if self.truth(condition)? { yes } else { no };
                self.steps(chosen)
            }
            Step::Loop(own) => self.run_loop(own),
            Step::ForEach { label, local, all, value, body } => {
                let all = self.code(all)?;
                for item in self.items_of(&all)? {
                    self.spend(1)?;
                    self.old.push(item);
                    let item = self.code(value);
                    self.old.pop();
                    self.set_local(*local, item?);
                    match self.steps(body)? {
                        Flow::Next => {}
                        Flow::Continue(own) if own == *label => {}
                        Flow::Break(own) if own == *label => break,
                        other => return Ok(other),
                    }
                }
                Ok(Flow::Next)
            }
            Step::Switch { label, subject, groups } => {
                let subject = self.code(subject)?;
                if matches!(subject, Value::Null) {
                    return Err(Thrown::null(
                        "Cannot invoke \"String.hashCode()\" because value is null",
                    ));
                }
                let is_it = |labels: &Vec<Option<_>>| {
                    let mut all = labels.iter().flatten();
                    all.any(|own| super::show::equal_labels(&subject, &Value::constant(own)))
                };
                let chosen = groups.iter().position(|(labels, _)| is_it(labels));
                let default = || groups.iter().position(|(labels, _)| labels.contains(&None));
                let Some(first) = chosen.or_else(default) else { return Ok(Flow::Next) };
                for (_, body) in groups.iter().skip(first) {
                    match self.steps(body)? {
                        Flow::Next => {}
                        Flow::Break(own) if own == *label => break,
                        other => return Ok(other),
                    }
                }
                Ok(Flow::Next)
            }
            Step::Labelled(label, body) => match self.steps(body)? {
                Flow::Break(own) if own == *label => Ok(Flow::Next),
                other => Ok(other),
            },
            Step::Return(code) => self.code(code).map(Flow::Return),
            Step::Throw(code) => match self.code(code)? {
                Value::Object(own) => match &*own {
                    Object::Exception(own) => Err(Box::new(own.clone())),
                    _ => Err(Thrown::illegal("no exception")),
                },
                _ => Err(Thrown::null("Cannot throw exception because \"null\" is null")),
            },
            Step::Try(block, handlers, last) => self.attempt(block, handlers, last),
            Step::Break(label) => Ok(Flow::Break(*label)),
            Step::Continue(label) => Ok(Flow::Continue(*label)),
        }
    }

    fn run_loop(&mut self, own: &Loop) -> Run<Flow> {
        let mut is_first = own.runs_first;
        loop {
            self.spend(1)?;
            if let Some(condition) = own.condition.as_ref().filter(|_| !is_first)
                && !self.truth(condition)?
            {
                return Ok(Flow::Next);
            }
            is_first = false;
            match self.steps(&own.body)? {
                Flow::Next => {}
                Flow::Continue(label) if label == own.label => {}
                Flow::Break(label) if label == own.label => return Ok(Flow::Next),
                other => return Ok(other),
            }
            for step in &own.steps {
                self.code(step)?;
            }
        }
    }

    fn attempt(&mut self, block: &[Step], handlers: &[Handler], last: &[Step]) -> Run<Flow> {
        let height = self.old.len();
        let mut result = self.steps(block);
        if let Err(thrown) = &result {
            self.old.truncate(height);
            let handler =
                handlers.iter().find(|own| own.classes.iter().any(|class| thrown.is_of(*class)));
            if let Some(handler) = handler {
                self.take(thrown.size_bytes())?;
                let own = Value::Object(Rc::new(Object::Exception((**thrown).clone())));
                self.set_local(handler.local, own);
                result = self.steps(&handler.body);
            }
        }
        let is_limit =
            result.as_ref().is_err_and(|own| matches!(own.class, Class::Steps | Class::Memory));
        if is_limit {
            return result;
        }
        match self.steps(last)? {
            Flow::Next => result,
            other => Ok(other),
        }
    }

    pub(super) fn set_local(&mut self, local: usize, value: Value) {
        if let Some(place) = self.locals.get_mut(local) {
            *place = value;
        }
    }
}
