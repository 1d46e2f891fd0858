//! The check of logins: the role of the start, and those that are stored.
//!
//! Invariant: a wrong name takes as long to refuse as a wrong password.

use std::sync::Arc;

use shelfmark_cql_protocol::{CqlError, ErrorCode};

use super::authority::Authorizer;
use super::password::PasswordHash;
use super::plain::LoginAttempt;
use super::roles::{Credentials, Roles};
use super::user::User;

/// Checks logins.
#[derive(Clone)]
pub struct Login {
    /// Asked first.
    start: OneRole,
    stored: Option<Roles>,
    /// Stands for the hash of roles that are not there.
    nobody: PasswordHash,
    /// Told the name of who was refused.
    listener: Option<RefusalListener>,
    /// The rule that decides what a role may do.
    authorizer: Authorizer,
}

/// Told of refused logins, for a log: the name that was claimed. It must not block.
pub type RefusalListener = Arc<dyn Fn(&str) + Send + Sync>;

impl Login {
    /// Creates the check of the role that the server is started with. `salt` is random.
    #[must_use]
    pub fn new(start: OneRole, salt: [u8; 16]) -> Self {
        let nobody = PasswordHash::new("", salt);
        Self { start, stored: None, nobody, listener: None, authorizer: Authorizer::default() }
    }

    /// Sets the authorizer; without one everybody who has logged in may do everything.
    #[must_use]
    pub fn with_authorizer(self, authorizer: Authorizer) -> Self {
        Self { authorizer, ..self }
    }

    pub(crate) fn authorizer(&self) -> Authorizer {
        self.authorizer
    }

    /// Sets the listener that is called for every refused login.
    #[must_use]
    pub fn telling(self, listener: RefusalListener) -> Self {
        Self { listener: Some(listener), ..self }
    }

    /// Returns the name of the role that the server is started with.
    pub(crate) fn start_role(&self) -> &Arc<str> {
        &self.start.name
    }

    /// Lets the roles of a table log in as well.
    pub(crate) fn and(mut self, roles: Roles) -> Self {
        self.stored = Some(roles);
        self
    }

    fn credentials(&self, role: &str) -> Result<Option<Credentials>, CqlError> {
        if role == &*self.start.name {
            return Ok(Some(Credentials { hash: Some(self.start.hash.clone()), can_login: true }));
        }
        self.stored.as_ref().map_or(Ok(None), |stored| stored.credentials(role))
    }

    /// Returns who a claim proves that a client is. Takes about 50 ms of work, on purpose.
    ///
    /// # Errors
    ///
    /// * `BadCredentials`: name or password are wrong, or the role may not log in.
    pub(crate) fn check(&self, claim: &LoginAttempt) -> Result<User, CqlError> {
        let refused = |text: String| {
            if let Some(listener) = &self.listener {
                listener(&claim.name);
            }
            CqlError::new(ErrorCode::BadCredentials, text)
        };
        let known = self.credentials(&claim.name)?;
        let (hash, can_login) = match &known {
            Some(Credentials { hash: Some(hash), can_login }) => (hash, Some(*can_login)),
            Some(Credentials { hash: None, .. }) | None => (&self.nobody, None),
        };
        let right = hash.verify(&claim.password);
        match can_login {
            Some(true) if right => Ok(User {
                name: Arc::from(claim.name.as_str()),
                start_role: Arc::clone(&self.start.name),
            }),
            Some(false) if right => {
                Err(refused(format!("{} is not permitted to log in", claim.name)))
            }
            _ => Err(refused(format!(
                "Provided username {} and/or password are incorrect",
                claim.name
            ))),
        }
    }
}

/// A role that is given at start.
#[derive(Debug, Clone)]
pub struct OneRole {
    name: Arc<str>,
    hash: PasswordHash,
}

impl OneRole {
    /// Creates the role. `salt` is random.
    #[must_use]
    pub fn new(name: &str, password: &str, salt: [u8; 16]) -> Self {
        Self { name: Arc::from(name), hash: PasswordHash::new(password, salt) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::plain;
    use super::*;

    #[test]
    fn names_and_passwords() {
        let role = OneRole::new("cassandra", "pass word", [7; 16]);
        let login = Login::new(role, [8; 16]);
        let check = |token: &'static [u8]| plain(Some(token)).and_then(|claim| login.check(&claim));
        assert_eq!(&*check(b"\0cassandra\0pass word").unwrap().name, "cassandra");
        for wrong in [&b"\0cassandra\0pass"[..], b"\0other\0pass word", b"\0\0x"] {
            let error = check(wrong).unwrap_err();
            assert_eq!(error.code, ErrorCode::BadCredentials);
            assert!(error.message.starts_with("Provided username"), "{}", error.message);
        }
        for garbage in [
            &b""[..],
            b"\0\0",
            b"\0cassandra\0",
            b"cassandra",
            b"\0cassandra",
            b"\xFF\0a\0b",
            b"\0a\0b\0c",
        ] {
            assert_ne!(check(garbage).unwrap_err().message, "", "{garbage:?}");
        }
    }
}
