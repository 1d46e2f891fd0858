//! Compares the answers of DynamoDB Local with those of Shelfmark, on random requests.
//! `clients/dynamodb-local/README.md` says how. It runs when it is asked for by name or in the long
//! mode.

use crate::clients::Server;
use crate::java::{self, JavaServer};
use crate::run::{run as start, target_folder};

/// The port of DynamoDB Local.
const PORT: &str = "19862";

const FOLDER: &str = "clients/dynamodb-local";

/// The cases of the long mode: the same each time and without a difference that nobody decided, so
/// that one is a change here.
const SEED: [&str; 4] = ["--seed", "2012", "--count", "10"];

/// Works as [`run`], with the same cases each time; without a Java machine it is left out, and that
/// is said.
pub(crate) fn run_if_there() -> anyhow::Result<()> {
    if java::is_possible() { run(&SEED) } else { Ok(()) }
}

/// Downloads and starts DynamoDB Local and compares random requests.
pub(crate) fn run(options: &[&str]) -> anyhow::Result<()> {
    java::require()?;
    start("cargo", &["build", "--package", "shelfmark-cli"])?;
    let folder = target_folder().join("dynamodb-local");
    let libraries = java::libraries(&format!("{FOLDER}/pom.xml"), &folder)?;
    let script = format!("{FOLDER}/start.py");
    let local = JavaServer::start(&script, &libraries, &folder.join("run"), PORT)?;
    let data = folder.join("shelfmark");
    if data.exists() {
        std::fs::remove_dir_all(&data)?;
    }
    std::fs::create_dir_all(&data)?;
    let server = Server::start(&data, &[])?;
    let tool = format!("{FOLDER}/compare.py");
    let reference = format!("127.0.0.1:{PORT}");
    let words = [&[&tool, "run", &server.dynamodb, &reference], options].concat();
    let compared = start("python3", &words);
    server.stop()?;
    drop(local);
    compared
}
