//! Calls of the operating system that fail, do half, or are the last: no panic, errors that say what
//! happened, nothing acknowledged lost, and the store usable again.
//!
//! The program goes on after an error by opening the store again, until everything is written.

use std::process::Command;

use shelfmark_store::{Durability, vfs};
use shelfmark_testkit::crash::judge::judge;
use shelfmark_testkit::crash::plan::Plan;
use shelfmark_testkit::crash::program::{Bench, Ended, Running};
use shelfmark_testkit::crash::run::{Arguments, End};
use shelfmark_testkit::seeds;

use crate::powercut_recorded::{binaries, is_long, small};

/// Whether an error of this line is one that a failing call may cause.
fn is_fitting(line: &str) -> bool {
    ["error Io ", "error ReadOnly ", "error Undetermined "]
        .iter()
        .any(|kind| line.starts_with(kind))
}

fn arguments(bench: &Bench, seed: u64) -> Arguments {
    Arguments {
        commits: 14,
        maintain_every: 6,
        insists: true,
        end: End::Close,
        memory_table_bytes: 4 * 1024,
        ..small(bench, seed, Durability::Sync)
    }
}

fn watched(bench: &Bench, arguments: &Arguments, fault: &str) -> Command {
    let mut command = binaries().watched(arguments, &bench.root());
    command.env("SHELFMARK_FAULT", fault).env("SHELFMARK_FAULT_TOLD", bench.beside("told"));
    command
}

fn check(bench: Bench, plan: &Plan, ended: &Ended, what: &str) {
    let said_well = ended.lines.iter().all(|line| !line.starts_with("error") || is_fitting(line));
    let judged = if !ended.errors.is_empty() {
        Err("it complained".to_owned())
    } else if !said_well {
        Err("an error does not fit".to_owned())
    } else {
        judge(&bench.store(), plan, &ended.promise).map(|_| ())
    };
    if let Err(why) = judged {
        panic!("{what}: {why}\n{ended:#?}\nthe files are in {}", bench.keep().display());
    }
}

/// Makes the n-th of `ops` fail, for n from `first` in steps, until there are no more.
fn sweep(ops: &str, fault: &str, first: u64, step: usize) {
    let mut struck = 0;
    for count in (first..).step_by(step) {
        let bench = Bench::new().unwrap();
        let arguments = arguments(&bench, first);
        let what = format!("{ops}:{count}:{fault}");
        let ended = Running::start(watched(&bench, &arguments, &what)).unwrap().end();
        let ended = ended.unwrap_or_else(|error| panic!("{what}: {error}"));
        if !bench.beside("told").exists() {
            break;
        }
        struck += 1;
        // One failure is survived; only the end of the process is not.
        let is_killed = fault == "kill";
        assert!(ended.is_well != is_killed, "{what}: {ended:#?}");
        assert!(is_killed || ended.promise.last.get(&0) >= Some(&14), "{what}: {ended:#?}");
        check(bench, &arguments.plan, &ended, &what);
    }
    assert!(struck > 4, "{ops}: {struck} faults");
}

/// Every call in the long mode, from different places in different seeds in the short one.
fn sweep_all(ops: &str, fault: &str, step: usize) {
    let long = u64::try_from(step).unwrap();
    seeds::each(1, long, |seed| sweep(ops, fault, 1 + seed, step));
}

#[test]
fn any_call_may_fail() {
    sweep_all("any", "EIO", 37);
}

#[test]
fn any_call_may_be_the_last() {
    sweep_all("any", "kill", 31);
}

#[test]
fn reads_and_writes_may_do_half() {
    sweep_all("read|write", "short", 41);
}

/// What is read while a store opens: the superblock, the log, table files. A read that does half is read on
/// by us, and an error of the library that stands to it; never is it taken for damage.
#[test]
fn opening_may_read_by_halves() {
    const OPENING_READS: u64 = 40;
    let bench = Bench::new().unwrap();
    let arguments = arguments(&bench, 80);
    let mut ended = Running::start(binaries().watched(&arguments, &bench.root())).unwrap().end();
    for count in 1..=OPENING_READS {
        let fault = format!("read:{count}:short");
        let again = Running::start(watched(&bench, &arguments, &fault)).unwrap().end().unwrap();
        let fits = again.lines.iter().all(|line| !line.starts_with("error") || is_fitting(line));
        assert!(again.is_well && fits, "{fault}: {again:#?}");
        ended = Ok(again);
    }
    assert!(bench.beside("told").exists(), "no read was short");
    check(bench, &arguments.plan, &ended.unwrap(), "half reads");
}

#[test]
fn any_call_may_find_the_disk_full() {
    sweep_all("create|write|length|sync|rename|folder", "ENOSPC", 29);
}

/// The list of table files is replaced and then its folder is synced: whatever of it fails, the store
/// opens again with a list whose files are all there.
#[test]
fn any_step_of_a_new_list_of_tables_may_find_the_disk_full() {
    let step = if is_long() { 1 } else { 3 };
    let mut struck = 0;
    for count in (1..).step_by(step) {
        let bench = Bench::new().unwrap();
        let arguments = arguments(&bench, 60);
        let fault = format!("sync|folder:{count}:ENOSPC");
        let mut command = watched(&bench, &arguments, &fault);
        command.env("SHELFMARK_FAULT_PATH", "/tree");
        let ended = Running::start(command).unwrap().end().unwrap();
        if !bench.beside("told").exists() {
            break;
        }
        struck += 1;
        assert!(ended.is_well, "{fault}: {ended:#?}");
        check(bench, &arguments.plan, &ended, &fault);
    }
    assert!(struck > 4, "{struck} faults");
}

