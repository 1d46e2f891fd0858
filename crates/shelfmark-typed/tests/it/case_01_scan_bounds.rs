//! Case 1: scan bounds × direction × limit, the next key, and going on after the cursor's key was
//! deleted.

use std::collections::BTreeSet;
use std::ops::Bound;

use shelfmark_typed::{EntityPage, ErrorKind, OrderedTable, ScanOptions};

use crate::drivers::{n, on_every_driver};

const KEYS: [&str; 5] = ["b", "d", "f", "h", "j"];

/// What CanDB's scan answers, by looking at every key.
fn brute(keys: &[&str], options: &ScanOptions) -> (Vec<String>, Option<String>) {
    let sorted: BTreeSet<&str> = keys.iter().copied().collect();
    let mut inside: Vec<String> = sorted
        .into_iter()
        .filter(|key| *key >= options.lower.as_str() && *key <= options.upper.as_str())
        .map(str::to_owned)
        .collect();
    if !options.ascending {
        inside.reverse();
    }
    let next = if options.limit == 0 { None } else { inside.get(options.limit).cloned() };
    inside.truncate(options.limit);
    (inside, next)
}

fn answer(page: EntityPage) -> (Vec<String>, Option<String>) {
    (page.entities.into_iter().map(|entity| entity.sk).collect(), page.next_key)
}

#[test]
fn every_bound_direction_and_limit_answers_as_candb_does() {
    on_every_driver(|bed| {
        let partition = bed.entities("t").partition("p");
        // Neighbours that must never be seen.
        for other in ["o", "q", "p\0", ""] {
            bed.entities("t").partition(other).put("e", n(0)).unwrap();
        }
        for key in KEYS {
            partition.put(key, n(1)).unwrap();
        }
        // Existing, in gaps, outside; also inverted.
        let bounds = ["", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "é"];
        for lower in bounds {
            for upper in bounds {
                for limit in [0, 1, 2, 3, 4, 5, 6, usize::MAX] {
                    for ascending in [true, false] {
                        let options = ScanOptions {
                            ascending,
                            ..ScanOptions::between(lower, upper).limit(limit)
                        };
                        let found = answer(partition.scan(&options).unwrap());
                        assert_eq!(found, brute(&KEYS, &options), "{options:?}");
                    }
                }
            }
        }
    });
}

#[test]
fn the_next_key_is_null_when_exactly_the_limit_matched() {
    on_every_driver(|bed| {
        let partition = bed.entities("t").partition("p");
        for key in KEYS {
            partition.put(key, n(1)).unwrap();
        }
        let exact = partition.scan(&ScanOptions::between("b", "f").limit(3)).unwrap();
        assert_eq!((exact.entities.len(), exact.next_key), (3, None));
        let less = partition.scan(&ScanOptions::between("b", "f").limit(2)).unwrap();
        assert_eq!(less.next_key.as_deref(), Some("f"));
        let none = partition.scan(&ScanOptions::between("b", "f").limit(0)).unwrap();
        assert_eq!((none.entities.len(), none.next_key), (0, None));
    });
}

#[test]
fn a_scan_goes_on_after_its_next_key_was_deleted() {
    on_every_driver(|bed| {
        for ascending in [true, false] {
            let partition = bed.entities("t").partition(if ascending { "up" } else { "down" });
            for key in KEYS {
                partition.put(key, n(1)).unwrap();
            }
            let whole = ScanOptions { ascending, ..ScanOptions::between("a", "z").limit(2) };
            let page = partition.scan(&whole).unwrap();
            assert_eq!(page.next_key.as_deref(), Some("f"));
            partition.delete("f").unwrap();
            let rest = if ascending {
                ScanOptions { lower: page.next_key.unwrap(), ..whole }
            } else {
                ScanOptions { upper: page.next_key.unwrap(), ..whole }
            };
            let (rest, next) = answer(partition.scan(&rest).unwrap());
            assert_eq!(rest, if ascending { ["h", "j"] } else { ["d", "b"] });
            assert_eq!(next, None);
        }
    });
}

#[test]
fn inverted_bounds_are_empty_in_candbs_form_and_an_error_in_the_typed_one() {
    on_every_driver(|bed| {
        let partition = bed.entities("t").partition("p");
        partition.put("m", n(1)).unwrap();
        let page = partition.scan(&ScanOptions::between("z", "a")).unwrap();
        assert_eq!((page.entities.len(), page.next_key), (0, None));
        let table: OrderedTable<u32, u32> = OrderedTable::named(&bed.database, "typed").unwrap();
        let error = table.range((Bound::Included(5), Bound::Excluded(3))).map(|_| ()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert_eq!(table.range(3..3).unwrap().to_vec().unwrap(), []);
    });
}
