//! Statements: variables, ways through the body, and exceptions that have to be caught.
//!
//! What it is not: an analysis of values; only literals decide whether a loop ends.
//!
//! Invariant: behind a statement that does not complete, every variable counts as assigned.

use super::{Checker, Target};
use crate::program::{Code, Constant, Handler, Label, Loop, Step};
use crate::syntax::{
    Catch, Declarator, Expression, ExpressionKind, Group, Statement, StatementKind, TypeName,
};
use crate::ty::Ty;

impl Checker {
    /// Checks a block; returns its steps, and whether it completes.
    pub(super) fn block(&mut self, all: &[Statement]) -> (Vec<Step>, bool) {
        self.scope(|own| own.statements(all))
    }

    fn statements(&mut self, all: &[Statement]) -> (Vec<Step>, bool) {
        let mut steps = Vec::new();
        let mut completes = true;
        for own in all {
            if !completes {
                self.error(own.line, "Unreachable code");
                break;
            }
            completes = self.statement(own, None, &mut steps);
        }
        (steps, completes)
    }

    /// Checks a statement alone in its scope.
    fn single(&mut self, own: &Statement) -> (Vec<Step>, bool) {
        self.block(std::slice::from_ref(own))
    }

    /// Checks a statement; returns whether it completes.
    fn statement(&mut self, own: &Statement, name: Option<&str>, out: &mut Vec<Step>) -> bool {
        let line = own.line;
        match &own.kind {
            StatementKind::Empty => true,
            StatementKind::Block(all) => {
                let (steps, completes) = self.block(all);
                out.push(Step::Block(steps));
                completes
            }
            StatementKind::Expression(own) => {
                let found = self.expression(own);
                out.push(Step::Do(found.code));
                true
            }
            StatementKind::Declaration(ty, is_final, all) => {
                self.declaration(ty, *is_final, all, out);
                true
            }
            StatementKind::If(condition, yes, no) => {
                self.if_statement(condition, yes, no.as_deref(), out)
            }
            StatementKind::While(condition, body) => {
                self.while_loop(Some(condition), false, &[], body, name, out)
            }
            StatementKind::Do(body, condition) => {
                self.while_loop(Some(condition), true, &[], body, name, out)
            }
            StatementKind::For(first, condition, steps, body) => self.scope(|own| {
                for statement in first {
                    own.statement(statement, None, out);
                }
                own.while_loop(condition.as_ref(), false, steps, body, name, out)
            }),
            StatementKind::ForEach(ty, variable, all, body) => {
                self.for_each((ty, variable), all, body, name, out)
            }
            StatementKind::Switch(subject, groups) => self.switch(subject, groups, name, out),
            StatementKind::Return(value) => {
                let returns = self.returns.clone();
                match value {
                    Some(value) => {
                        let code = self.value_for(value, &returns);
                        out.push(Step::Return(code));
                    }
                    None => {
                        let message =
                            format!("This method must return a result of type {}", returns.shown());
                        self.error(line, message);
                    }
                }
                self.leaves()
            }
            StatementKind::Throw(value) => {
                self.throw(value, out);
                self.leaves()
            }
            StatementKind::Try(block, catches, last) => {
                self.try_statement(block, catches, last.as_deref(), out)
            }
            StatementKind::Break(label) => self.jump(line, label.as_deref(), true, out),
            StatementKind::Continue(label) => self.jump(line, label.as_deref(), false, out),
            StatementKind::Labelled(name, inner) => self.labelled(name, inner, out),
        }
    }

    fn leaves(&mut self) -> bool {
        self.assigned.fill(true);
        false
    }

    /// Keeps as assigned what is so on two ways.
    fn merge(&mut self, other: &[bool]) {
        self.assigned.iter_mut().zip(other).for_each(|(own, other)| *own &= *other);
    }

