//! The seeds as models: what is found, what is proven, as golden output.
//!
//! `SHELFMARK_BLESS=1` writes the golden files anew; read what changed before it is committed.

#![expect(clippy::disallowed_methods, reason = "golden files are the test's own")]

mod calls;
mod constants;
mod decided_apart;
mod decided_begun;
mod decided_documents;
mod decided_indexes;
mod decided_keys;
mod decided_late;
mod decided_mixed;
mod decided_orders;
mod decided_own_limits;
mod decided_pages;
mod decided_parts;
mod decided_ranges;
mod decided_reads;
mod decided_stated;
mod decided_tables;
mod decided_tallies;
mod decided_targets;
mod decided_texts;
mod decided_unique;
mod decided_uuids;
mod decided_whole;
mod decided_writes;
mod draw;
mod limits;
mod lints;
mod lists;
mod machine;
mod messages;
mod models;
mod pairs;
mod planned;
mod planned_choices;
mod planned_costs;
mod planned_late;
mod planned_mixed;
mod planned_views;
mod records;
mod reference;
mod sparse_indexes;
mod together;
mod weighed;

use std::path::PathBuf;

use shelfmark_design::{Document, Severity, Status};

const MODELS: [&str; 7] =
    ["blog", "followers", "openchat", "phonebook", "publication", "reddit", "twissandra"];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn load(name: &str) -> Document {
    let path = root().join("../../models/seeds").join(format!("{name}.shelf"));
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Document::parse(&format!("{name}.shelf"), &text).unwrap_or_else(|report| panic!("{report}"))
}

#[test]
fn golden() {
    for name in MODELS {
        let document = load(name);
        let mut out = String::new();
        for one in document.prove() {
            let obligation = one.obligation.as_deref().unwrap_or("");
            let line = format!(
                "{} {}.{} {obligation} {}",
                one.status.word(),
                one.schema,
                one.pattern,
                one.reason
            );
            out.push_str(line.trim_end());
            out.push('\n');
            for step in one.steps {
                out.push_str(&format!("    {step}\n"));
            }
        }
        out.push('\n');
        for finding in document.check() {
            let shown = if finding.reproducer.is_some() { " (shown)" } else { "" };
            out.push_str(&format!(
                "{} {} {}:{} {}{shown}\n",
                finding.id,
                finding.severity.word(),
                finding.schema,
                finding.line,
                finding.message
            ));
        }
        let path = root().join("tests/golden").join(format!("{name}.txt"));
        if std::env::var_os("SHELFMARK_BLESS").is_some() {
            std::fs::write(&path, &out).expect("the golden file can be written");
        }
        let golden = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(golden, out, "{name}: the golden output differs");
    }
}

/// What the documents' schemas must be found guilty of.
#[test]
fn what_must_be_found_is_found() {
    let wanted: [(&str, &str, &[&str]); 13] = [
        ("openchat", "heading", &["K3", "K4", "K5", "V1", "P1", "P2", "W3"]),
        ("openchat", "prose", &["K3", "K4", "K5", "V1", "P1", "P2", "W3"]),
        ("reddit", "published", &["K6"]),
        ("publication", "root", &["A2", "U1"]),
        ("publication", "hierarchical", &["A1", "F1", "K6"]),
        ("publication", "gsi", &["U1"]),
        ("twissandra", "published", &["U2", "A5", "X2", "W1", "D1", "K1", "W3"]),
        ("blog", "antipattern", &["V1", "V2"]),
        ("blog", "tuples", &["K7", "A4", "P2", "U2"]),
        ("followers", "asked", &["W1"]),
        ("followers", "answered", &["W2"]),
        ("followers", "two_columns", &["U2"]),
        ("phonebook", "published", &["U1"]),
    ];
    for (name, schema, ids) in wanted {
        let findings = load(name).check();
        for id in ids {
            assert!(
                findings.iter().any(|finding| finding.schema == schema && finding.id == *id),
                "{id} is not found in {name}.{schema}"
            );
        }
    }
    let thrice = load("phonebook").check();
    assert_eq!(thrice.iter().filter(|finding| finding.id == "U1").count(), 3);
    let sent = load("twissandra").check();
    assert!(sent.iter().any(|one| one.id == "W1"
        && one.severity == Severity::Warning
        && one.schema == "published"));
}

#[test]
fn corrected_schemas_are_proven_and_clean() {
    let (mut certified, mut total) = (0, 0);
    for name in MODELS {
        let document = load(name);
        for one in document.prove().iter().filter(|one| one.schema == "corrected") {
            assert!(
                matches!(one.status, Status::Certified | Status::Multi),
                "{name}.{}: {} {}",
                one.pattern,
                one.status.word(),
                one.reason
            );
            total += 1;
            certified += usize::from(one.status == Status::Certified);
        }
        for finding in document.check() {
            assert!(
                finding.schema != "corrected" || finding.severity != Severity::Error,
                "{name}: {} {}",
                finding.id,
                finding.message
            );
        }
    }
    assert!(certified * 100 >= total * 95, "{certified} of {total} are certified");
}

