//! The part of a table's schema that is about its history: the changes that backups are made from.
//!
//! What it is not: a change stream. Nobody outside reads it, it has one log, and an entry holds the
//! item after the change alone, so that writes need not look at what was there.
//!
//! Invariant: while a table has a history, every change of a row is in its log, written by the commit
//! that makes the change.

/// The history that a table writes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History {
    /// Its name among the histories of the table, which no other one ever has.
    pub label: String,
    /// The id of the table that holds its log.
    pub log: u64,
    /// Days for which the table can be restored to any moment; `None` if only a backup that is being
    /// made needs the log.
    pub days: Option<u32>,
}
