//! Large rows: what a write of one element costs does not grow with the others.

use std::collections::BTreeMap;
use std::sync::Arc;

use shelfmark_engine::{CellOperation, SweepPosition};
use shelfmark_keycode::KeyType;
use shelfmark_model::{CellIndex, CellIndexTarget, IndexState, TextFold};
use shelfmark_store::Store;
use shelfmark_store::clock::ManualClock;
use shelfmark_store::random::SplitMix;

use super::{A, LIST, MAP, as_text, bytes, key, schema, set, update};
use crate::drivers::{on_every_driver, open};
use crate::watched::Watched;

fn put(path: &str, value: &str) -> CellOperation {
    CellOperation::SetElement { column: MAP, path: bytes(path), value: bytes(value) }
}

#[test]
fn the_twenty_thousandth_element_costs_what_the_fiftieth_did() {
    let clock = Arc::new(ManualClock::at_micros(0));
    let store = Watched::new(&clock);
    let engine = open(Arc::clone(&store) as Arc<dyn Store>, &clock);
    let table = engine.create_table(schema("t")).unwrap();
    let write = |operation: CellOperation| {
        engine.write_cells(vec![update(&table, "p", key(1, "x"), 5, vec![operation])]).unwrap();
    };
    let append = |count: usize| CellOperation::Append {
        column: LIST,
        values: (0..count).map(|n| bytes(&format!("element {n}"))).collect(),
    };
    write(append(50));
    write(append(1));
    store.take();
    write(append(1));
    let small = store.take();
    for _ in 0..20 {
        write(append(1_000));
    }
    store.take();
    write(append(1));
    let large = store.take();
    assert!(large.gets <= small.gets + 1, "{small:?} {large:?}: the head and one chunk");
    assert!(large.writes <= small.writes + 1, "{small:?} {large:?}");
    let get = shelfmark_engine::CellGet {
        partition: bytes("p"),
        clustering: key(1, "x"),
        ..Default::default()
    };
    let row = engine.get_cells(&table, &get).unwrap().row.unwrap();
    assert_eq!(row.elements(LIST).len(), 20_053);
}

#[test]
fn writes_into_chunks_come_to_what_writes_of_the_whole_row_do() {
    on_every_driver(|bed| {
        let mut schema = schema("t");
        schema.cells.as_mut().unwrap().indexes = vec![CellIndex {
            name: "by_key".to_owned(),
            target: CellIndexTarget::Keys(MAP),
            terms: vec![KeyType::Text],
            fold: TextFold::default(),
            state: IndexState::Public,
        }];
        let table = bed.create_table(schema).unwrap();
        let mut random = SplitMix::new(3);
        let mut expected = BTreeMap::new();
        let value = |n: u64| format!("{n}-{}", "v".repeat(1_200));
        for at in 0..60 {
            let mut operations = Vec::new();
            for _ in 0..1 + random.index(12) {
                let path = format!("k{:04}", random.below(150));
                if random.chance(150) {
                    expected.remove(&path);
                    operations
                        .push(CellOperation::DeleteElement { column: MAP, path: bytes(&path) });
                } else {
                    let size = if random.chance(20) { 70_000 } else { 1 };
                    let value = format!("{}{}", value(at), "w".repeat(size));
                    operations.push(put(&path, &value));
                    expected.insert(path, value);
                }
            }
            // Of one commit, the greater value of a cell wins, so each is written once.
            let mut seen = std::collections::BTreeSet::new();
            operations.reverse();
            operations.retain(|operation| match operation {
                CellOperation::SetElement { path, .. }
                | CellOperation::DeleteElement { path, .. } => seen.insert(path.clone()),
                _ => true,
            });
            let timestamp = i64::try_from(at).unwrap() + 1;
            if random.chance(300) {
                operations.push(set(A, &value(at)));
            }
            let mut mutation = update(&table, "p", key(1, "x"), timestamp, operations);
            mutation.ttl_seconds = random.chance(100).then_some(1_000_000);
            bed.cells(vec![mutation]);
            if at % 10 == 9 {
                let row = bed.row(&table, "p", key(1, "x")).unwrap();
                let found: BTreeMap<String, String> = row
                    .elements(MAP)
                    .iter()
                    .map(|cell| (as_text(&cell.path), as_text(&cell.value)))
                    .collect();
                assert!(found == expected, "after {at}: {} {}", found.len(), expected.len());
                bed.check_sound();
            }
        }
        let hits = super::derived::hits(bed, &table, "by_key", shelfmark_engine::Span::all());
        assert_eq!(hits.len(), expected.len(), "an entry for each key");
        bed.seconds(2_000);
        let mut position = SweepPosition::default();
        while bed.sweep(&mut position, 100).unwrap() > 0 {}
        let row = bed.row(&table, "p", key(1, "x")).unwrap();
        assert_eq!(row.elements(MAP).len(), expected.len());
    });
}
