//! The model of a disk, by hand: what each kind of sync saves, what a change may become, and which
//! cases are looked at.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use shelfmark_store::random::SplitMix;
use shelfmark_store::vfs;

use super::cuts::{Case, Effort, cases, play};
use super::disk::Disk;
use super::image::{Choice, Fate, Image, choices};
use super::recording::{self, Event};

fn open(handle: u32, path: &str) -> Event {
    Event::Open { handle, creates: true, empties: false, path: path.into() }
}

fn write(handle: u32, offset: u64, bytes: &[u8]) -> Event {
    Event::Write { handle, offset, bytes: bytes.to_vec() }
}

fn begin(handle: u32, number: u32) -> Event {
    Event::SyncBegin { handle, number, site: format!("site {handle}") }
}

fn sync(handle: u32, number: u32) -> [Event; 2] {
    [begin(handle, number), Event::SyncEnd { number }]
}

fn folder(path: &str) -> Event {
    Event::CreateFolder(path.into())
}

fn disk(events: impl IntoIterator<Item = Event>) -> Disk {
    let mut disk = Disk::new();
    events.into_iter().for_each(|event| disk.apply(&event).unwrap());
    disk
}

/// Returns the files of a disk as text, `path=contents`, when everything pending has one fate.
fn left(disk: &Disk, fate: Fate) -> Vec<String> {
    let one = |(path, bytes): (&PathBuf, &Option<Vec<u8>>)| match bytes {
        Some(bytes) => format!("{}={}", path.display(), bytes.escape_ascii()),
        None => format!("{}/", path.display()),
    };
    Image::of(disk, |_| fate).0.iter().map(one).collect()
}

/// Opens the root as handle 9 and syncs it.
fn sync_root(number: u32) -> Vec<Event> {
    let root = Event::Open { handle: 9, creates: false, empties: false, path: PathBuf::new() };
    [root].into_iter().chain(sync(9, number)).collect()
}

#[test]
fn a_sync_of_a_file_saves_its_bytes_and_not_its_name() {
    let mut disk = disk([open(1, "a"), write(1, 0, b"abc")].into_iter().chain(sync(1, 1)));
    assert_eq!(left(&disk, Fate::Lost), [""; 0]);
    assert_eq!(left(&disk, Fate::Kept), ["a=abc"]);
    for event in sync_root(2) {
        disk.apply(&event).unwrap();
    }
    assert_eq!(left(&disk, Fate::Lost), ["a=abc"]);
}

#[test]
fn a_sync_of_a_folder_saves_names_and_not_what_they_stand_for() {
    let events = [open(1, "a"), write(1, 0, b"abc"), folder("b"), open(2, "b/c")];
    let disk = disk(events.into_iter().chain(sync_root(1)));
    assert_eq!(left(&disk, Fate::Lost), ["a=", "b/"]);
    assert_eq!(left(&disk, Fate::Kept), ["a=abc", "b/", "b/c="]);
}

#[test]
fn only_what_was_done_before_a_sync_began_is_saved_by_it() {
    let events = [open(1, "a"), write(1, 0, b"abc"), begin(1, 1), write(1, 3, b"def")];
    let disk = disk(events.into_iter().chain(sync_root(2)).chain([Event::SyncEnd { number: 1 }]));
    assert_eq!(left(&disk, Fate::Lost), ["a=abc"]);
    assert_eq!(left(&disk, Fate::Kept), ["a=abcdef"]);
}

#[test]
fn lengths_and_removals_are_pending_too() {
    let mut disk = disk(
        [open(1, "a"), write(1, 0, b"abcd")].into_iter().chain(sync(1, 1)).chain(sync_root(2)),
    );
    disk.apply(&Event::Length { handle: 1, length: 2 }).unwrap();
    disk.apply(&Event::LengthByPath { path: "a".into(), length: 3 }).unwrap();
    assert_eq!(left(&disk, Fate::Lost), ["a=abcd"]);
    assert_eq!(left(&disk, Fate::Kept), ["a=ab\\x00"]);
    disk.apply(&Event::Unlink("a".into())).unwrap();
    assert_eq!(left(&disk, Fate::Lost), ["a=abcd"]);
    assert_eq!(left(&disk, Fate::Kept), [""; 0]);
    let emptied = Event::Open { handle: 2, creates: true, empties: true, path: "a".into() };
    disk.apply(&emptied).unwrap();
    assert_eq!(left(&disk, Fate::Kept), ["a="], "a new file, not the removed one");
    let linked = Event::Link("a".into(), "b".into());
    disk.apply(&linked).unwrap();
    assert_eq!(left(&disk, Fate::Kept), ["a=", "b="]);
}

