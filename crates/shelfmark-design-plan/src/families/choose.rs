//! Tries families in several ways, and keeps the schema that serves most and costs least.
//!
//! What it is not: a search of all schemas. Each way is a rule that is kept or left out.
//!
//! Invariant: what is chosen lacks no pattern that another way that was tried serves.

use std::cell::OnceCell;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::{Modes, Moves, Planner};
use crate::basis::Basis;
use crate::cost::cost_of_proven;
use crate::counting::with_counts;
use crate::{FEWER_COSTS, Options, Plan};
use shelfmark_design_language::limits::SEARCHED_PATTERNS_MAX;
use shelfmark_design_language::model::RelationId;
use shelfmark_design_language::target::Target;

/// Relations whose tables are tried one by one to be left out.
const IDLE_TABLES_TRIED_MAX: usize = 16;

/// Departures from the rules that are tried one by one.
const MOVES_TRIED_MAX: usize = 24;

/// The part of its cost that a schema must save for each table and index that it has more.
///
/// Ours: a hundredth of the bill is about what one more thing to look after is worth.
const ONE_MORE: f64 = 0.01;

/// The model and the target that a schema is derived for, its name, and how many tables and indexes it
/// may have.
type Wanted<'a> = (&'a Basis<'a>, &'a Target, &'a str, &'a Options);

/// Derives a schema for all patterns of a model.
///
/// # Errors
///
/// A message if the derived text is no schema, which no known model causes.
pub(crate) fn derive(
    basis: &Basis<'_>,
    target: &Target,
    (name, options): (&str, &Options),
) -> Result<Plan, String> {
    let derived = |options: &Options| {
        let wanted = (basis, target, name, options);
        with_counts(basis, target, |counts| narrowest(wanted, counts), |found| &mut found.plan)
    };
    let free = derived(&Options::default())?;
    let wanted = (basis, target, name, options);
    if free.excess(wanted)? == 0 {
        return Ok(free.plan);
    }
    // What costs least on the way is not what has the fewest tables at its end.
    let few = derived(options)?;
    Ok(if few.betters(&free, wanted)? { few.plan } else { free.plan })
}

/// Derives a schema whose indexes show what is asked of them; or all of their rows, where a pattern
/// turns out to need more.
fn narrowest(wanted: Wanted<'_>, counts: &BTreeSet<usize>) -> Result<Planned, String> {
    let narrow = cheapest(wanted, Modes { counts, narrow: true })?;
    if !narrow.narrowed || (narrow.sound && narrow.unserved.is_empty()) {
        return Ok(narrow);
    }
    let wide = cheapest(wanted, Modes { counts, narrow: false })?;
    Ok(if wide.lacks() < narrow.lacks() { wide } else { narrow })
}

/// Derives a schema by the rules, then departs from them one by one where that costs less.
fn cheapest(wanted: Wanted<'_>, modes: Modes<'_>) -> Result<Planned, String> {
    let none = Hopeless::default();
    let usual = planned(wanted, modes, (&Moves::default(), &none))?;
    if wanted.0.model.reads.len() > SEARCHED_PATTERNS_MAX {
        return Ok(usual);
    }
    let (mut best, mut moves) = without_idle_tables(wanted, modes, usual)?;
    let usual = (best.refused.clone(), best.unserved.clone());
    for one in best.moves.clone().into_iter().take(MOVES_TRIED_MAX) {
        let with = moves.and(&one);
        if with == moves {
            continue;
        }
        // What no rows by the rules serve no departure does: it is not tried over and over.
        let hopeless = Hopeless::beside(&usual, &one);
        let tried = planned(wanted, modes, (&with, &hopeless))?;
        if tried.betters(&best, wanted)? {
            (best, moves) = (tried, with);
        }
    }
    Ok(best)
}

/// Derives a schema in which a table by the relation's own key, that nobody asks for, gives way to
/// the first of its indexes, where that costs less and no pattern loses its plan.
fn without_idle_tables(
    wanted: Wanted<'_>,
    modes: Modes<'_>,
    usual: Planned,
) -> Result<(Planned, Moves), String> {
    if usual.unasked.is_empty() {
        return Ok((usual, Moves::default()));
    }
    let all = usual.unasked.clone();
    let leading = Moves { leading: all.clone(), ..Moves::default() };
    let none = Hopeless::default();
    let most = planned(wanted, modes, (&leading, &none))?;
    if most.betters(&usual, wanted)? {
        return Ok((most, leading));
    }
    let (mut best, mut moves) = (usual, Moves::default());
    for relation in all.into_iter().take(IDLE_TABLES_TRIED_MAX) {
        moves.leading.insert(relation);
        let one = planned(wanted, modes, (&moves, &none))?;
        if one.betters(&best, wanted)? {
            best = one;
        } else {
            moves.leading.remove(&relation);
        }
    }
    Ok((best, moves))
}

