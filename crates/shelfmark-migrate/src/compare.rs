//! Compares both sides key by key, and puts right what differs.
//!
//! A second call of a migration copies on where the first stopped, so whatever was written to the
//! source in between is found here.
//!
//! Invariant: it ends only after a pass that found no difference.

use std::cmp::Ordering;

use shelfmark_records::catalogue::keys::migration_key;
use shelfmark_store::{Row, Write};
use xxhash_rust::xxh3::Xxh3;

use crate::copy::check_key;
use crate::error::{Error, Result};
use crate::patience::commit;
use crate::rows::Rows;
use crate::translation::Translation;
use crate::{Phase, Progress, Side};

/// Passes after which the source must be one that somebody writes to.
const PASSES_MAX: usize = 3;
/// Differences that one commit puts right, and their bytes.
const MENDED_AT_ONCE: (usize, usize) = (1000, 1024 * 1024);

/// The content of both sides, counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Compared {
    pub(crate) keys: u64,
    pub(crate) bytes: u64,
    pub(crate) checksum: u64,
    pub(crate) mended: u64,
}

/// Compares until there is no difference.
pub(crate) fn run(
    from: &Side<'_>,
    to: &Side<'_>,
    translation: &Translation,
    progress: &mut dyn FnMut(Progress),
) -> Result<Compared> {
    let mut mended = 0;
    for _ in 0..PASSES_MAX {
        let found = Pass::new(from, to, translation).run(progress)?;
        if found.mended == 0 {
            return Ok(Compared { mended, ..found });
        }
        mended += found.mended;
    }
    Err(Error::Refused(format!(
        "{} and {} still differ after {PASSES_MAX} passes; somebody writes to one of them",
        from.name, to.name
    )))
}

/// One pass over both sides.
struct Pass<'a> {
    to: &'a Side<'a>,
    translation: &'a Translation,
    source: Rows<'a>,
    target: Rows<'a>,
    /// Of each side.
    hashes: (Xxh3, Xxh3),
    found: Compared,
    mending: Vec<Write>,
    mending_bytes: usize,
}

impl<'a> Pass<'a> {
    fn new(from: &'a Side<'a>, to: &'a Side<'a>, translation: &'a Translation) -> Self {
        Self {
            to,
            translation,
            source: Rows::from(from.store, bytes::Bytes::new()),
            target: Rows::from(to.store, bytes::Bytes::new()),
            hashes: (Xxh3::new(), Xxh3::new()),
            found: Compared::default(),
            mending: Vec::new(),
            mending_bytes: 0,
        }
    }

    fn run(mut self, progress: &mut dyn FnMut(Progress)) -> Result<Compared> {
        let (mut ours, mut theirs) = (self.next_ours()?, self.next_theirs()?);
        loop {
            let order = match (&ours, &theirs) {
                (None, None) => break,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(our), Some(their)) => our.key.cmp(&their.key),
            };
            let differs = match order {
                Ordering::Equal => {
                    ours.as_ref().map(|row| &row.value) != theirs.as_ref().map(|row| &row.value)
                }
                Ordering::Less | Ordering::Greater => true,
            };
            if differs {
                self.mend(ours.as_ref().filter(|_| order != Ordering::Greater), theirs.as_ref())?;
            }
            if order != Ordering::Greater {
                ours = self.next_ours()?;
            }
            if order != Ordering::Less {
                theirs = self.next_theirs()?;
            }
            if self.found.keys.is_multiple_of(1000) {
                let (keys, bytes) = (self.found.keys, self.found.bytes);
                progress(Progress { phase: Phase::Comparing, keys, bytes });
            }
        }
        self.commit()?;
        self.found.checksum = self.hashes.0.digest();
        if self.found.mended == 0 && self.found.checksum != self.hashes.1.digest() {
            return Err(Error::Refused("the checksums of both sides differ".to_owned()));
        }
        Ok(self.found)
    }

    /// Puts a row of the source, or deletes one that the source does not have.
    fn mend(&mut self, ours: Option<&Row>, theirs: Option<&Row>) -> Result<()> {
        let write = match (ours, theirs) {
            (Some(row), _) => {
                check_key(self.to, &row.key)?;
                self.mending_bytes += row.key.len() + row.value.len();
                Write::Put { key: row.key.clone(), value: row.value.clone() }
            }
            (None, Some(row)) => Write::Delete { key: row.key.clone() },
            (None, None) => return Ok(()),
        };
        self.found.mended += 1;
        self.mending.push(write);
        if self.mending.len() >= MENDED_AT_ONCE.0 || self.mending_bytes >= MENDED_AT_ONCE.1 {
            self.commit()?;
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        if !self.mending.is_empty() {
            commit(self.to, &std::mem::take(&mut self.mending))?;
            self.mending_bytes = 0;
        }
        Ok(())
    }

    /// Returns the next row of the source, as the target should have it.
    fn next_ours(&mut self) -> Result<Option<Row>> {
        while let Some(row) = self.source.next_row()? {
            if let Some(value) = self.translation.value_of(&row.key, row.value)? {
                let row = Row { key: row.key, value };
                self.found.keys += 1;
                self.found.bytes += (row.key.len() + row.value.len()) as u64;
                hash(&mut self.hashes.0, &row);
                return Ok(Some(row));
            }
        }
        Ok(None)
    }

    fn next_theirs(&mut self) -> Result<Option<Row>> {
        while let Some(row) = self.target.next_row()? {
            if row.key != migration_key() {
                hash(&mut self.hashes.1, &row);
                return Ok(Some(row));
            }
        }
        Ok(None)
    }
}

fn hash(hash: &mut Xxh3, row: &Row) {
    for part in [&row.key, &row.value] {
        hash.update(&(part.len() as u64).to_be_bytes());
        hash.update(part);
    }
}
