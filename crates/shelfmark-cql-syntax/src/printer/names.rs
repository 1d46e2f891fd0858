//! Names, strings and types.

use std::borrow::Cow;
use std::fmt::{self, Display, Formatter};

use super::list;
use crate::ast::{
    FunctionName, IntegerValue, Literal, LiteralKind, Marker, Name, QualifiedName, Type,
};
use crate::lexer::{Class, keyword};

/// Returns a name as CQL must write it: in double quotes unless it is made of lower-case letters,
/// digits and underscores, begins with a letter, and is no reserved word.
#[must_use]
pub fn quoted_name(name: &str) -> Cow<'_, str> {
    quoted_unless(name, |class| !matches!(class, Class::Reserved | Class::Token))
}

/// Returns a text in single quotes, those inside doubled.
#[must_use]
pub fn quoted_string(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn quoted_unless(name: &str, allowed: impl Fn(Class) -> bool) -> Cow<'_, str> {
    let bytes = name.as_bytes();
    let plain = bytes.first().is_some_and(u8::is_ascii_lowercase)
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'_')
        && !matches!(name, "true" | "false")
        && keyword(bytes).and_then(crate::lexer::Kind::class).is_none_or(allowed);
    if plain {
        return Cow::Borrowed(name);
    }
    Cow::Owned(format!("\"{}\"", name.replace('"', "\"\"")))
}

/// Returns a name of which no keyword may be made. An empty one can only be a role's, given as a
/// string.
pub(super) fn strictly_quoted(name: &Name) -> Cow<'_, str> {
    if name.as_str().is_empty() {
        return Cow::Borrowed("''");
    }
    quoted_unless(name.as_str(), |_| false)
}

impl Display for Name {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&quoted_name(self.as_str()))
    }
}

impl Display for QualifiedName {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(keyspace) = &self.keyspace {
            write!(f, "{keyspace}.")?;
        }
        self.name.fmt(f)
    }
}

impl Display for FunctionName {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(keyspace) = &self.keyspace {
            write!(f, "{keyspace}.")?;
        }
        f.write_str(&function(&self.name))
    }
}

/// Parses a function's own name; `expr(` would be something else.
pub(super) fn function(name: &Name) -> Cow<'_, str> {
    if name.as_str() == "expr" {
        return Cow::Borrowed("\"expr\"");
    }
    quoted_unless(name.as_str(), |class| {
        matches!(class, Class::Plain | Class::Type(_) | Class::Count | Class::Token)
    })
}

/// Parses a user type's name, which may have a keyspace.
pub(super) fn user_type(f: &mut Formatter<'_>, name: &QualifiedName) -> fmt::Result {
    if let Some(keyspace) = &name.keyspace {
        write!(f, "{keyspace}.")?;
    }
    let text = name.name.as_str();
    if crate::parser::RESERVED_TYPES.contains(&text) {
        return write!(f, "\"{text}\"");
    }
    f.write_str(&quoted_unless(text, |class| matches!(class, Class::Plain | Class::Key)))
}

impl Display for Literal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.kind {
            LiteralKind::String => f.write_str(&quoted_string(&self.text)),
            _ => f.write_str(&self.text),
        }
    }
}

impl Display for Marker {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("?")
    }
}

impl Display for IntegerValue {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            IntegerValue::Integer(digits) => f.write_str(digits),
            IntegerValue::Marker(marker) => marker.fmt(f),
        }
    }
}

impl Display for Type {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Type::Native(native) => f.write_str(native.name()),
            Type::List(element) => write!(f, "list<{element}>"),
            Type::Set(element) => write!(f, "set<{element}>"),
            Type::Map(key, value) => write!(f, "map<{key}, {value}>"),
            Type::Tuple(types) => {
                f.write_str("tuple<")?;
                list(f, types, ", ")?;
                f.write_str(">")
            }
            Type::Vector { element, dimension } => write!(f, "vector<{element}, {dimension}>"),
            Type::User(name) => user_type(f, name),
            Type::Frozen(inner) => write!(f, "frozen<{inner}>"),
            Type::Custom(class) => f.write_str(&quoted_string(class)),
        }
    }
}
