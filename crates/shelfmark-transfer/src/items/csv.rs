//! Items as records of delimited text, a column for each attribute.
//!
//! The header tells types: `name` is a text, `name:N` a number, `name:B` base64, `name:BOOL` true or false;
//! key attributes need no type, as for the service's ImportTable. An attribute that is absent is an empty
//! field; an empty text is two quotation marks.
//!
//! What it cannot carry: lists, maps, sets and nulls, and attributes that are of several types.
//!
//! Invariant: what was written reads back as it was; what would not is refused.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use shelfmark_keycode::number::{DYNAMO_NUMBER, parse, to_plain};
use shelfmark_model::{Item, Value};

use super::definition::is_number;
use crate::delimited::Field;
use crate::error::{Error, Result};

/// Most columns. Source: ours; more are no table for people.
const COLUMNS_MAX: usize = 1_000;
/// Longest number in text: 38 digits behind 130 zeros, and a sign.
const NUMBER_CHARS_MAX: usize = 200;

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Number,
    Binary,
    Bool,
}

impl Kind {
    const ALL: [(&'static str, Self); 4] =
        [("S", Self::Text), ("N", Self::Number), ("B", Self::Binary), ("BOOL", Self::Bool)];

    fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Text(_) => Some(Self::Text),
            Value::Number(_) => Some(Self::Number),
            Value::Bytes(_) => Some(Self::Binary),
            Value::Bool(_) => Some(Self::Bool),
            _ => None,
        }
    }

    fn named(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(name, _)| *name == text).map(|(_, kind)| kind)
    }

    fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(_, kind)| *kind == self).map_or("S", |(name, _)| name)
    }
}

/// Attributes with their types, in the order of their columns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Columns {
    columns: Vec<(String, Kind)>,
}

/// The columns that items need, as they are found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Needed {
    found: BTreeMap<String, Kind>,
}

impl Needed {
    /// Takes in the attributes of an item.
    pub(crate) fn add(&mut self, item: &Item) -> Result<()> {
        for (name, value) in item.iter() {
            let kind = Kind::of(value).ok_or_else(|| {
                Error::invalid(format!(
                    "CSV has no form for the attribute {name}, a value of kind {:?}: use --format jsonl or \
                     dynamodb-json",
                    value.kind()
                ))
            })?;
            self.put(name, kind)?;
        }
        Ok(())
    }

    /// Takes in what another thread found.
    pub(crate) fn merge(&mut self, other: Self) -> Result<()> {
        other.found.into_iter().try_for_each(|(name, kind)| self.put(&name, kind))
    }

    fn put(&mut self, name: &str, kind: Kind) -> Result<()> {
        match self.found.get(name) {
            Some(own) if *own == kind => return Ok(()),
            Some(own) => {
                return Err(Error::invalid(format!(
                    "the attribute {name} is of type {} here and {} there, which CSV cannot tell apart: use \
                     --format jsonl or dynamodb-json",
                    own.name(),
                    kind.name()
                )));
            }
            None => {}
        }
        if self.found.len() >= COLUMNS_MAX {
            return Err(Error::invalid(format!(
                "the items have more than {COLUMNS_MAX} attributes: use --format jsonl or dynamodb-json"
            )));
        }
        self.found.insert(name.to_owned(), kind);
        Ok(())
    }
}

impl Columns {
    /// Orders what items need: the key first, then by name.
    pub(crate) fn of(needed: Needed, keys: &[String]) -> Self {
        let mut columns: Vec<(String, Kind)> = needed.found.into_iter().collect();
        let place = |name: &str| keys.iter().position(|key| key == name).unwrap_or(keys.len());
        columns.sort_by_key(|(name, _)| place(name));
        Self { columns }
    }

