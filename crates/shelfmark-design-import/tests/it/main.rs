//! Importers: files of other tools, whole and damaged, as models that are checked and proven.

#![expect(clippy::disallowed_methods, reason = "golden files are the test's own")]

mod imports;
mod libraries;
mod relational;
mod workbench;

use std::path::PathBuf;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The output is compared with what was read over once.
fn golden(name: &str, text: &str) {
    let path = root().join("tests/files").join(name);
    if std::env::var_os("SHELFMARK_BLESS").is_some() {
        assert!(std::fs::write(&path, text).is_ok(), "{name} cannot be written");
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap_or_default(), text, "{name} differs");
}

fn file(name: &str) -> String {
    std::fs::read_to_string(root().join("tests/files").join(name)).unwrap_or_default()
}
