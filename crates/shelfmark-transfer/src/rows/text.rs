//! Values as fields of delimited text, as cqlsh's COPY has them.

use bytes::Bytes;
use shelfmark_cql_protocol::BoundValue;
use shelfmark_cql_protocol::types::{CqlType, Native};
use shelfmark_cql_types::term::{BindMarkers, EvalContext, Receiver, Scope, prepare};
use shelfmark_cql_types::{UserTypes, from_text, to_literal, to_text};

use crate::delimited::Field;

/// Writes a value as a field: single values as they are, others as constants of CQL.
#[must_use]
pub fn field_of(kind: &CqlType, cell: Option<&[u8]>, null: &str) -> Field {
    let Some(bytes) = cell else { return Field { text: null.to_owned(), quoted: false } };
    let text = match kind {
        CqlType::Native(Native::Blob) => to_literal(kind, Some(bytes)),
        CqlType::Native(Native::Boolean) => match bytes {
            [0] => "False".to_owned(),
            _ => "True".to_owned(),
        },
        // As cqlsh writes it: it reads no fractions of seconds otherwise.
        CqlType::Native(Native::Timestamp) => {
            to_text(kind, bytes).replace('T', " ").replace('Z', "+0000")
        }
        CqlType::Native(_) => to_text(kind, bytes),
        _ => to_literal(kind, Some(bytes)),
    };
    // What looks like null and is not, is quoted.
    let quoted = text == null;
    Field { text, quoted }
}

/// No user types but those in the types of columns.
struct NoTypes;

impl UserTypes for NoTypes {
    fn user_type(
        &self,
        _: &str,
        _: &str,
    ) -> Option<&std::sync::Arc<shelfmark_cql_protocol::types::UserType>> {
        None
    }
}

/// Parses a field; `None` is null.
///
/// # Errors
///
/// * What is wrong with it, as a message.
pub(crate) fn cell_of(kind: &CqlType, field: &Field, null: &str) -> Result<Option<Bytes>, String> {
    let text = field.text.as_str();
    if !field.quoted && text == null {
        return Ok(None);
    }
    let is_text = matches!(kind, CqlType::Native(Native::Text | Native::Ascii));
    let plain = if is_text { text } else { text.trim() };
    match kind {
        CqlType::Native(Native::Blob) => {
            let digits = plain.strip_prefix("0x").or_else(|| plain.strip_prefix("0X"));
            let digits = digits.ok_or_else(|| format!("'{plain}' does not begin with 0x"))?;
            let bytes = from_text(kind, digits).map_err(|error| error.to_string())?;
            Ok(Some(bytes.into()))
        }
        CqlType::Native(_) => {
            let bytes = from_text(kind, plain).map_err(|error| error.to_string())?;
            Ok(Some(bytes.into()))
        }
        _ => constant(kind, plain).map_err(|why| format!("'{plain}' is no {kind}: {why}")),
    }
}

/// Evaluates a constant of CQL, which calls nothing.
fn constant(kind: &CqlType, text: &str) -> Result<Option<Bytes>, String> {
    let term = shelfmark_cql_syntax::parse_term(text).map_err(|error| error.to_string())?;
    let mut markers = BindMarkers::default();
    let mut scope = Scope { schema: &NoTypes, keyspace: "", table: None, markers: &mut markers };
    let prepared = prepare(&term, Receiver { name: "value", ty: kind }, &mut scope);
    let expr = prepared.map_err(|error| error.to_string())?;
    let value = expr.eval(EvalContext { context: None, values: &[], row: None });
    match value.map_err(|error| error.to_string())? {
        BoundValue::Bytes(bytes) => Ok(Some(bytes)),
        BoundValue::Null => Ok(None),
        BoundValue::Unset => Err("it has a marker".to_owned()),
    }
}
