//! `shelfmark backup` and `shelfmark restore`: a store in a file, and a new store of it.

use std::path::Path;
use std::process::{Command, Output};

use shelfmark_store::vfs;

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_shelfmark")).args(arguments).output().unwrap()
}

fn fine(arguments: &[&str]) -> String {
    let output = run(arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

fn refused(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(!output.status.success(), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn a_store_goes_through_a_file_and_is_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let [store, back, file] = ["store", "back", "copy"].map(|name| folder.path().join(name));
    let (store, back, copy) = (text(&store), text(&back), text(&file));
    let script = "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', \
                  'replication_factor': 1}; CREATE TABLE k.t (a int, b text, PRIMARY KEY (a, b)); \
                  INSERT INTO k.t (a, b) VALUES (1, 'x'); INSERT INTO k.t (a, b) VALUES (1, 'y');";
    fine(&["cql", "--data", store, "-e", script]);
    let select = |data: &str| fine(&["cql", "--data", data, "-e", "SELECT * FROM k.t;"]);
    fine(&["backup", "--data", store, "--to", copy]);
    assert!(refused(&["backup", "--data", store, "--to", copy]).contains("is there already"));
    assert!(refused(&["restore", "--from", copy, "--data", store]).contains("is not empty"));
    fine(&["restore", "--from", copy, "--data", back]);
    assert_eq!(select(back), select(store));
    fine(&["verify", "--data", back]);
    // A file that is cut is refused, and nothing is left of it.
    let bytes = vfs::read(&file).unwrap();
    let cut = folder.path().join("cut");
    vfs::write_unsynced(&cut, bytes.get(..bytes.len() - 9).unwrap()).unwrap();
    let other = folder.path().join("other");
    assert!(
        refused(&["restore", "--from", text(&cut), "--data", text(&other)]).contains("the copy")
    );
    assert!(!other.exists() && !folder.path().join("other.part").exists());
    assert!(
        refused(&["restore", "--from", "/dev/null", "--data", text(&other)]).contains("the copy")
    );
}
