//! The interface of an operation.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::admin::Admin;
use crate::error::Result;

/// A request that has an answer.
pub trait Operation: Serialize + DeserializeOwned {
    /// Its name in a path: `POST /api/v1/NAME`.
    const NAME: &'static str;

    /// The answer.
    type Answer: Serialize + DeserializeOwned;

    /// Does it; may wait for the store.
    ///
    /// # Errors
    ///
    /// * Its own: what is wrong with the request, or with the store.
    fn run(self, admin: &Admin) -> Result<Self::Answer>;
}
