//! `docs/format.md`, "Keys of the engine" and after: the small store drawn there is what is written.
//!
//! The document holds every key and value of one small store. This writes that store through the
//! engine and compares, so that a change of any format shows here before it meets a user's data.

use bytes::Bytes;
use shelfmark_engine::{Token, Write};
use shelfmark_keycode::KeyType;
use shelfmark_model::{
    Direction, IndexKind, IndexSchema, IndexState, Item, KeyColumn, Placement, Projected,
    SortColumn, TableName, TableSchema, TtlSource, Value,
};
use shelfmark_store::{Direction as Way, KeyRange, ScanLimits, Snapshot};

use crate::drivers::{Bed, START_SECONDS, memory};

const DOCUMENT: &str = include_str!("../../../../docs/format.md");

/// Longer values are drawn by their beginning alone.
const DRAWN_BYTES_MAX: usize = 1024;
const BEGINNING_BYTES: usize = 24;

fn notes() -> TableSchema {
    let index = |name: &str, kind, column: &str, sort: Vec<SortColumn>, projected| IndexSchema {
        name: name.to_owned(),
        kind,
        partition: vec![KeyColumn::new(column, KeyType::Text)],
        sort,
        projected,
        state: IndexState::Public,
    };
    let at = SortColumn::new("at", KeyType::I64, Direction::Descending);
    let by_tag = Projected::Include(vec!["title".to_owned()]);
    let mut schema =
        TableSchema::new(TableName::new("app", "notes"), KeyColumn::new("who", KeyType::Text))
            .with_index(index("by_tag", IndexKind::Secondary, "tag", vec![at.clone()], by_tag))
            .with_index(index("slugs", IndexKind::Unique, "slug", vec![], Projected::KeysOnly));
    schema.sort.push(at);
    schema.options.ttl = Some(TtlSource::PerItem);
    schema.options.exact_counts = true;
    schema.options.change_log = true;
    schema
}

fn places() -> TableSchema {
    let partition = KeyColumn::new("land", KeyType::Text);
    let mut schema =
        TableSchema::new(TableName::new("app", "places"), partition).with_sort("n", KeyType::U8);
    schema.partition.push(KeyColumn::new("zip", KeyType::U16));
    schema.placement = Placement::Ordered;
    schema
}

fn write_small_store(bed: &Bed) {
    let notes = bed.create_table(notes()).unwrap();
    let places = bed.create_table(places()).unwrap();
    let note = Item::new()
        .with("who", "ann")
        .with("at", Value::Int(2))
        .with("tag", "x")
        .with("slug", "s")
        .with("title", "hi");
    let mut put = Write::put(&notes, note);
    put.expires_at = Some(START_SECONDS + 10);
    let token = Token { token: b"t".to_vec(), request_hash: 7, expires_at: START_SECONDS + 600 };
    bed.write_all_once(&token, vec![put]).unwrap();
    let place = Item::new()
        .with("land", "de")
        .with("zip", Value::Int(258))
        .with("n", Value::Int(1))
        .with("a", Value::Bytes(Bytes::from(vec![7; 40_000])))
        .with("b", Value::Bytes(Bytes::from(vec![8; 40_000])));
    bed.put(&places, place);
    let gone = bed.create_table(crate::drivers::plain("gone")).unwrap();
    bed.drop_table(&gone.schema.name).unwrap();
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    let whole = bytes.len() <= DRAWN_BYTES_MAX;
    let shown = if whole { bytes } else { bytes.get(..BEGINNING_BYTES).unwrap_or(bytes) };
    let text = shown.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ");
    if whole { text } else { format!("{text} … {} bytes", bytes.len()) }
}

/// Every key and value of the store, in order.
pub(crate) fn dump(bed: &Bed) -> Vec<(String, String)> {
    let snapshot = bed.engine.store().snapshot().unwrap();
    let mut rows = Vec::new();
    let mut rest = Some(KeyRange { start: Bytes::new(), end: None });
    while let Some(range) = rest {
        let page =
            Snapshot::scan(&*snapshot, &range, Way::Ascending, ScanLimits::default()).unwrap();
        rows.extend(page.rows.iter().map(|row| (hex(&row.key), hex(&row.value))));
        rest = page.next;
    }
    rows
}

fn bare(column: &str) -> String {
    column.trim().trim_matches('`').to_owned()
}

/// The rows of the document's table with this head: its last two columns.
pub(crate) fn drawn(head: &str) -> Vec<(String, String)> {
    DOCUMENT
        .lines()
        .skip_while(|line| !line.starts_with(head))
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .map(|line| {
            let mut columns = line.trim_end_matches('|').rsplit('|').map(bare);
            let value = columns.next().unwrap_or_default();
            (columns.next().unwrap_or_default(), value)
        })
        .collect()
}

#[test]
fn a_small_store_is_written_as_drawn() {
    let bed = memory();
    write_small_store(&bed);
    let (written, drawn) = (dump(&bed), drawn("| in a small store |"));
    if std::env::var_os("SHELFMARK_PRINT_FORMAT").is_some() {
        for (key, value) in &written {
            eprintln!("| | `{key}` | `{value}` |");
        }
    }
    for (written, drawn) in written.iter().zip(&drawn) {
        assert_eq!(written, drawn);
    }
    assert_eq!(written.len(), drawn.len(), "written: {written:#?}");
}
