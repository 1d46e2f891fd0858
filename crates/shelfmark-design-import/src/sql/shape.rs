//! The shape of a statement: what it reads or changes, with inputs for its values.
//!
//! Two statements of one shape are one pattern, whatever values they had.

/// A condition on a column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Condition {
    /// The number of the table, and its column.
    pub(super) table: usize,
    pub(super) column: String,
    /// The operator in the model's language.
    pub(super) operator: &'static str,
    /// The word that a column of few words is compared with.
    pub(super) word: Option<String>,
}

/// The change of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Change {
    /// It is set to an input.
    Set,
    /// It is taken away.
    Absent,
    /// A number is added: this one.
    By(String),
    /// A number is added: an input.
    ByInput,
}

/// A read or a change, without its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shape {
    Read {
        table: usize,
        /// Tables that the first refers to by a column, which are read with it.
        with: Vec<(String, usize)>,
        /// The columns shown; none of the first table means all of it.
        shown: Vec<(usize, String)>,
        /// True if equal answers are shown once.
        distinct: bool,
        aggregate: Option<String>,
        conditions: Vec<Condition>,
        order: Vec<(String, bool)>,
        limit: Option<String>,
        offset: bool,
    },
    Insert {
        table: usize,
        columns: Vec<String>,
        existing: &'static str,
        /// True if a row that is there keeps what the statement does not set.
        keeps: bool,
    },
    Update {
        table: usize,
        set: Vec<(String, Change)>,
        known: Vec<String>,
        /// Conditions on the row beside its key.
        asked: Vec<Condition>,
    },
    Delete {
        table: usize,
        known: Vec<String>,
        /// Conditions on the row beside its key.
        asked: Vec<Condition>,
    },
}

impl Shape {
    /// Returns a text that is the same for statements of one shape, whatever words they compare with.
    pub(super) fn text(&self) -> String {
        let mut bare = self.clone();
        bare.conditions().iter_mut().for_each(|one| one.word = None);
        format!("{bare:?}")
    }

    /// Keeps the words of this shape that another statement of the same shape has, too.
    pub(super) fn agree(&mut self, mut other: Self) {
        for (one, other) in self.conditions().iter_mut().zip(other.conditions()) {
            if one.word != other.word {
                one.word = None;
            }
        }
    }

    /// Returns the conditions of a number of rows, which a row keeps only with constants.
    fn conditions(&mut self) -> &mut [Condition] {
        match self {
            Self::Read { conditions, .. } => conditions,
            _ => &mut [],
        }
    }
}
