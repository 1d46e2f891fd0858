//! Runs a trial in the requests of its target: what creates the tables, what to send, rows as
//! items.

use serde_json::Value as Json;

use super::{Call, Image, Scene, Trial};
use shelfmark_design_language::model::Value;
use shelfmark_design_language::model::types::Type;
use shelfmark_design_prove::calls::{self, Calls};
use shelfmark_design_prove::eval::change;

impl Trial<'_> {
    fn said(&self) -> Result<Calls<'_>, String> {
        Calls::new(self.model, self.schema).ok_or_else(|| "no such target".to_owned())
    }

    /// Returns the requests that create the tables.
    ///
    /// # Errors
    ///
    /// What the target does not make, with its rule. Change the schema.
    pub fn create(&self) -> Result<Vec<Json>, String> {
        self.said()?.create().map_err(|refusal| refusal.to_string())
    }

    /// Returns the requests of a pattern's plan.
    ///
    /// # Errors
    ///
    /// What the target cannot be asked, with its rule.
    pub fn requests(&self, pattern: usize) -> Result<Vec<calls::Call>, String> {
        let proof = self.proofs.get(pattern).ok_or("no such pattern")?;
        self.said()?.of_proof(proof).map_err(|refusal| refusal.to_string())
    }

    /// Returns the inputs of a call as requests name them, with their types.
    #[must_use]
    pub fn inputs(&self, pattern: usize, call: &Call) -> Vec<(String, Value, Type)> {
        let params = match (self.read_of(pattern), self.write_of(pattern)) {
            (Some(read), _) => &read.params,
            (None, Some(write)) => &write.params,
            (None, None) => return Vec::new(),
        };
        let named = params.iter().zip(&call.inputs);
        named
            .map(|(param, value)| {
                let name = param.name.trim_end_matches("()").to_owned();
                (name, value.clone(), param.ty.clone())
            })
            .collect()
    }

    /// Returns true if all that a write names in order to change it exists.
    ///
    /// A request with a condition changes nothing otherwise, and ends the write.
    #[must_use]
    pub fn names_what_is_there(&self, pattern: usize, scene: &Scene, call: &Call) -> bool {
        let Some(write) = self.write_of(pattern) else { return true };
        change::names_what_is_there(self.model, write, &scene.state, &call.inputs)
    }

    /// Returns every row of a state as an item, with its table.
    ///
    /// # Errors
    ///
    /// As [`Trial::images`], and what the target does not take.
    pub fn items(&self, scene: &Scene) -> Result<Vec<(String, Json)>, String> {
        self.items_after(scene, scene)
    }

    /// Returns every row that a write leaves as an item, as [`Trial::images_after`] says.
    ///
    /// # Errors
    ///
    /// As [`Trial::items`].
    pub fn items_after(
        &self,
        before: &Scene,
        after: &Scene,
    ) -> Result<Vec<(String, Json)>, String> {
        let said = self.said()?;
        let images = self.images_after(before, after)?;
        let item = |image: &Image| {
            let family = self.schema.families.get(image.family).ok_or("no such row family")?;
            let value = |path: Vec<usize>| {
                let name = self.model.path_text(family.source, &path);
                Some((path, image.values.get(&name)?.clone()))
            };
            let values = said.carried(image.family).into_iter().filter_map(value).collect();
            said.item(image.family, &values, &image.kept).map_err(|refusal| refusal.to_string())
        };
        images.iter().map(item).collect()
    }

    /// Returns the columns of each table and index with their types, and whether all beside the key
    /// count.
    ///
    /// # Errors
    ///
    /// There is no such target.
    pub fn tables(&self) -> Result<calls::TableColumns, String> {
        Ok(self.said()?.tables())
    }

    /// Converts an item of a table or index to a row.
    #[must_use]
    pub fn image_of_item(&self, table: usize, item: &Json) -> Option<Image> {
        let (family, values, kept) = self.said().ok()?.shown(table, item)?;
        let found = self.schema.families.get(family)?;
        let named =
            |(path, value): (Vec<usize>, Value)| (self.model.path_text(found.source, &path), value);
        let values = values.into_iter().map(named).collect();
        let (key, entries) = (Vec::new(), std::collections::BTreeMap::new());
        Some(Image { table: found.table, key, family, values, kept, entries })
    }
}
