//! The engine as the requests of one scope see it.

use std::ops::Deref;
use std::sync::Arc;

use shelfmark_engine::{Engine, LedgerEntry};
use shelfmark_model::TableName;

use super::NAMESPACE;

/// An engine, with the namespace of the tables of a scope.
#[derive(Clone)]
pub(crate) struct ScopedEngine {
    engine: Engine,
    set: Arc<Set>,
}

struct Set {
    namespace: String,
    /// The beginning of the ARNs of this scope, where those of others name nothing here.
    arn_prefix: Option<String>,
}

impl Deref for ScopedEngine {
    type Target = Engine;

    fn deref(&self) -> &Engine {
        &self.engine
    }
}

impl ScopedEngine {
    /// Creates the engine of a set of tables. With a `place`, a region and an account, ARNs of other places
    /// name nothing in it.
    pub(crate) fn new(engine: Engine, namespace: &str, place: Option<(&str, &str)>) -> Self {
        let arn_prefix =
            place.map(|(region, account)| format!("arn:aws:dynamodb:{region}:{account}:"));
        Self { engine, set: Arc::new(Set { namespace: namespace.to_owned(), arn_prefix }) }
    }

    /// Returns the namespace of the scope's tables.
    pub(crate) fn set_name(&self) -> &str {
        &self.set.namespace
    }

    /// Returns the engine's name of a table.
    pub(crate) fn table_name(&self, name: &str) -> TableName {
        TableName::new(&*self.set.namespace, name)
    }

    /// Returns true if what an ARN names can be in this scope. What is no ARN of DynamoDB's can.
    pub(crate) fn is_place_of(&self, arn: &str) -> bool {
        match &self.set.arn_prefix {
            Some(own) if arn.starts_with("arn:aws:dynamodb:") => arn.starts_with(own),
            _ => true,
        }
    }

    /// Returns the bytes by which the engine knows a request token of this scope.
    pub(crate) fn token(&self, prefix: &[u8], token: &str) -> Vec<u8> {
        match self.set_name() {
            NAMESPACE => [prefix, token.as_bytes()].concat(),
            other => [prefix, other.as_bytes(), b"/", token.as_bytes()].concat(),
        }
    }

    /// Marks an export or import as one of this scope, whose ARNs have this region and account.
    pub(crate) fn mark(&self, entry: LedgerEntry, (region, account): (&str, &str)) -> LedgerEntry {
        let entry = entry.with("region", region).with("account", account);
        match self.set_name() {
            NAMESPACE => entry,
            other => entry.with("namespace", other),
        }
    }

    /// Returns true if an export or import is one of this scope.
    pub(crate) fn owns(&self, entry: &LedgerEntry) -> bool {
        namespace_of(entry) == self.set_name()
    }
}

/// Returns the namespace of the table of an export or import.
pub(crate) fn namespace_of(entry: &LedgerEntry) -> &str {
    match entry.text("namespace") {
        "" => NAMESPACE,
        own => own,
    }
}
