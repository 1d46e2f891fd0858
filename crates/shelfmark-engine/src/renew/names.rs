//! Rows as their users name them: the columns of the key with their values.

use shelfmark_model::Value;
use shelfmark_records::keys::KeySpec;
use shelfmark_tables::catalogue::Table;

/// Most bytes that the number of a chunk takes at the end of a key.
const CHUNK_BYTES_MAX: usize = 9;

/// Bytes of a value that are shown.
const SHOWN_BYTES_MAX: usize = 64;

/// The byte behind the partition key of a row; the next constant is that of a partition's statics.
const ROW: u8 = 1;
const STATICS: u8 = 0;

/// Names the row that a key (with the number of a chunk) belongs to; `None` if it is no key of a row
/// of the table.
pub(super) fn row_of_chunk(table: &Table, key: &[u8]) -> Option<String> {
    // Keys end themselves, so only one length fits.
    (1..=CHUNK_BYTES_MAX).find_map(|bytes| {
        let length = key.len().checked_sub(bytes)?;
        row(table, key.get(..length)?)
    })
}

/// Names the row of a key without chunk.
pub(super) fn row(table: &Table, key: &[u8]) -> Option<String> {
    columns(&table.key, key).or_else(|| {
        let (&STATICS, partition) = key.split_last()? else { return None };
        let mut spec = table.key.clone();
        spec.sort.clear();
        let named = columns(&spec, &[partition, &[ROW]].concat())?;
        Some(format!("{named} (static columns)"))
    })
}

fn columns(spec: &KeySpec, key: &[u8]) -> Option<String> {
    let columns = spec.decode(key).ok()?.columns;
    let named: Vec<String> =
        columns.iter().map(|(name, value)| format!("{name} = {}", shown(value))).collect();
    Some(named.join(", "))
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(own) => own.to_string(),
        Value::Int(own) => own.to_string(),
        Value::BigInt(own) => own.to_string(),
        Value::Number(own) => own.to_string(),
        Value::Float32(own) => own.to_string(),
        Value::Float(own) => own.to_string(),
        Value::Inet(own) => own.to_string(),
        Value::Uuid(own) => hex(own),
        Value::Bytes(own) => hex(own),
        Value::Text(own) => {
            let cut: String = own.chars().take(SHOWN_BYTES_MAX).collect();
            if cut.len() < own.len() { format!("{cut:?}…") } else { format!("{cut:?}") }
        }
        other => format!("{other:?}"),
    }
}

fn hex(bytes: &[u8]) -> String {
    let shown = hex::encode(bytes.get(..SHOWN_BYTES_MAX).unwrap_or(bytes));
    if bytes.len() > SHOWN_BYTES_MAX { format!("0x{shown}…") } else { format!("0x{shown}") }
}
