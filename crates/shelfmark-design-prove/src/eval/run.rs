//! Runs plans of reads on rows.

use std::collections::BTreeMap;

use super::answer::Record;
use super::rows::{KeyValue, Row, Rows, column};
pub use super::shelf::within;
use super::shelf::{End, Plain, RangeAsk, Reader};
use super::state::compare;
use crate::canon::canonical;
use crate::follow::leading_to;
use crate::tally::{extreme, is_tally, tallies};
use shelfmark_design_language::certificate::text;
use shelfmark_design_language::model::pattern::sorted_by;
use shelfmark_design_language::model::schema::{
    EachOf, FilterPredicate, Part, ReadStep, Schema, Serve, Step,
};
use shelfmark_design_language::model::{ColumnPath, Model, Read, Term, Value};
use shelfmark_design_language::syntax::tree::{CondOp, Verb};

/// The outcome of a run.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// The records, in their order.
    pub records: Vec<Record>,
    /// Rows of the ranges, before any filter.
    pub rows_read: usize,
    /// Of these, rows of the first step, and of those beside it.
    pub rows_first: usize,
    /// Number of ranges that were read.
    pub ranges: usize,
}

/// A row during the steps, with what is known of it.
#[derive(Debug, Clone)]
struct Flow {
    row: Row,
    values: BTreeMap<ColumnPath, Value>,
}

/// Runs a plan on rows in a map; `Err` says why the call cannot be formed.
///
/// # Errors
///
/// Which call cannot be formed, as a message. The plan does not fit the model.
pub fn run(
    model: &Model,
    schema: &Schema,
    rows: &Rows,
    read: &Read,
    serve: &Serve,
    inputs: &[Value],
) -> Result<Outcome, String> {
    run_on(model, schema, &Plain { schema, rows }, read, serve, inputs)
}

/// Runs a plan on rows behind any reader.
///
/// # Errors
///
/// Which call cannot be formed, as a message. The plan does not fit the model.
pub fn run_on(
    model: &Model,
    schema: &Schema,
    shelf: &dyn Reader,
    read: &Read,
    serve: &Serve,
    inputs: &[Value],
) -> Result<Outcome, String> {
    let point = matches!(serve.steps.as_slice(), [Step::Read(step)] if step.verb == Verb::Get);
    let runner = Runner { model, schema, shelf, read, inputs, point };
    let mut outcome = Outcome::default();
    let mut flows: Vec<Flow> = Vec::new();
    let mut reads = 0;
    for (index, step) in serve.steps.iter().enumerate() {
        match step {
            Step::Read(step) if index == 0 => {
                flows = runner.first(reads, step, &mut outcome)?;
                outcome.rows_first = outcome.rows_read;
                reads += 1;
            }
            Step::Also(step) => {
                flows.extend(runner.first(reads, step, &mut outcome)?);
                outcome.rows_first = outcome.rows_read;
                reads += 1;
            }
            Step::Read(step) => {
                for flow in &mut flows {
                    runner.follow(reads, step, flow, &mut outcome)?;
                }
                reads += 1;
            }
            Step::Filter(filters) => {
                flows.retain(|flow| filters.iter().all(|filter| runner.passes(flow, filter)));
            }
            Step::Sort(orders) => flows.sort_by(|a, b| runner.order(a, b, orders)),
            Step::Take(limit) => flows.truncate(runner.number(limit, None).unwrap_or(0)),
        }
    }
    // A row that keeps no largest value yet answers nothing.
    if extreme(read).is_some() {
        flows.retain(|flow| runner.kept(flow).is_none_or(|value| value != Value::Null));
    }
    outcome.records = flows.iter().map(|flow| runner.record(flow)).collect();
    // Who asks for a count or a sum and finds no row that keeps one takes it for none.
    if is_tally(read) && outcome.records.is_empty() {
        let relation = read.sources.first().map_or(0, |source| source.relation);
        outcome.records.push(Record { relation, values: vec![Value::Int(0)] });
    }
    Ok(outcome)
}

struct Runner<'a> {
    model: &'a Model,
    schema: &'a Schema,
    shelf: &'a dyn Reader,
    read: &'a Read,
    inputs: &'a [Value],
    /// True if the plan is a point read and nothing more.
    point: bool,
}