#[test]
fn refusals_bring_a_witness_and_errors_a_reproducer() {
    for name in MODELS {
        let document = load(name);
        for one in document.prove().iter().filter(|one| one.status == Status::Refused) {
            let witness = one.witness.as_ref().expect("a witness");
            assert!(
                witness.get("found").is_none(),
                "{name}.{}.{}: no witness",
                one.schema,
                one.pattern
            );
        }
        for finding in document.check() {
            assert!(finding.severity != Severity::Error || finding.reproducer.is_some());
        }
    }
}

#[test]
fn certificates_are_verified_and_forgeries_are_not() {
    for name in MODELS {
        let document = load(name);
        for mut one in document.prove() {
            document
                .verify(&one)
                .unwrap_or_else(|why| panic!("{name}.{}.{}: {why}", one.schema, one.pattern));
            if one.status == Status::Refused
                && !one.write
                && one.witness.as_ref().is_some_and(|w| w["kind"] == "state")
            {
                one.status = Status::Certified;
                one.obligations.iter_mut().for_each(|obligation| obligation.holds = true);
                assert!(
                    document.verify(&one).is_err(),
                    "{name}.{}.{} is believed",
                    one.schema,
                    one.pattern
                );
            }
        }
    }
}

/// Neither files, sockets, clocks nor threads: the crate can run in a browser.
#[test]
fn the_crate_is_pure() {
    let banned =
        ["std::fs", "std::net", "std::thread", "std::time", "std::process", "std::env", "tokio"];
    let crates = [
        "shelfmark-design-language",
        "shelfmark-design-prove",
        "shelfmark-design-plan",
        "shelfmark-design-verify",
        "shelfmark-design-import",
        ".",
    ];
    let folder = |name: &str| match name {
        "." => root().to_path_buf(),
        name => root().join("..").join(name),
    };
    let mut open: Vec<_> = crates.iter().map(|name| folder(name).join("src")).collect();
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() && !path.ends_with("tests") {
                open.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                let text = std::fs::read_to_string(&path).expect("a source");
                for word in banned {
                    assert!(!text.contains(word), "{} names {word}", path.display());
                }
            }
        }
    }
    let pure = ["schemars", "serde", "serde_json", "shelfmark-cql-syntax", "shelfmark-keycode"];
    for name in crates {
        let manifest =
            std::fs::read_to_string(folder(name).join("Cargo.toml")).expect("a manifest");
        let mut dependencies = manifest
            .lines()
            .skip_while(|line| *line != "[dependencies]")
            .skip(1)
            .take_while(|line| !line.starts_with('['))
            .filter_map(|line| line.split(['.', ' ', '=']).next())
            .filter(|name| !name.is_empty());
        let other = dependencies.find(|one| !pure.contains(one) && !crates.contains(one));
        assert_eq!(other, None, "{name} uses something that is not known to be pure");
    }
}

/// The tutorial's models give what it prints.
#[test]
fn the_tutorial_is_true() {
    let path = root().join("../../docs/modelling.md");
    let text = std::fs::read_to_string(path).expect("the tutorial is there");
    let blocks: Vec<(&str, &str)> =
        text.split("```").skip(1).step_by(2).filter_map(|block| block.split_once('\n')).collect();
    let entities = blocks.iter().find(|(kind, _)| *kind == "shelf").map_or("", |(_, text)| text);
    let mut checked = 0;
    for pair in blocks.windows(2) {
        let [("shelf", schema), ("prove", wanted)] = pair else { continue };
        let document = Document::parse("tutorial", &format!("{entities}\n{schema}"))
            .unwrap_or_else(|report| panic!("{report}"));
        let found: Vec<String> = document
            .prove()
            .iter()
            .map(|one| {
                let obligation = one.obligation.as_deref().unwrap_or("");
                let line = format!(
                    "{} {}.{} {obligation} {}",
                    one.status.word(),
                    one.schema,
                    one.pattern,
                    one.reason
                );
                line.trim_end().to_owned()
            })
            .collect();
        assert_eq!(found.join("\n"), wanted.trim_end());
        checked += 1;
    }
    assert_eq!(checked, 3, "every schema of the tutorial is followed by its proof");
    let document =
        Document::parse("tutorial", entities).unwrap_or_else(|report| panic!("{report}"));
    for (kind, wanted) in &blocks {
        if let Some(target) = kind.strip_prefix("plan ") {
            let plan = document.plan(target, "planned").expect("a plan");
            assert_eq!(plan.schema, *wanted, "{target}");
            checked += 1;
        }
    }
    assert_eq!(checked, 5, "two derived schemas");
}
