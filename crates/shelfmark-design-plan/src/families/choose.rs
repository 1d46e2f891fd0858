//! Tries families in several ways, and keeps the schema that serves most and costs least.
//!
//! What it is not: a search of all schemas. Each way is a rule that is kept or left out.
//!
//! Invariant: what is chosen lacks no pattern that another way that was tried serves.

use std::collections::BTreeSet;

use super::{Modes, Planner};
use crate::Plan;
use crate::basis::Basis;
use crate::cost::cost;
use shelfmark_design_language::limits::SEARCHED_PATTERNS_MAX;
use shelfmark_design_language::model::RelationId;
use shelfmark_design_language::target::Target;

/// Relations whose tables are tried one by one to be left out.
const IDLE_TABLES_TRIED_MAX: usize = 16;

/// The model and the target that a schema is derived for, and its name.
type Wanted<'a> = (&'a Basis<'a>, &'a Target, &'a str);

/// Derives a schema for all patterns of a model.
///
/// # Errors
///
/// A message if the derived text is no schema, which no known model causes.
pub(crate) fn derive(basis: &Basis<'_>, target: &Target, name: &str) -> Result<Plan, String> {
    // A count that a write turns out not to keep up is not kept.
    let wanted = (basis, target, name);
    let bold = narrowest(wanted, true)?;
    let counting = basis.model.reads.iter().any(|read| read.aggregate.is_some());
    if bold.sound || !counting {
        return Ok(bold.plan);
    }
    narrowest(wanted, false).map(|planned| planned.plan)
}

/// Derives a schema whose indexes show what is asked of them; or all of their rows, where a pattern
/// turns out to need more.
fn narrowest(wanted: Wanted<'_>, bold: bool) -> Result<Planned, String> {
    let narrow = without_idle_tables(wanted, Modes { bold, narrow: true })?;
    if !narrow.narrowed || (narrow.sound && narrow.unserved.is_empty()) {
        return Ok(narrow);
    }
    let wide = without_idle_tables(wanted, Modes { bold, narrow: false })?;
    Ok(if wide.lacks() < narrow.lacks() { wide } else { narrow })
}

/// Derives a schema in which a table by the relation's own key, that nobody asks for, gives way to
/// the first of its indexes, where that costs less and no pattern loses its plan.
fn without_idle_tables(wanted: Wanted<'_>, modes: Modes) -> Result<Planned, String> {
    let usual = planned(wanted, modes, &BTreeSet::new())?;
    if usual.unasked.is_empty() || wanted.0.model.reads.len() > SEARCHED_PATTERNS_MAX {
        return Ok(usual);
    }
    let all = usual.unasked.clone();
    let most = planned(wanted, modes, &all)?;
    if most.betters(&usual, wanted.0)? {
        return Ok(most);
    }
    let (mut best, mut leading) = (usual, BTreeSet::new());
    for relation in all.into_iter().take(IDLE_TABLES_TRIED_MAX) {
        leading.insert(relation);
        let one = planned(wanted, modes, &leading)?;
        if one.betters(&best, wanted.0)? {
            best = one;
        } else {
            leading.remove(&relation);
        }
    }
    Ok(best)
}

/// Derives a schema; a read that a shared family turns out not to serve gets one of its own.
fn planned(
    (basis, target, name): Wanted<'_>,
    modes: Modes,
    leading: &BTreeSet<RelationId>,
) -> Result<Planned, String> {
    let planner = |alone| {
        let planner = Planner::new(basis.model, target, modes, alone);
        Planner { leading: leading.clone(), ..planner }
    };
    let shared = planner(BTreeSet::new()).plan(basis, name)?;
    if shared.unserved.is_empty() || basis.model.reads.len() > SEARCHED_PATTERNS_MAX {
        return Ok(shared);
    }
    let alone = shared.unserved.clone();
    let apart = planner(alone).plan(basis, name)?;
    Ok(if apart.unserved.len() < shared.unserved.len() { apart } else { shared })
}

/// A derived schema with its findings.
pub(super) struct Planned {
    pub(super) plan: Plan,
    /// True if some index shows less than its row.
    pub(super) narrowed: bool,
    /// Relations whose table nobody asks for, while they have indexes.
    pub(super) unasked: BTreeSet<RelationId>,
    /// True if each write has a plan.
    pub(super) sound: bool,
    /// Reads for which a family was made that does not serve them.
    pub(super) unserved: BTreeSet<usize>,
}

impl Planned {
    /// Returns what it lacks: reads without a plan, then a write without one.
    fn lacks(&self) -> (usize, bool) {
        (self.unserved.len(), !self.sound)
    }

    /// Returns true if it lacks no more than the other and costs less.
    fn betters(&self, other: &Self, basis: &Basis<'_>) -> Result<bool, String> {
        Ok(self.lacks() <= other.lacks() && self.month(basis)? < other.month(basis)?)
    }

    fn month(&self, basis: &Basis<'_>) -> Result<f64, String> {
        let model = basis.with(&self.plan.schema)?;
        let cost = model.schemas.first().and_then(|schema| cost(&model, schema));
        Ok(cost.map_or(0.0, |cost| cost.month()))
    }
}
