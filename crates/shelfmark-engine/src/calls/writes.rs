//! Writes: of items, of both kinds of rows in one commit, and interactive transactions.

use shelfmark_tables::commit::{AnyWrites, Completion, Once, Token, Transaction};
use shelfmark_tables::items::{Write, Written};
use shelfmark_tables::{Error, ErrorKind, Result};

use super::awaited;
use crate::engine::Engine;

impl Engine {
    /// Does one write and waits until it is durable.
    ///
    /// Cost: one point read if the write looks at the item, and its share of one sync.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::ConditionFailed`]: the condition did not hold; nothing was written.
    /// * [`ErrorKind::Invalid`]: the key or patch does not fit.
    /// * [`ErrorKind::Undetermined`]: read the item to learn whether it was written.
    /// * [`ErrorKind::Busy`]: retry after [`Error::retry_after`].
    pub fn write(&self, write: Write) -> Result<Written> {
        let mut written = self.write_all(vec![write])?;
        written.pop().ok_or_else(|| Error::new(ErrorKind::Internal, "a write has no answer"))
    }

    /// Does several writes, all or none, over any tables and partitions, and waits until they are
    /// durable. Writes to one item see those before them.
    ///
    /// # Errors
    ///
    /// * As [`Engine::write`]; [`Error::failures`] names every write that was refused.
    pub fn write_all(&self, writes: Vec<Write>) -> Result<Vec<Written>> {
        awaited(&**self.store(), |done| self.submit_all(writes, done))
    }

    /// Writes as [`Engine::write_all`] does, without waiting: `done` is called once, from any
    /// thread, possibly before this returns. It must not block.
    pub fn submit_all(&self, writes: Vec<Write>, done: Completion) {
        let (observer, room) = (self.observer.as_ref(), self.room.as_deref());
        self.inner.submit_all(observer, room, &writes, done);
    }

    /// Writes as [`Engine::write_all`] does, at most once per token: a call repeated after a lost
    /// answer has no second effect.
    ///
    /// # Errors
    ///
    /// * As [`Engine::write_all`].
    pub fn write_all_once(&self, token: &Token, writes: Vec<Write>) -> Result<Once> {
        awaited(&**self.store(), |done| self.submit_all_once(token.clone(), writes, done))
    }

    /// Writes as [`Engine::write_all_once`] does, without waiting.
    pub fn submit_all_once(
        &self,
        token: Token,
        writes: Vec<Write>,
        done: Box<dyn FnOnce(Result<Once>) + Send>,
    ) {
        let (observer, room) = (self.observer.as_ref(), self.room.as_deref());
        self.inner.submit_all_once(observer, room, &token, &writes, done);
    }

    /// Does writes to items and to cells, of any tables and partitions, all or none, and waits until
    /// they are durable. Each sees what those before it did.
    ///
    /// # Errors
    ///
    /// * As [`Engine::write_all`] and [`Engine::write_cells`].
    pub fn write_any(&self, call: AnyWrites) -> Result<Once> {
        awaited(&**self.store(), |done| self.submit_any(call, done))
    }

    /// Writes as [`Engine::write_any`] does, without waiting. The answer has one [`Written`] for
    /// each write to an item, in their order.
    pub fn submit_any(&self, call: AnyWrites, done: Box<dyn FnOnce(Result<Once>) + Send>) {
        self.inner.submit_any(self.observer.as_ref(), &call, done);
    }

    /// Runs `body` in a transaction and commits what it wrote, all or nothing.
    ///
    /// The body may run several times: when something that it read was written meanwhile, it starts
    /// over with a new view and the same random numbers. It must do nothing but read and write
    /// through the transaction: what it writes through the engine itself is outside of it, stays when
    /// the transaction aborts, and happens once per run. Returning an error aborts: nothing is written, and the error comes
    /// back.
    ///
    /// Isolation: serializable. The transaction acts as if it ran alone at the moment of its commit:
    /// neither an item that it read nor a range that it read, also an empty one, was written by
    /// others since. On a store that does not validate ranges
    /// ([`shelfmark_store::Caps::validates_ranges`]) this holds among transactions and writes of
    /// several items; there, what a range showed may have been changed by a plain write meanwhile,
    /// as if that came after.
    /// Durability: the writes are on disk once this returns `Ok`.
    ///
    /// # Errors
    ///
    /// * Whatever `body` returned.
    /// * [`ErrorKind::Conflict`]: others were faster every time. Retry later.
    /// * [`ErrorKind::Undetermined`]: read what it would have written.
    pub fn transact<T>(&self, body: impl FnMut(&Transaction<'_>) -> Result<T>) -> Result<T> {
        self.inner.transact(self.observer.as_ref(), body)
    }
}
