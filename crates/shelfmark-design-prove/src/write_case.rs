//! One write in one schema: the common context of its plan, its proof and its witness.
//!
//! What it is not: no plan; several plans of one case may be compared.
//!
//! Invariant: the write is the model's, and the target is the schema's.

use shelfmark_design_language::model::schema::Schema;
use shelfmark_design_language::model::{Model, Write};
use shelfmark_design_language::target::Target;

/// A write of a model, the schema whose rows it changes, and the target.
#[derive(Clone, Copy)]
pub struct WriteCase<'a> {
    /// The model.
    pub model: &'a Model,
    /// The schema.
    pub schema: &'a Schema,
    /// The profile of the schema's target.
    pub target: &'a Target,
    /// The index of the write in the model.
    pub index: usize,
    /// The write.
    pub write: &'a Write,
}

impl<'a> WriteCase<'a> {
    /// Returns the case of a proof, if the numbers are of a write and a schema of the model.
    #[cfg(test)]
    pub fn of(model: &'a Model, proof: &crate::Proof) -> Option<WriteCase<'a>> {
        let schema = model.schemas.get(proof.schema)?;
        let target = shelfmark_design_language::target::profile(&schema.target)?;
        Self::all(model, schema, target).nth(proof.pattern)
    }

    /// Returns the cases of all writes, in the order of the model.
    pub fn all(
        model: &'a Model,
        schema: &'a Schema,
        target: &'a Target,
    ) -> impl Iterator<Item = WriteCase<'a>> {
        let writes = model.writes.iter().enumerate();
        writes.map(move |(index, write)| WriteCase { model, schema, target, index, write })
    }
}
