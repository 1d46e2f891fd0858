//! Resolves writes of patterns.

use super::super::pattern::{Each, Effect, EffectKind, Predicate, Write};
use super::super::relation::Column;
use super::super::term::{Function, Term};
use super::super::types::Type;
use super::super::value::Value;
use super::patterns::{Params, Scope};
use super::relations::lower;
use super::{Resolver, facts_of, named};
use crate::syntax::diagnostic::Diagnostic;
use crate::syntax::tree::{self, CondOp, EffectKind as Written, Existing, Field};

/// The comparisons of conditions on writes.
pub(super) const CONDITIONS: [CondOp; 7] =
    [CondOp::Eq, CondOp::Lt, CondOp::Le, CondOp::Gt, CondOp::Ge, CondOp::Present, CondOp::Absent];

impl Resolver {
    pub(super) fn write(&mut self, write: &tree::Write) {
        if self.reads.contains_key(&write.name.text) || self.writes.contains_key(&write.name.text) {
            self.twice("pattern", &write.name);
        }
        let mut params = Params::declared(self, &write.params);
        let effects: Vec<Effect> =
            write.effects.iter().filter_map(|effect| self.effect(effect, &mut params)).collect();
        let mut begins = effects.iter().filter(|one| one.begins());
        let beside = |one: &Effect| {
            effects.iter().filter(|other| other.relation == one.relation).count() > 1
        };
        if begins.any(beside) {
            let message = "an increment `or insert` is the only change of its entity in a write";
            self.error(Diagnostic::error(write.span, message.to_owned()));
        }
        let written = write.effects.iter().flat_map(|effect| &effect.differ);
        let differ = written.filter_map(|one| self.differ(one, &mut params)).collect();
        let facts = facts_of(&write.facts);
        let params = params.finish(self);
        let index = self.model.writes.len();
        self.writes.entry(write.name.text.clone()).or_insert(index);
        self.model.writes.push(Write {
            name: named(&write.name),
            params,
            effects,
            differ,
            atomic: facts.contains_key("atomic"),
            facts,
            span: write.span,
        });
    }

    /// Resolves two inputs, or two lists of them, that differ.
    fn differ(
        &mut self,
        written: &tree::Differ,
        params: &mut Params,
    ) -> Option<Vec<(usize, usize)>> {
        let mut sides = [Vec::new(), Vec::new()];
        for (side, paths) in sides.iter_mut().zip([&written.left, &written.right]) {
            for path in paths {
                let name = path.text();
                let own = params.named(&name);
                if own.is_empty() {
                    let message = format!("`{name}` is no input of this write");
                    let help = "inputs may be said to differ, `if s != t`; an attribute is compared \
                                by `=`, `<`, `<=`, `>`, `>=`, `is present`, `is absent`";
                    self.error(Diagnostic::error(path.span(), message).help(help));
                    return None;
                }
                side.extend(own);
            }
        }
        let [left, right] = sides;
        let wrong = if left.len() != right.len() {
            Some("the two sides of `!=` stand for different numbers of values")
        } else if left == right {
            Some("an input is never another than itself")
        } else if left.iter().zip(&right).any(|(a, b)| !params.comparable(*a, *b)) {
            Some("the two sides of `!=` have different types")
        } else {
            None
        };
        if let Some(message) = wrong {
            self.error(Diagnostic::error(written.span, message.to_owned()));
            return None;
        }
        Some(left.into_iter().zip(right).collect())
    }

    fn effect(&mut self, effect: &tree::Effect, params: &mut Params) -> Option<Effect> {
        let relation = self.relation_id(&effect.relation)?;
        let mut each = None;
        if let Some(written) = &effect.each {
            let source = self.relation_id(&written.source)?;
            let alias = written.alias.as_ref();
            let alias = alias.map_or_else(|| lower(&written.source.text), |name| name.text.clone());
            let predicates = written
                .conds
                .iter()
                .filter_map(|cond| self.predicate(source, cond, params, Scope::NONE))
                .collect();
            each = Some(Each { relation: source, alias, predicates });
        }
        let prior = each.as_ref().map(|each| (each.alias.as_str(), each.relation));
        let scope = Scope { relation: None, prior, each: None };
        let changes_by = effect.kind == Written::Increment;
        let mut key = self.bindings(relation, &effect.key, true, params, scope);
        let mut set = self.bindings(relation, &effect.set, !changes_by, params, scope);
        if matches!(effect.kind, Written::Update | Written::Increment) {
            self.check_lasting(relation, &effect.set);
        }
        if changes_by {
            self.check_added(relation, &effect.set);
        }
        let kind = match effect.kind {
            Written::Insert | Written::Link => EffectKind::Insert,
            Written::Update => EffectKind::Update,
            Written::Delete | Written::Unlink => EffectKind::Delete,
            Written::Increment => EffectKind::Increment,
        };
        if kind == EffectKind::Insert {
            key.append(&mut set);
            self.check_complete(relation, effect, &key);
        } else {
            self.check_selects_one(relation, effect, &key);
        }
        self.check_together(
            relation,
            kind,
            effect,
            if kind == EffectKind::Insert { &key } else { &set },
        );
        let conditions = self.conditions(relation, kind, effect, params);
        if effect.existing == Existing::Insert {
            self.check_begins(relation, effect, [&key, &set]);
        }
        Some(Effect { kind, relation, key, set, existing: effect.existing, conditions, each })
    }

