//! Blobs: bytes, ranges, metadata, listings.

use shelfmark_typed::{BLOB_BYTES_MAX, Blobs, ErrorKind, Timestamp};

use crate::drivers::{Bed, on_every_driver};

fn blobs(bed: &Bed) -> Blobs {
    Blobs::of(&bed.database).unwrap()
}

fn pattern(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|n| u8::try_from(n % 251).unwrap()).collect()
}

#[test]
fn blobs_of_every_length_come_back_whole_and_in_ranges() {
    on_every_driver(|bed| {
        let blobs = blobs(bed);
        let part = 60 * 1024;
        for length in [0, 1, part - 1, part, part + 1, 3 * part + 7] {
            let bytes = pattern(length);
            let written = blobs.write("b", &bytes).unwrap();
            let (read, metadata) = blobs.read("b").unwrap().unwrap();
            assert!(read == bytes, "{length}");
            assert_eq!(metadata, written);
            assert_eq!(metadata.byte_count, length as u64);
            assert_eq!(metadata.modified, Timestamp(1_700_000_000_000));
            let ends = [0, 1, part - 1, part, part + 1, 2 * part, length.saturating_sub(1)];
            for first in ends {
                for last in ends.into_iter().chain([usize::MAX]) {
                    let (some, _) =
                        blobs.read_range("b", first as u64, last as u64).unwrap().unwrap();
                    let end = last.saturating_add(1).min(length);
                    let expected = bytes.get(first..end).unwrap_or_default();
                    assert!(some == expected, "{length}: {first} to {last}");
                }
            }
        }
        // Each write replaced the parts of the one before.
        let parts =
            bed.engine.table(&shelfmark_model::TableName::new("default", "_blob_parts")).unwrap();
        assert_eq!(bed.engine.count(&parts).unwrap(), 4);
        assert!(blobs.delete("b").unwrap());
        assert!(!blobs.delete("b").unwrap());
        assert_eq!(blobs.read("b").unwrap(), None);
        assert_eq!(blobs.metadata("b").unwrap(), None);
        assert_eq!(bed.engine.count(&parts).unwrap(), 0);
    });
}

#[test]
fn creating_and_replacing_depend_on_what_is_there() {
    on_every_driver(|bed| {
        let blobs = blobs(bed);
        let first = blobs.create("b", b"one").unwrap();
        assert_eq!(blobs.create("b", b"two").unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(blobs.read("b").unwrap().unwrap().0, b"one");
        let second = blobs.write_if_etag("b", &first.etag, b"two").unwrap();
        assert_ne!(first.etag, second.etag);
        let error = blobs.write_if_etag("b", &first.etag, b"three").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConditionFailed);
        let error = blobs.write_if_etag("absent", &first.etag, b"three").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConditionFailed);
        assert_eq!(blobs.write("c", b"two").unwrap().etag, second.etag, "equal bytes, equal tags");
        let error = blobs.write("d", &vec![0; BLOB_BYTES_MAX + 1]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    });
}

#[test]
fn the_largest_blob_can_be_replaced_by_another() {
    on_every_driver(|bed| {
        let blobs = blobs(bed);
        blobs.write("b", &vec![1; BLOB_BYTES_MAX]).unwrap();
        blobs.write("b", &vec![2; BLOB_BYTES_MAX]).unwrap();
        let (last, _) =
            blobs.read_range("b", BLOB_BYTES_MAX as u64 - 2, u64::MAX).unwrap().unwrap();
        assert_eq!(last, [2, 2]);
    });
}

#[test]
fn listings_go_by_prefix_page_by_page_and_level_by_level() {
    on_every_driver(|bed| {
        let blobs = blobs(bed);
        let keys = ["a", "a/1", "a/2", "a/b/1", "a/b/2", "a/é/1", "a/z", "a0", "b/1"];
        for key in keys {
            blobs.write(key, key.as_bytes()).unwrap();
        }
        let mut found = Vec::new();
        let mut token = None;
        loop {
            let page = blobs.list("a/", 2, token).unwrap();
            found.extend(page.blobs.into_iter().map(|blob| blob.key));
            // Deleting what was listed does not disturb the rest.
            blobs.delete(found.last().unwrap()).unwrap();
            token = page.token;
            if token.is_none() {
                break;
            }
        }
        assert_eq!(found, ["a/1", "a/2", "a/b/1", "a/b/2", "a/z", "a/é/1"]);
        for key in keys {
            blobs.write(key, key.as_bytes()).unwrap();
        }
        // A token says that there is more, not that the page is full.
        assert_eq!(blobs.list("a/", 6, None).unwrap().token, None);
        assert!(blobs.list("a/", 5, None).unwrap().token.is_some());
        let level = blobs.list_level("a/").unwrap();
        let names: Vec<_> = level.blobs.into_iter().map(|blob| blob.key).collect();
        assert_eq!(names, ["a/1", "a/2", "a/z"]);
        assert_eq!(level.prefixes, ["a/b/", "a/é/"]);
        let top = blobs.list_level("").unwrap();
        assert_eq!(top.prefixes, ["a/", "b/"]);
        let names: Vec<_> = top.blobs.into_iter().map(|blob| blob.key).collect();
        assert_eq!(names, ["a", "a0"]);
        assert_eq!(blobs.list_level("none/").unwrap(), shelfmark_typed::BlobLevel::default());
    });
}

#[test]
fn blobs_go_with_their_database_and_its_rights() {
    on_every_driver(|bed| {
        let environment = bed.registry.environment("default").unwrap();
        let other = Blobs::of(&environment.create_database("other").unwrap()).unwrap();
        other.write("b", b"x").unwrap();
        assert_eq!(blobs(bed).read("b").unwrap(), None);
        assert!(bed.database.tables().unwrap().is_empty(), "ours are not listed");
        bed.registry.delete_database("other").unwrap();
        assert_eq!(other.read("b").unwrap_err().kind(), ErrorKind::Restricted);
        let again = Blobs::of(&environment.create_database("other").unwrap()).unwrap();
        assert_eq!(again.read("b").unwrap(), None);
    });
}

#[test]
fn a_level_is_complete_when_folders_are_larger_than_a_page() {
    on_every_driver(|bed| {
        let blobs = blobs(bed);
        for n in 0..1200 {
            blobs.write(&format!("f/{n:04}"), b"").unwrap();
            if n % 12 == 0 {
                blobs.write(&format!("g{n:04}/x"), b"").unwrap();
            }
        }
        for key in ["e", "f", "f0", "z"] {
            blobs.write(key, b"").unwrap();
        }
        let level = blobs.list_level("").unwrap();
        let names: Vec<_> = level.blobs.into_iter().map(|blob| blob.key).collect();
        assert_eq!(names, ["e", "f", "f0", "z"]);
        assert_eq!(level.prefixes.len(), 101);
        assert_eq!(blobs.list_level("f/").unwrap().blobs.len(), 1200);
        assert_eq!(blobs.list("f/", usize::MAX, None).unwrap().blobs.len(), 1000);
    });
}
