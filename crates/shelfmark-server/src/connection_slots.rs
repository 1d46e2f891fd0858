//! Connection slots: as many as open files and memory allow, limited for each port, for each
//! address, and for clients that are not authenticated.
//!
//! Whoever comes where all slots are taken gets that of a connection that is idle: first of clients
//! that are not authenticated, then of the address that has most, and of those the one that has been
//! idle for longest; what came just now goes last. So connections that say nothing shut nobody out.
//!
//! Invariant: a connection with a request under way keeps its slot.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use shelfmark_engine::budget::Client;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::limits::{
    CONNECTION_NEW_TIME, CONNECTION_SIZE_BYTES, CONNECTIONS_MAX, CONNECTIONS_MIN, SLOT_POLL_PERIOD,
    SLOT_TIME_MAX,
};

/// Assumed limit of open files where the system does not say.
const FILES_MAX_USUAL: u64 = 1024;

/// Limit of open files that goes with [`CONNECTIONS_MAX`].
const FILES_WANTED: u64 = 64 * 1024;

/// The port that a connection came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Port {
    Dynamodb,
    Cql,
}

/// The limits of connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Limits {
    /// Of one port: the others are left to the other one.
    port: usize,
    /// Of one address at one port.
    address: usize,
    /// Of unauthenticated clients at one port.
    unauthenticated: usize,
}

impl Limits {
    fn of(all: usize) -> Self {
        let port = (all - all / 4).max(1);
        Self { port, address: (port - port / 5).max(1), unauthenticated: (port / 2).max(1) }
    }
}

/// The activity of a connection.
#[derive(Debug)]
struct Marks {
    client: Client,
    is_busy: AtomicBool,
    /// True once a request came.
    has_asked: AtomicBool,
    /// Time of the last activity, in milliseconds from the start of the server.
    active_ms: AtomicU64,
    leave: Notify,
    leaves: AtomicBool,
}

#[derive(Debug)]
struct Entry {
    port: Port,
    address: IpAddr,
    marks: Arc<Marks>,
}

#[derive(Debug, Default)]
struct State {
    entries: HashMap<u64, Entry>,
    next: u64,
    of_dynamodb: usize,
    of_cql: usize,
    of_address: HashMap<(bool, IpAddr), usize>,
}

impl State {
    fn of_port(&self, port: Port) -> usize {
        match port {
            Port::Dynamodb => self.of_dynamodb,
            Port::Cql => self.of_cql,
        }
    }

    fn of_port_mut(&mut self, port: Port) -> &mut usize {
        match port {
            Port::Dynamodb => &mut self.of_dynamodb,
            Port::Cql => &mut self.of_cql,
        }
    }

    fn of_address(&self, port: Port, address: IpAddr) -> usize {
        self.of_address.get(&(port == Port::Cql, address)).copied().unwrap_or(0)
    }

    /// Asks the connection that may go first, of those that `may`, to close.
    fn ask_one(&self, now_ms: u64, port: Port, may: impl Fn(&Entry) -> bool) {
        let idle = self.entries.values().filter(|entry| {
            entry.port == port && may(entry) && !entry.marks.is_busy.load(Ordering::Relaxed)
        });
        if idle.clone().any(|entry| entry.marks.leaves.load(Ordering::Relaxed)) {
            return;
        }
        let first = idle.min_by_key(|entry| {
            let crowd = self.of_address(port, entry.address);
            let marks = &entry.marks;
            let active = marks.active_ms.load(Ordering::Relaxed);
            let is_new = !marks.has_asked.load(Ordering::Relaxed)
                && u128::from(now_ms.saturating_sub(active)) < CONNECTION_NEW_TIME.as_millis();
            (marks.client.is_known(), std::cmp::Reverse(crowd), is_new, active)
        });
        if let Some(entry) = first {
            entry.marks.leaves.store(true, Ordering::Relaxed);
            entry.marks.leave.notify_one();
        }
    }
}

/// The slots of all connections.
#[derive(Debug, Clone)]
pub(crate) struct ConnectionSlots {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    state: Mutex<State>,
    freed: Notify,
    limits: Limits,
    start: Instant,
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

impl ConnectionSlots {
    /// Creates as many slots as the process may have, after raising the limit of open files, and as
    /// `memory_bytes` allow.
    pub(crate) fn of_process(memory_bytes: usize) -> Self {
        let files = affordable(raised_files_max().unwrap_or(FILES_MAX_USUAL));
        let by_memory = (memory_bytes / CONNECTION_SIZE_BYTES).max(CONNECTIONS_MIN);
        Self::new(files.min(by_memory))
    }

