//! One client: it runs one transaction after the other, one small step at a time.
//!
//! Invariant: each transaction that began is recorded once, with everything it read, whatever
//! became of it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::{self, Receiver};

use bytes::Bytes;
use shelfmark_store::random::SplitMix;
use shelfmark_store::txn::Transaction;
use shelfmark_store::{Commit, Committed, ErrorKind, Result, Store, Write};

use super::{Stage, is_expected, read_list};
use crate::history::{Outcome, Record, Version};

/// The action of a step of a transaction.
#[derive(Debug, Clone)]
enum Action {
    /// Reads a key, to be written later or not.
    Read(Bytes),
    /// Reads several at once.
    ReadMany(Vec<Bytes>),
    /// Appends to a key; reads it first if that was not done.
    Append(Bytes),
    /// Writes something to a key and takes it back.
    Regret(Bytes),
    /// Commits. The commit writes each key twice if so chosen.
    Commit(bool),
    /// Goes away without a commit.
    GiveUp,
}

enum State {
    Idle,
    Active(Box<Active>),
    Waiting(Record, Receiver<Result<Committed>>),
}

struct Active {
    txn: Transaction,
    record: Record,
    /// The list that each key holds as far as this transaction is concerned.
    lists: BTreeMap<Bytes, Vec<Version>>,
    plan: VecDeque<Action>,
}

pub(super) struct Client<'a> {
    /// The server that it speaks to.
    store: &'a dyn Store,
    random: SplitMix,
    begun: usize,
    state: State,
}

/// The result of a step.
pub(super) struct Step {
    /// Every transaction of the client has ended.
    pub(super) is_done: bool,
}

impl<'a> Client<'a> {
    pub(super) fn new(store: &'a dyn Store, seeds: &mut SplitMix) -> Self {
        Self { store, random: seeds.fork(), begun: 0, state: State::Idle }
    }

    /// Does one step. Waits only for the end of its own commit, and only in a step that does
    /// nothing else.
    pub(super) fn step(&mut self, stage: &Stage<'_>) -> Result<Step> {
        self.state = match std::mem::replace(&mut self.state, State::Idle) {
            State::Idle if self.begun == stage.workload.transactions => {
                return Ok(Step { is_done: true });
            }
            State::Idle => {
                self.begun += 1;
                self.begin(stage)?
            }
            State::Active(active) => self.act(*active, stage)?,
            State::Waiting(record, receiver) => {
                let ended = receiver.recv().unwrap_or_else(|_| Err(lost()));
                end(stage, record, ended)?;
                State::Idle
            }
        };
        Ok(Step { is_done: false })
    }

    fn begin(&mut self, stage: &Stage<'_>) -> Result<State> {
        // The event comes first: whatever ended before it must be seen.
        let began = stage.event();
        let base = match self.random.chance(500) {
            true => self.store.snapshot()?,
            false => self.store.latest()?,
        };
        let record = Record {
            id: began,
            reads: Vec::new(),
            writes: Vec::new(),
            outcome: Outcome::Aborted,
            began,
            ended: began,
        };
        let plan = self.plan(stage);
        let (txn, lists) = (Transaction::new(base), BTreeMap::new());
        Ok(State::Active(Box::new(Active { txn, record, lists, plan })))
    }

    /// Decides what a transaction will do.
    fn plan(&mut self, stage: &Stage<'_>) -> VecDeque<Action> {
        let mut keys: Vec<Bytes> =
            (0..stage.workload.keys).map(|at| stage.workload.key(at)).collect();
        let mut chosen = Vec::new();
        for _ in 0..2 + self.random.index(3) {
            if !keys.is_empty() {
                chosen.push(keys.swap_remove(self.random.index(keys.len())));
            }
        }
        let mut plan = VecDeque::new();
        match self.random.below(10) {
            // Reads some and appends to all of them.
            0..5 => {
                plan.extend(chosen.iter().cloned().map(Action::Read));
                plan.extend(chosen.into_iter().map(Action::Append));
            }
            // Reads some and appends to one, which is what write skew is made of.
            5..8 => {
                plan.push_back(Action::ReadMany(chosen.clone()));
                plan.extend(chosen.into_iter().take(1).map(Action::Append));
            }
            // Only reads.
            _ => plan.extend(chosen.into_iter().map(Action::Read)),
        }
        if self.random.chance(150)
            && let Some(key) = plan.iter().find_map(|action| match action {
                Action::Read(key) | Action::Append(key) => Some(key.clone()),
                _ => None,
            })
        {
            let at = self.random.index(plan.len());
            plan.insert(at, Action::Regret(key));
        }
        let is_given_up = self.random.chance(80);
        let is_twice = self.random.chance(250);
        plan.push_back(if is_given_up { Action::GiveUp } else { Action::Commit(is_twice) });
        plan
    }

