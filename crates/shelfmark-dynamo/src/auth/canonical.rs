//! The canonical form of a request, and its signature.
//!
//! Invariant: what is signed here is what the signing side signs, byte by byte; anything that
//! reached the server changed gives another signature.

use std::fmt::Write as _;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

use super::claim::Claim;
use super::{ALGORITHM, Scope, SignedRequest};

/// Returns the canonical request.
pub(super) fn request(request: &SignedRequest<'_>, claim: &Claim) -> String {
    let mut out = String::new();
    let path = if request.path.is_empty() { "/" } else { request.path };
    out.push_str(request.method);
    out.push('\n');
    // Encoded once more than it was sent, but for the slashes.
    encode(path.as_bytes(), b"/", &mut out);
    out.push('\n');
    put_query(request.query, claim.is_in_query, &mut out);
    out.push('\n');
    let names = claim.signed_headers();
    for name in &names {
        out.push_str(name);
        out.push(':');
        put_header(request, name, &mut out);
        out.push('\n');
    }
    out.push('\n');
    out.push_str(&names.join(";"));
    out.push('\n');
    out.push_str(&hex::encode(Sha256::digest(request.body)));
    out
}

/// Writes a header in canonical form: values of equal names are joined by commas, blanks at the
/// ends are cut, and repeated ones become one.
fn put_header(request: &SignedRequest<'_>, name: &str, out: &mut String) {
    let values = request.headers.iter().filter(|(own, _)| *own == name);
    for (at, (_, value)) in values.enumerate() {
        if at > 0 {
            out.push(',');
        }
        let value = String::from_utf8_lossy(value);
        let words: Vec<&str> = value.split([' ', '\t']).filter(|word| !word.is_empty()).collect();
        out.push_str(&words.join(" "));
    }
}

fn put_query(query: &str, without_signature: bool, out: &mut String) {
    let mut pairs: Vec<(String, String)> = query_pairs(query)
        .into_iter()
        .filter(|(name, _)| !(without_signature && name == "X-Amz-Signature"))
        .map(|(name, value)| {
            let (mut one, mut other) = (String::new(), String::new());
            encode(name.as_bytes(), b"", &mut one);
            encode(decode(&value).as_bytes(), b"", &mut other);
            (one, other)
        })
        .collect();
    pairs.sort();
    for (at, (name, value)) in pairs.iter().enumerate() {
        if at > 0 {
            out.push('&');
        }
        out.push_str(name);
        out.push('=');
        out.push_str(value);
    }
}

/// Splits a query into decoded names and values as they were sent.
pub(super) fn query_pairs(query: &str) -> Vec<(String, String)> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(name), value.to_owned())
        })
        .collect()
}

/// Returns the value of a parameter of a query.
pub(crate) fn query_part(query: &str, name: &str) -> Option<String> {
    let part = |(own, value): &(String, String)| (own == name).then(|| decode(value));
    query_pairs(query).iter().find_map(part)
}

/// Decodes `%` escapes; an invalid escape stays as it is.
pub(super) fn decode(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        let escaped =
            after.split_at_checked(2).filter(|_| *byte == b'%').and_then(|(hex, left)| {
                let number = u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok()?;
                Some((number, left))
            });
        match escaped {
            Some((number, left)) => {
                out.push(number);
                rest = left;
            }
            None => out.push(*byte),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Percent-encodes everything but the unreserved characters and those of `also`.
fn encode(bytes: &[u8], also: &[u8], out: &mut String) {
    for byte in bytes {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(byte) || also.contains(byte) {
            out.push(char::from(*byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
}

/// Returns the string to sign.
pub(super) fn string_to_sign(time: &str, scope: &Scope<'_>, canonical: &str) -> String {
    let Scope { date, region, service, terminator, .. } = scope;
    let hash = hex::encode(Sha256::digest(canonical.as_bytes()));
    format!("{ALGORITHM}\n{time}\n{date}/{region}/{service}/{terminator}\n{hash}")
}

/// Returns true, in constant time, if `signature`, in hexadecimal, is that of `to_sign`.
pub(super) fn is_signature(
    secret: &str,
    scope: &Scope<'_>,
    to_sign: &str,
    signature: &str,
) -> bool {
    let (Some(mut mac), Some(given)) = (keyed(secret, scope), unhex(signature)) else {
        return false;
    };
    mac.update(to_sign.as_bytes());
    mac.verify_slice(&given).is_ok()
}

/// Returns the signature of a text, in hexadecimal.
pub(super) fn signature(secret: &str, scope: &Scope<'_>, to_sign: &str) -> Option<String> {
    let mut mac = keyed(secret, scope)?;
    mac.update(to_sign.as_bytes());
    Some(hex::encode(mac.finalize().into_bytes()))
}

/// Returns the code that is keyed by a secret for a scope.
fn keyed(secret: &str, scope: &Scope<'_>) -> Option<Hmac<Sha256>> {
    let first = format!("AWS4{secret}").into_bytes();
    let key = [scope.date, scope.region, scope.service, scope.terminator].iter().try_fold(
        first,
        |key, part| {
            let mut mac = Hmac::<Sha256>::new_from_slice(&key).ok()?;
            mac.update(part.as_bytes());
            Some(mac.finalize().into_bytes().to_vec())
        },
    );
    key.and_then(|key| Hmac::<Sha256>::new_from_slice(&key).ok())
}

/// Reads lower-case hexadecimal, as signatures are written.
fn unhex(text: &str) -> Option<Vec<u8>> {
    let is_lower = !text.bytes().any(|byte| byte.is_ascii_uppercase());
    hex::decode(text).ok().filter(|_| is_lower)
}
