//! Says what each pattern costs by the chosen plan, and what the next best would cost.
//!
//! What it is not: no second choice for good; each alternative is looked at by itself, with all
//! that changes around it.
//!
//! Invariant: costs are those that `--beside` counts of the same schema. The choice itself is made by
//! estimates, so that a difference may turn out negative; it is said as it is.

use std::collections::BTreeSet;

use super::arrange::Apart;
use super::crowded::fitted;
use super::needs::{Need, Needs, Origin};
use super::ways::{Access, Market, Place, Thing};
use super::{Draft, ROUNDS_MAX, draft, solve, without_way};
use crate::Options;
use crate::basis::Basis;
use crate::choice::Choice;
use crate::cost::{cost, dollars};
use crate::counting::possible;
use crate::families::text::guard;
use crate::load::Load;
use crate::price::Prices;
use shelfmark_design_language::model::{ColumnPath, RelationId};
use shelfmark_design_language::target::Target;

/// Explains the choice for a model, line by line. The first says what the schema that is written costs,
/// as [`cost`] counts it; so do differences.
pub(crate) fn explain(basis: &Basis<'_>, target: &Target) -> Result<String, String> {
    let prices = Prices::of(&target.name).ok_or("the target has no price list")?;
    let model = basis.model;
    let load = Load::of(model, target, prices);
    let needs = Needs::of(model, target, &load, &possible(basis, target));
    let mut market = Market::new(model, &load, &needs, Options::default());
    let (choice, own) = settled(basis, target, &mut market)?;
    let chosen = market.chosen(&choice);
    let mut out = format!(
        "{} candidates, {} ways; ",
        market.things.len(),
        market.problem.demands.iter().map(Vec::len).sum::<usize>(),
    );
    out.push_str(&written(basis, target)?);
    if choice.gap() > 0.0 {
        out.push_str(&format!(
            "the search ended early: the best may cost {:.1} % less\n",
            choice.gap() * 100.0
        ));
    }
    for (at, access) in chosen.iter().enumerate() {
        let Some(access) = access else { continue };
        let Some(name) = market.demand_name(at) else { continue };
        out.push_str(&format!("{name}: {}\n", market.access_text(at, access)));
        let Some(way) = choice.ways.get(at).copied().flatten() else { continue };
        let other = without_way(&market.problem, at, way);
        let next = solve(&market, &other);
        let instead = market.chosen(&next).get(at).copied().flatten();
        let Some(access) = instead.filter(|_| next.cost.is_finite()) else {
            out.push_str("  next best: none, nothing else serves it\n");
            continue;
        };
        let next = Counted::of(basis, target, &market, &next)?;
        let text = market.access_text(at, access);
        out.push_str(&format!("  next best: {text}, {}\n", next.than(&own)));
    }
    Ok(out)
}

/// Returns what the schema that is written costs, and what is taken where nothing is declared.
fn written(basis: &Basis<'_>, target: &Target) -> Result<String, String> {
    let plan = crate::plan(basis, &target.name, "planned")?;
    let model = basis.with(&plan.schema)?;
    let found = model.schemas.first().and_then(|schema| cost(&model, schema));
    Ok(found.map_or_else(String::new, |found| {
        format!("about {} a month\n{}", dollars(found.month()), found.assumptions())
    }))
}

/// Chooses as a plan does: ways that the prover refuses are closed.
fn settled(
    basis: &Basis<'_>,
    target: &Target,
    market: &mut Market<'_>,
) -> Result<(Choice, Counted), String> {
    let together = BTreeSet::new();
    let mut rounds = 0;
    loop {
        let choice = fitted(market, Apart::Some(&together));
        let found = draft(basis, target, market, &choice, ("planned", Apart::Some(&together)))?;
        rounds += 1;
        if rounds >= ROUNDS_MAX || !market.close(&choice, &found.settled) {
            return Ok((choice, Counted::of_draft(basis, &found)?));
        }
    }
}

/// A choice in one table, counted from its rows and requests.
struct Counted {
    month: f64,
    /// Patterns without a plan.
    failures: usize,
}

