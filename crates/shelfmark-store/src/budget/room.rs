//! The memory that one request holds for the rows that it looks at, and for the answer made of them.
//!
//! The layer that reads rows takes room as it reads, and the layer that answers keeps the room until
//! the answer is sent; so both hold the same [`Room`]. What it is not: a wait. Who finds no room is told
//! whether there could ever be.
//!
//! Invariant: what was taken is given back when the last holder of the room is gone.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Client, Share};

/// The reason why there is no room for something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoRoom {
    /// Others hold what is wanted: the same request may succeed later.
    Now,
    /// No client ever gets this much: the request has to be a smaller one.
    Ever,
}

/// The room of one request. See the module's description.
#[derive(Debug)]
pub struct Room {
    client: Client,
    /// Bytes that the request holds already, in shares of its own.
    beside: usize,
    held: Mutex<Held>,
}

#[derive(Debug)]
struct Held {
    share: Share,
    bytes: usize,
}

impl Room {
    /// Creates the empty room of a request that holds so many bytes already.
    #[must_use]
    pub fn beside(client: &Client, bytes: usize) -> Arc<Self> {
        let held = Held { share: client.share(), bytes: 0 };
        Arc::new(Self { client: client.clone(), beside: bytes, held: Mutex::new(held) })
    }

    /// Takes room for so many bytes more.
    ///
    /// # Errors
    ///
    /// * [`NoRoom`]: there is none; what was taken before stays taken.
    pub fn add(&self, bytes: usize) -> Result<(), NoRoom> {
        let mut held = self.held();
        let wanted = held.bytes.saturating_add(bytes);
        self.cover(&mut held, wanted)
    }

    /// Raises or lowers the room to so many bytes in all.
    ///
    /// # Errors
    ///
    /// * As [`Room::add`]; never where less is wanted than was taken.
    pub fn set(&self, bytes: usize) -> Result<(), NoRoom> {
        self.cover(&mut self.held(), bytes)
    }

    fn cover(&self, held: &mut Held, bytes: usize) -> Result<(), NoRoom> {
        if !held.share.cover(bytes) {
            return Err(self.client.no_room(bytes.saturating_add(self.beside)));
        }
        held.bytes = bytes;
        Ok(())
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::super::Budget;
    use super::*;

    const MIB: usize = 1024 * 1024;

    #[test]
    fn who_finds_no_room_is_told_whether_there_could_ever_be() {
        let budget = Arc::new(Budget::new(64 * MIB));
        let client = |last: u8| budget.client(Ipv4Addr::new(10, 0, 0, last).into(), true);
        let room = Room::beside(&client(1), 4 * MIB);
        assert_eq!(room.add(20 * MIB), Ok(()));
        assert_eq!(room.add(13 * MIB), Err(NoRoom::Ever), "with what the request holds beside");
        assert_eq!(room.add(8 * MIB), Ok(()), "what was refused is not counted");
        let others = [client(2), client(3)].map(|other| Room::beside(&other, 0));
        assert_eq!(others[0].add(30 * MIB), Ok(()));
        assert_eq!(others[1].add(10 * MIB), Err(NoRoom::Now));
        assert_eq!(room.set(MIB), Ok(()));
        assert_eq!(others[1].add(10 * MIB), Ok(()));
        drop((room, others));
        assert_eq!(budget.taken(), 0);
    }
}
