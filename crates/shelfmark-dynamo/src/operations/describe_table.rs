//! DescribeTable, and the descriptions with sizes of other operations.
//!
//! A small table is counted before the answer, where the request was read; a larger one at the pool,
//! and the answer waits for a while only. The count then goes on without its client, for the next one.

use std::sync::Arc;

use shelfmark_engine::weight::{Allowance, Asker, Pool, Weight};
use shelfmark_engine::{Engine, Table};

use crate::describe;
use crate::errors::Result;
use crate::face::{Done, Face, full};
use crate::json::{Reader, Writer};
use crate::options::FaceOptions;
use crate::reply::Answered;
use crate::shape::Shape;
use crate::sizes::{Asked, KnownSizes, Sizes, Started};
use crate::table;

/// Answers DescribeTable.
pub(super) fn start(face: &Face, body: &[u8], allowance: Allowance, done: Done) {
    let table = parse(body).and_then(|name| table::find_named(&face.engine, &name));
    match table {
        Ok(table) if Engine::is_being_filled(&table) => {
            let describing = Describing::of(face, table, ("Table", "CREATING"));
            done.answer(Ok(describing.encode(&Sizes::default())));
        }
        Ok(table) => Describing::of(face, table, ("Table", "ACTIVE")).start(face, allowance, done),
        Err(error) => done.answer(Err(error)),
    }
}

/// A table that is described, and what is needed to do so from any thread.
pub(super) struct Describing {
    table: Arc<Table>,
    /// The member of the answer that has the description.
    member: &'static str,
    status: &'static str,
    options: Arc<FaceOptions>,
    sizes: Arc<KnownSizes>,
    pool: Arc<dyn Pool>,
}

impl Describing {
    /// Creates the description of a table, as this member of an answer and with this status.
    pub(super) fn of(
        face: &Face,
        table: Arc<Table>,
        (member, status): (&'static str, &'static str),
    ) -> Self {
        Self {
            table,
            member,
            status,
            options: Arc::clone(&face.options),
            sizes: Arc::clone(&face.sizes),
            pool: Arc::clone(&face.pool),
        }
    }

    /// Answers with the sizes that are known, or counts them first.
    pub(super) fn start(self, face: &Face, allowance: Allowance, done: Done) {
        match self.sizes.ask(&face.engine, &self.table) {
            Err(error) => done.answer(Err(error)),
            Ok(Asked::Known(sizes, count)) => {
                done.answer(Ok(self.encode(&sizes)));
                if let Some(count) = count {
                    self.count_beside(count, None);
                }
            }
            Ok(Asked::Count(count)) => self.count(count, allowance, done),
        }
    }

    /// Counts within `allowance`, and at the pool what that leaves.
    fn count(self, mut count: Started, mut allowance: Allowance, done: Done) {
        while allowance.rows() > 0 && !count.is_long() {
            match count.counting.step(&mut allowance) {
                Ok(false) => {}
                Ok(true) => return self.answer(count, done),
                Err(error) => return done.answer(Err(error)),
            }
        }
        let (asker, pool) = (done.asker(), Arc::clone(&self.pool));
        let work = move |admitted: std::result::Result<(), _>| match admitted {
            Ok(()) => self.wait(count, done),
            Err(_) => done.answer(Err(full())),
        };
        pool.run(asker, Weight::Heavy, Box::new(work));
    }

    /// Counts at the pool while the client is to wait, and then without it.
    fn wait(self, mut count: Started, done: Done) {
        loop {
            match count.counting.step(&mut Allowance::whole()) {
                Ok(true) => return self.answer(count, done),
                Ok(false) if count.is_long() => break,
                Ok(false) => self.pool.pause(),
                Err(error) => return done.answer(Err(error)),
            }
        }
        let last = self.sizes.last(&self.table);
        let sizes = last.as_deref().unwrap_or_else(|| count.counting.sizes());
        let (asker, answered) = (done.asker(), self.encode(sizes));
        done.answer(Ok(answered));
        if self.sizes.claim(&self.table) {
            self.count_beside(count, asker);
        }
    }

    /// Goes on with a claimed count at the pool, as a request of its own.
    fn count_beside(self, mut count: Started, asker: Asker) {
        let pool = Arc::clone(&self.pool);
        let work = move |admitted: std::result::Result<(), _>| {
            // Whoever asks next begins anew.
            let mut is_whole = admitted.is_err().then_some(false);
            while is_whole.is_none() {
                match count.counting.step(&mut Allowance::whole()) {
                    Ok(true) => is_whole = Some(true),
                    Ok(false) => self.pool.pause(),
                    Err(_) => is_whole = Some(false),
                }
            }
            match is_whole {
                Some(true) => drop(self.sizes.counted(count, true)),
                _ => self.sizes.give_up(&self.table),
            }
        };
        pool.run(asker, Weight::Heavy, Box::new(work));
    }

    fn answer(&self, count: Started, done: Done) {
        let sizes = self.sizes.counted(count, false);
        done.answer(Ok(self.encode(&sizes)));
    }

    fn encode(&self, sizes: &Sizes) -> Answered {
        Writer::answer(|out| {
            out.name(self.member);
            describe::put(out, &self.options, &self.table, self.status, sizes);
        })
    }
}

/// Returns the sizes of a table that are known, or what an allowance of a short read counts of it.
pub(super) fn quick_sizes(face: &Face, table: &Arc<Table>) -> Result<Sizes> {
    let mut count = match face.sizes.ask(&face.engine, table)? {
        Asked::Known(sizes, _) => return Ok((*sizes).clone()),
        Asked::Count(count) => count,
    };
    let mut allowance = Allowance::inline();
    while allowance.rows() > 0 {
        if count.counting.step(&mut allowance)? {
            break;
        }
    }
    Ok(count.counting.sizes().clone())
}

/// Reads a request whose only member is the name of a table.
pub(super) fn parse(body: &[u8]) -> Result<String> {
    let mut table = None;
    Reader::body(body, |reader, name| {
        match name {
            "TableName" => table = reader.text()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let mut shape = Shape::default();
    shape.table("TableName", table.as_deref());
    shape.check()?;
    Ok(table.unwrap_or_default())
}
