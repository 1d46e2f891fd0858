//! Accounts for memory that clients can make large, under one limit: the block cache, bodies,
//! requests, results and answers that nobody has read yet.
//!
//! A [`Budget`] has counters: of everything, of clients that are not logged in,
//! of each address and of each connection. A [`Client`] is one connection, a [`Share`] what one
//! of its buffers holds. A share takes from all counters that concern it or from none.
//!
//! What it is not: an allocator. It counts what it is told, and small buffers are not told: the
//! first [`SHARE_FREE_BYTES`] of a share cost nothing, so requests of usual size touch no counter.
//!
//! Invariant: what a share took is given back when it is lowered or dropped; no counter is ever
//! above its limit.

mod room;

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

pub use room::{NoRoom, Room};

/// Bytes of each share that cost nothing.
///
/// Source: ours; requests and answers of usual size.
pub const SHARE_FREE_BYTES: usize = 16 * 1024;

/// Grows and shrinks a share in steps of this many bytes, so that a growing buffer seldom touches
/// the counters.
const STEP_BYTES: usize = 16 * 1024;

/// Divides the budget: all clients that have not logged in share this fraction of it.
///
/// Source: ours.
const UNAUTHENTICATED_DIVISOR: usize = 8;

/// Limits how many addresses are remembered before those without connections are forgotten.
const ADDRESSES_KEPT: usize = 1_024;

/// Bytes that were taken, and their limit.
#[derive(Debug)]
struct Counter {
    taken: AtomicUsize,
    max: usize,
}

impl Counter {
    fn new(max: usize) -> Self {
        Self { taken: AtomicUsize::new(0), max }
    }

    fn take(&self, bytes: usize) -> bool {
        let fits = |taken: usize| taken.checked_add(bytes).filter(|taken| *taken <= self.max);
        self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_ok()
    }

    fn give(&self, bytes: usize) {
        self.taken.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// The shared memory budget. See the module's description.
#[derive(Debug)]
pub struct Budget {
    all: Counter,
    unauthenticated: Counter,
    addresses: Mutex<HashMap<IpAddr, Weak<Counter>>>,
}

impl Default for Budget {
    /// Creates a budget without limit.
    fn default() -> Self {
        Self::new(usize::MAX)
    }
}

impl Budget {
    /// Creates a budget of so many bytes.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        Self {
            all: Counter::new(bytes),
            unauthenticated: Counter::new(bytes / UNAUTHENTICATED_DIVISOR),
            addresses: Mutex::default(),
        }
    }

    /// Returns the limit in bytes; `usize::MAX` for none.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.all.max
    }

    /// Returns how many bytes are taken.
    #[must_use]
    pub fn taken(&self) -> usize {
        self.all.taken.load(Ordering::Relaxed)
    }

    /// Returns how many bytes one connection may hold: half of all.
    #[must_use]
    pub fn connection_max(&self) -> usize {
        self.all.max / 2
    }

    /// Creates the account of a connection from `address`. `is_known` says that nobody has to prove
    /// who they are; otherwise [`Client::admit`] does once this one has.
    #[must_use]
    pub fn client(self: &Arc<Self>, address: IpAddr, is_known: bool) -> Client {
        let mut addresses = self.addresses.lock().unwrap_or_else(PoisonError::into_inner);
        let known = addresses.get(&address).and_then(Weak::upgrade);
        let address = known.unwrap_or_else(|| {
            if addresses.len() >= ADDRESSES_KEPT {
                addresses.retain(|_, counter| counter.strong_count() > 0);
            }
            // Three quarters: other addresses always find a quarter.
            let counter = Arc::new(Counter::new(self.all.max - self.all.max / 4));
            addresses.insert(address, Arc::downgrade(&counter));
            counter
        });
        Client {
            budget: Arc::clone(self),
            address,
            connection: Arc::new(Counter::new(self.connection_max())),
            is_known: Arc::new(AtomicBool::new(is_known)),
        }
    }
}

/// The account of one connection.
#[derive(Debug, Clone)]
pub struct Client {
    budget: Arc<Budget>,
    address: Arc<Counter>,
    connection: Arc<Counter>,
    is_known: Arc<AtomicBool>,
}

impl Client {
    /// Notes that the client has logged in: it no longer draws from the part for unauthenticated
    /// clients.
    pub fn admit(&self) {
        self.is_known.store(true, Ordering::Relaxed);
    }

    /// Returns true if the client has logged in, or need not.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.is_known.load(Ordering::Relaxed)
    }

    /// Returns an empty share.
    #[must_use]
    pub fn share(&self) -> Share {
        Share { client: self.clone(), taken: 0, as_unauthenticated: 0 }
    }

    /// Returns the budget.
    #[must_use]
    pub fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }

    /// Returns the largest number of bytes that this client can ever hold.
    #[must_use]
    pub fn most(&self) -> usize {
        match self.is_known() {
            true => self.connection.max,
            false => self.connection.max.min(self.budget.unauthenticated.max),
        }
    }

    /// Returns the reason why a request that needs so many bytes in all was refused some of them.
    #[must_use]
    pub fn no_room(&self, bytes: usize) -> NoRoom {
        if bytes > self.most() { NoRoom::Ever } else { NoRoom::Now }
    }
}

/// A reservation of memory for one buffer of a connection.
#[derive(Debug)]
pub struct Share {
    client: Client,
    taken: usize,
    /// Bytes of it that count against the part for unauthenticated clients.
    as_unauthenticated: usize,
}

