//! Environments: the context of a program, with the databases that it may use.

use super::naming::check_database;
use super::{Database, Registry};
use crate::error::Result;

/// An environment: the context of a program.
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// use shelfmark_typed::ErrorKind;
///
/// let (live, test) = (registry.environment("live")?, registry.environment("test")?);
/// live.create_database("posts")?;
/// // What belongs to one environment is out of the other's reach.
/// assert_eq!(test.database("posts").err().map(|error| error.kind()), Some(ErrorKind::Restricted));
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
#[derive(Clone)]
pub struct Environment {
    registry: Registry,
    name: String,
}

impl Environment {
    pub(super) fn new(registry: Registry, name: &str) -> Self {
        Self { registry, name: name.to_owned() }
    }

    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Opens a database.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Restricted`]: there is no such database, or it was not assigned to this
    ///   environment; which of both is not said. Assign it, or use
    ///   [`Environment::create_database`].
    pub fn database(&self, name: &str) -> Result<Database> {
        self.registry.open_database(name, &self.name)
    }

    /// Opens a database, creating it and assigning it to this environment if it does not exist.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Restricted`]: it is there and was not assigned to this environment.
    /// * [`crate::ErrorKind::Invalid`]: not a name for a database.
    pub fn create_database(&self, name: &str) -> Result<Database> {
        check_database(name)?;
        let registry = &self.registry;
        if !registry.has_database(name)? {
            registry.create_database(name)?;
            registry.assign(name, &self.name)?;
        }
        self.database(name)
    }
}
