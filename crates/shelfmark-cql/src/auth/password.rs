//! Hashes of passwords, as Cassandra's table of roles holds them.

use std::fmt;

/// Doublings of work per hash.
///
/// Source: Cassandra 5.0, `CassandraRoleManager`, 2^10 rounds, read 2026-11.
const ROUNDS_LOG2: u32 = 10;

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

    /// Takes over a hash that was made elsewhere (`HASHED PASSWORD`); `None` if it is none.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        // Checking any password reads all of the hash.
        bcrypt::verify("", text).is_ok().then(|| Self(text.to_owned()))
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
