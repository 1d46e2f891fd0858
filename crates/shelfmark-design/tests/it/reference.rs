//! The reference models: what is found in their published schemas, and that each finding was
//! judged.
//!
//! A golden file's findings begin with `true` or `false`: whether the finding, read beside the
//! published schema, is right. `SHELFMARK_BLESS=1` keeps the labels of findings that were there
//! before and writes `unjudged` before new ones, which fails. A label is a person's: a rate over many
//! rows is no hot row (W6), and what only a derived plan does wrong is no harm of the schema.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::LazyLock;

use shelfmark_design::{Certificate, Document, Finding, Severity, Status};

use super::root;

const MODELS: [&str; 8] =
    ["battle", "hotel", "killrvideo", "leaderboard", "messaging", "rubis", "sensors", "social"];

fn load(name: &str) -> Document {
    let path = root().join("../../models/reference").join(format!("{name}.shelf"));
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Document::parse(&format!("{name}.shelf"), &text).unwrap_or_else(|report| panic!("{report}"))
}

/// A model with all that is said of it: asked once, because that takes the time.
struct Said {
    name: &'static str,
    document: Document,
    proofs: Vec<Certificate>,
    findings: Vec<Finding>,
}

static ALL: LazyLock<Vec<Said>> = LazyLock::new(|| {
    let said = |name: &'static str| {
        let document = load(name);
        let (proofs, findings) = (document.prove(), document.check());
        Said { name, document, proofs, findings }
    };
    MODELS.iter().copied().map(said).collect()
});

fn golden_path(name: &str) -> PathBuf {
    root().join("tests/golden/reference").join(format!("{name}.txt"))
}

/// A finding without its line, so that a label survives an edit above it.
fn judged(line: &str) -> Option<(String, &str)> {
    let (label, rest) = line.split_once(' ')?;
    let mut words: Vec<&str> = rest.split(' ').collect();
    let place = words.get(2)?.split(':').next()?;
    *words.get_mut(2)? = place;
    ["true", "false", "unjudged"].contains(&label).then(|| (words.join(" "), label))
}

#[test]
fn golden() {
    let mut trouble = Vec::new();
    for said in ALL.iter() {
        let name = said.name;
        let path = golden_path(name);
        let before = std::fs::read_to_string(&path).unwrap_or_default();
        let labels: BTreeMap<String, &str> = before.lines().filter_map(judged).collect();
        let mut out = String::new();
        for one in &said.proofs {
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
            for step in &one.steps {
                out.push_str(&format!("    {step}\n"));
            }
        }
        out.push('\n');
        for finding in &said.findings {
            let shown = if finding.reproducer.is_some() { " (shown)" } else { "" };
            let allowed = if finding.allowed.is_some() { " (allowed)" } else { "" };
            let line = format!(
                "{} {} {}:{} {}{shown}{allowed}",
                finding.id,
                finding.severity.word(),
                finding.schema,
                finding.line,
                finding.message
            );
            let label = judged(&format!("true {line}"))
                .and_then(|(key, _)| labels.get(&key).copied())
                .unwrap_or("unjudged");
            out.push_str(&format!("{label} {line}\n"));
        }
        if std::env::var_os("SHELFMARK_BLESS").is_some() {
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("the folder");
            std::fs::write(&path, &out).expect("the golden file can be written");
        }
        let golden = std::fs::read_to_string(&path).unwrap_or_default();
        if golden != out {
            trouble.push(format!("{name}: the golden output differs:\n{out}"));
        }
        if golden.contains("\nunjudged ") {
            trouble.push(format!("{name}: a finding was not judged"));
        }
    }
    assert!(trouble.is_empty(), "{}", trouble.join("\n"));
}

/// What the published schemas must be found guilty of.
#[test]
fn what_must_be_found_is_found() {
    let wanted: [(&str, &[&str]); 8] = [
        ("hotel", &["U1", "O7", "F1", "M2"]),
        ("killrvideo", &["P1", "P2", "P3"]),
        ("rubis", &["F1", "K7", "W4", "P2", "M2", "A5"]),
        ("sensors", &["P2"]),
        ("messaging", &["P1", "W4", "W2"]),
        ("battle", &["A7", "P3", "K10"]),
        ("leaderboard", &["U1", "W1", "W4", "A7"]),
        ("social", &["K7", "W3"]),
    ];
    for (name, ids) in wanted {
        let said = ALL.iter().find(|said| said.name == name).expect("a reference model");
        let findings = &said.findings;
        for id in ids {
            assert!(
                findings.iter().any(|finding| finding.schema == "published" && finding.id == *id),
                "{id} is not found in {name}"
            );
        }
    }
}

#[test]
fn corrected_schemas_are_proven_and_clean() {
    let (mut certified, mut total) = (0, 0);
    for said in ALL.iter() {
        let name = said.name;
        for one in said.proofs.iter().filter(|one| one.schema == "corrected") {
            let good = matches!(one.status, Status::Certified | Status::Multi);
            assert!(good, "{name}.{}: {} {}", one.pattern, one.status.word(), one.reason);
            total += 1;
            certified += usize::from(one.status == Status::Certified);
        }
        for finding in &said.findings {
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
fn refusals_bring_a_witness_and_certificates_are_verified() {
    for said in ALL.iter() {
        let name = said.name;
        for one in &said.proofs {
            if one.status == Status::Refused {
                let witness = one.witness.as_ref().expect("a witness");
                let found = witness.get("found").is_none();
                assert!(found, "{name}.{}.{}: no witness", one.schema, one.pattern);
            }
            if one.schema != "corrected" {
                continue;
            }
            said.document
                .verify(one)
                .unwrap_or_else(|why| panic!("{name}.{}.{}: {why}", one.schema, one.pattern));
        }
    }
}

/// Of the error findings, those that are no harm when one looks: under one in twenty.
#[test]
fn false_alarms_are_few() {
    let (mut errors, mut wrong) = (0, Vec::new());
    for name in MODELS {
        let golden = std::fs::read_to_string(golden_path(name)).expect("the golden file");
        for line in golden.lines().filter(|line| judged(line).is_some() && line.contains(" error "))
        {
            errors += 1;
            if line.starts_with("false ") {
                wrong.push(line.to_owned());
            }
        }
    }
    assert!(wrong.len() * 20 <= errors, "{} of {errors}: {wrong:#?}", wrong.len());
}
