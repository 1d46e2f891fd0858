//! `shelfmark backup` and `shelfmark restore`: a store in a file, and a new store of it.

use std::path::Path;
use std::process::{Command, Output};

use shelfmark_store::vfs;

use crate::migrate::cql;
use crate::process::Server;

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

#[test]
#[ignore = "needs a cluster: cargo xtask tikv"]
fn a_copy_of_counters_goes_from_a_cluster_to_a_folder_and_back_on_a_cluster() {
    let placement = std::env::var("SHELFMARK_TIKV").unwrap();
    let space = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_micros();
    let [from, to] = ["from", "to"].map(|name| format!("tikv://{placement}/{name}-{space:x}"));
    let folder = tempfile::tempdir().unwrap();
    let [file, back, again] = ["copy", "back", "again"].map(|name| folder.path().join(name));
    let own = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let [one, other, last] = &own;
    let servers = [one, other].map(|folder| Server::start_cql(folder.path(), &["--engine", &from]));
    let [first, _] = &servers;
    cql(
        first,
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    );
    cql(first, "CREATE TABLE k.n (a int PRIMARY KEY, n counter, m counter)");
    cql(first, "UPDATE k.n SET n = n + 1, m = m + 1 WHERE a = 1");
    std::thread::scope(|scope| {
        for server in &servers {
            for _ in 0..4 {
                scope.spawn(|| {
                    let add = "UPDATE k.n SET n = n + 2, m = m - 1 WHERE a = 1; ".repeat(20);
                    cql(server, &add);
                });
            }
        }
    });
    let sums = cql(first, "SELECT * FROM k.n");
    assert!(sums.contains("321") && sums.contains("-159"), "{sums}");
    drop(servers.map(|server| server.stop("-TERM")));
    fine(&["backup", "--engine", &from, "--to", text(&file)]);
    fine(&["restore", "--from", text(&file), "--data", text(&back)]);
    fine(&["verify", "--data", text(&back)]);
    let select = |data: &str| fine(&["cql", "--data", data, "-e", "SELECT * FROM k.n;"]);
    assert_eq!(select(text(&back)), sums);
    fine(&["backup", "--data", text(&back), "--to", text(&again)]);
    fine(&["restore", "--from", text(&again), "--engine", &to]);
    fine(&["verify", "--engine", &to]);
    let server = Server::start_cql(last.path(), &["--engine", &to]);
    assert_eq!(cql(&server, "SELECT * FROM k.n"), sums);
    cql(&server, "UPDATE k.n SET n = n - 21 WHERE a = 1");
    assert!(cql(&server, "SELECT n FROM k.n").contains("300"));
}
