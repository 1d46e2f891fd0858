//! Statements as people published them: those of the documents, where they are there, and our own
//! with the same slips of the pen.

mod cassandra_cli;
mod cql;

use std::io::Write as _;
use std::path::Path;

/// Returns a document by how its name begins; says in one line that it is not there.
fn document(begins: &str) -> Option<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/seeds");
    let found = std::fs::read_dir(folder).ok().and_then(|mut entries| {
        entries.find_map(|entry| {
            let entry = entry.ok()?;
            entry.file_name().to_str()?.starts_with(begins).then(|| entry.path())
        })
    });
    if found.is_none() {
        // Not captured: a test that did nothing says so.
        let mut out = std::io::stderr();
        writeln!(out, "../shared/seeds/{begins}* is not there: its statements were not run")
            .unwrap();
    }
    Some(std::fs::read_to_string(found?).unwrap())
}
