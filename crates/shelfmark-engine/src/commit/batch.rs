//! Writes that happen together or not at all, in one call.

use std::sync::{Arc, PoisonError, RwLockReadGuard, mpsc};

use bytes::Bytes;
use shelfmark_store::{Commit, ErrorKind as StoreErrorKind};

use super::writer::Writer;
use crate::catalogue::{Shared, Table};
use crate::engine::{Engine, Inner};
use crate::error::{Error, ErrorKind, Failure, Result};
use crate::items::{Applied, Change, Write, Written, apply, blind, expiry};
use crate::keys::{Tree, tree_key};
use crate::records::Head;
use crate::rows::{chunk_key, read_row};

/// Told once how a call with writes ended.
pub type Completion = Box<dyn FnOnce(Result<Vec<Written>>) + Send>;

/// How often a call is planned again after a conflict before the caller is told.
pub(crate) const ATTEMPTS_MAX: usize = 64;

/// What makes a repeated call recognisable: a token of the caller's, and a hash of what it asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// The token, with whatever parts callers from each other before it.
    pub token: Vec<u8>,
    /// A hash of the request, of a form that later builds write in the same way: the same token with
    /// another hash is a mistake.
    pub request_hash: u64,
    /// Second since the Unix epoch at which the token is forgotten.
    pub expires_at: u64,
}

/// A due time that was found in the queue.
pub(crate) struct Due<'a> {
    /// Its own key.
    pub(crate) key: &'a [u8],
    /// The row, without chunk.
    pub(crate) row_key: &'a [u8],
    /// Second since the Unix epoch at which the row was to expire.
    pub(crate) second: u64,
    /// So long ago that it is no expiry.
    pub(crate) is_ignored: bool,
}

/// What became of a call with a [`Token`].
#[derive(Debug, Clone, PartialEq)]
pub enum Once {
    /// It was done now.
    Written(Vec<Written>),
    /// It had been done before; nothing was written.
    Repeated,
    /// The token belongs to another request; nothing was written.
    Mismatch,
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

    /// As [`Engine::write_all`], without waiting: `done` is called once, from any thread, possibly
    /// before this returns. It must not block.
    pub fn submit_all(&self, mut writes: Vec<Write>, done: Completion) {
        let mut done = Some(done);
        if self.observer.is_none()
            && let [write] = writes.as_mut_slice()
        {
            self.inner.submit_blind(write, &mut done);
        }
        let Some(done) = done else { return };
        let observer = self.observer.clone();
        self.inner.submit(
            writes,
            None,
            Box::new(move |outcome| {
                if let (Some(observer), Ok(Once::Written(written))) = (&observer, &outcome) {
                    written.iter().for_each(|written| observer(&written.report));
                }
                done(outcome.and_then(|once| match once {
                    Once::Written(written) => Ok(written),
                    Once::Repeated | Once::Mismatch => Err(lost()),
                }));
            }),
        );
    }

    /// As [`Engine::write_all`], at most once per token: a call repeated after a lost answer has no
    /// second effect.
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

    /// As [`Engine::write_all_once`], without waiting.
    pub fn submit_all_once(
        &self,
        token: Token,
        writes: Vec<Write>,
        done: Box<dyn FnOnce(Result<Once>) + Send>,
    ) {
        self.inner.submit(writes, Some(token), done);
    }
}

fn lost() -> Error {
    Error::new(ErrorKind::Undetermined, "the commit ended without an answer")
}

/// What one attempt at a call came to.
enum Attempt {
    /// Validated and ready to be queued, with its answers.
    Ready(Commit, Vec<Written>),
    /// Refused, or done before; the answer stands once everything queued is durable.
    Answer(Result<Once>),
    /// This table's flag for chunked rows must be persisted first.
    NeedsChunks(Arc<Table>),
    /// A table changed while the call was planned.
    Stale,
}

impl Inner {
    fn submit(
        &self,
        mut writes: Vec<Write>,
        token: Option<Token>,
        done: Box<dyn FnOnce(Result<Once>) + Send>,
    ) {
        let mut done = Some(done);
        for _ in 0..ATTEMPTS_MAX {
            match self.attempt(&mut writes, token.as_ref(), &mut done) {
                Ok(true) => return,
                Ok(false) => {}
                Err(error) => {
                    if let Some(done) = done.take() {
                        done(Err(error));
                    }
                    return;
                }
            }
        }
        if let Some(done) = done.take() {
            done(Err(Error::new(
                ErrorKind::Conflict,
                "other writers were faster every time; retry",
            )));
        }
    }

