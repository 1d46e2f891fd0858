//! Plans of a document: schemas derived from its patterns.
//!
//! What it is not: it derives nothing itself; `shelfmark-design-plan` does.

use crate::document::Document;
use shelfmark_design_plan::Plan;
use shelfmark_design_plan::basis::{Basis, without_schemas};

impl Document {
    /// Derives a schema for the model's patterns; the model's own schemas are ignored.
    ///
    /// Cost: patterns times candidates, and one proof of each pattern.
    ///
    /// # Errors
    ///
    /// The target is unknown, or `name` is no name: say another.
    pub fn plan(&self, target: &str, name: &str) -> Result<Plan, String> {
        shelfmark_design_plan::plan(&self.basis(), target, name)
    }

    pub(crate) fn basis(&self) -> Basis<'_> {
        Basis::new(&self.model, self.source())
    }

    /// Returns the model's text without its schemas and their settings, followed by `schema`.
    #[must_use]
    pub fn with_only(&self, schema: &str) -> String {
        self.basis().text_with(schema)
    }

    /// Returns the model's text without its schemas and their settings.
    #[must_use]
    pub fn without_schemas(&self) -> String {
        without_schemas(self.source())
    }
}
