//! The steps of the model test, as numbers that are looked up in the pools of a table: so they
//! shrink well, and any of them fits any table.

use proptest::prelude::*;

/// What is done to the engine and to the oracle.
#[derive(Debug, Clone)]
pub(super) enum Step {
    /// One write.
    Write(WritePick),
    /// Several, all or none.
    WriteAll(Vec<WritePick>),
    /// A transaction with a body.
    Transact {
        operations: Vec<Operation>,
        aborts: bool,
    },
    Get {
        table: u8,
        key: u16,
    },
    Query(QueryPick),
    Scan(ScanPick),
    AddIndex {
        table: u8,
        index: u8,
    },
    DropIndex {
        table: u8,
        index: u8,
    },
    /// Drops the table and creates it again.
    Recreate {
        table: u8,
    },
    /// Changes an option that changes no answer: handles that were taken before are retired.
    Alter {
        table: u8,
    },
    Counts {
        table: u8,
    },
    Changes {
        table: u8,
        page: u8,
    },
    Advance {
        seconds: u8,
    },
    Sweep,
    Purge,
    Reopen,
}

/// What a transaction's body does.
#[derive(Debug, Clone)]
pub(super) enum Operation {
    Get { table: u8, key: u16 },
    Write(WritePick),
    Query(QueryPick),
}

#[derive(Debug, Clone)]
pub(super) struct WritePick {
    pub(super) table: u8,
    pub(super) key: u16,
    pub(super) change: ChangePick,
    /// 0 is none.
    pub(super) condition: u8,
    /// 0 is none.
    pub(super) expires: u8,
    pub(super) wants_images: bool,
}

#[derive(Debug, Clone)]
pub(super) enum ChangePick {
    Put(Attributes),
    Patch { operations: Vec<PatchPick>, creates: bool },
    Delete,
    Check,
}

/// Attributes that are no keys; 0 leaves one out.
#[derive(Debug, Clone)]
pub(super) struct Attributes {
    pub(super) n: u8,
    pub(super) tag: u8,
    pub(super) score: u8,
    pub(super) email: u8,
    pub(super) body: u8,
    pub(super) until: u8,
}

#[derive(Debug, Clone)]
pub(super) enum PatchPick {
    SetN(u8),
    AddN(u8),
    SetTag(u8),
    SetEmail(u8),
    RemoveScore,
    SetBody(u8),
    /// Copies an attribute that may be absent.
    Copy,
}

#[derive(Debug, Clone)]
pub(super) struct QueryPick {
    pub(super) table: u8,
    /// 0 is the table itself.
    pub(super) index: u8,
    pub(super) partition: u8,
    pub(super) sort: SortPick,
    pub(super) reading: Reading,
    pub(super) fetch_base: bool,
}

#[derive(Debug, Clone)]
pub(super) struct ScanPick {
    pub(super) table: u8,
    pub(super) index: u8,
    /// 0 and 1: the whole table.
    pub(super) segments: u8,
    /// For tables whose partitions have an order.
    pub(super) partitions: Option<(u8, u8, bool)>,
    pub(super) reading: Reading,
}

#[derive(Debug, Clone)]
pub(super) struct Reading {
    pub(super) descending: bool,
    pub(super) limit: Option<u8>,
    pub(super) bytes_max: Option<u16>,
    /// 0 is none.
    pub(super) filter: u8,
    pub(super) peek: bool,
    pub(super) count_only: bool,
}

#[derive(Debug, Clone)]
pub(super) struct SortPick {
    pub(super) kind: u8,
    pub(super) columns: u8,
    pub(super) lower: u8,
    pub(super) upper: u8,
    pub(super) bounds: u8,
}

fn attributes() -> impl Strategy<Value = Attributes> {
    (0..8u8, 0..6u8, 0..5u8, 0..6u8, 0..6u8, 0..5u8).prop_map(
        |(n, tag, score, email, body, until)| Attributes { n, tag, score, email, body, until },
    )
}

fn patch() -> impl Strategy<Value = PatchPick> {
    prop_oneof![
        (0..8u8).prop_map(PatchPick::SetN),
        (0..4u8).prop_map(PatchPick::AddN),
        (0..6u8).prop_map(PatchPick::SetTag),
        (0..6u8).prop_map(PatchPick::SetEmail),
        Just(PatchPick::RemoveScore),
        (0..6u8).prop_map(PatchPick::SetBody),
        Just(PatchPick::Copy),
    ]
}

