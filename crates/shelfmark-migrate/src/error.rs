//! Errors of a migration.

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of a migration.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The sides do not allow it; the text says what to do.
    #[error("{0}")]
    Refused(String),
    /// A store failed.
    #[error(transparent)]
    Store(#[from] shelfmark_store::Error),
    /// A record of the catalogue is damaged; verify the source.
    #[error(transparent)]
    Record(#[from] shelfmark_records::Error),
}
