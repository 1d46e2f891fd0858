//! Takes over tables one after the other: each is copied in parts, then read on both sides and compared.
//!
//! Invariant: a table is done only after both sides were read anew and are the same.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::control::{Control, Progress};
use crate::error::{Error, ErrorKind, Result};
use crate::position::PositionFile;
use crate::sums::Sums;
use crate::walk::{Mark, Source, Work, walk};

/// Time between two positions.
const POSITION_PERIOD: Duration = Duration::from_secs(2);

/// A table that was taken over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MigratedTable {
    /// The table.
    pub table: String,
    /// Both sides have these rows.
    pub sums: Sums,
    /// Rows that were copied by the call that ended the table.
    pub copied: u64,
}

/// The step that is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Rows are copied.
    Copying,
    /// One side is read again.
    Comparing,
}

/// Told of each step, with the table.
pub type Told<'t> = dyn Fn(Step, &str) + Sync + 't;

#[derive(Default, Serialize, Deserialize)]
pub(crate) struct MigrationPosition {
    /// Tables that are done.
    pub(crate) done: BTreeMap<String, MigratedTable>,
    /// The table that is copied, and how far.
    current: Option<(String, Vec<Mark>)>,
}

/// A migration under way.
pub(crate) struct Migration<'m> {
    pub(crate) control: &'m Control<'m>,
    pub(crate) file: &'m PositionFile,
    pub(crate) told: &'m Told<'m>,
    pub(crate) parts: usize,
    pub(crate) position: MigrationPosition,
}

impl<'m> Migration<'m> {
    pub(crate) fn new(
        control: &'m Control<'m>,
        file: &'m PositionFile,
        told: &'m Told<'m>,
        parts: usize,
    ) -> Result<Self> {
        let position = file.load()?.unwrap_or_default();
        Ok(Self { control, file, told, parts, position })
    }

    /// Copies the rows of a table from where an earlier call ended, and compares both sides.
    ///
    /// `put` makes what writes a page, on each thread; `sum` adds rows in their fixed form.
    pub(crate) fn table<'w, S: Source, T: Source<Row = S::Row>>(
        &mut self,
        table: &str,
        (source, target): (&S, &T),
        put: &(dyn Fn(usize) -> Result<Work<'w, S::Row, u64>> + Sync + 'w),
        sum: &'w (dyn Fn(&S::Row, &mut Sums) + Sync),
    ) -> Result<()> {
        let copied = self.copy(table, source, put)?;
        (self.told)(Step::Comparing, table);
        let there = self.sums(source, sum)?;
        let here = self.sums(target, sum)?;
        if there != here {
            return Err(Error::new(
                ErrorKind::Differs,
                format!(
                    "{table} differs: the source has {there}, this side {here}; was it written to meanwhile? \
                     Call again to copy it again"
                ),
            ));
        }
        let done = MigratedTable { table: table.to_owned(), sums: here, copied };
        self.position.done.insert(table.to_owned(), done);
        self.file.save(&self.position)
    }

    fn copy<'w, S: Source>(
        &mut self,
        table: &str,
        source: &S,
        put: &(dyn Fn(usize) -> Result<Work<'w, S::Row, u64>> + Sync + 'w),
    ) -> Result<u64> {
        (self.told)(Step::Copying, table);
        let marks = match self.position.current.take() {
            Some((own, marks)) if own == table => marks,
            _ => vec![Mark::Begin; self.parts.max(1)],
        };
        let mut now_marks = marks.clone();
        let mut copied = 0;
        let mut noted_at = self.control.clock.monotonic();
        let (control, file, position) = (self.control, self.file, &mut self.position);
        let outcome = walk(source, &marks, control, put, &mut |part, rows, mark| {
            copied += rows;
            (control.progress)(Progress { rows: copied, bytes: 0 });
            if let Some(own) = now_marks.get_mut(part) {
                *own = mark;
            }
            let now = control.clock.monotonic();
            if now.saturating_sub(noted_at) >= POSITION_PERIOD {
                noted_at = now;
                position.current = Some((table.to_owned(), now_marks.clone()));
                file.save(position)?;
            }
            Ok(())
        });
        if outcome.is_err() {
            position.current = Some((table.to_owned(), now_marks));
            file.save(position)?;
        }
        outcome.map(|()| copied)
    }

    fn sums<'w, S: Source>(
        &self,
        source: &S,
        sum: &'w (dyn Fn(&S::Row, &mut Sums) + Sync),
    ) -> Result<Sums> {
        let mut all = Sums::default();
        let begin = move |_: usize| -> Result<Work<'w, S::Row, Sums>> {
            Ok(Box::new(move |rows: Vec<S::Row>| {
                let mut sums = Sums::default();
                rows.iter().for_each(|row| sum(row, &mut sums));
                Ok(sums)
            }))
        };
        let marks = vec![Mark::Begin; self.parts.max(1)];
        walk(source, &marks, self.control, &begin, &mut |_, sums, _| {
            all.merge(sums);
            (self.control.progress)(Progress { rows: all.rows, bytes: 0 });
            Ok(())
        })?;
        Ok(all)
    }

    /// Ends the migration: its tables are done.
    pub(crate) fn end(self) -> Result<Vec<MigratedTable>> {
        self.file.forget()?;
        Ok(self.position.done.into_values().collect())
    }
}
