//! Authenticates requests: AWS Signature Version 4, verified in full.
//!
//! The signature is over the method, the path, the query, some headers and the body as it was sent,
//! so a server asks before it decompresses anything. Any region is taken, since clients bring the
//! one they have; the service must be `dynamodb`.
//!
//! What it is not: a look at what a request asks for. What a key may do is its [`Policy`]'s, and asked
//! where operations begin.
//!
//! Invariant: no answer and no log line holds a secret, and signatures are compared in constant
//! time.
//!
//! Source: AWS General Reference, "Signature Version 4 signing process"; order and texts of the
//! refusals as observed on the service and noted by dynalite; read 2026-11.

mod canonical;
mod claim;
mod current;
mod policy;
mod sign;
mod time;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

pub(crate) use self::canonical::query_part;
use self::claim::Claim;
pub(crate) use self::current::CurrentCredentials;
pub use self::policy::{Access, Policy};
pub use self::sign::Signer;
use crate::errors::{Exception, texts};

/// Largest difference between a request's time and ours, in seconds.
///
/// Source: DynamoDB answers "… - 15 min." for requests that are older, read 2026-11.
const SKEW_SECONDS_MAX: i64 = 15 * 60;

/// Longest value of the Authorization header, in bytes. A header of the SDKs takes about 300.
///
/// Source: ours.
const AUTHORIZATION_BYTES_MAX: usize = 16 * 1024;

/// The service that credentials are scoped to.
const SERVICE: &str = "dynamodb";
/// The last part of a credential's scope.
const TERMINATOR: &str = "aws4_request";
/// The one algorithm.
const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// A request as it was received, for [`Credentials::check`].
#[derive(Debug, Clone)]
pub struct SignedRequest<'a> {
    /// The method, such as `POST`.
    pub method: &'a str,
    /// The path as it was sent, such as `/`.
    pub path: &'a str,
    /// The text after the `?`, as it was sent; empty if there is none.
    pub query: &'a str,
    /// The headers, names in lower case, in the order in which they came.
    pub headers: Vec<(&'a str, &'a [u8])>,
    /// The body as it was sent.
    pub body: &'a [u8],
}

impl<'a> SignedRequest<'a> {
    /// Returns the first header of this name.
    fn header(&self, name: &str) -> Option<&'a str> {
        let found = self.headers.iter().find(|(own, _)| *own == name)?;
        std::str::from_utf8(found.1).ok()
    }
}

/// The reason why a request is not authenticated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The exception.
    pub exception: Exception,
    /// The message for the client.
    pub message: String,
}

impl Refusal {
    fn new(exception: Exception, message: impl Into<String>) -> Self {
        Self { exception, message: message.into() }
    }
}

/// Key ids with their secrets and policies.
#[derive(Clone, Default)]
pub struct Credentials {
    keys: BTreeMap<String, Key>,
}

/// The secret and policy of a key id.
#[derive(Clone)]
struct Key {
    secret: String,
    /// The policy; without one, everything is allowed.
    policy: Option<Arc<Policy>>,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.keys.keys()).finish()
    }
}

impl Credentials {
    /// Creates an empty list, which authenticates nobody.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a key id with its secret, which may do everything.
    #[must_use]
    pub fn with(mut self, key_id: impl Into<String>, secret: impl Into<String>) -> Self {
        self.keys.insert(key_id.into(), Key { secret: secret.into(), policy: None });
        self
    }

    /// Adds a key id with its secret and a policy.
    #[must_use]
    pub fn with_policy(
        mut self,
        key_id: impl Into<String>,
        secret: impl Into<String>,
        policy: Policy,
    ) -> Self {
        let policy = Some(Arc::new(policy));
        self.keys.insert(key_id.into(), Key { secret: secret.into(), policy });
        self
    }

    /// Returns the policy of a key; `None` if it may do everything.
    #[must_use]
    pub fn policy(&self, key_id: &str) -> Option<&Arc<Policy>> {
        self.keys.get(key_id)?.policy.as_ref()
    }

