//! Shapes of requests: what a request binds of which key, without its values.
//!
//! Invariant: two requests have one shape exactly if a pattern that covers one covers the other.

use std::fmt;

/// The forms that a text of a key may have by the templates of the model, the most specific first:
/// `USER#*`. `*` alone is any value, `?` a text that no row of the model has in this column.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Forms(pub Vec<String>);

/// The form of a text that no row of the model has.
pub const STRANGE: &str = "?";

impl Forms {
    /// Returns the forms of a value about which nothing more is known.
    #[must_use]
    pub fn any() -> Self {
        Self(vec!["*".to_owned()])
    }

    /// Returns the most specific form.
    #[must_use]
    pub fn first(&self) -> &str {
        self.0.first().map_or(STRANGE, String::as_str)
    }

    /// Returns true if a value of these forms may be one that the pattern means.
    fn fit(&self, pattern: &Self) -> bool {
        self.0.iter().any(|own| own == pattern.first())
    }
}

/// The kind of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Reads a row, a range or a table.
    Read,
    /// Puts a whole row.
    Put,
    /// Changes attributes of a row.
    Update,
    /// Deletes rows.
    Delete,
}

/// The values that a column may have.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Bound {
    /// One value.
    Equal(Forms),
    /// All that begin with a text.
    Prefix(Forms),
    /// All from a value, up to a value, or both; the forms are those of an end.
    Range {
        /// True if there is a lower end.
        from: bool,
        /// True if there is an upper end.
        to: bool,
        /// The beginnings of its ends.
        forms: Forms,
    },
}

/// A column that a request binds.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Part {
    /// The column.
    pub column: String,
    /// Its values.
    pub bound: Bound,
}

/// The shape of a request.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Shape {
    /// The kind of access.
    pub kind: Kind,
    /// The table.
    pub table: String,
    /// The index, if one is named.
    pub index: Option<String>,
    /// The columns that are bound: those of the key in its order, then others by name.
    pub parts: Vec<Part>,
    /// The attributes that an update changes, by name.
    pub changes: Vec<String>,
    /// True if it reads against the order of the key.
    pub backward: bool,
    /// True if it names a largest number of rows.
    pub limited: bool,
    /// True if rows are filtered after they were read.
    pub filtered: bool,
}

impl Shape {
    /// Tells how well a pattern of this shape covers a request: fully with 0, the more the less well,
    /// `None` if it does not.
    ///
    /// A limit and a filter are no part of the key range; they weigh, and decide between patterns that
    /// differ in them alone.
    #[must_use]
    pub fn covers(&self, request: &Self) -> Option<u8> {
        let is_one = self.kind == request.kind
            && self.table == request.table
            && self.index == request.index
            && self.changes == request.changes
            && self.backward == request.backward
            && self.parts.len() == request.parts.len();
        let fits = is_one
            && self
                .parts
                .iter()
                .zip(&request.parts)
                .all(|(own, other)| own.column == other.column && other.bound.fits(&own.bound));
        let differs = |own: bool, other: bool, weight: u8| if own == other { 0 } else { weight };
        fits.then(|| {
            differs(self.limited, request.limited, 1) + differs(self.filtered, request.filtered, 2)
        })
    }
}

impl Bound {
    fn fits(&self, pattern: &Self) -> bool {
        match (self, pattern) {
            (Self::Equal(own), Self::Equal(other)) | (Self::Prefix(own), Self::Prefix(other)) => {
                own.fit(other)
            }
            (
                Self::Range { from, to, forms },
                Self::Range { from: other_from, to: other_to, forms: others },
            ) => from == other_from && to == other_to && forms.fit(others),
            _ => false,
        }
    }

    /// Returns the forms.
    #[must_use]
    pub fn forms(&self) -> &Forms {
        match self {
            Self::Equal(forms) | Self::Prefix(forms) | Self::Range { forms, .. } => forms,
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let column = &self.column;
        match &self.bound {
            Bound::Equal(forms) => write!(out, "{column} = {}", forms.first()),
            Bound::Prefix(forms) => write!(out, "{column} begins {}", forms.first()),
            Bound::Range { from, to, forms } => {
                let ends = match (from, to) {
                    (true, true) => "between",
                    (true, false) => "from",
                    _ => "up to",
                };
                write!(out, "{column} {ends} {}", forms.first())
            }
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.kind {
            Kind::Read if self.parts.is_empty() => "read all of",
            Kind::Read => "read",
            Kind::Put => "put",
            Kind::Update => "update",
            Kind::Delete => "delete",
        };
        write!(out, "{word} {}", self.table)?;
        if let Some(index) = &self.index {
            write!(out, ".{index}")?;
        }
        for (at, part) in self.parts.iter().enumerate() {
            write!(out, "{} {part}", if at == 0 { "" } else { "," })?;
        }
        if !self.changes.is_empty() {
            write!(out, " set {}", self.changes.join(", "))?;
        }
        for (is, word) in
            [(self.backward, "backward"), (self.limited, "limit"), (self.filtered, "filter")]
        {
            if is {
                write!(out, ", {word}")?;
            }
        }
        Ok(())
    }
}
