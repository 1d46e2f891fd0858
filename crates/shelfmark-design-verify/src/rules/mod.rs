//! Verifies by a plan's shape that its first read is of a bound, complete and limited key range.
//!
//! One rule of the verifier's own for each of these obligations:
//!
//! * O1, bound: every column of the partition key is given, unless the table is scanned, in texts
//!   that its codec can write.
//! * O4, complete: the table has a row of its own for each tuple that the pattern asks for.
//! * O6, no waste: the limit of the range is the pattern's.
//! * O8, consistent: no strong read goes to an index that may lag.
//! * O9, bounded: the rows of a call are those stated, and ranges and follow-up reads have a
//!   maximum.
//!
//! What it is not: O2 (contiguous), O3 (sound), O5 (ordered) and O7 (covered) are verified by
//! running the plan on states, and O10 (askable) in `requests`.

mod own_limits;

use std::collections::BTreeSet;

pub(super) use own_limits::requests;
use own_limits::{asks_for_one, beside, one_range, shares};

use super::follows::follows;
use super::shelf::{first_of_order, is_of, short};
use shelfmark_design_language::certificate::{Certificate, Ground, RowsMax, Status};
use shelfmark_design_language::model::pattern::{Predicate, Source};
use shelfmark_design_language::model::relation::Relation;
use shelfmark_design_language::model::schema::{
    Codec, EachOf, Family, Part, ReadStep, Schema, Step, Stored,
};
use shelfmark_design_language::model::{
    ColumnPath, Consistency, Model, OrderKey, Read, RelationId, Term, Type, Value,
};
use shelfmark_design_language::syntax::tree::{CondOp, Verb};
use shelfmark_design_language::target::profile;

/// Most ranges of one call that are run.
const LOOP_MAX: i64 = 4_096;

/// Checks that a decoded plan names existing tables and inputs.
pub(super) fn in_model(schema: &Schema, read: &Read, steps: &[Step]) -> Result<(), String> {
    for step in steps {
        let Some(step) = step.read() else { continue };
        let table = schema.tables.get(step.table).ok_or("its plan reads no table of the schema")?;
        let ends = usize::from(!step.bounds.is_empty());
        if step.bound.len() + ends > table.kinds.len() {
            return Err("its plan binds more columns than the key has".to_owned());
        }
        match step.each {
            Some(EachOf::Numbers(low, high)) if high.saturating_sub(low) > LOOP_MAX => {
                return Err("its plan reads more ranges than are run here".to_owned());
            }
            Some(EachOf::Param(index)) if index >= read.params.len() => {
                return Err("its plan goes through an input that is not there".to_owned());
            }
            _ => {}
        }
    }
    Ok(())
}

pub(super) fn check(
    model: &Model,
    schema: &Schema,
    read: &Read,
    steps: &[Step],
    certificate: &Certificate,
) -> Result<(), String> {
    let Some(Step::Read(step)) = steps.first() else {
        return Err("O1: the plan does not begin with a read".to_owned());
    };
    let requests = requests(steps);
    if steps.iter().filter(|step| matches!(step, Step::Also(_))).count() + 1 != requests.len() {
        return Err("O1: a request stands behind what is done with its rows".to_owned());
    }
    let plain = |step: &Step| matches!(step, Step::Filter(_) | Step::Take(_));
    // The row that keeps a largest value may have none: it is read, and nothing is returned.
    let kept = keeps_extreme(model, schema, read, steps);
    let single = step.each.is_none() && steps.iter().skip(1).all(plain) && !kept;
    if single != (certificate.status == Status::Certified) {
        return Err("`certified` is one range, `multi` is more".to_owned());
    }
    let several = requests.len() > 1;
    let shares = match several {
        true => shares(model, schema, read, &requests)?,
        false => vec![(0..read.sources.len()).collect()],
    };
    match several {
        true => beside(model, read, steps, (&requests, &shares))?,
        false => limited(model, read, steps, step)?,
    }
    for (step, share) in requests.iter().zip(&shares) {
        bound(schema, step)?;
        let sources = share.iter().filter_map(|at| read.sources.get(*at));
        for source in sources.filter(|_| read.aggregate.is_none() && !kept) {
            own_rows(model, schema, read, step, source)?;
        }
        lags(schema, read, step)?;
    }
    if follows_too_late(schema, read, steps) {
        return Err("O8: rows of the plan follow too late for such a read".to_owned());
    }
    let parts = requests.iter().zip(&shares);
    let stated = parts.map(|(step, share)| rows_max(model, read, (step, share)));
    let stated = stated.reduce(RowsMax::plus).unwrap_or_default();
    if read.aggregate.is_none() && stated != certificate.rows_max {
        return Err(format!("O9: one call delivers {stated} rows, not {}", certificate.rows_max));
    }
    if let Some(EachOf::Param(index)) = &step.each
        && !matches!(read.params.get(*index).map(|param| &param.ty), Some(Type::List(_, Some(_))))
    {
        return Err("O9: the number of ranges has no bound".to_owned());
    }
    let follows = steps.iter().skip(1).any(|step| matches!(step, Step::Read(_)));
    if stated == RowsMax::Unbounded && follows && read.aggregate.is_none() {
        return Err("O9: the number of follow-up reads has no bound".to_owned());
    }
    Ok(())
}