    /// Reads a header; `types` are those of key attributes.
    pub(crate) fn read(header: &[Field], types: &[(String, String)]) -> Result<Self> {
        let mut columns: Vec<(String, Kind)> = Vec::new();
        for field in header {
            let text = field.text.as_str();
            let typed =
                text.rsplit_once(':').and_then(|(name, kind)| Some((name, Kind::named(kind)?)));
            let of_key = |name: &str| {
                let found = types.iter().find(|(key, _)| key == name);
                found.and_then(|(_, kind)| Kind::named(kind)).unwrap_or(Kind::Text)
            };
            let (name, kind) = typed.unwrap_or_else(|| (text, of_key(text)));
            if name.is_empty() {
                return Err(Error::invalid("a column of the header has no name"));
            }
            if columns.iter().any(|(own, _)| own == name) {
                return Err(Error::invalid(format!(
                    "the column {name} stands twice in the header"
                )));
            }
            columns.push((name.to_owned(), kind));
        }
        Ok(Self { columns })
    }

    /// Returns the header; types of key attributes are left out, as they are known.
    pub(crate) fn header(&self, types: &[(String, String)]) -> Vec<Field> {
        let column = |(name, kind): &(String, Kind)| {
            let is_key = types.iter().any(|(key, own)| key == name && own == kind.name());
            let is_like_typed =
                name.rsplit_once(':').is_some_and(|(_, kind)| Kind::named(kind).is_some());
            let plain = !is_like_typed && (is_key || *kind == Kind::Text);
            let text = if plain { name.clone() } else { format!("{name}:{}", kind.name()) };
            Field { text, quoted: false }
        };
        self.columns.iter().map(column).collect()
    }

    /// Returns an item as a record.
    pub(crate) fn record(&self, item: &Item) -> Result<Vec<Field>> {
        let lost = item.iter().find(|(name, value)| {
            let column = self.columns.iter().find(|(own, _)| own == name.as_str());
            column.is_none_or(|(_, kind)| Kind::of(value) != Some(*kind))
        });
        if let Some((name, _)) = lost {
            return Err(Error::invalid(format!(
                "the attribute {name} was not there, or was of another type, when the columns were looked \
                 for; export again, or use --format jsonl"
            )));
        }
        let field = |value: Option<&Value>| -> Result<Field> {
            let (text, quoted) = match value {
                None => (String::new(), false),
                Some(Value::Text(text)) => (text.to_string(), text.is_empty()),
                Some(Value::Number(number)) => {
                    let text = to_plain(number, NUMBER_CHARS_MAX);
                    (text.map_err(|error| Error::invalid(error.to_string()))?, false)
                }
                // Nothing as base64 is an empty text, and must not be taken for an absent one.
                Some(Value::Bytes(bytes)) => (STANDARD.encode(bytes), bytes.is_empty()),
                Some(Value::Bool(value)) => (value.to_string(), false),
                Some(_) => return Err(Error::invalid("a value that CSV has no form for")),
            };
            Ok(Field { text, quoted })
        };
        self.columns.iter().map(|(name, _)| field(item.get(name))).collect()
    }

    /// Returns the item of a record.
    ///
    /// # Errors
    ///
    /// * What is wrong with it, as a message.
    pub(crate) fn item(&self, record: &[Field]) -> std::result::Result<Item, String> {
        if record.len() > self.columns.len() {
            let (fields, columns) = (record.len(), self.columns.len());
            return Err(format!(
                "the record has {fields} fields, and the header {columns} columns"
            ));
        }
        let mut item = Item::new();
        for ((name, kind), field) in self.columns.iter().zip(record) {
            if field.text.is_empty() && !field.quoted {
                continue;
            }
            let value = value(*kind, &field.text).map_err(|why| format!("{name}: {why}"))?;
            item.set(name.as_str(), value);
        }
        Ok(item)
    }
}

fn value(kind: Kind, text: &str) -> std::result::Result<Value, String> {
    Ok(match kind {
        Kind::Text => Value::text(text),
        Kind::Number if is_number(text.trim()) => {
            Value::Number(parse(text.trim(), &DYNAMO_NUMBER).map_err(|error| error.to_string())?)
        }
        Kind::Number => return Err(format!("{text:?} is no number that can be kept")),
        Kind::Binary => {
            let bytes = STANDARD.decode(text.trim());
            Value::Bytes(bytes.map_err(|error| format!("{text:?} is no base64: {error}"))?.into())
        }
        Kind::Bool => Value::Bool(
            text.trim()
                .to_ascii_lowercase()
                .parse()
                .map_err(|_| "it is true or false".to_owned())?,
        ),
    })
}
