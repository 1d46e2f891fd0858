//! The stores that are damaged: built once by the process, the same in every process.

use std::collections::HashSet;
use std::sync::LazyLock;
use std::time::Duration;

use bytes::Bytes;
use shelfmark_store::embedded::{EmbeddedStore, Options};
use shelfmark_store::{Commit, Durability, Store as _, Write};

use super::{Files, Folder, Rows, clock, layout, options, read_files};

/// A store that nothing is wrong with.
pub(super) struct Base {
    /// Its files, without the lock.
    pub(super) files: Files,
    /// Its rows after each commit; the first is before all of them.
    pub(super) states: Vec<Rows>,
    /// What is whole in it: headers, groups, slots.
    pub(super) pieces: HashSet<Vec<u8>>,
}

static BASES: LazyLock<[Base; 5]> = LazyLock::new(|| {
    let sync = options();
    let interval =
        Options { durability: Durability::Interval(Duration::from_secs(3_600)), ..options() };
    let many_files = Options { log_file_bytes: 128, ..options() };
    [
        base(&sync, 4, None, false),
        base(&many_files, 5, None, false),
        base(&interval, 4, None, false),
        base(&sync, 5, Some(2), false),
        base(&many_files, 3, Some(1), true),
    ]
});

/// Returns the base store of a number.
pub(super) fn one(number: u8) -> &'static Base {
    let bases = &*BASES;
    let index = usize::from(number) % bases.len();
    bases.get(index).expect("the index is below their number")
}

/// Builds a store with `commits`; `flush_after` of them are in the tree.
fn base(options: &Options, commits: usize, flush_after: Option<usize>, closed: bool) -> Base {
    let folder = Folder::new();
    let store =
        EmbeddedStore::open(&folder.0, options.clone(), clock()).expect("a new store opens");
    let mut states = vec![Rows::new()];
    for number in 0..commits {
        if flush_after == Some(number) {
            store.maintain().expect("a new store can be flushed");
        }
        let mut rows = states.last().expect("there is one").clone();
        let mut writes = Vec::new();
        let key = |of: usize| Bytes::from(format!("key {of}"));
        for (of, length) in [(number % 3, 3), (number + 10, 20)] {
            let value = Bytes::from(format!("{number}").repeat(length));
            rows.insert(key(of), value.clone());
            writes.push(Write::Put { key: key(of), value });
        }
        if number > 1 {
            rows.remove(&key(number + 8));
            writes.push(Write::Delete { key: key(number + 8) });
        }
        store.commit(Commit::of(writes)).expect("a new store takes commits");
        states.push(rows);
    }
    if closed {
        store.close().expect("a new store closes");
    }
    drop(store);
    let mut files = read_files(&folder.0);
    files.remove(std::path::Path::new("lock"));
    for (path, bytes) in &mut files {
        layout::rename_store(path, bytes);
        layout::repair(path, bytes);
    }
    let pieces = files
        .iter()
        .flat_map(|(path, bytes)| layout::whole_pieces(path, bytes))
        .map(<[u8]>::to_vec)
        .collect();
    Base { files, states, pieces }
}