/// Checks O6 of a plan with one request, and O10 where its limit is the size of a page.
fn limited(model: &Model, read: &Read, steps: &[Step], step: &ReadStep) -> Result<(), String> {
    // The next page begins behind a key: where several ranges or work outside the store make the page,
    // there is none.
    let read_only = steps.iter().all(|step| matches!(step, Step::Read(_)));
    if read.page && (step.each.is_some() || !read_only) {
        return Err("O10: no key ends a page of this plan".to_owned());
    }
    let takes = steps.iter().any(|step| matches!(step, Step::Take(_)));
    if read.has_own_limits() {
        let sources: Vec<&Source> = read.sources.iter().collect();
        if takes {
            return Err("O6: the plan takes what no limit says".to_owned());
        }
        return one_range(model, read, (step, &sources));
    }
    let one = matches!(read.sources.as_slice(), [source] if asks_for_one(model, source));
    if read.limit.is_some()
        && step.limit.is_none()
        && !takes
        && step.verb != Verb::Get
        && !read.unique
        && !one
    {
        return Err("O6: the limit is not in the plan".to_owned());
    }
    if read.limit.is_some() && step.limit.is_none() && step.each.is_some() && !read.unique {
        return Err("O6: all rows are read before the first are taken".to_owned());
    }
    if step.limit.is_some() && step.limit != read.limit {
        return Err("O6: the plan's limit is not the pattern's".to_owned());
    }
    Ok(())
}

/// Checks O8: no read that asks for what is there now goes to what lags behind.
fn lags(schema: &Schema, read: &Read, step: &ReadStep) -> Result<(), String> {
    let table = schema.tables.get(step.table).ok_or("no such table")?;
    let target = profile(&schema.target).ok_or("there is no such target")?;
    let now = matches!(read.consistency, Consistency::Strong | Consistency::Session);
    if now && table.is_index && !table.is_local && !target.strong_indexes {
        return Err("O8: an index may lag behind such a read".to_owned());
    }
    Ok(())
}

/// Returns true if a plan is a point read of the row, by its tuple's key, that keeps the largest or
/// smallest value which a read asks for.
fn keeps_extreme(model: &Model, schema: &Schema, read: &Read, steps: &[Step]) -> bool {
    let [Step::Read(step)] = steps else { return false };
    step.verb == Verb::Get
        && schema.families.iter().filter(|family| family.table == step.table).any(|family| {
            let own: BTreeSet<ColumnPath> =
                model.relation(family.source).key().iter().map(|at| vec![*at]).collect();
            let asked =
                |stored: &Stored| first_of_order(read).is_some() && is_of(model, read, stored);
            family.base.is_none()
                && family.when.is_empty()
                && in_key(model, family) == own
                && family.stored.iter().any(asked)
        })
}

/// Returns true if rows of the plan's tables may be further behind what they stem from than the read
/// takes.
pub(super) fn follows_too_late(schema: &Schema, read: &Read, steps: &[Step]) -> bool {
    let now = matches!(read.consistency, Consistency::Strong | Consistency::Session);
    let oldest = if now { Some(0.0) } else { read.facts.get("staleness").copied() };
    let tables: Vec<usize> = steps.iter().filter_map(Step::read).map(|step| step.table).collect();
    let mut families = schema.families.iter().filter(|family| tables.contains(&family.table));
    families.any(|one| one.follows.zip(oldest).is_some_and(|(late, most)| late > most))
}

