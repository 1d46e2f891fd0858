//! Computes the rows of a state, and runs plans of reads on them, by the verifier's own reading.

use std::collections::BTreeMap;

use super::meaning::Item;
use super::world::{Tuple, World, holds};
use shelfmark_design_language::codec::text;
use shelfmark_design_language::model::schema::{
    Codec, EachOf, Family, Fold, Part, ReadStep, Schema, Step, Stored,
};
use shelfmark_design_language::model::{
    ColumnPath, Model, OrderKey, Predicate, Read, RelationId, Term, Value,
};
use shelfmark_design_language::syntax::tree::{Aggregate, BoundKind, CondOp, Verb};
use shelfmark_design_language::target::profile;

/// A column of a key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cell {
    Text(String),
    Typed(Value),
}

/// The values of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) family: usize,
    pub(super) shown: BTreeMap<ColumnPath, Value>,
    pub(super) kept: BTreeMap<String, Value>,
}

/// Rows by table and key.
pub(super) type Rows = BTreeMap<RowKey, Line>;

/// A table and a key in it.
pub(super) type RowKey = (usize, Vec<Cell>);

/// Shortens a path: `author.id` is `author`, since the reference holds the key.
pub(super) fn short(model: &Model, relation: RelationId, path: &[usize]) -> ColumnPath {
    let Some((last, head)) = path.split_last().filter(|(_, head)| !head.is_empty()) else {
        return path.to_vec();
    };
    let owner = model.relation(model.path_owner(relation, path));
    if owner.key() == [*last] { short(model, relation, head) } else { path.to_vec() }
}

/// Returns the attributes that a family's rows show.
pub(super) fn shown(model: &Model, family: &Family) -> Vec<ColumnPath> {
    let in_key = family.key.iter().flat_map(|column| &column.parts).filter_map(|part| match part {
        Part::Hole { term: Term::Column(path), .. } => Some(path),
        _ => None,
    });
    let stored = family.stored.iter().filter_map(|stored| match stored {
        Stored::Path(path) => Some(path),
        _ => None,
    });
    in_key.chain(stored).map(|path| short(model, family.source, path)).collect()
}

/// Returns the text or value of a column; `None` when something in it is absent.
pub(super) fn cell(parts: &[Part], leaf: &impl Fn(&Term) -> Option<Value>) -> Option<Cell> {
    let mut out = String::new();
    for part in parts {
        match part {
            Part::End => {}
            Part::Literal(literal) => out.push_str(literal),
            Part::Hole { term, codec: Codec::Native, .. } => {
                return term.compute(leaf).filter(|value| *value != Value::Null).map(Cell::Typed);
            }
            Part::Hole { term, ty, codec } => {
                out.push_str(&text(&term.compute(leaf)?, ty, *codec)?)
            }
        }
    }
    Some(Cell::Text(out))
}

/// Returns the row that a family has for a tuple.
pub(super) fn row(
    world: &World<'_>,
    id: usize,
    family: &Family,
    tuple: &Tuple,
) -> Option<(Vec<Cell>, Line)> {
    let (model, of) = (world.model, family.source);
    if !family.when.iter().all(|one| world.meets(of, tuple, one, &|_| None)) {
        return None;
    }
    let leaf = |term: &Term| match term {
        Term::Column(path) => Some(world.at(of, tuple, path)),
        _ => None,
    };
    let key = family.key.iter().map(|column| cell(&column.parts, &leaf)).collect::<Option<_>>()?;
    let shown = shown(model, family).into_iter().map(|path| {
        let value = world.at(of, tuple, &path);
        (path, value)
    });
    let own = model.relation(of).key().first().and_then(|at| tuple.get(*at));
    let children = |relation: RelationId, via: usize| {
        world.of(relation).iter().filter(move |child| child.get(via) == own)
    };
    let kept = family.stored.iter().filter_map(|stored| match stored {
        Stored::Path(_) => None,
        Stored::Tally { relation, via, when, fold, name } => {
            let mut total = fold.of_none();
            for child in children(*relation, *via) {
                if when.iter().all(|one| world.meets(*relation, child, one, &|_| None)) {
                    total = together(*fold, total, child);
                }
            }
            Some((name.clone(), total))
        }
        Stored::Collect { relation, via, path, name } => {
            let mut items: Vec<Value> =
                children(*relation, *via).map(|child| world.at(*relation, child, path)).collect();
            items.sort();
            Some((name.clone(), Value::List(items)))
        }
    });
    Some((key, Line { family: id, shown: shown.collect(), kept: kept.collect() }))
}

