//! Compares the design's table of crates with the graph that cargo reports.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use anyhow::Context as _;
use serde_json::Value;

use super::read;
use crate::run::root;

/// Every crate, and which of ours it may use in the product. Tests may use more, never a face.
const ALLOWED: [(&str, &[&str]); 37] = [
    ("shelfmark-keycode", &[]),
    ("shelfmark-store", &[]),
    ("shelfmark-conformance", &["shelfmark-store"]),
    ("shelfmark-tikv", &["shelfmark-store"]),
    ("shelfmark-model", &["shelfmark-keycode"]),
    ("shelfmark-records", &["shelfmark-store", "shelfmark-model", "shelfmark-keycode"]),
    (
        "shelfmark-tables",
        &["shelfmark-store", "shelfmark-model", "shelfmark-keycode", "shelfmark-records"],
    ),
    (
        "shelfmark-engine",
        &[
            "shelfmark-store",
            "shelfmark-model",
            "shelfmark-keycode",
            "shelfmark-records",
            "shelfmark-tables",
        ],
    ),
    ("shelfmark-migrate", &["shelfmark-store", "shelfmark-keycode", "shelfmark-records"]),
    ("shelfmark-derive", &[]),
    ("shelfmark-cql-syntax", &[]),
    (
        "shelfmark-typed",
        &[
            "shelfmark-engine",
            "shelfmark-model",
            "shelfmark-keycode",
            "shelfmark-derive",
            "shelfmark-store",
        ],
    ),
    ("shelfmark-design-language", &["shelfmark-keycode"]),
    // The syntax for names in statements, whose reserved words are the lexer's.
    ("shelfmark-design-prove", &["shelfmark-design-language", "shelfmark-cql-syntax"]),
    ("shelfmark-design-plan", &["shelfmark-design-language", "shelfmark-design-prove"]),
    // Not the prover: who checks a certificate must not share a judgement with who made it.
    ("shelfmark-design-verify", &["shelfmark-design-language"]),
    ("shelfmark-design-import", &["shelfmark-design-language", "shelfmark-cql-syntax"]),
    (
        "shelfmark-design",
        &[
            "shelfmark-design-language",
            "shelfmark-design-plan",
            "shelfmark-design-prove",
            "shelfmark-design-verify",
        ],
    ),
    (
        "shelfmark-confirm",
        &[
            "shelfmark-design",
            "shelfmark-design-language",
            "shelfmark-cql",
            "shelfmark-cql-protocol",
            "shelfmark-cql-syntax",
            "shelfmark-dynamo",
            "shelfmark-engine",
            "shelfmark-model",
            "shelfmark-store",
            "shelfmark-keycode",
        ],
    ),
    ("shelfmark-dynamo", &["shelfmark-engine", "shelfmark-model", "shelfmark-keycode"]),
    ("shelfmark-cql-protocol", &[]),
    ("shelfmark-java-subset", &[]),
    (
        "shelfmark-cql-types",
        &["shelfmark-cql-protocol", "shelfmark-cql-syntax", "shelfmark-keycode"],
    ),
    (
        "shelfmark-cql",
        &[
            "shelfmark-cql-protocol",
            "shelfmark-cql-types",
            "shelfmark-cql-syntax",
            "shelfmark-engine",
            "shelfmark-java-subset",
            "shelfmark-model",
            "shelfmark-keycode",
        ],
    ),
    (
        "shelfmark-cassandra-cli",
        &["shelfmark-cql", "shelfmark-cql-types", "shelfmark-cql-syntax", "shelfmark-engine"],
    ),
    (
        "shelfmark-admin",
        &[
            "shelfmark-engine",
            "shelfmark-keycode",
            "shelfmark-model",
            "shelfmark-records",
            "shelfmark-store",
        ],
    ),
    (
        "shelfmark-transfer",
        &[
            "shelfmark-cql-protocol",
            "shelfmark-cql-syntax",
            "shelfmark-cql-types",
            "shelfmark-dynamo",
            "shelfmark-engine",
            "shelfmark-keycode",
            "shelfmark-model",
            "shelfmark-store",
        ],
    ),
    // The faces' parsers read requests; no face knows it.
    (
        "shelfmark-watch",
        &[
            "shelfmark-admin",
            "shelfmark-cql-syntax",
            "shelfmark-design",
            "shelfmark-design-language",
            "shelfmark-design-plan",
            "shelfmark-design-prove",
            "shelfmark-dynamo",
            "shelfmark-store",
        ],
    ),
    ("shelfmark-mcp", &["shelfmark-confirm", "shelfmark-design"]),
    (
        "shelfmark-console",
        &[
            "shelfmark-admin",
            "shelfmark-confirm",
            "shelfmark-cql",
            "shelfmark-cql-types",
            "shelfmark-design",
            "shelfmark-design-language",
            "shelfmark-dynamo",
            "shelfmark-engine",
            "shelfmark-keycode",
            "shelfmark-model",
            "shelfmark-records",
            "shelfmark-store",
            "shelfmark-watch",
        ],
    ),
    (
        "shelfmark-server",
        &[
            "shelfmark-store",
            "shelfmark-engine",
            "shelfmark-dynamo",
            "shelfmark-cql",
            "shelfmark-admin",
        ],
    ),
    (
        "shelfmark",
        &[
            "shelfmark-store",
            "shelfmark-engine",
            "shelfmark-typed",
            "shelfmark-model",
            "shelfmark-keycode",
            "shelfmark-derive",
        ],
    ),
    ("shelfmark-cli", ANY),
    ("shelfmark-testkit", ANY),
    ("shelfmark-preload", &[]),
    ("shelfmark-fuzz", ANY),
    ("xtask", &[]),
];

