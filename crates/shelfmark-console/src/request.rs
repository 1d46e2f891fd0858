//! Reads the fields of a request's query and the object in its body.
//!
//! What it is not: the request, which is the console port's own.
//!
//! Invariant: fields are decoded once, here; whatever is too long or no UTF-8 is refused.

use shelfmark_admin::http::Request;

use crate::fault::{Fault, Result};
use crate::fields::Fields;
use crate::limits::{BODY_BYTES_MAX, QUERY_BYTES_MAX};

/// Returns the fields of the query.
///
/// # Errors
///
/// * 400: it is too long, or no UTF-8.
pub(crate) fn fields_of(request: &Request) -> Result<Fields> {
    let query = request.query.as_deref().unwrap_or_default();
    if query.len() > QUERY_BYTES_MAX {
        return Err(Fault::bad(format!("a query has at most {QUERY_BYTES_MAX} bytes")));
    }
    Fields::parse(query)
}

/// Returns the body's JSON object.
///
/// # Errors
///
/// * 400, 413: it is too long, or no object.
pub(crate) fn object_of(request: &Request) -> Result<serde_json::Map<String, serde_json::Value>> {
    if request.body.len() > BODY_BYTES_MAX {
        return Err(Fault::too_large(format!("a body has at most {BODY_BYTES_MAX} bytes")));
    }
    match serde_json::from_slice(&request.body) {
        Ok(serde_json::Value::Object(fields)) => Ok(fields),
        Ok(_) => Err(Fault::bad("the body is a JSON object")),
        Err(error) => Err(Fault::bad(format!("the body is no JSON: {error}"))),
    }
}

/// Returns the text field of a JSON object, or nothing if it is absent.
pub(crate) fn text_of<'j>(
    object: &'j serde_json::Map<String, serde_json::Value>,
    name: &str,
) -> &'j str {
    object.get(name).and_then(serde_json::Value::as_str).unwrap_or("")
}