/// Returns a kept value after one more tuple.
fn together(fold: Fold, before: Value, child: &Tuple) -> Value {
    let own = fold.column().and_then(|at| child.get(at)).cloned().unwrap_or(Value::Null);
    match (fold, before, own) {
        (Fold::Count, Value::Int(before), _) => Value::Int(before.saturating_add(1)),
        (Fold::Sum(_), Value::Int(before), Value::Int(own)) => {
            Value::Int(before.saturating_add(own))
        }
        (Fold::Max(_) | Fold::Min(_), Value::Null, own) => own,
        (Fold::Max(_), before, own) if own > before => own,
        (Fold::Min(_), before, own) if own < before && own != Value::Null => own,
        (_, before, _) => before,
    }
}

/// Returns all rows of a state; of two with one key the last stays, and only what stays is in
/// indexes.
pub(super) fn rows(world: &World<'_>, schema: &Schema) -> Rows {
    rows_after(world, world, schema)
}

/// Returns all rows that a change from one state to another leaves: what follows later is as it was.
pub(super) fn rows_after(before: &World<'_>, after: &World<'_>, schema: &Schema) -> Rows {
    let mut rows = Rows::new();
    let of = |family: &Family| if family.follows.is_some() { before } else { after };
    let mut origins: BTreeMap<(usize, Vec<Cell>), (usize, &Tuple)> = BTreeMap::new();
    for (id, family) in schema.families.iter().enumerate().filter(|(_, one)| one.base.is_none()) {
        let world = of(family);
        for tuple in world.of(family.source) {
            if let Some((key, line)) = row(world, id, family, tuple) {
                origins.insert((family.table, key.clone()), (id, tuple));
                rows.insert((family.table, key), line);
            }
        }
    }
    for (id, family) in schema.families.iter().enumerate() {
        for (base, tuple) in origins.values() {
            if family.base == Some(*base)
                && let Some((key, line)) = row(of(family), id, family, tuple)
            {
                rows.insert((family.table, key), line);
            }
        }
    }
    rows
}

/// The result of a plan.
pub(super) struct Found {
    pub(super) items: Vec<Item>,
    pub(super) rows_read: usize,
}

struct Reader<'a> {
    model: &'a Model,
    schema: &'a Schema,
    rows: &'a Rows,
    read: &'a Read,
    inputs: &'a [Value],
    rows_read: usize,
}

/// Runs a plan; `Err` says why the call cannot be formed.
pub(super) fn run(
    model: &Model,
    schema: &Schema,
    rows: &Rows,
    read: &Read,
    steps: &[Step],
    inputs: &[Value],
) -> Result<Found, String> {
    let mut reader = Reader { model, schema, rows, read, inputs, rows_read: 0 };
    let Some((Step::Read(first), later)) = steps.split_first() else {
        return Err("the plan does not begin with a read".to_owned());
    };
    let mut lines = reader.first(first)?;
    for step in later {
        match step {
            Step::Also(step) => lines.extend(reader.first(step)?),
            Step::Read(step) => {
                for line in &mut lines {
                    reader.follow(step, line);
                }
            }
            Step::Filter(filters) => lines.retain(|line| {
                filters
                    .iter()
                    .all(|filter| reader.passes(line, &filter.name, filter.op, &filter.values))
            }),
            Step::Sort(orders) => lines.sort_by(|a, b| {
                let by = |(name, desc): &(String, bool)| {
                    let order = reader.rank(a, name).cmp(&reader.rank(b, name));
                    if *desc { order.reverse() } else { order }
                };
                orders
                    .iter()
                    .map(by)
                    .find(|order| order.is_ne())
                    .unwrap_or(std::cmp::Ordering::Equal)
            }),
            Step::Take(count) => lines.truncate(reader.number(count).unwrap_or(0)),
        }
    }
    // Who asks a row for a largest value that it has not is answered by nothing.
    let alone = matches!(steps, [Step::Read(only)] if only.verb == Verb::Get);
    let valued = |line: &&Line| match reader.extreme(line, alone) {
        Some((_, value)) => *value != Value::Null,
        None => true,
    };
    let item = |line: &Line| match reader.extreme(line, alone) {
        Some((of, value)) => (of, vec![value.clone()]),
        None => reader.item(line),
    };
    let mut items: Vec<Item> = lines.iter().filter(valued).map(item).collect();
    if is_number(read) && items.is_empty() {
        items.push((read.sources.first().map_or(0, |one| one.relation), vec![Value::Int(0)]));
    }
    Ok(Found { items, rows_read: reader.rows_read })
}