/// Flushes that are tried again and again while the disk is full do not fill it themselves.
#[test]
fn work_that_finds_no_room_leaves_no_files_behind() {
    let bench = Bench::new().unwrap();
    // The second thread goes on when the first cannot ingest.
    let plan = Plan { threads: 2, ..Plan::small(90) };
    let arguments =
        Arguments { plan, commits: 60, maintain_every: 0, insists: false, ..arguments(&bench, 90) };
    let mut command = watched(&bench, &arguments, "sync:1+:ENOSPC");
    command.env("SHELFMARK_FAULT_PATH", "/tables/");
    let mut running = Running::start(command).unwrap();
    while !running.line().unwrap().unwrap().starts_with("ack 1 60 ") {}
    let files = vfs::list(&bench.store().join("tree/tables")).unwrap();
    println!("{files:?}");
    assert!(bench.beside("told").exists() && files.len() <= 2, "{files:?}");
    let ended = running.end().unwrap();
    check(bench, &plan, &ended, "no room for table files");
}

/// Nobody knows what a failed sync of the log would have saved, so it is never passed over.
#[test]
fn a_sync_of_the_log_that_fails_is_told() {
    let step = if is_long() { 1 } else { 7 };
    let mut struck = 0;
    for count in (1..).step_by(step) {
        let bench = Bench::new().unwrap();
        let arguments = arguments(&bench, 70);
        let fault = format!("sync:{count}:EIO");
        let mut command = watched(&bench, &arguments, &fault);
        command.env("SHELFMARK_FAULT_PATH", ".log");
        let ended = Running::start(command).unwrap().end().unwrap();
        if !bench.beside("told").exists() {
            break;
        }
        struck += 1;
        assert!(ended.lines.iter().any(|line| line.starts_with("error")), "{fault}: {ended:#?}");
        check(bench, &arguments.plan, &ended, &fault);
    }
    assert!(struck > 2, "{struck} faults");
}

/// Runs a program whose faults last until it has told of `errors` of them.
fn until_told(bench: &Bench, arguments: &Arguments, fault: &str, errors: usize) -> Ended {
    let flag = bench.beside("while");
    vfs::replace(&flag, b"").unwrap();
    let mut command = watched(bench, arguments, fault);
    command.env("SHELFMARK_FAULT_WHILE", &flag);
    let mut running = Running::start(command).unwrap();
    let mut seen = 0;
    while seen < errors {
        let line = running.line().unwrap().unwrap_or_else(|| panic!("{fault}: it ended"));
        assert!(!line.starts_with("error") || is_fitting(&line), "{fault}: {line}");
        seen += usize::from(line.starts_with("error"));
    }
    vfs::remove(&flag).unwrap();
    running.end().unwrap()
}

#[test]
fn a_disk_that_is_full_for_a_while_loses_nothing() {
    let step = if is_long() { 1 } else { 23 };
    for count in (1..120).step_by(step) {
        let bench = Bench::new().unwrap();
        let arguments = arguments(&bench, 40 + count);
        let fault = format!("create|write|folder|rename:{count}+:ENOSPC");
        let ended = until_told(&bench, &arguments, &fault, 4);
        assert!(ended.is_well, "{fault}: {ended:#?}");
        check(bench, &arguments.plan, &ended, &fault);
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_an_error_and_no_more() {
    for errno in ["EROFS", "EACCES"] {
        // A new store, and one that is there.
        let bench = Bench::new().unwrap();
        let arguments = arguments(&bench, 50);
        let fault = format!("create|write|length|rename|unlink|folder:1+:{errno}");
        let ended = until_told(&bench, &arguments, &fault, 3);
        assert!(ended.is_well && ended.promise.last.get(&0) == Some(&14), "{ended:#?}");
        let ended = until_told(&bench, &arguments, &fault, 3);
        assert!(ended.is_well && ended.promise.last.get(&0) == Some(&28), "{ended:#?}");
        // It becomes so while the store is open.
        let fault = format!("create|write|length|rename|unlink|folder:30+:{errno}");
        let ended = until_told(&bench, &arguments, &fault, 3);
        assert!(ended.is_well && ended.promise.last.get(&0) >= Some(&42), "{ended:#?}");
        check(bench, &arguments.plan, &ended, errno);
    }
}

#[test]
fn writes_are_refused_while_little_is_free_and_go_on_without_a_reopen() {
    const MIB: u64 = 1024 * 1024;
    let bench = Bench::new().unwrap();
    let plan = Plan { large_bytes: 200_000, ..Plan::small(60) };
    let arguments = Arguments {
        commits: 400,
        disk_free_bytes_min: 100 * MIB,
        end: End::Close,
        memory_table_bytes: 64 * MIB,
        ..Arguments::new(bench.store(), plan)
    };
    let free = bench.beside("free");
    let set = |bytes: u64| vfs::replace(&free, bytes.to_string().as_bytes()).unwrap();
    set(1000 * MIB);
    let mut command = binaries().watched(&arguments, &bench.root());
    command.env("SHELFMARK_FREE", &free);
    let mut running = Running::start(command).unwrap();
    let mut next = |wanted: &str| {
        loop {
            let line = running.line().unwrap().unwrap_or_else(|| panic!("no {wanted}"));
            assert!(!line.starts_with("error"), "{line}");
            if line.starts_with(wanted) {
                return;
            }
        }
    };
    next("ack");
    set(99 * MIB);
    next("full");
    next("full");
    set(101 * MIB);
    next("ack");
    set(1000 * MIB);
    let ended = running.end().unwrap();
    assert!(
        ended.is_well && !ended.lines.iter().any(|line| line.starts_with("error")),
        "{ended:#?}"
    );
    assert_eq!(ended.promise.last.get(&0), Some(&400));
    check(bench, &plan, &ended, "little free");
}
