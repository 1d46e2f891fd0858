//! The arguments of a call, read with errors that name them.

use serde_json::{Map, Value as Json};

/// The arguments of a call.
pub(crate) struct Arguments(Map<String, Json>);

impl Arguments {
    pub(crate) const fn new(map: Map<String, Json>) -> Self {
        Self(map)
    }

    /// Returns a text that must be there.
    pub(crate) fn text(&self, name: &str) -> Result<&str, String> {
        self.maybe_text(name)?.ok_or_else(|| format!("{name} is missing: a text"))
    }

    /// Returns a text that may be absent.
    pub(crate) fn maybe_text(&self, name: &str) -> Result<Option<&str>, String> {
        match self.0.get(name) {
            None | Some(Json::Null) => Ok(None),
            Some(Json::String(text)) => Ok(Some(text)),
            Some(_) => Err(format!("{name} must be a text")),
        }
    }

    /// Returns a whole number between bounds, or what holds without one.
    pub(crate) fn number(&self, name: &str, absent: u64, most: u64) -> Result<u64, String> {
        match self.0.get(name) {
            None | Some(Json::Null) => Ok(absent),
            Some(value) => value
                .as_u64()
                .filter(|number| *number <= most)
                .ok_or_else(|| format!("{name} must be a whole number up to {most}")),
        }
    }

    /// Returns an object; a text that holds one is taken too, for that is how models often write it.
    pub(crate) fn object(&self, name: &str) -> Result<Json, String> {
        let parsed = match self.0.get(name) {
            None | Some(Json::Null) => Some(Json::Object(Map::new())),
            Some(Json::String(text)) => serde_json::from_str(text).ok(),
            Some(value) => Some(value.clone()),
        };
        parsed.filter(Json::is_object).ok_or_else(|| format!("{name} must be a JSON object"))
    }
}
