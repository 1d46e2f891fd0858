//! Golden scripts: calls of the engine as text, with the answers that were read and found right.
//!
//! Each script under `tests/it/scripts` runs on every driver and must answer the same on each.
//! `UPDATE_GOLDENFILES=1` rewrites the answers (with those of the memory driver), which are read
//! before they are committed. The language is described in [`runner`].

mod arguments;
mod keys;
mod literal;
mod logic;
mod read;
mod runner;
mod shown;
mod tables;
mod write;

use self::runner::Script;
use crate::drivers::{embedded, meanest, memory, restless};

macro_rules! scripts {
    ($($name:ident),* $(,)?) => {
        $(
            #[test]
            fn $name() {
                let is_update = std::env::var_os("UPDATE_GOLDENFILES").is_some();
                for build in [memory, meanest, embedded, restless] {
                    let mut script = Script::new(build());
                    eprintln!("driver: {}", script.driver());
                    let path = concat!("tests/it/scripts/", stringify!($name));
                    goldenscript::run(&mut script, path).unwrap();
                    if is_update {
                        break;
                    }
                }
            }
        )*

        const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

scripts!(
    change_log,
    conditions,
    counts,
    cursors,
    errors,
    expiry,
    index_kinds,
    index_online,
    items,
    key_types,
    large_items,
    patches,
    queries,
    ranges,
    scans,
    shards,
    snapshots,
    tables,
    tokens,
    transactions,
);

#[test]
fn every_script_is_run() {
    let folder = std::path::Path::new("tests/it/scripts");
    let mut found: Vec<String> = shelfmark_store::vfs::list(folder)
        .unwrap()
        .into_iter()
        .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()))
        .collect();
    found.sort();
    assert_eq!(found, NAMES);
}
