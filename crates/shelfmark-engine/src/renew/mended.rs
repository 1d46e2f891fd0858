//! Reports what was done after a loss, for whoever operates the store.

use std::fmt;

use shelfmark_model::TableName;

/// Something that was made anew, or removed because it cannot be. Its text is a line for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mended {
    /// Records of the catalogue and their second copies were not the same.
    Catalogue {
        /// Records that are back from their copies.
        records: u64,
        /// Copies that were made anew.
        copies: u64,
    },
    /// Rows of a table that was lost are those of a schema that was given anew.
    Adopted {
        /// The table.
        table: TableName,
        /// Its number.
        id: u64,
    },
    /// A keyspace shared its name with another face, and has one of its own now.
    KeyspaceMoved {
        /// Its name before.
        from: String,
        /// Its name now.
        to: String,
        /// The number of its tables.
        tables: usize,
    },
    /// Part of a row was lost, and what was left of it was removed.
    RowRemoved {
        /// The table.
        table: TableName,
        /// The columns of its key and their values.
        row: String,
        /// The fault in what was left.
        why: String,
    },
    /// As [`Mended::RowRemoved`], of rows that are not named one by one.
    RowsRemoved {
        /// The table.
        table: TableName,
        /// The number of rows beyond those named.
        more: u64,
    },
    /// Indexes of a table were built anew.
    Indexes {
        /// The table.
        table: TableName,
        /// The number of indexes.
        indexes: usize,
    },
    /// A unique index could not be built: an older state of a row came back, and two rows have one
    /// key.
    IndexRemoved {
        /// The table.
        table: TableName,
        /// The index.
        index: String,
    },
    /// A view was built anew.
    View {
        /// The view.
        view: TableName,
        /// The table that it is of.
        base: TableName,
    },
    /// The table that a view is of is lost. The view is as it was; nobody can write it any more.
    ViewWithoutBase {
        /// The view.
        view: TableName,
        /// The table that is gone.
        base: TableName,
    },
    /// A view is lost, and its table no longer keeps it.
    ViewForgotten {
        /// The view that is gone.
        view: TableName,
        /// The table.
        base: TableName,
    },
    /// Counts of a table, its partitions or its shards were not what is there.
    Counts {
        /// The table.
        table: TableName,
        /// The number of counts that were corrected.
        corrected: u64,
    },
    /// Rows or deletions were not to be looked at when they expire, or may be forgotten.
    DueTimes {
        /// The table.
        table: TableName,
        /// The number of rows and deletions that were queued.
        queued: u64,
    },
    /// The records of deletions contradicted each other.
    Deletions {
        /// The table.
        table: TableName,
        /// The number of records that were corrected.
        corrected: u64,
    },
    /// Rows that had been deleted were back, and were deleted again.
    DeletedAgain {
        /// The table.
        table: TableName,
        /// The number of deletions of ranges that it took.
        deletions: u64,
    },
    /// Changes of which a part was lost were removed from a change log.
    ChangesRemoved {
        /// The table.
        table: TableName,
        /// The number of changes that were removed.
        removed: u64,
    },
    /// There are keys that no table or index has: what they were of is lost from the catalogue, or was
    /// dropped before. They are removed in the background.
    Unknown {
        /// Its number.
        id: u64,
    },
}

impl fmt::Display for Mended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Catalogue { records, copies } => write!(
                f,
                "the catalogue and its second copy were brought together: {records} records and \
                 {copies} copies came from the other side"
            ),
            Self::Adopted { table, id } => {
                write!(f, "the rows of table number {id} are those of {table} by the schema given")
            }
            Self::KeyspaceMoved { from, to, tables } => write!(
                f,
                "keyspace {from} is now {to}, with {tables} tables: its name belongs to another face"
            ),
            Self::RowRemoved { table, row, why } => {
                write!(
                    f,
                    "lost: the row ({row}) of {table}: what was left of it was removed ({why})"
                )
            }
            Self::RowsRemoved { table, more } => {
                write!(f, "lost: {more} more rows of {table}, of which parts were left")
            }
            Self::Indexes { table, indexes } => {
                write!(f, "indexes of {table} were built anew: {indexes}")
            }
            Self::IndexRemoved { table, index } => write!(
                f,
                "lost: unique index {index} of {table}: two rows have one key now; remove one and \
                 create the index again"
            ),
            Self::View { view, base } => write!(f, "view {view} was built anew from {base}"),
            Self::ViewWithoutBase { view, base } => {
                write!(f, "view {view} is left without its table {base}, which is lost; drop it")
            }
            Self::ViewForgotten { view, base } => write!(f, "lost: view {view} of {base}"),
            Self::Counts { table, corrected } => {
                write!(f, "counts of {table} were corrected: {corrected}")
            }
            Self::DueTimes { table, queued } => {
                write!(f, "rows or deletions of {table} that are to expire again: {queued}")
            }
            Self::Deletions { table, corrected } => {
                write!(f, "records of deletions in {table} were put right: {corrected}")
            }
            Self::DeletedAgain { table, deletions } => {
                write!(f, "deletions in {table} were done again, for rows were back: {deletions}")
            }
            Self::ChangesRemoved { table, removed } => {
                write!(f, "lost: changes in the change log of {table}: {removed}")
            }
            Self::Unknown { id } => write!(
                f,
                "keys of number {id}, which no table or index has, are removed: what it was is lost, \
                 or was dropped before"
            ),
        }
    }
}
