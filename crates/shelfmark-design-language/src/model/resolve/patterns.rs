//! Resolves reads, predicates and values of patterns.

use std::collections::{BTreeMap, BTreeSet};

use super::super::pattern::{Consistency, Param, Predicate, Read, Source};
use super::super::relation::{Column, RelationId};
use super::super::term::{ColumnPath, Function, Term};
use super::super::types::Type;
use super::super::value::{Value, iso_value};
use super::relations::lower;
use super::{Resolver, constant, facts_of, named};
use crate::syntax::diagnostic::{Diagnostic, nearest};
use crate::syntax::span::Span;
use crate::syntax::tree::{self, Aggregate, Cond, CondOp, Expr, ExprKind, Path};

/// The scope of names in a value, beside inputs.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    /// Its attributes are `Term::Column`.
    pub(super) relation: Option<RelationId>,
    /// Its attributes, behind the alias, are `Term::Prior`.
    pub(super) prior: Option<(&'a str, RelationId)>,
    /// The name of `each`.
    pub(super) each: Option<(&'a str, &'a Type)>,
}

impl Scope<'_> {
    pub(super) const NONE: Self = Self { relation: None, prior: None, each: None };
}

/// Returns the read that a minimum or maximum stands for: the first row in the order of the attribute,
/// whose first value it is. `None` for other reads.
fn extreme(read: &tree::Read) -> Option<tree::Read> {
    let (kind @ (Aggregate::Min | Aggregate::Max), Some(path)) = read.aggregate.as_ref()? else {
        return None;
    };
    let plain = read.select.is_none()
        && read.with.is_empty()
        && read.order.is_empty()
        && read.limit.is_none()
        && read.offset.is_none()
        && read.sources.len() == 1;
    let desc = *kind == Aggregate::Max;
    let order = tree::Order { path: path.clone(), others: Vec::new(), desc };
    plain.then(|| tree::Read {
        aggregate: None,
        select: Some(vec![path.clone()]),
        order: vec![order],
        limit: Some(Expr { kind: ExprKind::Int(1), span: read.span }),
        ..read.clone()
    })
}

/// Returns the consistency that facts ask for, the strongest of those named.
fn consistency(facts: &BTreeMap<String, f64>) -> Consistency {
    let levels = [
        ("strong", Consistency::Strong),
        ("session", Consistency::Session),
        ("eventual", Consistency::Eventual),
    ];
    let found = levels.into_iter().find(|(word, _)| facts.contains_key(*word));
    found.map_or(Consistency::Any, |(_, level)| level)
}

impl Resolver {
    pub(super) fn read(&mut self, read: &tree::Read) {
        if self.reads.contains_key(&read.name.text) || self.writes.contains_key(&read.name.text) {
            self.twice("pattern", &read.name);
        }
        let first_of_order = extreme(read);
        let read = first_of_order.as_ref().unwrap_or(read);
        let mut params = Params::declared(self, &read.params);
        let mut relations: Vec<RelationId> = Vec::new();
        for name in &read.sources {
            let Some(id) = self.relation_id(name) else {
                self.lost.insert(read.name.text.clone());
                return;
            };
            relations.push(id);
        }
        let mut sources = Vec::new();
        for id in &relations {
            let mut predicates = Vec::new();
            for cond in &read.conds {
                let path = self.own_path(*id, (&cond.path, cond.others.as_slice()), &relations);
                let Some(path) = path else { continue };
                let cond = Cond { path, others: Vec::new(), ..cond.clone() };
                predicates.extend(self.predicate(*id, &cond, &mut params, Scope::NONE));
            }
            if first_of_order.is_some() {
                predicates.extend(self.there(*id, read));
            }
            sources.push(Source { relation: *id, predicates, outputs: Vec::new(), limit: None });
        }
        self.own_limits(read, &mut sources, &mut params);
        let outputs = self.outputs(read, &mut sources);
        let order = self.order(&read.order, &relations);
        let limit = read
            .limit
            .as_ref()
            .and_then(|limit| self.value(limit, Some(&Type::Int(None)), &mut params, Scope::NONE));
        if let Some(written) = &read.limit {
            self.check_limit(limit.as_ref(), written.span);
        }
        // How many rows are left out is not answered, but it is an input like any other.
        if let Some(offset) = &read.offset {
            self.value(offset, Some(&Type::Int(None)), &mut params, Scope::NONE);
        }
        let aggregate = read.aggregate.as_ref().map(|(kind, path)| {
            let first = relations.first().copied().unwrap_or(0);
            (*kind, path.as_ref().and_then(|path| self.column_path(first, path)))
        });
        let facts = facts_of(&read.facts);
        let consistency = consistency(&facts);
        let params = params.finish(self);
        let index = self.model.reads.len();
        self.reads.entry(read.name.text.clone()).or_insert(index);
        self.model.reads.push(Read {
            name: named(&read.name),
            params,
            sources,
            outputs,
            distinct: read.distinct,
            aggregate,
            order,
            limit,
            page: read.page,
            offset: read.offset.is_some(),
            unique: read.unique,
            consistency,
            admin: facts.contains_key("admin"),
            facts,
            span: read.span,
        });
    }

