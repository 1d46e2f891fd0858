//! Tables that are filled before they may be used.

use shelfmark_engine::{ErrorKind, Get, Query, Scan, Write};
use shelfmark_model::limits::VALUE_DEPTH_MAX;
use shelfmark_model::{Item, Key, TableSchema, Value};

use crate::drivers::{on_every_driver, plain};
use crate::upkeep::by_n;

fn schema() -> TableSchema {
    let mut schema = plain("t").with_index(by_n());
    schema.options.item_size_bytes_max = Some(1_000);
    schema
}

fn item(pk: &str, n: i64) -> Item {
    Item::new().with("pk", pk).with("sk", "x").with("n", Value::number(n))
}

#[test]
fn what_fits_is_put_at_its_key_and_what_does_not_is_told_by_its_place() {
    on_every_driver(|bed| {
        let table = bed.patient(|engine| engine.begin_filling(schema()));
        let name = &table.schema.name;
        let deep = (0..=VALUE_DEPTH_MAX).fold(Value::Null, |value, _| Value::List(vec![value]));
        let items = [
            item("a", 1),
            Item::new().with("pk", "keyless").with("n", Value::number(1)),
            item("b", 1),
            item("large", 1).with("text", "x".repeat(1_000)),
            item("deep", 1).with("value", deep),
            item("a", 2),
        ];
        let left_out = bed.patient(|engine| engine.fill_items(name, &items));
        let left_out: Vec<_> = left_out.iter().map(|(at, error)| (*at, error.kind())).collect();
        let large = ErrorKind::LimitExceeded;
        assert_eq!(left_out, [(1, ErrorKind::Invalid), (3, large), (4, large)]);
        bed.patient(|engine| engine.end_filling(name));
        let table = bed.engine.table(name).unwrap();
        // Of two of one key the later one.
        for (pk, n) in [("a", 2), ("b", 1)] {
            let got = bed.engine.get(&table, &Get::new(Key::pair(pk, "x"))).unwrap();
            assert_eq!(got.item, Some(item(pk, n)));
            let query = Query::partition(vec![Value::number(n)]).index("by_n");
            assert_eq!(bed.engine.query(&table, &query).unwrap().items, [item(pk, n)]);
        }
        assert_eq!(bed.engine.scan(&table, &Scan::default()).unwrap().count, 2);
        bed.check_sound();
        let error = bed.engine.fill_items(name, &items).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "it is in use");
        bed.write(Write::put(&table, item("c", 3))).unwrap();
    });
}
