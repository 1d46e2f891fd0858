//! Parses the signature that a request carries in its headers or in its query.

use super::{
    AUTHORIZATION_BYTES_MAX, Refusal, Scope, SignedRequest, incomplete_signature,
    invalid_signature, time,
};
use crate::auth::canonical::{decode, query_pairs};
use crate::errors::{Exception, texts};

/// The parts of a signature, from the headers or from the query.
#[derive(Debug)]
pub(super) struct Claim {
    pub(super) algorithm: String,
    credential: String,
    signed_headers: String,
    pub(super) signature: String,
    /// The time of signing, in the basic format of ISO 8601.
    pub(super) time: String,
    /// True if it came in the query, of which the signature itself is not signed.
    pub(super) is_in_query: bool,
}

impl Claim {
    /// Finds the signature of a request.
    pub(super) fn of(request: &SignedRequest<'_>) -> Result<Self, Refusal> {
        let query: Vec<(String, String)> = query_pairs(request.query);
        let in_query = query.iter().any(|(name, _)| name == "X-Amz-Algorithm");
        let authorization = request
            .header("authorization")
            .map(str::trim)
            .filter(|value| value.starts_with("AWS4-"));
        match (authorization, in_query) {
            (Some(_), true) => Err(invalid_signature(texts::SIGNED_TWICE)),
            (Some(header), false) => Self::of_header(request, header),
            (None, true) => Self::of_query(&query),
            (None, false) => Err(Refusal::new(
                Exception::MissingAuthenticationToken,
                texts::MISSING_AUTHENTICATION,
            )),
        }
    }

    fn of_header(request: &SignedRequest<'_>, header: &str) -> Result<Self, Refusal> {
        if header.len() > AUTHORIZATION_BYTES_MAX {
            return Err(incomplete_signature(texts::AUTHORIZATION_TOO_LONG));
        }
        let (algorithm, rest) = header.split_once([' ', ',']).unwrap_or((header, ""));
        let part = |wanted: &str| {
            rest.split([',', ' '])
                .filter_map(|part| part.split_once('='))
                .find(|(name, _)| *name == wanted)
                .map(|(_, value)| value.to_owned())
        };
        let time = request.header("x-amz-date").or_else(|| request.header("date"));
        let parts = ["Credential", "Signature", "SignedHeaders"].map(|name| (name, part(name)));
        let mut message = String::new();
        for (name, value) in &parts {
            if value.as_ref().is_none_or(String::is_empty) {
                message.push_str(&texts::header_part_missing(name));
            }
        }
        if time.is_none() {
            message.push_str(texts::DATE_HEADER_MISSING);
        }
        let [(_, Some(credential)), (_, Some(signature)), (_, Some(signed_headers))] = parts else {
            return Err(incomplete_signature(message + &texts::authorization_is(header)));
        };
        let (Some(time), true) = (time, message.is_empty()) else {
            return Err(incomplete_signature(message + &texts::authorization_is(header)));
        };
        Ok(Self {
            algorithm: algorithm.to_owned(),
            credential,
            signed_headers,
            signature,
            time: time::basic_of(time.trim()),
            is_in_query: false,
        })
    }

    fn of_query(query: &[(String, String)]) -> Result<Self, Refusal> {
        let part = |wanted: &str| {
            let found = query.iter().find(|(name, _)| name == wanted);
            found.map(|(_, value)| decode(value)).unwrap_or_default()
        };
        let names = [
            "X-Amz-Algorithm",
            "X-Amz-Credential",
            "X-Amz-Signature",
            "X-Amz-SignedHeaders",
            "X-Amz-Date",
        ];
        let mut message = String::new();
        for name in names.iter().filter(|name| part(name).is_empty()) {
            message.push_str(&texts::query_part_missing(name));
        }
        if !message.is_empty() {
            return Err(incomplete_signature(message + texts::REEXAMINE_QUERY));
        }
        let [algorithm, credential, signature, signed_headers, time] = names.map(part);
        Ok(Self { algorithm, credential, signed_headers, signature, time, is_in_query: true })
    }

    /// Lists the names of the headers that are signed.
    pub(super) fn signed_headers(&self) -> Vec<&str> {
        self.signed_headers.split(';').collect()
    }

    /// Splits the credential.
    pub(super) fn scope(&self) -> Result<Scope<'_>, Refusal> {
        let parts: Vec<&str> = self.credential.trim_end_matches('/').split('/').collect();
        let [key_id, date, region, service, terminator] = parts.as_slice() else {
            return Err(incomplete_signature(texts::credential_parts(&self.credential)));
        };
        Ok(Scope { key_id, date, region, service, terminator })
    }
}
