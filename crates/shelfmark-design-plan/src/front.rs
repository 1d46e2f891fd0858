//! Compares schemas that give up one thing for another: tables, reads, writes.
//!
//! What it is not: the whole front; it shows its ends and the balance.
//!
//! Invariant: each line is the cost of a schema that was written and proven.

use crate::basis::Basis;
use crate::cost::{SchemaCost, cost, dollars};
use crate::{Options, plan_with};

/// The weight of what hardly counts.
const SLIGHT: f64 = 0.001;

/// Returns the costs of schemas with several weights, a line each.
pub(crate) fn front(basis: &Basis<'_>, target: &str) -> Result<String, String> {
    let kinds = [
        ("balanced", Options::default()),
        ("a table for each row type", Options { shared: false, ..Options::default() }),
        ("cheapest reads", Options { writes: SLIGHT, ..Options::default() }),
        ("cheapest writes", Options { reads: SLIGHT, ..Options::default() }),
    ];
    let mut lines: Vec<(String, SchemaCost)> = Vec::new();
    for (name, options) in kinds {
        let plan = plan_with(basis, target, "planned", options)?;
        let model = basis.with(&plan.schema)?;
        let Some(found) = model.schemas.first().and_then(|schema| cost(&model, schema)) else {
            continue;
        };
        match lines.iter_mut().find(|(_, other)| same(other, &found)) {
            Some((names, _)) => names.push_str(&format!(", {name}")),
            None => lines.push((name.to_owned(), found)),
        }
    }
    lines.sort_by(|a, b| a.1.month().total_cmp(&b.1.month()));
    let width = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut out = format!(
        "{:width$}  {:>10}  {:>10}  {:>10}  {:>10}  {:>6}  {:>7}\n",
        "dollars a month", "all", "reads", "writes", "storage", "tables", "indexes"
    );
    for (name, found) in &lines {
        let sum = |write: bool| {
            let of = found.patterns.iter().filter(|one| one.served && one.write == write);
            of.map(|one| one.month).sum::<f64>()
        };
        out.push_str(&format!(
            "{name:width$}  {:>10}  {:>10}  {:>10}  {:>10}  {:>6}  {:>7}\n",
            dollars(found.month()),
            dollars(sum(false)),
            dollars(sum(true)),
            dollars(found.storage),
            found.tables,
            found.indexes
        ));
    }
    Ok(out)
}

/// Returns true if two schemas cost the same everywhere.
fn same(one: &SchemaCost, other: &SchemaCost) -> bool {
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * a.abs().max(1.0);
    one.tables == other.tables
        && one.indexes == other.indexes
        && near(one.storage, other.storage)
        && one.patterns.iter().zip(&other.patterns).all(|(a, b)| near(a.month, b.month))
}
