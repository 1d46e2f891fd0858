//! A member of JSON and the way to it, so that messages name the place.
//!
//! What it is not: a parser; depth is limited where the text is parsed.

use serde_json::Value as Json;

use crate::ImportError;

/// A member of JSON and the way to it.
#[derive(Clone)]
pub(crate) struct At<'a> {
    pub(crate) json: &'a Json,
    pub(crate) path: String,
}

/// Parses a text as JSON.
pub(crate) fn parsed(text: &str) -> Result<Json, ImportError> {
    serde_json::from_str(text).map_err(|error| {
        ImportError::new(
            format!("{}:{}", error.line(), error.column()),
            format!("no JSON: {error}"),
        )
    })
}

impl<'a> At<'a> {
    pub(crate) fn top(json: &'a Json) -> Self {
        Self { json, path: String::new() }
    }

    pub(crate) fn member(&self, name: &str) -> Option<At<'a>> {
        let json = self.json.get(name).filter(|json| !json.is_null())?;
        let dot = if self.path.is_empty() { "" } else { "." };
        Some(At { json, path: format!("{}{dot}{name}", self.path) })
    }

    pub(crate) fn wanted(&self, name: &str) -> Result<At<'a>, ImportError> {
        self.member(name).ok_or_else(|| {
            let place = if self.path.is_empty() { "the model" } else { &self.path };
            ImportError::new(place, format!("there is no {name}"))
        })
    }

    pub(crate) fn text(&self) -> Result<&'a str, ImportError> {
        self.json.as_str().ok_or_else(|| self.error("is no text"))
    }

    pub(crate) fn items(&self) -> Result<Vec<At<'a>>, ImportError> {
        let list = self.json.as_array().ok_or_else(|| self.error("is no list"))?;
        Ok(list
            .iter()
            .enumerate()
            .map(|(at, json)| At { json, path: format!("{}[{at}]", self.path) })
            .collect())
    }

    /// Returns the items of a member that may be missing.
    pub(crate) fn list(&self, name: &str) -> Result<Vec<At<'a>>, ImportError> {
        self.member(name).map_or(Ok(Vec::new()), |member| member.items())
    }

    /// Returns the members of an object; none of anything else.
    pub(crate) fn members(&self) -> Vec<(&'a str, At<'a>)> {
        let found = self.json.as_object().into_iter().flatten();
        found
            .map(|(name, json)| (name.as_str(), At { json, path: format!("{}.{name}", self.path) }))
            .collect()
    }

    pub(crate) fn error(&self, message: &str) -> ImportError {
        ImportError::new(self.path.clone(), message)
    }
}