    fn new(all: usize) -> Self {
        let inner = Inner {
            state: Mutex::default(),
            freed: Notify::new(),
            limits: Limits::of(all),
            start: Instant::now(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Waits for a slot, taking that of an idle connection where there is no other; it is released
    /// when it is dropped. `None` if everybody was busy for [`SLOT_TIME_MAX`].
    pub(crate) async fn enter(
        &self,
        port: Port,
        address: IpAddr,
        client: &Client,
    ) -> Option<Arc<ConnectionSlot>> {
        let looks = SLOT_TIME_MAX.as_millis() / SLOT_POLL_PERIOD.as_millis();
        for _ in 0..=looks {
            let freed = self.inner.freed.notified();
            if let Some(slot) = self.try_enter(port, address, client) {
                return Some(Arc::new(slot));
            }
            let _ = tokio::time::timeout(SLOT_POLL_PERIOD, freed).await;
        }
        None
    }

    /// Takes a slot if there is one; otherwise asks a connection to close.
    fn try_enter(&self, port: Port, address: IpAddr, client: &Client) -> Option<ConnectionSlot> {
        let limits = self.inner.limits;
        let now = self.inner.now_ms();
        let mut state = self.inner.state();
        if state.of_address(port, address) >= limits.address {
            state.ask_one(now, port, |entry| entry.address == address);
            return None;
        }
        if state.of_port(port) >= limits.port {
            state.ask_one(now, port, |_| true);
            return None;
        }
        if !client.is_known() {
            let strange = |entry: &Entry| entry.port == port && !entry.marks.client.is_known();
            if state.entries.values().filter(|entry| strange(entry)).count()
                >= limits.unauthenticated
            {
                state.ask_one(now, port, strange);
                return None;
            }
        }
        let marks = Arc::new(Marks {
            client: client.clone(),
            is_busy: AtomicBool::new(false),
            has_asked: AtomicBool::new(false),
            active_ms: AtomicU64::new(now),
            leave: Notify::new(),
            leaves: AtomicBool::new(false),
        });
        let number = state.next;
        state.next += 1;
        state.entries.insert(number, Entry { port, address, marks: Arc::clone(&marks) });
        *state.of_port_mut(port) += 1;
        *state.of_address.entry((port == Port::Cql, address)).or_default() += 1;
        Some(ConnectionSlot { inner: Arc::clone(&self.inner), number, marks })
    }

    /// Tells each connection's face, address, whether it is busy, whether its client is known, and for how
    /// many milliseconds nothing has happened.
    pub(crate) fn each(&self, mut tell: impl FnMut(&'static str, IpAddr, bool, bool, u64)) {
        let now = self.inner.now_ms();
        for entry in self.inner.state().entries.values() {
            let face = match entry.port {
                Port::Dynamodb => "dynamodb",
                Port::Cql => "cql",
            };
            let marks = &entry.marks;
            let idle = now.saturating_sub(marks.active_ms.load(Ordering::Relaxed));
            let is_busy = marks.is_busy.load(Ordering::Relaxed);
            tell(face, entry.address, is_busy, marks.client.is_known(), idle);
        }
    }

    /// Returns true if two thirds of a port's slots are taken.
    pub(crate) fn is_crowded(&self, port: Port) -> bool {
        self.inner.state().of_port(port) >= self.inner.limits.port - self.inner.limits.port / 3
    }
}

/// The slot of one connection.
#[derive(Debug)]
pub(crate) struct ConnectionSlot {
    inner: Arc<Inner>,
    number: u64,
    marks: Arc<Marks>,
}

impl ConnectionSlot {
    /// Sets if a request is in progress; either way the connection is not idle now.
    pub(crate) fn set_busy(&self, is_busy: bool) {
        self.marks.is_busy.store(is_busy, Ordering::Relaxed);
        self.marks.has_asked.store(true, Ordering::Relaxed);
        self.marks.active_ms.store(self.inner.now_ms(), Ordering::Relaxed);
    }

    /// Returns once the slot is wanted for another connection. Whoever is busy by then may end that
    /// first.
    pub(crate) async fn is_wanted(&self) {
        self.marks.leave.notified().await;
    }

    /// Returns true if a request is in progress.
    pub(crate) fn is_busy(&self) -> bool {
        self.marks.is_busy.load(Ordering::Relaxed)
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut state = self.inner.state();
        if let Some(entry) = state.entries.remove(&self.number) {
            let key = (entry.port == Port::Cql, entry.address);
            *state.of_port_mut(entry.port) -= 1;
            if let Some(count) = state.of_address.get_mut(&key) {
                *count -= 1;
                if *count == 0 {
                    state.of_address.remove(&key);
                }
            }
        }
        drop(state);
        self.inner.freed.notify_waiters();
    }
}

/// Returns how many connections go with so many open files: an eighth is left to the store.
fn affordable(files_max: u64) -> usize {
    usize::try_from(files_max - files_max / 8).unwrap_or(usize::MAX).clamp(1, CONNECTIONS_MAX)
}

/// Raises the limit of open files as far as it is useful and permitted, and returns it. Shells
/// start programs with 1,024, which is a limit of `select`, not of the system.
#[cfg(unix)]
fn raised_files_max() -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let wanted = limit.maximum.map_or(FILES_WANTED, |most| most.min(FILES_WANTED));
    if limit.current.is_none_or(|current| current >= wanted) {
        return limit.current.or(Some(FILES_WANTED));
    }
    let raised = Rlimit { current: Some(wanted), maximum: limit.maximum };
    setrlimit(Resource::Nofile, raised).map_or(limit.current, |()| Some(wanted))
}

#[cfg(not(unix))]
fn raised_files_max() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use shelfmark_engine::budget::Budget;

    use super::*;

    fn address(last: u8) -> IpAddr {
        IpAddr::V4(Ipv4Addr::new(10, 0, 0, last))
    }

    fn client(is_known: bool) -> Client {
        Arc::new(Budget::default()).client(address(1), is_known)
    }

    #[test]
    fn connections_leave_files_to_the_store() {
        assert_eq!(affordable(1024), 896);
        assert_eq!(affordable(1 << 20), CONNECTIONS_MAX);
        assert_eq!(affordable(0), 1);
    }

    #[tokio::test]
    async fn two_of_three_places_of_a_port_are_a_crowd() {
        // Of 8 a port has 6, and an address 5 of them.
        let slots = ConnectionSlots::new(8);
        let mut taken = Vec::new();
        for number in 1..=6 {
            let slot = slots.try_enter(Port::Cql, address(number), &client(true)).unwrap();
            taken.push(slot);
            assert_eq!(slots.is_crowded(Port::Cql), number >= 4, "{number}");
            assert!(!slots.is_crowded(Port::Dynamodb));
        }
        assert!(slots.try_enter(Port::Cql, address(9), &client(true)).is_none());
        assert!(slots.try_enter(Port::Dynamodb, address(9), &client(true)).is_some());
        taken.truncate(3);
        assert!(!slots.is_crowded(Port::Cql));
    }

    /// Serves a slot until it is wanted.
    fn idle(slot: Arc<ConnectionSlot>) -> tokio::task::JoinHandle<()> {
        tokio::spawn(async move { slot.is_wanted().await })
    }

    #[tokio::test(start_paused = true)]
    async fn who_comes_gets_the_place_of_who_has_been_idle_for_longest() {
        let slots = ConnectionSlots::new(8);
        let mut tasks = Vec::new();
        for number in 0..5 {
            let slot = slots.enter(Port::Cql, address(7), &client(true)).await.unwrap();
            tokio::time::advance(std::time::Duration::from_secs(1)).await;
            if number == 0 {
                // Busy ones stay, however long they have been.
                slot.set_busy(true);
            }
            tasks.push(idle(slot));
        }
        // The address has its part: its next one takes the slot of its second.
        let newcomer = slots.enter(Port::Cql, address(7), &client(true)).await.unwrap();
        tokio::task::yield_now().await;
        let ended: Vec<bool> = tasks.iter().map(|task| task.is_finished()).collect();
        assert_eq!(ended, [false, true, false, false, false]);
        assert!(slots.enter(Port::Cql, address(8), &client(true)).await.is_some());
        drop(newcomer);
    }

    #[tokio::test(start_paused = true)]
    async fn who_came_just_now_is_not_idle_yet() {
        let slots = ConnectionSlots::new(8);
        let mut tasks = Vec::new();
        for number in 0..5 {
            let slot = slots.enter(Port::Dynamodb, address(7), &client(true)).await.unwrap();
            if number == 3 {
                // It has asked, and waits for its next request since.
                slot.set_busy(true);
                slot.set_busy(false);
            }
            tasks.push(idle(slot));
        }
        assert!(slots.enter(Port::Dynamodb, address(7), &client(true)).await.is_some());
        tokio::task::yield_now().await;
        let ended: Vec<bool> = tasks.iter().map(|task| task.is_finished()).collect();
        assert_eq!(ended, [false, false, false, true, false]);
    }

    #[tokio::test(start_paused = true)]
    async fn strangers_wait_in_a_line_of_their_own() {
        let slots = ConnectionSlots::new(8);
        let known = slots.enter(Port::Cql, address(1), &client(true)).await.unwrap();
        let mut unauthenticated = Vec::new();
        for number in 2..5 {
            let slot = slots.enter(Port::Cql, address(number), &client(false)).await.unwrap();
            slot.set_busy(true);
            unauthenticated.push(slot);
        }
        assert!(slots.enter(Port::Cql, address(6), &client(false)).await.is_none());
        assert!(slots.enter(Port::Cql, address(6), &client(true)).await.is_some());
        unauthenticated.iter().for_each(|slot| slot.set_busy(false));
        let tasks: Vec<_> = unauthenticated.into_iter().map(idle).collect();
        assert!(slots.enter(Port::Cql, address(6), &client(false)).await.is_some());
        assert_eq!(tasks.iter().filter(|task| task.is_finished()).count(), 1);
        assert!(!known.is_busy());
    }
}
