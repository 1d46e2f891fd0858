//! The grant that the owner of a table gives to other faces.

use std::collections::BTreeMap;

use shelfmark_model::{TableSchema, Value};

/// Under this name a table's own grant stands in `TableOptions::face`, in the words of [`Share::word`].
const OPTION: &str = "share";

/// A grant that the owner of tables gives to other faces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Share {
    /// Nothing: tables look as if they were not there.
    None,
    /// Reading.
    #[default]
    Read,
    /// Reading and writing.
    All,
}

impl Share {
    /// Every grant, the least first.
    pub const ALL: [Self; 3] = [Self::None, Self::Read, Self::All];

    /// Returns the word that options and commands use.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Read => "read",
            Self::All => "all",
        }
    }

    /// Returns the grant of a word.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|own| own.word() == word)
    }

    /// Puts a table's own grant into its options; `None` leaves it to the server.
    pub fn put(grant: Option<Self>, schema: &mut TableSchema) {
        Self::put_option(grant, &mut schema.options.face);
    }

    /// Puts a grant as [`Share::put`] does, into what the faces keep with a table.
    pub fn put_option(grant: Option<Self>, face: &mut BTreeMap<String, Value>) {
        match grant {
            Some(grant) => drop(face.insert(OPTION.to_owned(), Value::text(grant.word()))),
            None => drop(face.remove(OPTION)),
        }
    }

    /// Returns a table's own grant, if it has one.
    #[must_use]
    pub fn of_table(schema: &TableSchema) -> Option<Self> {
        Self::of_word(schema.options.face.get(OPTION)?.as_text()?)
    }
}
