//! What waits to be sent on a connection; shared with the threads that finish its answers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::{Bytes, BytesMut};

use crate::frame::{Envelopes, Framing, Opcode, Version};

/// Wakes whoever writes the connection. Does not block.
pub(super) type Wake = Box<dyn Fn() + Send + Sync>;

/// The answers of a connection.
pub(super) struct Outbox {
    state: Mutex<State>,
    wake: Wake,
}

#[derive(Default)]
struct State {
    envelopes: Envelopes,
    framing: Framing,
    /// The version of events; what the handshake agreed on.
    version: Option<Version>,
    /// The connection's keyspace.
    keyspace: Option<Arc<str>>,
    /// It was told that names without keyspaces are doubtful in prepared statements.
    warned_of_use: bool,
    /// Requests under way, and the bytes of their bodies.
    requests: usize,
    request_bytes: usize,
    /// Nobody has to be woken: the writer is awake and will look, or was woken already.
    awake: bool,
}

/// How much a connection has under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Load {
    /// Requests that are not answered yet.
    pub(super) requests: usize,
    /// Bytes of their bodies.
    pub(super) request_bytes: usize,
    /// Bytes of answers that were not taken yet.
    pub(super) answer_bytes: usize,
}

impl Outbox {
    pub(super) fn new(wake: Wake) -> Self {
        Self { state: Mutex::new(State { awake: true, ..State::default() }), wake }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether to tell that names without keyspaces are doubtful in prepared statements: once.
    pub(super) fn warns_of_use(&self) -> bool {
        !std::mem::replace(&mut self.state().warned_of_use, true)
    }

    /// Notes that a request of this size is under way.
    pub(super) fn begin(&self, bytes: usize) {
        let mut state = self.state();
        state.requests += 1;
        state.request_bytes += bytes;
    }

    /// Appends an answer and notes that its request, of `request_bytes`, is done.
    pub(super) fn answer(
        &self,
        request_bytes: usize,
        version: Version,
        flags: u8,
        stream: i16,
        opcode: Opcode,
        body: impl FnOnce(&mut BytesMut),
    ) {
        let mut state = self.state();
        state.requests = state.requests.saturating_sub(1);
        state.request_bytes = state.request_bytes.saturating_sub(request_bytes);
        let framing = state.framing;
        state.envelopes.push(version, flags, stream, opcode, framing, body);
        self.wake_writer(state);
    }

    /// Appends an event; nothing before the handshake.
    pub(super) fn event(&self, body: impl FnOnce(Version, &mut BytesMut)) {
        let mut state = self.state();
        if let Some(version) = state.version {
            let framing = state.framing;
            state.envelopes.push(version, 0, -1, Opcode::Event, framing, |out| body(version, out));
            self.wake_writer(state);
        }
    }

    fn wake_writer(&self, mut state: MutexGuard<'_, State>) {
        let asleep = !std::mem::replace(&mut state.awake, true);
        drop(state);
        if asleep {
            (self.wake)();
        }
    }

    /// Says that the writer is awake and will take what comes; it need not be woken.
    pub(super) fn stay_awake(&self) {
        self.state().awake = true;
    }

    /// Takes everything that waits. From here on the writer is woken by the next answer.
    pub(super) fn take(&self) -> Bytes {
        let mut state = self.state();
        state.awake = false;
        let framing = state.framing;
        state.envelopes.take(framing)
    }

    pub(super) fn load(&self) -> Load {
        let state = self.state();
        Load {
            requests: state.requests,
            request_bytes: state.request_bytes,
            answer_bytes: state.envelopes.len(),
        }
    }

    /// Fixes how answers go out from now on.
    pub(super) fn agree(&self, version: Version, framing: Framing) {
        let mut state = self.state();
        state.version = Some(version);
        state.framing = framing;
    }

    pub(super) fn keyspace(&self) -> Option<Arc<str>> {
        self.state().keyspace.clone()
    }

    pub(super) fn set_keyspace(&self, keyspace: &str) {
        self.state().keyspace = Some(Arc::from(keyspace));
    }
}
