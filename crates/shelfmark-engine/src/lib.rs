//! The engine: what faces call on the tables of a store, and what keeps a store up.
//!
//! Calls read and write tables (`calls`), change the catalogue (`engine`), and keep what outlives a
//! table's rows: backups, change streams. Work in the background, verification and mending see to a
//! store as a whole. The tables themselves, their rows and their commits are `shelfmark-tables`.
//!
//! What it is not: it knows no JSON, no CQL, no sockets and no async; faces translate their
//! languages into its requests. It reads no clock and no random generator of its own.
//!
//! Invariant: whoever has an [`Engine`] writes rows by its calls alone. Transactions of callers are
//! serializable with the ranges that they read.

mod background;
mod backups;
mod calls;
mod engine;
mod inner;
mod renew;
mod streams;
mod verify;
pub mod weight;

pub use background::{
    BackgroundEvent, BackgroundStatus, LastError, SetAside, SweepPosition, Upkeep, Work, WorkStatus,
};
pub use backups::{
    Backup, BackupKeeper, Continuous, DormantPage, Entry as LedgerEntry, HistoryWindow, Moment,
    SavedTable, StoreCopy, WindowChange, WindowPage,
};
pub use calls::View;
pub use engine::Engine;
pub use renew::{GivenSchema, KeyOwner, KeyOwners, LiveRows, Mended, Survivors, TableLoss};
pub use shelfmark_records::cells::{
    ClusteringValue, Expiry, LiveCell, LiveRow, Liveness, Span, SpanBound, Timestamp,
};
pub use shelfmark_records::{KeyPart, Misfit};
pub use shelfmark_store::{Durability, Peer, SnapshotId, budget, locks, threads};
pub use shelfmark_tables::catalogue::{
    CatalogueChange, Index, Namespace, Owner, SchemaChange, Table, TableEvent,
};
pub use shelfmark_tables::cells::{
    CellChange, CellCompletion, CellEntry, CellEstimate, CellFilter, CellGet, CellGot,
    CellIndexQuery, CellLimits, CellOperation, CellPage, CellQuery, CellScan, CellSink, CellWrites,
    CellsShown, ConditionalRead, Decision, Mutation, PartitionView, ShownRow,
};
pub use shelfmark_tables::commit::{AnyWrite, AnyWrites, Completion, Once, Token, Transaction};
pub use shelfmark_tables::items::{
    Change, ChangePosition, Get, Got, ItemChange, Query, ResultPage, Returns, Scan, Segment, Write,
    Written,
};
pub use shelfmark_tables::rows::Cursor;
pub use shelfmark_tables::shards::{
    HookResult, Shard, ShardGrowth, SplitEvent, SplitFailure, SplitHook, SplitSubscription,
};
pub use shelfmark_tables::shared::{
    AttributesText, ColumnCheck, ColumnChecks, FieldKind, ItemCheck, ItemChecks, OtherAttributes,
    Share, SharedColumns, declare_fields, declared_fields,
};
pub use shelfmark_tables::{
    AccessReport, AccessStep, Environment, Error, ErrorKind, Failure, Observer, Random, Refusal,
    Result, SeededRandom,
};
pub use streams::{StreamKeeper, StreamPage, StreamRange, StreamShardState, StreamTable};
pub use verify::{FINDINGS_MAX, Finding, Verification};