impl Counted {
    fn of(
        basis: &Basis<'_>,
        target: &Target,
        market: &Market<'_>,
        choice: &Choice,
    ) -> Result<Self, String> {
        let together = BTreeSet::new();
        let found = draft(basis, target, market, choice, ("planned", Apart::Some(&together)))?;
        Self::of_draft(basis, &found)
    }

    fn of_draft(basis: &Basis<'_>, draft: &Draft) -> Result<Self, String> {
        let model = basis.with(&draft.skeleton.finish(&draft.settled.writes, &[]))?;
        let found = model.schemas.first().and_then(|schema| cost(&model, schema));
        let month = found.map_or(f64::INFINITY, |found| found.month());
        Ok(Self { month, failures: draft.failures() })
    }

    /// Says how much more or less it costs than another choice.
    fn than(&self, other: &Self) -> String {
        let more = self.month - other.month;
        if self.failures > other.failures {
            "with which a pattern has no plan".to_owned()
        } else if more < 0.0 {
            format!("{} less a month, as its own rows and requests are counted", dollars(-more))
        } else {
            format!("{} more a month", dollars(more))
        }
    }
}

impl Market<'_> {
    /// Returns the pattern, or the relation, that a demand is of; `None` for what has one way only.
    fn demand_name(&self, at: usize) -> Option<String> {
        let needs = &self.needs.needs;
        if let Some(need) = needs.get(at) {
            return Some(match need.origin {
                Origin::Read(read) => self.model.reads.get(read)?.name.text.clone(),
                Origin::Loop(write) => {
                    format!("the loop of {}", self.model.writes.get(write)?.name.text)
                }
            });
        }
        let rest = at - needs.len();
        if let Some(mixed) = self.needs.mixed.get(rest) {
            return Some(self.model.reads.get(mixed.read)?.name.text.clone());
        }
        let relation = *self.homes.get(rest - self.needs.mixed.len())?;
        Some(format!("rows of {}", self.model.relation(relation).name.text))
    }

    /// Returns the requests of a way in words.
    fn access_text(&self, at: usize, access: &Access) -> String {
        let mut texts: Vec<String> =
            access.rows.iter().filter_map(|thing| self.thing_text(*thing)).collect();
        if access.own {
            texts.push("a read of each row found".to_owned());
        }
        let need: Option<&Need> = self.needs.needs.get(at);
        for place in &access.follows {
            let owner = need.and_then(|need| need.behind.get(*place)).map(|one| one.owner);
            let name = owner.map_or("", |owner| self.model.relation(owner).name.text.as_str());
            texts.push(format!("a read of its {name}"));
        }
        let copies = need.is_some_and(|need| !need.behind.is_empty()) && access.follows.is_empty();
        if copies {
            texts.push("with copies of what it refers to".to_owned());
        }
        texts.join(", ")
    }

    fn thing_text(&self, thing: usize) -> Option<String> {
        let Some(Thing::Rows(rows)) = self.things.get(thing) else { return None };
        let names = |paths: &[ColumnPath]| self.names(rows.relation, paths);
        let place = match rows.place {
            Place::Base => "the row",
            Place::Index => "an index",
            Place::Local => "a local index",
            Place::Copy => "a second row",
            Place::Guard => "the row of a unique value",
        };
        let parts = if rows.key.shards > 1 {
            format!(" in {} shards", rows.key.shards)
        } else {
            String::new()
        };
        let shown = match rows.place {
            place if place.is_entry() && rows.shown.is_empty() => " with keys alone".to_owned(),
            place if place.is_entry() => {
                let shown: Vec<ColumnPath> = rows.shown.iter().cloned().collect();
                format!(" with {}", names(&shown))
            }
            _ => String::new(),
        };
        let when = guard(self.model, rows.relation, &rows.when);
        Some(format!(
            "{place} by ({}; {}){parts}{shown}{when}",
            names(&rows.key.partition),
            names(&rows.key.sort)
        ))
    }

    fn names(&self, relation: RelationId, paths: &[ColumnPath]) -> String {
        let texts: Vec<String> =
            paths.iter().map(|path| self.model.path_text(relation, path)).collect();
        texts.join(", ")
    }
}