const ANY: &[&str] = &["*"];

/// Crates that one other crate may use and nobody else, whatever it may use otherwise: who writes rows
/// goes through the engine's calls.
const BEHIND: [(&str, &str); 1] = [("shelfmark-tables", "shelfmark-engine")];

pub(super) fn check() -> anyhow::Result<Vec<String>> {
    let graph = graph()?;
    let allowed: BTreeMap<&str, &[&str]> = ALLOWED.into_iter().collect();
    let mut problems = Vec::new();
    for (name, used) in &graph {
        let Some(allowed) = allowed.get(name.as_str()) else {
            problems.push(format!("crate {name} is missing from the table of layers in xtask"));
            continue;
        };
        for other in used.iter().filter(|other| !may_use(name, allowed, other)) {
            problems.push(format!("crate {name} must not use {other}"));
        }
    }
    let document = read("ARCHITECTURE.md".as_ref())?;
    for name in graph.keys() {
        if !document.contains(&format!("`{name}`")) {
            problems.push(format!("ARCHITECTURE.md does not name crate {name}"));
        }
    }
    Ok(problems)
}

/// Tells whether a crate may use another one, of which it may use `allowed`.
fn may_use(name: &str, allowed: &[&str], other: &str) -> bool {
    let is_hidden = BEHIND.iter().any(|(behind, front)| *behind == other && *front != name);
    !is_hidden && (allowed == ANY || allowed.contains(&other))
}

/// Returns our crates and which of ours each uses, leaving tests out.
fn graph() -> anyhow::Result<BTreeMap<String, BTreeSet<String>>> {
    let output = Command::new("cargo")
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .context("cannot start cargo")?;
    let metadata: Value =
        serde_json::from_slice(&output.stdout).context("reading cargo metadata")?;
    let packages = metadata.get("packages").and_then(Value::as_array).context("no packages")?;
    let names: BTreeSet<&str> =
        packages.iter().filter_map(|package| package.get("name")?.as_str()).collect();
    let mut graph = BTreeMap::new();
    for package in packages {
        let name = package.get("name").and_then(Value::as_str).context("no name")?;
        let used = package
            .get("dependencies")
            .and_then(Value::as_array)
            .context("no dependencies")?
            .iter()
            .filter(|dependency| dependency.get("kind").is_some_and(Value::is_null))
            .filter_map(|dependency| dependency.get("name")?.as_str())
            .filter(|dependency| names.contains(dependency))
            .map(str::to_owned)
            .collect();
        graph.insert(name.to_owned(), used);
    }
    Ok(graph)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_behind_the_engine_is_used_by_the_engine_alone() {
        assert!(may_use("shelfmark-engine", &["shelfmark-tables"], "shelfmark-tables"));
        assert!(!may_use("shelfmark-cli", ANY, "shelfmark-tables"));
        assert!(!may_use("shelfmark-cql", &["shelfmark-tables"], "shelfmark-tables"));
        assert!(may_use("shelfmark-cli", ANY, "shelfmark-engine"));
        assert!(!may_use("shelfmark-cql", &["shelfmark-engine"], "shelfmark-dynamo"));
    }
}
