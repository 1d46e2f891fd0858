//! SASL PLAIN: authorisation id, NUL, name, NUL, password.
//!
//! Source: RFC 4616, read 2026-11; Cassandra ignores the authorisation id.

use std::fmt;

use shelfmark_cql_protocol::{CqlError, ErrorCode};

use crate::limits::CREDENTIAL_SIZE_BYTES_MAX;

/// The role name that a client claims, and its password.
pub(crate) struct LoginAttempt {
    pub(crate) name: String,
    pub(crate) password: String,
}

impl fmt::Debug for LoginAttempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoginAttempt").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Reads the token of AUTH_RESPONSE.
///
/// # Errors
///
/// * `BadCredentials`: it is no PLAIN token.
pub(crate) fn plain(token: Option<&[u8]>) -> Result<LoginAttempt, CqlError> {
    let refused = |text: &str| CqlError::new(ErrorCode::BadCredentials, text);
    let token = token.unwrap_or_default();
    if token.len() > 3 * CREDENTIAL_SIZE_BYTES_MAX {
        return Err(refused("Provided username and/or password are too long"));
    }
    let text = std::str::from_utf8(token).map_err(|_| refused("Credentials are not UTF-8"))?;
    let mut parts = text.split('\0');
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(_), Some(_), Some(""), None) => Err(refused("Password must not be null")),
        (Some(_), Some(name), Some(password), None) => {
            Ok(LoginAttempt { name: name.to_owned(), password: password.to_owned() })
        }
        (_, None, _, _) => Err(refused("Authentication ID must not be null")),
        _ => Err(refused("Password must not be null")),
    }
}