    /// Returns the condition that what a maximum is of is there; what is absent is no minimum either.
    fn there(&self, relation: RelationId, read: &tree::Read) -> Option<Predicate> {
        let wanted = read.order.first()?;
        let path = self.try_path(relation, &wanted.path)?;
        let optional = (1..=path.len()).filter_map(|length| path.get(..length)).any(|head| {
            let owner = self.model.relation(self.model.path_owner(relation, head));
            head.last().and_then(|at| owner.columns.get(*at)).is_some_and(|one| one.optional)
        });
        let span = read.span;
        let (op, values) = (CondOp::Present, Vec::new());
        optional.then_some(Predicate { path, op, values, max: None, span })
    }

    /// Names the outputs and resolves each in every source.
    fn outputs(&mut self, read: &tree::Read, sources: &mut [Source]) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        let mut paths: Vec<Option<Path>> = Vec::new();
        if let Some(select) = &read.select {
            for path in select {
                names.push(path.text());
                paths.push(Some(path.clone()));
            }
        } else {
            let mut seen: BTreeSet<&str> = BTreeSet::new();
            for source in sources.iter() {
                for column in &self.model.relation(source.relation).columns {
                    if seen.insert(&column.name) {
                        names.push(column.name.clone());
                        paths.push(None);
                    }
                }
            }
            for path in &read.with {
                names.push(path.text());
                paths.push(Some(path.clone()));
            }
        }
        let several = sources.len() > 1;
        for source in sources.iter_mut() {
            let columns = self.model.relation(source.relation).columns.iter().enumerate();
            let places: BTreeMap<String, usize> = match several {
                true => columns.map(|(at, column)| (column.name.clone(), at)).collect(),
                // Of one source the first names are its columns, in their order.
                false => BTreeMap::new(),
            };
            for (at, (name, path)) in names.iter().zip(&paths).enumerate() {
                let output = match path {
                    None if several => places.get(name).map(|n| vec![*n]),
                    None => Some(vec![at]),
                    Some(path) if several => self.try_path(source.relation, path),
                    Some(path) => self.column_path(source.relation, path),
                };
                source.outputs.push(output);
            }
        }
        names
    }

    /// Resolves a path from a relation along references, and reports one that leads nowhere.
    pub(super) fn column_path(&mut self, relation: RelationId, path: &Path) -> Option<ColumnPath> {
        if let Some(found) = self.try_path(relation, path) {
            return Some(found);
        }
        let span = path.span();
        let name = self.model.relation(relation).name.text.clone();
        let first = path.parts.first().map_or("", |first| first.text.as_str());
        let of_key: Vec<String> = self
            .model
            .relation(relation)
            .columns
            .iter()
            .filter(|own| own.name.split_once('.').is_some_and(|(head, _)| head == first))
            .map(|own| format!("`{}`", own.name))
            .collect();
        if !of_key.is_empty() {
            let message = format!("`{}` is not in the key that `{first}` holds", path.text());
            let help = format!("known through it: {}", of_key.join(", "));
            self.error(Diagnostic::error(span, message).help(help));
            return None;
        }
        let known: Vec<String> = self
            .model
            .relation(relation)
            .columns
            .iter()
            .map(|column| column.name.clone())
            .collect();
        let what = format!("attribute of `{name}` called");
        self.unknown(&what, &path.text(), span, &known);
        None
    }

    /// Resolves a path whose first part is an attribute, or the name of the entity that one
    /// attribute refers to.
    pub(super) fn try_path(&self, relation: RelationId, path: &Path) -> Option<ColumnPath> {
        let found = self.path_of(relation, &path.parts);
        found.or_else(|| self.path_of_itself(relation, &path.parts))
    }

    /// Resolves a path that begins with the row type itself, as rows of several types share it: of
    /// a publication `publication` is its key, of a title the one that it refers to.
    fn path_of_itself(&self, relation: RelationId, parts: &[tree::Name]) -> Option<ColumnPath> {
        let (first, rest) = parts.split_first()?;
        let itself = self.model.relation(relation);
        if lower(&itself.name.text) != lower(&first.text) || itself.column(&first.text).is_some() {
            return None;
        }
        match (itself.key(), rest) {
            ([only], []) => Some(vec![*only]),
            (_, [_, ..]) => self.path_of(relation, rest),
            _ => None,
        }
    }

    fn path_of(&self, relation: RelationId, parts: &[tree::Name]) -> Option<ColumnPath> {
        let mut at = relation;
        let mut found = Vec::new();
        let mut rest = parts;
        while let Some(part) = rest.first() {
            let columns = &self.model.relation(at).columns;
            let (column, taken) = match longest(columns, rest) {
                Some(found) => found,
                None => {
                    let mut referring = columns.iter().enumerate().filter(|(_, column)| {
                        column
                            .refers
                            .is_some_and(|id| self.model.relation(id).name.text == part.text)
                    });
                    let first = referring.next()?.0;
                    if referring.next().is_some() {
                        return None;
                    }
                    (first, 1)
                }
            };
            found.push(column);
            rest = rest.get(taken..).unwrap_or_default();
            if !rest.is_empty() {
                at = columns.get(column)?.refers?;
            }
        }
        Some(found)
    }

    pub(super) fn predicate(
        &mut self,
        relation: RelationId,
        cond: &Cond,
        params: &mut Params,
        scope: Scope<'_>,
    ) -> Option<Predicate> {
        if !cond.others.is_empty() {
            self.only_one(&cond.path);
            return None;
        }
        let path = self.column_path(relation, &cond.path)?;
        let ty = self.model.path_type(relation, &path);
        let wanted = match cond.op {
            CondOp::In => Type::List(Box::new(ty.clone()), cond.max),
            CondOp::Contains if matches!(ty, Type::List(..)) => match &ty {
                Type::List(element, _) => (**element).clone(),
                _ => ty.clone(),
            },
            CondOp::Begins | CondOp::Ends | CondOp::Contains | CondOp::Matches if !ty.is_text() => {
                let message = format!("`{}` is no text", cond.path.text());
                self.error(Diagnostic::error(cond.span, message));
                return None;
            }
            // What a text begins with need not be a text of its domain.
            CondOp::Begins | CondOp::Ends | CondOp::Contains | CondOp::Matches => {
                Type::Text(super::super::types::TextDomain::default())
            }
            _ => ty.clone(),
        };
        let values: Option<Vec<Term>> = cond
            .values
            .iter()
            .map(|value| self.value(value, Some(&wanted), params, scope))
            .collect();
        let values = values?;
        if let (CondOp::In, Some(max), Some(Term::Param(index))) =
            (cond.op, cond.max, values.first())
        {
            params.hold_at_most(*index, max);
        }
        // A variant that is not one is a slip of the pen; another value is merely never met.
        if cond.op == CondOp::Eq && matches!(ty, Type::Enum(_)) {
            for (value, expr) in values.iter().zip(&cond.values) {
                self.check_held(value, &ty, expr.span);
            }
        }
        Some(Predicate { path, op: cond.op, values, max: cond.max, span: cond.span })
    }

    /// Reports a constant that its attribute cannot have.
    pub(super) fn check_held(&mut self, value: &Term, ty: &Type, span: Span) {
        let Term::Const(value) = value else { return };
        if *value == Value::Null || ty.holds(value) {
            return;
        }
        let shown = value.text(ty);
        let mut diagnostic = Diagnostic::error(
            span,
            match ty {
                Type::Int(Some((low, high))) => format!("{shown} is no int({low}..{high})"),
                ty => format!("{shown:?} is no such {}", ty.name()),
            },
        );
        if let Type::Enum(variants) = ty {
            let near = nearest(&shown, variants.iter().map(String::as_str));
            diagnostic = diagnostic.help(near.map_or_else(
                || format!("known: {}", variants.join(", ")),
                |near| format!("did you mean {near:?}?"),
            ));
        }
        self.error(diagnostic);
    }

    /// Reports a constant that limits to nothing.
    pub(super) fn check_limit(&mut self, limit: Option<&Term>, span: Span) {
        if matches!(limit, Some(Term::Const(Value::Int(n))) if *n < 1) {
            let message = "a limit is at least 1".to_owned();
            self.error(Diagnostic::error(span, message));
        }
    }

    /// Resolves a value; an input without a type takes the wanted one.
    pub(super) fn value(
        &mut self,
        expr: &Expr,
        wanted: Option<&Type>,
        params: &mut Params,
        scope: Scope<'_>,
    ) -> Option<Term> {
        let term = self.value_inner(expr, wanted, params, scope)?;
        // A text was read as what is wanted: a time is a number from here on.
        if matches!(expr.kind, ExprKind::Text(_)) {
            return Some(term);
        }
        if let (Some(wanted), Some(found)) = (wanted, self.term_type(&term, params, scope))
            && !wanted.comparable(&found)
        {
            let message = format!("expected {}, found {}", wanted.whole_name(), found.whole_name());
            self.error(Diagnostic::error(expr.span, message));
            return None;
        }
        Some(term)
    }

    fn value_inner(
        &mut self,
        expr: &Expr,
        wanted: Option<&Type>,
        params: &mut Params,
        scope: Scope<'_>,
    ) -> Option<Term> {
        match &expr.kind {
            ExprKind::Int(n) => Some(Term::Const(Value::Int(*n))),
            ExprKind::Bool(bit) => Some(Term::Const(Value::Bool(*bit))),
            ExprKind::Text(text) => {
                let text_type = Type::Text(super::super::types::TextDomain::default());
                let wanted = wanted.unwrap_or(&text_type);
                let found = constant(text, wanted).or_else(|| iso_value(text, wanted));
                if found.is_none() {
                    let message = format!("{text:?} is no {}", wanted.name());
                    let mut diagnostic = Diagnostic::error(expr.span, message);
                    if let Type::Timestamp | Type::Date = wanted {
                        let example = match wanted {
                            Type::Date => "\"2021-09-15\"",
                            _ => "\"2021-09-15\" or \"2021-09-15T02:00:00.000Z\"",
                        };
                        diagnostic = diagnostic.help(format!("such as {example}"));
                    }
                    self.error(diagnostic);
                }
                found.map(Term::Const)
            }
            ExprKind::Template(template) => {
                let message = "a text with holes cannot stand here".to_owned();
                self.error(Diagnostic::error(template.span, message));
                None
            }
            ExprKind::Call { name, args } => self.call(expr, name, args, wanted, params, scope),
            ExprKind::Path(path) => self.value_path(path, wanted, params, scope),
        }
    }

    fn value_path(
        &mut self,
        path: &Path,
        wanted: Option<&Type>,
        params: &mut Params,
        scope: Scope<'_>,
    ) -> Option<Term> {
        let first = path.parts.first()?;
        if let Some((each, _)) = scope.each
            && path.parts.len() == 1
            && first.text == each
        {
            return Some(Term::Each);
        }
        if let Some((alias, relation)) = scope.prior
            && path.parts.len() > 1
            && first.text == alias
        {
            let rest = Path { parts: path.parts.iter().skip(1).cloned().collect() };
            return self.column_path(relation, &rest).map(Term::Prior);
        }
        // In keys of rows, attributes come first: there are no inputs.
        if let Some(relation) = scope.relation {
            return self.column_path(relation, path).map(Term::Column);
        }
        if let Some(index) = params.index(&path.text()) {
            params.learn(index, wanted);
            return Some(Term::Param(index));
        }
        let known = params.names();
        self.unknown("input", &path.text(), path.span(), &known);
        None
    }

    fn call(
        &mut self,
        expr: &Expr,
        name: &tree::Name,
        args: &[Expr],
        wanted: Option<&Type>,
        params: &mut Params,
        scope: Scope<'_>,
    ) -> Option<Term> {
        if name.text == "now" && args.is_empty() {
            let index = params.implicit("now()");
            params.learn(index, wanted.or(Some(&Type::Timestamp)));
            return Some(Term::Param(index));
        }
        // `floor(x / n)` is the division, which rounds down already.
        if name.text == "floor"
            && let Some(inner) = args.first()
        {
            return self.value(inner, None, params, scope);
        }
        let Some((_, function, arity)) = computed().find(|(known, ..)| *known == name.text) else {
            let known: Vec<String> = computed().map(|(name, ..)| name.to_owned()).collect();
            self.unknown("function", &name.text, name.span, &known);
            return None;
        };
        if args.len() != arity {
            let message = format!("`{}` takes {arity} arguments, found {}", name.text, args.len());
            self.error(Diagnostic::error(expr.span, message));
            return None;
        }
        let terms: Option<Vec<Term>> =
            args.iter().map(|arg| self.value(arg, None, params, scope)).collect();
        let terms = terms?;
        let types: Option<Vec<(Type, Option<Value>)>> = terms
            .iter()
            .map(|term| {
                let value = if let Term::Const(value) = term { Some(value.clone()) } else { None };
                self.term_type(term, params, scope).map(|ty| (ty, value))
            })
            .collect();
        // The types of inputs that nothing has told yet are not checked.
        if let Some(types) = types
            && let Err(message) = function.result(&types)
        {
            self.error(Diagnostic::error(expr.span, message));
            return None;
        }
        Some(Term::Call(function, terms))
    }

    pub(super) fn term_type(&self, term: &Term, params: &Params, scope: Scope<'_>) -> Option<Type> {
        match term {
            Term::Column(path) => scope.relation.map(|id| self.model.path_type(id, path)),
            Term::Prior(path) => scope.prior.map(|(_, id)| self.model.path_type(id, path)),
            Term::Each => scope.each.map(|(_, ty)| ty.clone()),
            Term::Param(index) => params.ty(*index),
            Term::Const(Value::Int(_)) => Some(Type::Int(None)),
            Term::Const(Value::Bool(_)) => Some(Type::Bool),
            Term::Const(Value::Text(_)) => {
                Some(Type::Text(super::super::types::TextDomain::default()))
            }
            Term::Const(_) => None,
            Term::Call(function, args) => {
                let args: Option<Vec<(Type, Option<Value>)>> = args
                    .iter()
                    .map(|arg| {
                        let value =
                            if let Term::Const(value) = arg { Some(value.clone()) } else { None };
                        self.term_type(arg, params, scope).map(|ty| (ty, value))
                    })
                    .collect();
                function.result(&args?).ok()
            }
        }
    }
}

