//! Checks the names of databases and environments.

use crate::error::{Error, Result};

/// The environment and the database that exist from the beginning, assigned to each other.
pub const DEFAULT: &str = "default";

/// Longest name of an environment or database, in characters.
///
/// Source: Unison Cloud, names of environments, read 2026-11.
const NAME_CHARS_MAX: usize = 63;

/// The namespace of internal tables about databases and environments.
pub(super) const OURS: &str = "shelfmark";

/// Checks the name of an environment: a letter, then letters, digits and hyphens.
pub(super) fn check_environment(name: &str) -> Result<()> {
    check("an environment", name, "-")
}

/// Checks the name of a database: as an environment's, with underscores too. Namespaces of other
/// faces are no databases.
pub(super) fn check_database(name: &str) -> Result<()> {
    check("a database", name, "-_")?;
    let lower = name.to_ascii_lowercase();
    if lower == OURS || lower == "dynamodb" || lower == "system" || lower.starts_with("system_") {
        return Err(Error::invalid(format!("{name} is the namespace of something else")));
    }
    Ok(())
}

fn check(what: &str, name: &str, marks: &str) -> Result<()> {
    let fits = name.len() <= NAME_CHARS_MAX
        && name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || marks.contains(c));
    if fits {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "{name:?} cannot name {what}: a name has 1 to {NAME_CHARS_MAX} characters, begins with a \
         letter, and goes on with letters, digits and any of {marks:?}"
    )))
}
