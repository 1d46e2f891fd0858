use std::collections::BTreeMap;

use super::codec::encode_inserted;
use super::live_row::Visible;
use super::tombstones::HighWater;
use super::*;
use bytes::Bytes;
use proptest::prelude::*;

fn expiry() -> impl Strategy<Value = Option<Expiry>> {
    proptest::option::of(
        (1..4u32, 0..4u64).prop_map(|(ttl_seconds, at_seconds)| Expiry { ttl_seconds, at_seconds }),
    )
}

fn cell() -> impl Strategy<Value = Cell> {
    let content = prop_oneof![
        (proptest::collection::vec(any::<u8>(), 0..3), expiry())
            .prop_map(|(value, expiry)| Content::Live { value: value.into(), expiry }),
        (0..4u64).prop_map(|at_seconds| Content::Dead { at_seconds }),
    ];
    (-2..4i64, content).prop_map(|(timestamp, content)| Cell { timestamp, content })
}

fn deletion() -> impl Strategy<Value = Deletion> {
    (-2..4i64, 0..4u64).prop_map(|(timestamp, at_seconds)| Deletion { timestamp, at_seconds })
}

/// Returns any content of one write. (Merging with nothing brings it into its normal form.)
fn row() -> impl Strategy<Value = CellRow> {
    let key = (0..3u32, prop_oneof![Just(Bytes::new()), Just(Bytes::from_static(b"k"))])
        .prop_map(|(column, path)| CellKey { column, path });
    let liveness =
        (-2..4i64, expiry()).prop_map(|(timestamp, expiry)| Liveness { timestamp, expiry });
    (
        proptest::option::of(liveness),
        proptest::option::of(deletion()),
        proptest::collection::btree_map(0..3u32, deletion(), 0..2),
        proptest::collection::btree_map(key, cell(), 0..5),
    )
        .prop_map(|(liveness, deletion, collections, cells)| {
            let mut row = CellRow { liveness, deletion, collections, cells };
            row.merge(CellRow::default());
            row
        })
}

fn merged(a: &CellRow, b: &CellRow) -> CellRow {
    let mut row = a.clone();
    row.merge(b.clone());
    row
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn writes_add_up_to_the_same_row_in_any_order(a in row(), b in row(), c in row()) {
        prop_assert_eq!(merged(&a, &b), merged(&b, &a));
        prop_assert_eq!(merged(&merged(&a, &b), &c), merged(&a, &merged(&b, &c)));
        prop_assert_eq!(merged(&a, &a), a);
    }

    #[test]
    fn a_row_comes_back(row in row()) {
        let stored = row.encode();
        prop_assert_eq!(CellRow::decode(&stored.head, &stored.chunks).unwrap(), row);
    }

    #[test]
    fn an_insert_is_encoded_as_the_row_that_it_is(
        timestamp in any::<i64>(),
        ttl in proptest::option::of((any::<u32>(), any::<u64>())),
        cells in proptest::collection::btree_map(0..300u32, proptest::collection::vec(any::<u8>(), 0..200), 0..9),
    ) {
        let expiry = ttl.map(|(ttl_seconds, at_seconds)| Expiry { ttl_seconds, at_seconds });
        let cells: Vec<(u32, Bytes)> =
            cells.into_iter().map(|(column, value)| (column, Bytes::from(value))).collect();
        let shared: Vec<(u32, &Bytes)> = cells.iter().map(|(column, value)| (*column, value)).collect();
        let cells = cells.iter().map(|(column, value)| {
            let content = Content::Live { value: value.clone(), expiry };
            (CellKey { column: *column, path: Bytes::new() }, Cell { timestamp, content })
        });
        let row = CellRow {
            liveness: Some(Liveness { timestamp, expiry }),
            cells: cells.collect(),
            ..CellRow::default()
        };
        prop_assert_eq!(encode_inserted(timestamp, expiry, &shared).unwrap(), row.encode().head);
    }

    #[test]
    fn a_high_water_mark_comes_back(until in any::<i64>(), has_chunks: bool) {
        let high_water = HighWater { until, has_chunks };
        prop_assert_eq!(HighWater::decode(&high_water.encode()).unwrap(), high_water);
    }

    #[test]
    fn readers_get_what_is_live(row in row(), now in 0..5u64, deleted in proptest::option::of(-2..4i64)) {
        let stored = row.encode();
        let declared: Vec<_> = (0..100).filter(|own| *own != 2).map(|own| (own, None)).collect();
        let visible = Visible { declared: Some(&declared), now, deleted };
        let found = LiveRow::decode(&stored.head, &stored.chunks, &visible, 1);
        let mut left = row;
        if let Some(deleted) = deleted {
            left.delete_up_to(deleted);
        }
        left.cells.retain(|key, _| key.column != 2);
        let expected: Vec<&CellKey> =
            left.cells.iter().filter(|(_, cell)| cell.live(now).is_some()).map(|(key, _)| key).collect();
        let found = found.unwrap();
        let keys = found.cells.iter().map(|own| (own.column, &own.path));
        prop_assert!(keys.eq(expected.into_iter().map(|own| (own.column, &own.path))));
        prop_assert_eq!(found.exists(), left.exists(now));
    }

    #[test]
    fn any_bytes_decode_or_fail_without_a_panic(
        mut bytes in proptest::collection::vec(any::<u8>(), 1..60),
    ) {
        let _ = CellRow::decode(&Bytes::from(bytes.clone()), &[]);
        bytes[0] = 2;
        let head = Bytes::from(bytes);
        let _ = CellRow::decode(&head, &[]);
        let visible = Visible { declared: None, now: 0, deleted: None };
        let _ = LiveRow::decode(&head, &[], &visible, 0);
        let _ = chunk_count(&head);
    }
}

