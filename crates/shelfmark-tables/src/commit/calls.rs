//! The calls that write: items, cells, or both in one commit.

use shelfmark_store::budget::Room;

use super::attempt::lost;
use super::plan::{Call, Operation};
use super::token::{Once, Token};
use super::told::Told;
use crate::cells::Mutation;
use crate::error::Result;
use crate::items::{Write, Written};
use crate::report::Observer;
use crate::tables::Tables;

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

impl Tables {
    /// Does several writes, all or none, over any tables and partitions. `done` is called once, from
    /// any thread, possibly before this returns; it must not block. Writes to one item see those
    /// before them. Items that come back draw from `room`.
    pub fn submit_all(
        &self,
        observer: Option<&Observer>,
        room: Option<&Room>,
        writes: &[Write],
        done: Completion,
    ) {
        let told = Told::new(observer);
        self.submit_planned(told.before(done), |tables, done| {
            // What was read is told, so it is read.
            if !told.is_wanted()
                && let [write] = writes
                && let Some(queued) = tables.attempt_blind(write, |written| vec![written], done)?
            {
                return Ok(queued);
            }
            let call = Call { token: None, now: None, told: &told, room };
            let answer = |once| match once {
                Once::Written(written) => Ok(written),
                Once::Repeated | Once::Mismatch => Err(lost()),
            };
            tables.attempt(writes.iter().map(Operation::Item), &call, answer, done)
        });
    }

    /// Writes as [`Tables::submit_all`] does, at most once per token.
    pub fn submit_all_once(
        &self,
        observer: Option<&Observer>,
        room: Option<&Room>,
        token: &Token,
        writes: &[Write],
        done: Box<dyn FnOnce(Result<Once>) + Send>,
    ) {
        let told = Told::new(observer);
        self.submit_planned(told.before(done), |tables, done| {
            let call = Call { token: Some(token), now: None, told: &told, room };
            tables.attempt(writes.iter().map(Operation::Item), &call, Ok, done)
        });
    }

    /// Does writes to items and to cells, of any tables and partitions, all or none. The answer has
    /// one [`Written`] for each write to an item, in their order.
    pub fn submit_any(
        &self,
        observer: Option<&Observer>,
        call: &AnyWrites,
        done: Box<dyn FnOnce(Result<Once>) + Send>,
    ) {
        let told = Told::new(observer);
        self.submit_planned(told.before(done), |tables, done| {
            let operations = call.writes.iter().map(|write| match write {
                AnyWrite::Item(write) => Operation::Item(write),
                AnyWrite::Cells(mutation) => Operation::Cells(mutation),
            });
            let plan = Call { token: call.token.as_ref(), now: call.now, told: &told, room: None };
            tables.attempt(operations, &plan, Ok, done)
        });
    }
}
