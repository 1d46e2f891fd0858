//! Waits a while for work whose client must not wait for all of it.
//!
//! Clients give a request up after half a minute or a minute and send it again, and that one is refused: the
//! index is there, expiry is on. So a small table has everything when the answer comes, and a large one
//! says that it is on its way, as the service does.
//!
//! Invariant: the work is such that it is found and finished by the background after a stop.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use shelfmark_engine::threads;

use crate::errors::{Error, Exception, Result, texts};

/// The time for which a request waits. *Ours*: well below the least read timeout of an SDK, 30 seconds.
const WAIT_MAX: Duration = Duration::from_secs(10);

/// Most threads with such work in this process. *Ours*: beyond it a request waits for its work to the end,
/// so that clients who ask again and again are held up by the pool's places and not by the machine.
const THREADS_MAX: usize = 16;

/// The threads that have work.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// A place among the threads; given back when it is dropped.
struct Place;

impl Place {
    fn take() -> Option<Self> {
        let free = |threads: usize| (threads < THREADS_MAX).then_some(threads + 1);
        THREADS.fetch_update(Ordering::AcqRel, Ordering::Acquire, free).ok().map(|_| Self)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        THREADS.fetch_sub(1, Ordering::AcqRel);
    }
}

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
    let Some(place) = Place::take() else { return Ok(Some(work())) };
    let (sender, receiver) = mpsc::sync_channel(1);
    let body = move || {
        let _place = place;
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
        // Without a free place the request itself does its work.
        let places: Vec<Place> = std::iter::from_fn(Place::take).collect();
        let own = std::thread::current().id();
        let by = || std::thread::current().id();
        assert_eq!(run(Duration::ZERO, by).unwrap(), Some(own));
        drop(places);
        assert_ne!(run(Duration::from_secs(60), by).unwrap(), Some(own));
    }
}
