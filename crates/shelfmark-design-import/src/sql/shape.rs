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
    /// A number is added or, with `minus`, taken away: this one, or an input. `enough` is true if the
    /// change asks that as much is there.
    By { amount: Option<String>, minus: bool, enough: bool },
}

impl Change {
    /// Returns true if the change asks that as much is there as it takes away.
    pub(super) fn is_of_enough(&self) -> bool {
        matches!(self, Self::By { enough: true, .. })
    }

    /// Returns the number that is added, if the statement says it.
    fn amount(&mut self) -> Option<&mut Option<String>> {
        match self {
            Self::By { amount, .. } => Some(amount),
            _ => None,
        }
    }
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
    /// Returns a text that is the same for statements of one shape, whatever words they compare with and
    /// numbers they add.
    pub(super) fn text(&self) -> String {
        let mut bare = self.clone();
        bare.conditions().iter_mut().for_each(|one| one.word = None);
        bare.amounts().for_each(|one| *one = None);
        format!("{bare:?}")
    }

    /// Keeps the words and numbers of this shape that another statement of the same shape has, too.
    pub(super) fn agree(&mut self, mut other: Self) {
        for (one, other) in self.conditions().iter_mut().zip(other.conditions()) {
            if one.word != other.word {
                one.word = None;
            }
        }
        for (one, other) in self.amounts().zip(other.amounts()) {
            if one != other {
                *one = None;
            }
        }
    }

    /// Returns the numbers that are added.
    fn amounts(&mut self) -> impl Iterator<Item = &mut Option<String>> {
        let set = match self {
            Self::Update { set, .. } => set.as_mut_slice(),
            _ => &mut [],
        };
        set.iter_mut().filter_map(|(_, change)| change.amount())
    }

    /// Returns the conditions of a number of rows, which a row keeps only with constants.
    fn conditions(&mut self) -> &mut [Condition] {
        match self {
            Self::Read { conditions, .. } => conditions,
            _ => &mut [],
        }
    }
}