    /// Resolves the conditions of an effect on its own tuple.
    fn conditions(
        &mut self,
        relation: usize,
        kind: EffectKind,
        effect: &tree::Effect,
        params: &mut Params,
    ) -> Vec<Predicate> {
        let mut found = Vec::new();
        for cond in &effect.conds {
            let wrong = if kind == EffectKind::Insert {
                Some(("a new tuple has nothing to compare with", "write `unless exists`"))
            } else if effect.each.is_some() {
                Some(("a condition is on one tuple, and this is a loop", "select by `where`"))
            } else if !CONDITIONS.contains(&cond.op) {
                let help = "`=`, `<`, `<=`, `>`, `>=`, `is present` and `is absent` are known here";
                Some(("no target has this comparison as the condition of a write", help))
            } else {
                None
            };
            if let Some((message, help)) = wrong {
                self.error(Diagnostic::error(cond.span, message.to_owned()).help(help));
                continue;
            }
            let Some(one) = self.predicate(relation, cond, params, Scope::NONE) else { continue };
            let ty = self.model.path_type(relation, &one.path);
            let ordered = !matches!(cond.op, CondOp::Eq | CondOp::Present | CondOp::Absent);
            let wrong = if one.path.len() != 1 {
                Some("a condition is on an attribute of the tuple itself")
            } else if matches!(ty, Type::List(..)) || ordered && ty == Type::Bool {
                Some("values of this type are not compared in the condition of a write")
            } else {
                None
            };
            match wrong {
                Some(message) => self.error(Diagnostic::error(cond.span, message.to_owned())),
                None => found.push(one),
            }
        }
        found
    }

    /// Reports an increment of what may begin to be whose tuple would not be whole, or that asks for more
    /// than the tuple's key.
    fn check_begins(
        &mut self,
        relation: usize,
        effect: &tree::Effect,
        [key, set]: [&[(usize, Term)]; 2],
    ) {
        let found = self.model.relation(relation);
        let own = found.key();
        let exact = key.len() == own.len() && key.iter().all(|(at, _)| own.contains(at));
        let open = found.columns.iter().enumerate().find(|(at, column)| {
            let given = own.contains(at) || set.iter().any(|(other, _)| other == at);
            !given && !column.optional
        });
        let wrong = if effect.each.is_some() {
            Some(("a loop goes over what is there", "leave out `or insert`".to_owned()))
        } else if !effect.conds.is_empty() {
            let help = "leave out `or insert`, or the condition".to_owned();
            Some(("what begins to be has nothing to compare with", help))
        } else if !exact {
            let names: Vec<&str> = own.iter().map(|at| found.column_name(*at)).collect();
            let help = format!("name the key and no more: ({})", names.join(", "));
            Some(("what begins to be is named by its key", help))
        } else {
            open.map(|(_, column)| {
                let help = format!("add to `{}` too, or mark it `optional`", column.name);
                ("what begins to be would not be whole", help)
            })
        };
        if let Some((message, help)) = wrong {
            self.error(Diagnostic::error(effect.span, message.to_owned()).help(help));
        }
    }

    /// Reports a change of an attribute that is declared never to change.
    fn check_lasting(&mut self, relation: usize, written: &[(Field, tree::Expr)]) {
        for (name, _) in written {
            let found = self.model.relation(relation);
            let column = found.column(&name.text).and_then(|at| found.columns.get(at));
            if column.is_some_and(Column::lasts) {
                let message = format!("`{}` is immutable, and is changed here", name.text);
                let help = format!("leave out `immutable` where `{}` is declared", found.name.text);
                self.error(Diagnostic::error(name.span, message).help(help));
            }
        }
    }

