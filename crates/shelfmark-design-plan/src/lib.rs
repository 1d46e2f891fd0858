//! Derives schemas from a model's patterns, and chooses among them by cost.
//!
//! [`plan`] writes a schema for any target. `families` derives one by rules, for targets whose
//! best schema has one family for each read; `items` weighs candidates for a target of items,
//! indexes and request units.
//!
//! What it is not: it proves nothing for others to rely on. It asks the prover whether a candidate
//! holds, and whoever gets a plan proves it again. It reads no file, opens no socket, starts no
//! thread and asks no clock.
//!
//! Invariant: output is a function of the text given, and a pattern without a plan has a note.

pub mod basis;
pub mod bytes;
pub mod choice;
pub mod cost;
mod counting;
mod families;
mod front;
mod heat;
mod items;
mod load;
pub mod price;
pub mod sparse;
mod split;
pub mod volume;
mod word;

use basis::Basis;
use shelfmark_design_language::limits::SEARCHED_PATTERNS_MAX;
use shelfmark_design_language::target::{Target, names, profile, usual};
use split::Taken;

/// The part of the bill that several requests for one read must save before one range gives way.
///
/// Ours: as what else is more to look after.
const REQUESTS_SAVE: f64 = 0.01;

/// The bill of a schema by rules, in that of the weighed one, up to which it is taken where it serves more.
///
/// Ours: a pattern without a plan is told; a bill that is a quarter higher is not.
const SERVED_COSTS: f64 = 1.25;

/// The bill of a schema with no more tables and indexes than it may have, in that of one with more, up to
/// which it is taken.
///
/// Ours: what is beyond that number is to save a quarter of the bill.
const FEWER_COSTS: f64 = 4.0 / 3.0;

/// The arrangement of rows in tables, and what weighs how much.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// True for one table with indexes that row types share; false for a table for each row type.
    pub shared: bool,
    /// The factor of what reads cost.
    pub reads: f64,
    /// The factor of what writes and storage cost.
    pub writes: f64,
    /// The most tables that row types are spread over to save costs.
    pub tables_max: usize,
    /// The most indexes of a schema with such tables.
    pub indexes_max: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            shared: true,
            reads: 1.0,
            writes: 1.0,
            tables_max: usize::MAX,
            indexes_max: usize::MAX,
        }
    }
}

/// A derived schema.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The schema as text: an item of a model.
    pub schema: String,
    /// Remarks on what it does not do, and why, a sentence each.
    pub notes: Vec<String>,
}

/// Derives a schema for the model's patterns.
///
/// # Errors
///
/// The target is unknown, or `name` is no name: say another.
pub fn plan(basis: &Basis<'_>, target: &str, name: &str) -> Result<Plan, String> {
    plan_with(basis, target, name, Options::default())
}

/// Derives a schema with other weights; where nothing is weighed they have no meaning.
///
/// # Errors
///
/// As of [`plan`].
pub fn plan_with(
    basis: &Basis<'_>,
    target: &str,
    name: &str,
    options: Options,
) -> Result<Plan, String> {
    let Some(target) = profile(usual(target)) else {
        return Err(format!("there is no target {target}; known: {}", names().join(", ")));
    };
    let letters = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !name.chars().all(letters) {
        return Err(format!("{name:?} is no name of a schema"));
    }
    let mut plan = chosen(basis, target, (name, options))?;
    let model = basis.with(&plan.schema)?;
    word::told(&model, target, &mut plan);
    heat::told(&model, target, &mut plan);
    Ok(plan)
}

/// Derives a schema, and takes several requests for one read where that saves something.
fn chosen(
    basis: &Basis<'_>,
    target: &Target,
    (name, options): (&str, Options),
) -> Result<Plan, String> {
    let mut best = as_one(basis, target, (name, options))?;
    // Where candidates are weighed, so are collections and rows that lie apart.
    let weighed = weighs(basis, target) && best.unserved() == 0;
    let kinds = if weighed { &[Taken::Limited][..] } else { &Taken::ALL };
    for taken in kinds {
        let apart = split::planned(basis, *taken, |parts| as_one(parts, target, (name, options)))?;
        let Some(apart) = apart.filter(|apart| apart.unserved() <= best.unserved()) else {
            continue;
        };
        // A request more is to save something.
        let better = apart.unserved() < best.unserved()
            || month(basis, &apart)? < month(basis, &best)? * (1.0 - REQUESTS_SAVE);
        if better {
            best = apart;
        }
    }
    Ok(best)
}

/// Returns the dollars a month of a plan; no number where the target has no prices.
fn month(basis: &Basis<'_>, plan: &Plan) -> Result<f64, String> {
    let model = basis.with(&plan.schema)?;
    let found = model.schemas.first().and_then(|schema| cost::cost(&model, schema));
    Ok(found.map_or(f64::NAN, |found| found.month()))
}

/// Derives a schema in which each read has one range or request, and what follows it.
fn as_one(
    basis: &Basis<'_>,
    target: &Target,
    (name, options): (&str, Options),
) -> Result<Plan, String> {
    if !weighs(basis, target) {
        return families::derive(basis, target, (name, &options));
    }
    let weighed = items::derive(basis, target, name, options)?;
    if weighed.unserved() == 0 {
        return Ok(weighed);
    }
    // What no candidate serves the rules may: a schema that serves more is the better one, unless all
    // other patterns pay for it.
    let ruled = families::derive(basis, target, (name, &options))?;
    let more = ruled.unserved() < weighed.unserved();
    let dear = || Ok::<_, String>(month(basis, &ruled)? > month(basis, &weighed)? * SERVED_COSTS);
    Ok(if more && !dear()? { ruled } else { weighed })
}

impl Plan {
    /// Says something else of what a note of the schema begins with.
    fn explain(&mut self, begin: &str, text: &str) {
        for note in self.notes.iter_mut().filter(|note| note.starts_with(begin)) {
            self.schema = self.schema.replacen(&format!("# {note}\n"), &format!("# {text}\n"), 1);
            text.clone_into(note);
        }
    }

    /// Returns how many patterns have no plan.
    fn unserved(&self) -> usize {
        // What is behind the colon may say so of another schema.
        let told =
            |note: &&String| note.split(':').next().is_some_and(|it| it.ends_with(" has no plan"));
        self.notes.iter().filter(told).count()
    }
}

/// Returns true if candidates are weighed for a target: rows of few key columns, priced by request.
fn weighs(basis: &Basis<'_>, target: &Target) -> bool {
    target.key_shape.is_some() && basis.model.reads.len() <= SEARCHED_PATTERNS_MAX
}

/// Returns for each pattern what it costs by the chosen plan, and what the next best would cost.
///
/// # Errors
///
/// The target is unknown, or nothing is weighed for it.
pub fn explain(basis: &Basis<'_>, target: &str) -> Result<String, String> {
    let Some(target) = profile(usual(target)) else {
        return Err(format!("there is no target {target}; known: {}", names().join(", ")));
    };
    if !weighs(basis, target) {
        return Err(format!(
            "for {} nothing is weighed: rules give each read its rows",
            target.name
        ));
    }
    items::explain(basis, target)
}

/// Returns the costs of schemas that give up one thing for another, the cheapest first.
///
/// # Errors
///
/// As of [`plan`].
pub fn pareto(basis: &Basis<'_>, target: &str) -> Result<String, String> {
    front::front(basis, target)
}
