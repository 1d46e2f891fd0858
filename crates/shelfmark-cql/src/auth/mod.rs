//! Who may connect: PasswordAuthenticator, SASL PLAIN, bcrypt.
//!
//! What it is not: what a role may do once it is in; that is decided where statements run.
//!
//! Invariant: no password and no hash of one reaches a log, an error or a `Debug`. A wrong name
//! takes as long to refuse as a wrong password.

mod password;
mod plain;
mod roles;

use std::sync::Arc;

pub use password::PasswordHash;
pub(crate) use plain::{Claim, plain};
pub(crate) use roles::{Roles, run as run_role_statement};

use crate::error::{CqlError, ErrorCode};

/// What is known of a role when it logs in.
#[derive(Debug, Clone)]
pub struct Credentials {
    /// The hash of its password; without one it cannot log in.
    pub hash: Option<PasswordHash>,
    /// Whether it may log in at all.
    pub can_login: bool,
}

/// Where roles are looked up.
pub trait RoleSource: Send + Sync {
    /// Returns what is known of a role; `None` if there is none of this name.
    ///
    /// # Errors
    ///
    /// * Those of reading the table of roles.
    fn credentials(&self, role: &str) -> Result<Option<Credentials>, CqlError>;
}

/// Checks logins.
#[derive(Clone)]
pub struct Login {
    /// Asked in order; the first that knows a role counts.
    sources: Vec<Arc<dyn RoleSource>>,
    /// Stands for the hash of roles that are not there.
    nobody: PasswordHash,
}

impl Login {
    /// Creates the check of the roles of `roles`. `salt` is random.
    #[must_use]
    pub fn new(roles: Arc<dyn RoleSource>, salt: [u8; 16]) -> Self {
        Self { sources: vec![roles], nobody: PasswordHash::new("", salt) }
    }

    /// Adds roles that are looked up after the others.
    pub(crate) fn and(mut self, roles: Arc<dyn RoleSource>) -> Self {
        self.sources.push(roles);
        self
    }

    fn credentials(&self, role: &str) -> Result<Option<Credentials>, CqlError> {
        for source in &self.sources {
            if let Some(found) = source.credentials(role)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Returns the role that a claim proves. Takes about 50 ms of work, on purpose.
    ///
    /// # Errors
    ///
    /// * `BadCredentials`: name or password are wrong, or the role may not log in.
    pub(crate) fn check(&self, claim: &Claim) -> Result<Arc<str>, CqlError> {
        let refused = |text: String| CqlError::new(ErrorCode::BadCredentials, text);
        let known = self.credentials(&claim.name)?;
        let (hash, can_login) = match &known {
            Some(Credentials { hash: Some(hash), can_login }) => (hash, Some(*can_login)),
            Some(Credentials { hash: None, .. }) | None => (&self.nobody, None),
        };
        let right = hash.verify(&claim.password);
        match can_login {
            Some(true) if right => Ok(Arc::from(claim.name.as_str())),
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

/// One role that is given at start.
#[derive(Debug)]
pub struct OneRole {
    name: String,
    hash: PasswordHash,
}

impl OneRole {
    /// Creates the role. `salt` is random.
    #[must_use]
    pub fn new(name: &str, password: &str, salt: [u8; 16]) -> Self {
        Self { name: name.to_owned(), hash: PasswordHash::new(password, salt) }
    }
}

impl RoleSource for OneRole {
    fn credentials(&self, role: &str) -> Result<Option<Credentials>, CqlError> {
        let credentials = Credentials { hash: Some(self.hash.clone()), can_login: true };
        Ok((role == self.name).then_some(credentials))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_passwords() {
        let role = OneRole::new("cassandra", "pass word", [7; 16]);
        let login = Login::new(Arc::new(role), [8; 16]);
        let check = |token: &'static [u8]| plain(Some(token)).and_then(|claim| login.check(&claim));
        assert_eq!(&*check(b"\0cassandra\0pass word").unwrap(), "cassandra");
        for wrong in [&b"\0cassandra\0pass"[..], b"\0other\0pass word", b"\0\0", b"\0other\0"] {
            let error = check(wrong).unwrap_err();
            assert_eq!(error.code, ErrorCode::BadCredentials);
            assert!(error.message.starts_with("Provided username"), "{}", error.message);
        }
        for garbage in [&b""[..], b"cassandra", b"\0cassandra", b"\xFF\0a\0b", b"\0a\0b\0c"] {
            assert_ne!(check(garbage).unwrap_err().message, "", "{garbage:?}");
        }
    }
}