/// Checks O1: the call can form the range, of every column of the partition key.
pub(super) fn bound(schema: &Schema, step: &ReadStep) -> Result<(), String> {
    let table = schema.tables.get(step.table).ok_or("no such table")?;
    let given = step.bound.iter().take_while(|column| !column.is_empty()).count();
    let whole = given == 0 && step.bounds.is_empty() && step.verb == Verb::Scan;
    let target = profile(&schema.target).ok_or("there is no such target")?;
    if table.is_index && !target.index_conditions_on_base_key {
        let mut entries = schema.families.iter().filter(|family| family.table == step.table);
        let base = entries.find_map(|entry| schema.families.get(entry.base?));
        let own = table.kinds.len().saturating_sub(base.map_or(0, |base| base.key.len()));
        if step.bound.len() + usize::from(!step.bounds.is_empty()) > own {
            return Err("O1: an index is asked by the columns of the base key".to_owned());
        }
    }
    let mut parts = step.bound.iter().chain(step.bounds.iter().map(|(_, end)| end)).flatten();
    if parts.any(|part| !writable(part)) {
        return Err("O1: an input may be what its codec cannot write".to_owned());
    }
    if given < table.partition && !whole {
        return Err("O1: the partition key is not bound".to_owned());
    }
    if step.verb == Verb::Get && (given != table.kinds.len() || table.is_index) {
        return Err("O1: a point read without the whole key".to_owned());
    }
    Ok(())
}

/// Returns true if every value of a hole has a text.
fn writable(part: &Part) -> bool {
    match part {
        Part::Hole { codec: Codec::Lexint, ty: Type::Int(Some((low, _))), .. } => *low >= 0,
        Part::Hole { codec: Codec::Lexint, .. } => false,
        _ => true,
    }
}

/// Checks O4: the table has a row for each tuple that a source of the pattern asks for.
fn own_rows(
    model: &Model,
    schema: &Schema,
    read: &Read,
    step: &ReadStep,
    source: &Source,
) -> Result<(), String> {
    let relation = source.relation;
    let of_source = schema
        .families
        .iter()
        .filter(|family| family.table == step.table && family.source == relation);
    let name = &model.relation(relation).name.text;
    if of_source.clone().next().is_none() {
        return Err(format!("O4: the table holds no rows of {name}"));
    }
    if !read.distinct && !of_source.clone().any(|family| keyed(model, schema, family)) {
        return Err(format!("O4: two of {name} may be one row"));
    }
    let mut whole = of_source.filter(|family| {
        family.when.iter().all(|one| follows(model, relation, one, &source.predicates))
    });
    if whole.next().is_none() {
        return Err(format!("O4: the table holds only some rows of {name}"));
    }
    Ok(())
}

/// Returns true if the key (of the row itself, for an index entry) holds a whole key of its source.
pub(super) fn keyed(model: &Model, schema: &Schema, family: &Family) -> bool {
    let family = family.base.and_then(|base| schema.families.get(base)).unwrap_or(family);
    let mut paths = in_key(model, family);
    // What a sparse family asks for by `=` is the same in all its rows.
    let same = family.when.iter().filter(|one| one.op == CondOp::Eq);
    paths.extend(same.map(|one| short(model, family.source, &one.path)));
    known(model, family.source, &paths).len() == model.relation(family.source).columns.len()
}

/// Returns true if the key distinguishes any two tuples, those too that a sparse family does not
/// hold.
pub(super) fn keyed_alone(model: &Model, family: &Family) -> bool {
    let paths = in_key(model, family);
    known(model, family.source, &paths).len() == model.relation(family.source).columns.len()
}

/// Returns the attributes that stand in a key unchanged.
pub(super) fn in_key(model: &Model, family: &Family) -> BTreeSet<ColumnPath> {
    let parts = family.key.iter().flat_map(|column| &column.parts);
    let paths = parts.filter_map(|part| match part {
        Part::Hole { term: Term::Column(path), .. } => Some(short(model, family.source, path)),
        _ => None,
    });
    paths.collect()
}

