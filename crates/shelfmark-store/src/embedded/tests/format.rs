//! The layouts of `docs/format.md`, "Store files": the example there is what the code writes.

use std::time::Duration;

use bytes::Bytes;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::contract::Durability;
use crate::embedded::log::group::{
    BODY_BYTES_MAX, Entries, Entry, GroupHeader, GroupWriter, NUMBER_MAX, parse, seed_of,
};
use crate::embedded::log::header::{BadHeader, FileHeader};
use crate::embedded::superblock::{self, Superblock};

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

const HEADER: GroupHeader =
    GroupHeader { number: 5, first_commit: 7, commits: 1, writes: 0, seqno: 9, body_bytes: 0 };

/// One group with one put, its header as given.
fn group(header: GroupHeader, value_bytes: usize) -> Bytes {
    let mut writer = GroupWriter::default();
    writer.begin();
    writer.put(b"k", &vec![b'v'; value_bytes]);
    Bytes::copy_from_slice(writer.finish(header, seed_of(STORE_ID)))
}

#[test]
fn large_groups_are_read_back() {
    // As large as commits may be, and far beyond what one page of a disk holds.
    for value_bytes in [1, 300, 1024 * 1024, 9 * 1024 * 1024] {
        let (header, body) = parse(&group(HEADER, value_bytes), 0, seed_of(STORE_ID)).unwrap();
        let entries: Vec<Entry> = Entries::new(&body).collect::<Result<_, _>>().unwrap();
        assert_eq!((header.writes, entries.len()), (1, 1));
        assert_eq!(entries[0].value.as_ref().map(Bytes::len), Some(value_bytes));
        // What a write takes beyond its key and value is what commits are counted with.
        assert_eq!(body.len(), GroupWriter::overhead() + 1 + value_bytes);
    }
}

#[test]
fn what_a_group_says_is_believed_up_to_its_bounds() {
    let seed = seed_of(STORE_ID);
    let with = |change: fn(&mut GroupHeader, u64), number| {
        let mut header = HEADER;
        change(&mut header, number);
        parse(&group(header, 3), 0, seed).map(|(header, _)| header)
    };
    let changes: [fn(&mut GroupHeader, u64); 3] = [
        |header, number| header.number = number,
        |header, number| header.first_commit = number,
        |header, number| header.seqno = number,
    ];
    for change in changes {
        assert!(with(change, NUMBER_MAX).is_ok());
        assert_eq!(with(change, NUMBER_MAX + 1), Err("a group's number is impossible"));
    }
    // A length beyond the file is another trouble than one that no group has.
    for (length, told) in [
        (BODY_BYTES_MAX, "a group ends beyond the end of the file"),
        (BODY_BYTES_MAX + 1, "a group's length is impossible"),
    ] {
        let mut bytes = group(HEADER, 3).to_vec();
        bytes[4..8].copy_from_slice(&u32::try_from(length).unwrap().to_be_bytes());
        let checksum = xxh3_64_with_seed(&bytes[..48], seed).to_be_bytes();
        bytes[48..56].copy_from_slice(&checksum);
        assert_eq!(parse(&bytes.into(), 0, seed).map(drop), Err(told), "{length}");
    }
}

#[test]
fn what_a_log_file_says_is_believed_up_to_its_bounds() {
    let header = FileHeader { store_id: STORE_ID, file: 3, first_group: 5, first_commit: 7 };
    let changes: [fn(&mut FileHeader, u64); 3] = [
        |header, number| header.file = number,
        |header, number| header.first_group = number,
        |header, number| header.first_commit = number,
    ];
    for change in changes {
        let mut changed = header;
        change(&mut changed, NUMBER_MAX);
        assert_eq!(FileHeader::decode(&changed.encode()), Ok(changed));
        change(&mut changed, NUMBER_MAX + 1);
        assert_eq!(FileHeader::decode(&changed.encode()), Err(BadHeader::Damaged));
    }
}

#[test]
fn a_superblock_is_written_as_documented() {
    let superblock = Superblock {
        store_id: STORE_ID,
        durability: Durability::Interval(Duration::from_millis(20)),
        synced_group: 5,
        synced_commit: 8,
        flushed_group: 4,
        flushed_commit: 6,
        seqno_max: 9,
        clean: true,
    };
    let file = superblock::file_of(&superblock);
    assert_eq!(file.len(), 8192);
    assert_eq!(hex(&file[..96]), documented("first slot"));
    assert!(file[96..4096].iter().all(|byte| *byte == 0));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mark");
    crate::vfs::replace(&path, &file).unwrap();
    let read = superblock::read(&path).unwrap();
    assert_eq!((read.superblock, read.whole_slots), (superblock, 2));
}

/// Checks that small writes share pieces of memory, and that one of them keeps 64 KiB at most.
#[test]
fn entries_share_pieces_of_64_kibibytes() {
    let mut writer = GroupWriter::default();
    writer.begin();
    for number in 0..4_000_u32 {
        writer.put(&number.to_be_bytes(), &[7; 90]);
    }
    let entries: Vec<Entry> = Entries::new(writer.body()).collect::<Result<_, _>>().unwrap();
    // Kind and two lengths stand between; pieces that lie side by side have more between them.
    let follows = |pair: &&[Entry]| {
        let value = pair[0].value.as_ref().unwrap();
        pair[1].key.as_ptr().addr() == value.as_ptr_range().end.addr() + 7
    };
    let pieces = 1 + entries.windows(2).filter(|pair| !follows(pair)).count();
    let least = writer.body().len() / (64 * 1024);
    assert!(
        (least..=least + 2).contains(&pieces),
        "{pieces} pieces of {} bytes",
        writer.body().len()
    );
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
