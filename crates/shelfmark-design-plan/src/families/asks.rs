//! Derives the requirements of reads, pattern by pattern: the first of the rules.

use std::collections::BTreeSet;

use super::draft::Ask;
use super::{Planner, Served};
use shelfmark_design_language::model::canonical;
use shelfmark_design_language::model::pattern::{Predicate, Source};
use shelfmark_design_language::model::{ColumnPath, Model, OrderKey, Read, RelationId, Type};
use shelfmark_design_language::syntax::tree::CondOp;
use shelfmark_design_prove::own_limits::of_range;
use shelfmark_design_prove::paths::is_optional;
use shelfmark_design_prove::unservable;

impl Planner<'_> {
    /// Finds a family for each read, those with the longest keys first: shorter ones are then
    /// their beginnings.
    pub(crate) fn reads(&mut self) {
        let mut asks: Vec<(usize, Ask)> = Vec::new();
        for (index, read) in self.model.reads.iter().enumerate() {
            if read.aggregate.is_some() || self.modes.counts.contains(&index) {
                continue;
            }
            if let Some(why) = unservable(self.model, read) {
                self.note(format!("{} is unservable: {why}", read.name.text));
                continue;
            }
            if let Some(why) = self.hopeless.get(&index) {
                self.note(format!("{} has no plan: {why}", read.name.text));
                continue;
            }
            match self.read_ask(index, read) {
                Ok(Some(ask)) => asks.push((index, ask)),
                Ok(None) => {}
                Err(why) => self.note(format!("{} has no plan: {why}", read.name.text)),
            }
        }
        asks.sort_by_key(|(_, ask)| std::cmp::Reverse(ask.equal.len() + ask.tail.len()));
        for (read, mut ask) in asks {
            if self.gather(read, &ask) {
                continue;
            }
            let follows = self.follows(read, &mut ask);
            let alone = self.alone.contains(&read);
            ask.viewed = self.moves.viewed.contains(&read);
            let (draft, flip) = self.ask_beside(&ask, alone);
            let Ask { equal, sorted, .. } = ask;
            self.served.push(Served { read, draft, flip, equal, sorted, follows });
        }
        self.served.sort_by_key(|served| served.read);
    }

    /// Returns the requirements of one read; `None` when its rows are of several types, which have
    /// a table of their own.
    pub(crate) fn read_ask(&mut self, index: usize, read: &Read) -> Result<Option<Ask>, String> {
        if read.sources.len() > 1 {
            if read.has_own_limits() && of_range(read).is_none() {
                return Err("its row types have limits that no range has together".to_owned());
            }
            return self.mix(index, read).map(|()| None);
        }
        let source = read.sources.first().ok_or("it reads nothing")?;
        let relation = source.relation;
        let (apart, within) = self.set_apart(read, source);
        let (mut equal, range) = self.predicates(&within)?;
        let constants =
            if self.moves.sparse.contains(&index) { self.constants(index) } else { Vec::new() };
        equal.retain(|path| !constants.iter().any(|one| one.path == *path));
        let mut tail = tail(self.model, (read, relation), range.as_ref())?;
        let both_ways =
            Ask::new(self.model, relation, equal.clone(), tail.clone()).directions() > 1;
        // All rows of a list without a limit are read, in whatever order.
        let sorted = both_ways && self.target.plans_texts() && read.limit.is_none() && !read.page;
        if sorted {
            tail = range.map(|range| (range, None)).into_iter().collect();
        }
        for path in equal.iter().chain(tail.iter().map(|(path, _)| path)) {
            self.can_be_key(relation, path)?;
        }
        let mut ask = Ask { sorted, ..Ask::new(self.model, relation, equal, tail) };
        for (path, _) in &ask.tail {
            let ranged = source.predicates.iter().any(|one| {
                let asked = canonical(self.model, relation, &one.path);
                one.op != CondOp::Absent && tells(self.model, relation, &asked, path)
            });
            if is_optional(self.model, relation, path) && !ranged {
                let name = self.model.path_text(relation, path);
                return Err(format!("rows without {name} have no place in an order by it"));
            }
        }
        // What a key holds is there: such a family need not ask for it.
        let told = |one: &&Predicate| {
            let path = canonical(self.model, relation, &one.path);
            let mut keyed = ask.equal.iter().chain(ask.tail.iter().map(|(path, _)| path));
            one.op == CondOp::Present
                && keyed.any(|other| tells(self.model, relation, other, &path))
        };
        let asked = source.predicates.iter();
        let asked = asked.filter(|one| matches!(one.op, CondOp::Present | CondOp::Absent));
        ask.when = asked.filter(|one| !told(one)).cloned().collect();
        ask.when.extend(constants);
        ask.when.extend(apart);
        ask.shown = self.outputs(source);
        if sorted || source.predicates.iter().any(|one| one.op == CondOp::In) {
            // What is sorted is so by what its rows show.
            ask.shown.extend(read.order.iter().filter_map(|(key, _)| match key {
                OrderKey::Columns(paths) => {
                    paths.first()?.as_ref().map(|path| canonical(self.model, relation, path))
                }
                OrderKey::Kind => None,
            }));
        }
        let in_key = ask.equal.iter().chain(ask.tail.iter().map(|(path, _)| path));
        for path in in_key {
            if self.is_out_of_reach(relation, path) {
                let name = self.model.path_text(relation, path);
                return Err(format!(
                    "{name} lies more than one reference away and changes, so keys that hold it cannot be followed"
                ));
            }
        }
        if self.target.plans_texts() && !self.weighing {
            self.texts_keep_order(&ask, source)?;
        }
        Ok(Some(ask))
    }

    /// Returns the conditions by which a read asks for a constant, of attributes of its own.
    pub(crate) fn constants(&self, read: usize) -> Vec<Predicate> {
        let source = self.model.reads.get(read).and_then(|read| match read.sources.as_slice() {
            [only] => Some(only),
            _ => None,
        });
        let fixed = |one: &&Predicate| {
            let value = one.values.first().and_then(super::serve::constant);
            one.op == CondOp::Eq && one.path.len() == 1 && value.is_some()
        };
        source.into_iter().flat_map(|one| one.predicates.iter().filter(fixed)).cloned().collect()
    }

    /// Returns the comparisons with constants that have no place in a key beside the range or the order of
    /// another attribute, since rows of which they hold may lie by themselves; and the source without them.
    fn set_apart(&self, read: &Read, source: &Source) -> (Vec<Predicate>, Source) {
        let path = |one: &Predicate| canonical(self.model, source.relation, &one.path);
        let is_end = |op| matches!(op, CondOp::Lt | CondOp::Le | CondOp::Gt | CondOp::Ge);
        let fixed = |one: &&Predicate| {
            let told = one.values.iter().all(|term| super::serve::constant(term).is_some());
            is_end(one.op) && one.path.len() == 1 && told
        };
        let equal = |other: &ColumnPath| {
            source.predicates.iter().any(|one| one.op == CondOp::Eq && path(one) == *other)
        };
        let mut ordered = read.order.iter().filter_map(|(key, _)| match key {
            OrderKey::Columns(paths) => paths.first()?.as_ref(),
            OrderKey::Kind => None,
        });
        let first = ordered.find_map(|by| {
            Some(canonical(self.model, source.relation, by)).filter(|by| !equal(by))
        });
        let given = || source.predicates.iter().find(|one| is_range(one.op) && !fixed(one));
        let any = || source.predicates.iter().find(fixed);
        let kept = first.or_else(|| given().or_else(any).map(path));
        let others = |one: &&Predicate| fixed(one) && Some(path(one)) != kept;
        let (apart, within): (Vec<&Predicate>, Vec<&Predicate>) =
            source.predicates.iter().partition(others);
        let within = Source { predicates: within.into_iter().cloned().collect(), ..source.clone() };
        (apart.into_iter().cloned().collect(), within)
    }

    /// Returns the attributes with a single value, and the one with a range.
    pub(crate) fn predicates(
        &self,
        source: &Source,
    ) -> Result<(Vec<ColumnPath>, Option<ColumnPath>), String> {
        let mut equal: Vec<ColumnPath> = Vec::new();
        let mut range: Option<ColumnPath> = None;
        let mut lists = 0;
        let (mut lower, mut upper) = (0, 0);
        for one in &source.predicates {
            lower += usize::from(!matches!(one.op, CondOp::Lt | CondOp::Le) && is_range(one.op));
            upper += usize::from(!matches!(one.op, CondOp::Gt | CondOp::Ge) && is_range(one.op));
            let path = canonical(self.model, source.relation, &one.path);
            match one.op {
                CondOp::Eq | CondOp::In => {
                    lists += usize::from(one.op == CondOp::In);
                    if !equal.contains(&path) {
                        equal.push(path);
                    }
                }
                CondOp::Present | CondOp::Absent => {}
                _ => range = Some(path),
            }
        }
        if lists > 1 {
            return Err("two lists of values multiply; read one of them in a loop".to_owned());
        }
        if lower.max(upper) > 1 {
            return Err("a range has one end on each side; ask for the narrower one".to_owned());
        }
        Ok((equal, range))
    }

    /// Returns true if copies of the path's target cannot be found again when a write changes it.
    pub(crate) fn is_out_of_reach(&self, relation: usize, path: &[usize]) -> bool {
        (1..path.len()).any(|at| {
            let owner = self.model.path_owner(relation, path.get(..=at).unwrap_or(path));
            let changes = self.model.writes.iter().flat_map(|write| &write.effects).any(|effect| {
                effect.relation == owner
                    && effect.set.iter().any(|(column, _)| path.get(at) == Some(column))
            });
            changes && path.len() > 2
        })
    }

    fn can_be_key(&self, relation: usize, path: &[usize]) -> Result<(), String> {
        match self.model.path_type(relation, path) {
            Type::List(..) => {
                let name = self.model.path_text(relation, path);
                Err(format!("{name} is a list and cannot be in a key"))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn outputs(&self, source: &Source) -> BTreeSet<ColumnPath> {
        source
            .outputs
            .iter()
            .flatten()
            .map(|path| canonical(self.model, source.relation, path))
            .collect()
    }
}

/// Returns what follows the known attributes in a key: a range, then the order.
fn tail(
    model: &Model,
    (read, relation): (&Read, RelationId),
    range: Option<&ColumnPath>,
) -> Result<Vec<(ColumnPath, Option<bool>)>, String> {
    let mut tail: Vec<(ColumnPath, Option<bool>)> = Vec::new();
    for (key, desc) in &read.order {
        let OrderKey::Columns(paths) = key else { continue };
        let path = paths.first().and_then(Option::as_ref).ok_or("its order is not known")?;
        tail.push((canonical(model, relation, path), Some(*desc)));
    }
    if let Some(range) = range
        && tail.first().is_none_or(|(first, _)| first != range)
    {
        tail.insert(0, (range.clone(), None));
    }
    Ok(tail)
}

/// Returns true if an attribute is there wherever another is: that one itself, or one of its group.
fn tells(model: &Model, relation: RelationId, there: &[usize], other: &[usize]) -> bool {
    let (Some((last, base)), Some((mate, beside))) = (there.split_last(), other.split_last())
    else {
        return false;
    };
    let owner = model.relation(model.path_owner(relation, there));
    base == beside && (last == mate || owner.mates(*last).any(|one| one == *mate))
}

/// Returns true if a condition is an end of a range, or both of them.
fn is_range(op: CondOp) -> bool {
    matches!(
        op,
        CondOp::Lt | CondOp::Le | CondOp::Gt | CondOp::Ge | CondOp::Between | CondOp::Begins
    )
}
