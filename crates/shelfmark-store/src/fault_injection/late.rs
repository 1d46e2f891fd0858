//! The thread that reports some outcomes late.
//!
//! Started with the first of them; it ends once the store is closed or dropped and everything was
//! told. Invariant: what is handed over is told exactly once.

use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread::{JoinHandle, ThreadId};
use std::time::Duration;

use crate::sleep::{Sleeper as _, ThreadSleeper};
use crate::threads;

/// A call that reports one outcome.
pub(super) type Telling = Box<dyn FnOnce() + Send>;

#[derive(Default)]
pub(super) struct Late {
    thread: Mutex<Option<Thread>>,
}

struct Thread {
    sender: Sender<Telling>,
    handle: JoinHandle<()>,
}

impl Thread {
    fn id(&self) -> ThreadId {
        self.handle.thread().id()
    }
}

impl Late {
    /// Schedules a report after `wait`; reports at once if no thread can be started.
    pub(super) fn tell(&self, wait: Duration, telling: Telling) {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if thread.is_none() {
            *thread = start(wait).ok();
        }
        let refused = match thread.as_ref() {
            Some(thread) => thread.sender.send(telling).err().map(|error| error.0),
            None => Some(telling),
        };
        // The completion may come back here.
        drop(thread);
        if let Some(telling) = refused {
            telling();
        }
    }

    /// Waits until everything was reported, unless the thread itself calls.
    pub(super) fn finish(&self) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(thread) = thread else { return };
        let is_other = thread.id() != std::thread::current().id();
        drop(thread.sender);
        if is_other {
            // A completion that panicked has told its test so already.
            let _ = thread.handle.join();
        }
    }
}

fn start(wait: Duration) -> std::io::Result<Thread> {
    let (sender, receiver) = mpsc::channel::<Telling>();
    let handle = threads::spawn("meanest-late", move || {
        for telling in receiver {
            ThreadSleeper.sleep(wait);
            telling();
        }
    })?;
    Ok(Thread { sender, handle })
}
