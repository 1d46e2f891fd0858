//! The key spaces of a cluster, seen from outside: which there are, and their end.
//!
//! What it is not: a server. It writes no record of its own and renews none, so nobody sees it.
//!
//! Invariant: nothing is deleted but keys of the space that is named.

use std::sync::Arc;

use bytes::Bytes;
use shelfmark_store::clock::SystemClock;
use shelfmark_store::{Error, ErrorKind, Result};
use tikv_client::BoundRange;

use crate::commit::{self, Mutations, commit_mutations};
use crate::keys::{self, Keys};
use crate::options::{Options, check_space};
use crate::peers;
use crate::retry::{self, Patience};
use crate::shared::Shared;
use crate::snapshot::reading;
use crate::wire::OP_DELETE;

/// Keys that one transaction deletes.
const DELETED_AT_ONCE: u32 = 1000;

/// The spaces of a cluster.
pub struct Spaces {
    shared: Arc<Shared>,
}

impl Spaces {
    /// Connects to the cluster of `options`, whose own space does not matter.
    ///
    /// Cost: several round trips.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Invalid`]: the options contradict themselves, or a certificate cannot be read.
    /// * [`ErrorKind::Unavailable`]: no placement driver answers. Check the addresses, start the
    ///   cluster.
    pub fn connect(options: Options) -> Result<Self> {
        Ok(Self { shared: Shared::connect(options, Arc::new(SystemClock::new()))? })
    }

    /// Returns the names of the spaces that hold keys and whose names begin with `prefix`, in order.
    ///
    /// Cost: a round trip for each space.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Unavailable`], [`ErrorKind::Busy`]: the cluster did not answer. Try again.
    pub fn names(&self, prefix: &str) -> Result<Vec<String>> {
        let (mut start, end) = keys::spaces(prefix);
        let mut names = Vec::new();
        while let Some(key) = self.some_keys((&start, &end), 1)?.into_iter().next() {
            match keys::space_of(&key) {
                Some(name) => {
                    start = Keys::new(name).whole().1;
                    names.push(name.to_owned());
                }
                // Not ours, or not of this version.
                None => start = [&key[..], &[0]].concat(),
            }
        }
        Ok(names)
    }

    /// Returns true if a server has `space` open, as far as leases say: one that was killed counts until
    /// its lease is over.
    ///
    /// Cost: two round trips.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Unavailable`], [`ErrorKind::Busy`]: the cluster did not answer. Try again.
    pub fn is_in_use(&self, space: &str) -> Result<bool> {
        let (shared, keys) = (Arc::clone(&self.shared), Keys::new(space));
        self.shared.call(async move {
            let moment = commit::begin(&shared).await?;
            peers::is_anyone(&shared, &keys, &moment).await
        })
    }

    /// Deletes every key of `space`, those of its servers' leases too; returns how many there were.
    ///
    /// Whoever still writes there leaves keys behind it. What was deleted stays on the cluster's disks as
    /// old versions until the next collection.
    ///
    /// Cost: five round trips for each thousand keys.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Invalid`]: that is no name of a space.
    /// * [`ErrorKind::Unavailable`], [`ErrorKind::Busy`], [`ErrorKind::Undetermined`]: the cluster did
    ///   not answer, and a part may be deleted. Try again.
    pub fn remove(&self, space: &str) -> Result<u64> {
        check_space(space)?;
        let (start, end) = Keys::new(space).whole();
        let mut deleted = 0;
        loop {
            let keys = self.some_keys((&start, &end), DELETED_AT_ONCE)?;
            if keys.is_empty() {
                return Ok(deleted);
            }
            deleted += keys.len() as u64;
            let shared = Arc::clone(&self.shared);
            self.shared.call(async move { delete(&shared, keys).await })?;
        }
    }

    /// Returns the first keys of the cluster in a range.
    fn some_keys(&self, (start, end): (&[u8], &[u8]), count: u32) -> Result<Vec<Vec<u8>>> {
        let (shared, range) = (Arc::clone(&self.shared), start.to_vec()..end.to_vec());
        self.shared.call(async move {
            let moment = commit::begin(&shared).await?;
            retry::read(shared.options.patience, || {
                let mut snapshot = shared.clients.next().snapshot(moment.at.clone(), reading());
                let range = BoundRange::from(range.clone());
                async move { Ok(snapshot.scan_keys(range, count).await?.map(Vec::from).collect()) }
            })
            .await
        })
    }
}

/// Deletes keys of the cluster, whatever they hold.
async fn delete(shared: &Arc<Shared>, keys: Vec<Vec<u8>>) -> Result<()> {
    let mut patience = Patience::new(shared.options.patience);
    loop {
        let moment = commit::begin(shared).await?;
        let deletions = keys.iter().map(|key| (key.clone(), (OP_DELETE, Bytes::new())));
        let mutations: Mutations = deletions.collect();
        let age = std::time::Duration::ZERO;
        match commit_mutations(shared, moment.version, age, mutations).await {
            Ok(_) => return Ok(()),
            // Somebody wrote at the same time.
            Err(error) if error.kind() == ErrorKind::Conflict => {
                if !patience.wait().await {
                    let message = "others write to the space all the time";
                    return Err(Error::new(ErrorKind::Busy, message).with_source(error));
                }
            }
            Err(error) => return Err(error),
        }
    }
}
