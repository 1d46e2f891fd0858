//! A cache beside a part of a model, for what its users compute about it.
//!
//! What it is not: no part of the model. A copy of the model begins without notes, and only who
//! knows the type of a note can read it: what the prover concluded is not the verifier's to see.
//!
//! Invariant: the first note of a place stays; a place holds notes of one type.

use std::any::Any;
use std::sync::OnceLock;

/// Holds one cached value of any type, created at its first use.
#[derive(Default)]
pub struct Notes(OnceLock<Box<dyn Any + Send + Sync>>);

impl Notes {
    /// Returns the cached value, creating an empty one first.
    ///
    /// # Panics
    ///
    /// When another type of note lies here, which is a defect of the program: a place has one
    /// reader.
    #[expect(clippy::expect_used, reason = "each place is used by one function of one crate")]
    pub fn get<T: Default + Send + Sync + 'static>(&self) -> &T {
        let note = self.0.get_or_init(|| Box::new(T::default()));
        note.downcast_ref().expect("a place holds notes of one type")
    }
}

impl Clone for Notes {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl std::fmt::Debug for Notes {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Notes")
    }
}
