//! The part of a table's schema that is about its change stream.
//!
//! A change stream is a log of a table's changes for readers outside: it is cut into shards, each
//! holding the partitions of a range of tokens for some time, and outlives the table. What it is
//! not: the table's own change log, which lies under the table's id and goes with it.
//!
//! Invariant: the open shards of a table cover all tokens, each token once, and are listed in the
//! order of their first tokens.

/// The images of an item that a change stream keeps beside its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangeImages {
    /// None.
    Keys,
    /// The item after the change.
    New,
    /// The item before the change.
    Old,
    /// Both.
    Both,
}

impl ChangeImages {
    /// Every choice.
    pub const ALL: [Self; 4] = [Self::Keys, Self::New, Self::Old, Self::Both];

    /// Returns the word that is stored.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Keys => "keys",
            Self::New => "new",
            Self::Old => "old",
            Self::Both => "both",
        }
    }

    /// Returns the choice that a stored word means.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|own| own.word() == word)
    }

    /// Returns true if the item before the change is kept.
    #[must_use]
    pub const fn has_old(self) -> bool {
        matches!(self, Self::Old | Self::Both)
    }

    /// Returns true if the item after the change is kept.
    #[must_use]
    pub const fn has_new(self) -> bool {
        matches!(self, Self::New | Self::Both)
    }
}

/// The change stream that a table writes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeStream {
    /// Its name among the streams of the table, which no other one ever has.
    pub label: String,
    /// The images that it keeps.
    pub images: ChangeImages,
    /// The shards that are written to, by their first tokens.
    pub shards: Vec<OpenShard>,
}

/// A shard of a change stream that is written to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenShard {
    /// The first token, as its bytes in keys order: the number whose big-endian bytes a row's key
    /// has.
    pub first_token: u64,
    /// Its number in the stream.
    pub number: u64,
    /// The id of the table that holds its log; 0 until the engine has created it.
    pub log: u64,
}

/// The settings of a table that holds the log of one shard of a change stream, and no rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamShard {
    /// The namespace of the table whose stream it is.
    pub namespace: String,
    /// The name of that table.
    pub table: String,
    /// The label of the stream.
    pub label: String,
    /// The images that the stream keeps.
    pub images: ChangeImages,
    /// Microseconds since the Unix epoch when the stream was started.
    pub started_at_micros: u64,
    /// Its number; later ones have greater numbers.
    pub number: u64,
    /// The number of the shard that it took over from.
    pub parent: Option<u64>,
    /// The first token that it holds, as in [`OpenShard`].
    pub first_token: u64,
    /// Microseconds since the Unix epoch when it was opened.
    pub opened_at_micros: u64,
    /// Microseconds since the Unix epoch when it was closed; `None` while it is open.
    pub closed_at_micros: Option<u64>,
}
