//! The proof of one read: obligations O1 to O9 over its plan.
//!
//! Invariant: no failure is returned only when, for every state and every input, the plan gives
//! the pattern's list and reads no other row (or, when `multi` is set, a stated, bounded number
//! of ranges more).

use std::collections::BTreeSet;

use super::canon::{canonical, canonical_met, canonical_term, comparisons, implied, with_equal};
use super::range::{Found, Met, find, may_touch, told};
use super::unique::{Clash, available, clash, key_paths};
use crate::key::facts::codec_is_total;
use crate::model::closure::determines_tuple;
use crate::model::pattern::Source;
use crate::model::schema::{
    EachOf, Family, FamilyId, FilterPredicate, Part, ReadStep, Schema, Serve, Step,
};
use crate::model::{ColumnPath, Consistency, Function, Model, Read, Term, Type, Value};
use crate::syntax::tree::{Aggregate, CondOp, Verb};
use crate::target::Target;

/// One thing that is not as it must be.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    /// 1 to 9.
    pub(crate) obligation: u8,
    pub(crate) reason: String,
    /// The lint that explains it.
    pub(crate) lint: &'static str,
    /// Whether the call cannot even be formed.
    pub(crate) call: bool,
}

/// What was found about a plan.
#[derive(Debug, Clone, Default)]
pub(crate) struct Analysis {
    pub(crate) failures: Vec<Failure>,
    pub(crate) evidence: Vec<(u8, String)>,
    pub(crate) multi: bool,
    pub(crate) rows_max: String,
    /// The row families that the plan reads on purpose.
    pub(crate) families: BTreeSet<FamilyId>,
}

impl Analysis {
    pub(crate) fn fail(&mut self, obligation: u8, lint: &'static str, reason: impl Into<String>) {
        #[cfg(test)]
        if crate::tests::without::is_off(obligation) {
            return;
        }
        self.failures.push(Failure { obligation, lint, reason: reason.into(), call: false });
    }

    pub(crate) fn fail_call(&mut self, lint: &'static str, reason: impl Into<String>) {
        #[cfg(test)]
        if crate::tests::without::is_off(1) {
            return;
        }
        self.failures.push(Failure { obligation: 1, lint, reason: reason.into(), call: true });
    }

    pub(crate) fn note(&mut self, obligation: u8, text: impl Into<String>) {
        self.evidence.push((obligation, text.into()));
    }
}

pub(super) struct Context<'a> {
    pub(super) model: &'a Model,
    pub(super) schema: &'a Schema,
    pub(super) target: &'a Target,
    pub(super) read: &'a Read,
    pub(super) step: &'a ReadStep,
}

/// What the first step finds for one source.
pub(super) struct Part1 {
    pub(super) family: FamilyId,
    pub(super) met: Vec<Met>,
    pub(super) rest: Vec<Vec<Part>>,
    pub(super) column: usize,
}

pub(crate) fn analyse(
    model: &Model,
    schema: &Schema,
    target: &Target,
    read: &Read,
    serve: &Serve,
) -> Analysis {
    let mut analysis = Analysis { rows_max: "unbounded".to_owned(), ..Analysis::default() };
    let Some((Step::Read(step), later)) = serve.steps.split_first() else {
        analysis.fail_call("A1", "the plan reads nothing");
        return analysis;
    };
    let context = Context { model, schema, target, read, step };
    context.bound(&mut analysis);
    if read.offset || matches!(read.aggregate, Some((_, Some(_)))) {
        analysis.fail(7, "A6", "no range of keys skips rows or computes over them");
        return analysis;
    }
    if matches!(read.aggregate, Some((Aggregate::Count, None))) {
        context.counted(later, &mut analysis);
        return analysis;
    }
    let tail = Tail::of(later);
    context.tail(&tail, later, &mut analysis);
    let mut found = Vec::new();
    for source in &read.sources {
        if let Some(one) = context.source(source, &tail, &mut analysis) {
            analysis.families.insert(one.family);
            found.push((source, one));
        }
    }
    context.foreign(
        &found.iter().map(|(_, one)| one.family).collect::<Vec<_>>(),
        &tail,
        &mut analysis,
    );
    if found.len() == read.sources.len() {
        context.ordered(&found, &tail, &mut analysis);
        context.covered(&found, &tail, &mut analysis);
        context.limited(&found, &tail, &mut analysis);
    }
    context.consistent(&mut analysis);
    analysis
}

