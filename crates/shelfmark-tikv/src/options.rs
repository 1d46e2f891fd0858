//! The options of a [`crate::TikvStore`].
//!
//! What it is not: the limits of a commit, which are constants of the driver because every process
//! on a cluster must agree on them.

use std::path::PathBuf;
use std::time::Duration;

use shelfmark_store::{Caps, Durability, Error, ErrorKind, Result};

/// Longest key of the contract, in bytes.
///
/// The cluster takes 8 KiB of *encoded* key (nine bytes for eight), the driver's prefix included.
pub(crate) const KEY_BYTES_MAX: usize = 7 * 1024;
/// Longest value, in bytes: far below one entry of the replicated log (8 MiB), and small enough
/// that a batch of reads fits a message.
pub(crate) const VALUE_BYTES_MAX: usize = 256 * 1024;
/// Largest commit, in bytes. The cluster has no limit of its own; its locks live longer the larger
/// a commit is.
const COMMIT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Most writes in one commit.
const COMMIT_WRITES_MAX: usize = 10_000;
/// Longest name of a space.
const SPACE_BYTES_MAX: usize = 32;

/// Certificates for connections to the cluster, as PEM files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tls {
    /// The authority that signed the cluster's certificates.
    pub authority: PathBuf,
    /// The certificate of this process.
    pub certificate: PathBuf,
    /// The private key of [`Tls::certificate`].
    pub key: PathBuf,
}

/// Options of a store on a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Addresses of placement drivers, `host:port`. One that answers is enough; it names the others.
    pub placement: Vec<String>,
    /// The name of the store's key space on the cluster, of `a-z`, `0-9` and `-`; empty for the one
    /// that a cluster usually has. Stores with different names share a cluster and no key.
    pub space: String,
    /// Certificates; without them connections are not encrypted.
    pub tls: Option<Tls>,
    /// The time for which a call tries before it answers [`ErrorKind::Unavailable`].
    pub patience: Duration,
    /// Greatest age of a snapshot.
    pub snapshot_age_max: Duration,
    /// The time for which replaced versions stay readable before one of the processes has them
    /// collected. Longer than any snapshot.
    pub history: Duration,
    /// True if this process takes its turn at having old versions collected. Off for one that is not a
    /// server: what is old is not its to decide.
    pub collects: bool,
    /// The number of connections to each store of the cluster.
    pub connections: usize,
}

impl Options {
    /// Returns the defaults for placement drivers at `placement`.
    #[must_use]
    pub fn new(placement: Vec<String>) -> Self {
        Self {
            placement,
            space: String::new(),
            tls: None,
            patience: Duration::from_secs(5),
            snapshot_age_max: Duration::from_secs(60),
            history: Duration::from_secs(600),
            collects: true,
            connections: 2,
        }
    }

    /// Checks what can be checked without the cluster.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Invalid`]: no address, a name with other characters, or a history that is
    ///   shorter than a snapshot may live.
    pub(crate) fn check(&self) -> Result<()> {
        let invalid = |message: String| Err(Error::new(ErrorKind::Invalid, message));
        if self.placement.is_empty() || self.placement.iter().any(String::is_empty) {
            return invalid("name a placement driver of the cluster: host:port".to_owned());
        }
        check_space(&self.space)?;
        if self.history < self.snapshot_age_max * 2 {
            return invalid(
                "the history must be at least twice as long as a snapshot lives".into(),
            );
        }
        Ok(())
    }

    /// Returns the limits that the contract names.
    pub(crate) fn caps(&self) -> Caps {
        Caps {
            key_size_bytes_max: KEY_BYTES_MAX,
            value_size_bytes_max: VALUE_BYTES_MAX,
            commit_size_bytes_max: COMMIT_BYTES_MAX,
            commit_writes_max: COMMIT_WRITES_MAX,
            snapshot_age_max: self.snapshot_age_max,
            // Old versions lie on the cluster's disks, not in this process.
            snapshot_bytes_max: u64::MAX,
            stamps_total_order: false,
            is_exclusive: false,
            validates_ranges: false,
            adds_within: true,
            ingests: false,
            holds_copies: false,
            reads_may_wait: true,
            durability: Durability::Sync,
        }
    }
}

/// Checks the name of a space.
///
/// # Errors
///
/// * [`ErrorKind::Invalid`]: it has other characters, or too many.
pub(crate) fn check_space(name: &str) -> Result<()> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if name.len() > SPACE_BYTES_MAX || !name.bytes().all(is_plain) {
        let message =
            format!("{name:?} is no name of a space: at most {SPACE_BYTES_MAX} of a-z, 0-9 and -");
        return Err(Error::new(ErrorKind::Invalid, message));
    }
    Ok(())
}
