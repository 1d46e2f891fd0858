//! `shelfmark design check`: prints findings as text or JSON.

use serde_json::{Value as Json, json};
use shelfmark_design::{Document, Finding, shown};

use super::{Denied, document, hint_without_schemas, known_schema, known_words, print};
use crate::arguments::{DesignCheck, DesignFormat};

const SEVERITIES: [&str; 3] = ["error", "warning", "note"];

pub(super) fn run(run: &DesignCheck) -> anyhow::Result<()> {
    let known: Vec<&str> = SEVERITIES.into_iter().chain(shelfmark_design::lints()).collect();
    let deny = known_words(&run.deny, &known)?;
    // All of them are read before anything is printed.
    let documents = run.files.iter().map(|file| document(file)).collect::<Result<Vec<_>, _>>()?;
    let has = |document: &&Document| {
        run.schema.as_ref().is_none_or(|schema| document.schemas().contains(schema))
    };
    let looked_at: Vec<&Document> = documents.iter().filter(has).collect();
    if let (true, Some(first)) = (looked_at.is_empty(), documents.first()) {
        known_schema(first, run.schema.as_deref())?;
    }
    let mut findings: Vec<Finding> = Vec::new();
    for document in &looked_at {
        let found = document.check().into_iter();
        let wanted = |one: &Finding| run.schema.as_ref().is_none_or(|name| one.schema == *name);
        findings.extend(found.filter(wanted));
    }
    let live: Vec<&Finding> = findings.iter().filter(|finding| finding.allowed.is_none()).collect();
    match run.format {
        DesignFormat::Json => {
            let list: Vec<Json> = live.iter().map(|finding| machine(finding)).collect();
            print(&format!("{:#}\n", Json::Array(list)))?;
        }
        DesignFormat::Text => text(&looked_at, &live, findings.len() - live.len())?,
    }
    let denied = live.iter().any(|finding| {
        deny.iter().any(|what| *what == finding.id || *what == finding.severity.word())
    });
    if denied { Err(Denied.into()) } else { Ok(()) }
}

/// Formats findings for people: each with its place, then how many there are.
fn text(documents: &[&Document], live: &[&Finding], allowed: usize) -> anyhow::Result<()> {
    let told = merged(live);
    for finding in &told {
        let Some(document) = documents.iter().find(|one| one.name() == finding.file) else {
            continue;
        };
        print(&document.render(finding))?;
        let lines = finding.reproducer.as_ref();
        let lines = lines.map(|one| shown::text(one, &finding.message, 5));
        if let Some(lines) = lines.filter(|lines| !lines.is_empty()) {
            print(&format!("   = shown by:\n{lines}"))?;
        }
        print("\n")?;
    }
    let counts = SEVERITIES.map(|word| {
        let those = told.iter().filter(|finding| finding.severity.word() == word);
        shown::counted(those.count(), word)
    });
    print(&format!("{}, {allowed} allowed\n", counts.join(", ")))?;
    documents.iter().for_each(|document| hint_without_schemas(document));
    Ok(())
}

/// Merges findings of several schemas at one place that have the same words and no reproducer.
fn merged(live: &[&Finding]) -> Vec<Finding> {
    let mut told: Vec<Finding> = Vec::new();
    for &finding in live {
        let again = told.iter_mut().find(|last| {
            (&last.file, last.line, &last.id) == (&finding.file, finding.line, &finding.id)
                && last.message == finding.message
                && last.severity == finding.severity
                && last.reproducer.is_none()
                && finding.reproducer.is_none()
        });
        match again {
            Some(last) => last.schema = format!("{}, {}", last.schema, finding.schema),
            None => told.push(finding.clone()),
        }
    }
    told
}

/// Returns the fixed machine form.
fn machine(finding: &Finding) -> Json {
    json!({
        "id": finding.id,
        "severity": finding.severity.word(),
        "schema": finding.schema,
        "file": finding.file,
        "line": finding.line,
        "message": finding.message,
        "reproducer": finding.reproducer,
    })
}