#[test]
fn a_rename_is_whole_or_not_there() {
    let events = [open(1, "old"), write(1, 0, b"1"), open(2, "new"), write(2, 0, b"2")];
    let events = events.into_iter().chain(sync(1, 1)).chain(sync(2, 2)).chain(sync_root(3));
    let mut disk = disk(events);
    disk.apply(&Event::Rename("new".into(), "old".into())).unwrap();
    assert_eq!(left(&disk, Fate::Lost), ["new=2", "old=1"]);
    assert_eq!(left(&disk, Fate::Kept), ["old=2"]);
    for event in sync_root(4) {
        disk.apply(&event).unwrap();
    }
    assert_eq!(left(&disk, Fate::Lost), ["old=2"]);
}

#[test]
fn a_rename_into_another_folder_is_durable_with_that_folder() {
    let opened = |handle, path: &str| Event::Open {
        handle,
        creates: false,
        empties: false,
        path: path.into(),
    };
    let events =
        [folder("from"), folder("to"), open(1, "from/a"), opened(2, "from"), opened(3, "to")];
    let events = events.into_iter().chain(sync(2, 1)).chain(sync_root(2));
    let mut disk = disk(events);
    disk.apply(&Event::Rename("from/a".into(), "to/a".into())).unwrap();
    let before = disk.clone();
    for event in sync(2, 3) {
        disk.apply(&event).unwrap();
    }
    assert_eq!(left(&disk, Fate::Lost), ["from/", "from/a=", "to/"], "the wrong folder");
    let mut disk = before;
    for event in sync(3, 3) {
        disk.apply(&event).unwrap();
    }
    assert_eq!(left(&disk, Fate::Lost), ["from/", "to/", "to/a="]);
    // Nothing that was pending for the old name brings it back.
    assert_eq!(left(&disk, Fate::Kept), ["from/", "to/", "to/a="]);
}

#[test]
fn handles_end_with_their_process_and_impossible_events_are_refused() {
    let mut disk = disk([open(1, "a"), Event::Begin]);
    for event in [
        write(1, 0, b"x"),
        Event::SyncEnd { number: 1 },
        Event::Unlink("missing/a".into()),
        Event::Rename("missing".into(), "b".into()),
        Event::Open { handle: 2, creates: false, empties: false, path: "missing".into() },
        folder("a/b"),
    ] {
        let why = disk.apply(&event).unwrap_err();
        assert!(why.contains("impossible"), "{why}");
    }
}

#[test]
fn a_write_may_be_torn_at_both_ends_and_within() {
    let mut disk = disk([open(1, "a"), write(1, 0, b"______")].into_iter().chain(sync(1, 1)));
    disk.apply(&write(1, 4, b"abcdef")).unwrap();
    let name = choices(&disk)[0].number;
    let torn = |fate: Fate| {
        let image = Image::of(&disk, |number| if number == name { Fate::Kept } else { fate });
        image.0[Path::new("a")].clone().unwrap().escape_ascii().to_string()
    };
    assert_eq!(torn(Fate::Lost), "______");
    assert_eq!(torn(Fate::Kept), "____abcdef");
    assert_eq!(torn(Fate::Head(1)), "____a_");
    assert_eq!(torn(Fate::Head(4)), "____abcd");
    assert_eq!(torn(Fate::Tail(4)), "______\\x00\\x00ef");
    assert_eq!(torn(Fate::OnlyLength), "______\\x00\\x00\\x00\\x00");
    assert_eq!(torn(Fate::Hole(1, 3)), "____a_\\x00def");
}

#[test]
fn choices_are_what_is_pending_below_reachable_names() {
    let disk = disk([open(1, "a"), write(1, 0, b"abc"), open(2, "b"), Event::Unlink("b".into())]);
    let all = choices(&disk);
    let whats: Vec<&str> = all.iter().map(|choice| choice.what.as_str()).collect();
    assert_eq!(whats, ["name a for 1", "3 bytes at 0 of file 1", "name b for 2", "removal of b"]);
    assert_eq!(all.iter().map(|choice| choice.write_bytes).collect::<Vec<_>>(), [0, 3, 0, 0]);
    assert!(all.is_sorted_by_key(|choice| choice.number));
    assert_eq!(disk.next_number(), 4);
}

fn some_choices(bytes: &[usize]) -> Vec<Choice> {
    let one = |(number, bytes): (usize, &usize)| Choice {
        number: number as u64,
        write_bytes: *bytes,
        what: format!("change {number}"),
    };
    bytes.iter().enumerate().map(one).collect()
}