impl Reader<'_> {
    fn source(&self, line: &Line) -> RelationId {
        self.schema.families.get(line.family).map_or(0, |family| family.source)
    }

    fn leaf(&self, term: &Term, each: Option<&Value>, line: Option<&Line>) -> Option<Value> {
        match term {
            Term::Param(index) => self.inputs.get(*index).cloned(),
            Term::Each => each.cloned(),
            Term::Prior(path) => {
                let line = line?;
                line.shown.get(&short(self.model, self.source(line), path)).cloned()
            }
            _ => None,
        }
    }

    fn number(&self, term: &Term) -> Option<usize> {
        match term.compute(&|leaf| self.leaf(leaf, None, None))? {
            Value::Int(n) => usize::try_from(n).ok(),
            _ => None,
        }
    }

    /// Returns the values of a loop; one empty value when there is none.
    fn eaches(&self, step: &ReadStep) -> Vec<Option<Value>> {
        match &step.each {
            None => vec![None],
            Some(EachOf::Numbers(low, high)) => {
                (*low..=*high).map(|n| Some(Value::Int(n))).collect()
            }
            Some(EachOf::Param(index)) => {
                let Some(Value::List(items)) = self.inputs.get(*index) else { return Vec::new() };
                let mut items = items.clone();
                items.sort();
                items.dedup();
                items.into_iter().map(Some).collect()
            }
        }
    }

    /// Returns the rows of a request whose key the call knows.
    fn first(&mut self, step: &ReadStep) -> Result<Vec<Line>, String> {
        let table = self.schema.tables.get(step.table).ok_or("no such table")?;
        let given = step.bound.iter().take_while(|column| !column.is_empty()).count();
        let whole_table = step.verb == Verb::Scan && given == 0 && step.bounds.is_empty();
        if step.verb == Verb::Get && (table.is_index || given < table.kinds.len()) {
            return Err("a point read needs the whole key of a table".to_owned());
        }
        if given < table.partition && !whole_table {
            return Err("the partition is not known".to_owned());
        }
        let mut lines = Vec::new();
        for each in self.eaches(step) {
            lines.extend(self.range(step, each.as_ref(), None)?);
        }
        Ok(lines)
    }

    fn range(
        &mut self,
        step: &ReadStep,
        each: Option<&Value>,
        line: Option<&Line>,
    ) -> Result<Vec<Line>, String> {
        let leaf = |term: &Term| self.leaf(term, each, line);
        let unknown = || "a part of the key is not known".to_owned();
        let bound: Option<Vec<Cell>> = step.bound.iter().map(|parts| cell(parts, &leaf)).collect();
        let bound = bound.ok_or_else(unknown)?;
        let mut ends = Vec::new();
        for (kind, parts) in &step.bounds {
            let whole = parts.last() == Some(&Part::End);
            ends.push((*kind, cell(parts, &leaf).ok_or_else(unknown)?, whole));
        }
        let limit = match &step.limit {
            Some(limit) => self.number(limit).unwrap_or(0),
            None => usize::MAX,
        };
        let none = Vec::new();
        let partition = self.schema.tables.get(step.table).map_or(0, |table| table.partition);
        // Hashed partitions lie in no order: the one that nobody asks for will do.
        let scattered = bound.len() < partition
            && profile(&self.schema.target).is_some_and(|target| !target.ordered);
        let desc = self.schema.tables.get(step.table).map_or(&none, |table| &table.desc);
        let mut found: Vec<(&Vec<Cell>, &Line)> = self
            .rows
            .iter()
            .filter(|((table, key), _)| {
                *table == step.table
                    && key.starts_with(&bound)
                    && key
                        .get(bound.len())
                        .is_none_or(|cell| ends.iter().all(|end| lies(cell, end)))
            })
            .map(|((_, key), line)| (key, line))
            .collect();
        found.sort_by(|(a, _), (b, _)| {
            let mut columns = a.iter().zip(b.iter()).zip(desc);
            let order = columns.find_map(|((x, y), desc)| {
                let order = if *desc { y.cmp(x) } else { x.cmp(y) };
                order.is_ne().then_some(order)
            });
            let order = order.unwrap_or(std::cmp::Ordering::Equal);
            if step.desc != scattered { order.reverse() } else { order }
        });
        found.truncate(limit);
        let lines: Vec<Line> = found.into_iter().map(|(_, line)| line.clone()).collect();
        self.rows_read += lines.len();
        Ok(lines)
    }

    /// Does a point read for a row, whose result belongs to the row from then on.
    fn follow(&mut self, step: &ReadStep, line: &mut Line) {
        let Ok(found) = self.range(step, None, Some(line)) else { return };
        let Some(found) = found.first() else { return };
        let (of, other) = (self.source(line), self.source(found));
        let through = step.bound.iter().flatten().find_map(|part| match part {
            Part::Hole { term: Term::Prior(path), .. } => Some(short(self.model, of, path)),
            _ => None,
        });
        let through = through.and_then(|mut path| {
            // A key may itself be a reference, and leads on.
            for _ in 0..=self.model.relations.len() {
                let owner = self.model.relation(self.model.path_owner(of, &path));
                let target = owner.columns.get(*path.last()?)?.refers?;
                if target == other {
                    return Some(path);
                }
                path.push(*self.model.relation(target).key().first()?);
            }
            None
        });
        let through = through.unwrap_or_default();
        for (path, value) in &found.shown {
            let whole: ColumnPath = through.iter().chain(path).copied().collect();
            line.shown.insert(short(self.model, of, &whole), value.clone());
        }
    }

    fn named(&self, line: &Line, name: &str) -> Value {
        let of = self.source(line);
        let mut shown = line.shown.iter();
        let found = shown.find(|(path, _)| self.model.is_named(of, path, name));
        found.map_or(Value::Null, |(_, value)| value.clone())
    }

    /// Returns the value that a line is sorted by.
    fn rank(&self, line: &Line, name: &str) -> Value {
        if self.read.is_row_type(self.model, name) {
            let of = self.source(line);
            let before = self.read.sources.iter().take_while(|one| one.relation != of).count();
            return Value::Int(i64::try_from(before).unwrap_or(i64::MAX));
        }
        // Of several attributes, each behind its row type, a line has its own.
        let Some(each) = name.strip_prefix('(') else { return self.named(line, name) };
        let of = format!("{}.", self.model.relation(self.source(line)).name.text);
        let mut each = each.trim_end_matches(')').split(", ");
        let own = each.find_map(|one| one.strip_prefix(of.as_str()));
        own.map_or(Value::Null, |own| self.named(line, own))
    }

    fn passes(&self, line: &Line, name: &str, op: CondOp, values: &[Term]) -> bool {
        let kind = self.read.is_row_type(self.model, name);
        let lower = |value: Value| match value {
            Value::Text(text) if kind => Value::Text(text.to_lowercase()),
            other => other,
        };
        let found = if kind {
            lower(Value::Text(self.model.relation(self.source(line)).name.text.clone()))
        } else {
            self.named(line, name)
        };
        let wanted: Option<Vec<Value>> = values
            .iter()
            .map(|term| term.compute(&|leaf| self.leaf(leaf, None, None)).map(lower))
            .collect();
        wanted.is_some_and(|wanted| holds(op, &found, &wanted))
    }

    /// Returns the largest or smallest value that a row keeps and the read asks for.
    fn extreme<'l>(&self, line: &'l Line, alone: bool) -> Option<(RelationId, &'l Value)> {
        let wanted = first_of_order(self.read)?;
        let of = self.read.sources.first()?.relation;
        let family = self.schema.families.get(line.family)?;
        let kept = family.stored.iter().find_map(|stored| match stored {
            Stored::Tally { name, fold, .. }
                if *fold == wanted && is_of(self.model, self.read, stored) =>
            {
                line.kept.get(name)
            }
            _ => None,
        })?;
        (alone || family.source != of).then_some((of, kept))
    }

    fn item(&self, line: &Line) -> Item {
        let of = self.source(line);
        if is_number(self.read) {
            let counted = self.read.sources.first().map_or(0, |source| source.relation);
            let stored = self.schema.families.get(line.family).map(|family| &family.stored);
            let kept = stored.into_iter().flatten().find_map(|stored| match stored {
                Stored::Tally { name, .. } if is_of(self.model, self.read, stored) => {
                    line.kept.get(name)
                }
                _ => None,
            });
            return (counted, vec![kept.cloned().unwrap_or(Value::Null)]);
        }
        let Some(source) = self.read.sources.iter().find(|source| source.relation == of) else {
            let names = self.read.outputs.iter();
            return (of, names.map(|name| self.named(line, name)).collect());
        };
        let value = |path: &Option<ColumnPath>| {
            let Some(path) = path else { return Value::Null };
            let path = short(self.model, of, path);
            if let Some(value) = line.shown.get(&path) {
                return value.clone();
            }
            // The caller knows what it asked for.
            let asked = source
                .predicates
                .iter()
                .find(|one| one.op == CondOp::Eq && short(self.model, of, &one.path) == path);
            let term = asked.and_then(|one| one.values.first());
            let leaf = |leaf: &Term| self.leaf(leaf, None, None);
            term.and_then(|term| term.compute(&leaf)).unwrap_or(Value::Null)
        };
        (of, source.outputs.iter().map(value).collect())
    }
}

