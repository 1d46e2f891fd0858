//! Waits a while for work whose client must not wait for all of it.
//!
//! Clients give a request up after half a minute or a minute and send it again, and that one is refused: the
//! index is there, expiry is on. So a small table has everything when the answer comes, and a large one
//! says that it is on its way, as the service does.
//!
//! Invariant: the work is such that it is found and finished by the background after a stop.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use shelfmark_engine::threads;

use crate::errors::{Error, Exception, Result, texts};

/// The time for which a request waits. *Ours*: well below the least read timeout of an SDK, 30 seconds.
const WAIT_MAX: Duration = Duration::from_secs(10);

/// Runs work on a thread of its own. `None` if it takes longer than [`WAIT_MAX`]; it goes on then.
///
/// # Errors
///
/// * InternalServerError: there is no thread for it, or it panicked.
pub(super) fn for_a_while<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<Option<T>> {
    run(WAIT_MAX, work)
}

fn run<T: Send + 'static>(
    wait: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<Option<T>> {
    let internal = || Error::new(Exception::InternalServerError, texts::INTERNAL);
    let (sender, receiver) = mpsc::sync_channel(1);
    let body = move || {
        // Nobody may be there any more to be told.
        let _ = sender.send(work());
    };
    threads::spawn("long work", body).map_err(|_| internal())?;
    match receiver.recv_timeout(wait) {
        Ok(outcome) => Ok(Some(outcome)),
        Err(RecvTimeoutError::Timeout) => Ok(None),
        Err(RecvTimeoutError::Disconnected) => Err(internal()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_waited_for_and_goes_on_where_it_takes_too_long() {
        assert_eq!(run(Duration::from_secs(60), || 7).unwrap(), Some(7));
        let (go, wait) = mpsc::channel::<()>();
        let (done, finished) = mpsc::channel();
        let work = move || {
            wait.recv().unwrap();
            done.send(8).unwrap();
        };
        assert_eq!(run(Duration::ZERO, work).unwrap(), None);
        go.send(()).unwrap();
        assert_eq!(finished.recv().unwrap(), 8);
    }
}
