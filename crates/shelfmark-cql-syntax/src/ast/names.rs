//! Names of keyspaces, tables, columns, types and functions.

use std::fmt;

use crate::span::Span;

/// A name as it is meant: folded to lower case unless it was quoted.
///
/// Equality looks at the name alone, not at where it stood.
#[derive(Clone)]
pub struct Name {
    text: Box<str>,
    span: Span,
}

impl Name {
    /// Makes a name from its meaning: nothing is folded here.
    #[must_use]
    pub fn new(text: impl Into<Box<str>>) -> Name {
        Name { text: text.into(), span: Span::NOWHERE }
    }

    /// Makes a name from its meaning and its place; nothing is folded here.
    #[must_use]
    pub fn at(text: Box<str>, span: Span) -> Name {
        Name { text, span }
    }

    /// Returns the name as it is meant, without quotes.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns where the name stood in the text, quotes included.
    #[must_use]
    pub fn span(&self) -> Span {
        self.span
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Name) -> bool {
        self.text == other.text
    }
}

impl Eq for Name {}

impl std::hash::Hash for Name {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl PartialEq<str> for Name {
    fn eq(&self, other: &str) -> bool {
        &*self.text == other
    }
}

impl AsRef<str> for Name {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

/// A name that may be preceded by its keyspace.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct QualifiedName {
    /// The keyspace, when the text names one; otherwise the connection's is meant.
    pub keyspace: Option<Name>,
    /// The name inside the keyspace.
    pub name: Name,
}

impl QualifiedName {
    /// Returns where the whole name stood in the text.
    #[must_use]
    pub fn span(&self) -> Span {
        match &self.keyspace {
            Some(keyspace) => keyspace.span().to(self.name.span()),
            None => self.name.span(),
        }
    }
}

/// A function's name, perhaps with its keyspace. Native functions stand in `system`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FunctionName {
    /// The keyspace, when the text names one.
    pub keyspace: Option<Name>,
    /// The function's name.
    pub name: Name,
}
