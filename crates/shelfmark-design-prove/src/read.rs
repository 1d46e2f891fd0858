//! Proves one read: obligations O1 to O9 over its plan.
//!
//! Invariant: no failure is returned only when, for every state and every input, the plan gives
//! the pattern's list and reads no other row (or, when `multi` is set, a stated, bounded number
//! of ranges more).

use super::analysis::Analysis;
use super::canon::comparisons;
use super::range::Met;
use super::tally::{extreme, is_tally};
use crate::key::facts::codec_is_total;
use shelfmark_design_language::certificate::text;
use shelfmark_design_language::model::schema::{
    Family, FamilyId, FilterPredicate, Part, ReadStep, Schema, Serve, Step,
};
use shelfmark_design_language::model::{Consistency, Model, Read, Term, Value};
use shelfmark_design_language::syntax::tree::{CondOp, Verb};
use shelfmark_design_language::target::Target;

pub(super) struct Context<'a> {
    pub(super) model: &'a Model,
    pub(super) schema: &'a Schema,
    pub(super) target: &'a Target,
    pub(super) read: &'a Read,
    pub(super) step: &'a ReadStep,
}

/// Most attributes that one reason names, and most row types that reasons are given for; the others
/// are counted.
///
/// Ours: nobody reads more, and a reason is worked out for every plan that is tried.
pub(super) const NAMES_MAX: usize = 12;

/// The findings of the first step for one source.
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
    if let Some(beside) = super::beside::proven((model, schema, target), read, serve) {
        return beside;
    }
    let mut analysis = Analysis::default();
    let Some((Step::Read(step), later)) = serve.steps.split_first() else {
        analysis.fail_call("A1", "the plan reads nothing");
        return analysis;
    };
    if later.iter().any(|step| matches!(step, Step::Also(_))) {
        analysis.fail(2, "F2", "what is read beside the first read stands right behind it");
        return analysis;
    }
    let context = Context { model, schema, target, read, step };
    context.bound(&mut analysis);
    if read.offset || read.aggregate.is_some() && !is_tally(read) {
        analysis.fail(7, "A6", "no range of keys skips rows or computes over them");
        return analysis;
    }
    if is_tally(read) {
        if !context.counted(later, &mut analysis) {
            analysis.fail(7, "A6", "no row keeps this number");
        }
        return analysis;
    }
    if extreme(read).is_some() && context.counted(later, &mut analysis) {
        context.consistent(&Tail::of(later), &mut analysis);
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
    context.consistent(&tail, &mut analysis);
    analysis
}

/// The steps after the first.
pub(super) struct Tail<'a> {
    pub(super) filters: Vec<&'a FilterPredicate>,
    /// The names that rows are sorted by, all sorts together: a later one keeps what an earlier one
    /// did.
    pub(super) sort: Option<Vec<(String, bool)>>,
    pub(super) take: Option<&'a Term>,
    /// True if there are two limits: the smaller one counts.
    takes_again: bool,
    pub(super) reads: Vec<&'a ReadStep>,
}

impl<'a> Tail<'a> {
    pub(super) fn of(steps: &'a [Step]) -> Self {
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
                Step::Read(read) | Step::Also(read) => tail.reads.push(read),
            }
        }
        tail
    }
}

impl Context<'_> {
    pub(super) fn table(&self) -> &shelfmark_design_language::model::schema::Table {
        // `resolve` checked the index.
        self.schema.tables.get(self.step.table).unwrap_or_else(|| unreachable!("no such table"))
    }

    pub(super) fn family(&self, id: FamilyId) -> &Family {
        self.schema.families.get(id).unwrap_or_else(|| unreachable!("no such family"))
    }

    /// Proves O1: every partition-key component is known.
    pub(super) fn bound(&self, analysis: &mut Analysis) {
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

    /// Returns an input that the codec of its part of the key cannot always write.
    fn unwritable(&self) -> Option<String> {
        let parts = self.step.bound.iter().chain(self.step.bounds.iter().map(|(_, end)| end));
        parts.flatten().find_map(|part| match part {
            Part::Hole { term, ty, codec } if !codec_is_total(ty, *codec) => {
                Some(text::term(self.read, term))
            }
            _ => None,
        })
    }

    /// Proves that the steps after the first do what the pattern asks, in a valid order.
    fn tail(&self, tail: &Tail<'_>, later: &[Step], analysis: &mut Analysis) {
        let rank = |step: &Step| match step {
            Step::Filter(_) => 0,
            Step::Sort(_) => 1,
            Step::Take(_) => 2,
            Step::Read(_) | Step::Also(_) => 3,
        };
        if later.windows(2).any(|pair| matches!(pair, [a, b] if rank(a) > rank(b))) {
            analysis.fail(2, "F2", "steps come in the order filter, sort, take, follow-up reads");
        }
        let other = tail.take.is_some() && tail.take != self.read.limit.as_ref();
        if other || tail.takes_again {
            analysis.fail(4, "A4", "the plan takes another number of rows than the pattern asks");
        }
        let outside = tail.sort.is_some() || tail.take.is_some() || !tail.filters.is_empty();
        if self.read.page && (outside || self.step.each.is_some()) {
            let why = "no request asks for the next page: what is merged, sorted, filtered or cut \
                       outside the store ends at no key";
            analysis.fail_request(why);
        }
        let asked = |filter: &FilterPredicate| {
            self.read.sources.iter().all(|source| {
                let predicates = comparisons(self.model, source.relation, &source.predicates);
                let predicates = predicates.unwrap_or_default();
                filter.comparisons().iter().all(|(op, value)| {
                    predicates.iter().any(|want| {
                        matches!(&want.row, Term::Column(path)
                            if self.model.path_text(source.relation, path) == filter.name)
                            && (want.op, &want.plan) == (*op, value)
                    })
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

    /// Returns true if a filter on the row type keeps what the pattern asks for.
    fn keeps_kinds(&self, filter: &FilterPredicate) -> bool {
        let Some(Term::Const(Value::Text(kind))) = filter.values.first() else { return false };
        filter.op == CondOp::Eq
            && matches!(self.read.sources.as_slice(), [only]
                if self.model.relation(only.relation).name.text.eq_ignore_ascii_case(kind))
    }

    /// Returns the longest time that rows of the plan's tables may be behind what they stem from, and
    /// the row type.
    fn behind(&self, tail: &Tail<'_>) -> Option<(f64, &str)> {
        let tables = tail.reads.iter().map(|step| step.table).chain([self.step.table]);
        let families = tables.flat_map(|table| self.schema.of_table(table));
        let late = families.filter_map(|(_, one)| Some((one.follows?, one.name.text.as_str())));
        late.max_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// Proves O8.
    fn consistent(&self, tail: &Tail<'_>, analysis: &mut Analysis) {
        if let Some((late, name)) = self.behind(tail) {
            let now = matches!(self.read.consistency, Consistency::Strong | Consistency::Session);
            let most = self.read.facts.get("staleness").copied();
            let read = &self.read.name.text;
            if now || most.is_some_and(|most| most < late) {
                let why = match most.filter(|_| !now) {
                    None => format!(
                        "{name} follows within {late} s, and {read} asks for what is there now"
                    ),
                    Some(most) => format!(
                        "{name} follows within {late} s, and {read} asks for answers no older than {most} s"
                    ),
                };
                analysis.fail(8, "X3", why);
                return;
            }
            analysis.note(
                8,
                format!("{name} follows within {late} s: right for a state that rests, stated, not proven"),
            );
            return;
        }
        let table = self.table();
        let weak = table.is_index && !table.is_local && !self.target.strong_indexes;
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
