//! Compares the design's table of crates with the graph that cargo reports.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use anyhow::Context as _;
use serde_json::Value;

use super::read;
use crate::run::root;

/// Every crate, and which of ours it may use in the product. Tests may use more, never a face.
const ALLOWED: [(&str, &[&str]); 36] = [
    ("shelfmark-keycode", &[]),
    ("shelfmark-store", &[]),
    ("shelfmark-conformance", &["shelfmark-store"]),
    ("shelfmark-tikv", &["shelfmark-store"]),
    ("shelfmark-model", &["shelfmark-keycode"]),
    ("shelfmark-records", &["shelfmark-store", "shelfmark-model", "shelfmark-keycode"]),
    (
        "shelfmark-engine",
        &["shelfmark-store", "shelfmark-model", "shelfmark-keycode", "shelfmark-records"],
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

pub(super) fn check() -> anyhow::Result<Vec<String>> {
    let graph = graph()?;
    let allowed: BTreeMap<&str, &[&str]> = ALLOWED.into_iter().collect();
    let mut problems = Vec::new();
    for (name, used) in &graph {
        let Some(allowed) = allowed.get(name.as_str()) else {
            problems.push(format!("crate {name} is missing from the table of layers in xtask"));
            continue;
        };
        for other in used {
            if *allowed != ANY && !allowed.contains(&other.as_str()) {
                problems.push(format!("crate {name} must not use {other}"));
            }
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
