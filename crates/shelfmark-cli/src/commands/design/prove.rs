//! `shelfmark design prove`: certificates as text or JSON.

use std::path::Path;

use serde_json::{Value as Json, json};
use shelfmark_design::{Certificate, Status};

use super::{Denied, document, hint_without_schemas, known_schema, known_words, print, write};
use crate::arguments::{DesignFormat, DesignRun};

/// The statuses that may be denied.
const STATUSES: [Status; 4] =
    [Status::Certified, Status::Multi, Status::Refused, Status::Unservable];

/// The obligations that may be denied.
const OBLIGATIONS: [&str; 10] = ["O1", "O2", "O3", "O4", "O5", "O6", "O7", "O8", "O9", "O10"];

pub(super) fn run(run: &DesignRun, deny: &[String], save: Option<&Path>) -> anyhow::Result<()> {
    let known: Vec<&str> = STATUSES.map(Status::word).into_iter().chain(OBLIGATIONS).collect();
    let deny = known_words(deny, &known)?;
    let document = document(&run.file)?;
    known_schema(&document, run.schema.as_deref())?;
    let mut certificates = document.prove();
    if let Some(schema) = &run.schema {
        certificates.retain(|certificate| certificate.schema == *schema);
    }
    match run.format {
        DesignFormat::Json => {
            let list: Vec<Json> = certificates.iter().map(machine).collect();
            print(&format!("{:#}\n", Json::Array(list)))?;
        }
        DesignFormat::Text => {
            for certificate in &certificates {
                print(&certificate.text())?;
            }
            let count = |status| certificates.iter().filter(|one| one.status == status).count();
            print(&format!(
                "{} certified, {} multi, {} refused, {} unservable\n",
                count(Status::Certified),
                count(Status::Multi),
                count(Status::Refused),
                count(Status::Unservable)
            ))?;
            hint_without_schemas(&document);
        }
    }
    if let Some(path) = save {
        let bundle = json!({
            "format": 1,
            "name": document.name(),
            "model": document.source(),
            "certificates": certificates,
        });
        write(path, &format!("{bundle:#}\n"))?;
    }
    let denied = certificates.iter().any(|one| {
        deny.iter()
            .any(|what| *what == one.status.word() || one.obligation.as_deref() == Some(*what))
    });
    if denied { Err(Denied.into()) } else { Ok(()) }
}

/// Returns the fixed machine form.
fn machine(certificate: &Certificate) -> Json {
    let mut out = json!({
        "schema": certificate.schema,
        "pattern": certificate.pattern,
        "status": certificate.status.word(),
        "obligation": certificate.obligation,
        "ranges": certificate.ranges,
        "steps": certificate.steps,
        "witness": certificate.witness,
        "reason": certificate.reason,
    });
    if let (Some(claimed), Some(fields)) = (&certificate.concurrency, out.as_object_mut()) {
        let (claim, conditions, text) = (claimed.claim, &claimed.conditions, claimed.text());
        let shown = json!({ "claim": claim, "conditions": conditions, "text": text });
        fields.insert("concurrency".to_owned(), shown);
    }
    out
}
