//! Reads the parts of a source at once, works on their pages where they were read, and collects what came
//! of it on the calling thread.
//!
//! Invariant: no more pages are held than parts, twice; a part's mark is handed on with what was read
//! before it, so whoever keeps both never loses or repeats a row.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

use serde::{Deserialize, Serialize};

use crate::control::Control;
use crate::error::Result;

/// The way that one part of a source has come.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mark {
    /// Nothing was read.
    #[default]
    Begin,
    /// All before this cursor was read.
    At(String),
    /// All was read.
    End,
}

/// A page of rows, and the mark behind it.
pub struct Page<R> {
    /// The rows.
    pub rows: Vec<R>,
    /// The mark behind them.
    pub mark: Mark,
}

/// A source whose parts are read independently of each other.
pub trait Source: Sync {
    /// A row.
    type Row;

    /// Begins to read a part; called on the thread that reads it.
    ///
    /// # Errors
    ///
    /// * Those of the source.
    fn open(&self, part: usize) -> Result<Box<dyn Part<Row = Self::Row> + '_>>;
}

/// A part of a source that is being read.
pub trait Part {
    /// A row.
    type Row;

    /// Reads the page behind a mark, which is not [`Mark::End`].
    ///
    /// # Errors
    ///
    /// * Those of the source.
    fn page(&mut self, behind: &Mark) -> Result<Page<Self::Row>>;
}

/// The work on the pages of one part.
pub type Work<'w, R, D> = Box<dyn FnMut(Vec<R>) -> Result<D> + 'w>;

/// Reads all parts from their marks on, at the pace of `control`.
///
/// `begin` makes the work of a part, on its thread; `collect` is called on this thread with each part's
/// number, what its work returned, and the mark behind it.
///
/// # Errors
///
/// * The first error of a part, of the work or of `collect`; what was collected before stays so.
pub fn walk<'w, S: Source, D: Send>(
    source: &S,
    marks: &[Mark],
    control: &Control<'_>,
    begin: &(dyn Fn(usize) -> Result<Work<'w, S::Row, D>> + Sync + 'w),
    collect: &mut dyn FnMut(usize, D, Mark) -> Result<()>,
) -> Result<()> {
    let failed = AtomicBool::new(false);
    let (send, receive) = mpsc::sync_channel::<(usize, Result<(D, Mark)>)>(marks.len().max(1));
    std::thread::scope(|scope| {
        for (part, mark) in marks.iter().enumerate().filter(|(_, mark)| **mark != Mark::End) {
            let (send, failed, mark) = (send.clone(), &failed, mark.clone());
            scope.spawn(move || {
                let mut hand_on = |done| send.send((part, Ok(done))).is_ok();
                let begun = source.open(part).and_then(|reader| Ok((reader, begin(part)?)));
                let ended = begun.and_then(|(mut reader, mut work)| {
                    read_part(&mut *reader, mark, (failed, control), &mut work, &mut hand_on)
                });
                if let Err(error) = ended {
                    // Nobody listens any more only when the walk has failed before.
                    let _ = send.send((part, Err(error)));
                }
            });
        }
        drop(send);
        let mut outcome = Ok(());
        for (part, done) in receive {
            let collected = done.and_then(|(done, mark)| collect(part, done, mark));
            if collected.is_err() {
                failed.store(true, Ordering::Relaxed);
                outcome = outcome.and(collected);
            }
        }
        outcome
    })
}

fn read_part<R, D>(
    reader: &mut dyn Part<Row = R>,
    mut mark: Mark,
    (failed, control): (&AtomicBool, &Control<'_>),
    work: &mut Work<'_, R, D>,
    hand_on: &mut dyn FnMut((D, Mark)) -> bool,
) -> Result<()> {
    while mark != Mark::End && !failed.load(Ordering::Relaxed) {
        control.go_on()?;
        let page = reader.page(&mark)?;
        control.pace(page.rows.len())?;
        mark = page.mark;
        if !hand_on((work(page.rows)?, mark.clone())) {
            break;
        }
    }
    Ok(())
}
