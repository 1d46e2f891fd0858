//! A store that lost part of a table file: what is kept belongs together again.

use std::path::{Path, PathBuf};

use crate::process::{shelfmark, stderr, stdout};

/// The largest table file of a store.
fn table_file(folder: &Path) -> PathBuf {
    let files = std::fs::read_dir(folder.join("tree").join("tables")).unwrap();
    let files = files.map(|file| file.unwrap().path());
    files.max_by_key(|path| std::fs::metadata(path).unwrap().len()).unwrap()
}

#[test]
fn indexes_of_a_salvaged_store_lead_to_the_rows_that_are_left() {
    // In the middle lie rows, behind them entries of indexes.
    for part in [50, 65, 80] {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("store");
        let data = store.to_str().unwrap();
        let output = shelfmark(&["tour", "--model", "publication", "--data", data]);
        assert!(output.status.success(), "{}", stderr(&output));
        let file = table_file(&store);
        let mut bytes = std::fs::read(&file).unwrap();
        let place = bytes.len() * part / 100;
        bytes[place] ^= 1;
        std::fs::write(&file, bytes).unwrap();
        assert!(!shelfmark(&["verify", "--data", data]).status.success(), "{part}");
        let output = shelfmark(&["verify", "--data", data, "--salvage"]);
        assert!(output.status.success(), "{part}: {}", stderr(&output));
        let said = stdout(&output);
        assert!(said.contains("of rows are lost"), "{part}: {said}");
        assert!(said.contains("indexes of dynamodb.publication_gsi were built anew: 1"), "{said}");
        let output = shelfmark(&["verify", "--data", data]);
        assert!(output.status.success(), "{part}: {}{}", stdout(&output), stderr(&output));
    }
}
