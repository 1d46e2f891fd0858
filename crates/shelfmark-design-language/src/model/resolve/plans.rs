//! Resolves the plans of reads and writes in a schema.

use super::super::pattern::Param;
use super::super::relation::RelationId;
use super::super::schema::{
    Codec, ColumnKind, EachOf, FilterPredicate, Part, ReadStep, Schema, Serve, Step, WritePlan,
    WriteStep, WriteStepKind,
};
use super::super::term::Term;
use super::super::types::{TextDomain, Type};
use super::Resolver;
use super::patterns::{Params, Scope};
use crate::syntax::diagnostic::Diagnostic;
use crate::syntax::tree::{self, Bind, Expr, ExprKind, Name, Segment, StepKind};

/// The word for the row that the step before returned.
const ROW: &str = "row";

impl Resolver {
    pub(super) fn serve(&mut self, schema: &mut Schema, written: &tree::Serve) {
        let found = self.reads.get(&written.pattern.text).copied();
        let Some(read) = found else {
            let known: Vec<String> =
                self.model.reads.iter().map(|read| read.name.text.clone()).collect();
            self.unknown("read", &written.pattern.text, written.pattern.span, &known);
            return;
        };
        if schema.serves.iter().any(|serve| serve.read == read) {
            self.twice("plan of", &written.pattern);
        }
        let found = self.model.reads.get(read);
        let asked: Vec<RelationId> = found
            .map(|read| read.sources.iter().map(|source| source.relation).collect())
            .unwrap_or_default();
        let params = found.map(|read| read.params.clone()).unwrap_or_default();
        let mut params = self.plan_params(&params, written.params.as_deref(), &written.pattern);
        let mut steps = Vec::new();
        let mut prior: Option<RelationId> = None;
        for step in &written.steps {
            let Some(step) = self.step(schema, step, &mut params, (prior, &asked)) else { return };
            // A row is the first read's from then on, whatever later reads add to what is known of
            // it; in a table of several row types it is one of those that the pattern asks for.
            if let (Step::Read(read), None) = (&step, prior) {
                let sources: Vec<RelationId> =
                    schema.of_table(read.table).map(|(_, family)| family.source).collect();
                let wanted = asked.iter().find(|relation| sources.contains(relation));
                prior = wanted.or(sources.first()).copied();
            }
            let late = steps.iter().skip(1).any(|step| !matches!(step, Step::Also(_)));
            if late && matches!(step, Step::Also(_)) {
                let message =
                    "what is read beside the first read stands right behind it".to_owned();
                let span = written.span;
                self.error(Diagnostic::error(span, message).help("`by get a … and query b …`"));
                return;
            }
            steps.push(step);
        }
        schema.serves.push(Serve { read, steps, span: written.span, derived: false });
    }

    fn plan_params(&mut self, params: &[Param], names: Option<&[Name]>, pattern: &Name) -> Params {
        let Some(names) = names else { return Params::known(params) };
        let declared = params.iter().filter(|param| param.name != "now()").count();
        if names.len() != declared {
            let message =
                format!("`{}` takes {declared} inputs, found {}", pattern.text, names.len());
            self.error(Diagnostic::error(pattern.span, message));
        }
        Params::renamed(params, names)
    }

    fn step(
        &mut self,
        schema: &Schema,
        step: &tree::Step,
        params: &mut Params,
        (prior, asked): (Option<RelationId>, &[RelationId]),
    ) -> Option<Step> {
        match &step.kind {
            StepKind::Take(value) => {
                self.value(value, Some(&Type::Int(None)), params, Scope::NONE).map(Step::Take)
            }
            StepKind::Sort(orders) => {
                let name = |order: &tree::Order| match order.others.is_empty() {
                    true => order.path.text(),
                    false => {
                        let all = std::iter::once(&order.path).chain(&order.others);
                        format!("({})", all.map(tree::Path::text).collect::<Vec<_>>().join(", "))
                    }
                };
                let sorted = orders.iter().map(|order| (name(order), order.desc));
                Some(Step::Sort(sorted.collect()))
            }
            StepKind::Filter(conds) => {
                let filters: Option<Vec<FilterPredicate>> =
                    conds.iter().map(|cond| self.filter(cond, params, (prior, asked))).collect();
                filters.map(Step::Filter)
            }
            StepKind::Read(read) => {
                self.read_step(schema, read, params, (prior, asked)).map(Step::Read)
            }
            StepKind::Also(read) => {
                self.read_step(schema, read, params, (None, asked)).map(Step::Also)
            }
        }
    }

