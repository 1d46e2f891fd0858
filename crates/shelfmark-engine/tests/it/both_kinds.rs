//! Commits and interactive transactions over items and rows of cells together, on every driver.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;

use shelfmark_engine::{
    AnyWrite, AnyWrites, CatalogueChange, CellChange, CellGet, CellQuery, ErrorKind, Get, Once,
    Result, Table, Token, Transaction, Write,
};
use shelfmark_model::{Condition, Item, Key, Path, Value};

use crate::cells::{A, STATIC, as_text, bytes, insert, key, mutation, schema, set, update};
use crate::drivers::{Bed, START_SECONDS, on_every_driver, patiently, plain};

fn tables(bed: &Bed) -> (Arc<Table>, Arc<Table>) {
    let items = bed.create_table(plain("items")).unwrap();
    bed.change_catalogue(|| vec![CatalogueChange::CreateTable(schema("rows"))]);
    let rows = bed.engine.table(&schema("rows").name).unwrap();
    (items, rows)
}

fn item(sk: &str, n: i64) -> Item {
    Item::new().with("pk", "p").with("sk", sk).with("n", n)
}

fn put(items: &Arc<Table>, sk: &str, n: i64) -> AnyWrite {
    AnyWrite::Item(Write::put(items, item(sk, n)))
}

fn row(rows: &Arc<Table>, c: i32, at: i64, value: &str) -> AnyWrite {
    AnyWrite::Cells(insert(rows, "p", key(c, "d"), at, vec![set(A, value)]))
}

fn write(bed: &Bed, writes: Vec<AnyWrite>, token: Option<Token>) -> Result<Once> {
    let call = AnyWrites { writes, token, now: None };
    patiently(|| bed.engine.write_any(call.clone()))
}

fn number(bed: &Bed, items: &Table, sk: &str) -> Option<Item> {
    patiently(|| bed.engine.get(items, &Get::new(Key::pair("p", sk)))).unwrap().item
}

#[test]
fn one_commit_takes_both_kinds_in_their_order() {
    on_every_driver(|bed| {
        let (items, rows) = tables(bed);
        let writes = vec![
            put(&items, "a", 1),
            row(&rows, 1, 10, "one"),
            put(&items, "a", 2),
            AnyWrite::Cells(update(&rows, "p", key(1, "d"), 11, vec![set(A, "two")])),
        ];
        let Once::Written(written) = write(bed, writes, None).unwrap() else { panic!("no token") };
        // One answer for each item, none for cells.
        assert_eq!(written.len(), 2);
        assert_eq!(number(bed, &items, "a"), Some(item("a", 2)));
        assert_eq!(bed.value(&rows, "p", key(1, "d"), A).as_deref(), Some("two"));
        // The neighbour: a range of cells is deleted in such a commit.
        let all = AnyWrite::Cells(mutation(&rows, "p", 20, CellChange::DeletePartition));
        write(bed, vec![all, put(&items, "b", 3)], None).unwrap();
        assert_eq!(bed.row(&rows, "p", key(1, "d")), None);
        assert_eq!(number(bed, &items, "b"), Some(item("b", 3)));
        bed.check_sound();
    });
}

#[test]
fn what_one_kind_refuses_the_other_does_not_write() {
    on_every_driver(|bed| {
        let (items, rows) = tables(bed);
        let absent = Condition::NotExists(Path::attribute("pk"));
        let only_new = || AnyWrite::Item(Write::put(&items, item("a", 1)).when(absent.clone()));
        write(bed, vec![row(&rows, 1, 10, "one"), only_new()], None).unwrap();
        let refused = write(bed, vec![row(&rows, 2, 10, "two"), only_new()], None).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConditionFailed);
        assert_eq!(refused.failures().iter().map(|own| own.position).collect::<Vec<_>>(), [1]);
        assert_eq!(bed.row(&rows, "p", key(2, "d")), None);
        // A row of cells that cannot be written takes the item with it.
        let misplaced = AnyWrite::Cells(insert(&rows, "p", vec![], 10, vec![]));
        let refused = write(bed, vec![put(&items, "z", 1), misplaced], None).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Invalid);
        assert_eq!(number(bed, &items, "z"), None);
        bed.check_sound();
    });
}

#[test]
fn a_token_stands_for_both_kinds() {
    on_every_driver(|bed| {
        let (items, rows) = tables(bed);
        let token = |hash| Token {
            token: b"t".to_vec(),
            request_hash: hash,
            expires_at: START_SECONDS + 600,
        };
        let writes = |at, value| vec![put(&items, "a", 1), row(&rows, 1, at, value)];
        let first = write(bed, writes(10, "one"), Some(token(1))).unwrap();
        assert!(matches!(first, Once::Written(written) if written.len() == 1));
        let again = write(bed, writes(20, "two"), Some(token(1))).unwrap();
        assert_eq!(again, Once::Repeated);
        assert_eq!(write(bed, writes(30, "three"), Some(token(2))).unwrap(), Once::Mismatch);
        assert_eq!(bed.value(&rows, "p", key(1, "d"), A).as_deref(), Some("one"));
    });
}

fn cell(transaction: &Transaction<'_>, rows: &Table, c: i32) -> Result<Option<String>> {
    let get = CellGet { partition: bytes("p"), clustering: key(c, "d"), ..CellGet::default() };
    let row = transaction.get_cells(rows, &get)?.row;
    Ok(row.and_then(|row| row.cell(A).map(|cell| as_text(&cell.value))))
}

