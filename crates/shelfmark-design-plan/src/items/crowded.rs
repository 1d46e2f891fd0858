//! Keeps the indexes of each table within what the target takes.
//!
//! What it is not: no choice of its own. Indexes that cost least to write give way, and the rest is
//! chosen anew; their reads get second rows, or none.
//!
//! Invariant: no table of a choice that is returned has more indexes than the target takes.
//!
//! Source: DynamoDB Developer Guide, "Service, account, and table quotas", read 2026-11.

use std::collections::{BTreeMap, BTreeSet};

use super::arrange::Apart;
use super::keys::Key;
use super::pack::{Layout, Placed, pack};
use super::ways::{Market, Place, Rows};
use super::{solve, without};
use crate::choice::Choice;
use shelfmark_design_language::model::{Predicate, RelationId};

/// Chooses so that each table has no more indexes than the target takes.
pub(super) fn fitted(market: &Market<'_>, apart: Apart<'_>) -> Choice {
    let mut problem = market.problem.clone();
    loop {
        let choice = solve(market, &problem);
        let layout = pack(market, &market.chosen(&choice), &market.used(&choice), apart);
        let closed = closed(market, &layout);
        if closed.is_empty() {
            return choice;
        }
        problem = without(&problem, &closed);
    }
}

/// Returns the candidates that give way: of the row type with most entries in a table with too many
/// indexes all but those that are kept.
fn closed(market: &Market<'_>, layout: &Layout) -> BTreeSet<usize> {
    let target = market.load.target;
    for (place, most) in
        [(Place::Index, target.indexes_max), (Place::Local, target.local_indexes_max)]
    {
        for entries in of_tables(layout, place).into_values() {
            let names: BTreeSet<&str> = entries.iter().map(|one| one.name.as_str()).collect();
            let over = names.len() as f64 - most;
            if over <= 0.0 {
                continue;
            }
            let mut of_relation: BTreeMap<RelationId, Vec<&Placed>> = BTreeMap::new();
            for one in entries {
                of_relation.entry(one.rows.relation).or_default().push(one);
            }
            let busiest = of_relation.into_iter().max_by_key(|(_, own)| own.len());
            let Some((relation, mut own)) = busiest else { continue };
            // What costs most to write would cost most as a second row.
            own.sort_by(|a, b| price(market, b).total_cmp(&price(market, a)));
            let fewer =
                own.iter().enumerate().filter(|(at, _)| *at as f64 + over < own.len() as f64);
            let kept: Vec<(&Key, &[Predicate])> =
                fewer.map(|(_, one)| (&one.rows.key, one.rows.when.as_slice())).collect();
            let goes = |rows: &Rows| {
                rows.place == place && !kept.contains(&(&rows.key, rows.when.as_slice()))
            };
            return market
                .rows_of(relation)
                .filter(|(_, one)| goes(one))
                .map(|(at, _)| at)
                .collect();
        }
    }
    BTreeSet::new()
}

/// Returns the entries of one kind, by the table of their rows.
fn of_tables(layout: &Layout, place: Place) -> BTreeMap<&str, Vec<&Placed>> {
    let mut found: BTreeMap<&str, Vec<&Placed>> = BTreeMap::new();
    for one in layout.placed.iter().filter(|one| one.rows.place == place) {
        let base = one.base.and_then(|base| layout.placed.get(base));
        found.entry(base.map_or("", |base| base.table.as_str())).or_default().push(one);
    }
    found
}

fn price(market: &Market<'_>, one: &Placed) -> f64 {
    let prices = one.things.iter().filter_map(|thing| market.problem.things.get(*thing));
    prices.copied().fold(0.0, f64::max)
}

impl Market<'_> {
    /// Returns why a read has no way although candidates could serve it: all indexes are taken.
    pub(super) fn crowded_out(&self, choice: &Choice) -> Vec<(usize, String)> {
        let mut found = Vec::new();
        let demands = self.demanded().into_iter().zip(&self.problem.demands).zip(&choice.ways);
        for ((read, demand), way) in demands {
            let open = demand.iter().any(|way| way.cost.is_finite());
            if let (Some(read), true, None) = (read, open, way) {
                let target = &self.load.target;
                let most = target.indexes_max;
                found.push((read, format!("a table of {} takes {most} indexes", target.name)));
            }
        }
        found
    }
}
