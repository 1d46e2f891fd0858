//! The recorder sees everything: its recording is compared with what `strace` sees, where that is
//! there, and with the files that are left.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use shelfmark_store::{Durability, vfs};
use shelfmark_testkit::crash::run::{Arguments, End};
use shelfmark_testkit::powercut::recording::{self, Event};

use crate::powercut_recorded::{Recorded, binaries, small};

/// The calls that change files, and what the recorder makes of each.
const CALLS: [(&str, &str); 24] = [
    ("write", "write"),
    ("pwrite64", "write"),
    ("writev", "write"),
    ("pwritev", "write"),
    ("pwritev2", "write"),
    ("ftruncate", "length"),
    ("truncate", "length"),
    ("fallocate", "none"),
    ("copy_file_range", "none"),
    ("sendfile", "none"),
    ("splice", "none"),
    ("fsync", "sync"),
    ("fdatasync", "sync"),
    ("sync_file_range", "none"),
    ("rename", "rename"),
    ("renameat", "rename"),
    ("renameat2", "rename"),
    ("link", "link"),
    ("linkat", "link"),
    ("unlink", "unlink"),
    ("unlinkat", "unlink"),
    ("rmdir", "unlink"),
    ("mkdir", "folder"),
    ("mkdirat", "folder"),
];

/// Counts what a trace holds of files below `root`: calls that ended well, by kind.
fn traced(trace: &str, root: &str) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    let mut begun: BTreeMap<&str, &'static str> = BTreeMap::new();
    for line in trace.lines() {
        let Some((process, rest)) = line.split_once(' ') else { continue };
        let rest = rest.trim_start();
        let is_well = |text: &str| {
            text.rsplit_once(" = ").is_some_and(|(_, result)| !result.starts_with('-'))
        };
        if rest.starts_with("<... ") {
            if let Some(kind) = begun.remove(process)
                && is_well(rest)
            {
                *counts.entry(kind).or_default() += 1;
            }
            continue;
        }
        let Some((name, arguments)) = rest.split_once('(') else { continue };
        // What is written is cut off in the trace, so it cannot be taken for a path of ours.
        if !arguments.contains(root) {
            continue;
        }
        let kind = if name == "openat" || name == "open" || name == "creat" {
            if !arguments.contains("O_CREAT") && name != "creat" {
                continue;
            }
            "create"
        } else if name == "mmap" {
            assert!(
                !(arguments.contains("MAP_SHARED") && arguments.contains("PROT_WRITE")),
                "written through memory: {line}"
            );
            continue;
        } else {
            match CALLS.iter().find(|(call, _)| *call == name) {
                Some((_, kind)) => *kind,
                None => continue,
            }
        };
        if arguments.contains("<unfinished") {
            begun.insert(process, kind);
        } else if is_well(arguments) {
            *counts.entry(kind).or_default() += 1;
        }
    }
    counts
}

fn recorded(events: &[Event]) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for event in events {
        let kind = match event {
            Event::Open { creates: true, .. } => "create",
            Event::Write { .. } => "write",
            Event::Length { .. } | Event::LengthByPath { .. } => "length",
            Event::SyncEnd { .. } => "sync",
            Event::Rename(..) => "rename",
            Event::Link(..) => "link",
            Event::Unlink(_) | Event::RemoveFolder(_) => "unlink",
            Event::CreateFolder(_) => "folder",
            Event::Begin | Event::Open { .. } | Event::SyncBegin { .. } | Event::Note(_) => {
                continue;
            }
        };
        *counts.entry(kind).or_default() += 1;
    }
    counts
}

#[test]
fn nothing_goes_past_the_recorder() {
    let recorded_runs = Recorded::new();
    let bench = &recorded_runs.bench;
    let arguments = Arguments { end: End::Close, ..small(bench, 21, Durability::Sync) };
    let watched = binaries().watched(&arguments, &bench.root());
    let trace = bench.beside("trace");
    let mut command = Command::new("strace");
    let calls: Vec<&str> = CALLS.iter().map(|(call, _)| *call).collect();
    let calls = format!("trace={},open,openat,creat,mmap", calls.join(","));
    // `?` lets strace pass over calls that this machine does not have.
    let calls = calls.replace(',', ",?").replace("trace=", "trace=?");
    command.args(["-f", "-y", "-s", "0", "-e", &calls, "-o"]).arg(&trace);
    for (name, value) in watched.get_envs() {
        let value = value.unwrap().to_string_lossy();
        command.arg("-E").arg(format!("{}={value}", name.to_string_lossy()));
    }
    command.arg("-E").arg(format!("SHELFMARK_RECORD={}", bench.recording().display()));
    command.arg(watched.get_program()).args(watched.get_args());
    match command.output() {
        Ok(output) if output.status.success() => {}
        // No strace, or it may not trace here: the other test of this file is what is left.
        _ => return,
    }
    let trace = String::from_utf8_lossy(&vfs::read(&trace).unwrap()).into_owned();
    let root = bench.root().display().to_string();
    let traced = traced(&trace, &root);
    let events = recording::read(&bench.recording(), &bench.root()).unwrap();
    assert_eq!(recorded(&events), traced);
    for kind in ["create", "write", "sync", "rename", "unlink", "folder"] {
        assert!(traced.get(kind).is_some_and(|count| *count > 1), "{kind}: {traced:?}");
    }
}

#[test]
fn a_recording_played_to_its_end_gives_the_files_that_are_there() {
    let recorded = Recorded::new();
    let arguments = Arguments { end: End::Close, ..small(&recorded.bench, 22, Durability::Sync) };
    recorded.run(&arguments);
    // Checked by `trial`, too; and a change that was not recorded shows.
    let trial = recorded.trial(arguments.plan, Durability::Sync);
    let root = recorded.bench.root();
    trial.check_complete(&root).unwrap();
    vfs::replace(&root.join("store/mark"), b"not recorded").unwrap();
    let why = trial.check_complete(&root).unwrap_err();
    assert!(why.contains("store/mark"), "{why}");
    let stranger = Path::new("store/tree/stranger");
    vfs::replace(&root.join(stranger), b"not recorded").unwrap();
    let why = trial.check_complete(&root).unwrap_err();
    assert!(why.contains("stranger"), "{why}");
}
