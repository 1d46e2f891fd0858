//! Conversions between values and bytes, values and JSON, and lengths.

use shelfmark_cql_protocol::CqlError;

use super::resolve::untyped_argument;
use super::scalar::Scalar;
use crate::value::{CqlType, Native, from_json, parse_json, to_json, validate};

/// Returns the functions of this module by name.
pub(super) fn candidates(
    name: &str,
    arguments: &[Option<CqlType>],
    texts: &[String],
    receiver: Option<&CqlType>,
) -> Result<Option<Vec<Scalar>>, CqlError> {
    let first = arguments.first().cloned().flatten();
    Ok(match name {
        "tojson" | "to_json" => {
            let ty = match (arguments, first) {
                ([_], Some(ty)) => ty,
                ([_], None) => {
                    let text = texts.first().map_or("?", String::as_str);
                    return Err(untyped_argument(text, &format!("{name}(any)")));
                }
                _ => {
                    return Err(CqlError::invalid(format!(
                        "Invalid number of arguments for function system.{name}(any)"
                    )));
                }
            };
            let own = ty.clone();
            let body: super::scalar::Body = std::sync::Arc::new(move |_, values| {
                let value = values.first().copied().flatten();
                let value = value.filter(|value| !value.is_empty() || !own.empty_is_meaningless());
                Ok(Some(to_json(&own, value).into_bytes()))
            });
            Some(vec![Scalar {
                keyspace: super::scalar::native(),
                name: name.to_owned(),
                arguments: vec![ty],
                returns: CqlType::Text,
                body,
            }])
        }
        "fromjson" | "from_json" => {
            if arguments.len() != 1 {
                return Err(CqlError::invalid(format!(
                    "Invalid number of arguments for function system.{name}(text)"
                )));
            }
            let Some(receiver) = receiver else {
                return Err(CqlError::invalid(format!(
                    "{name}() cannot be used in the selection clause of a SELECT statement"
                )));
            };
            if let ([Some(given)], [text]) = (arguments, texts)
                && !given.is_string()
            {
                return Err(CqlError::invalid(format!(
                    "Function system.{name} requires an argument of type text, but found argument {text} of type {given}"
                )));
            }
            let ty = receiver.clone();
            Some(vec![Scalar::strict(name, vec![CqlType::Text], receiver.clone(), move |values| {
                let text =
                    values.first().map(|text| String::from_utf8_lossy(text)).unwrap_or_default();
                let failed = |error: crate::value::MarshalError| {
                    // Durations are read by what is behind the statement.
                    if error.0.ends_with(" to a duration") {
                        return CqlError::invalid(error.0);
                    }
                    CqlError::new(
                        shelfmark_cql_protocol::ErrorCode::FunctionFailure,
                        format!("org.apache.cassandra.serializers.MarshalException: {error}"),
                    )
                };
                let json = parse_json(&text).map_err(failed)?;
                from_json(&ty, &json).map_err(failed)
            })])
        }
        _ => conversions(name),
    })
}

/// Creates `intAsBlob`, `int_as_blob`, `blobAsInt`, `blob_as_int` and the like, for every native
/// type.
fn conversions(name: &str) -> Option<Vec<Scalar>> {
    let plain = name.replace('_', "");
    let names =
        Native::all().map(|native| (native, native.name())).chain([(Native::Text, "varchar")]);
    for (native, own) in names {
        if matches!(native, Native::Blob | Native::Empty) {
            continue;
        }
        let ty = CqlType::Native(native);
        if plain == format!("{own}asblob") {
            return Some(vec![Scalar::strict_bytes(name, ty, CqlType::Blob, |value| {
                Ok(value.to_vec())
            })]);
        }
        if plain == format!("blobas{own}") {
            let (target, shown) = (ty.clone(), name.to_owned());
            return Some(vec![Scalar::strict_bytes(name, CqlType::Blob, ty, move |value| {
                validate(&target, value).map_err(|_| {
                    CqlError::invalid(format!(
                        "In call to function system.{shown}, value 0x{} is not a valid binary representation for type {target}",
                        hex::encode(value)
                    ))
                })?;
                Ok(value.to_vec())
            })]);
        }
    }
    None
}

impl Scalar {
    /// Creates a function of one value that may have no bytes.
    fn strict_bytes(
        name: &str,
        argument: CqlType,
        returns: CqlType,
        body: impl Fn(&[u8]) -> Result<Vec<u8>, CqlError> + Send + Sync + 'static,
    ) -> Self {
        let body: super::scalar::Body = std::sync::Arc::new(move |_, values| {
            values.first().copied().flatten().map(&body).transpose()
        });
        Self {
            keyspace: super::scalar::native(),
            name: name.to_owned(),
            arguments: vec![argument],
            returns,
            body,
        }
    }
}
