//! Converts rows of a model to items of the engine and back.
//!
//! Invariant: what comes back from an item is what went into it.

use std::collections::BTreeMap;

use shelfmark_design::trial::{Form, Image, KeyValue, Layout, Value as Attribute};
use shelfmark_model::{Item, KeyType, Value};

/// The attribute that names the row family of an item.
const FAMILY: &str = "family";

/// The prefix of attributes' names, so that none is a key column.
const ATTRIBUTE: char = '.';

/// The prefix of names of lists and counts.
const KEPT: char = '+';

/// The value of the partition column of a table that has none in the model.
pub(crate) const WHOLE: &str = "all";

/// Returns the name of a key column: of a table, or of an index in the items of its table.
pub(crate) fn column_name(layout: &Layout, table: usize, column: usize) -> String {
    match layout.tables.get(table).and_then(|form| form.base) {
        None => format!("k{column}"),
        Some(_) => format!("i{table}_{column}"),
    }
}

/// The name of the partition column of a table that has none in the model.
pub(crate) const WHOLE_COLUMN: &str = "k";

pub(crate) fn key_type(form: Form) -> KeyType {
    match form {
        Form::Text => KeyType::Text,
        Form::Id => KeyType::Uuid,
        Form::Bool => KeyType::Bool,
        Form::Int => KeyType::I64,
        Form::Timestamp => KeyType::Timestamp,
        Form::Date => KeyType::Date,
        Form::Bytes => KeyType::Bytes,
    }
}

/// Converts a key column's value.
pub(crate) fn key_value(form: Form, value: &KeyValue) -> Result<Value, String> {
    let wrong = || format!("a key column of {form:?} cannot hold {value:?}");
    Ok(match (form, value) {
        (Form::Text, KeyValue::Text(text)) => Value::text(text.clone()),
        (Form::Id, KeyValue::Native(Attribute::Id(id))) => Value::Uuid(id.to_be_bytes()),
        (Form::Bool, KeyValue::Native(Attribute::Bool(bit))) => Value::Bool(*bit),
        (Form::Int, KeyValue::Native(Attribute::Int(n))) => Value::Int(*n),
        (Form::Timestamp, KeyValue::Native(Attribute::Int(n))) => Value::Timestamp(*n),
        (Form::Date, KeyValue::Native(Attribute::Int(n))) => {
            Value::Date(i32::try_from(*n).map_err(|_| wrong())?)
        }
        (Form::Bytes, KeyValue::Native(Attribute::Text(hex))) => {
            let at = |at: usize| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok();
            let bytes: Option<Vec<u8>> = (0..hex.len()).step_by(2).map(at).collect();
            Value::Bytes(bytes.ok_or_else(wrong)?.into())
        }
        _ => return Err(wrong()),
    })
}

fn key_back(value: &Value) -> Option<KeyValue> {
    Some(match value {
        Value::Text(text) => KeyValue::Text(text.to_string()),
        Value::Uuid(bytes) => KeyValue::Native(Attribute::Id(u128::from_be_bytes(*bytes))),
        Value::Bool(bit) => KeyValue::Native(Attribute::Bool(*bit)),
        Value::Int(n) | Value::Timestamp(n) => KeyValue::Native(Attribute::Int(*n)),
        Value::Date(days) => KeyValue::Native(Attribute::Int((*days).into())),
        Value::Bytes(bytes) => {
            let hex = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            KeyValue::Native(Attribute::Text(hex))
        }
        _ => return None,
    })
}

fn attribute(value: &Attribute) -> Value {
    match value {
        Attribute::Null => Value::Null,
        Attribute::Bool(bit) => Value::Bool(*bit),
        Attribute::Int(n) => Value::Int(*n),
        Attribute::Id(id) => Value::Uuid(id.to_be_bytes()),
        Attribute::Text(text) => Value::text(text.clone()),
        Attribute::List(items) => Value::List(items.iter().map(attribute).collect()),
    }
}

fn attribute_back(value: &Value) -> Option<Attribute> {
    Some(match value {
        Value::Null => Attribute::Null,
        Value::Bool(bit) => Attribute::Bool(*bit),
        Value::Int(n) => Attribute::Int(*n),
        Value::Uuid(bytes) => Attribute::Id(u128::from_be_bytes(*bytes)),
        Value::Text(text) => Attribute::Text(text.to_string()),
        Value::List(items) => {
            Attribute::List(items.iter().map(attribute_back).collect::<Option<_>>()?)
        }
        _ => return None,
    })
}

/// Returns the key of a row of `table` (or its entry there), partition columns first.
pub(crate) fn key_values(
    layout: &Layout,
    table: usize,
    key: &[KeyValue],
) -> Result<Vec<Value>, String> {
    let form = layout.tables.get(table).ok_or("no such table")?;
    form.columns.iter().zip(key).map(|(column, value)| key_value(column.form, value)).collect()
}

/// Converts a row to an item.
pub(crate) fn item(layout: &Layout, image: &Image) -> Result<Item, String> {
    let mut fields: Vec<(String, Value)> = vec![
        (FAMILY.to_owned(), Value::Int(i64::try_from(image.family).unwrap_or(i64::MAX))),
        (WHOLE_COLUMN.to_owned(), Value::text(WHOLE)),
    ];
    let own = std::iter::once((&image.table, &image.key));
    for (table, key) in own.chain(&image.entries) {
        for (at, value) in key_values(layout, *table, key)?.into_iter().enumerate() {
            fields.push((column_name(layout, *table, at), value));
        }
    }
    let named = |mark: char, values: &BTreeMap<String, Attribute>| {
        let pairs = values.iter();
        pairs.map(|(name, value)| (format!("{mark}{name}"), attribute(value))).collect::<Vec<_>>()
    };
    fields.extend(named(ATTRIBUTE, &image.values));
    fields.extend(named(KEPT, &image.kept));
    Ok(fields.into_iter().collect())
}

/// Converts an item of a table to a row.
pub(crate) fn image(layout: &Layout, table: usize, item: &Item) -> Result<Image, String> {
    let damaged = |what: &str| format!("an item cannot be read back: {what}");
    let family = match item.get(FAMILY) {
        Some(Value::Int(n)) => usize::try_from(*n).map_err(|_| damaged("family"))?,
        _ => return Err(damaged("family")),
    };
    let columns = |of: usize| -> Option<Vec<KeyValue>> {
        let form = layout.tables.get(of)?;
        (0..form.columns.len())
            .map(|at| item.get(&column_name(layout, of, at)).and_then(key_back))
            .collect()
    };
    let key = columns(table).ok_or_else(|| damaged("key"))?;
    let indexes = layout.tables.iter().enumerate().filter(|(_, form)| form.base == Some(table));
    let entries = indexes.filter_map(|(index, _)| Some((index, columns(index)?))).collect();
    let mut values = BTreeMap::new();
    let mut kept = BTreeMap::new();
    for (name, value) in item.iter() {
        let back = || attribute_back(value).ok_or_else(|| damaged(name));
        if let Some(name) = name.strip_prefix(ATTRIBUTE) {
            values.insert(name.to_owned(), back()?);
        } else if let Some(name) = name.strip_prefix(KEPT) {
            kept.insert(name.to_owned(), back()?);
        }
    }
    Ok(Image { table, key, family, values, kept, entries })
}
