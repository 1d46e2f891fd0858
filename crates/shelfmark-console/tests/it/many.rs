//! A store of many tables and a table of many rows: what a page reads does not grow with them.

use std::sync::Arc;

use serde_json::json;
use shelfmark_engine::Engine;
use shelfmark_model::{KeyColumn, KeyType, TableName, TableSchema};
use shelfmark_store::clock::Clock;
use shelfmark_store::memory::MemoryStore;
use shelfmark_testkit::counting::{CountingStore, Reads};

use crate::stage::{Stage, text};

fn counted(clock: Arc<dyn Clock>) -> (Arc<CountingStore>, Arc<Reads>) {
    let store = CountingStore::new(Arc::new(MemoryStore::new(clock)));
    let reads = store.reads();
    (Arc::new(store), reads)
}

fn create(engine: &Engine, count: usize) {
    for number in 0..count {
        let name = TableName::new("dynamodb", format!("table-{number:05}"));
        engine.create_table(TableSchema::new(name, KeyColumn::new("pk", KeyType::Text))).unwrap();
    }
}

/// Returns what a page reads, asked a second time.
fn cost(reads: &Reads, ask: impl Fn()) -> u64 {
    ask();
    reads.reset();
    ask();
    reads.all()
}

/// Returns the costs of pages over a store with so many tables.
fn costs(tables: usize) -> Vec<(&'static str, u64)> {
    let (stage, reads) = Stage::over(counted);
    create(stage.dynamodb_engine(), tables);
    let page = |target: &'static str| (target, cost(&reads, || drop(stage.page(target))));
    let typed = json!({ "text": "SELECT * FROM table-0000", "at": 24 });
    let query = json!({
        "language": "dynamodb", "operation": "Scan", "text": "{\"TableName\": \"table-00049\"}",
    });
    vec![
        page("/tables"),
        page("/tables?after=dynamodb%00table-00030"),
        page("/tables?owner=cql"),
        page("/tables/dynamodb/table-00040"),
        page("/tables/dynamodb/table-00040/rows"),
        page("/ask"),
        page("/server"),
        ("names", cost(&reads, || drop(stage.done("/ask/names", &typed)))),
        ("run", cost(&reads, || drop(stage.done("/ask/run", &query)))),
    ]
}

#[test]
fn pages_of_a_store_with_many_tables_read_no_more_than_of_one_with_some() {
    let (few, many) = (costs(1_500), costs(4_500));
    for ((what, few), (_, many)) in few.iter().zip(&many) {
        assert!(many <= &(few + 50), "{what}: {few} reads of 1500 tables, {many} of 4500");
        assert!(*many < 4_000, "{what}: {many} reads");
    }
}

#[test]
fn few_tables_among_many_are_found_page_by_page() {
    let (stage, _) = Stage::over(counted);
    create(stage.dynamodb_engine(), 1_200);
    stage.statement("CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    stage.statement("CREATE TABLE shop.events (who text PRIMARY KEY)");
    let (mut target, mut pages) = ("/tables?owner=cql".to_owned(), 0);
    loop {
        let response = stage.get(&target);
        let page = text(&response);
        pages += 1;
        if page.contains("events") {
            break;
        }
        let next =
            page.split("data-page=\"next\" href=\"").nth(1).and_then(|own| own.split('"').next());
        target = next.expect("there is more").replace("&amp;", "&");
    }
    assert!((2..=4).contains(&pages), "{pages}");
    assert!(stage.page("/tables?filter=table-01199").contains("table-01199"));
}

#[test]
fn a_page_of_rows_reads_a_page_however_many_rows_there_are() {
    let costs = [300, 3_000].map(|rows| {
        let (stage, reads) = Stage::over(counted);
        stage.items("orders");
        for first in (0..rows).step_by(25) {
            let put = |number: usize| {
                let (pk, sk) = (format!("p{}", number % 7), format!("{number:06}"));
                json!({ "PutRequest": { "Item": { "pk": { "S": pk }, "sk": { "S": sk } } } })
            };
            let puts: Vec<_> = (first..(first + 25).min(rows)).map(put).collect();
            stage.operation("BatchWriteItem", &json!({ "RequestItems": { "orders": puts } }));
        }
        ["rows", "rows?from=last", "rows?pk=p3"].map(|page| {
            cost(&reads, || drop(stage.get(&format!("/tables/dynamodb/orders/{page}"))))
        })
    });
    for (few, many) in costs[0].iter().zip(costs[1]) {
        assert!(many <= few + 200 && many < 2_000, "{costs:?}");
    }
}