    /// Plans and queues the call once. `false` asks for another attempt.
    fn attempt(
        &self,
        writes: &mut [Write],
        token: Option<&Token>,
        done: &mut Option<Box<dyn FnOnce(Result<Once>) + Send>>,
    ) -> Result<bool> {
        self.refresh(writes)?;
        if let (None, [write]) = (token, &*writes)
            && let Some(queued) = self.attempt_blind(write, |one| Once::Written(vec![one]), done)?
        {
            return Ok(queued);
        }
        let tables: Vec<Arc<Table>> = writes.iter().map(|write| Arc::clone(&write.table)).collect();
        let gates = lock_gates(&tables);
        let head_keys = head_keys(writes)?;
        let latched = self.latches.lock(head_keys.iter().map(Vec::as_slice));
        let attempt = match self.plan(writes, token) {
            // The moment that was read is gone; there is a new one.
            Err(error) if error.kind() == ErrorKind::TooOld => return Ok(false),
            planned => planned?,
        };
        let (commit, answer): (Commit, Result<Once>) = match attempt {
            Attempt::Ready(commit, written) => (commit, Ok(Once::Written(written))),
            Attempt::Answer(answer) => (Commit::default(), answer),
            Attempt::Stale => return Ok(false),
            Attempt::NeedsChunks(table) => {
                drop((latched, gates));
                self.catalogue.set_chunked(&table)?;
                return Ok(false);
            }
        };
        self.queue(commit, answer, done)
    }

    /// Queues a write that need not look at its item, without what others need around their
    /// completion. Leaves `done` where it is if another way must be gone.
    fn submit_blind(&self, write: &mut Write, done: &mut Option<Completion>) {
        let queued = match self.refresh(std::slice::from_mut(write)) {
            Ok(()) => self.attempt_blind(write, |written| vec![written], done),
            Err(error) => Err(error),
        };
        if let Err(error) = queued
            && let Some(done) = done.take()
        {
            done(Err(error));
        }
    }

    /// Queues a write that need not look at its item; `None` if it must.
    fn attempt_blind<T: Send + 'static>(
        &self,
        write: &Write,
        answer: impl FnOnce(Written) -> T,
        done: &mut Option<Box<dyn FnOnce(Result<T>) + Send>>,
    ) -> Result<Option<bool>> {
        let _gate = write.table.shared.gate.read().unwrap_or_else(PoisonError::into_inner);
        if write.table.is_retired() {
            return Ok(Some(false));
        }
        let Some((put, written)) = blind(&write.table, write)? else { return Ok(None) };
        self.queue(Commit::of(vec![put]), Ok(answer(written)), done).map(Some)
    }

    /// Queues a commit whose end is told with `answer`. `false` asks for another attempt.
    pub(crate) fn queue<T: Send + 'static>(
        &self,
        commit: Commit,
        answer: Result<T>,
        done: &mut Option<Box<dyn FnOnce(Result<T>) + Send>>,
    ) -> Result<bool> {
        let Some(told) = done.take() else { return Ok(true) };
        // The completion is shared so that it survives a refused submit.
        let told = Arc::new(std::sync::Mutex::new(Some(told)));
        let on_end = Arc::clone(&told);
        let queued = self.store.submit(
            commit,
            Box::new(move |outcome| {
                let told = on_end.lock().unwrap_or_else(PoisonError::into_inner).take();
                if let Some(told) = told {
                    told(outcome.map_err(Error::from).and(answer));
                }
            }),
        );
        match queued {
            Ok(_) => Ok(true),
            Err(error) => {
                *done = told.lock().unwrap_or_else(PoisonError::into_inner).take();
                match error.kind() {
                    StoreErrorKind::Conflict | StoreErrorKind::Exists | StoreErrorKind::TooOld => {
                        Ok(false)
                    }
                    _ => Err(error.into()),
                }
            }
        }
    }

    /// Exchanges retired tables for their current form.
    fn refresh(&self, writes: &mut [Write]) -> Result<()> {
        for write in writes {
            if let Some(current) = self.catalogue.current(&write.table)? {
                write.table = current;
            }
            write.table.check_items()?;
        }
        Ok(())
    }

    fn plan(&self, writes: &[Write], token: Option<&Token>) -> Result<Attempt> {
        if writes.iter().any(|write| write.table.is_retired()) {
            return Ok(Attempt::Stale);
        }
        let writer = self.gated_writer()?;
        if let Some(token) = token
            && let Some(answer) = take_token(&writer, token)?
        {
            return Ok(Attempt::Answer(Ok(answer)));
        }
        let mut written = Vec::with_capacity(writes.len());
        let mut failures = Vec::new();
        for (position, write) in writes.iter().enumerate() {
            match apply(&writer, &write.table, write)? {
                Applied::Written(one) => written.push(one),
                Applied::Refused(refusal) => failures.push(Failure { position, refusal }),
                Applied::NeedsChunks => {
                    return Ok(Attempt::NeedsChunks(Arc::clone(&write.table)));
                }
            }
        }
        if !failures.is_empty() {
            return Ok(Attempt::Answer(Err(Error::refused(failures))));
        }
        Ok(Attempt::Ready(writer.into_commit(), written))
    }

    /// Deletes a row if it is still due, with all that follows from it; otherwise only the due time,
    /// of which nothing is left to do. Tells whether the row was deleted; `None` if others were
    /// faster every time, so that it is still to be done.
    ///
    /// Not waited for: a sweep that does not find it done does it again, and the due time stays as
    /// long as that is not certain.
    pub(crate) fn expire_row(&self, table: &Arc<Table>, due: &Due<'_>) -> Result<Option<bool>> {
        let tables = [Arc::clone(table)];
        let _gates = lock_gates(&tables);
        let head_key = chunk_key(due.row_key, 0);
        let _latched = self.latches.lock([head_key.as_slice()]);
        for _ in 0..ATTEMPTS_MAX {
            if let Some(outcome) = self.try_expire(table, due)? {
                return Ok(Some(outcome));
            }
        }
        Ok(None)
    }

    /// `None` after a conflict.
    fn try_expire(&self, table: &Arc<Table>, due: &Due<'_>) -> Result<Option<bool>> {
        if table.is_retired() {
            return Ok(None);
        }
        let writer = Writer { expiring: true, ..self.gated_writer()? };
        let is_due =
            !due.is_ignored && expires_at(&writer, table, due.row_key)? == Some(due.second);
        if is_due {
            let key = table.key_of(&table.key_item(due.row_key)?)?;
            apply(&writer, table, &Write::delete(table, key))?;
        }
        writer.buffer.borrow_mut().delete(Bytes::copy_from_slice(due.key));
        let commit = writer.into_commit();
        match self.store.submit(commit, Box::new(|_| {})) {
            Ok(_) => Ok(Some(is_due)),
            // Written meanwhile, or so the driver says.
            Err(error) => match error.kind() {
                StoreErrorKind::Conflict | StoreErrorKind::TooOld => Ok(None),
                _ => Err(error.into()),
            },
        }
    }
}

