//! Case 13: a batch that replaces one key twice gives the first element's value for the second.

use crate::drivers::{n, on_every_driver};

#[test]
fn the_second_finds_what_the_first_put() {
    on_every_driver(|bed| {
        let partition = bed.entities("t").partition("p");
        partition.put("b", n(0)).unwrap();
        let old =
            partition.batch_replace([("a", n(1)), ("b", n(2)), ("a", n(3)), ("a", n(4))]).unwrap();
        let numbers: Vec<Option<i64>> = old
            .iter()
            .map(|old| old.as_ref().and_then(|entity| entity.attributes.int("n")))
            .collect();
        assert_eq!(numbers, [None, Some(0), Some(1), Some(3)]);
        assert_eq!(partition.get("a").unwrap().unwrap().attributes, n(4));
        assert_eq!(partition.count().unwrap(), 2);
        // The same inside a transaction.
        let old = bed
            .database
            .transact(|tx| {
                tx.entities(&bed.entities("t"))?
                    .partition("p")
                    .batch_replace([("c", n(1)), ("c", n(2))])
            })
            .unwrap();
        assert_eq!(old[0], None);
        assert_eq!(old[1].as_ref().unwrap().attributes, n(1));
    });
}

#[test]
fn a_batch_is_all_or_nothing() {
    on_every_driver(|bed| {
        let partition = bed.entities("t").partition("p");
        let long = "x".repeat(70_000);
        let error = partition.batch_put([("a".to_owned(), n(1)), (long, n(2))]).unwrap_err();
        assert_eq!(error.kind(), shelfmark_typed::ErrorKind::LimitExceeded);
        assert_eq!(partition.count().unwrap(), 0);
    });
}
