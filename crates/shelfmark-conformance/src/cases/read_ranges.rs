//! Ranges that were read must be as they were, on drivers that validate them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use shelfmark_store::txn::Transaction;
use shelfmark_store::{Commit, Direction, ErrorKind, KeyRange, ScanLimits, Snapshot, Store};

use crate::lane::Lane;
use crate::terse::{
    add, attempt, bytes, delete, get, kind, put, put_stamped, rows, submit, together, write,
};

/// Returns a commit that rests on `range` being unwritten since `base`.
fn on_range(base: &Arc<dyn Snapshot>, range: KeyRange) -> Commit {
    Commit {
        base: Some(Arc::clone(base)),
        validate_ranges: vec![range],
        writes: vec![put("z", "1")],
        ..Commit::default()
    }
}

fn b_to_d() -> KeyRange {
    KeyRange::new("b", "d")
}

/// Opens the lane; `None` if its driver validates no ranges, and then says so.
fn open(lane: &dyn Lane) -> Option<Arc<dyn Store>> {
    let store = lane.open();
    if store.caps().validates_ranges {
        return Some(store);
    }
    let base = store.snapshot().unwrap();
    assert_eq!(kind(attempt(&*store, on_range(&base, b_to_d()))), ErrorKind::Invalid);
    None
}

pub(super) fn every_kind_of_write_into_a_range_is_a_conflict(lane: &dyn Lane) {
    let Some(store) = open(lane) else { return };
    write(&*store, vec![put("b", "1"), put("c", "1"), add("counter", 1)]);
    let into = [put("b", "1"), put("bb", "1"), put("cÿ", "1"), delete("c"), add("bn", 1)];
    for one in into.into_iter().chain([put_stamped("b", "", "1"), delete("b not there")]) {
        let base = store.snapshot().unwrap();
        write(&*store, vec![one.clone()]);
        let ended = attempt(&*store, on_range(&base, b_to_d()));
        assert_eq!(kind(ended), ErrorKind::Conflict, "{one:?}");
    }
}

pub(super) fn neighbours_of_a_range_are_none(lane: &dyn Lane) {
    let Some(store) = open(lane) else { return };
    let base = store.snapshot().unwrap();
    for round in 0..20 {
        write(&*store, vec![put("aÿ", "1"), put("d", "1"), put(format!("e{round}"), "1")]);
    }
    attempt(&*store, on_range(&base, b_to_d())).unwrap();
    // An empty range is touched by nothing, the whole store by anything.
    write(&*store, vec![put("c", "1")]);
    attempt(&*store, on_range(&base, KeyRange::new("c", "c"))).unwrap();
    assert_eq!(kind(attempt(&*store, on_range(&base, KeyRange::all()))), ErrorKind::Conflict);
}

pub(super) fn what_is_queued_counts_and_what_the_base_has_does_not(lane: &dyn Lane) {
    let Some(store) = open(lane) else { return };
    let (_, first) = submit(&*store, Commit::of(vec![put("b", "1")])).unwrap();
    let latest = store.latest().unwrap();
    if latest.get(b"b").unwrap().is_some() {
        attempt(&*store, on_range(&latest, b_to_d())).unwrap();
    }
    let latest = store.latest().unwrap();
    let (_, second) = submit(&*store, Commit::of(vec![put("c", "1")])).unwrap();
    assert_eq!(kind(attempt(&*store, on_range(&latest, b_to_d()))), ErrorKind::Conflict);
    first.recv().unwrap().unwrap();
    second.recv().unwrap().unwrap();
}

pub(super) fn ranges_are_validated_over_flushes_and_many_groups(lane: &dyn Lane) {
    let Some(store) = open(lane) else { return };
    let base = store.snapshot().unwrap();
    let later = store.snapshot().unwrap();
    for round in 0..300 {
        write(&*store, vec![put(format!("e{round:03}"), "1")]);
        if round % 100 == 0 {
            store.maintain().unwrap();
        }
    }
    attempt(&*store, on_range(&base, b_to_d())).unwrap();
    write(&*store, vec![put("c", "1")]);
    store.maintain().unwrap();
    write(&*store, vec![delete("c")]);
    store.maintain().unwrap();
    // Nothing is there, as before; but it was written.
    assert_eq!(kind(attempt(&*store, on_range(&later, b_to_d()))), ErrorKind::Conflict);
}

pub(super) fn a_transaction_notes_what_it_covered(lane: &dyn Lane) {
    let Some(store) = open(lane) else { return };
    for key in ["b", "c", "e", "f"] {
        write(&*store, vec![put(key, "1")]);
    }
    let first_two = ScanLimits { rows_max: 2, ..ScanLimits::default() };
    for (direction, inside, behind) in
        [(Direction::Ascending, "bb", "d"), (Direction::Descending, "ee", "c")]
    {
        for (touched, conflicts) in [(inside, true), (behind, false)] {
            let mut transaction = Transaction::new(store.snapshot().unwrap());
            let range = KeyRange::new("a", "g");
            let page = transaction.scan_validated(&range, direction, first_two).unwrap();
            assert_eq!(page.rows.len(), 2);
            transaction.put("z", "1");
            write(&*store, vec![put(touched, "1")]);
            let ended = attempt(&*store, transaction.into_commit());
            assert_eq!(ended.is_err(), conflicts, "{direction:?} {touched}");
            write(&*store, vec![delete(touched)]);
            if touched == "c" {
                write(&*store, vec![put("c", "1")]);
            }
        }
    }
}

/// Checks write skew over a range: of many who find it empty, one may write into it.
pub(super) fn one_of_many_fills_an_empty_range(lane: &dyn Lane) {
    let Some(store) = open(lane) else { return };
    for round in 0..30 {
        let won = AtomicU64::new(0);
        let fill = |who: usize| {
            let mut transaction = Transaction::new(store.latest().unwrap());
            let range = KeyRange::prefix(bytes(format!("{round:02}/")));
            let page = transaction
                .scan_validated(&range, Direction::Ascending, ScanLimits::default())
                .unwrap();
            if !page.rows.is_empty() {
                return;
            }
            transaction.put(format!("{round:02}/{who}"), "1");
            match attempt(&*store, transaction.into_commit()) {
                Ok(_) => drop(won.fetch_add(1, Ordering::SeqCst)),
                Err(error) => assert_eq!(error.kind(), ErrorKind::Conflict),
            }
        };
        together(
            (0..4).map(|who| -> Box<dyn FnOnce() + Send> { Box::new(move || fill(who)) }).collect(),
        );
        assert_eq!(won.load(Ordering::SeqCst), 1);
        let all =
            rows(&*store.snapshot().unwrap(), &KeyRange::prefix(bytes(format!("{round:02}/"))));
        assert_eq!(all.len(), 1);
    }
    assert_eq!(get(&*store, "never"), None);
}