    fn declaration(
        &mut self,
        name: &TypeName,
        is_final: bool,
        all: &[Declarator],
        out: &mut Vec<Step>,
    ) {
        let is_var = name.name == "var" && self.library.resolve("var").is_none();
        let declared = if is_var { Ty::Any } else { self.ty(name) };
        for own in all {
            let mut ty = declared.clone();
            for _ in 0..own.dimensions {
                ty = Ty::Array(Box::new(ty));
            }
            if self.variable(&own.name).is_some() {
                self.error(own.line, format!("Duplicate local variable {}", own.name));
                continue;
            }
            let value = match &own.value {
                None => None,
                Some(Expression { line, kind: ExpressionKind::ArrayOf(None, items) }) => {
                    Some(self.array_of(*line, &ty, items).code)
                }
                Some(value) if is_var => {
                    let found = self.expression(value);
                    ty = found.ty;
                    if matches!(ty, Ty::Null | Ty::Void) {
                        let message = format!(
                            "Cannot infer type for local variable initialized to '{}'",
                            ty.shown()
                        );
                        self.error(own.line, message);
                    }
                    Some(found.code)
                }
                Some(value) => Some(self.value_for(value, &ty)),
            };
            let local = self.declare(&own.name, ty, is_final, value.is_some());
            if let Some(code) = value {
                out.push(Step::Do(Code::Set(crate::program::Place::Local(local), Box::new(code))));
            }
        }
    }

    fn if_statement(
        &mut self,
        condition: &Expression,
        yes: &Statement,
        no: Option<&Statement>,
        out: &mut Vec<Step>,
    ) -> bool {
        let condition = self.condition(condition);
        let before = self.assigned.clone();
        let (yes, yes_completes) = self.single(yes);
        let after_yes = std::mem::replace(&mut self.assigned, before);
        // Variables of the branch are there no more; both lists have a place for them.
        self.assigned.resize(after_yes.len(), true);
        let (no, no_completes) = match no {
            Some(no) => self.single(no),
            None => (Vec::new(), true),
        };
        self.merge(&after_yes);
        out.push(Step::If(condition.code, yes, no));
        yes_completes || no_completes
    }

    fn open(&mut self, name: Option<&str>, is_loop: bool, is_switch: bool) -> Label {
        let label = self.next_label;
        self.next_label += 1;
        let name = name.map(str::to_owned);
        self.labels.push(Target { name, label, is_loop, is_switch, broken: None });
        label
    }

    /// Runs a step inside what can be left; returns what is assigned at its `break`s.
    fn inside(
        &mut self,
        name: Option<&str>,
        is_loop: bool,
        is_switch: bool,
        step: impl FnOnce(&mut Self, Label),
    ) -> Option<Vec<bool>> {
        let label = self.open(name, is_loop, is_switch);
        step(self, label);
        self.labels.pop().and_then(|own| own.broken)
    }

    fn while_loop(
        &mut self,
        condition: Option<&Expression>,
        runs_first: bool,
        steps: &[Expression],
        body: &Statement,
        name: Option<&str>,
        out: &mut Vec<Step>,
    ) -> bool {
        let mut is_endless = condition.is_none();
        let mut after = Vec::new();
        let mut whole = None;
        let broken = self.inside(name, true, false, |own, label| {
            let mut code = None;
            if !runs_first {
                code = condition.map(|condition| own.condition(condition));
                after.clone_from(&own.assigned);
            }
            let (body, _) = own.single(body);
            let steps = steps.iter().map(|step| own.expression(step).code).collect();
            if runs_first {
                code = condition.map(|condition| own.condition(condition));
                after.clone_from(&own.assigned);
            }
            is_endless |= code.as_ref().is_some_and(super::Typed::is_true);
            let condition = code.map(|own| own.code);
            whole = Some(Loop { label, condition, runs_first, steps, body });
        });
        out.extend(whole.map(|own| Step::Loop(Box::new(own))));
        after.resize(self.assigned.len(), true);
        self.assigned = after;
        if is_endless {
            self.assigned.fill(true);
        }
        if let Some(broken) = &broken {
            self.merge(broken);
        }
        !is_endless || broken.is_some()
    }

