//! Masks: what is shown instead of a value.
//!
//! Source: Apache Cassandra 5.0, package `cql3.functions.masking`, and its answers, read 2026-11.

use std::sync::Arc;

use sha2::Digest as _;
use shelfmark_cql_protocol::CqlError;

use super::resolve::untyped_argument;
use super::scalar::{Body, Scalar};
use crate::value::{CqlType, Native, put_collection, put_tuple, unsigned_vint};

type Found = Result<Option<Vec<Scalar>>, CqlError>;

/// Returns true if a function masks values.
#[must_use]
pub fn is_masking(name: &str) -> bool {
    name.starts_with("mask_")
}

/// Returns the functions of this module by name.
pub(super) fn candidates(name: &str, arguments: &[Option<CqlType>], texts: &[String]) -> Found {
    let (shown, fits) = match name {
        "mask_null" | "mask_default" => ("any", arguments.len() == 1),
        "mask_replace" => ("any, any", arguments.len() == 2),
        "mask_inner" | "mask_outer" => {
            ("[text|varchar|ascii], int, int, [text]", matches!(arguments.len(), 3 | 4))
        }
        "mask_hash" => ("any, [text]", matches!(arguments.len(), 1 | 2)),
        _ => return Ok(None),
    };
    if !fits {
        return Err(CqlError::invalid(format!(
            "Invalid number of arguments for function system.{name}({shown})"
        )));
    }
    let text = texts.first().map(String::as_str).unwrap_or_default();
    let is_part = matches!(name, "mask_inner" | "mask_outer");
    let ty = match arguments.first().cloned().flatten() {
        Some(ty) => ty,
        None if is_part => CqlType::Text,
        None => return Err(untyped_argument(text, &format!("{name}({shown})"))),
    };
    let body: Body = match name {
        "mask_null" => Arc::new(|_, _| Ok(None)),
        "mask_replace" => {
            Arc::new(|_, values| Ok(values.get(1).copied().flatten().map(<[u8]>::to_vec)))
        }
        "mask_default" => {
            let masked = default_of(&ty);
            Arc::new(move |_, _| Ok(masked.clone()))
        }
        "mask_hash" => Arc::new(|_, values| hash(values)),
        _ => {
            check_edges(name, arguments, texts)?;
            return part(name, ty, text, arguments.len());
        }
    };
    let (types, returns) = match name {
        "mask_replace" => (vec![ty.clone(), ty.clone()], ty),
        "mask_hash" => {
            let types = [ty, CqlType::Text].into_iter().take(arguments.len()).collect();
            (types, CqlType::Blob)
        }
        _ => (vec![ty.clone()], ty),
    };
    Ok(Some(vec![Scalar {
        keyspace: super::scalar::native(),
        name: name.to_owned(),
        arguments: types,
        returns,
        body,
    }]))
}

/// Returns the value that masks every value of a type.
fn default_of(ty: &CqlType) -> Option<Vec<u8>> {
    // The least timeuuid of the first instant.
    const TIMEUUID: u128 = 0x1381_4000_1dd2_11b2_8080_8080_8080_8080;
    Some(match ty {
        CqlType::Native(native) => match native {
            Native::Ascii | Native::Text => b"****".to_vec(),
            Native::Boolean | Native::Tinyint | Native::Varint => vec![0],
            Native::Smallint => vec![0; 2],
            Native::Int | Native::Float | Native::Inet => vec![0; 4],
            Native::Bigint
            | Native::Counter
            | Native::Double
            | Native::Time
            | Native::Timestamp => vec![0; 8],
            Native::Decimal => vec![0; 5],
            Native::Date => crate::value::DATE_EPOCH.to_be_bytes().to_vec(),
            Native::Uuid => vec![0; 16],
            Native::Timeuuid => TIMEUUID.to_be_bytes().to_vec(),
            Native::Duration => vec![0; 3],
            Native::Blob | Native::Empty => Vec::new(),
        },
        CqlType::List { .. } | CqlType::Set { .. } | CqlType::Map { .. } => {
            put_collection(0, std::iter::empty())
        }
        CqlType::Tuple(types) => {
            let parts: Vec<Option<Vec<u8>>> = types.iter().map(default_of).collect();
            put_tuple(parts.iter().map(Option::as_deref))
        }
        CqlType::User { definition, .. } => {
            let parts: Vec<Option<Vec<u8>>> =
                definition.fields.iter().map(|(_, ty)| default_of(ty)).collect();
            put_tuple(parts.iter().map(Option::as_deref))
        }
        CqlType::Vector { element, dimension } => {
            let own = default_of(element)?;
            let mut out = Vec::new();
            for _ in 0..*dimension {
                if element.fixed_size().is_none() {
                    unsigned_vint(own.len() as u64, &mut out);
                }
                out.extend_from_slice(&own);
            }
            out
        }
        CqlType::Custom(_) => Vec::new(),
    })
}

