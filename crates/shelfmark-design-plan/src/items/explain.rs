//! Says what each pattern costs by the chosen plan, and what the next best would cost.
//!
//! What it is not: no second choice for good; each alternative is looked at by itself, with all
//! that changes around it.
//!
//! Invariant: no difference is negative, but for what the search left open.

use super::needs::{Need, Needs, Origin};
use super::ways::{Access, Market, Place, Thing};
use super::{solve, without_way};
use crate::Options;
use crate::basis::Basis;
use crate::cost::dollars;
use crate::counting::possible;
use crate::families::text::guard;
use crate::load::Load;
use crate::price::Prices;
use shelfmark_design_language::model::{ColumnPath, RelationId};
use shelfmark_design_language::target::Target;

/// Explains the choice for a model, line by line.
pub(crate) fn explain(basis: &Basis<'_>, target: &Target) -> Result<String, String> {
    let prices = Prices::of(&target.name).ok_or("the target has no price list")?;
    let model = basis.model;
    let load = Load::of(model, target, prices);
    let needs = Needs::of(model, target, &load, &possible(basis, target));
    let market = Market::new(model, &load, &needs, Options::default());
    let choice = solve(&market, &market.problem);
    let chosen = market.chosen(&choice);
    let mut out = format!(
        "{} candidates, {} ways; about {} a month\n",
        market.things.len(),
        market.problem.demands.iter().map(Vec::len).sum::<usize>(),
        dollars(choice.cost)
    );
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
        match instead.filter(|_| next.cost.is_finite()) {
            Some(access) => out.push_str(&format!(
                "  next best: {}, {} more a month\n",
                market.access_text(at, access),
                dollars((next.cost - choice.cost).max(0.0))
            )),
            None => out.push_str("  next best: none, nothing else serves it\n"),
        }
    }
    Ok(out)
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
