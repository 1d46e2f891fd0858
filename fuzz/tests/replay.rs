//! Runs every committed input through its target, without the fuzzer.
//!
//! So a find stays found: its input is put into the corpus, and this test fails until it is fixed.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::collections::BTreeSet;
use std::path::Path;

use shelfmark_fuzz::TARGETS;
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

#[test]
fn no_committed_input_finds_anything() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for (name, run) in TARGETS {
        run(&[]);
        let inputs = vfs::list(&corpus.join(name)).unwrap();
        assert!(!inputs.is_empty(), "{name} has no seeds");
        for input in inputs {
            // The name of the input is what a failure has to tell.
            let bytes = vfs::read(&input).unwrap();
            let outcome = std::panic::catch_unwind(|| run(&bytes));
            assert!(outcome.is_ok(), "{} fails", input.display());
        }
    }
}