    fn filter(
        &mut self,
        cond: &tree::Cond,
        params: &mut Params,
        (prior, asked): (Option<RelationId>, &[RelationId]),
    ) -> Option<FilterPredicate> {
        if !cond.others.is_empty() {
            self.only_one(&cond.path);
            return None;
        }
        if asked.len() > 1 && cond.path.text() == "kind" {
            self.check_kind(cond.path.span(), asked);
        }
        let path = prior.and_then(|relation| self.try_path(relation, &cond.path));
        let ty = match (prior, &path) {
            (Some(relation), Some(path)) => Some(self.model.path_type(relation, path)),
            _ => None,
        };
        let values: Option<Vec<Term>> = cond
            .values
            .iter()
            .map(|value| self.value(value, ty.as_ref(), params, Scope::NONE))
            .collect();
        Some(FilterPredicate { name: cond.path.text(), op: cond.op, values: values? })
    }

    fn read_step(
        &mut self,
        schema: &Schema,
        read: &tree::ReadStep,
        params: &mut Params,
        (prior, asked): (Option<RelationId>, &[RelationId]),
    ) -> Option<ReadStep> {
        let table = self.table_id(schema, &read.table)?;
        let mut each_type = Type::Int(None);
        let each = match &read.each {
            None => None,
            Some((_, tree::EachOf::Numbers(low, high))) => Some(EachOf::Numbers(*low, *high)),
            Some((_, tree::EachOf::Param(name))) => {
                let expr = Expr {
                    kind: ExprKind::Path(tree::Path { parts: vec![name.clone()] }),
                    span: name.span,
                };
                let term = self.value(&expr, None, params, Scope::NONE)?;
                let ty = self.term_type(&term, params, Scope::NONE);
                let (Term::Param(index), Some(Type::List(element, _))) = (term, ty) else {
                    let message = format!("`{}` is no list", name.text);
                    self.error(Diagnostic::error(name.span, message));
                    return None;
                };
                each_type = *element;
                Some(EachOf::Param(index))
            }
        };
        let each_name = read.each.as_ref().map(|(name, _)| name.text.clone());
        let scope = Scope {
            relation: None,
            prior: prior.map(|relation| (ROW, relation)),
            each: each_name.as_deref().map(|name| (name, &each_type)),
        };
        let kinds = schema.tables.get(table).map_or(&[][..], |table| table.kinds.as_slice());
        let kind = |at: usize| kinds.get(at);
        let bound = self.bound_columns(read, kinds, params, (scope, asked))?;
        let mut bounds = Vec::new();
        for item in &read.bounds {
            let mut parts = self.bound_value(&item.value, kind(bound.len()), params, scope)?;
            // A value in a text column is the whole of it; a template is how texts begin.
            let whole = !matches!(item.value.kind, ExprKind::Template(_))
                && item.kind != tree::BoundKind::Begins
                && !matches!(parts.last(), Some(Part::Hole { codec: Codec::Native, .. }));
            if whole {
                parts.push(Part::End);
            }
            bounds.push((item.kind, parts));
        }
        let limit = match &read.limit {
            None => None,
            Some(limit) => Some(self.value(limit, Some(&Type::Int(None)), params, Scope::NONE)?),
        };
        self.check_bound(schema, table, bound.len(), read.table.span);
        self.check_ends(read);
        Some(ReadStep { each, verb: read.verb, table, bound, bounds, desc: read.desc, limit })
    }

