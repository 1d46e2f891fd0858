//! Decides who has the tables of the namespace `dynamodb`, once for a store.
//!
//! The first signed request that creates a table in a store without any claims it for its scope. Where
//! there are tables that nobody claimed, made by an earlier build, by commands or by unsigned requests,
//! they are everybody's, and the store has one set.
//!
//! Invariant: what was decided is the same for all servers of a store and stays so.

use std::sync::OnceLock;

use bytes::Bytes;
use shelfmark_engine::{CatalogueChange, Engine, ErrorKind, Result};

use super::{NAMESPACE, Scope, decoded};

/// The beginning of what the face keeps with the namespace: `scope eu-west-1:123456789012`.
const SCOPE: &str = "scope ";

/// The owner of the tables of the namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Owner {
    Everybody,
    /// The scope of this name.
    Scope(String),
}

/// The decision, as far as this server knows it.
#[derive(Debug, Default)]
pub(crate) struct Home {
    known: OnceLock<Owner>,
}

impl Home {
    /// Returns the namespace of a scope, and true if that will not change.
    ///
    /// Cost: a look into memory once the store is decided; before that, reads of the catalogue.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub(crate) fn namespace_of(&self, engine: &Engine, scope: &Scope) -> Result<(String, bool)> {
        let Some(owner) = self.owner(engine)? else { return Ok((scope.namespace(), false)) };
        Ok(match owner {
            Owner::Scope(name) if *name != scope.name() => (scope.namespace(), true),
            Owner::Scope(_) | Owner::Everybody => (NAMESPACE.to_owned(), true),
        })
    }

    /// Returns true if all scopes have one set.
    pub(crate) fn is_everybodys(&self) -> bool {
        self.known.get() == Some(&Owner::Everybody)
    }

    /// Returns the account of the scope that has the namespace; `None` if that is everybody or nobody yet.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub(crate) fn account(&self, engine: &Engine) -> Result<Option<String>> {
        let Some(Owner::Scope(name)) = self.owner(engine)? else { return Ok(None) };
        Ok(name.split_once(':').map(|(_, account)| decoded(account)))
    }

    /// Claims the namespace for a scope that is about to create a table, unless it is decided.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub(crate) fn claim(&self, engine: &Engine, scope: &Scope) -> Result<()> {
        if self.owner(engine)?.is_some() {
            return Ok(());
        }
        let attachment = Bytes::from(format!("{SCOPE}{}", scope.name()));
        let create = CatalogueChange::CreateNamespace { name: NAMESPACE.to_owned(), attachment };
        match engine.change_catalogue(vec![create]) {
            Ok(()) => {}
            // Another was faster.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        self.owner(engine).map(drop)
    }

    fn owner(&self, engine: &Engine) -> Result<Option<&Owner>> {
        if self.known.get().is_none()
            && let Some(owner) = decided(engine)?
        {
            // Whoever was faster read the same.
            let _ = self.known.set(owner);
        }
        Ok(self.known.get())
    }
}

/// Reads the decision from the store.
fn decided(engine: &Engine) -> Result<Option<Owner>> {
    match engine.namespace(NAMESPACE) {
        Ok(namespace) => {
            let text = String::from_utf8_lossy(&namespace.attachment).into_owned();
            let scope = text.strip_prefix(SCOPE).map(|name| Owner::Scope(name.to_owned()));
            // What a later build keeps there is not known here.
            return Ok(Some(scope.unwrap_or(Owner::Everybody)));
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let tables = engine.table_names(Some(NAMESPACE), None, 1)?;
    Ok((!tables.is_empty()).then_some(Owner::Everybody))
}