    fn for_each(
        &mut self,
        (ty, variable): (&TypeName, &str),
        all: &Expression,
        body: &Statement,
        name: Option<&str>,
        out: &mut Vec<Step>,
    ) -> bool {
        let is_var = ty.name == "var";
        let declared = if is_var { Ty::Any } else { self.ty(ty) };
        let found = self.expression(all);
        let element = match &found.ty {
            Ty::Array(element) => (**element).clone(),
            Ty::Class(id, arguments) => {
                let above = self.library.ancestors(*id, arguments);
                let iterable = above.into_iter().find(|(id, _)| id.is("Iterable"));
                match iterable {
                    Some((_, own)) => own.first().cloned().unwrap_or_else(Ty::object),
                    None => Ty::Void,
                }
            }
            _ => Ty::Error,
        };
        if element == Ty::Void {
            let message = "Can only iterate over an array or an instance of java.lang.Iterable";
            self.error(all.line, message);
            return true;
        }
        let declared = if is_var { element.clone() } else { declared };
        let before = self.assigned.clone();
        let is_known = self.variable(variable).is_some();
        if is_known {
            self.error(ty.line, format!("Duplicate local variable {variable}"));
        }
        let value = self.fit(ty.line, super::Typed::new(Code::Old, element), &declared);
        let mut made = None;
        let broken = self.inside(name, true, false, |own, label| {
            made = Some(own.scope(|own| {
                // The iterator has a place of its own in a frame.
                own.slot += 1;
                let local = own.declare(variable, declared, false, true);
                let (body, _) = own.single(body);
                Step::ForEach { label, local, all: found.code, value, body }
            }));
        });
        out.extend(made);
        let count = self.assigned.len();
        self.assigned = before;
        self.assigned.resize(count, true);
        if let Some(broken) = broken {
            self.merge(&broken);
        }
        true
    }

    fn switch(
        &mut self,
        subject: &Expression,
        groups: &[Group],
        name: Option<&str>,
        out: &mut Vec<Step>,
    ) -> bool {
        let found = self.expression(subject);
        let ty = found.ty.unboxed().unwrap_or_else(|| found.ty.clone());
        let is_small = ty.rank().is_some_and(|own| Some(own) <= Ty::Int.rank());
        if !is_small && !ty.is_class("String") && ty != Ty::Error {
            let message = format!(
                "Cannot switch on a value of type {}. Only convertible int values, strings or enum variables are permitted",
                found.ty.shown()
            );
            self.error(subject.line, message);
            return true;
        }
        let subject = if ty.is_primitive() { self.unboxed(found, &ty) } else { found };
        let mut has_default = false;
        let mut completes = true;
        let before = self.assigned.clone();
        let mut made = Vec::new();
        let mut own_label = 0;
        let broken = self.inside(name, false, true, |own, label| {
            own_label = label;
            own.scope(|own| {
                for group in groups {
                    let mut labels = Vec::new();
                    for label in &group.labels {
                        has_default |= label.is_none();
                        labels.push(label.as_ref().map(|label| own.case(label, &ty)));
                    }
                    // A group is reached from the head, and from the one before it.
                    let mut reached = before.clone();
                    reached.resize(own.assigned.len(), true);
                    if completes {
                        own.merge(&reached);
                    } else {
                        own.assigned = reached;
                    }
                    let (steps, goes_on) = own.statements(&group.block);
                    completes = goes_on;
                    made.push((labels, steps));
                }
            });
        });
        out.push(Step::Switch { label: own_label, subject: subject.code, groups: made });
        if !has_default {
            let mut reached = before;
            reached.resize(self.assigned.len(), true);
            self.merge(&reached);
        }
        if let Some(broken) = &broken {
            self.merge(broken);
        }
        completes || !has_default || broken.is_some()
    }

    /// Checks the label of a `case`.
    fn case(&mut self, label: &Expression, ty: &Ty) -> Constant {
        let found = self.expression(label);
        let code = self.fit(label.line, found, ty);
        match code {
            Code::Constant(own) => own,
            _ => {
                self.error(label.line, "case expressions must be constant expressions");
                Constant::Null
            }
        }
    }

    fn throw(&mut self, value: &Expression, out: &mut Vec<Step>) {
        let found = self.expression(value);
        let throwable = self.library.find("Throwable");
        match &found.ty {
            Ty::Class(id, _) if throwable.is_some_and(|own| self.library.is_below(*id, own)) => {
                let is = |name: &str| {
                    self.library.find(name).is_some_and(|own| self.library.is_below(*id, own))
                };
                let is_checked = !is("RuntimeException") && !is("Error");
                let is_caught = self.handled.iter().any(|own| self.library.is_below(*id, *own));
                if is_checked && !is_caught {
                    let message = format!("Unhandled exception type {}", found.ty.shown());
                    self.error(value.line, message);
                }
            }
            Ty::Null | Ty::Error => {}
            other => {
                let message = format!(
                    "No exception of type {} can be thrown; an exception type must be a subclass of Throwable",
                    other.shown()
                );
                self.error(value.line, message);
            }
        }
        out.push(Step::Throw(found.code));
    }