#[test]
fn a_transaction_reads_what_it_wrote_and_an_error_takes_all_of_it_back() {
    on_every_driver(|bed| {
        let (items, rows) = tables(bed);
        let body = |fails: bool| {
            let (items, rows) = (&items, &rows);
            move |transaction: &Transaction<'_>| {
                transaction.write(&Write::put(items, item("a", 1)))?;
                let one = insert(rows, "p", key(1, "d"), 10, vec![set(A, "one")]);
                transaction.write_cells(&one)?;
                assert_eq!(cell(transaction, rows, 1)?.as_deref(), Some("one"));
                let statics = CellChange::Statics(vec![set(STATIC, "s")]);
                transaction.write_cells(&mutation(rows, "p", 10, statics))?;
                let gone = CellChange::DeleteRow(key(1, "d"));
                transaction.write_cells(&mutation(rows, "p", 11, gone))?;
                assert_eq!(cell(transaction, rows, 1)?, None);
                let late = insert(rows, "p", key(1, "d"), 5, vec![set(A, "late")]);
                transaction.write_cells(&late)?;
                assert_eq!(cell(transaction, rows, 1)?, None, "it is earlier than the deletion");
                let query = CellQuery { partition: bytes("p"), ..CellQuery::default() };
                transaction.write_cells(&insert(rows, "p", key(2, "d"), 12, vec![set(A, "2")]))?;
                assert_eq!(transaction.query_cells(rows, &query)?.rows.len(), 1);
                let all = mutation(rows, "p", 12, CellChange::DeletePartition);
                let refused = transaction.write_cells(&all).unwrap_err();
                assert_eq!(refused.kind(), ErrorKind::Invalid);
                match fails {
                    true => Err(refused),
                    false => Ok(()),
                }
            }
        };
        bed.transact(body(true)).unwrap_err();
        assert_eq!(number(bed, &items, "a"), None);
        assert_eq!(bed.row(&rows, "p", key(2, "d")), None);
        bed.transact(body(false)).unwrap();
        assert_eq!(number(bed, &items, "a"), Some(item("a", 1)));
        assert_eq!(bed.value(&rows, "p", key(2, "d"), A).as_deref(), Some("2"));
        bed.settle();
        bed.check_sound();
    });
}

/// Writers that move an amount between an item and a row, and writers that do not read, in turns: the
/// sum stays, and no write is later than its row's high-water mark says.
#[test]
fn transactions_over_both_kinds_are_serializable_beside_writers_that_do_not_read() {
    on_every_driver(|bed| {
        let (items, rows) = tables(bed);
        bed.put(&items, item("a", 100));
        bed.cells(vec![insert(&rows, "p", key(1, "d"), 1, vec![set(A, "100")])]);
        let clock = AtomicI64::new(10);
        let next = || clock.fetch_add(1, Ordering::SeqCst);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        bed.transact(|transaction| step(transaction, &items, &rows, next()))
                            .unwrap();
                    }
                });
            }
            scope.spawn(|| {
                for c in 0..60 {
                    let row = insert(&rows, "p", key(100 + c, "d"), next(), vec![set(A, "0")]);
                    bed.cells(vec![row]);
                }
            });
        });
        assert_eq!(total(bed, &items, &rows), 200);
        let all = bed.keys(&rows, "p", Default::default(), false);
        assert_eq!(all.len(), 61);
        bed.settle();
        bed.check_sound();
    });
}

/// Moves 1 from the item to the row, looking at how many rows the partition has.
fn step(
    transaction: &Transaction<'_>,
    items: &Arc<Table>,
    rows: &Arc<Table>,
    at: i64,
) -> Result<()> {
    let held = transaction.get(items, &Get::new(Key::pair("p", "a")))?.item.unwrap();
    let held = whole(&held);
    let amount: i64 = cell(transaction, rows, 1)?.unwrap().parse().unwrap();
    transaction.write(&Write::put(items, item("a", held - 1)))?;
    let moved = set(A, &(amount + 1).to_string());
    transaction.write_cells(&update(rows, "p", key(1, "d"), at, vec![moved]))
}

fn total(bed: &Bed, items: &Table, rows: &Table) -> i64 {
    let held = number(bed, items, "a").unwrap();
    let held = whole(&held);
    let amount: i64 = bed.value(rows, "p", key(1, "d"), A).unwrap().parse().unwrap();
    held + amount
}

fn whole(item: &Item) -> i64 {
    match item.get("n") {
        Some(Value::Int(n)) => *n,
        other => panic!("no amount: {other:?}"),
    }
}

/// One reads a row and writes an item, the other reads the item and writes the row: each looks that
/// the other was not there, so they never both succeed.
#[test]
fn what_a_transaction_read_of_the_other_kind_is_validated() {
    on_every_driver(|bed| {
        let (items, rows) = tables(bed);
        for round in 0..30 {
            let (name, at) = (format!("r{round}"), 10);
            let takes_item = |transaction: &Transaction<'_>| {
                let is_free = cell(transaction, &rows, round)?.is_none();
                if is_free {
                    transaction.write(&Write::put(&items, item(&name, 1)))?;
                }
                Ok(is_free)
            };
            let takes_row = |transaction: &Transaction<'_>| {
                let get = Get::new(Key::pair("p", name.as_str()));
                let is_free = transaction.get(&items, &get)?.item.is_none();
                if is_free {
                    let row = insert(&rows, "p", key(round, "d"), at, vec![set(A, "taken")]);
                    transaction.write_cells(&row)?;
                }
                Ok(is_free)
            };
            let (one, other) = thread::scope(|scope| {
                let one = scope.spawn(|| bed.transact(takes_item).unwrap());
                let other = scope.spawn(|| bed.transact(takes_row).unwrap());
                (one.join().unwrap(), other.join().unwrap())
            });
            assert!(one != other, "round {round}: both saw {one}");
        }
    });
}