fn fates(case: &Case, choices: &[Choice]) -> Vec<Fate> {
    choices.iter().map(|choice| case.fate(choice.number)).collect()
}

#[test]
fn few_changes_are_chosen_from_in_every_way() {
    let choices = some_choices(&[0, 0, 0]);
    let effort = Effort { all_upto: 3, cases_max: 100, seed: 1 };
    let all = cases(&choices, effort, &mut SplitMix::new(1));
    let mut kept: Vec<usize> = all
        .iter()
        .map(|case| {
            let bit = |(at, fate): (usize, Fate)| usize::from(fate == Fate::Kept) << at;
            fates(case, &choices).into_iter().enumerate().map(bit).sum()
        })
        .collect();
    assert_eq!(kept[..2], [0, 7], "nothing and everything come first");
    kept.sort_unstable();
    assert_eq!(kept, [0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn with_many_changes_each_is_lost_alone_kept_alone_and_last() {
    let choices = some_choices(&[0; 12]);
    let effort = Effort { all_upto: 3, cases_max: 1000, seed: 1 };
    let all: Vec<Vec<Fate>> = cases(&choices, effort, &mut SplitMix::new(1))
        .iter()
        .map(|case| fates(case, &choices))
        .collect();
    let with = |kept: &dyn Fn(usize) -> bool| {
        let fate = |at| if kept(at) { Fate::Kept } else { Fate::Lost };
        all.contains(&(0..12).map(fate).collect())
    };
    for at in 0..12 {
        assert!(with(&|other| other != at), "only {at} lost");
        assert!(with(&|other| other == at), "only {at} kept");
        assert!(with(&|other| other <= at), "kept up to {at}");
    }
}

#[test]
fn writes_are_torn_and_no_more_cases_are_looked_at_than_allowed() {
    let choices = some_choices(&[0, 2000, 1]);
    let effort = Effort { all_upto: 3, cases_max: 1000, seed: 1 };
    let all = cases(&choices, effort, &mut SplitMix::new(1));
    let of_second: Vec<Fate> = all.iter().map(|case| case.fate(1)).collect();
    for fate in [
        Fate::Head(1),
        Fate::Head(512),
        Fate::Head(1000),
        Fate::Head(1536),
        Fate::Head(1999),
        Fate::Tail(512),
        Fate::Tail(1000),
        Fate::OnlyLength,
        Fate::Hole(512, 1024),
        Fate::Hole(666, 1334),
    ] {
        assert!(of_second.contains(&fate), "{fate:?}");
    }
    let is_torn = |fate: Fate| !matches!(fate, Fate::Kept | Fate::Lost);
    assert!(!all.iter().any(|case| is_torn(case.fate(0)) || is_torn(case.fate(2))));
    for cases_max in [1, 2, 5] {
        let effort = Effort { cases_max, ..effort };
        assert_eq!(cases(&choices, effort, &mut SplitMix::new(1)).len(), cases_max);
    }
    let lost = &cases(&choices, Effort::all_lost(), &mut SplitMix::new(1))[0];
    assert_eq!(fates(lost, &choices), [Fate::Lost; 3]);
    assert_eq!(cases(&[], effort, &mut SplitMix::new(1)).len(), 1, "nothing is pending");
    let told = all[0].describe(&choices);
    assert!(told.contains("Lost: change 0") && told.lines().count() == 3, "{told}");
}

/// A file that is written, synced, told of, and written again.
fn little_life() -> Vec<Event> {
    let mut events = vec![Event::Begin, open(1, "a"), write(1, 0, b"1")];
    events.extend(sync(1, 1));
    events.extend(sync_root(2));
    events.extend([Event::Note(b"ack\n".to_vec()), write(1, 1, b"2")]);
    events
}

#[test]
fn power_goes_before_and_after_each_sync_after_each_note_and_at_the_end() {
    let events = little_life();
    let mut seen = Vec::new();
    let mut observed = 0;
    let ended = play(
        Disk::new(),
        &events,
        |_| false,
        |_| observed += 1,
        |cut, disk| {
            seen.push((cut.events, left(disk, Fate::Lost), left(disk, Fate::Kept)));
            ControlFlow::<()>::Continue(())
        },
    );
    assert_eq!((ended, observed), (Ok(None), events.len()));
    let none: [&str; 0] = [];
    let places: Vec<usize> = seen.iter().map(|(at, ..)| *at).collect();
    assert_eq!(places, [4, 5, 7, 8, 9, 10]);
    assert!(seen[..3].iter().all(|(_, lost, kept)| lost == &none && kept == &["a=1"]));
    assert!(seen[3..].iter().all(|(_, lost, _)| lost == &["a=1"]));
    assert_eq!(seen[5].2, ["a=12"]);
}

#[test]
fn a_sync_that_is_left_out_saves_nothing() {
    let mut last = Vec::new();
    let visit = |_, disk: &Disk| {
        last = left(disk, Fate::Lost);
        ControlFlow::<()>::Continue(())
    };
    play(Disk::new(), &little_life(), |site| site == "site 1", |_| (), visit).unwrap();
    assert_eq!(last, ["a="], "the name alone");
    // A play ends where it is told to.
    let visit = |cut: super::cuts::Cut, _: &Disk| ControlFlow::Break(cut.events);
    assert_eq!(play(Disk::new(), &little_life(), |_| false, |_| (), visit), Ok(Some(4)));
    let why = play(Disk::new(), &[write(1, 0, b"")], |_| false, |_| (), visit).unwrap_err();
    assert!(why.contains("impossible"), "{why}");
}

#[test]
fn an_image_is_put_and_read_back() {
    let disk = disk([folder("b"), open(1, "b/c"), write(1, 0, b"abc"), open(2, "d")]);
    let image = Image::of(&disk, |_| Fate::Kept);
    let scratch = tempfile::tempdir().unwrap();
    let place = scratch.path().join("image");
    image.put(&place).unwrap();
    assert_eq!(Image::read(&place).unwrap(), image);
    assert_eq!(Image::read(&place).unwrap().hash(), image.hash());
    let other = Image::of(&disk, |_| Fate::OnlyLength);
    assert_ne!(other.hash(), image.hash(), "a file of zeros is another");
    let start = Disk::of(&place).unwrap();
    assert_eq!(Image::of(&start, |_| Fate::Lost), image, "what is there at the start is durable");
}

/// A record as `shelfmark-preload` writes it.
fn record(kind: u8, fields: &[&[u8]]) -> Vec<u8> {
    let body = fields.concat();
    let mut bytes = u32::try_from(body.len() + 1).unwrap().to_be_bytes().to_vec();
    bytes.push(kind);
    bytes.extend(body);
    bytes
}

#[test]
fn a_recording_is_read_up_to_a_last_record_that_is_cut_off() {
    let (one, four) = (1_u32.to_be_bytes(), 4_u64.to_be_bytes());
    let length = u32::try_from("/r/a".len()).unwrap().to_be_bytes();
    let records = [
        (record(0, &[]), Event::Begin),
        (
            record(1, &[&one, &[3], b"/r/a"]),
            Event::Open { handle: 1, creates: true, empties: true, path: "a".into() },
        ),
        (record(2, &[&one, &four, b"xy"]), write(1, 4, b"xy")),
        (record(3, &[&one, &four]), Event::Length { handle: 1, length: 4 }),
        (record(4, &[&one, &one, b"site 1"]), begin(1, 1)),
        (record(5, &[&one]), Event::SyncEnd { number: 1 }),
        (record(6, &[&length, b"/r/a", b"/r/b/c"]), Event::Rename("a".into(), "b/c".into())),
        (record(7, &[b"/r/a"]), Event::Unlink("a".into())),
        (record(8, &[b"/r/a"]), folder("a")),
        (record(9, &[b"/r/a"]), Event::RemoveFolder("a".into())),
        (record(10, &[&length, b"/r/a", b"/r/b"]), Event::Link("a".into(), "b".into())),
        (record(11, &[b"ack\n"]), Event::Note(b"ack\n".to_vec())),
        (record(12, &[&four, b"/r/a"]), Event::LengthByPath { path: "a".into(), length: 4 }),
    ];
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("recording");
    let read = |bytes: &[u8]| {
        vfs::replace(&path, bytes).unwrap();
        recording::read(&path, Path::new("/r"))
    };
    let bytes: Vec<u8> = records.iter().flat_map(|(bytes, _)| bytes.clone()).collect();
    let events: Vec<Event> = records.into_iter().map(|(_, event)| event).collect();
    assert_eq!(read(&bytes).unwrap(), events);
    assert_eq!(read(&bytes[..bytes.len() - 1]).unwrap(), events[..events.len() - 1]);
    let strange = [record(13, &[]), record(7, &[b"/elsewhere"]), record(5, &[b"abc"])];
    for bytes in strange {
        assert!(read(&bytes).unwrap_err().contains("record 0"), "{bytes:?}");
    }
}
