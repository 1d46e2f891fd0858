//! Moves a store to another engine: a folder to a cluster, a cluster to a folder.
//!
//! Keys and values are the same on every driver, so they are copied as they are, but for what one
//! driver's engine remembers and another's must not believe ([`Translation`]). What it is not: a
//! server. Nobody writes to either side meanwhile.
//!
//! Invariant: until [`migrate`] has compared both sides, key by key, no engine opens the target, which
//! holds a mark instead of a format record; and the mark is what a second call goes on from.

mod compare;
mod copy;
mod error;
mod mark;
mod patience;
mod rows;
mod translation;

pub use error::{Error, Result};
pub use translation::Translation;

use shelfmark_store::Store;

use self::mark::Beginning;

/// A store, and the text that people know it by.
pub struct Side<'a> {
    /// The store, which nobody else writes to.
    pub store: &'a dyn Store,
    /// Its folder or address.
    pub name: String,
}

/// The state of a migration under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The work that is under way.
    pub phase: Phase,
    /// The keys that it has seen in this call.
    pub keys: u64,
    /// Bytes of these keys and their values.
    pub bytes: u64,
}

/// A part of a migration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Keys are copied.
    Copying,
    /// Both sides are read and compared.
    Comparing,
}

/// The outcome of a migration, as both sides have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Report {
    /// Keys on both sides.
    pub keys: u64,
    /// Bytes of the keys and their values.
    pub bytes: u64,
    /// The XXH3 hash of all keys and values in order, with their lengths.
    pub checksum: u64,
    /// Keys that this call copied; fewer than `keys` if an earlier call had begun.
    pub copied: u64,
    /// Keys that had to be put right when both sides were compared: the source was written after an
    /// earlier call had copied them.
    pub mended: u64,
}

/// Copies everything from one store to another, compares both, and has engines open the target.
///
/// A call that ended early is made again with the same sides and goes on. The target is empty at
/// first, and stays closed to engines until the end.
///
/// Cost: reads the source twice and the target once; a few MiB of memory.
///
/// # Errors
///
/// * [`Error::Refused`]: the target holds something else, somebody uses a side, or a key is longer
///   than the target takes. Nothing of the source was changed.
/// * [`Error::Store`]: a side failed. Call it again.
pub fn migrate(
    from: &Side<'_>,
    to: &Side<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Report> {
    check_alone(from)?;
    check_alone(to)?;
    mark::check_source(from)?;
    let translation = Translation::of(from.store, to.store)?;
    let beginning = mark::begin(from, to)?;
    let copied = match beginning {
        Beginning::At(next) => copy::run(from, to, &translation, next, progress)?,
        Beginning::Compared => 0,
    };
    let compared = compare::run(from, to, &translation, progress)?;
    check_alone(from)?;
    mark::end(to)?;
    Ok(Report {
        keys: compared.keys,
        bytes: compared.bytes,
        checksum: compared.checksum,
        copied,
        mended: compared.mended,
    })
}

/// Refuses a store that another process uses.
fn check_alone(side: &Side<'_>) -> Result<()> {
    let Some(peers) = side.store.peers() else { return Ok(()) };
    let others = peers.live()?.iter().filter(|peer| peer.id != peers.id()).count();
    if others > 0 {
        let servers = if others == 1 { "one server uses" } else { "several servers use" };
        return Err(Error::Refused(format!(
            "{servers} {}; stop them, wait ten seconds and call it again",
            side.name
        )));
    }
    Ok(())
}