/// The steps behind the first.
pub(super) struct Tail<'a> {
    filters: Vec<&'a FilterPredicate>,
    /// What rows are sorted by, all sorts together: a later one keeps what an earlier one did.
    pub(super) sort: Option<Vec<(String, bool)>>,
    take: Option<&'a Term>,
    /// Whether rows are taken twice: the fewer of both come.
    takes_again: bool,
    reads: Vec<&'a ReadStep>,
}

impl<'a> Tail<'a> {
    fn of(steps: &'a [Step]) -> Self {
        let mut tail = Self {
            filters: Vec::new(),
            sort: None,
            take: None,
            takes_again: false,
            reads: Vec::new(),
        };
        for step in steps {
            match step {
                Step::Filter(filters) => tail.filters.extend(filters),
                Step::Sort(orders) => {
                    let before = tail.sort.take().unwrap_or_default();
                    tail.sort = Some(orders.iter().cloned().chain(before).collect());
                }
                Step::Take(term) => {
                    tail.takes_again |= tail.take.is_some_and(|before| before != term);
                    tail.take = Some(term);
                }
                Step::Read(read) => tail.reads.push(read),
            }
        }
        tail
    }
}

impl Context<'_> {
    pub(super) fn table(&self) -> &crate::model::schema::Table {
        // `resolve` checked the index.
        self.schema.tables.get(self.step.table).unwrap_or_else(|| unreachable!("no such table"))
    }

    pub(super) fn family(&self, id: FamilyId) -> &Family {
        self.schema.families.get(id).unwrap_or_else(|| unreachable!("no such family"))
    }

    /// O1: every partition-key component is known.
    fn bound(&self, analysis: &mut Analysis) {
        let table = self.table();
        let given = self.step.bound.iter().take_while(|column| !column.is_empty()).count();
        let whole_table = given == 0 && self.step.bounds.is_empty();
        let name = &table.name.text;
        let named = self.step.bound.len() + usize::from(!self.step.bounds.is_empty());
        let most = self.schema.columns_asked(self.step.table);
        if named > most {
            let why = format!(
                "a query of {name} names its own {most} columns, on {} not those of the base key \
                 behind them",
                self.target.name
            );
            analysis.fail_call("X2", why);
        } else if self.step.verb == Verb::Get && (given < table.kinds.len() || table.is_index) {
            let why = if table.is_index {
                format!(
                    "{name} is an index: its keys need not be unique, so there is no point read"
                )
            } else {
                format!(
                    "a point read of {name} needs all {} columns of the key, {given} are known",
                    table.kinds.len()
                )
            };
            analysis.fail_call("A2", why);
        } else if given < table.partition && !(whole_table && self.step.verb == Verb::Scan) {
            analysis.fail_call(
                "A1",
                format!(
                    "the partition key of {name} has {} columns, {given} are known",
                    table.partition
                ),
            );
        } else if let Some(name) = self.unwritable() {
            let why = format!(
                "{name} may be a number that `lexint` cannot write: declare it `int(0..n)`"
            );
            analysis.fail_call("K9", why);
        } else {
            analysis
                .note(1, format!("{given} columns of the key of {name} are inputs or constants"));
        }
    }

    /// An input that the codec of its place in the key cannot always write.
    fn unwritable(&self) -> Option<String> {
        let parts = self.step.bound.iter().chain(self.step.bounds.iter().map(|(_, end)| end));
        parts.flatten().find_map(|part| match part {
            Part::Hole { term, ty, codec } if !codec_is_total(ty, *codec) => {
                Some(super::text::term(self.read, term))
            }
            _ => None,
        })
    }

    /// The steps behind the first do what the pattern asks, in an order that keeps it right.
    fn tail(&self, tail: &Tail<'_>, later: &[Step], analysis: &mut Analysis) {
        let rank = |step: &Step| match step {
            Step::Filter(_) => 0,
            Step::Sort(_) => 1,
            Step::Take(_) => 2,
            Step::Read(_) => 3,
        };
        if later.windows(2).any(|pair| matches!(pair, [a, b] if rank(a) > rank(b))) {
            analysis.fail(2, "F2", "steps come in the order filter, sort, take, follow-up reads");
        }
        let other = tail.take.is_some() && tail.take != self.read.limit.as_ref();
        if other || tail.takes_again {
            analysis.fail(4, "A4", "the plan takes another number of rows than the pattern asks");
        }
        let asked = |filter: &FilterPredicate| {
            self.read.sources.iter().all(|source| {
                let predicates = comparisons(self.model, source.relation, &source.predicates);
                predicates.unwrap_or_default().iter().any(|want| {
                    matches!(&want.row, Term::Column(path)
                        if self.model.path_text(source.relation, path) == filter.name)
                        && want.op == filter.op
                        && filter.values.first() == Some(&want.plan)
                })
            })
        };
        for filter in &tail.filters {
            if self.read.is_row_type(self.model, &filter.name) {
                if !self.keeps_kinds(filter) {
                    analysis.fail(4, "A4", "the filter drops a row type that is asked for");
                }
            } else if !asked(filter) {
                analysis.fail(4, "A4", format!("the filter on {} is not asked for", filter.name));
            }
        }
    }

    /// Whether a filter on the row type keeps what the pattern asks for.
    fn keeps_kinds(&self, filter: &FilterPredicate) -> bool {
        let Some(Term::Const(Value::Text(kind))) = filter.values.first() else { return false };
        filter.op == CondOp::Eq
            && matches!(self.read.sources.as_slice(), [only]
                if self.model.relation(only.relation).name.text.eq_ignore_ascii_case(kind))
    }

    /// O2, O3 and half of O4 for one source.
    fn source(&self, source: &Source, tail: &Tail<'_>, analysis: &mut Analysis) -> Option<Part1> {
        let table = self.table();
        let mut candidates = Vec::new();
        let mut trouble = Vec::new();
        for (id, family) in self.schema.of_source(source.relation) {
            if family.table != self.step.table {
                continue;
            }
            match find(self.step, table, family) {
                Found::Rows { met, rest, column } => {
                    let met = met
                        .iter()
                        .map(|met| canonical_met(self.model, family.source, met))
                        .collect();
                    let met = with_equal(met);
                    candidates.push(Part1 { family: id, met, rest, column });
                }
                Found::Nothing(why) => trouble.push((4, "K3", why)),
                Found::Unclear { ambiguous: true, why } => trouble.push((3, "K2", why)),
                Found::Unclear { ambiguous: false, why } => trouble.push((2, "K5", why)),
            }
        }
        if candidates.len() > 1 {
            let names: Vec<&str> =
                candidates.iter().map(|one| self.family(one.family).name.text.as_str()).collect();
            analysis.fail(3, "K6", format!("the range holds rows of {}", names.join(" and ")));
        }
        let Some(one) = candidates.into_iter().next() else {
            // An empty range is the plainest of causes.
            trouble.sort_by_key(|(_, lint, _)| *lint != "K3");
            let relation = &self.model.relation(source.relation).name.text;
            match trouble.into_iter().next() {
                Some((obligation, lint, why)) => analysis.fail(obligation, lint, why),
                None => analysis.fail(
                    4,
                    "A4",
                    format!("no row of {} stems from {relation}", table.name.text),
                ),
            }
            return None;
        };
        self.predicates(source, &one, tail, analysis);
        self.exactly_once(&one, source, analysis);
        Some(one)
    }

    /// What the range fixes is what the pattern asks, both ways.
    fn predicates(&self, source: &Source, one: &Part1, tail: &Tail<'_>, analysis: &mut Analysis) {
        let (model, relation) = (self.model, source.relation);
        let family = self.family(one.family);
        let Some(wanted) = comparisons(model, relation, &source.predicates) else {
            analysis.fail(2, "A6", "no range of keys means contains, ends, matches or near");
            return;
        };
        let when = comparisons(model, relation, &family.when).unwrap_or_default();
        let mut facts = one.met.clone();
        facts.extend(when.iter().cloned());
        facts.extend(self.always_present(family));
        for met in &one.met {
            // `each x in xs` over a list input is `in`; over all buckets it is nothing.
            if self.is_each(met) {
                match &self.step.each {
                    Some(EachOf::Param(index)) => {
                        let fact =
                            Met { row: met.row.clone(), op: CondOp::In, plan: Term::Param(*index) };
                        if !wanted.contains(&fact) {
                            analysis.fail(
                                4,
                                "A4",
                                "the plan goes through a list that is not asked for",
                            );
                        }
                        facts.push(fact);
                    }
                    Some(EachOf::Numbers(low, high)) => {
                        self.all_buckets(met, *low, *high, one, analysis)
                    }
                    None => {}
                }
            }
        }
        if self.step.each.is_some() && !one.met.iter().any(|met| self.is_each(met)) {
            analysis.fail(3, "P4", "every range of the loop is the same");
        }
        for want in &wanted {
            if implied(want, &facts) {
                continue;
            }
            if self.filtered(want, relation, tail) && self.shows(one, want) {
                let name = super::order::term_text(model, relation, &want.row);
                let why = format!("rows are read and dropped where {name} does not fit");
                analysis.fail(6, "F1", why);
                continue;
            }
            let name = super::order::term_text(model, relation, &want.row);
            analysis.fail(
                3,
                "A3",
                format!("the range does not say what {name} must be, so it holds other rows"),
            );
        }
        for met in &one.met {
            if !self.is_each(met) && !implied(met, &wanted) && !self.begun(met, &wanted) {
                let name = super::order::term_text(model, relation, &met.row);
                let why =
                    format!("the range fixes {name}, which the pattern does not: rows are missed");
                analysis.fail(4, "A4", why);
            }
        }
        for condition in &when {
            if !implied(condition, &wanted) {
                let why = format!("{} holds only some of the rows", family.name.text);
                analysis.fail(4, "A4", why);
            }
        }
        self.present(family, &wanted, analysis);
        analysis.note(2, format!("one interval of {}", self.table().name.text));
        analysis.note(3, format!("what the range fixes is what {} asks", self.read.name.text));
    }

    /// Whether what the value begins with, by an input that is long enough, settles a first part.
    fn begun(&self, met: &Met, wanted: &[Met]) -> bool {
        let (Term::Call(Function::First, row), Term::Call(Function::First, plan)) =
            (&met.row, &met.plan)
        else {
            return false;
        };
        let ([value, Term::Const(Value::Int(count))], [Term::Param(index), same]) =
            (row.as_slice(), plan.as_slice())
        else {
            return false;
        };
        let least = match self.read.params.get(*index).map(|param| &param.ty) {
            Some(Type::Text(domain)) => domain.min,
            _ => 0,
        };
        let asked = Met { row: value.clone(), op: CondOp::Begins, plan: Term::Param(*index) };
        met.op == CondOp::Eq
            && *same == Term::Const(Value::Int(*count))
            && u64::try_from(*count).is_ok_and(|count| count <= least)
            && wanted.contains(&asked)
    }

    /// Optional attributes that every row of the family has, because they are in its key.
    fn always_present(&self, family: &Family) -> Vec<Met> {
        all_key_paths(self.model, family)
            .into_iter()
            .filter(|path| is_optional(self.model, family.source, path))
            .map(|path| Met {
                row: Term::Column(path),
                op: CondOp::Present,
                plan: Term::Const(Value::Null),
            })
            .collect()
    }

    /// A row whose key has an absent attribute is not there.
    fn present(&self, family: &Family, wanted: &[Met], analysis: &mut Analysis) {
        for path in all_key_paths(self.model, family) {
            if is_optional(self.model, family.source, &path)
                && !self.heads_are_there(family.source, &path, wanted)
            {
                let name = self.model.path_text(family.source, &path);
                analysis.fail(
                    4,
                    "A4",
                    format!("rows without {name} are not in {}", family.name.text),
                );
            }
        }
    }

    /// Whether what is asked implies that every step of a path that may be absent is there.
    fn heads_are_there(&self, relation: usize, path: &[usize], wanted: &[Met]) -> bool {
        let there = |head: &[usize]| {
            wanted.iter().any(|met| {
                met.op != CondOp::Absent
                    && matches!(&met.row, Term::Column(found) if found.starts_with(head))
            })
        };
        (1..=path.len()).filter_map(|length| path.get(..length)).all(|head| {
            let owner = self.model.path_owner(relation, head);
            let last = head.last().and_then(|last| self.model.relation(owner).columns.get(*last));
            last.is_none_or(|column| !column.optional) || there(head)
        })
    }

    pub(super) fn is_each(&self, met: &Met) -> bool {
        met.plan == Term::Each && met.op == CondOp::Eq && self.step.each.is_some()
    }

    fn all_buckets(&self, met: &Met, low: i64, high: i64, one: &Part1, analysis: &mut Analysis) {
        let family = self.family(one.family);
        let whole = family.key.iter().flat_map(|column| &column.parts).any(|part| match part {
            Part::Hole { term, ty: Type::Int(Some(range)), .. } => {
                canonical_term(self.model, family.source, term) == met.row && *range == (low, high)
            }
            _ => false,
        });
        if !whole {
            let why = "the plan does not go through exactly the values that the part can have";
            analysis.fail(4, "A4", why);
        }
    }

    fn filtered(&self, want: &Met, relation: usize, tail: &Tail<'_>) -> bool {
        tail.filters.iter().any(|filter| {
            let same_path = match &want.row {
                Term::Column(path) => self.model.path_text(relation, path) == filter.name,
                _ => false,
            };
            same_path && filter.op == want.op && filter.values.first() == Some(&want.plan)
        })
    }

    fn shows(&self, one: &Part1, want: &Met) -> bool {
        let shown = available(self.model, self.family(one.family));
        matches!(&want.row, Term::Column(path) if shown.contains(path))
    }

    /// O4: one row for each, and no other's.
    fn exactly_once(&self, one: &Part1, source: &Source, analysis: &mut Analysis) {
        let Some(clash) = clash(self.model, self.schema, one.family) else {
            if self.read.distinct && !self.tells_apart(one, source) {
                analysis.fail(4, "U1", "several rows show the same answer, which is wanted once");
                return;
            }
            let name = &self.family(one.family).name.text;
            analysis.note(
                4,
                format!("the key of {name} determines its source and meets no other row's"),
            );
            return;
        };
        if self.read.distinct
            && matches!(clash, Clash::Collapse(_))
            && self.tells_apart(one, source)
        {
            analysis.note(4, "rows that collapse show the same answer, which is wanted once");
            return;
        }
        let lint = if matches!(clash, Clash::Unwritable(_)) { "K9" } else { "U1" };
        analysis.fail(4, lint, clash.text());
    }

    /// Whether rows of the range that show the same answer are the same row, and every shown
    /// attribute is in the key.
    fn tells_apart(&self, one: &Part1, source: &Source) -> bool {
        let family = self.family(one.family);
        let relation = source.relation;
        let outputs: BTreeSet<ColumnPath> = source
            .outputs
            .iter()
            .flatten()
            .map(|path| canonical(self.model, relation, path))
            .collect();
        let fixed: BTreeSet<ColumnPath> = fixed_in_all(&one.met);
        // Where what is shown tells the tuple, no two rows show the same. (What is absent in several
        // tells none of them.)
        let there = outputs.iter().filter(|path| !is_optional(self.model, relation, path));
        let told: BTreeSet<ColumnPath> = there.chain(&fixed).cloned().collect();
        if clash(self.model, self.schema, one.family).is_none()
            && determines_tuple(self.model, relation, &told)
        {
            return true;
        }
        let keys = key_paths(self.model, family);
        // A computed part tells rows apart as a plain one does, unless the range fixes it.
        let mut holes = family.key.iter().flat_map(|column| &column.parts).filter_map(|part| {
            let Part::Hole { term, .. } = part else { return None };
            Some(canonical_term(self.model, relation, term))
        });
        let told = |term: &Term| {
            let mut all = true;
            term.columns(&mut |path| all &= outputs.contains(path) || fixed.contains(path));
            let met = |met: &Met| met.op == CondOp::Eq && met.row == *term && !self.is_each(met);
            all || one.met.iter().any(met)
        };
        outputs.iter().all(|path| keys.contains(path)) && holes.all(|term| told(&term))
    }

    /// O3: no row of another type lies in the range.
    fn foreign(&self, expected: &[FamilyId], tail: &Tail<'_>, analysis: &mut Analysis) {
        let table = self.table();
        for (id, family) in self.schema.like(self.step.table, told(self.step)) {
            if expected.contains(&id) || !may_touch(self.step, table, family) {
                continue;
            }
            // A source whose own family was not found failed already.
            let is_source = self.read.sources.iter().any(|source| source.relation == family.source);
            if is_source && expected.is_empty() {
                continue;
            }
            let why = format!("rows of {} lie in the range too", family.name.text);
            let dropped = !is_source
                && tail
                    .filters
                    .iter()
                    .any(|filter| self.read.is_row_type(self.model, &filter.name));
            if dropped {
                analysis.fail(6, "F1", format!("{why} and are dropped after they were read"));
            } else {
                analysis.fail(3, "K6", why);
            }
        }
    }

    /// O7, and the follow-up reads that it takes.
    fn covered(&self, found: &[(&Source, Part1)], tail: &Tail<'_>, analysis: &mut Analysis) {
        for (source, one) in found {
            let family = self.family(one.family);
            let mut shown = available(self.model, family).clone();
            for met in &one.met {
                if let (Term::Column(path), CondOp::Eq) = (&met.row, met.op)
                    && !matches!(met.plan, Term::Each)
                {
                    shown.insert(path.clone());
                }
            }
            // What was asked for by `=` is known of every row that comes.
            let asked = source.predicates.iter().filter(|one| one.op == CondOp::Eq);
            shown.extend(asked.map(|one| canonical(self.model, source.relation, &one.path)));
            for read in &tail.reads {
                match self.follow(source.relation, read, &shown) {
                    Ok(more) => {
                        analysis.multi = true;
                        shown.extend(more);
                    }
                    Err((obligation, why)) => analysis.fail(obligation, "O7", why),
                }
            }
            let missing: Vec<String> = source
                .outputs
                .iter()
                .flatten()
                .filter(|path| !shown.contains(&canonical(self.model, source.relation, path)))
                .map(|path| self.model.path_text(source.relation, path))
                .collect();
            if missing.is_empty() {
                analysis.note(7, format!("{} shows all that is asked", family.name.text));
            } else {
                let why = format!("{} does not hold {}", family.name.text, missing.join(", "));
                analysis.fail(7, "O7", why);
            }
        }
    }

    /// O6 and O9.
    fn limited(&self, found: &[(&Source, Part1)], tail: &Tail<'_>, analysis: &mut Analysis) {
        let pushed = self.step.limit.as_ref();
        let wanted = self.read.limit.as_ref();
        match (wanted, pushed) {
            (None, Some(_)) => {
                analysis.fail(4, "A4", "the plan stops early, the pattern does not");
            }
            (Some(wanted), Some(pushed)) if wanted != pushed => {
                analysis.fail(4, "A4", "the plan's limit is not the pattern's");
            }
            (Some(_), Some(_)) if !tail.filters.is_empty() => {
                analysis.fail(6, "F2", "the limit counts rows before the filter drops some");
            }
            (Some(_), Some(_)) => analysis.note(6, "the limit is the range's own"),
            (Some(_), None) if tail.take.is_none() && !self.at_most_one(found) => {
                analysis.fail(4, "A4", "the plan reads on behind the limit");
            }
            (Some(_), None) if !self.at_most_one(found) => {
                analysis.fail(6, "F1", "all rows are read before the first are taken");
            }
            _ => analysis.note(6, "every row of the range is returned"),
        }
        if self.step.each.is_some() && wanted.is_some() && tail.take != wanted {
            analysis.fail(4, "A4", "each range has its own limit; take the first of them all");
        }
        self.bounded(found, tail, analysis);
    }

    fn at_most_one(&self, found: &[(&Source, Part1)]) -> bool {
        self.step.each.is_none()
            && found.len() == 1
            && found.iter().all(|(source, one)| {
                determines_tuple(self.model, source.relation, &fixed_paths(&one.met))
            })
    }

    fn bounded(&self, found: &[(&Source, Part1)], tail: &Tail<'_>, analysis: &mut Analysis) {
        let mut total = Some(0.0);
        for (source, one) in found {
            let mut fixed = fixed_paths(&one.met);
            // A sparse family settles what it is asked for.
            let asked = source.predicates.iter().filter(|one| one.op == CondOp::Eq);
            if tail.filters.is_empty() {
                fixed.extend(asked.map(|one| canonical(self.model, source.relation, &one.path)));
            }
            let relation = self.model.relation(source.relation);
            let one_row = determines_tuple(self.model, source.relation, &fixed);
            let bound = if one_row {
                Some(1.0)
            } else {
                relation
                    .fanouts
                    .iter()
                    .filter(|fanout| {
                        fanout.from.iter().all(|column| fixed.contains(&vec![*column]))
                    })
                    .filter_map(crate::model::relation::Fanout::max)
                    .min_by(f64::total_cmp)
            };
            total = total.zip(bound).map(|(a, b)| a + b);
        }
        let rows = match (&self.read.limit, total) {
            (Some(limit), _) => Some(super::text::term(self.read, limit)),
            (None, Some(total)) => Some(format!("{total}")),
            (None, None) => None,
        };
        let ranges = match &self.step.each {
            None => None,
            Some(EachOf::Numbers(low, high)) => Some((high - low + 1).to_string()),
            Some(EachOf::Param(index)) => {
                let ty = self.read.params.get(*index).map(|param| &param.ty);
                match ty {
                    Some(Type::List(_, Some(max))) => Some(max.to_string()),
                    _ => {
                        analysis.fail(
                            9,
                            "P4",
                            "the number of ranges has no bound: say `in … max k`",
                        );
                        None
                    }
                }
            }
        };
        if self.step.each.is_some() {
            analysis.multi = true;
        }
        if !tail.reads.is_empty() && rows.is_none() {
            analysis.fail(9, "A5", "the number of follow-up reads has no bound");
        }
        analysis.rows_max = match (rows, ranges) {
            (Some(rows), Some(ranges)) => format!("{ranges} x {rows}"),
            (Some(rows), None) => rows,
            (None, _) => "unbounded".to_owned(),
        };
        analysis.note(9, format!("rows by one call: {}", analysis.rows_max));
    }

    /// O8.
    fn consistent(&self, analysis: &mut Analysis) {
        let weak = self.table().is_index && !self.target.strong_indexes;
        // Who reads what he wrote himself is not served by what lags behind either.
        let now = matches!(self.read.consistency, Consistency::Strong | Consistency::Session);
        if weak && now {
            let why = format!(
                "an index of {} may lag behind, and {} asks for {} reads",
                self.target.name,
                self.read.name.text,
                if self.read.consistency == Consistency::Strong { "strong" } else { "session" }
            );
            analysis.fail(8, "X3", why);
        } else {
            let level = if weak { "eventual" } else { "as written" };
            analysis.note(8, format!("this path is {level}; time is stated, not proven"));
        }
    }
}