    /// Reports an addition to what no target adds to.
    fn check_added(&mut self, relation: usize, written: &[(Field, tree::Expr)]) {
        for (name, _) in written {
            let found = self.model.relation(relation);
            let Some(column) = found.column(&name.text) else { continue };
            let ty = self.model.path_type(relation, &[column]);
            if !matches!(ty, Type::Int(_) | Type::Decimal(_) | Type::Timestamp) {
                let message = format!("`{}` is no number, and is added to here", name.text);
                let help = format!("write `update {}(…) set {} = …`", found.name.text, name.text);
                self.error(Diagnostic::error(name.span, message).help(help));
            }
        }
    }

    fn bindings(
        &mut self,
        relation: usize,
        written: &[(Field, tree::Expr)],
        checked: bool,
        params: &mut Params,
        scope: Scope<'_>,
    ) -> Vec<(usize, Term)> {
        let mut found: Vec<(usize, Term)> = Vec::new();
        for (name, expr) in written {
            let Some(column) = self.column_id(relation, name) else { continue };
            let ty = self.model.path_type(relation, &[column]);
            if found.iter().any(|(other, _)| *other == column) {
                self.twice("value of", name);
            }
            let optional =
                self.model.relation(relation).columns.get(column).is_some_and(|one| one.optional);
            // `absent` takes an optional attribute away.
            let is_absent =
                matches!(&expr.kind, tree::ExprKind::Path(path) if path.text() == "absent");
            if optional && is_absent {
                found.push((column, Term::Const(Value::Null)));
            } else if let (Some(taken), false) = (taken(expr), checked) {
                let of = self.value(taken, Some(&ty), params, scope);
                found.extend(of.map(|of| (column, Term::Call(Function::Minus, vec![of]))));
            } else if let Some(term) = self.value(expr, Some(&ty), params, scope) {
                // What a counter changes by may lie outside what it counts to.
                if checked {
                    self.check_held(&term, &ty, expr.span);
                }
                found.push((column, term));
            }
        }
        found
    }

    fn check_complete(&mut self, relation: usize, effect: &tree::Effect, given: &[(usize, Term)]) {
        let missing: Vec<String> = self
            .model
            .relation(relation)
            .columns
            .iter()
            .enumerate()
            .filter(|(index, column)| {
                !column.optional && !given.iter().any(|(other, _)| other == index)
            })
            .map(|(_, column)| column.name.clone())
            .collect();
        if !missing.is_empty() {
            let message = format!(
                "a new `{}` needs {}",
                effect.relation.text,
                missing.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
            );
            self.error(
                Diagnostic::error(effect.span, message)
                    .help("give each a value, or mark the attribute `optional`"),
            );
        }
    }

    /// Reports a write whose result is no state: it leaves a part of what comes together.
    fn check_together(
        &mut self,
        relation: usize,
        kind: EffectKind,
        effect: &tree::Effect,
        given: &[(usize, Term)],
    ) {
        let found = self.model.relation(relation);
        let absent = Term::Const(Value::Null);
        let is = |at: &usize, there: bool| {
            given.iter().any(|(other, term)| other == at && (*term != absent) == there)
        };
        let half = found.together.iter().find_map(|group| {
            let begun = |at: &&usize| match kind {
                EffectKind::Insert => is(at, true),
                _ => is(at, false),
            };
            let left = |at: &&usize| match kind {
                EffectKind::Insert => !is(at, true),
                _ => !is(at, false),
            };
            let (begun, left) = (group.iter().find(begun)?, group.iter().find(left)?);
            Some((found.column_name(*begun).to_owned(), found.column_name(*left).to_owned()))
        });
        let Some((begun, left)) = half else { return };
        let message = match kind {
            EffectKind::Insert => {
                format!("`{begun}` comes together with `{left}`, which is not given")
            }
            _ => format!("`{begun}` is taken away and `{left}` is not: they come together"),
        };
        let help = "give both, or neither";
        self.error(Diagnostic::error(effect.span, message).help(help));
    }

    fn check_selects_one(&mut self, relation: usize, effect: &tree::Effect, key: &[(usize, Term)]) {
        let found = self.model.relation(relation);
        let whole = found
            .keys
            .iter()
            .any(|wanted| wanted.iter().all(|column| key.iter().any(|(other, _)| other == column)));
        if whole {
            return;
        }
        let names: Vec<&str> =
            found.key().iter().map(|column| found.column_name(*column)).collect();
        let message = format!(
            "this selects no single `{}`: its key is ({})",
            effect.relation.text,
            names.join(", ")
        );
        self.error(
            Diagnostic::error(effect.span, message)
                .help("name the whole key; for several, write `for each … where …`"),
        );
    }
}

/// Returns the value that is taken away where numbers are added.
fn taken(expr: &tree::Expr) -> Option<&tree::Expr> {
    match &expr.kind {
        tree::ExprKind::Call { name, args } if name.text == Function::Minus.name() => args.first(),
        _ => None,
    }
}