/// Returns the functions that values are computed by: what is taken away stands behind `by` alone.
fn computed() -> impl Iterator<Item = (&'static str, Function, usize)> {
    Function::ALL.into_iter().filter(|(_, function, _)| *function != Function::Minus)
}

/// Returns the attribute that a path begins with, and how many of its names belong to it: of a key
/// within a key several.
fn longest(columns: &[Column], parts: &[tree::Name]) -> Option<(usize, usize)> {
    (1..=parts.len()).rev().find_map(|taken| {
        let text = parts.get(..taken)?.iter().map(|part| part.text.as_str());
        let text = text.collect::<Vec<_>>().join(".");
        Some((columns.iter().position(|column| column.name == text)?, taken))
    })
}

/// The inputs of a pattern during its resolution.
#[derive(Debug, Clone)]
pub(super) struct Params {
    list: Vec<(tree::Name, Option<Type>)>,
    /// Number of errors before the pattern.
    errors: usize,
    /// The inputs that a value names.
    used: BTreeSet<usize>,
}

impl Params {
    pub(super) fn declared(resolver: &mut Resolver, params: &[tree::Param]) -> Self {
        let mut list: Vec<(tree::Name, Option<Type>)> = Vec::new();
        let errors = resolver.diagnostics.len();
        for param in params {
            if list.iter().any(|(name, _)| name.text == param.name.text) {
                resolver.twice("input", &param.name);
            }
            let ty = param.ty.as_ref().and_then(|ty| resolver.column_type(ty)).map(|(ty, _)| ty);
            list.push((param.name.clone(), ty));
        }
        Self { list, errors, used: BTreeSet::new() }
    }