fn write(timestamp: Timestamp, value: &'static [u8]) -> CellRow {
    let content = Content::Live { value: Bytes::from_static(value), expiry: None };
    of(Cell { timestamp, content })
}

fn of(cell: Cell) -> CellRow {
    let key = CellKey { column: 1, path: Bytes::new() };
    CellRow { cells: BTreeMap::from([(key, cell)]), ..CellRow::default() }
}

fn value(row: &CellRow, now_seconds: u64) -> Option<Bytes> {
    row.live_cells(1, now_seconds).next().and_then(|(_, cell)| cell.live(now_seconds).cloned())
}

#[test]
fn the_later_write_wins_and_ties_have_rules() {
    assert_eq!(value(&merged(&write(1, b"a"), &write(2, b"b")), 0).unwrap(), "b");
    assert_eq!(value(&merged(&write(2, b"b"), &write(2, b"a")), 0).unwrap(), "b");
    let dead = of(Cell { timestamp: 2, content: Content::Dead { at_seconds: 1 } });
    assert_eq!(value(&merged(&write(2, b"z"), &dead), 0), None);
    let expiry = Some(Expiry { ttl_seconds: 10, at_seconds: 50 });
    let expiring = of(Cell {
        timestamp: 2,
        content: Content::Live { value: Bytes::from_static(b"a"), expiry },
    });
    let row = merged(&write(2, b"z"), &expiring);
    assert_eq!(value(&row, 49).unwrap(), "a");
    assert_eq!(value(&row, 50), None);
}

/// Of two writes with one timestamp that expire at one second, the later one asked for less time: clocks
/// go on between them. That holds for times to live of days, too, which differ by a second.
#[test]
fn of_two_that_expire_together_the_later_written_wins() {
    let expiry = |ttl_seconds| Some(Expiry { ttl_seconds, at_seconds: 50 });
    let expiring = |ttl_seconds, value: &'static [u8]| {
        let content =
            Content::Live { value: Bytes::from_static(value), expiry: expiry(ttl_seconds) };
        of(Cell { timestamp: 2, content })
    };
    let inserted = |ttl_seconds| CellRow {
        liveness: Some(Liveness { timestamp: 2, expiry: expiry(ttl_seconds) }),
        ..CellRow::default()
    };
    for (shorter, longer) in [(1, 2), (100_000, 100_001)] {
        let row = merged(&expiring(longer, b"z"), &expiring(shorter, b"a"));
        assert_eq!(value(&row, 0).unwrap(), "a", "{shorter} and {longer} seconds");
        assert_eq!(merged(&inserted(longer), &inserted(shorter)), inserted(shorter));
        assert_eq!(merged(&inserted(shorter), &inserted(longer)), inserted(shorter));
    }
}