/// Attributes with one value in each range; of a loop, the value that it is at is one of them.
pub(crate) fn fixed_paths(met: &[Met]) -> BTreeSet<ColumnPath> {
    paths_of(met.iter().filter(|met| met.op == CondOp::Eq))
}

/// Attributes with one value in all ranges of a plan: what a loop goes through is none of them.
pub(super) fn fixed_in_all(met: &[Met]) -> BTreeSet<ColumnPath> {
    paths_of(met.iter().filter(|met| {
        met.op == CondOp::Eq
            && met.plan.compute(&|leaf| (*leaf != Term::Each).then_some(Value::Null)).is_some()
    }))
}

fn paths_of<'a>(met: impl Iterator<Item = &'a Met>) -> BTreeSet<ColumnPath> {
    met.filter_map(|met| match &met.row {
        Term::Column(path) => Some(path.clone()),
        _ => None,
    })
    .collect()
}

/// Every attribute that a key is computed from.
pub(crate) fn all_key_paths(model: &Model, family: &Family) -> BTreeSet<ColumnPath> {
    let mut paths = BTreeSet::new();
    for part in family.key.iter().flat_map(|column| &column.parts) {
        if let Part::Hole { term, .. } = part {
            term.columns(&mut |path| {
                paths.insert(canonical(model, family.source, path));
            });
        }
    }
    paths
}

/// Whether some step of the path may be absent.
pub(crate) fn is_optional(model: &Model, relation: usize, path: &[usize]) -> bool {
    (1..=path.len()).any(|length| {
        let head = path.get(..length).unwrap_or(&[]);
        let owner = model.path_owner(relation, head);
        head.last()
            .and_then(|column| model.relation(owner).columns.get(*column))
            .is_some_and(|column| column.optional)
    })
}