    pub(super) fn known(params: &[Param]) -> Self {
        let list = params
            .iter()
            .map(|param| (tree::Name::plain(param.name.clone()), Some(param.ty.clone())))
            .collect();
        Self { list, errors: 0, used: BTreeSet::new() }
    }

    /// Returns the same inputs under other names.
    pub(super) fn renamed(params: &[Param], names: &[tree::Name]) -> Self {
        let mut found = Self::known(params);
        for ((name, _), new) in found.list.iter_mut().zip(names) {
            *name = new.clone();
        }
        found
    }

    fn index(&self, name: &str) -> Option<usize> {
        self.list.iter().position(|(param, _)| param.text == name)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.index(name).is_some()
    }

    /// Returns the input of a name, or those that it stands for: of a key of several attributes each.
    pub(super) fn named(&self, name: &str) -> Vec<usize> {
        if let Some(at) = self.index(name) {
            return vec![at];
        }
        let part = |text: &str| text.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
        let all = self.list.iter().enumerate();
        all.filter(|(_, (param, _))| part(&param.text)).map(|(at, _)| at).collect()
    }

    /// Returns true if two inputs have types whose values may be equal; one without a type takes the other's.
    pub(super) fn comparable(&mut self, first: usize, second: usize) -> bool {
        let (a, b) = (self.ty(first), self.ty(second));
        self.learn(first, b.as_ref());
        self.learn(second, a.as_ref());
        match (self.ty(first), self.ty(second)) {
            (Some(a), Some(b)) => {
                !matches!(a, Type::List(..))
                    && std::mem::discriminant(&a) == std::mem::discriminant(&b)
            }
            _ => true,
        }
    }

