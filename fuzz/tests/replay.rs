//! Runs every committed input through its target, without the fuzzer.
//!
//! So a find stays found: its input is put into the corpus, and this test fails until it is fixed.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, Once, PoisonError};

use shelfmark_fuzz::{TARGETS, Target};
use shelfmark_store::vfs;

fn names(folder: &Path) -> BTreeSet<String> {
    let stems = vfs::list(folder).unwrap();
    stems.iter().map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect()
}

#[test]
fn every_target_is_linked_to_the_fuzzer_and_has_a_corpus() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let known: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(known, names(&root.join("targets")));
    assert_eq!(known, names(&root.join("corpus")));
}

fn inputs(folder: &str, target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join(target);
    if folder.is_dir() { vfs::list(&folder).unwrap() } else { Vec::new() }
}

/// Tells whether anything panics, in whatever thread: to the fuzzer each panic is a find.
fn finds_something(run: Target, input: &Path) -> bool {
    static PANICS: AtomicUsize = AtomicUsize::new(0);
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let shown = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            PANICS.fetch_add(1, Ordering::SeqCst);
            shown(panic);
        }));
    });
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let bytes = vfs::read(input).unwrap();
    let before = PANICS.load(Ordering::SeqCst);
    let outcome = std::panic::catch_unwind(|| run(&bytes));
    outcome.is_err() || PANICS.load(Ordering::SeqCst) > before
}

#[test]
fn no_committed_input_finds_anything() {
    let mut finds = Vec::new();
    for (name, run) in TARGETS {
        run(&[]);
        let inputs = inputs("corpus", name);
        assert!(!inputs.is_empty(), "{name} has no seeds");
        finds.extend(inputs.into_iter().filter(|input| finds_something(run, input)));
    }
    assert!(finds.is_empty(), "these inputs find something, see above: {finds:#?}");
}

/// What `known/README.md` lists is wrong today. Once it is right, its inputs belong to the corpus.
#[test]
fn what_is_known_to_be_wrong_still_is() {
    let mut fixed = Vec::new();
    for (name, run) in TARGETS {
        let inputs = inputs("known", name);
        fixed.extend(inputs.into_iter().filter(|input| !finds_something(run, input)));
    }
    assert!(fixed.is_empty(), "these are fixed; move them to the corpus: {fixed:#?}");
}

/// Schema statements of all faces, drawn by a seed, with restarts between them.
#[test]
fn drawn_schema_statements_are_there_after_restarts() {
    for seed in 1..=40_u64 {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_be_bytes()[0]
        };
        let input: Vec<u8> = (0..400).map(|_| next()).collect();
        shelfmark_fuzz::schemas::run(&input);
    }
}
