//! Hashes of passwords, as Cassandra's table of roles holds them.

use std::fmt;

use crate::limits::HASH_COST_MAX;

/// Doublings of work per hash.
///
/// Source: Cassandra 5.0, `CassandraRoleManager`, 2^10 rounds, read 2026-11.
const ROUNDS_LOG2: u32 = 10;

/// Letters of a hash's salt, of 16 bytes, and of the hash itself, of 23.
const SALT_AND_HASH_LETTERS: usize = 53;

/// The reason why a text is no acceptable hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadHash {
    /// The text is no hash of bcrypt's.
    None,
    /// The hash has so many doublings, more than [`HASH_COST_MAX`]: each attempt to log in would
    /// take seconds, or years.
    Costly(u32),
}

/// A bcrypt hash, such as `$2a$10$…`.
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordHash(String);

impl PasswordHash {
    /// Hashes a password. `salt` is random. Takes about 50 ms of work, on purpose.
    #[must_use]
    pub fn new(password: &str, salt: [u8; 16]) -> Self {
        let hash = bcrypt::hash_with_salt(password.as_bytes(), ROUNDS_LOG2, salt);
        // The cost is in range; an empty hash fits no password.
        Self(hash.map(|hash| hash.format_for_version(bcrypt::Version::TwoA)).unwrap_or_default())
    }

    /// Takes over a hash that was made elsewhere (`HASHED PASSWORD`). Computes nothing.
    ///
    /// # Errors
    ///
    /// * [`BadHash`]: the text is no hash, or whoever logs in would compute for too long.
    pub fn from_text(text: &str) -> Result<Self, BadHash> {
        let mut parts = text.split('$');
        let (Some(""), Some("2a" | "2b" | "2x" | "2y"), Some(cost), Some(rest), None) =
            (parts.next(), parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(BadHash::None);
        };
        let letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'/');
        if rest.len() != SALT_AND_HASH_LETTERS || !rest.bytes().all(letter) {
            return Err(BadHash::None);
        }
        let digits = cost.len() == 2 && cost.bytes().all(|byte| byte.is_ascii_digit());
        match cost.parse() {
            Ok(4..=HASH_COST_MAX) if digits => Ok(Self(text.to_owned())),
            Ok(cost @ 4..=31) if digits => Err(BadHash::Costly(cost)),
            _ => Err(BadHash::None),
        }
    }

    /// Takes back a hash that was checked when it was stored.
    pub(crate) fn stored(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Returns the hash as the table of roles holds it.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Tells whether this is the hash of `password`.
    #[must_use]
    pub fn verify(&self, password: &str) -> bool {
        bcrypt::verify(password, &self.0).unwrap_or(false)
    }
}

impl fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PasswordHash(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REST: &str = "JSJEMFm6GeaW9XxT5JIheuEtPvat6i7uKbnTcxX3c1wshIIsGyUtG";

    #[test]
    fn hashes_are_taken_up_to_a_cost_that_logins_bear() {
        let of = |head: &str| PasswordHash::from_text(&format!("{head}{REST}"));
        for head in ["$2a$04$", "$2a$10$", "$2b$14$", "$2y$12$", "$2x$10$"] {
            assert!(of(head).is_ok(), "{head}");
        }
        assert_eq!(of("$2a$15$"), Err(BadHash::Costly(15)));
        assert_eq!(of("$2a$31$"), Err(BadHash::Costly(31)));
        for head in ["$2a$03$", "$2a$32$", "$2a$+9$", "$2a$9$", "$2z$10$", "2a$10$", "$2a$10$$", ""]
        {
            assert_eq!(of(head), Err(BadHash::None), "{head}");
        }
        for text in [format!("$2a$10${REST}x"), format!("$2a$10${}", &REST[1..]), "$2a$10$".into()]
        {
            assert_eq!(PasswordHash::from_text(&text), Err(BadHash::None), "{text}");
        }
        let own = PasswordHash::new("secret", [7; 16]);
        let taken = PasswordHash::from_text(own.text()).unwrap();
        assert!(taken.verify("secret") && !taken.verify("other"));
    }
}
