//! Case 10: a stream does not end early while what lies before it is deleted, and a snapshot stream
//! does not notice.

use shelfmark_typed::{ErrorKind, OrderedTable, Result};

use crate::drivers::on_every_driver;

const ENTRIES: u32 = 3000;

fn filled(bed: &crate::drivers::Bed) -> OrderedTable<u32, u32> {
    let table = OrderedTable::named(&bed.database, "t").unwrap();
    let entries: Vec<(u32, u32)> = (0..ENTRIES).map(|n| (n, n)).collect();
    table.write_many(entries.iter().map(|(key, value)| (key, value))).unwrap();
    table
}

#[test]
fn a_stream_goes_on_behind_what_is_deleted() {
    on_every_driver(|bed| {
        for descending in [false, true] {
            let table = filled(bed);
            let mut range = table.to_stream();
            if descending {
                range = range.descending();
            }
            let mut seen = Vec::new();
            for key in range.keys() {
                let key = key.unwrap();
                seen.push(key);
                if seen.len() == 10 {
                    // Everything but both ends goes, far beyond what has been read.
                    table.range(20..ENTRIES - 20).unwrap().delete().unwrap();
                }
            }
            // Both ends are seen whole; of the middle, at most what had been read before.
            let mut expected: Vec<u32> = (0..20).chain(ENTRIES - 20..ENTRIES).collect();
            if descending {
                expected.reverse();
            }
            let middle = 20..ENTRIES - 20;
            let ends: Vec<u32> = seen.iter().copied().filter(|n| !middle.contains(n)).collect();
            assert_eq!(ends, expected);
            assert!(seen.len() < 1000, "{}", seen.len());
            assert!(seen.windows(2).all(|pair| (pair[0] < pair[1]) != descending));
        }
    });
}

#[test]
fn deleting_each_entry_as_it_is_read_reads_them_all() {
    on_every_driver(|bed| {
        let table = filled(bed);
        let mut seen = 0;
        for chunk in table.to_stream().chunks(100) {
            let chunk = chunk.unwrap();
            let (Some(first), Some(last)) = (chunk.first(), chunk.last()) else { panic!() };
            table.range(first.0..=last.0).unwrap().delete().unwrap();
            seen += chunk.len();
        }
        assert_eq!(seen, ENTRIES as usize);
        assert!(table.is_empty().unwrap());
    });
}

#[test]
fn a_snapshot_stream_sees_one_moment() {
    on_every_driver(|bed| {
        let table = filled(bed);
        let mut stream = table.to_stream().snapshot().unwrap().values();
        assert_eq!(stream.next().transpose().unwrap(), Some(0));
        table.to_stream().delete().unwrap();
        table.write(&5, &77).unwrap();
        let rest: Vec<u32> = stream.collect::<Result<_>>().unwrap();
        assert_eq!(rest, (1..ENTRIES).collect::<Vec<_>>());
        assert_eq!(table.to_stream().to_vec().unwrap(), [(5, 77)]);
    });
}

#[test]
fn a_snapshot_that_is_held_too_long_is_an_error_not_an_end() {
    on_every_driver(|bed| {
        let table = filled(bed);
        let mut stream = table.to_stream().snapshot().unwrap().keys();
        assert!(stream.next().unwrap().is_ok());
        bed.seconds(61);
        let error = stream.find_map(std::result::Result::err).unwrap();
        assert_eq!(error.kind(), ErrorKind::TooOld);
        assert!(stream.next().is_none(), "an error ends it");
    });
}
