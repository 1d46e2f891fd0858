//! `BEGIN TRANSACTION … COMMIT TRANSACTION`, of Cassandra 6: known, not answered by 5.0.

use crate::ast::{Conditions, Modification, Name, Select};

/// A transaction over several partitions.
#[derive(Clone, Debug, PartialEq)]
pub struct Transaction {
    /// `LET name = (SELECT …);`
    pub lets: Vec<(Name, Select)>,
    /// `SELECT …;` before the writes.
    pub returned: Option<Returned>,
    /// `IF … THEN … END IF`; the columns are [`Reference`]s written as column and field.
    pub conditions: Conditions,
    /// The writes.
    pub modifications: Vec<Modification>,
}

/// The answer of a transaction.
#[derive(Clone, Debug, PartialEq)]
pub enum Returned {
    /// A whole `SELECT`.
    Select(Box<Select>),
    /// Values of rows read by `LET`.
    References(Vec<Reference>),
}

/// `row.column`: a value of a row read by `LET`; or the row itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The name that `LET` gave.
    pub row: Name,
    /// The column.
    pub column: Option<Name>,
}
