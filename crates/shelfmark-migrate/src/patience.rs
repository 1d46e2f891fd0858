//! Commits to a target that may be busy.

use std::time::Duration;

use shelfmark_store::sleep::{Sleeper as _, ThreadSleeper};
use shelfmark_store::{Commit, ErrorKind, Write};

use crate::Side;
use crate::error::Result;

/// Tries in a row after which the target is no longer waited for.
const TRIES_MAX: usize = 200;
/// The wait where the target does not say how long.
const WAIT: Duration = Duration::from_millis(100);

/// Commits, and does so again while the target is busy or nobody knows whether it did: the writes of
/// a migration say the same each time.
pub(crate) fn commit(to: &Side<'_>, writes: &[Write]) -> Result<()> {
    let mut tries = 0;
    loop {
        tries += 1;
        match to.store.commit(Commit::of(writes.to_vec())) {
            Err(error)
                if tries < TRIES_MAX
                    && matches!(error.kind(), ErrorKind::Busy | ErrorKind::Undetermined) =>
            {
                ThreadSleeper.sleep(error.retry_after().unwrap_or(WAIT));
            }
            ended => return Ok(ended.map(drop)?),
        }
    }
}