    fn act(&mut self, mut active: Active, stage: &Stage<'_>) -> Result<State> {
        let action = active.plan.pop_front().unwrap_or(Action::GiveUp);
        let acted = match action {
            Action::Read(key) => active.read(&[key]),
            Action::ReadMany(keys) => active.read(&keys),
            Action::Append(key) => active.append(&key),
            Action::Regret(key) => active.regret(key),
            Action::Commit(is_twice) => return self.commit(active, is_twice, stage),
            Action::GiveUp => {
                end(stage, active.record, Err(given_up()))?;
                return Ok(State::Idle);
            }
        };
        match acted {
            Ok(()) => Ok(State::Active(Box::new(active))),
            Err(error) => {
                end(stage, active.record, Err(error))?;
                Ok(State::Idle)
            }
        }
    }

    fn commit(&mut self, mut active: Active, is_twice: bool, stage: &Stage<'_>) -> Result<State> {
        let mut commit = active.txn.into_commit();
        if is_twice {
            write_twice(&mut commit, &mut active.record);
        }
        if !commit.writes.is_empty() && stage.workload.filler_bytes > 0 {
            let key = Bytes::from(format!("filler/{:03}", self.random.below(200)));
            let value = Bytes::from(vec![b'f'; stage.workload.filler_bytes]);
            commit.writes.push(Write::Put { key, value });
        }
        let (sender, receiver) = mpsc::channel();
        let done = Box::new(move |ended| {
            // The receiver is there as long as the client is.
            let _ = sender.send(ended);
        });
        match self.store.submit(commit, done) {
            Ok(_) => Ok(State::Waiting(active.record, receiver)),
            Err(error) => {
                end(stage, active.record, Err(error))?;
                Ok(State::Idle)
            }
        }
    }
}

impl Active {
    fn read(&mut self, keys: &[Bytes]) -> Result<()> {
        let values = match keys {
            [key] => vec![self.txn.get(key)?],
            keys => self.txn.get_many(keys)?,
        };
        for (key, value) in keys.iter().zip(values) {
            let list = read_list(value.as_ref())?;
            // What the transaction wrote itself is no read of the store.
            if !self.record.writes.iter().any(|(written, _)| written == key) {
                self.record.reads.push((key.clone(), list.clone()));
            }
            self.lists.insert(key.clone(), list);
        }
        Ok(())
    }

    fn append(&mut self, key: &Bytes) -> Result<()> {
        if !self.lists.contains_key(key) {
            self.read(std::slice::from_ref(key))?;
        }
        let version = Version { txn: self.record.id, step: 0 };
        let list = self.lists.entry(key.clone()).or_default();
        list.push(version);
        let value = Version::list(list);
        if list.len() == 1 {
            // The key is absent as far as this transaction knows: both ways must do.
            self.txn.put_if_absent(key.clone(), value)?;
        } else {
            self.txn.put(key.clone(), value);
        }
        self.record.writes.push((key.clone(), version));
        Ok(())
    }

    fn regret(&mut self, key: Bytes) -> Result<()> {
        let savepoint = self.txn.savepoint();
        let never = Version { txn: self.record.id, step: u32::MAX };
        self.txn.put(key, Version::list(&[never]));
        self.txn.rollback_to(savepoint)
    }
}

/// Has the commit write each of its lists twice: nobody may see the first.
fn write_twice(commit: &mut Commit, record: &mut Record) {
    let mut twice = Vec::with_capacity(commit.writes.len() * 2);
    for write in std::mem::take(&mut commit.writes) {
        let (Write::Put { key, value } | Write::PutIfAbsent { key, value }) = &write else {
            twice.push(write);
            continue;
        };
        let mut list = Version::read_list(Some(value)).unwrap_or_default();
        if let Some(last) = list.last_mut() {
            last.step += 1;
        }
        let again = Write::Put { key: key.clone(), value: Version::list(&list) };
        twice.extend([write, again]);
    }
    commit.writes = twice;
    for (_, version) in &mut record.writes {
        version.step += 1;
    }
}

/// Records how a transaction ended. Hands on an error that it had no reason to expect.
fn end(stage: &Stage<'_>, mut record: Record, ended: Result<Committed>) -> Result<()> {
    record.outcome = match ended {
        Ok(committed) => {
            let has_written = !record.writes.is_empty();
            Outcome::Committed(has_written.then_some(committed.number))
        }
        Err(error) if error.kind() == ErrorKind::Undetermined => Outcome::Unknown,
        Err(error) if is_expected(error.kind()) => Outcome::Aborted,
        Err(error) => return Err(error),
    };
    record.ended = stage.event();
    stage.note(record);
    Ok(())
}

/// Returns the error of a transaction that is given up, like that of one that was refused.
fn given_up() -> shelfmark_store::Error {
    shelfmark_store::Error::new(ErrorKind::Conflict, "given up")
}

fn lost() -> shelfmark_store::Error {
    shelfmark_store::Error::new(ErrorKind::Internal, "a completion was dropped")
}
