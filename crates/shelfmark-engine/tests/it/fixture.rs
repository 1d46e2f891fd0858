//! A store that an earlier build wrote opens unchanged. See `tests/fixtures/README.md`.

#![allow(clippy::disallowed_methods, reason = "a test copies files of its own")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use shelfmark_engine::{ChangePosition, Engine, Get, Query, Scan, Write};
use shelfmark_keycode::KeyType;
use shelfmark_model::{
    IndexKind, IndexSchema, IndexState, Item, Key, KeyColumn, Projected, TableName, TtlSource,
    Value,
};
use shelfmark_store::clock::ManualClock;
use shelfmark_store::embedded::{EmbeddedStore, Options};

use crate::drivers::{START_SECONDS, open, plain};

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/format1")
}

fn name() -> TableName {
    TableName::new("test", "books")
}

fn engine_at(folder: &Path) -> Engine {
    let clock = Arc::new(ManualClock::at_micros(START_SECONDS * 1_000_000));
    let store = EmbeddedStore::open(folder, Options::default(), clock.clone()).unwrap();
    open(Arc::new(store), &clock)
}

fn item(shelf: u32, book: u32) -> Item {
    let pages = i64::from(shelf * 100 + book);
    Item::new()
        .with("pk", format!("shelf {shelf}"))
        .with("sk", format!("book {book:02}"))
        .with("tag", if book.is_multiple_of(2) { "even" } else { "odd" })
        .with("pages", Value::number(pages))
}

/// A row of several chunks.
fn large() -> Item {
    let text = |letter: &str| letter.repeat(40_000);
    Item::new().with("pk", "p").with("sk", "s").with("a", text("a")).with("b", text("b"))
}

/// Writes the fixture; to be run with `SHELFMARK_WRITE_FIXTURE=1` by the build whose format it keeps.
#[test]
fn the_fixture_is_written_when_asked_for() {
    if std::env::var_os("SHELFMARK_WRITE_FIXTURE").is_none() {
        return;
    }
    assert!(!fixture().exists(), "what an earlier build wrote is not written again");
    std::fs::create_dir_all(fixture().parent().unwrap()).unwrap();
    let engine = engine_at(&fixture());
    let mut schema = plain("books").with_index(IndexSchema {
        name: "by_tag".to_owned(),
        kind: IndexKind::Secondary,
        partition: vec![KeyColumn::new("tag", KeyType::Text)],
        sort: Vec::new(),
        projected: Projected::All,
        state: IndexState::Public,
    });
    schema.options.change_log = true;
    schema.options.exact_counts = true;
    schema.options.ttl = Some(TtlSource::PerItem);
    schema.options.face.insert("note".to_owned(), Value::text("kept as it is"));
    let table = engine.create_table(schema).unwrap();
    for shelf in 0..3 {
        for book in 0..5 {
            let mut write = Write::put(&table, item(shelf, book));
            // Later than the fixture is read.
            write.expires_at = (book == 4).then_some(START_SECONDS + 1_000);
            engine.write(write).unwrap();
        }
    }
    let gone = engine.create_table(plain("gone")).unwrap();
    engine.write(Write::put(&gone, item(9, 9))).unwrap();
    engine.drop_table(&TableName::new("test", "gone")).unwrap();
    engine.create_table(plain("empty")).unwrap();
    let table = engine.create_table(plain("large")).unwrap();
    engine.write(Write::put(&table, large())).unwrap();
    engine.store().close().unwrap();
}

#[test]
fn a_store_of_format_1_opens_and_everything_is_read() {
    let copy = tempfile::tempdir().unwrap();
    copy_folder(&fixture(), copy.path());
    let engine = engine_at(copy.path());
    let names = engine.table_names(None, None, 10).unwrap();
    assert_eq!(names, [name(), TableName::new("test", "empty"), TableName::new("test", "large")]);
    let table = engine.table(&name()).unwrap();
    assert_eq!(table.schema.options.face["note"], Value::text("kept as it is"));
    for shelf in 0..3 {
        for book in 0..5 {
            let key = Key::pair(format!("shelf {shelf}"), format!("book {book:02}"));
            let got = engine.get(&table, &Get::new(key)).unwrap();
            assert_eq!(got.item, Some(item(shelf, book)));
        }
    }
    let partition = Query::partition(vec!["shelf 1".into()]).descending();
    let page = engine.query(&table, &partition).unwrap();
    assert_eq!(page.items, (0..5).rev().map(|book| item(1, book)).collect::<Vec<_>>());
    let odd = engine.query(&table, &Query::partition(vec!["odd".into()]).index("by_tag")).unwrap();
    assert_eq!(odd.count, 6);
    assert_eq!(engine.scan(&table, &Scan::default()).unwrap().count, 15);
    assert_eq!(engine.count(&table).unwrap(), 15);
    let changes = engine.changes(&table, None::<ChangePosition>, 100).unwrap();
    assert_eq!(changes.len(), 15);
    assert_eq!(changes[0].new, Some(item(0, 0)));

    let table_of_large = engine.table(&TableName::new("test", "large")).unwrap();
    let got = engine.get(&table_of_large, &Get::new(Key::pair("p", "s"))).unwrap();
    assert_eq!(got.item, Some(large()));

    // It goes on being written.
    engine.write(Write::put(&table, item(5, 0))).unwrap();
    assert_eq!(engine.count(&table).unwrap(), 16);
    engine.purge().unwrap();
    engine.store().close().unwrap();
}

fn copy_folder(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            std::fs::create_dir_all(&target).unwrap();
            copy_folder(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