impl Runner<'_> {
    fn leaf(&self, term: &Term, each: Option<&Value>, flow: Option<&Flow>) -> Option<Value> {
        match term {
            Term::Param(index) => self.inputs.get(*index).cloned(),
            Term::Each => each.cloned(),
            Term::Prior(path) => {
                let flow = flow?;
                let source = self.schema.families.get(flow.row.family)?.source;
                flow.values.get(&canonical(self.model, source, path)).cloned()
            }
            _ => None,
        }
    }

    fn number(&self, term: &Term, each: Option<&Value>) -> Option<usize> {
        match term.compute(&|leaf| self.leaf(leaf, each, None))? {
            Value::Int(n) => usize::try_from(n).ok(),
            _ => None,
        }
    }

    fn first(
        &self,
        number: usize,
        step: &ReadStep,
        outcome: &mut Outcome,
    ) -> Result<Vec<Flow>, String> {
        let table = self.schema.tables.get(step.table).ok_or("no such table")?;
        let given = step.bound.iter().take_while(|column| !column.is_empty()).count();
        let scan = given == 0 && step.bounds.is_empty() && step.verb == Verb::Scan;
        let named = step.bound.len() + usize::from(!step.bounds.is_empty());
        if named > self.schema.columns_asked(step.table) {
            return Err(format!("{} is asked by its own columns only", table.name.text));
        }
        if step.verb == Verb::Get && (given < table.kinds.len() || table.is_index) {
            return Err(format!("a point read of {} needs its whole key", table.name.text));
        }
        if given < table.partition && !scan {
            return Err(format!("the partition of {} is not known", table.name.text));
        }
        let eaches: Vec<Option<Value>> = match &step.each {
            None => vec![None],
            Some(EachOf::Numbers(low, high)) => {
                (*low..=*high).map(|n| Some(Value::Int(n))).collect()
            }
            Some(EachOf::Param(index)) => match self.inputs.get(*index) {
                Some(Value::List(items)) => {
                    let mut items = items.clone();
                    items.sort();
                    items.dedup();
                    items.into_iter().map(Some).collect()
                }
                _ => Vec::new(),
            },
        };
        let mut flows = Vec::new();
        for each in &eaches {
            outcome.ranges += 1;
            let found = self.range(number, step, each.as_ref(), None)?;
            outcome.rows_read += found.len();
            flows.extend(found.into_iter().map(|row| Flow { values: row.values.clone(), row }));
        }
        Ok(flows)
    }

    /// Returns the rows of one range, in the direction and up to the limit that the step names.
    fn range(
        &self,
        number: usize,
        step: &ReadStep,
        each: Option<&Value>,
        flow: Option<&Flow>,
    ) -> Result<Vec<Row>, String> {
        let leaf = |term: &Term| self.leaf(term, each, flow);
        let bound: Option<Vec<KeyValue>> =
            step.bound.iter().map(|parts| column(parts, &leaf)).collect();
        let bound = bound.ok_or("a part of the key is not known")?;
        let mut ends = Vec::new();
        for (kind, parts) in &step.bounds {
            let whole = matches!(parts.last(), Some(Part::End));
            let value = column(parts, &leaf).ok_or("an end of the range is not known")?;
            ends.push(End { kind: *kind, value, whole });
        }
        let limit = step.limit.as_ref().map(|limit| self.number(limit, each).unwrap_or(0));
        let mut holes = BTreeMap::new();
        let all = step.bound.iter().chain(step.bounds.iter().map(|(_, parts)| parts));
        for part in all.flatten() {
            let one = std::slice::from_ref(part);
            if let (Part::Hole { .. }, Some(value)) = (part, column(one, &leaf)) {
                holes.insert(text::column(self.model, self.read, one), value);
            }
        }
        let point = step.verb == Verb::Get;
        self.shelf.range(&RangeAsk {
            step: number,
            table: step.table,
            point,
            bound,
            ends,
            desc: step.desc,
            limit,
            holes,
        })
    }

    /// Runs a point read for one row, whose result is known of the row from then on.
    fn follow(
        &self,
        number: usize,
        step: &ReadStep,
        flow: &mut Flow,
        outcome: &mut Outcome,
    ) -> Result<(), String> {
        outcome.ranges += 1;
        let found = match self.range(number, step, None, Some(flow)) {
            Ok(found) => found,
            // What the row does not show cannot be looked up.
            Err(_) if !self.can_form(step, flow) => return Ok(()),
            Err(error) => return Err(error),
        };
        outcome.rows_read += found.len();
        let Some(row) = found.first() else { return Ok(()) };
        let Some(family) = self.schema.families.get(row.family) else { return Ok(()) };
        let from = self.schema.families.get(flow.row.family).map_or(0, |family| family.source);
        let base = step.bound.iter().flatten().find_map(|part| match part {
            Part::Hole { term: Term::Prior(path), .. } => {
                let path = canonical(self.model, from, path);
                Some(leading_to(self.model, from, &path, family.source).unwrap_or_default())
            }
            _ => None,
        });
        let base = base.unwrap_or_default();
        for (path, value) in &row.values {
            let whole: ColumnPath = base.iter().chain(path).copied().collect();
            flow.values.insert(canonical(self.model, from, &whole), value.clone());
        }
        Ok(())
    }

    fn can_form(&self, step: &ReadStep, flow: &Flow) -> bool {
        let leaf = |term: &Term| self.leaf(term, None, Some(flow));
        let all = step.bound.iter().chain(step.bounds.iter().map(|(_, parts)| parts));
        all.into_iter().all(|parts| column(parts, &leaf).is_some())
    }

    /// Returns a row's attribute by its name; a missing one is absent.
    fn by_name(&self, flow: &Flow, name: &str) -> Value {
        let source = self.schema.families.get(flow.row.family).map_or(0, |family| family.source);
        flow.values
            .iter()
            .find(|(path, _)| self.model.is_named(source, path, name))
            .map_or(Value::Null, |(_, value)| value.clone())
    }

    fn passes(&self, flow: &Flow, filter: &FilterPredicate) -> bool {
        let kind = self.read.is_row_type(self.model, &filter.name);
        let found = if kind {
            let source =
                self.schema.families.get(flow.row.family).map_or(0, |family| family.source);
            Value::Text(self.model.relation(source).name.text.to_lowercase())
        } else {
            self.by_name(flow, &filter.name)
        };
        let values: Option<Vec<Value>> = filter
            .values
            .iter()
            .map(|value| value.compute(&|leaf| self.leaf(leaf, None, None)))
            .map(|value| match value {
                Some(Value::Text(text)) if kind => Some(Value::Text(text.to_lowercase())),
                other => other,
            })
            .collect();
        values.is_some_and(|values| compare(filter.op, &found, &values))
    }

    fn order(&self, a: &Flow, b: &Flow, orders: &[(String, bool)]) -> std::cmp::Ordering {
        for (name, desc) in orders {
            let (x, y) = (self.sorted_by(a, name), self.sorted_by(b, name));
            let order = if *desc { y.cmp(&x) } else { x.cmp(&y) };
            if order.is_ne() {
                return order;
            }
        }
        std::cmp::Ordering::Equal
    }

    /// Returns the sort key of a row: an attribute, or the position of its type in the pattern.
    fn sorted_by(&self, flow: &Flow, name: &str) -> Value {
        if !self.read.is_row_type(self.model, name) {
            let source = self.schema.families.get(flow.row.family).map_or(0, |one| one.source);
            return self.by_name(flow, sorted_by(&self.model.relation(source).name.text, name));
        }
        let of = self.schema.families.get(flow.row.family).map(|family| family.source);
        let place = self.read.sources.iter().position(|one| Some(one.relation) == of);
        place.and_then(|at| i64::try_from(at).ok()).map_or(Value::Null, Value::Int)
    }

    /// Returns the value that a row keeps and a read asks for, where the read has that row alone.
    fn kept(&self, flow: &Flow) -> Option<Value> {
        let family = self.schema.families.get(flow.row.family)?;
        let one = tallies(family).find(|one| one.answers(self.model, self.read))?;
        let alone = one.relation != family.source || self.point || is_tally(self.read);
        alone.then(|| flow.row.kept.get(one.name).cloned().unwrap_or(Value::Null))
    }

    /// Returns the caller's view of a row.
    fn record(&self, flow: &Flow) -> Record {
        let Some(family) = self.schema.families.get(flow.row.family) else {
            return Record { relation: 0, values: Vec::new() };
        };
        let kept = self.kept(flow);
        if is_tally(self.read) || kept.is_some() {
            let counted = self.read.sources.first().map_or(0, |source| source.relation);
            return Record { relation: counted, values: vec![kept.unwrap_or(Value::Null)] };
        }
        let source = self.read.sources.iter().find(|source| source.relation == family.source);
        let values = self
            .read
            .outputs
            .iter()
            .enumerate()
            .map(|(index, name)| {
                let path = source.and_then(|source| source.outputs.get(index).cloned());
                match path {
                    Some(Some(path)) => {
                        let path = canonical(self.model, family.source, &path);
                        flow.values
                            .get(&path)
                            .cloned()
                            .unwrap_or_else(|| self.known(family.source, &path))
                    }
                    Some(None) => Value::Null,
                    None => self.by_name(flow, name),
                }
            })
            .collect();
        Record { relation: family.source, values }
    }

    /// Returns the value of an attribute that is known because the call asked for it.
    fn known(&self, relation: usize, path: &[usize]) -> Value {
        let source = self.read.sources.iter().find(|source| source.relation == relation);
        source
            .into_iter()
            .flat_map(|source| &source.predicates)
            .find(|predicate| {
                predicate.op == CondOp::Eq
                    && canonical(self.model, relation, &predicate.path) == path
            })
            .and_then(|predicate| predicate.values.first())
            .and_then(|value| value.compute(&|leaf| self.leaf(leaf, None, None)))
            .unwrap_or(Value::Null)
    }
}