/// Two plain values of one timestamp: every node must keep the same one, which is the larger.
#[test]
fn of_two_plain_values_the_larger_wins() {
    for (a, b) in [(write(1, b"a"), write(1, b"b")), (write(1, b"b"), write(1, b"a"))] {
        assert_eq!(value(&merged(&a, &b), 0).unwrap(), "b");
    }
}

/// A deletion of the row covers what was written up to its timestamp, that included: cells, deletions of
/// collections, and that the row was inserted.
#[test]
fn a_deletion_covers_what_was_written_up_to_it() {
    let all = |timestamp| CellRow {
        liveness: Some(Liveness { timestamp, expiry: None }),
        collections: BTreeMap::from([(7, Deletion { timestamp, at_seconds: 0 })]),
        ..write(timestamp, b"a")
    };
    let deletion = Deletion { timestamp: 5, at_seconds: 100 };
    let deleted = CellRow { deletion: Some(deletion), ..CellRow::default() };
    assert_eq!(merged(&all(5), &deleted), deleted);
    let later = CellRow { deletion: Some(deletion), ..all(6) };
    assert_eq!(merged(&all(6), &deleted), later);
    // A tombstone of a range takes the row's own deletion away where it says no more.
    for (up_to, left) in [(4, &deleted), (5, &CellRow::default()), (6, &CellRow::default())] {
        let mut row = deleted.clone();
        row.delete_up_to(up_to);
        assert_eq!(row, *left, "up to {up_to}");
    }
    let mut row = later;
    row.delete_up_to(5);
    assert_eq!(row, all(6), "what is later than the tombstone stays");
    row.delete_up_to(6);
    assert_eq!(row, CellRow::default());
}

/// A cell that expires at a second is dead at that second, and is forgotten once the grace is over, not
/// at its last second; what lives stays.
#[test]
fn what_is_dead_is_forgotten_after_its_grace() {
    let expiry = Some(Expiry { ttl_seconds: 10, at_seconds: 50 });
    let content = Content::Live { value: Bytes::from_static(b"a"), expiry };
    let expiring = of(Cell { timestamp: 1, content });
    let dead = of(Cell { timestamp: 1, content: Content::Dead { at_seconds: 50 } });
    let forgotten = |row: &CellRow, now_seconds, before_seconds| {
        let mut row = row.clone();
        row.forget(now_seconds, before_seconds);
        row
    };
    assert_eq!(forgotten(&expiring, 49, 0), expiring);
    assert_eq!(forgotten(&expiring, 50, 50), dead);
    assert_eq!(forgotten(&expiring, 60, 51), CellRow::default());
    assert_eq!(forgotten(&write(1, b"a"), 1_000, 1_000), write(1, b"a"));
    let inserted = |expiry| CellRow {
        liveness: Some(Liveness { timestamp: 1, expiry }),
        collections: BTreeMap::from([(7, Deletion { timestamp: 1, at_seconds: 50 })]),
        ..CellRow::default()
    };
    assert_eq!(forgotten(&inserted(expiry), 60, 50), inserted(expiry));
    assert_eq!(forgotten(&inserted(expiry), 60, 51), CellRow::default());
    let plain = forgotten(&inserted(None), 60, 51);
    assert_eq!(plain, CellRow { collections: BTreeMap::new(), ..inserted(None) });
}

#[test]
fn a_late_write_under_a_deletion_stays_dead_until_the_grace_is_over() {
    let deleted = CellRow {
        deletion: Some(Deletion { timestamp: 5, at_seconds: 100 }),
        ..CellRow::default()
    };
    let mut row = merged(&deleted, &write(4, b"late"));
    assert!(!row.exists(100));
    assert!(merged(&row, &write(6, b"new")).exists(100));
    row.forget(1_000, 100);
    assert!(row.deletion.is_some(), "not yet over");
    row.forget(1_000, 101);
    assert_eq!(row, CellRow::default());
}

#[test]
fn an_inserted_row_lives_without_cells_and_an_updated_one_does_not() {
    let inserted =
        CellRow { liveness: Some(Liveness { timestamp: 1, expiry: None }), ..CellRow::default() };
    assert!(inserted.exists(0));
    let dead = of(Cell { timestamp: 2, content: Content::Dead { at_seconds: 1 } });
    assert!(merged(&inserted, &dead).exists(0));
    assert!(!merged(&write(1, b"a"), &dead).exists(0));
}

