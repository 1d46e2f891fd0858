//! Models on the engine: certified right, refused wrong.

mod alarms;
mod seeds;
mod tutorial;

use std::path::PathBuf;

use shelfmark_design::Document;

/// The models of the five documents.
const SEEDS: [&str; 7] =
    ["blog", "followers", "openchat", "phonebook", "publication", "reddit", "twissandra"];

/// A file of the repository.
fn read(path: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn parse(name: &str, text: &str) -> Document {
    Document::parse(name, text).unwrap_or_else(|report| panic!("{report}"))
}

fn seed(name: &str) -> Document {
    parse(name, &read(&format!("models/seeds/{name}.shelf")))
}
