//! The calls that write: items, cells, or both in one commit.

use std::sync::mpsc;

use super::attempt::lost;
use super::plan::{Call, Operation};
use super::token::{Once, Token};
use super::told::Told;
use crate::cells::Mutation;
use crate::engine::Engine;
use crate::error::{Error, ErrorKind, Result};
use crate::items::{Write, Written};

/// A callback that is told once how a call with writes ended.
pub type Completion = Box<dyn FnOnce(Result<Vec<Written>>) + Send>;

/// One write of a commit over both kinds of rows.
#[derive(Debug, Clone)]
pub enum AnyWrite {
    /// To an item.
    Item(Write),
    /// To cells of one partition.
    Cells(Mutation),
}

/// Writes that happen together or not at all, over both kinds of rows.
#[derive(Debug, Clone, Default)]
pub struct AnyWrites {
    /// The writes, in order.
    pub writes: Vec<AnyWrite>,
    /// Has the call done at most once.
    pub token: Option<Token>,
    /// The second since the Unix epoch that expiries of cells count from; the clock's by default.
    pub now: Option<u64>,
}

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
        let (sender, receiver) = mpsc::sync_channel(1);
        self.submit_all(
            writes,
            Box::new(move |outcome| {
                let _ = sender.send(outcome);
            }),
        );
        receiver.recv().unwrap_or_else(|_| Err(lost()))
    }

    /// Writes as [`Engine::write_all`] does, without waiting: `done` is called once, from any
    /// thread, possibly before this returns. It must not block.
    pub fn submit_all(&self, writes: Vec<Write>, done: Completion) {
        let told = Told::new(self.observer.as_ref());
        self.inner.submit_planned(told.before(done), |inner, done| {
            // What was read is told, so it is read.
            if !told.is_wanted()
                && let [write] = writes.as_slice()
                && let Some(queued) = inner.attempt_blind(write, |written| vec![written], done)?
            {
                return Ok(queued);
            }
            let call = Call { token: None, now: None, told: &told };
            let answer = |once| match once {
                Once::Written(written) => Ok(written),
                Once::Repeated | Once::Mismatch => Err(lost()),
            };
            inner.attempt(writes.iter().map(Operation::Item), &call, answer, done)
        });
    }

    /// Writes as [`Engine::write_all`] does, at most once per token: a call repeated after a lost
    /// answer has no second effect.
    ///
    /// # Errors
    ///
    /// * As [`Engine::write_all`].
    pub fn write_all_once(&self, token: &Token, writes: Vec<Write>) -> Result<Once> {
        let (sender, receiver) = mpsc::sync_channel(1);
        self.submit_all_once(
            token.clone(),
            writes,
            Box::new(move |outcome| {
                let _ = sender.send(outcome);
            }),
        );
        receiver.recv().unwrap_or_else(|_| Err(lost()))
    }

    /// Writes as [`Engine::write_all_once`] does, without waiting.
    pub fn submit_all_once(
        &self,
        token: Token,
        writes: Vec<Write>,
        done: Box<dyn FnOnce(Result<Once>) + Send>,
    ) {
        let told = Told::new(self.observer.as_ref());
        self.inner.submit_planned(told.before(done), |inner, done| {
            let call = Call { token: Some(&token), now: None, told: &told };
            inner.attempt(writes.iter().map(Operation::Item), &call, Ok, done)
        });
    }

    /// Does writes to items and to cells, of any tables and partitions, all or none, and waits until
    /// they are durable. Each sees what those before it did.
    ///
    /// # Errors
    ///
    /// * As [`Engine::write_all`] and [`Engine::write_cells`].
    pub fn write_any(&self, call: AnyWrites) -> Result<Once> {
        let (sender, receiver) = mpsc::sync_channel(1);
        self.submit_any(
            call,
            Box::new(move |outcome| {
                let _ = sender.send(outcome);
            }),
        );
        receiver.recv().unwrap_or_else(|_| Err(lost()))
    }

    /// Writes as [`Engine::write_any`] does, without waiting. The answer has one [`Written`] for
    /// each write to an item, in their order.
    pub fn submit_any(&self, call: AnyWrites, done: Box<dyn FnOnce(Result<Once>) + Send>) {
        let told = Told::new(self.observer.as_ref());
        self.inner.submit_planned(told.before(done), |inner, done| {
            let operations = call.writes.iter().map(|write| match write {
                AnyWrite::Item(write) => Operation::Item(write),
                AnyWrite::Cells(mutation) => Operation::Cells(mutation),
            });
            let plan = Call { token: call.token.as_ref(), now: call.now, told: &told };
            inner.attempt(operations, &plan, Ok, done)
        });
    }
}