#[test]
fn overwriting_a_collection_hides_its_older_elements() {
    let element = |timestamp: Timestamp, path: &'static [u8]| CellRow {
        cells: BTreeMap::from([(
            CellKey { column: 7, path: Bytes::from_static(path) },
            Cell { timestamp, content: Content::Live { value: Bytes::new(), expiry: None } },
        )]),
        ..CellRow::default()
    };
    let overwritten = CellRow {
        collections: BTreeMap::from([(7, Deletion { timestamp: 4, at_seconds: 0 })]),
        ..element(5, b"new")
    };
    let row = merged(&merged(&element(3, b"old"), &overwritten), &element(6, b"later"));
    let paths: Vec<&[u8]> = row.live_cells(7, 0).map(|(key, _)| key.path.as_ref()).collect();
    assert_eq!(paths, [b"later".as_slice(), b"new".as_slice()]);
}

#[test]
fn a_large_collection_is_cut_between_elements() {
    let mut row = CellRow::default();
    for n in 0..50_000u32 {
        let key = CellKey { column: 1, path: Bytes::copy_from_slice(&n.to_be_bytes()) };
        let content = Content::Live { value: Bytes::from_static(b"value"), expiry: None };
        row.cells.insert(key, Cell { timestamp: 1_700_000_000_000_000, content });
    }
    let stored = row.encode();
    assert!(stored.chunks.len() > 10);
    assert!(stored.chunks.iter().all(|chunk| chunk.len() <= 64 * 1024 + 1));
    assert!(
        stored
            .chunks
            .iter()
            .all(|chunk| chunk.len() > 40 * 1024 || chunk == stored.chunks.last().unwrap())
    );
    assert_eq!(CellRow::decode(&stored.head, &stored.chunks).unwrap(), row);
    let before: Vec<Bytes> = stored.chunks.clone();
    let last = CellKey { column: 2, path: Bytes::new() };
    let content = Content::Live { value: Bytes::from_static(b"x"), expiry: None };
    row.cells.insert(last, Cell { timestamp: 1, content });
    let changed = row.encode().chunks.iter().zip(&before).filter(|(a, b)| a != b).count();
    assert_eq!(changed, 1, "appending changes the last chunk alone");
}

#[test]
fn a_large_cell_is_cut_and_put_together() {
    let mut row = write(1, b"small");
    for (column, size) in [(2, 70_000), (3, 10), (4, 200_000)] {
        let content = Content::Live { value: vec![7; size].into(), expiry: None };
        let key = CellKey { column, path: vec![b'p'; 5_000].into() };
        row.cells.insert(key, Cell { timestamp: 1, content });
    }
    let stored = row.encode();
    assert!(stored.chunks.iter().all(|chunk| chunk.len() <= 64 * 1024 + 1));
    assert!(stored.head.len() < 1000, "heads list the beginning of a path alone");
    assert_eq!(CellRow::decode(&stored.head, &stored.chunks).unwrap(), row);
    assert!(CellRow::decode(&stored.head, &stored.chunks[1..]).is_err());
    let mut swapped = stored.chunks.clone();
    swapped.swap(1, 2);
    let _ = CellRow::decode(&stored.head, &swapped);
}

impl Cell {
    /// Returns the value, if the cell is live at that second.
    pub fn live(&self, now_seconds: u64) -> Option<&bytes::Bytes> {
        match &self.content {
            Content::Live { value, expiry } if !has_expired(*expiry, now_seconds) => Some(value),
            _ => None,
        }
    }
}

impl CellRow {
    /// Returns true if the row exists: it was inserted, or a cell of it is live.
    pub fn exists(&self, now_seconds: u64) -> bool {
        self.liveness.is_some_and(|liveness| !has_expired(liveness.expiry, now_seconds))
            || self.cells.values().any(|cell| cell.live(now_seconds).is_some())
    }

    /// Walks over the live cells of a column: one for a plain column, one per element else.
    pub fn live_cells(
        &self,
        column: u32,
        now_seconds: u64,
    ) -> impl Iterator<Item = (&CellKey, &Cell)> {
        self.cells
            .iter()
            .filter(move |(key, cell)| key.column == column && cell.live(now_seconds).is_some())
    }
}