/// Locks the gates of the tables, each once, in the order of their ids.
pub(crate) fn lock_gates(tables: &[Arc<Table>]) -> Vec<RwLockReadGuard<'_, ()>> {
    let mut shared: Vec<(u64, &Shared)> =
        tables.iter().map(|table| (table.id, &*table.shared)).collect();
    shared.sort_by_key(|(id, _)| *id);
    shared.dedup_by_key(|(id, _)| *id);
    shared
        .into_iter()
        .map(|(_, shared)| shared.gate.read().unwrap_or_else(PoisonError::into_inner))
        .collect()
}

/// Returns the keys that the writes are latched by: those of the rows' heads.
fn head_keys(writes: &[Write]) -> Result<Vec<Vec<u8>>> {
    writes
        .iter()
        .map(|write| {
            let row_key = match &write.change {
                Change::Put(item) => write.table.key.row_key(&write.table.key_of(item)?)?,
                Change::Patch { key, .. } | Change::Delete(key) | Change::Check(key) => {
                    write.table.key.row_key(key)?
                }
            };
            Ok(chunk_key(&row_key, 0))
        })
        .collect()
}

/// Returns when a row expires, as it is now and by the table's settings as they are now.
fn expires_at(writer: &Writer, table: &Table, row_key: &[u8]) -> Result<Option<u64>> {
    let Some(row) = read_row(&writer.buffer, row_key)? else { return Ok(None) };
    let item = table.decode_whole(&row)?;
    let given = Head::parse(&row.head)?.expires_at;
    Ok(expiry(table, &item, given))
}

/// Behind hash and expiry of a token: the hash is of a form that stays as it is. Tokens of earlier
/// builds end before it.
const TOKEN_VERSION: u8 = 1;

/// Puts the token into the commit, unless it is there.
///
/// The hash of an earlier build's token was of a text that other builds write otherwise, so it says
/// nothing: a repetition is taken for one, for the ten minutes or so that such tokens still live.
fn take_token(writer: &Writer, token: &Token) -> Result<Option<Once>> {
    let mut key = tree_key(Tree::Tokens, 0);
    key.extend_from_slice(&token.token);
    let found = writer.buffer.borrow_mut().get(&key)?;
    if let Some(found) = found
        && let Some((hash, rest)) = found.split_first_chunk::<8>()
        && let Some((expires_at, version)) = rest.split_first_chunk::<8>()
        && u64::from_be_bytes(*expires_at) > writer.now
    {
        let same = version.is_empty() || u64::from_be_bytes(*hash) == token.request_hash;
        return Ok(Some(if same { Once::Repeated } else { Once::Mismatch }));
    }
    let mut value = token.request_hash.to_be_bytes().to_vec();
    value.extend_from_slice(&token.expires_at.to_be_bytes());
    value.push(TOKEN_VERSION);
    writer.buffer.borrow_mut().put(key, Bytes::from(value));
    Ok(None)
}
