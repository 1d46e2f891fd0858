//! Plans of a document: schemas derived from its patterns.
//!
//! What it is not: it derives nothing itself; `shelfmark-design-plan` does.

use crate::document::Document;
use shelfmark_design_plan::Plan;
use shelfmark_design_plan::basis::{Basis, without_schemas};
use shelfmark_design_plan::cost::Beside;

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

    /// Explains the choices of a plan: what each costs, and what the next best would cost.
    ///
    /// # Errors
    ///
    /// The target is unknown, or nothing is weighed for it.
    pub fn plan_explained(&self, target: &str) -> Result<String, String> {
        shelfmark_design_plan::explain(&self.basis(), target)
    }

    /// Returns the costs of schemas that give up tables, reads or writes for one another.
    ///
    /// # Errors
    ///
    /// The target is unknown.
    pub fn plan_front(&self, target: &str) -> Result<String, String> {
        shelfmark_design_plan::pareto(&self.basis(), target)
    }

    /// Compares a schema of the model with one that is derived for the same patterns and target.
    ///
    /// # Errors
    ///
    /// There is no such schema, or it serves nothing.
    pub fn plan_beside(&self, schema: &str, name: &str) -> Result<Beside, String> {
        let mut schemas = self.model.schemas.iter();
        let Some(found) = schemas.find(|one| one.name.text == schema) else {
            return Err(format!("there is no schema {schema}"));
        };
        shelfmark_design_plan::cost::beside(&self.basis(), found, name)
    }

    /// Returns the target of a schema of the model.
    #[must_use]
    pub fn target_of(&self, schema: &str) -> Option<&str> {
        let found = self.model.schemas.iter().find(|one| one.name.text == schema)?;
        Some(&found.target)
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
