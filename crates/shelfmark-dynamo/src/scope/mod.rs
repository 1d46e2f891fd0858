//! Scopes: the region and the account that a request is signed for, and the set of tables that is
//! theirs.
//!
//! A set is a namespace of the engine. What it is not: authentication; whoever signs for a scope has it,
//! unless the server asks for credentials.
//!
//! Invariant: a request sees the tables, streams, backups, transfers and request tokens of one scope.
//!
//! Which scope has the namespace `dynamodb`, and why: `docs/adr/0020-a-set-of-tables-for-each-scope.md`.

mod account;
mod engine;
mod faces;
mod home;

pub(crate) use engine::{ScopedEngine, namespace_of};
pub(crate) use faces::ScopedFaces;
use home::Home;

use std::borrow::Cow;

use account::{account_of, number_of};

use crate::auth::query_part;
use crate::errors::{Error, Exception, Result, texts};
use crate::limits::{ACCESS_KEY_ID_CHARS_MAX, REGION_CHARS_MAX};

/// The namespace of the tables of whoever has no namespace of his own.
pub(crate) const NAMESPACE: &str = "dynamodb";

/// The tables that requests of different regions and accounts see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scopes {
    /// One set for everybody, whatever a request is signed for.
    #[default]
    Shared,
    /// A set for each region and account.
    Separate,
}

/// A region and an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Scope {
    pub(crate) region: String,
    /// The account's number, or the key's id where that tells of none.
    account: String,
}

impl Scope {
    /// Reads the credential of a signature, `KEY/DATE/REGION/SERVICE/aws4_request`. `None` if it is none:
    /// whether that is refused is the authentication's to say. All keys belong to `account`, if there is
    /// one.
    ///
    /// # Errors
    ///
    /// * UnrecognizedClientException: the key's id or the region is too long for one.
    pub(crate) fn of_credential(credential: &str, account: Option<&str>) -> Result<Option<Self>> {
        let mut parts = credential.rsplitn(5, '/');
        let [_, _, region, _, key_id] = [(); 5].map(|()| parts.next().unwrap_or_default());
        if region.is_empty() || key_id.is_empty() {
            return Ok(None);
        }
        if key_id.len() > ACCESS_KEY_ID_CHARS_MAX || region.len() > REGION_CHARS_MAX {
            return Err(Error::new(Exception::UnrecognizedClient, texts::UNKNOWN_KEY_ID));
        }
        let account = account.map_or_else(|| account_of(key_id), Cow::Borrowed);
        Ok(Some(Self { region: region.to_owned(), account: account.into_owned() }))
    }

    /// Returns the account as ARNs show it: twelve digits.
    pub(crate) fn account_number(&self) -> &str {
        number_of(&self.account)
    }

    /// Returns the name of the scope: `eu-west-1:123456789012`. No other sign than the colon parts it, for
    /// names of namespaces are parts of ids and of dotted names.
    pub(crate) fn name(&self) -> String {
        format!("{}:{}", encoded(&self.region), encoded(&self.account))
    }

    /// Returns the namespace of a scope that does not have [`NAMESPACE`].
    pub(crate) fn namespace(&self) -> String {
        format!("{NAMESPACE}@{}", self.name())
    }
}

/// Returns a part of a name in letters, digits and hyphens; other bytes are `%` and two digits.
fn encoded(part: &str) -> String {
    let mut text = String::with_capacity(part.len());
    for byte in part.bytes() {
        match byte {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'-' | b'_' => text.push(char::from(byte)),
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

/// Returns the part of a name that [`encoded`] wrote.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, behind @ ..] = rest {
        rest = behind;
        let digits = behind.first_chunk::<2>().and_then(|two| std::str::from_utf8(two).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = behind.get(2..).unwrap_or_default();
            }
            _ => bytes.push(*first),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the credential of the signature in a header `Authorization` or, if there is none, in a query.
#[must_use]
pub fn credential_of<'a>(authorization: Option<&'a str>, query: &str) -> Option<Cow<'a, str>> {
    // As every client writes it, and as some test might.
    let behind = |header: &'a str| match header.strip_prefix("AWS4-HMAC-SHA256 Credential=") {
        Some(rest) => Some(rest),
        None => header.split_once("Credential=").map(|(_, rest)| rest),
    };
    if let Some(rest) = authorization.and_then(behind) {
        let end = rest.bytes().position(|own| matches!(own, b',' | b' ')).unwrap_or(rest.len());
        return rest.get(..end).map(Cow::Borrowed);
    }
    query_part(query, "X-Amz-Credential").map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(credential: &str, expected: Option<(&str, &str)>) {
        let scope = Scope::of_credential(credential, None).unwrap();
        let found = scope.map(|scope| (scope.name(), scope.account_number().to_owned()));
        let expected = expected.map(|(name, number)| (name.to_owned(), number.to_owned()));
        assert_eq!(found, expected, "{credential}");
    }

    #[test]
    fn a_scope_is_the_region_and_the_account_of_a_credential() {
        let zeros = "000000000000";
        check("test/20261124/eu-west-1/dynamodb/aws4_request", Some(("eu-west-1:test", zeros)));
        let number = "123456789012";
        check(
            "123456789012/20261124/local/dynamodb/aws4_request",
            Some(("local:123456789012", number)),
        );
        check("a/b.c/20261124/x y/dynamodb/aws4_request", Some(("x%20y:a%2Fb%2Ec", zeros)));
        for odd in ["", "test", "test/eu-west-1", "/20261124/eu-west-1/dynamodb/aws4_request"] {
            check(odd, None);
        }
        let long = format!("{}/20261124/eu-west-1/dynamodb/aws4_request", "x".repeat(200));
        assert!(Scope::of_credential(&long, None).is_err());
    }

    #[test]
    fn names_of_different_scopes_differ() {
        let of = |region: &str, account: &str| Scope {
            region: region.to_owned(),
            account: account.to_owned(),
        };
        assert_ne!(of("a:b", "c").name(), of("a", "b:c").name());
        for part in ["", "a/b.c", "123456789012", "100%", "%2", "ä:%41"] {
            assert_eq!(decoded(&encoded(part)), part);
        }
        assert_ne!(of("a%2F", "c").name(), of("a/", "c").name());
        assert!(!of("a.b", "c.d").namespace().contains('.'), "names of tables are split there");
    }

    #[test]
    fn credentials_are_found_in_headers_and_queries() {
        let header = "AWS4-HMAC-SHA256 Credential=k/d/r/s/t, SignedHeaders=host, Signature=0";
        assert_eq!(credential_of(Some(header), "").as_deref(), Some("k/d/r/s/t"));
        assert_eq!(credential_of(Some("Credential=k/d/r/s/t"), "").as_deref(), Some("k/d/r/s/t"));
        let query = "X-Amz-Algorithm=a&X-Amz-Credential=k%2Fd%2Fr%2Fs%2Ft";
        assert_eq!(credential_of(None, query).as_deref(), Some("k/d/r/s/t"));
        assert_eq!(credential_of(Some("Bearer x"), "a=b"), None);
    }
}
