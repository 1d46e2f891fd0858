//! A queue in which clients take turns: addresses, the connections of an address among themselves, and
//! the requests of a connection in their order.
//!
//! So one request of a client waits for one request of each other client, however many those have
//! asked for. What it is not: a bound. The pool asks [`Turns::len`] and [`Turns::len_of`].
//!
//! Invariant: an address and a connection are listed exactly while something of theirs stands here.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::net::IpAddr;

use shelfmark_engine::weight::Asker;

/// An address; none for what no client asked for.
pub(super) type Address = Option<IpAddr>;

/// Returns the address of a connection.
pub(super) fn address(asker: Asker) -> Address {
    asker.map(|own| own.ip())
}

/// Things that stand in line.
pub(super) struct Turns<T> {
    addresses: Circle<Address, Connections<T>>,
    len: usize,
}

/// What stands in line of one address.
struct Connections<T> {
    circle: Circle<Asker, VecDeque<T>>,
    len: usize,
}

impl<T> Default for Connections<T> {
    fn default() -> Self {
        Self { circle: Circle::default(), len: 0 }
    }
}

impl<T> Default for Turns<T> {
    fn default() -> Self {
        Self { addresses: Circle::default(), len: 0 }
    }
}

impl<T> Turns<T> {
    /// Returns how many things stand here.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Returns how many things of an address stand here.
    pub(super) fn len_of(&self, address: Address) -> usize {
        self.addresses.of.get(&address).map_or(0, |own| own.len)
    }

    /// Adds a thing behind all others of its connection.
    pub(super) fn push(&mut self, asker: Asker, thing: T) {
        let own = self.addresses.place(address(asker));
        own.circle.place(asker).push_back(thing);
        own.len += 1;
        self.len += 1;
    }

    /// Takes what has its turn among the addresses that may.
    pub(super) fn pop(&mut self, may: impl Fn(Address) -> bool) -> Option<(Asker, T)> {
        let (_, taken) = self.addresses.turn(may, |own| {
            own.len -= 1;
            let all = |_| true;
            let taken = own.circle.turn(all, |things| (things.pop_front(), things.is_empty()));
            (taken, own.len == 0)
        })?;
        self.len -= 1;
        Some(taken)
    }

    /// Takes all that a connection has here.
    pub(super) fn take_of(&mut self, asker: Asker) -> Vec<T> {
        let Some(own) = self.addresses.of.get_mut(&address(asker)) else { return Vec::new() };
        let taken = Vec::from(own.circle.leave(asker).unwrap_or_default());
        own.len -= taken.len();
        self.len -= taken.len();
        if own.len == 0 {
            self.addresses.leave(address(asker));
        }
        taken
    }

    /// Takes everything.
    pub(super) fn drain(&mut self) -> Vec<T> {
        std::iter::from_fn(|| self.pop(|_| true)).map(|(_, thing)| thing).collect()
    }
}

/// Parts that take turns.
struct Circle<K, V> {
    order: VecDeque<K>,
    of: HashMap<K, V>,
}

impl<K, V> Default for Circle<K, V> {
    fn default() -> Self {
        Self { order: VecDeque::new(), of: HashMap::new() }
    }
}

impl<K: Copy + Eq + Hash, V: Default> Circle<K, V> {
    /// Returns the part of this name; a new one comes last.
    fn place(&mut self, name: K) -> &mut V {
        self.of.entry(name).or_insert_with(|| {
            self.order.push_back(name);
            V::default()
        })
    }

    /// Removes a part.
    fn leave(&mut self, name: K) -> Option<V> {
        let part = self.of.remove(&name)?;
        self.order.retain(|own| *own != name);
        Some(part)
    }

    /// Has `take` take something of the next part that may. That part comes last then, and leaves if
    /// `take` says that nothing is left of it.
    fn turn<T>(
        &mut self,
        may: impl Fn(K) -> bool,
        take: impl FnOnce(&mut V) -> (Option<T>, bool),
    ) -> Option<(K, T)> {
        let at = self.order.iter().position(|name| may(*name))?;
        let name = self.order.remove(at)?;
        let (taken, is_empty) = take(self.of.get_mut(&name)?);
        if is_empty {
            self.of.remove(&name);
        } else {
            self.order.push_back(name);
        }
        Some((name, taken?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asker(host: u8, port: u16) -> Asker {
        Some(([127, 0, 0, host], port).into())
    }

    #[test]
    fn addresses_take_turns_and_so_do_their_connections() {
        let mut turns = Turns::default();
        for number in 0..3 {
            turns.push(asker(1, 1), format!("greedy {number}"));
        }
        turns.push(asker(1, 2), "its other connection".to_owned());
        turns.push(asker(2, 1), "one".to_owned());
        turns.push(None, "none".to_owned());
        assert_eq!((turns.len(), turns.len_of(address(asker(1, 9)))), (6, 4));
        let taken: Vec<String> = turns.drain();
        let expected = ["greedy 0", "one", "none", "its other connection", "greedy 1", "greedy 2"];
        assert_eq!(taken, expected);
        assert_eq!((turns.len(), turns.addresses.order.len(), turns.addresses.of.len()), (0, 0, 0));
    }

    #[test]
    fn who_goes_leaves_nothing_behind() {
        let mut turns = Turns::default();
        for port in [1, 2, 1, 3] {
            turns.push(asker(1, port), port);
        }
        turns.push(asker(2, 1), 9);
        assert_eq!(turns.take_of(asker(1, 1)), [1, 1]);
        assert!(turns.take_of(asker(1, 1)).is_empty());
        assert_eq!(turns.take_of(asker(2, 1)), [9]);
        assert_eq!((turns.len(), turns.len_of(address(asker(2, 1)))), (2, 0));
        assert_eq!(turns.drain(), [2, 3]);
    }

    #[test]
    fn who_may_not_keeps_its_place() {
        let mut turns = Turns::default();
        for host in [1, 2, 3] {
            turns.push(asker(host, 1), host);
        }
        assert_eq!(turns.pop(|own| own != address(asker(1, 1))), Some((asker(2, 1), 2)));
        assert_eq!(turns.pop(|_| false), None);
        assert_eq!(turns.drain(), [1, 3]);
    }
}
