//! The fields that values of a typed table declare, as the catalogue keeps them.
//!
//! What it is not: a schema that values must fit. A table's program may be another one tomorrow; a
//! value that does not fit its field is shown as what it is.
//!
//! Invariant: a word that is not known is a field of which nothing is known, and no error.

use std::collections::BTreeMap;

use shelfmark_model::{TableSchema, Value};

/// The place of the fields among a table's options: a map of names to words.
const FIELDS: &str = "typed_fields";

/// The kind of a field of a typed value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FieldKind {
    /// A truth value.
    Bool,
    /// An integer of 8 bits.
    I8,
    /// An integer of 16 bits.
    I16,
    /// An integer of 32 bits.
    I32,
    /// An integer of 64 bits.
    I64,
    /// An integer of any size.
    Integer,
    /// A float of 32 bits.
    F32,
    /// A float of 64 bits.
    F64,
    /// A text.
    Text,
    /// Bytes.
    Bytes,
    /// A date.
    Date,
    /// A time of day.
    Time,
    /// Milliseconds since 1970.
    Timestamp,
    /// A UUID.
    Uuid,
    /// Anything else: a list, a map, one of several.
    Other,
}

impl FieldKind {
    /// Every kind.
    pub const ALL: [Self; 15] = [
        Self::Bool,
        Self::I8,
        Self::I16,
        Self::I32,
        Self::I64,
        Self::Integer,
        Self::F32,
        Self::F64,
        Self::Text,
        Self::Bytes,
        Self::Date,
        Self::Time,
        Self::Timestamp,
        Self::Uuid,
        Self::Other,
    ];

    /// Returns the word of the catalogue.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::Integer => "integer",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::Text => "text",
            Self::Bytes => "bytes",
            Self::Date => "date",
            Self::Time => "time",
            Self::Timestamp => "timestamp",
            Self::Uuid => "uuid",
            Self::Other => "other",
        }
    }

    fn of_word(word: &str) -> Self {
        Self::ALL.into_iter().find(|own| own.word() == word).unwrap_or(Self::Other)
    }
}

/// Returns the fields that a table's values declare, by name; none for other tables.
#[must_use]
pub fn declared_fields(schema: &TableSchema) -> BTreeMap<String, FieldKind> {
    let Some(Value::Map(fields)) = schema.options.face.get(FIELDS) else { return BTreeMap::new() };
    let field = |(name, word): (&String, &Value)| {
        (name.clone(), word.as_text().map_or(FieldKind::Other, FieldKind::of_word))
    };
    fields.iter().map(field).collect()
}

/// Adds fields to those that a table's values declare. Fields of other programs stay. Returns true if
/// that changes anything.
pub fn declare_fields(
    face: &mut BTreeMap<String, Value>,
    fields: impl IntoIterator<Item = (String, FieldKind)>,
) -> bool {
    let mut all = match face.get(FIELDS) {
        Some(Value::Map(fields)) => fields.clone(),
        _ => BTreeMap::new(),
    };
    let before = all.clone();
    all.extend(fields.into_iter().map(|(name, kind)| (name, Value::text(kind.word()))));
    if all == before {
        return false;
    }
    face.insert(FIELDS.to_owned(), Value::Map(all));
    true
}