/// Returns the hash of a value, as the algorithm that is named.
fn hash(values: &[Option<&[u8]>]) -> Result<Option<Vec<u8>>, CqlError> {
    let Some(value) = values.first().copied().flatten() else { return Ok(None) };
    let name = match values.get(1) {
        Some(Some(name)) => String::from_utf8_lossy(name).into_owned(),
        _ => "SHA-256".to_owned(),
    };
    match digest(&name, value) {
        Some(digest) => Ok(Some(digest)),
        None => Err(CqlError::invalid(format!("Hash algorithm not found: {name}"))),
    }
}

/// Returns the digest of a value by the name of its algorithm; `None` of an unknown one.
///
/// Source: the names and aliases of `MessageDigest` in Java 17, "Java Security Standard Algorithm
/// Names", read 2026-11. Aliases that are object identifiers are left out.
fn digest(name: &str, value: &[u8]) -> Option<Vec<u8>> {
    Some(match name.to_ascii_uppercase().as_str() {
        "MD2" => md2::Md2::digest(value).to_vec(),
        "MD5" => md5::Md5::digest(value).to_vec(),
        "SHA-1" | "SHA1" | "SHA" => sha1::Sha1::digest(value).to_vec(),
        "SHA-224" | "SHA224" => sha2::Sha224::digest(value).to_vec(),
        "SHA-256" | "SHA256" => sha2::Sha256::digest(value).to_vec(),
        "SHA-384" | "SHA384" => sha2::Sha384::digest(value).to_vec(),
        "SHA-512" | "SHA512" => sha2::Sha512::digest(value).to_vec(),
        "SHA-512/224" | "SHA512/224" => sha2::Sha512_224::digest(value).to_vec(),
        "SHA-512/256" | "SHA512/256" => sha2::Sha512_256::digest(value).to_vec(),
        "SHA3-224" => sha3::Sha3_224::digest(value).to_vec(),
        "SHA3-256" => sha3::Sha3_256::digest(value).to_vec(),
        "SHA3-384" => sha3::Sha3_384::digest(value).to_vec(),
        "SHA3-512" => sha3::Sha3_512::digest(value).to_vec(),
        _ => return None,
    })
}

/// Refuses lengths of edges that are no numbers.
fn check_edges(
    name: &str,
    arguments: &[Option<CqlType>],
    texts: &[String],
) -> Result<(), CqlError> {
    for (ty, text) in arguments.iter().zip(texts).skip(1).take(2) {
        if let Some(ty) = ty.as_ref().filter(|ty| !CqlType::Int.is_value_compatible_with(ty)) {
            return Err(CqlError::invalid(format!(
                "Function system.{name} requires an argument of type int, but found argument {text} of type {ty}"
            )));
        }
    }
    Ok(())
}

/// Creates `mask_inner` and `mask_outer`.
fn part(name: &str, ty: CqlType, text: &str, count: usize) -> Found {
    if !ty.is_string() {
        return Err(CqlError::invalid(format!(
            "Function system.{name} requires an argument of type [text|varchar|ascii], but found argument {text} of type {ty}"
        )));
    }
    let inner = name == "mask_inner";
    let own = name.to_owned();
    let body: Body = Arc::new(move |_, values| {
        let Some(value) = values.first().copied().flatten() else { return Ok(None) };
        let value = String::from_utf8_lossy(value);
        let pad = match values.get(3).copied().flatten() {
            None => '*',
            Some(pad) => {
                let pad = String::from_utf8_lossy(pad);
                let mut chars = pad.chars();
                match (chars.next(), chars.next()) {
                    (Some(only), None) => only,
                    _ => {
                        return Err(CqlError::invalid(format!(
                            "The padding argument for function system.{own} should be single-character, but '{pad}' has {} characters.",
                            pad.chars().count()
                        )));
                    }
                }
            }
        };
        // Null and negative numbers are none.
        let number = |at: usize| {
            let bytes: Option<[u8; 4]> = values.get(at).copied().flatten()?.try_into().ok();
            usize::try_from(i32::from_be_bytes(bytes?)).ok()
        };
        let (begin, end) = (number(1).unwrap_or(0), number(2).unwrap_or(0));
        let size = value.chars().count();
        let is_edge = |at: usize| at < begin || at.saturating_add(end) >= size;
        let masked = value.chars().enumerate().map(|(at, own)| match is_edge(at) != inner {
            true => pad,
            false => own,
        });
        Ok(Some(masked.collect::<String>().into_bytes()))
    });
    let types = [ty.clone(), CqlType::Int, CqlType::Int, CqlType::Text];
    let arguments = types.into_iter().take(count).collect();
    Ok(Some(vec![Scalar {
        keyspace: super::scalar::native(),
        name: name.to_owned(),
        arguments,
        returns: ty,
        body,
    }]))
}
