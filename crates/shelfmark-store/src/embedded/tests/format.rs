//! The layouts of `docs/format.md`, "Store files": the example there is what the code writes.

use std::time::Duration;

use crate::contract::Durability;
use crate::embedded::log::group::{Entries, Entry, GroupHeader, GroupWriter, seed_of};
use crate::embedded::log::header::FileHeader;
use crate::embedded::mark::{self, Mark};

const DOCUMENT: &str = include_str!("../../../../../docs/format.md");
const STORE_ID: u128 = 0x0011_2233_4455_6677_8899_AABB_CCDD_EEFF;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}

/// Returns the bytes behind `name` in the table of examples.
fn documented(name: &str) -> &'static str {
    let (_, store) = DOCUMENT.split_once("## Store files").unwrap();
    let row = store.lines().find(|line| line.starts_with(&format!("| {name} |"))).unwrap();
    row.split('`').nth(1).unwrap()
}

#[test]
fn a_log_file_is_written_as_documented() {
    let header = FileHeader { store_id: STORE_ID, file: 3, first_group: 5, first_commit: 7 };
    assert_eq!(hex(&header.encode()), documented("file header 3, group 5, commit 7"));
    assert_eq!(FileHeader::decode(&header.encode()), Ok(header));
    let mut writer = GroupWriter::default();
    writer.begin();
    writer.put(b"a", b"bc");
    writer.delete(b"d");
    let group =
        GroupHeader { number: 5, first_commit: 7, commits: 2, writes: 0, seqno: 9, body_bytes: 0 };
    let group = writer.finish(group, seed_of(STORE_ID));
    assert_eq!(hex(group), documented("group 5: put a = bc, delete d"));
    assert_eq!(group.len(), 56 + 10 + 4);
}

#[test]
fn a_mark_is_written_as_documented() {
    let mark = Mark {
        store_id: STORE_ID,
        durability: Durability::Interval(Duration::from_millis(20)),
        synced_group: 5,
        synced_commit: 8,
        flushed_group: 4,
        flushed_commit: 6,
        seqno_max: 9,
        clean: true,
    };
    let file = mark::file_of(&mark);
    assert_eq!(file.len(), 8192);
    assert_eq!(hex(&file[..96]), documented("first slot"));
    assert!(file[96..4096].iter().all(|byte| *byte == 0));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mark");
    crate::vfs::replace(&path, &file).unwrap();
    let read = mark::read(&path).unwrap();
    assert_eq!((read.mark, read.whole_slots), (mark, 2));
}

#[test]
fn writes_of_any_size_come_back_from_a_body() {
    let sizes =
        [1, 7, 64 * 1024 - 20, 64 * 1024, 64 * 1024 + 1, 3, 200_000, 30_000, 30_000, 10_000];
    let mut writer = GroupWriter::default();
    for _ in 0..2 {
        // The same buffer twice: nothing of the first group is left in the second.
        writer.begin();
        for (number, size) in sizes.iter().enumerate() {
            writer.put(format!("k{number}").as_bytes(), &vec![b'v'; *size]);
            writer.delete(format!("d{number}").as_bytes());
        }
    }
    let entries: Vec<Entry> = Entries::new(writer.body()).collect::<Result<_, _>>().unwrap();
    assert_eq!(entries.len(), sizes.len() * 2);
    for (number, size) in sizes.iter().enumerate() {
        let [put, deletion] = &entries[number * 2..number * 2 + 2] else { panic!("short") };
        assert_eq!(put.key, format!("k{number}"));
        assert_eq!(put.value.as_ref().map(bytes::Bytes::len), Some(*size));
        assert_eq!((&deletion.key[..], &deletion.value), (format!("d{number}").as_bytes(), &None));
    }
    // Nonsense ends the body with an error, wherever it stands.
    let whole = writer.body();
    assert!(Entries::new(&whole[..whole.len() - 1]).last().unwrap().is_err());
    assert!(Entries::new(&[9, 0, 1, b'k']).last().unwrap().is_err());
    assert!(Entries::new(&[1, 0, 0, 0, 0, 0, 1, b'v']).last().unwrap().is_err());
    assert!(Entries::new(&[1, 0, 1, 0xFF, 0xFF, 0xFF, 0xFF, b'k']).last().unwrap().is_err());
}