    fn implicit(&mut self, name: &str) -> usize {
        self.index(name).unwrap_or_else(|| {
            self.list.push((tree::Name::plain(name.to_owned()), None));
            self.list.len() - 1
        })
    }

    /// Infers the type from the first place that determines it.
    fn learn(&mut self, index: usize, wanted: Option<&Type>) {
        self.used.insert(index);
        if let (Some((_, ty @ None)), Some(wanted)) = (self.list.get_mut(index), wanted) {
            *ty = Some(wanted.clone());
        }
    }

    /// Applies `in … max k`: a longer list is no input, whatever its own type says.
    fn hold_at_most(&mut self, index: usize, max: u64) {
        if let Some((_, Some(Type::List(_, most)))) = self.list.get_mut(index) {
            *most = Some(most.map_or(max, |most| most.min(max)));
        }
    }

    fn ty(&self, index: usize) -> Option<Type> {
        self.list.get(index).and_then(|(_, ty)| ty.clone())
    }

    fn names(&self) -> Vec<String> {
        self.list.iter().map(|(name, _)| name.text.clone()).collect()
    }

    pub(super) fn finish(self, resolver: &mut Resolver) -> Vec<Param> {
        let mut found = Vec::new();
        // What would have told a type may be what was wrong.
        let whole = resolver.diagnostics.len() == self.errors;
        for (at, (name, ty)) in self.list.into_iter().enumerate() {
            if ty.is_none() && whole {
                let (message, help) = if self.used.contains(&at) {
                    (
                        format!("nothing tells the type of the input `{}`", name.text),
                        "compare it with an attribute, or write its type behind a colon",
                    )
                } else {
                    (
                        format!("the input `{}` is not used", name.text),
                        "leave it out, or write its type behind a colon to keep it",
                    )
                };
                resolver.error(Diagnostic::error(name.span, message).help(help));
            }
            found.push(Param { name: name.text, ty: ty.unwrap_or(Type::Bool) });
        }
        found
    }
}