/// Checks a refusal without a plan: no row family has a key that the call can form.
pub(super) fn no_plan(model: &Model, schema: &Schema, read: &Read) -> Result<(), String> {
    let Some(source) = read.sources.first().filter(|_| read.aggregate.is_none()) else {
        return Ok(());
    };
    let equal = source.predicates.iter().filter(|one| one.op == CondOp::Eq);
    let fixed: BTreeSet<ColumnPath> =
        equal.map(|one| short(model, source.relation, &one.path)).collect();
    let mut own = schema.families.iter().filter(|family| family.source == source.relation);
    match own.find(|family| formable(model, schema, family, &fixed)) {
        Some(family) => Err(format!("O1: the call can form the partition of {}", family.name.text)),
        None => Ok(()),
    }
}

/// Returns true if some attributes are enough to name the partition of a family's rows.
pub(super) fn formable(
    model: &Model,
    schema: &Schema,
    family: &Family,
    fixed: &BTreeSet<ColumnPath>,
) -> bool {
    let partition = schema.tables.get(family.table).map_or(0, |table| table.partition);
    let holes = family.key.iter().take(partition).flat_map(|column| &column.parts);
    let mut known = true;
    for part in holes {
        if let Part::Hole { term, .. } = part {
            term.columns(&mut |path| {
                known &= fixed.contains(&short(model, family.source, path));
            });
        }
    }
    known
}

/// Returns the columns of a relation that some paths determine.
pub(super) fn known(
    model: &Model,
    relation: RelationId,
    paths: &BTreeSet<ColumnPath>,
) -> BTreeSet<usize> {
    let mut known = BTreeSet::new();
    for (at, column) in model.relation(relation).columns.iter().enumerate() {
        let inner: BTreeSet<ColumnPath> = paths
            .iter()
            .filter(|path| path.len() > 1 && path.first() == Some(&at))
            .filter_map(|path| path.get(1..).map(<[usize]>::to_vec))
            .collect();
        let through = column.refers.is_some_and(|target| {
            !inner.is_empty() && {
                let all = model.relation(target).columns.len();
                self::known(model, target, &inner).len() == all
            }
        });
        if paths.contains(&vec![at]) || through {
            known.insert(at);
        }
    }
    follow(model.relation(relation), known)
}

/// Computes the fixpoint of keys and dependencies.
fn follow(relation: &Relation, mut known: BTreeSet<usize>) -> BTreeSet<usize> {
    let all: Vec<usize> = (0..relation.columns.len()).collect();
    // An optional attribute tells tuples apart only where it is known to be there.
    let given = known.clone();
    let there = |at: &usize| {
        given.contains(at) || relation.columns.get(*at).is_some_and(|column| !column.optional)
    };
    let keys = relation.keys.iter().filter(|key| !key.is_empty() && key.iter().all(there));
    let keys = keys.map(|key| (key, &all));
    let rules: Vec<(&Vec<usize>, &Vec<usize>)> =
        keys.chain(relation.dependencies.iter().map(|(from, to)| (from, to))).collect();
    for _ in 0..=rules.len() {
        for (from, to) in &rules {
            if from.iter().all(|column| known.contains(column)) {
                known.extend(to.iter());
            }
        }
    }
    known
}

/// Returns the bound of O9: rows of a request for some row types, as certificates write it.
fn rows_max(model: &Model, read: &Read, (step, share): (&ReadStep, &[usize])) -> RowsMax {
    let sources: Vec<&Source> = share.iter().filter_map(|at| read.sources.get(*at)).collect();
    // A request for one row type has its limit, as one for all has that of the read.
    let own = match sources.as_slice() {
        [only] if read.sources.len() > 1 => only.limit.as_ref(),
        _ => None,
    };
    let rows = match own.or(read.limit.as_ref()) {
        Some(limit) => RowsMax::limit(&read.params, limit),
        None => {
            let all = sources.iter().map(|source| rows_of(model, read, source, step));
            all.reduce(RowsMax::plus).unwrap_or_default()
        }
    };
    if rows == RowsMax::Unbounded {
        return rows;
    }
    match &step.each {
        None => rows,
        Some(EachOf::Numbers(low, high)) => rows.times((high - low + 1) as f64),
        Some(EachOf::Param(index)) => match read.params.get(*index).map(|param| &param.ty) {
            Some(Type::List(_, Some(max))) => rows.times(*max as f64),
            _ => RowsMax::Unbounded,
        },
    }
}

