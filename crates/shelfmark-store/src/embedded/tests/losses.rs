//! The record of what a salvage lost comes back as it was written, or as the loss of anything.

use std::path::Path;

use bytes::Bytes;

use crate::embedded::losses::Losses;
use crate::embedded::report::LostPart;

fn all_there_is(folder: &Path) -> Losses {
    let part = |offset, after: Option<&'static [u8]>, name: &str| LostPart {
        file: folder.join(name),
        offset,
        bytes: offset.map(|offset| offset + 1),
        after: after.map(Bytes::from_static),
        before: None,
    };
    Losses {
        commits: Some(7),
        anywhere: true,
        groups: vec![3..=5, 9..=9],
        parts: vec![part(Some(4_096), Some(b"a b"), "tree/1 2"), part(None, None, "log/3")],
    }
}

#[test]
fn losses_come_back() {
    let folder = Path::new("/some/store");
    let whole = all_there_is(folder);
    let alone = [
        Losses { anywhere: false, ..whole.clone() },
        Losses { groups: Vec::new(), ..whole.clone() },
        Losses { parts: Vec::new(), commits: None, ..whole.clone() },
        Losses { parts: Vec::new(), groups: Vec::new(), ..whole.clone() },
    ];
    for losses in alone.into_iter().chain([whole]) {
        assert_eq!(Losses::decode(&losses.encode(folder), folder), losses);
    }
}

#[test]
fn a_record_that_cannot_be_read_says_that_anything_may_be_lost() {
    let folder = Path::new("/some/store");
    let written = all_there_is(folder).encode(folder);
    for at in 0..written.len() {
        let mut damaged = written.clone();
        damaged[at] ^= 1;
        let read = Losses::decode(&damaged, folder);
        assert!(read.anywhere && read.groups.is_empty() && read.commits.is_none(), "byte {at}");
        assert!(!read.is_nothing());
    }
    // A line that nobody knows, with a sum that fits.
    let text = "losses 1\ncommits 0\nnowhere\n";
    let sum = xxhash_rust::xxh3::xxh3_64(text.as_bytes());
    let read = Losses::decode(format!("{text}sum {sum:016x}\n").as_bytes(), folder);
    assert_eq!((read.anywhere, read.commits), (true, None));
}
