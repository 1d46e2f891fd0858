//! Importers: files of other tools, whole and damaged, as models that are checked and proven.

#![expect(clippy::disallowed_methods, reason = "golden files are the test's own")]

mod imports;
mod libraries;
mod relational;
mod workbench;

use std::path::PathBuf;

use shelfmark_design::Document;

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

/// Returns what makes the tables of an imported schema.
fn created(model: &str) -> String {
    let document = Document::parse("model", model).unwrap_or_else(|report| panic!("{report}"));
    let calls = document.calls("imported", None).unwrap_or_else(|error| panic!("{error}"));
    calls.json().get("create").map(ToString::to_string).unwrap_or_default()
}

/// Returns a key of one or two columns as a request declares it.
fn key_schema<'n>(columns: impl Iterator<Item = &'n str>) -> String {
    let columns = columns.enumerate().map(|(at, name)| {
        let kind = if at == 0 { "HASH" } else { "RANGE" };
        format!("{{\"AttributeName\":\"{name}\",\"KeyType\":\"{kind}\"}}")
    });
    format!("[{}]", columns.collect::<Vec<String>>().join(","))
}

/// Says that requests call the columns of keys as the remarks on them tell; returns how many tell.
fn columns_as_told(model: &str) -> usize {
    let created = created(model);
    let told: Vec<&str> = model.lines().filter(|line| line.contains("? The key of ")).collect();
    for line in &told {
        let (_, here) = line.rsplit_once("say ").unwrap_or_default();
        let columns = key_schema(here.trim_end_matches('.').split(", "));
        assert!(created.contains(&columns), "{line}\n{columns}\n{created}");
    }
    told.len()
}