impl Share {
    /// Raises or lowers the share so that it covers a buffer of `bytes`. Returns `false`, and
    /// leaves it as it was, if that would be too much for the connection, its address, clients that are not logged in, or
    /// all.
    ///
    /// Cost: none for up to [`SHARE_FREE_BYTES`] and where the step stays the same; otherwise a few
    /// atomic additions.
    #[must_use]
    pub fn cover(&mut self, bytes: usize) -> bool {
        let wanted = match bytes.saturating_sub(SHARE_FREE_BYTES) {
            0 => 0,
            over => over.checked_next_multiple_of(STEP_BYTES).unwrap_or(over),
        };
        if wanted <= self.taken {
            self.give(self.taken - wanted);
            return true;
        }
        let more = wanted - self.taken;
        let client = &self.client;
        let is_unauthenticated = !client.is_known();
        let unauthenticated = is_unauthenticated.then_some(&client.budget.unauthenticated);
        let counters = [&*client.connection, &*client.address, &client.budget.all];
        let counters = || counters.into_iter().chain(unauthenticated);
        for (at, counter) in counters().enumerate() {
            if !counter.take(more) {
                counters().take(at).for_each(|counter| counter.give(more));
                return false;
            }
        }
        self.taken += more;
        if is_unauthenticated {
            self.as_unauthenticated += more;
        }
        true
    }

    /// Returns how many bytes are taken from the budget.
    #[must_use]
    pub fn taken(&self) -> usize {
        self.taken
    }

    fn give(&mut self, bytes: usize) {
        if bytes == 0 {
            return;
        }
        let client = &self.client;
        for counter in [&*client.connection, &*client.address, &client.budget.all] {
            counter.give(bytes);
        }
        self.taken -= bytes;
        let returned = self.as_unauthenticated.min(bytes);
        client.budget.unauthenticated.give(returned);
        self.as_unauthenticated -= returned;
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.give(self.taken);
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const MIB: usize = 1024 * 1024;

    fn address(last: u8) -> IpAddr {
        IpAddr::V4(Ipv4Addr::new(10, 0, 0, last))
    }

    #[test]
    fn small_shares_cost_nothing_and_large_ones_come_back() {
        let budget = Arc::new(Budget::new(64 * MIB));
        let client = budget.client(address(1), true);
        let mut share = client.share();
        assert!(share.cover(SHARE_FREE_BYTES));
        assert_eq!(budget.taken(), 0);
        assert!(share.cover(SHARE_FREE_BYTES + 1));
        assert_eq!(budget.taken(), STEP_BYTES);
        assert!(share.cover(10 * MIB));
        assert_eq!(budget.taken(), 10 * MIB - SHARE_FREE_BYTES);
        assert!(share.cover(MIB));
        assert_eq!(budget.taken(), MIB - SHARE_FREE_BYTES);
        drop(share);
        assert_eq!(budget.taken(), 0);
    }

    #[test]
    fn a_connection_has_half_an_address_three_quarters() {
        let budget = Arc::new(Budget::new(64 * MIB));
        let (first, second) = (budget.client(address(1), true), budget.client(address(1), true));
        let mut share = first.share();
        assert!(!share.cover(33 * MIB));
        assert_eq!(budget.taken(), 0, "nothing is kept of what was refused");
        assert!(share.cover(32 * MIB));
        let mut more = first.share();
        assert!(!more.cover(MIB), "a second buffer of the connection counts to the same");
        let mut other = second.share();
        assert!(!other.cover(17 * MIB));
        assert!(other.cover(16 * MIB));
        let elsewhere = budget.client(address(2), true);
        let mut rest = elsewhere.share();
        assert!(rest.cover(16 * MIB));
        assert!(!elsewhere.share().cover(MIB), "the budget is all there is");
        drop((share, other));
        assert!(rest.cover(32 * MIB));
    }

    #[test]
    fn unauthenticated_clients_have_an_eighth_together() {
        let budget = Arc::new(Budget::new(64 * MIB));
        let unauthenticated = budget.client(address(1), false);
        let mut share = unauthenticated.share();
        assert!(share.cover(8 * MIB));
        let mut other = budget.client(address(2), false).share();
        assert!(!other.cover(MIB));
        let mut known = budget.client(address(3), true).share();
        assert!(known.cover(8 * MIB), "those who are known do not wait behind others");
        unauthenticated.admit();
        assert!(share.cover(16 * MIB));
        assert!(
            !other.cover(MIB),
            "what was taken before the login stays so until it is given back"
        );
        assert!(share.cover(0));
        assert!(other.cover(MIB));
        drop((share, other, known));
        assert_eq!(budget.taken(), 0);
        assert_eq!(budget.unauthenticated.taken.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn many_threads_leave_the_counters_at_nothing() {
        let budget = Arc::new(Budget::new(4 * MIB));
        std::thread::scope(|scope| {
            for number in 0..4 {
                let client = budget.client(address(number / 2), number % 2 == 0);
                scope.spawn(move || {
                    let mut share = client.share();
                    for round in 0..10_000_usize {
                        let _ = share.cover(round.wrapping_mul(7_919) % (3 * MIB));
                        assert!(client.budget().taken() <= 4 * MIB);
                    }
                });
            }
        });
        assert_eq!(budget.taken(), 0);
    }

    #[test]
    fn addresses_without_connections_are_forgotten() {
        let budget = Arc::new(Budget::new(MIB));
        for number in 0..5_000_u32 {
            drop(budget.client(IpAddr::V4(Ipv4Addr::from(number)), true));
        }
        assert!(budget.addresses.lock().unwrap().len() <= ADDRESSES_KEPT);
    }
}