/// Derives a schema; a read that a shared family turns out not to serve gets one of its own, and one
/// that none serves, or is known to have none, gets none.
fn planned(
    (basis, target, name, options): Wanted<'_>,
    modes: Modes<'_>,
    (moves, known): (&Moves, &Hopeless),
) -> Result<Planned, String> {
    let planner = |alone: &BTreeSet<usize>, hopeless| {
        let planner = Planner::new(basis.model, target, modes, alone.clone());
        Planner { moves: moves.clone(), hopeless, ..planner }
    };
    let few = options.tables_max < usize::MAX;
    let mut alone = BTreeSet::new();
    let mut best = planner(&alone, known.refused.clone()).plan(basis, name, few)?;
    if best.refused.is_empty() || basis.model.reads.len() > SEARCHED_PATTERNS_MAX {
        best.unserved.extend(&known.unserved);
        best.refused.extend(known.refused.clone());
        return Ok(best);
    }
    if !best.unserved.is_empty() {
        alone.clone_from(&best.unserved);
        let apart = planner(&alone, known.refused.clone()).plan(basis, name, few)?;
        if apart.unserved.len() < best.unserved.len() {
            best = apart;
        } else {
            alone.clear();
        }
    }
    best.refused.extend(known.refused.clone());
    best.unserved.extend(&known.unserved);
    let without = planner(&alone, best.refused.clone()).plan(basis, name, few)?;
    if without.plan.unserved() > best.plan.unserved() {
        return Ok(best);
    }
    Ok(Planned { unserved: best.unserved, refused: best.refused, ..without })
}

/// Reads that no rows by the rules serve.
#[derive(Default)]
struct Hopeless {
    refused: BTreeMap<usize, String>,
    /// Those for which a family was made.
    unserved: BTreeSet<usize>,
}

impl Hopeless {
    /// Returns those that have no plan by the rules, and that a departure is not about.
    fn beside(
        (refused, unserved): &(BTreeMap<usize, String>, BTreeSet<usize>),
        moves: &Moves,
    ) -> Self {
        let sets = [&moves.sparse, &moves.keyed, &moves.followed, &moves.copied, &moves.viewed];
        let other = |read: &usize| !sets.iter().any(|set| set.contains(read));
        Self {
            refused: refused.clone().into_iter().filter(|(read, _)| other(read)).collect(),
            unserved: unserved.iter().copied().filter(other).collect(),
        }
    }
}

/// A derived schema with its findings.
pub(super) struct Planned {
    pub(super) plan: Plan,
    /// True if some index shows less than its row.
    pub(super) narrowed: bool,
    /// Relations whose table nobody asks for, while they have indexes.
    pub(super) unasked: BTreeSet<RelationId>,
    /// Departures from the rules that may be tried.
    pub(super) moves: Vec<Moves>,
    /// True if each write has a plan.
    pub(super) sound: bool,
    /// Writes with conditions that change rows behind the one that compares.
    pub(super) trailing: usize,
    /// Reads for which a family was made that does not serve them.
    pub(super) unserved: BTreeSet<usize>,
    /// Reads without a plan, and why.
    pub(super) refused: BTreeMap<usize, String>,
    /// Its dollars a month, and its tables and indexes, once they are counted.
    pub(super) counted: OnceCell<(f64, [usize; 2])>,
}

impl Planned {
    /// Returns what it lacks: reads for which a family was made in vain, then all patterns without a
    /// plan, then writes with conditions whose rows change one behind another.
    fn lacks(&self) -> (usize, usize, usize) {
        (self.unserved.len(), self.plan.unserved(), self.trailing)
    }

    /// Returns true if it lacks less than the other; or no more, and has fewer tables and indexes than
    /// there may be; or costs less by more than what it has more to look after is worth.
    fn betters(&self, other: &Self, wanted: Wanted<'_>) -> Result<bool, String> {
        if self.lacks() != other.lacks() {
            return Ok(self.lacks() < other.lacks());
        }
        let ((own, parts), (theirs, their_parts)) = (self.month(wanted.0)?, other.month(wanted.0)?);
        match self.excess(wanted)?.cmp(&other.excess(wanted)?) {
            Ordering::Less => return Ok(own <= theirs * FEWER_COSTS),
            Ordering::Greater => return Ok(own * FEWER_COSTS < theirs),
            Ordering::Equal => {}
        }
        let more = |at: fn(&[usize; 2]) -> usize| at(&parts).saturating_sub(at(&their_parts));
        let more = (more(|parts| parts[0]) + more(|parts| parts[1])) as f64;
        Ok(own < theirs * (1.0 - ONE_MORE * more))
    }

    /// Returns how many tables and indexes it has beyond those that it may have.
    fn excess(&self, (basis, _, _, options): Wanted<'_>) -> Result<usize, String> {
        if options.tables_max == usize::MAX && options.indexes_max == usize::MAX {
            return Ok(0);
        }
        let (_, [tables, indexes]) = self.month(basis)?;
        let tables = tables.saturating_sub(options.tables_max);
        Ok(tables + indexes.saturating_sub(options.indexes_max))
    }

    /// Returns the dollars a month, and the numbers of tables and of indexes; counted once.
    fn month(&self, basis: &Basis<'_>) -> Result<(f64, [usize; 2]), String> {
        if let Some(counted) = self.counted.get() {
            return Ok(*counted);
        }
        let model = basis.with(&self.plan.schema)?;
        let cost = model.schemas.first().and_then(|schema| cost_of_proven(&model, schema));
        let found = cost.map_or((0.0, [0; 2]), |cost| (cost.month(), [cost.tables, cost.indexes]));
        Ok(*self.counted.get_or_init(|| found))
    }
}

impl Moves {
    /// Returns both together.
    fn and(&self, other: &Self) -> Self {
        let mut both = self.clone();
        both.leading.extend(&other.leading);
        both.apart.extend(&other.apart);
        both.sparse.extend(&other.sparse);
        both.thin.extend(&other.thin);
        both.keyed.extend(&other.keyed);
        both.followed.extend(&other.followed);
        both.copied.extend(&other.copied);
        both.viewed.extend(&other.viewed);
        both.gathered.extend(&other.gathered);
        both.guarding |= other.guarding;
        both
    }
}
