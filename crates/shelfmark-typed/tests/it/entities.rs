//! Entities: values, conditions, expiry, partitions.

use std::collections::BTreeMap;
use std::time::Duration;

use num_bigint::BigInt;
use shelfmark_model::{Comparison, Condition, Operand, Path, Value};
use shelfmark_typed::{Attribute, Attributes, ErrorKind};

use crate::drivers::{n, on_every_driver};

#[test]
fn every_variant_comes_back_under_every_name() {
    on_every_driver(|bed| {
        let partition = bed.entities("t").partition("p");
        let tree = BTreeMap::from([
            ("b".to_owned(), Attribute::from(1)),
            ("nested".to_owned(), Attribute::Tree(BTreeMap::new())),
        ]);
        let attributes = Attributes::from([
            ("text", Attribute::from("ä")),
            ("pk", Attribute::from("not the key")),
            ("sk", Attribute::from(BigInt::from(1) << 200)),
            ("_pk", Attribute::from(-5)),
            ("", Attribute::from(true)),
            ("float", Attribute::from(0.1)),
            ("blob", Attribute::from(vec![0_u8, 255])),
            ("tuple", Attribute::Tuple(vec!["a".into(), 1.into(), false.into()])),
            ("empty", Attribute::Array(vec![])),
            ("array", Attribute::array([1.5, -2.5])),
            ("tree", Attribute::Tree(tree)),
            ("other", Attribute::Other(Value::number(3))),
            ("null", Attribute::Other(Value::Null)),
        ]);
        partition.put("s", attributes.clone()).unwrap();
        let entity = partition.get("s").unwrap().unwrap();
        assert_eq!(entity.attributes, attributes);
        assert_eq!((entity.pk.as_str(), entity.sk.as_str()), ("p", "s"));
        assert_eq!(partition.scan_one("s"), Some(attributes));
    });
}

trait ScanOne {
    fn scan_one(&self, sk: &str) -> Option<Attributes>;
}

impl ScanOne for shelfmark_typed::Partition {
    fn scan_one(&self, sk: &str) -> Option<Attributes> {
        let page = self.scan(&shelfmark_typed::ScanOptions::between(sk, sk)).unwrap();
        page.entities.into_iter().next().map(|entity| entity.attributes)
    }
}

#[test]
fn floats_equal_roughly() {
    let (a, b) = (Attribute::from(0.1 + 0.2), Attribute::from(0.3));
    assert!(a.roughly_equals(&b) && a != b);
    assert!(!Attribute::from(1).roughly_equals(&Attribute::from(1.0)));
    assert!(Attribute::array([0.1 + 0.2]).roughly_equals(&Attribute::array([0.3])));
}

#[test]
fn put_replaces_the_whole_map_and_replace_gives_the_old_one() {
    on_every_driver(|bed| {
        let partition = bed.entities("t").partition("p");
        partition.put("a", n(1).with("x", 1)).unwrap();
        let old = partition.replace("a", n(2)).unwrap().unwrap();
        assert_eq!(old.attributes, n(1).with("x", 1));
        assert_eq!(partition.get("a").unwrap().unwrap().attributes, n(2));
        assert_eq!(partition.replace("b", n(3)).unwrap(), None);
    });
}

#[test]
fn updates_see_what_is_there() {
    on_every_driver(|bed| {
        let partition = bed.entities("t").partition("p");
        assert_eq!(partition.update_existing("a", |old| old.with("x", 1)).unwrap(), None);
        assert!(!partition.exists("a").unwrap());
        for _ in 0..3 {
            partition
                .update("a", |old| {
                    let old = old.unwrap_or_default();
                    n(old.int("n").unwrap_or(0) + 1)
                })
                .unwrap();
        }
        let old = partition.update_existing("a", |old| old.with("x", 1)).unwrap().unwrap();
        assert_eq!(old.attributes, n(3));
        assert_eq!(partition.get("a").unwrap().unwrap().attributes, n(3).with("x", 1));
    });
}

#[test]
fn conditions_hold_or_nothing_is_written() {
    on_every_driver(|bed| {
        let partition = bed.entities("t").partition("p");
        partition.create("a", n(1)).unwrap();
        let error = partition.create("a", n(2)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        let is = |number: i64| {
            Condition::Compare(
                Comparison::Equal,
                Operand::Path(Path::attribute("n")),
                Operand::Value(Value::Int(number)),
            )
        };
        assert!(!partition.put_if("a", n(5), is(2)).unwrap());
        assert!(partition.put_if("a", n(5), is(1)).unwrap());
        assert_eq!(partition.get("a").unwrap().unwrap().attributes, n(5));
    });
}

#[test]
fn expired_entities_are_absent_for_every_read() {
    on_every_driver(|bed| {
        let table = bed.entities("t");
        let partition = table.partition("p");
        partition.put_with_ttl("a", n(1), Duration::from_secs(5)).unwrap();
        partition.put("b", n(2)).unwrap();
        bed.seconds(4);
        assert!(partition.exists("a").unwrap());
        bed.seconds(1);
        assert!(!partition.exists("a").unwrap());
        assert_eq!(partition.entities().count().unwrap(), 1);
        partition.create("a", n(3)).unwrap();
        assert_eq!(partition.get("a").unwrap().unwrap().expires_at, None);
        assert_eq!(
            table.get_many(&[("p", "a"), ("p", "x"), ("q", "a")]).unwrap()[1..],
            [None, None]
        );
    });
}

#[test]
fn partitions_are_listed_in_order_page_by_page() {
    on_every_driver(|bed| {
        let table = bed.entities("t");
        let names = ["", "a", "a\0", "ab", "b", "é", "漢"];
        for name in names.iter().rev() {
            for sk in ["1", "2", "3"] {
                table.partition(*name).put(sk, n(1)).unwrap();
            }
        }
        assert_eq!(table.partitions(None, 100).unwrap(), names);
        let mut paged: Vec<String> = Vec::new();
        loop {
            let page = table.partitions(paged.last().map(String::as_str), 2).unwrap();
            if page.is_empty() {
                break;
            }
            paged.extend(page);
        }
        assert_eq!(paged, names);
        table.partition("a").drop_all().unwrap();
        assert_eq!(table.partitions(None, 3).unwrap(), ["", "a\0", "ab"]);
        assert_eq!(table.partition("a\0").count().unwrap(), 3);
    });
}

#[test]
fn pages_go_on_from_cursors_after_a_restart() {
    on_every_driver(|bed| {
        let partition = bed.entities("t").partition("p");
        for number in 0..10 {
            partition.put(&format!("k{number}"), n(number)).unwrap();
        }
        let (first, cursor) = partition.begins_with("k").descending().page(4).unwrap();
        assert_eq!(first[3].sk, "k6");
        let bytes = cursor.unwrap().to_bytes();
        partition.delete("k6").unwrap();
        let cursor = shelfmark_typed::Cursor::from_bytes(&bytes).unwrap();
        let (rest, cursor) = partition.begins_with("k").descending().after(cursor).page(9).unwrap();
        assert_eq!((rest.len(), rest[0].sk.as_str(), cursor), (6, "k5", None));
    });
}