    /// Returns the columns that a read binds to one value each, from the first on.
    fn bound_columns(
        &mut self,
        read: &tree::ReadStep,
        kinds: &[ColumnKind],
        params: &mut Params,
        (scope, asked): (Scope<'_>, &[RelationId]),
    ) -> Option<Vec<Vec<Part>>> {
        let mut bound = Vec::new();
        match &read.bind {
            Bind::Nothing => {}
            Bind::Text { pk, sk } => {
                // A sort key without its partition: the call that cannot be formed is kept to be shown.
                if pk.is_none() {
                    bound.push(Vec::new());
                }
                for template in [pk, sk].into_iter().flatten() {
                    // A point read by what its caller does not know: the call cannot be formed.
                    if read.verb == tree::Verb::Get && self.asks_unknown(template, params, asked) {
                        break;
                    }
                    let mut parts = self.template_parts(template, params, scope)?;
                    parts.push(Part::End);
                    bound.push(parts);
                }
            }
            Bind::Tuple(values) => {
                for (at, value) in values.iter().enumerate() {
                    let mut parts = self.bound_value(value, kinds.get(at), params, scope)?;
                    if !matches!(parts.last(), Some(Part::Hole { codec: Codec::Native, .. })) {
                        parts.push(Part::End);
                    }
                    bound.push(parts);
                }
            }
        }
        Some(bound)
    }

    /// Returns true if a hole is an attribute that is asked for, and no input.
    fn asks_unknown(
        &self,
        template: &tree::Template,
        params: &Params,
        asked: &[RelationId],
    ) -> bool {
        template.segments.iter().any(|segment| {
            let Segment::Hole { expr, .. } = segment else { return false };
            let ExprKind::Path(path) = &expr.kind else { return false };
            !params.has(&path.text())
                && path.parts.first().is_some_and(|first| first.text != ROW)
                && asked.iter().any(|relation| self.try_path(*relation, path).is_some())
        })
    }

    fn check_bound(
        &mut self,
        schema: &Schema,
        table: usize,
        bound: usize,
        span: crate::syntax::span::Span,
    ) {
        let Some(found) = schema.tables.get(table) else { return };
        if bound > found.kinds.len() {
            let message = format!(
                "the key of `{}` has {} columns, this binds {bound}",
                found.name.text,
                found.kinds.len()
            );
            self.error(Diagnostic::error(span, message));
        }
    }

    /// Checks that a range has one end on each side; `begins` is both.
    fn check_ends(&mut self, read: &tree::ReadStep) {
        use tree::BoundKind::{After, Before, Begins, From, Through, To};
        let (mut low, mut high) = (false, false);
        for item in &read.bounds {
            let lower = matches!(item.kind, Begins | From | After);
            let upper = matches!(item.kind, Begins | To | Before | Through);
            let side = match (lower && low, upper && high) {
                (true, _) => "lower",
                (_, true) => "upper",
                _ => "",
            };
            if !side.is_empty() {
                let message = format!("the range has two {side} ends");
                self.error(Diagnostic::error(item.value.span, message));
            }
            low |= lower;
            high |= upper;
        }
    }

    /// Resolves a text with holes, or a value in the form that its column has.
    fn bound_value(
        &mut self,
        expr: &Expr,
        kind: Option<&ColumnKind>,
        params: &mut Params,
        scope: Scope<'_>,
    ) -> Option<Vec<Part>> {
        if let ExprKind::Template(template) = &expr.kind {
            // In a column of times, of identifiers and the like a text is how one is written.
            if let (Some(ColumnKind::Typed(ty)), [Segment::Literal(text)]) =
                (kind, template.segments.as_slice())
            {
                let written = Expr { kind: ExprKind::Text(text.clone()), span: expr.span };
                let term = self.value(&written, Some(ty), params, scope)?;
                return Some(vec![Part::Hole { term, ty: ty.clone(), codec: Codec::Native }]);
            }
            return self.template_parts(template, params, scope);
        }
        let term = self.value(expr, None, params, scope)?;
        let ty = self
            .term_type(&term, params, scope)
            .unwrap_or_else(|| Type::Text(TextDomain::default()));
        let codec = if ty.is_text() { Codec::Plain } else { Codec::Native };
        Some(vec![Part::Hole { term, ty, codec }])
    }

    fn table_id(&mut self, schema: &Schema, name: &Name) -> Option<usize> {
        let found = self.tables.get(&name.text).copied();
        if found.is_none() {
            let known: Vec<String> =
                schema.tables.iter().map(|table| table.name.text.clone()).collect();
            self.unknown("table or index", &name.text, name.span, &known);
        }
        found
    }

    pub(super) fn write_plan(&mut self, schema: &mut Schema, written: &tree::WritePlan) {
        let found = self.writes.get(&written.pattern.text).copied();
        let Some(write) = found else {
            let known: Vec<String> =
                self.model.writes.iter().map(|write| write.name.text.clone()).collect();
            self.unknown("write", &written.pattern.text, written.pattern.span, &known);
            return;
        };
        if schema.writes.iter().any(|plan| plan.write == write) {
            self.twice("plan of", &written.pattern);
        }
        let params =
            self.model.writes.get(write).map(|write| write.params.clone()).unwrap_or_default();
        let mut params = self.plan_params(&params, written.params.as_deref(), &written.pattern);
        let mut steps = Vec::new();
        let mut transactions = 0;
        // The row is that of the write's own tuple, where the write is of one.
        let effects = self.model.writes.get(write).map(|write| write.effects.as_slice());
        let row = match effects {
            Some([only]) if only.each.is_none() => Some(only.relation),
            _ => None,
        };
        for step in &written.steps {
            let scope = Scope { prior: row.map(|row| (ROW, row)), ..Scope::NONE };
            self.write_step(
                schema,
                step,
                (&mut params, scope),
                None,
                &mut transactions,
                &mut steps,
            );
        }
        schema.writes.push(WritePlan { write, steps, span: written.span, derived: false });
    }

    fn write_step(
        &mut self,
        schema: &Schema,
        step: &tree::WriteStep,
        (params, scope): (&mut Params, Scope<'_>),
        transaction: Option<usize>,
        transactions: &mut usize,
        steps: &mut Vec<WriteStep>,
    ) {
        let each_of = |each: &Option<Name>| each.as_ref().map(|name| name.text.clone());
        let (row, kind) = match step {
            tree::WriteStep::Transaction(inner) => {
                *transactions += 1;
                let number = *transactions;
                for step in inner {
                    let known = (&mut *params, scope);
                    self.write_step(schema, step, known, Some(number), transactions, steps);
                }
                return;
            }
            tree::WriteStep::Read { row, conds, alias } => {
                let Some(first) = self.families(schema, row).first().copied() else { return };
                let source = schema.families.get(first).map_or(0, |family| family.source);
                let mut bindings = Vec::new();
                for cond in conds {
                    if let Some(predicate) = self.predicate(source, cond, params, scope)
                        && let Some(value) = predicate.values.first()
                    {
                        bindings.push((predicate.path, value.clone()));
                    }
                }
                let alias = alias.as_ref().map(|name| name.text.clone());
                (row, WriteStepKind::Read { bindings, alias })
            }
            tree::WriteStep::Put { row, each } => (row, WriteStepKind::Put { each: each_of(each) }),
            tree::WriteStep::Delete { row, each } => {
                (row, WriteStepKind::Delete { each: each_of(each) })
            }
            tree::WriteStep::Patch { row, each } => {
                (row, WriteStepKind::Patch { each: each_of(each) })
            }
        };
        let families = self.families(schema, row);
        let follows =
            |id: &usize| schema.families.get(*id).is_some_and(|one| one.follows.is_some());
        if families.iter().any(follows) {
            let message =
                format!("`{}` follows what it stems from: no write reads or keeps it", row.text);
            let help =
                "leave the step out, or leave out `follows` and let the writes keep its rows";
            self.error(Diagnostic::error(row.span, message).help(help));
            return;
        }
        if !families.is_empty() {
            steps.push(WriteStep { kind, families, transaction });
        }
    }

    fn families(&mut self, schema: &Schema, name: &Name) -> Vec<usize> {
        let found = self.families.get(&name.text).cloned().unwrap_or_default();
        if found.is_empty() {
            let known: Vec<String> = schema
                .families
                .iter()
                .filter(|family| family.base.is_none())
                .map(|family| family.name.text.clone())
                .collect();
            self.unknown("row family", &name.text, name.span, &known);
        }
        found
    }
}
