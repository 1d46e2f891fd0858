//! The store that operations work on.

use std::sync::Arc;

use shelfmark_engine::Engine;

use crate::error::Result;
use crate::faces::FaceCalls;
use crate::operation::Operation;
use crate::watch::Watch;

/// The operations over one engine. Cheap to clone.
#[derive(Clone)]
pub struct Admin {
    engine: Engine,
    watch: Option<Watch>,
    faces: Option<Arc<dyn FaceCalls>>,
}

impl std::fmt::Debug for Admin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Admin").finish_non_exhaustive()
    }
}

impl Admin {
    /// Creates the operations over an engine, which sees tables of all faces.
    #[must_use]
    pub fn new(engine: Engine) -> Self {
        Self { engine, watch: None, faces: None }
    }

    /// Returns the same operations, which know what a running server notes.
    #[must_use]
    pub fn watching(self, watch: Watch) -> Self {
        Self { watch: Some(watch), ..self }
    }

    /// Returns the notes of the running server, if this is one.
    #[must_use]
    pub fn watch(&self) -> Option<&Watch> {
        self.watch.as_ref()
    }

    /// Returns the same operations, which can ask the faces of the running server.
    #[must_use]
    pub fn asking(self, faces: Arc<dyn FaceCalls>) -> Self {
        Self { faces: Some(faces), ..self }
    }

    /// Returns the faces of the running server, if this is one.
    pub(crate) fn faces(&self) -> Option<&dyn FaceCalls> {
        self.faces.as_deref()
    }

    /// Returns the engine.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Runs an operation; it may wait for the store.
    ///
    /// # Errors
    ///
    /// * Those of the operation.
    pub fn run<O: Operation>(&self, operation: O) -> Result<O::Answer> {
        operation.run(self)
    }
}
