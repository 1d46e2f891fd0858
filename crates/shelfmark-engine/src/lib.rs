//! Tables over the store: rows, indexes, conditions, queries, transactions, expiry, change log and
//! access reports.
//!
//! What it is not: it knows no JSON, no CQL, no sockets and no async; faces translate their
//! languages into its requests. It reads no clock and no random generator of its own.
//!
//! Invariant: no rule of the engine itself rests on a range read. Every uniqueness is a validated key,
//! every exclusion too, whatever the driver. Transactions of callers are serializable with the ranges
//! that they read.

mod background;
mod backups;
mod catalogue;
mod cells;
mod commit;
mod engine;
mod environment;
mod error;
mod inner;
mod items;
mod renew;
mod report;
mod rows;
mod shards;
mod shared;
mod streams;
mod verify;
pub mod weight;

pub use background::{
    BackgroundEvent, BackgroundStatus, LastError, SetAside, SweepPosition, Upkeep, Work, WorkStatus,
};
pub use backups::{
    Backup, BackupKeeper, Continuous, DormantPage, Entry as LedgerEntry, HistoryWindow, Moment,
    StoreCopy, WindowChange, WindowPage,
};
pub use catalogue::{CatalogueChange, Index, Namespace, Owner, SchemaChange, Table, TableEvent};
pub use cells::{
    CellChange, CellCompletion, CellEntry, CellEstimate, CellFilter, CellGet, CellGot,
    CellIndexQuery, CellLimits, CellOperation, CellPage, CellQuery, CellScan, CellSink, CellWrites,
    CellsShown, ConditionalRead, Decision, Mutation, PartitionView, ShownRow,
};
pub use commit::{AnyWrite, AnyWrites, Completion, Once, Token, Transaction};
pub use engine::{Engine, Observer, View};
pub use environment::{Environment, Random, SeededRandom};
pub use error::{Error, ErrorKind, Failure, Refusal, Result};
pub use items::{
    Change, ChangePosition, Get, Got, ItemChange, Query, ResultPage, Returns, Scan, Segment, Write,
    Written,
};
pub use renew::{GivenSchema, KeyOwner, KeyOwners, Mended, Survivors, TableLoss};
pub use report::{AccessReport, AccessStep};
pub use rows::Cursor;
pub use shards::{
    HookResult, Shard, ShardGrowth, SplitEvent, SplitFailure, SplitHook, SplitSubscription,
};
pub use shared::{
    AttributesText, ColumnCheck, ColumnChecks, FieldKind, OtherAttributes, Share, SharedColumns,
    declare_fields, declared_fields,
};
pub use shelfmark_records::cells::{
    ClusteringValue, Expiry, LiveCell, LiveRow, Liveness, Span, SpanBound, Timestamp,
};
pub use shelfmark_records::{KeyPart, Misfit};
pub use shelfmark_store::{Durability, Peer, SnapshotId, budget, locks, threads};
pub use streams::{StreamKeeper, StreamPage, StreamRange, StreamShardState, StreamTable};
pub use verify::{FINDINGS_MAX, Finding, Verification};