    fn try_statement(
        &mut self,
        block: &[Statement],
        catches: &[Catch],
        last: Option<&[Statement]>,
        out: &mut Vec<Step>,
    ) -> bool {
        let before = self.assigned.clone();
        let kinds: Vec<Vec<_>> = catches
            .iter()
            .map(|own| {
                let all = own.types.iter().map(|ty| self.ty(ty));
                all.filter_map(|ty| if let Ty::Class(id, _) = ty { Some(id) } else { None })
                    .collect()
            })
            .collect();
        let count = self.handled.len();
        self.handled.extend(kinds.iter().flatten().copied());
        let (block, mut completes) = self.block(block);
        self.handled.truncate(count);
        let mut after = std::mem::take(&mut self.assigned);
        let mut handlers = Vec::new();
        for (own, classes) in catches.iter().zip(kinds) {
            self.assigned.clone_from(&before);
            self.assigned.resize(self.locals, true);
            let (local, (body, goes_on)) = self.scope(|checker| {
                let ty = match classes.as_slice() {
                    [only] => Ty::Class(*only, Vec::new()),
                    _ => Ty::class("Throwable"),
                };
                let local = checker.declare(&own.name, ty, false, true);
                (local, checker.block(&own.block))
            });
            completes |= goes_on;
            after.resize(self.assigned.len(), true);
            after.iter_mut().zip(&self.assigned).for_each(|(own, other)| *own &= *other);
            handlers.push(Handler { classes, local, body });
        }
        self.assigned.clone_from(&before);
        self.assigned.resize(self.locals, true);
        let mut ends = true;
        let last = last.map(|last| {
            let (steps, goes_on) = self.block(last);
            ends = goes_on;
            steps
        });
        // What the last block assigns is assigned, too.
        let by_last = std::mem::replace(&mut self.assigned, after);
        self.assigned.resize(by_last.len(), true);
        if last.is_some() {
            let was = before.iter().copied().chain(std::iter::repeat(true));
            let pairs = self.assigned.iter_mut().zip(by_last.iter().zip(was));
            pairs.for_each(|(own, (by_last, was))| *own |= *by_last && !was);
        }
        out.push(Step::Try(block, handlers, last.unwrap_or_default()));
        completes && ends
    }

    fn jump(&mut self, line: u32, name: Option<&str>, is_break: bool, out: &mut Vec<Step>) -> bool {
        let assigned = self.assigned.clone();
        let found = self.labels.iter_mut().rev().find(|own| match name {
            Some(name) => own.name.as_deref() == Some(name) && (is_break || own.is_loop),
            None => own.is_loop || is_break && own.is_switch,
        });
        let Some(found) = found else {
            let message = match (name, is_break) {
                (Some(name), _) => format!("The label {name} is missing"),
                (None, true) => "break cannot be used outside of a loop or a switch".to_owned(),
                (None, false) => "continue cannot be used outside of a loop".to_owned(),
            };
            self.error(line, message);
            // So that this alone is said of it.
            return true;
        };
        if is_break {
            match &mut found.broken {
                Some(own) => own.iter_mut().zip(&assigned).for_each(|(own, now)| *own &= *now),
                None => found.broken = Some(assigned),
            }
            out.push(Step::Break(found.label));
        } else {
            out.push(Step::Continue(found.label));
        }
        self.leaves()
    }

    fn labelled(&mut self, name: &str, inner: &Statement, out: &mut Vec<Step>) -> bool {
        let is_loop = matches!(
            inner.kind,
            StatementKind::While(..)
                | StatementKind::Do(..)
                | StatementKind::For(..)
                | StatementKind::ForEach(..)
        );
        if is_loop {
            return self.statement(inner, Some(name), out);
        }
        let mut steps = Vec::new();
        let mut completes = true;
        let mut own_label = 0;
        let broken = self.inside(Some(name), false, false, |own, label| {
            own_label = label;
            completes = own.scope(|own| own.statement(inner, None, &mut steps));
        });
        if let Some(broken) = &broken {
            self.merge(broken);
        }
        out.push(Step::Labelled(own_label, steps));
        completes || broken.is_some()
    }
}
