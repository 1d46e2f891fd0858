//! The thread that compares a running server's requests, and samples its data, while a model is open.
//!
//! Faces put requests in a queue and never wait: what there is no room for is counted. The thread exists
//! from the first model on; without one a request costs one look at a flag.
//!
//! Invariant: at most `QUEUE_MAX` requests of `QUEUE_BYTES_MAX` bytes together wait; a model that is
//! closed leaves nothing of what was counted.

mod sample;

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use shelfmark_admin::{
    Admin, Error, ErrorKind, ModelFile, ModelWatch, Result, SeenRequest, WatchReport,
};
use shelfmark_store::clock::Clock;
use shelfmark_store::locks::lock;
use shelfmark_store::threads;

use crate::compare::Comparison;
use crate::watched::Watched;
use sample::Sample;

/// Requests that wait to be compared. Source: ours; a burst of some tens of milliseconds.
const QUEUE_MAX: usize = 8_192;
/// Bytes of their texts together. Source: ours.
const QUEUE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// The time between two pages of data that are looked at. Source: ours; [`sample`] says how long a page is.
const SAMPLE_PERIOD: Duration = Duration::from_millis(200);

/// Compares requests with a model.
pub struct Watcher {
    shared: Arc<Shared>,
    queue: OnceLock<SyncSender<Message>>,
    /// Held while a model is read, of which one is at a time, and while the thread starts.
    opening: Mutex<()>,
    admin: Admin,
}

impl std::fmt::Debug for Watcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watcher").field("is_open", &self.is_open()).finish_non_exhaustive()
    }
}

/// The state that the faces and the thread share.
struct Shared {
    is_open: AtomicBool,
    queued_bytes: AtomicUsize,
    dropped: AtomicU64,
    clock: Arc<dyn Clock>,
}

enum Message {
    Request(SeenRequest),
    Open(Box<Comparison>),
    Reset,
    Close,
    Report(SyncSender<Option<WatchReport>>),
}

impl Watcher {
    /// Creates the comparison over a store, whose data it samples. Starts nothing.
    #[must_use]
    pub fn new(admin: Admin) -> Self {
        let shared = Shared {
            is_open: AtomicBool::new(false),
            queued_bytes: AtomicUsize::new(0),
            dropped: AtomicU64::new(0),
            clock: Arc::clone(&admin.engine().environment().clock),
        };
        Self { shared: Arc::new(shared), queue: OnceLock::new(), opening: Mutex::default(), admin }
    }

    /// Returns the queue, and starts the thread behind it if this is the first model.
    fn started(&self) -> Result<&SyncSender<Message>> {
        if let Some(queue) = self.queue.get() {
            return Ok(queue);
        }
        let (sender, receiver) = sync_channel(QUEUE_MAX);
        let work = Work {
            shared: Arc::clone(&self.shared),
            admin: self.admin.clone(),
            comparison: None,
            sample: Sample::default(),
        };
        threads::spawn("shelfmark-watch", move || work.run(&receiver)).map_err(|error| {
            Error::new(ErrorKind::Busy, format!("no thread can be started to watch: {error}"))
        })?;
        Ok(self.queue.get_or_init(|| sender))
    }

    /// Sends a message that is not dropped, if the thread is there.
    fn tell(&self, message: Message) {
        if let Some(queue) = self.queue.get()
            && queue.send(message).is_err()
        {
            self.shared.is_open.store(false, Ordering::Relaxed);
        }
    }
}

impl ModelWatch for Watcher {
    fn is_open(&self) -> bool {
        self.shared.is_open.load(Ordering::Relaxed)
    }

    fn take(&self, request: SeenRequest) {
        let bytes = request.text.len();
        let queued = self.shared.queued_bytes.fetch_add(bytes, Ordering::Relaxed);
        let is_put = queued + bytes <= QUEUE_BYTES_MAX
            && self.queue.get().is_some_and(|own| own.try_send(Message::Request(request)).is_ok());
        if !is_put {
            self.shared.queued_bytes.fetch_sub(bytes, Ordering::Relaxed);
            self.shared.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn open(&self, file: &ModelFile) -> Result<()> {
        let _one = lock(&self.opening);
        let watched = Watched::open(file).map_err(Error::invalid)?;
        let queue = self.started()?;
        let comparison = Comparison::new(Arc::new(watched), self.shared.clock.now_millis());
        queue.send(Message::Open(Box::new(comparison))).map_err(|_| {
            Error::new(ErrorKind::Failed, "the thread that watches has ended; see the server's log")
        })?;
        self.shared.is_open.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn reset(&self) {
        self.tell(Message::Reset);
    }

    fn close(&self) {
        self.shared.is_open.store(false, Ordering::Relaxed);
        self.tell(Message::Close);
    }

    fn report(&self) -> Option<WatchReport> {
        let queue = self.queue.get()?;
        let (sender, receiver) = sync_channel(1);
        // Behind the requests that came before it.
        queue.send(Message::Report(sender)).ok()?;
        receiver.recv().ok()?
    }
}

/// The state of the thread.
struct Work {
    shared: Arc<Shared>,
    admin: Admin,
    comparison: Option<Comparison>,
    sample: Sample,
}

impl Work {
    /// Takes messages until nobody can send any, and looks at data between them.
    fn run(mut self, queue: &Receiver<Message>) {
        let mut next = Duration::ZERO;
        loop {
            // Without a model there is nothing to do until a message comes.
            let message = match &self.comparison {
                None => queue.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(_) => queue.recv_timeout(SAMPLE_PERIOD),
            };
            match message {
                Ok(message) => self.take(message),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            let now = self.shared.clock.monotonic();
            if let Some(comparison) = &mut self.comparison
                && now >= next
            {
                self.sample.look(&self.admin, comparison);
                next = self.shared.clock.monotonic() + SAMPLE_PERIOD;
            }
        }
    }

    fn take(&mut self, message: Message) {
        let now_ms = self.shared.clock.now_millis();
        match message {
            Message::Request(request) => {
                self.shared.queued_bytes.fetch_sub(request.text.len(), Ordering::Relaxed);
                if let Some(comparison) = &mut self.comparison {
                    comparison.take(&request);
                }
            }
            Message::Open(comparison) => self.begin(Some(*comparison)),
            Message::Reset => {
                let anew = self.comparison.as_ref().map(|own| own.anew(now_ms));
                self.begin(anew);
            }
            Message::Close => self.begin(None),
            Message::Report(to) => {
                let dropped = self.shared.dropped.load(Ordering::Relaxed);
                let report = self.comparison.as_ref().map(|own| own.report(now_ms, dropped));
                // Who asked may have gone.
                let _ = to.send(report);
            }
        }
    }

    fn begin(&mut self, comparison: Option<Comparison>) {
        self.shared.dropped.store(0, Ordering::Relaxed);
        self.sample = Sample::default();
        self.comparison = comparison;
    }
}