    /// Returns true if there are no keys.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Verifies a request's signature at a time, in milliseconds since the Unix epoch, and returns
    /// the key id that it was made with.
    ///
    /// # Errors
    ///
    /// * [`Refusal`]: what the client must be answered. Nothing of the request may be done.
    pub fn check(&self, request: &SignedRequest<'_>, now_ms: i64) -> Result<String, Refusal> {
        let claim = Claim::of(request)?;
        let (scope, secret) = self.check_claim(&claim, request, now_ms)?;
        let canonical = canonical::request(request, &claim);
        let to_sign = canonical::string_to_sign(&claim.time, &scope, &canonical);
        if canonical::is_signature(secret, &scope, &to_sign, &claim.signature) {
            Ok(scope.key_id.to_owned())
        } else {
            Err(invalid_signature(texts::WRONG_SIGNATURE))
        }
    }

    /// Checks everything of a request's signature headers but the signature itself, before the body
    /// is read.
    ///
    /// # Errors
    ///
    /// * [`Refusal`]: as of [`Credentials::check`], which would refuse it for the same reason.
    pub fn check_head(&self, request: &SignedRequest<'_>, now_ms: i64) -> Result<(), Refusal> {
        let claim = Claim::of(request)?;
        self.check_claim(&claim, request, now_ms).map(|_| ())
    }

    /// Checks a claim, and returns its scope and the secret that it must be signed with.
    fn check_claim<'c>(
        &self,
        claim: &'c Claim,
        request: &SignedRequest<'_>,
        now_ms: i64,
    ) -> Result<(Scope<'c>, &str), Refusal> {
        check_time(claim, now_ms)?;
        let names = claim.signed_headers();
        let must_be_signed = ["host", "x-amz-target"];
        for name in must_be_signed {
            let is_sent = name == "host" || request.header(name).is_some();
            if is_sent && !names.contains(&name) {
                return Err(invalid_signature(texts::unsigned_header(name)));
            }
        }
        if claim.algorithm != ALGORITHM {
            return Err(incomplete_signature(texts::unsupported_algorithm(&claim.algorithm)));
        }
        let scope = claim.scope()?;
        check_scope(&scope, &claim.time)?;
        let Some(Key { secret, .. }) = self.keys.get(scope.key_id) else {
            return Err(Refusal::new(Exception::UnrecognizedClient, texts::UNKNOWN_KEY_ID));
        };
        Ok((scope, secret))
    }
}

/// The scope of a credential: `key id/date/region/service/terminator`.
struct Scope<'a> {
    key_id: &'a str,
    date: &'a str,
    region: &'a str,
    service: &'a str,
    terminator: &'a str,
}

fn incomplete_signature(message: impl Into<String>) -> Refusal {
    Refusal::new(Exception::IncompleteSignature, message)
}

fn invalid_signature(message: impl Into<String>) -> Refusal {
    Refusal::new(Exception::InvalidSignature, message)
}

fn check_time(claim: &Claim, now_ms: i64) -> Result<(), Refusal> {
    let Some(at) = time::seconds_of(&claim.time) else {
        return Err(incomplete_signature(texts::date_expected(&claim.time)));
    };
    let now = now_ms.div_euclid(1000);
    if at.abs_diff(now) <= SKEW_SECONDS_MAX.unsigned_abs() {
        return Ok(());
    }
    let minutes = SKEW_SECONDS_MAX / 60;
    Err(invalid_signature(if at < now {
        let least = time::basic_format(now - SKEW_SECONDS_MAX);
        texts::signature_expired(&claim.time, &least, &time::basic_format(now), minutes)
    } else {
        let most = time::basic_format(now + SKEW_SECONDS_MAX);
        texts::signature_early(&claim.time, &most, &time::basic_format(now), minutes)
    }))
}

fn check_scope(scope: &Scope<'_>, time: &str) -> Result<(), Refusal> {
    let date = time.get(..8).unwrap_or(time);
    let mut wrong = Vec::new();
    if scope.region.is_empty() {
        wrong.push(texts::scope_region(scope.region));
    }
    if scope.service != SERVICE {
        wrong.push(texts::scope_service(SERVICE));
    }
    if scope.terminator != TERMINATOR {
        wrong.push(texts::scope_terminator(TERMINATOR, scope.terminator));
    }
    if scope.date != date {
        wrong.push(texts::scope_date(scope.date, date, time));
    }
    if wrong.is_empty() { Ok(()) } else { Err(invalid_signature(format!("{} ", wrong.join(" ")))) }
}