fn change() -> impl Strategy<Value = ChangePick> {
    prop_oneof![
        6 => attributes().prop_map(ChangePick::Put),
        4 => (proptest::collection::vec(patch(), 1..4), any::<bool>())
            .prop_map(|(operations, creates)| ChangePick::Patch { operations, creates }),
        3 => Just(ChangePick::Delete),
        1 => Just(ChangePick::Check),
    ]
}

fn write() -> impl Strategy<Value = WritePick> {
    // Half of the writes look at nothing by themselves.
    let condition = prop_oneof![3 => Just(0u8), 2 => 1..7u8];
    (0..6u8, 0..80u16, change(), condition, 0..7u8, any::<bool>()).prop_map(
        |(table, key, change, condition, expires, wants_images)| WritePick {
            table,
            key,
            change,
            condition,
            expires,
            wants_images,
        },
    )
}

fn reading() -> impl Strategy<Value = Reading> {
    let filter = prop_oneof![2 => Just(0u8), 1 => 1..4u8];
    let limit = proptest::option::of(1..6u8);
    let bytes_max = proptest::option::weighted(0.3, 0..200u16);
    (any::<bool>(), limit, bytes_max, filter, any::<bool>(), proptest::bool::weighted(0.1))
        .prop_map(|(descending, limit, bytes_max, filter, peek, count_only)| Reading {
            descending,
            limit,
            bytes_max,
            filter,
            peek,
            count_only,
        })
}

fn sort() -> impl Strategy<Value = SortPick> {
    (0..6u8, 0..4u8, 0..30u8, 0..30u8, 0..9u8).prop_map(|(kind, columns, lower, upper, bounds)| {
        SortPick { kind, columns, lower, upper, bounds }
    })
}

fn query() -> impl Strategy<Value = QueryPick> {
    (0..6u8, 0..3u8, 0..12u8, sort(), reading(), any::<bool>()).prop_map(
        |(table, index, partition, sort, reading, fetch_base)| QueryPick {
            table,
            index,
            partition,
            sort,
            reading,
            fetch_base,
        },
    )
}

fn scan() -> impl Strategy<Value = ScanPick> {
    let partitions = proptest::option::of((0..12u8, 0..12u8, any::<bool>()));
    (0..6u8, 0..3u8, 0..6u8, partitions, reading()).prop_map(
        |(table, index, segments, partitions, reading)| ScanPick {
            table,
            index,
            segments,
            partitions,
            reading,
        },
    )
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        (0..6u8, 0..80u16).prop_map(|(table, key)| Operation::Get { table, key }),
        write().prop_map(Operation::Write),
        query().prop_map(Operation::Query),
    ]
}

/// A run of steps.
pub(super) fn steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        12 => write().prop_map(Step::Write),
        4 => proptest::collection::vec(write(), 1..6).prop_map(Step::WriteAll),
        4 => (proptest::collection::vec(operation(), 1..6), proptest::bool::weighted(0.2))
            .prop_map(|(operations, aborts)| Step::Transact { operations, aborts }),
        3 => (0..6u8, 0..80u16).prop_map(|(table, key)| Step::Get { table, key }),
        10 => query().prop_map(Step::Query),
        4 => scan().prop_map(Step::Scan),
        1 => (0..6u8, 0..2u8).prop_map(|(table, index)| Step::AddIndex { table, index }),
        1 => (0..6u8, 0..2u8).prop_map(|(table, index)| Step::DropIndex { table, index }),
        1 => (0..30u8).prop_filter_map("seldom", |table| {
            (table < 6).then_some(Step::Recreate { table })
        }),
        1 => (0..6u8).prop_map(|table| Step::Alter { table }),
        1 => (0..6u8).prop_map(|table| Step::Counts { table }),
        1 => (0..6u8, 1..5u8).prop_map(|(table, page)| Step::Changes { table, page }),
        2 => (1..4u8).prop_map(|seconds| Step::Advance { seconds }),
        1 => Just(Step::Sweep),
        1 => Just(Step::Purge),
        1 => Just(Step::Reopen),
    ];
    proptest::collection::vec(step, 1..most)
}
