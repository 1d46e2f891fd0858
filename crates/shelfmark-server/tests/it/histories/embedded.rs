//! Programs that embed the engine: transactions over rows of cells, also as items.

use std::sync::Arc;

use bytes::Bytes;
use shelfmark_engine::{CellGet, Get, Scan, Table, Transaction, Write};
use shelfmark_model::{Item, Key, TableName, Value};
use shelfmark_store::random::SplitMix;

use super::REQUESTS;
use super::world::{Log, Place, Rows, World, two};

/// The table, as one of cells and as one of items.
struct Tables {
    cells: Arc<Table>,
    items: Arc<Table>,
}

impl Tables {
    fn of(world: &World) -> Self {
        let name = TableName::new("h", "t");
        Self {
            cells: world.engine.table(&name).unwrap(),
            items: world.engine.shared_items(&name).unwrap(),
        }
    }
}

fn key((partition, row): Place) -> Key {
    let number = |n: u8| Value::number(i64::from(n));
    Key::pair(number(partition), number(row))
}

fn text_of(item: Option<&Item>) -> String {
    item.and_then(|item| item.get("v")?.as_text()).unwrap_or_default().to_owned()
}

/// Returns what the embedded engine sees of the table.
pub(super) fn rows(world: &World) -> Rows {
    let items = Tables::of(world).items;
    let page = world.engine.scan(&items, &Scan::default()).unwrap();
    let number = |item: &Item, name: &str| match item.get(name) {
        Some(Value::Number(n)) => n.to_string().parse().unwrap(),
        other => panic!("{name}: {other:?}"),
    };
    let row = |item: &Item| ((number(item, "p"), number(item, "c")), text_of(Some(item)));
    page.items.iter().map(row).collect()
}

/// Reads a row in the kind that it has, or as an item.
fn read(
    transaction: &Transaction<'_>,
    tables: &Tables,
    (partition, row): Place,
    as_item: bool,
) -> shelfmark_engine::Result<String> {
    if as_item {
        let item = transaction.get(&tables.items, &Get::new(key((partition, row))))?.item;
        return Ok(text_of(item.as_ref()));
    }
    let raw = |n: u8| Bytes::copy_from_slice(&i32::from(n).to_be_bytes());
    let clustering = vec![Some(raw(row))];
    let get = CellGet { partition: raw(partition), clustering, ..CellGet::default() };
    let column = tables.cells.schema.columns.iter().find(|column| column.name == "v").unwrap().id;
    let row = transaction.get_cells(&tables.cells, &get)?.row;
    let value = row.and_then(|row| row.cell(column).map(|cell| cell.value.clone()));
    Ok(String::from_utf8(value.unwrap_or_default().to_vec()).unwrap())
}

/// Does one program's transactions.
pub(super) fn work(world: &World, log: &Log, seed: u64) {
    let (mut random, tables) = (SplitMix::new(seed), Tables::of(world));
    for _ in 0..REQUESTS {
        let [read_only, written] = two(&mut random);
        let begun = log.begin("transact");
        let outcome = world.engine.transact(|transaction| {
            let seen = read(transaction, &tables, read_only, read_only.1 % 2 == 0)?;
            let old = read(transaction, &tables, written, written.1 % 2 == 0)?;
            let item = Item::new()
                .with("p", Value::number(i64::from(written.0)))
                .with("c", Value::number(i64::from(written.1)))
                .with("v", begun.append(&old));
            transaction.write(&Write::put(&tables.items, item))?;
            Ok([(read_only, seen), (written, old)])
        });
        match outcome {
            Ok(saw) => log.done(begun, &saw, &[written]),
            Err(error) => {
                assert_eq!(error.kind(), shelfmark_engine::ErrorKind::Conflict, "{error}");
                log.refused(begun, &[written]);
            }
        }
    }
}
