//! Each phenomenon once, small enough to check by hand, and the histories that are fine.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::{Anomaly, Dependency, History, Outcome, Record, TxnId, Version, check};

fn key(name: &'static str) -> Bytes {
    Bytes::from_static(name.as_bytes())
}

fn versions(txns: &[TxnId]) -> Vec<Version> {
    txns.iter().map(|txn| Version { txn: *txn, step: 0 }).collect()
}

/// A transaction that read lists and wrote keys. All of them ran at the same time.
fn txn(id: TxnId, reads: &[(&'static str, &[TxnId])], writes: &[&'static str]) -> Record {
    Record {
        id,
        reads: reads.iter().map(|(name, list)| (key(name), versions(list))).collect(),
        writes: writes.iter().map(|name| (key(name), Version { txn: id, step: 0 })).collect(),
        outcome: Outcome::Committed(None),
        began: 0,
        ended: 100,
    }
}

fn history(records: Vec<Record>, finals: &[(&'static str, &[TxnId])]) -> History {
    let finals: BTreeMap<_, _> =
        finals.iter().map(|(name, list)| (key(name), versions(list))).collect();
    History { records, finals, is_numbered_in_order: false }
}

/// The kinds of dependency on the one circle that is all there is wrong.
fn circle(history: &History) -> Vec<Dependency> {
    let anomalies = check(history);
    let [Anomaly::Circle(edges)] = anomalies.as_slice() else { panic!("{anomalies:?}") };
    for (edge, next) in edges.iter().zip(edges.iter().cycle().skip(1)) {
        assert_eq!(edge.to, next.from);
    }
    let mut kinds: Vec<Dependency> = edges.iter().map(|edge| edge.dependency).collect();
    kinds.sort();
    kinds
}

#[test]
fn one_after_the_other_is_fine() {
    let records = vec![
        txn(1, &[("x", &[])], &["x", "y"]),
        txn(2, &[("x", &[1]), ("y", &[1])], &["x"]),
        txn(3, &[("x", &[1, 2]), ("y", &[1])], &[]),
        txn(4, &[("y", &[1])], &["y"]),
        txn(5, &[("x", &[1]), ("y", &[1])], &[]),
    ];
    assert_eq!(check(&history(records, &[("x", &[1, 2]), ("y", &[1, 4])])), []);
    assert_eq!(check(&History::default()), []);
}

#[test]
fn an_aborted_read_is_found() {
    let aborted = Record { outcome: Outcome::Aborted, ..txn(1, &[("x", &[])], &["x"]) };
    let reader = txn(2, &[("x", &[1])], &[]);
    let version = Version { txn: 1, step: 0 };
    let seen = |reader| Anomaly::AbortedRead { reader, key: key("x"), version };
    let found = check(&history(vec![aborted.clone(), reader], &[("x", &[1])]));
    assert!(found.contains(&seen(None)) && found.contains(&seen(Some(2))), "{found:?}");
    // And what nobody at all has written.
    let found = check(&history(vec![], &[("x", &[1])]));
    assert_eq!(found, [seen(None)]);
    assert_eq!(check(&history(vec![aborted], &[])), []);
}

#[test]
fn an_intermediate_read_is_found() {
    let mut writer = txn(1, &[("x", &[])], &["x"]);
    writer.writes = vec![(key("x"), Version { txn: 1, step: 1 })];
    let reader = txn(2, &[("x", &[1])], &[]);
    let mut history = history(vec![writer, reader], &[]);
    history.finals.insert(key("x"), vec![Version { txn: 1, step: 1 }]);
    let version = Version { txn: 1, step: 0 };
    let expected = Anomaly::IntermediateRead { reader: Some(2), key: key("x"), version };
    assert!(check(&history).contains(&expected));
}

#[test]
fn a_lost_update_is_found() {
    let records = vec![
        txn(1, &[("x", &[])], &["x"]),
        txn(2, &[("x", &[1])], &["x"]),
        txn(3, &[("x", &[1])], &["x"]),
    ];
    let found = check(&history(records, &[("x", &[1, 3])]));
    let update = Anomaly::LostUpdate { key: key("x"), writers: (2, 3) };
    let write = Anomaly::LostWrite { key: key("x"), writer: 2 };
    assert!(found.contains(&update) && found.contains(&write), "{found:?}");
}

#[test]
fn a_lost_write_is_found() {
    let found = check(&history(vec![txn(1, &[], &["x"])], &[]));
    assert_eq!(found, [Anomaly::LostWrite { key: key("x"), writer: 1 }]);
}

#[test]
fn what_nobody_told_is_decided_by_what_is_there() {
    let unknown = Record { outcome: Outcome::Unknown, ..txn(1, &[("x", &[])], &["x", "y"]) };
    let reads = txn(2, &[("x", &[1])], &[]);
    assert_eq!(check(&history(vec![unknown.clone()], &[])), []);
    let whole: &[(&str, &[TxnId])] = &[("x", &[1]), ("y", &[1])];
    assert_eq!(check(&history(vec![unknown.clone(), reads.clone()], whole)), []);
    let half: &[(&str, &[TxnId])] = &[("x", &[1])];
    let torn = Anomaly::Torn { writer: 1, there: key("x"), missing: key("y") };
    assert!(check(&history(vec![unknown.clone(), reads], half)).contains(&torn));
    // Seen once, so it happened, so it must be there.
    let reads = txn(2, &[("x", &[1])], &[]);
    let lost = Anomaly::LostWrite { key: key("x"), writer: 1 };
    assert!(check(&history(vec![unknown, reads], &[])).contains(&lost));
}

#[test]
fn a_read_that_no_later_list_continues_is_found() {
    let records = vec![
        txn(1, &[("x", &[])], &["x"]),
        txn(2, &[("x", &[1])], &["x"]),
        txn(3, &[("x", &[2, 1])], &[]),
    ];
    let found = check(&history(records, &[("x", &[1, 2])]));
    assert!(found.contains(&Anomaly::Fork { reader: 3, key: key("x") }));
}

#[test]
fn a_version_that_comes_twice_is_found() {
    let found = check(&history(vec![txn(1, &[], &["x"])], &[("x", &[1, 1])]));
    let version = Version { txn: 1, step: 0 };
    assert_eq!(found, [Anomaly::Repeated { key: key("x"), version }]);
}

#[test]
fn writes_in_two_orders_are_a_circle() {
    let records = vec![txn(1, &[], &["x", "y"]), txn(2, &[], &["x", "y"])];
    let kinds = circle(&history(records, &[("x", &[1, 2]), ("y", &[2, 1])]));
    assert_eq!(kinds, [Dependency::WriteWrite; 2]);
}

#[test]
fn each_seeing_the_other_is_a_circle() {
    let records = vec![txn(1, &[("y", &[2])], &["x"]), txn(2, &[("x", &[1])], &["y"])];
    let kinds = circle(&history(records, &[("x", &[1]), ("y", &[2])]));
    assert_eq!(kinds, [Dependency::WriteRead; 2]);
}

#[test]
fn write_skew_is_a_circle() {
    let reads: &[(&str, &[TxnId])] = &[("x", &[]), ("y", &[])];
    let records = vec![txn(1, reads, &["x"]), txn(2, reads, &["y"])];
    let kinds = circle(&history(records, &[("x", &[1]), ("y", &[2])]));
    assert_eq!(kinds, [Dependency::ReadWrite; 2]);
}

#[test]
fn a_circle_in_the_middle_is_found() {
    let reads: &[(&str, &[TxnId])] = &[("x", &[1]), ("y", &[1])];
    let records = vec![
        txn(1, &[], &["x", "y"]),
        txn(2, reads, &["x"]),
        txn(3, reads, &["y"]),
        txn(4, &[("x", &[1, 2]), ("y", &[1, 3])], &["z"]),
        txn(5, &[("z", &[4])], &[]),
    ];
    let kinds = circle(&history(records, &[("x", &[1, 2]), ("y", &[1, 3]), ("z", &[4])]));
    assert_eq!(kinds, [Dependency::ReadWrite; 2]);
}

#[test]
fn half_a_commit_is_a_circle() {
    let records = vec![txn(1, &[], &["x", "y"]), txn(2, &[("x", &[1]), ("y", &[])], &[])];
    let kinds = circle(&history(records, &[("x", &[1]), ("y", &[1])]));
    assert_eq!(kinds, [Dependency::WriteRead, Dependency::ReadWrite]);
}

#[test]
fn two_readers_that_disagree_are_a_circle() {
    let records = vec![
        txn(1, &[], &["x"]),
        txn(2, &[], &["y"]),
        txn(3, &[("x", &[1]), ("y", &[])], &[]),
        txn(4, &[("x", &[]), ("y", &[2])], &[]),
    ];
    let kinds = circle(&history(records, &[("x", &[1]), ("y", &[2])]));
    use Dependency::{ReadWrite, WriteRead};
    assert_eq!(kinds, [WriteRead, WriteRead, ReadWrite, ReadWrite]);
}

#[test]
fn a_read_of_the_past_is_a_circle() {
    let writer = Record { ended: 10, ..txn(1, &[], &["x"]) };
    let reader = Record { began: 20, ..txn(2, &[("x", &[])], &[]) };
    let kinds = circle(&history(vec![writer.clone(), reader], &[("x", &[1])]));
    assert_eq!(kinds, [Dependency::ReadWrite, Dependency::RealTime]);
    // Through others that ran in between, all the same.
    let between = |id, began, ended| Record { began, ended, ..txn(id, &[], &[]) };
    let reader = Record { began: 50, ..txn(9, &[("x", &[])], &[]) };
    let records = vec![writer.clone(), between(2, 11, 30), between(3, 12, 31), reader];
    let found = check(&history(records, &[("x", &[1])]));
    assert!(matches!(found.as_slice(), [Anomaly::Circle(_)]), "{found:?}");
    // At the same time it is nothing.
    let reader = Record { began: 10, ..txn(2, &[("x", &[])], &[]) };
    assert_eq!(check(&history(vec![writer, reader], &[("x", &[1])])), []);
}

#[test]
fn a_refused_transaction_saw_one_moment_too() {
    let reader = txn(2, &[("x", &[1]), ("y", &[])], &["y"]);
    let records = vec![txn(1, &[], &["x", "y"]), Record { outcome: Outcome::Aborted, ..reader }];
    let kinds = circle(&history(records, &[("x", &[1]), ("y", &[1])]));
    assert_eq!(kinds, [Dependency::WriteRead, Dependency::ReadWrite]);
}

#[test]
fn numbers_against_the_order_are_found() {
    let numbered =
        |record: Record, number| Record { outcome: Outcome::Committed(Some(number)), ..record };
    let records = vec![
        numbered(txn(1, &[("x", &[])], &["x"]), 8),
        numbered(txn(2, &[("x", &[1])], &["x"]), 7),
    ];
    let mut history = history(records, &[("x", &[1, 2])]);
    assert_eq!(check(&history), []);
    history.is_numbered_in_order = true;
    let found = check(&history);
    assert!(!found.is_empty() && found.iter().all(|it| matches!(it, Anomaly::Misnumbered(_))));
}

#[test]
fn lists_are_read_as_they_were_written() {
    let list = [Version { txn: u64::MAX, step: 7 }, Version { txn: 1, step: u32::MAX }];
    let value = Version::list(&list);
    assert_eq!(Version::read_list(Some(&value)).unwrap(), list);
    assert_eq!(Version::read_list(None).unwrap(), []);
    assert_eq!(Version::read_list(Some(&value.slice(1..))), None);
}
