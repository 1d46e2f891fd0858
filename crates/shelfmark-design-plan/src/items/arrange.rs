//! Arranges row types in tables: together in one, or those apart whose own keys cost so much less
//! that one more table is worth it.
//!
//! What it is not: which rows there are is chosen before, and is the same in each arrangement.
//!
//! Invariant: what is chosen serves no fewer patterns than one table for all.

use std::collections::BTreeSet;

use super::planned;
use crate::basis::Basis;
use crate::cost::{SchemaCost, cost};
use crate::counting::with_counts;
use crate::{Options, Plan};
use shelfmark_design_language::model::RelationId;
use shelfmark_design_language::target::Target;

/// The part of the bill that each table more must save.
///
/// Ours: less than that is not worth one more thing to look after.
const ONE_MORE: f64 = 0.05;

/// The part of the bill that a table for each row type must save before others are tried.
const WORTH_TRYING: f64 = 0.02;

/// Most row types that are tried in a table of their own.
const TRIED_MAX: usize = 12;

/// Most reads of a model in which they are tried.
const READS_MAX: usize = 60;

/// The row types with a table of their own.
#[derive(Debug, Clone, Copy)]
pub(super) enum Apart<'a> {
    All,
    Some(&'a BTreeSet<RelationId>),
}

/// A derived schema with its cost.
struct Arranged {
    plan: Plan,
    sound: bool,
    cost: Option<SchemaCost>,
}

/// Derives a schema by cost.
///
/// # Errors
///
/// A message if the derived text is no schema, which no known model causes.
pub(crate) fn derive(
    basis: &Basis<'_>,
    target: &Target,
    name: &str,
    options: Options,
) -> Result<Plan, String> {
    let arranged = |apart: Apart<'_>| -> Result<Arranged, String> {
        let derive =
            |counts: &BTreeSet<usize>| planned(basis, target, (name, options), apart, counts);
        let (plan, sound) = with_counts(basis, target, derive, |found| &mut found.0)?;
        let model = basis.with(&plan.schema)?;
        let cost = model.schemas.first().and_then(|schema| cost(&model, schema));
        Ok(Arranged { plan, sound, cost })
    };
    if !options.shared {
        return Ok(arranged(Apart::All)?.plan);
    }
    let together = arranged(Apart::Some(&BTreeSet::new()))?;
    if options.reads != 1.0 || options.writes != 1.0 {
        return Ok(together.plan);
    }
    let each = arranged(Apart::All)?;
    let saves = each.month() < together.month() * (1.0 - WORTH_TRYING);
    if !each.serves(&together) || !saves {
        return Ok(together.plan);
    }
    let mut best = together;
    if basis.model.reads.len() <= READS_MAX {
        let mut apart = BTreeSet::new();
        let mut singles = Vec::new();
        for relation in (0..basis.model.relations.len()).take(TRIED_MAX) {
            let alone = arranged(Apart::Some(&BTreeSet::from([relation])))?;
            if alone.month() < best.month() {
                singles.push((alone.month(), relation));
            }
        }
        singles.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (_, relation) in singles {
            let with: BTreeSet<RelationId> = apart.iter().copied().chain([relation]).collect();
            let tried = arranged(Apart::Some(&with))?;
            if tried.betters(&best, options) {
                (best, apart) = (tried, with);
            }
        }
    }
    Ok(if each.betters(&best, options) { each.plan } else { best.plan })
}

impl Arranged {
    fn month(&self) -> f64 {
        self.cost.as_ref().map_or(f64::INFINITY, SchemaCost::month)
    }

    fn sizes(&self) -> (usize, usize) {
        self.cost.as_ref().map_or((0, 0), |cost| (cost.tables, cost.indexes))
    }

    fn serves(&self, other: &Self) -> bool {
        self.sound >= other.sound && self.plan.unserved() <= other.plan.unserved()
    }

    /// Returns true if it serves as much as the other, and saves what its further tables are worth,
    /// within what is allowed.
    fn betters(&self, other: &Self, options: Options) -> bool {
        let ((tables, indexes), (fewer, _)) = (self.sizes(), other.sizes());
        let allowed = tables <= options.tables_max && indexes <= options.indexes_max;
        let more = tables.saturating_sub(fewer) as f64;
        allowed && self.serves(other) && self.month() < other.month() * (1.0 - ONE_MORE * more)
    }
}