/// Returns true if a read is of a number that rows may keep: a count, or the sum of an attribute.
pub(super) fn is_number(read: &Read) -> bool {
    matches!(read.aggregate, Some((Aggregate::Count, None) | (Aggregate::Sum, Some(_))))
}

/// Returns the largest or smallest value that a read asks for: it shows one attribute of its tuples, of
/// the first in the order of that attribute.
pub(super) fn first_of_order(read: &Read) -> Option<Fold> {
    let [source] = read.sources.as_slice() else { return None };
    let [Some(shown)] = source.outputs.as_slice() else { return None };
    let [at] = shown.as_slice() else { return None };
    let [(OrderKey::Columns(by), desc)] = read.order.as_slice() else { return None };
    let first = read.limit == Some(Term::Const(Value::Int(1)));
    let whole = read.aggregate.is_none() && !read.offset && !read.page;
    if !first || !whole || by.first() != Some(&Some(vec![*at])) {
        return None;
    }
    Some(if *desc { Fold::Max(*at) } else { Fold::Min(*at) })
}

/// Returns true if what a row keeps is what a read asks for, apart from whose it is.
pub(super) fn is_of(model: &Model, read: &Read, stored: &Stored) -> bool {
    let (Stored::Tally { relation, via, when, fold, .. }, [source]) =
        (stored, read.sources.as_slice())
    else {
        return false;
    };
    let wanted = match &read.aggregate {
        Some((Aggregate::Sum, Some(path))) => match path.as_slice() {
            [only] => Fold::Sum(*only),
            _ => return false,
        },
        Some((Aggregate::Count, None)) => Fold::Count,
        _ => match first_of_order(read) {
            Some(wanted) => wanted,
            None => return false,
        },
    };
    let alike = |a: &Predicate, b: &Predicate| {
        let (one, other) = (short(model, *relation, &a.path), short(model, *relation, &b.path));
        one == other && a.op == b.op && a.values == b.values
    };
    let own = |one: &&Predicate| short(model, *relation, &one.path) != [*via];
    let asked: Vec<&Predicate> = source.predicates.iter().filter(own).collect();
    source.relation == *relation
        && *fold == wanted
        && asked.iter().all(|one| when.iter().any(|other| alike(one, other)))
        && when.iter().all(|one| asked.iter().any(|other| alike(one, other)))
}

/// Returns true if a column lies within an end; ends that are no whole values are beginnings of
/// texts.
fn lies(cell: &Cell, (kind, end, whole): &(BoundKind, Cell, bool)) -> bool {
    let begins = match (cell, end) {
        (Cell::Text(text), Cell::Text(head)) if !whole => text.starts_with(head.as_str()),
        _ => cell == end,
    };
    match kind {
        BoundKind::Begins => begins,
        BoundKind::From => cell >= end,
        BoundKind::After => cell > end && !begins,
        BoundKind::To => cell <= end,
        BoundKind::Before => cell < end,
        BoundKind::Through => cell < end || begins || cell == end,
    }
}
