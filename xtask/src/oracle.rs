//! Compares the answers of Apache Cassandra with those of Shelfmark. `clients/cassandra/README.md`
//! says how. The recorded answers are replayed with the clients' tests; Cassandra itself runs when
//! it is asked for by name or in the long mode.

use std::path::Path;

use crate::clients::Server;
use crate::java::{self, JavaServer};
use crate::run::{run as start, target_folder};

/// The port of Cassandra; two more behind it are taken.
const PORT: &str = "19842";

/// The role that both servers know.
const ROLE: &str = "cassandra";

const TOOL: &str = "clients/cassandra/oracle.py";

/// Random cases of one run, and statements of each.
const CASES: [&str; 4] = ["--count", "10", "--statements", "150"];

/// The cases of the long mode: the same each time and without a difference, so that one is a change
/// here. Of all cases one answer in two hundred differs still.
const SEED: [&str; 4] = ["--seed", "2017", "--count", "3"];

/// Works as [`run`], with the same cases each time; without a Java machine it is left out, and that
/// is said.
pub(crate) fn run_if_there() -> anyhow::Result<()> {
    if java::is_possible() { run(&SEED) } else { Ok(()) }
}

/// Checks that the recorded answers are still given. Needs no Java.
pub(crate) fn check(folder: &Path) -> anyhow::Result<()> {
    let server = shelfmark(&folder.join("oracle"))?;
    start("python3", &[TOOL, "check", &server.cql])?;
    server.stop()
}

/// Downloads and starts Cassandra, checks the recorded answers and compares random statements.
pub(crate) fn run(options: &[&str]) -> anyhow::Result<()> {
    java::require()?;
    start("cargo", &["build", "--package", "shelfmark-cli"])?;
    let folder = target_folder().join("oracle");
    let libraries = java::libraries("clients/cassandra/pom.xml", &folder)?;
    let run_folder = folder.join("cassandra");
    let cassandra = JavaServer::start("clients/cassandra/start.py", &libraries, &run_folder, PORT)?;
    let data = folder.join("shelfmark");
    if data.exists() {
        std::fs::remove_dir_all(&data)?;
    }
    check(&data)?;
    let server = shelfmark(&data)?;
    let reference = format!("127.0.0.1:{PORT}");
    let words = [&[TOOL, "random", &reference, &server.cql], CASES.as_slice(), options].concat();
    let compared = start("python3", &words);
    server.stop()?;
    drop(cassandra);
    compared
}

/// Starts a Shelfmark with the role.
fn shelfmark(folder: &Path) -> anyhow::Result<Server> {
    std::fs::create_dir_all(folder)?;
    let password = folder.join("password");
    std::fs::write(&password, ROLE)?;
    let password = password.to_string_lossy();
    Server::start(folder, &["--cql-user", ROLE, "--cql-password-file", &password])
}
