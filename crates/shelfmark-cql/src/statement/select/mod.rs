//! `SELECT`: prepared into where to read, what to keep and what to show; then run page by page.
//!
//! * `selection`, `metadata`: what stands between `SELECT` and `FROM`.
//! * `masked`: the same for roles that see masked values.
//! * `prepare`: the whole statement, with Cassandra's refusals; `index_choice`: the index that serves it.
//! * `source`: where rows come from, in which order, from which position on.
//! * `nearest`: the rows whose vectors are most similar to one.
//! * `misfits`: what of another face's rows is null because it does not fit.
//! * `tokens`: bounds of `token(…)`.
//! * `walk`: where a page is in what it reads, and where it ended.
//! * `run`: a page, or all rows where they are sorted; `aggregate`: rows counted and grouped; `show`:
//!   rows that are answered as they lie in the store.

mod aggregate;
mod composites;
mod group_by;
mod held;
mod index_choice;
mod masked;
mod metadata;
mod misfits;
mod names;
mod nearest;
mod operators;
mod prepare;
mod qualify;
mod run;
mod selection;
mod show;
mod source;
mod tokens;
mod trace_steps;
mod walk;
mod whole_partitions;

use std::collections::BTreeSet;
use std::sync::Arc;

use shelfmark_cql_protocol::ColumnSpec;
use shelfmark_cql_types::function::Aggregate;
use shelfmark_cql_types::term::Expr;

use super::relation::{Restrictions, Test};
use crate::schema::Table;

pub(crate) use masked::Masked;
pub(crate) use names::column_name;
pub(crate) use prepare::prepare_select;
pub(crate) use run::{Inline, Run, run_select};
pub(crate) use show::Shown;

/// A prepared `SELECT`.
#[derive(Debug, Clone)]
pub(crate) struct Select {
    pub(crate) table: Arc<Table>,
    /// The expression of each column of the answer.
    pub(crate) items: Vec<Expr>,
    /// The places of the items in a stored row, if none has to be computed and rows of partitions
    /// are read.
    pub(crate) shown: Option<Vec<Shown>>,
    /// Names of the items, for JSON.
    pub(crate) names: Vec<Arc<str>>,
    pub(crate) types: Vec<shelfmark_cql_types::CqlType>,
    /// The columns of the answer.
    pub(crate) result: Arc<[ColumnSpec]>,
    pub(crate) json: bool,
    pub(crate) distinct: bool,
    /// Aggregates with their arguments.
    pub(crate) aggregates: Vec<(Aggregate, Vec<Expr>)>,
    pub(crate) group_by: Vec<Expr>,
    pub(crate) restrictions: Restrictions,
    pub(crate) access: Access,
    /// Rows are tested one by one.
    pub(crate) filters: bool,
    /// Against the clustering order.
    pub(crate) reversed: bool,
    /// The places of the columns of `ORDER BY`.
    pub(crate) ordered: Vec<usize>,
    /// The rows are those that are nearest to a vector.
    pub(crate) nearest: Option<nearest::Nearest>,
    /// Statics are looked at.
    pub(crate) needs_statics: bool,
    pub(crate) limit: Option<Expr>,
    pub(crate) per_partition_limit: Option<Expr>,
    /// The warning that goes with each page.
    pub(crate) warning: Option<&'static str>,
    /// The read as roles without `UNMASK` have it, if the table has masks.
    pub(crate) masked: Option<Arc<Masked>>,
    /// Set where the rows are another face's.
    pub(crate) shared: Option<SharedRead>,
}

/// Says what a read of another face's table looks at.
#[derive(Debug, Clone)]
pub(crate) struct SharedRead {
    /// The numbers of the columns that are selected or restricted.
    looked_at: BTreeSet<u32>,
    /// The table that is read, where the column of the other attributes is not looked at.
    narrow: Option<Arc<shelfmark_engine::Table>>,
}

/// The access path of a query: where its rows are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Access {
    /// In the partitions that are named.
    Partitions,
    /// In the whole table or a range of tokens.
    Scan,
    /// In an index: its place among the table's, and the restriction that it serves.
    Index {
        index: usize,
        /// The place of the restricted column and of the test among its tests.
        column: usize,
        test: usize,
        /// Only in one partition, which is named.
        in_partition: bool,
    },
}

impl Select {
    /// Returns true if every column of the primary key is given one value.
    pub(crate) fn names_one_row(&self) -> bool {
        let key = self.table.partition_count + self.table.clustering_count;
        (0..key).all(|at| matches!(self.restrictions.of(at), [Test::Equal(_)]))
    }

    /// Returns true if rows are counted or grouped rather than shown.
    pub(crate) fn is_aggregate(&self) -> bool {
        !self.aggregates.is_empty() || !self.group_by.is_empty()
    }
}
