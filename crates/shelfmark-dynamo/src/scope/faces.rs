//! The faces of scopes: the face of the server with other tables and other ARNs.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use shelfmark_engine::LedgerEntry;

use super::{Home, NAMESPACE, Scope, ScopedEngine, Scopes};
use crate::errors::Result;
use crate::face::{Face, RequestHead};
use crate::limits::CREDENTIALS_KNOWN_MAX;
use crate::options::FaceOptions;

/// The faces of the scopes that requests were signed for, and who has the namespace `dynamodb`.
#[derive(Default)]
pub(crate) struct ScopedFaces {
    home: Home,
    /// By credentials as they were sent.
    known: RwLock<HashMap<String, Arc<Face>>>,
}

impl Face {
    /// Returns the face of the scope that a request is signed for; `None` for this one.
    pub(crate) fn of_scope(
        &self,
        head: &RequestHead<'_>,
        operation: &str,
    ) -> Result<Option<Arc<Self>>> {
        let Some(credential) = head.credential else { return Ok(None) };
        let known = self.scoped.known.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(face) = known.get(credential) {
            return Ok(Some(Arc::clone(face)));
        }
        drop(known);
        let Some(scope) = self.scope_of(credential)? else { return Ok(None) };
        let (namespace, is_final) = self.namespace_of(&scope, operation)?;
        let face = Arc::new(self.scoped_to(&scope, &namespace));
        if is_final {
            let mut known = self.scoped.known.write().unwrap_or_else(PoisonError::into_inner);
            if known.len() >= CREDENTIALS_KNOWN_MAX {
                known.clear();
            }
            known.insert(credential.to_owned(), Arc::clone(&face));
        }
        Ok(Some(face))
    }

    /// Returns the scope that a credential is of.
    ///
    /// Whoever asks for credentials has one account, whose keys are its users. Where tables were made before
    /// anybody was asked, it is the account of these, or they would be out of sight.
    fn scope_of(&self, credential: &str) -> Result<Option<Scope>> {
        if !self.asks_for_credentials() {
            return Scope::of_credential(credential, None);
        }
        let Some(own) = Scope::of_credential(credential, Some(&self.options.account))? else {
            return Ok(None);
        };
        let Some(account) = self.scoped.home.account(&self.engine)? else { return Ok(Some(own)) };
        let is_new = self.engine.table_names(Some(&own.namespace()), None, 1)?.is_empty();
        Ok(Some(if is_new { Scope { account, ..own } } else { own }))
    }

    /// Returns the namespace of a scope, and true if it stays that one.
    fn namespace_of(&self, scope: &Scope, operation: &str) -> Result<(String, bool)> {
        if self.options.scopes == Scopes::Shared {
            return Ok((NAMESPACE.to_owned(), true));
        }
        let home = &self.scoped.home;
        if matches!(operation, "CreateTable" | "ImportTable") {
            home.claim(&self.engine, scope)?;
        }
        Ok(home.namespace_of(&self.engine, scope)?)
    }

    fn scoped_to(&self, scope: &Scope, namespace: &str) -> Self {
        let account = scope.account_number();
        let is_shared = self.options.scopes == Scopes::Shared || self.scoped.home.is_everybodys();
        let place = (!is_shared).then_some((scope.region.as_str(), account));
        let options = FaceOptions {
            region: scope.region.clone(),
            account: account.to_owned(),
            ..(*self.options).clone()
        };
        let engine = ScopedEngine::new((*self.engine).clone(), namespace, place);
        self.with_scope(engine, options)
    }

    /// Marks an export or import as one of this scope.
    pub(crate) fn mark(&self, entry: LedgerEntry) -> LedgerEntry {
        self.engine.mark(entry, (&self.options.region, &self.options.account))
    }
}
