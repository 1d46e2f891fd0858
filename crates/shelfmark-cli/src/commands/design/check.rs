//! `shelfmark design check`: findings as text or JSON.

use serde_json::{Value as Json, json};
use shelfmark_design::{Finding, shown};

use super::{Denied, document, hint_without_schemas, known_schema, known_words, print};
use crate::arguments::{DesignFormat, DesignRun};

pub(super) fn run(run: &DesignRun, deny: &[String]) -> anyhow::Result<()> {
    let severities = ["error", "warning", "note"];
    let known: Vec<&str> = severities.into_iter().chain(shelfmark_design::lints()).collect();
    known_words(deny, &known)?;
    let document = document(&run.file)?;
    known_schema(&document, run.schema.as_deref())?;
    let mut findings = document.check();
    if let Some(schema) = &run.schema {
        findings.retain(|finding| finding.schema == *schema);
    }
    let live: Vec<&Finding> = findings.iter().filter(|finding| finding.allowed.is_none()).collect();
    match run.format {
        DesignFormat::Json => {
            let list: Vec<Json> = live.iter().map(|finding| machine(finding)).collect();
            print(&format!("{:#}\n", Json::Array(list)))?;
        }
        DesignFormat::Text => {
            for finding in &live {
                print(&document.render(finding))?;
                let lines = finding.reproducer.as_ref();
                let lines = lines.map(|one| shown::text(one, &finding.message, 5));
                if let Some(lines) = lines.filter(|lines| !lines.is_empty()) {
                    print(&format!("   = shown by:\n{lines}"))?;
                }
                print("\n")?;
            }
            let allowed = findings.len() - live.len();
            let counts = severities.map(|word| {
                let those = live.iter().filter(|finding| finding.severity.word() == word);
                shown::counted(those.count(), word)
            });
            print(&format!("{}, {allowed} allowed\n", counts.join(", ")))?;
            hint_without_schemas(&document);
        }
    }
    let denied = live.iter().any(|finding| {
        deny.iter().any(|what| *what == finding.id || what == finding.severity.word())
    });
    if denied { Err(Denied.into()) } else { Ok(()) }
}

/// The fixed machine form.
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
