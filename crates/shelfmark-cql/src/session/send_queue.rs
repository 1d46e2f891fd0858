//! The send queue of a connection; shared with the threads that finish its answers.
//!
//! Invariant: requests under way and answers that were not sent yet are covered by the connection's
//! part of the memory budget, or no more requests are read until they are.

use std::collections::VecDeque;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::{Bytes, BytesMut};
use shelfmark_cql_protocol::frame::{Envelopes, Framing, Opcode, SpooledAnswer, Version};
use shelfmark_engine::budget::{Client, Share};

use crate::limits::REQUEST_OVERHEAD_BYTES;
use shelfmark_engine::locks::lock;

/// Wakes whoever writes the connection. Does not block.
pub(super) type Wake = Box<dyn Fn() + Send + Sync>;

/// The answers of a connection.
pub(super) struct SendQueue {
    state: Mutex<State>,
    wake: Wake,
    /// Requests that wait for a thread of the pool or have one.
    pub(super) pooled: Arc<AtomicUsize>,
}

struct State {
    /// The envelopes that are sent first.
    envelopes: Envelopes,
    /// The long answers that are sent behind them, each with the envelopes that came after it.
    behind: VecDeque<(SpooledAnswer, Envelopes)>,
    /// The share of the memory budget that requests under way and usual answers hold.
    share: Share,
    /// The shares of larger answers: of those that wait, and of those being sent.
    waiting: Vec<Share>,
    sending: Vec<Share>,
    /// Bytes that were taken to be sent.
    taken: usize,
    framing: Framing,
    /// The version of events; what the handshake agreed on.
    version: Option<Version>,
    /// The connection's keyspace.
    keyspace: Option<Arc<str>>,
    /// True once the client was told that names without keyspaces are doubtful in prepared
    /// statements.
    warned_of_use: bool,
    /// Requests under way, and the bytes of their bodies.
    requests: usize,
    request_bytes: usize,
    /// True if nobody has to be woken: the writer is awake and will look, or was woken already.
    awake: bool,
}

/// The load of a connection: requests and answers under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Load {
    /// Requests that are not answered yet.
    pub(super) requests: usize,
    /// Bytes of their bodies.
    pub(super) request_bytes: usize,
    /// Bytes of answers that were not taken yet.
    pub(super) answer_bytes: usize,
    /// The memory budget has no room for more.
    pub(super) is_over: bool,
}

impl State {
    /// Returns the envelopes to which the next answer is appended.
    fn last(&mut self) -> &mut Envelopes {
        match self.behind.back_mut() {
            Some((_, envelopes)) => envelopes,
            None => &mut self.envelopes,
        }
    }

    /// Notes that a request is done.
    fn ended(&mut self, bytes: usize) {
        self.requests = self.requests.saturating_sub(1);
        self.request_bytes = self.request_bytes.saturating_sub(bytes + REQUEST_OVERHEAD_BYTES);
    }

    fn answer_bytes(&self) -> usize {
        let behind = self.behind.iter().map(|(long, after)| long.held_bytes() + after.len());
        self.envelopes.len() + behind.sum::<usize>()
    }

    /// Returns what the connection's own share has to cover.
    fn held(&self) -> usize {
        let others: usize = self.waiting.iter().chain(&self.sending).map(Share::taken).sum();
        self.request_bytes + (self.answer_bytes() + self.taken).saturating_sub(others)
    }
}

impl SendQueue {
    pub(super) fn new(wake: Wake, client: &Client) -> Self {
        let state = State {
            envelopes: Envelopes::default(),
            behind: VecDeque::new(),
            share: client.share(),
            waiting: Vec::new(),
            sending: Vec::new(),
            taken: 0,
            framing: Framing::default(),
            version: None,
            keyspace: None,
            warned_of_use: false,
            requests: 0,
            request_bytes: 0,
            awake: true,
        };
        Self { state: Mutex::new(state), wake, pooled: Arc::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Returns true if to tell that names without keyspaces are doubtful in prepared statements:
    /// once.
    pub(super) fn warns_of_use(&self) -> bool {
        !std::mem::replace(&mut self.state().warned_of_use, true)
    }

    /// Notes that a request of this size is under way.
    pub(super) fn begin(&self, bytes: usize) {
        let mut state = self.state();
        state.requests += 1;
        state.request_bytes += bytes + REQUEST_OVERHEAD_BYTES;
    }

    /// Notes that a request under way costs more than was known. Its answer says so, too.
    pub(super) fn charge(&self, bytes: usize) {
        self.state().request_bytes += bytes;
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
        state.ended(request_bytes);
        let framing = state.framing;
        state.last().push(version, flags, stream, opcode, framing, body);
        self.wake_writer(state);
    }

    /// Works as [`SendQueue::answer`], of an answer whose rows draw from the memory budget themselves:
    /// what they took is given back when they were sent.
    pub(super) fn answer_with(
        &self,
        request_bytes: usize,
        share: Option<Share>,
        push: impl FnOnce(Framing, &mut Envelopes) -> Option<SpooledAnswer>,
    ) {
        let mut state = self.state();
        state.ended(request_bytes);
        let framing = state.framing;
        state.waiting.extend(share);
        if let Some(long) = push(framing, state.last()) {
            state.behind.push_back((long, Envelopes::default()));
        }
        self.wake_writer(state);
    }

    /// Appends an event; nothing before the handshake.
    pub(super) fn event(&self, body: impl FnOnce(Version, &mut BytesMut)) {
        let mut state = self.state();
        if let Some(version) = state.version {
            let framing = state.framing;
            state.last().push(version, 0, -1, Opcode::Event, framing, |out| body(version, out));
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

    /// Takes what waits, of a long answer the next piece; what was taken before has been sent. From
    /// here on the writer is woken by the next answer.
    ///
    /// # Errors
    ///
    /// * The operating system's error: a long answer cannot be read back, and the connection cannot
    ///   go on.
    pub(super) fn take(&self) -> std::io::Result<Bytes> {
        let mut state = self.state();
        let state = &mut *state;
        state.awake = false;
        if !state.envelopes.is_empty() {
            let bytes = state.envelopes.take(state.framing);
            state.sending = std::mem::take(&mut state.waiting);
            state.taken = bytes.len();
            return Ok(bytes);
        }
        if let Some((long, _)) = state.behind.front_mut() {
            let piece = long.next_piece()?;
            state.taken = piece.len();
            if long.is_done()
                && let Some((_, next)) = state.behind.pop_front()
            {
                state.envelopes = next;
                if state.behind.is_empty() {
                    state.sending = std::mem::take(&mut state.waiting);
                }
            }
            return Ok(piece);
        }
        state.taken = 0;
        state.sending.clear();
        // Room that was given back lets others in, whether this connection goes on or not.
        let held = state.held();
        let _ = state.share.cover(held);
        Ok(Bytes::new())
    }

    pub(super) fn load(&self) -> Load {
        let mut state = self.state();
        let held = state.held();
        let is_over = !state.share.cover(held);
        Load {
            requests: state.requests,
            request_bytes: state.request_bytes,
            answer_bytes: state.answer_bytes(),
            is_over,
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
