//! Names in the tree of a model, with their form in JSON.
//!
//! Invariant: a name that is read from JSON is one that a text could have.

#![expect(
    missing_docs,
    reason = "fields are the words of the language, which docs/modelling.md explains; a comment here \
              becomes text of the published JSON Schema"
)]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::span::Span;

/// A name and where it stands.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name {
    pub text: String,
    pub span: Span,
}

impl Name {
    /// Returns a name that stands nowhere and need not be one that can be written.
    pub fn plain(text: String) -> Self {
        Self { text, span: Span::default() }
    }
}

impl TryFrom<String> for Name {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let good = text.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_')
            && text.chars().all(|c| c.is_alphanumeric() || c == '_');
        if good {
            return Ok(Self::plain(text));
        }
        Err(format!("{text:?} is no name: a letter or `_`, then letters, digits and `_`"))
    }
}

impl JsonSchema for Name {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Name".into()
    }

    fn inline_schema() -> bool {
        true
    }

    /// Returns the schema of a name; beyond ASCII the pattern lets through more than letters and
    /// digits.
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "pattern": r"^[^\x00-@\[-\^`{-\x7f][^\x00-/:-@\[-\^`{-\x7f]*$",
        })
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.text
    }
}

/// The name of an attribute, or of a field of one that is a record: `address.city`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Field(pub Name);

impl std::ops::Deref for Field {
    type Target = Name;

    fn deref(&self) -> &Name {
        &self.0
    }
}

impl TryFrom<String> for Field {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        for part in text.split('.') {
            Name::try_from(part.to_owned())?;
        }
        Ok(Self(Name::plain(text)))
    }
}

impl From<Field> for String {
    fn from(field: Field) -> Self {
        field.0.text
    }
}

impl JsonSchema for Field {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Field".into()
    }

    fn inline_schema() -> bool {
        true
    }

    /// Returns the schema of names with points between them.
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "pattern": r"^[^\x00-@\[-\^`{-\x7f][^\x00-\-/:-@\[-\^`{-\x7f]*$",
        })
    }
}
