//! Backups of tables of items: copies as of one moment, histories to any moment, and restores.
//!
//! Where the store holds a moment for hours, a backup copies the rows of one. Elsewhere, and for a history,
//! a copy is made without a long snapshot: while the rows are copied page by page, each page at a moment
//! of its own, the changes of the table go to its *history*; then those up to the end are applied to the
//! copy, which so becomes the table as of that end. A history that is kept for some days, with a copy
//! that follows behind it, gives every moment of these days.
//!
//! Copies, and logs of histories, are dormant tables in the namespace [`shelfmark_tables::catalogue::BACKUPS_NAMESPACE`]; what there
//! is and how far work has come is written in the *ledger*, an ordinary table there. So everything rests
//! on the storage contract alone and is the same on every driver.
//!
//! What it is not: a copy outside of the store. That is `whole`, and the export of a face.
//!
//! Invariant: work is found again in the ledger after a stop at any point, and doing any step of it twice
//! ends in the same rows. A table that is being filled is dormant until it is whole.

mod advance;
mod backup;
mod continuous;
mod copy;
mod fill;
mod filling;
mod history;
mod ingest;
mod keeper;
mod ledger;
mod pace;
mod replay;
mod restore;
mod source;
mod state;
mod whole;
mod window;

pub use backup::{Backup, SavedTable};
pub use continuous::Continuous;
pub use filling::DormantPage;
pub use keeper::BackupKeeper;
pub use ledger::Entry;
pub use restore::Moment;
pub(crate) use state::State;
pub use whole::StoreCopy;
pub use window::{HistoryWindow, WindowChange, WindowPage};
