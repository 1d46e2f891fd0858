//! Each thing that may be wrong with a driver makes the cases fail that are about it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use shelfmark_conformance::{CONTRACT, Case, HISTORIES, Outcome, catch_panics};

use crate::wrong::{Wrong, WrongLane};

/// Longer than any case takes in memory.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs every case, and returns those that failed with their messages.
fn failing(wrong: Wrong) -> BTreeMap<&'static str, String> {
    catch_panics();
    let outcome = |case: &Case| {
        let running = case.start(Arc::new(WrongLane::new(wrong)), 7).unwrap();
        match running.wait(PATIENCE).expect("the case ends") {
            Outcome::Held => None,
            Outcome::Failed(message) => Some((case.name, message)),
        }
    };
    CONTRACT.iter().chain(HISTORIES).filter_map(outcome).collect()
}

/// Checks that `wrong` fails these cases, and none of a group that has nothing to do with it.
fn check(wrong: Wrong, expected: &[&str], unrelated: &[&str]) {
    let failed = failing(wrong);
    for name in expected {
        assert!(failed.contains_key(name), "{wrong:?} passes {name}: {:?}", failed.keys());
    }
    for case in CONTRACT.iter().chain(HISTORIES) {
        let message = failed.get(case.name);
        assert!(
            message.is_none() || !unrelated.contains(&case.group),
            "{}: {message:?}",
            case.name
        );
        // Also where a thread of the case found it: which line, and what.
        let is_told = |message: &&String| message.contains("shelfmark-conformance/src/");
        assert!(message.is_none_or(|message| is_told(&message)), "{}: {message:?}", case.name);
    }
}

#[test]
fn a_driver_that_is_right_passes() {
    assert_eq!(failing(Wrong::Nothing), BTreeMap::new());
}

#[test]
fn one_that_forgets_to_validate() {
    let expected = [
        "a_written_key_is_a_conflict",
        "a_created_key_is_a_conflict",
        "a_deleted_key_is_a_conflict",
        "a_conflict_names_the_keys",
        "validation_survives_flushes",
        "validation_sees_what_is_queued",
        "a_refused_commit_leaves_nothing",
        "transactions_by_turns_are_in_one_order",
        "transactions_in_a_race_are_in_one_order",
        "transactions_of_several_servers_are_in_one_order",
    ];
    check(Wrong::ForgetsToValidate, &expected, &["order", "limits", "ranges"]);
}

#[test]
fn one_that_loses_an_acknowledged_commit() {
    let expected = [
        "a_snapshot_shows_one_moment",
        "no_stamp_is_passed_by_a_reader",
        "counters_sum_what_many_add",
        "what_was_acknowledged_is_there_after_a_reopen",
        "many_threads_leave_what_they_should",
        "transactions_by_turns_are_in_one_order",
        "transactions_in_a_race_are_in_one_order",
    ];
    check(Wrong::LosesACommit, &expected, &["order"]);
}

#[test]
fn one_whose_commits_are_two() {
    let expected = [
        "a_refused_commit_leaves_nothing",
        "a_stamp_is_the_number_of_its_commit",
        "a_counter_over_something_else_is_corrupt",
        "commits_up_to_the_limit",
    ];
    check(Wrong::TearsCommits, &expected, &["order", "ranges"]);
}

#[test]
fn one_that_puts_over_what_is_there() {
    let expected = [
        "put_if_absent_needs_an_absent_key",
        "put_if_absent_asks_the_store_and_not_the_commit",
        "one_of_many_puts_if_absent",
        "a_refused_commit_leaves_nothing",
    ];
    check(Wrong::PutsOverWhatIsThere, &expected, &["order", "snapshots", "ranges", "histories"]);
}

#[test]
fn one_whose_snapshots_move() {
    let expected = ["a_snapshot_shows_one_moment", "a_snapshot_outlives_flushes"];
    check(Wrong::SnapshotsMove, &expected, &["order", "ranges"]);
}

#[test]
fn one_that_reads_a_row_twice_or_not_at_all() {
    let expected = ["a_page_ends_where_its_limits_say"];
    check(Wrong::RepeatsARow, &expected, &["validation", "histories"]);
    check(Wrong::SkipsARow, &expected, &["validation", "histories"]);
}

#[test]
fn one_whose_snapshots_never_get_too_old() {
    let expected = ["a_snapshot_gets_too_old_by_time", "a_snapshot_gets_too_old_by_bytes"];
    check(Wrong::KeepsSnapshots, &expected, &["order", "validation", "ranges", "histories"]);
}
