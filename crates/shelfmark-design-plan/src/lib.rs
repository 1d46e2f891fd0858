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
mod families;
mod items;
mod load;
pub mod price;
pub mod volume;

use basis::Basis;
use shelfmark_design_language::limits::SEARCHED_PATTERNS_MAX;
use shelfmark_design_language::target::{names, profile, usual};

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
    let Some(target) = profile(usual(target)) else {
        return Err(format!("there is no target {target}; known: {}", names().join(", ")));
    };
    let letters = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !name.chars().all(letters) {
        return Err(format!("{name:?} is no name of a schema"));
    }
    // Rows of few key columns, priced by request: what to keep beside them is weighed.
    if target.key_shape.is_some() && basis.model.reads.len() <= SEARCHED_PATTERNS_MAX {
        return items::derive(basis, target, name);
    }
    families::derive(basis, target, name)
}