/// Returns the most rows of one row type in a range.
fn rows_of(model: &Model, read: &Read, source: &Source, step: &ReadStep) -> RowsMax {
    let fixed: BTreeSet<ColumnPath> = source
        .predicates
        .iter()
        // In each range of a loop the attribute that is looped over has one value.
        .filter(|one| one.op == CondOp::Eq || (one.op == CondOp::In && step.each.is_some()))
        .map(|one| short(model, source.relation, &one.path))
        .collect();
    let relation = model.relation(source.relation);
    if known(model, source.relation, &fixed).len() == relation.columns.len() {
        return RowsMax::number(1.0);
    }
    if let Some(limit) = &source.limit {
        return RowsMax::limit(&read.params, limit);
    }
    let fanouts = relation
        .fanouts
        .iter()
        .filter(|fanout| fanout.from.iter().all(|column| fixed.contains(&vec![*column])));
    let least = fanouts.filter_map(|fanout| fanout.max()).min_by(f64::total_cmp);
    least.map_or(RowsMax::Unbounded, RowsMax::number)
}

/// Returns the most rows that one call may return, with its inputs, follow-up reads included.
pub(super) fn most(
    read: &Read,
    stated: &RowsMax,
    inputs: &[Value],
    steps: &[Step],
) -> Option<usize> {
    let reads = steps.iter().filter(|step| matches!(step, Step::Read(_))).count();
    Some(stated.of_call(&read.params, inputs)?.saturating_mul(reads))
}

/// Checks that the pattern has the property that makes it unservable.
pub(super) fn unservable(model: &Model, read: &Read, ground: Option<Ground>) -> Result<(), String> {
    let predicates = || read.sources.iter().flat_map(|source| &source.predicates);
    let searches =
        |op: CondOp| matches!(op, CondOp::Contains | CondOp::Ends | CondOp::Matches | CondOp::Near);
    let holds = match ground {
        Some(Ground::Offset) => read.offset,
        Some(Ground::Aggregate) => read.aggregate.is_some(),
        Some(Ground::Search) => predicates().any(|one| searches(one.op)),
        Some(Ground::TwoRanges) => {
            (0..read.sources.len()).any(|at| ranged(model, read, at).len() > 1)
        }
        Some(Ground::OtherOrder) => {
            (0..read.sources.len()).any(|at| orders_otherwise(model, read, at))
        }
        None => false,
    };
    if holds { Ok(()) } else { Err("its reason is none of the five, or not true".to_owned()) }
}

/// Returns the attributes of a source that are restricted by a range or a prefix that an input ends.
fn ranged(model: &Model, read: &Read, source: usize) -> BTreeSet<ColumnPath> {
    use CondOp::{Begins, Between, Ge, Gt, Le, Lt};
    let Some(source) = read.sources.get(source) else { return BTreeSet::new() };
    let ranges = |op: CondOp| matches!(op, Lt | Le | Gt | Ge | Between | Begins);
    // What is compared with a constant may hold of all rows of a sparse family.
    let fixed = |one: &Predicate| one.values.iter().all(|term| matches!(term, Term::Const(_)));
    let asked = source.predicates.iter().filter(|one| ranges(one.op) && !fixed(one));
    asked.map(|one| short(model, source.relation, &one.path)).collect()
}

/// Returns true if the first order that is not settled by equalities is that of another attribute
/// than the ranged one.
fn orders_otherwise(model: &Model, read: &Read, source: usize) -> bool {
    let ranges = ranged(model, read, source);
    let (Some(one), false) = (read.sources.get(source), ranges.is_empty()) else { return false };
    let equal = one.predicates.iter().filter(|one| one.op == CondOp::Eq);
    let fixed: BTreeSet<ColumnPath> =
        equal.map(|asked| short(model, one.relation, &asked.path)).collect();
    let told = known(model, one.relation, &fixed);
    let settled = |path: &ColumnPath| {
        let begins = |length| path.get(..length).is_some_and(|head| fixed.contains(head));
        (1..=path.len()).any(begins) || path.first().is_some_and(|first| told.contains(first))
    };
    let open = read.order.iter().find_map(|(key, _)| match key {
        OrderKey::Kind => Some(None),
        OrderKey::Columns(paths) => {
            let path = short(model, one.relation, paths.get(source)?.as_ref()?);
            (!settled(&path)).then_some(Some(path))
        }
    });
    matches!(open, Some(Some(path)) if !ranges.contains(&path))
}

#[cfg(test)]
mod tests;
