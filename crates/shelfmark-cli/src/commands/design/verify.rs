//! `shelfmark design verify`: re-checks certificates by other code than the prover's.

use std::path::Path;

use anyhow::bail;
use serde_json::Value as Json;
use shelfmark_design::{Certificate, Document};

use super::{NoModel, print, text_of};

/// Parses the output of `prove --save`: the model, and at least one certificate of it.
fn bundle(path: &Path, text: &str) -> anyhow::Result<(Document, Vec<Certificate>)> {
    let unread = |why: String| NoModel::call(format!("{} {why}", path.display()));
    let bundle: Json = serde_json::from_str(text)
        .map_err(|error| unread(format!("holds no certificates: {error}")))?;
    if bundle.get("format").and_then(Json::as_u64) != Some(1) {
        return Err(unread("has another format; write it anew with `prove --save`".to_owned()));
    }
    let text = |name: &str| {
        let found = bundle.get(name).and_then(Json::as_str);
        found.ok_or_else(|| unread(format!("has no `{name}`")))
    };
    let document = Document::parse(text("name")?, text("model")?).map_err(NoModel::Text)?;
    let list = bundle.get("certificates").cloned().unwrap_or(Json::Null);
    let certificates: Vec<Certificate> = serde_json::from_value(list)
        .map_err(|error| unread(format!("holds damaged certificates: {error}")))?;
    if certificates.is_empty() {
        return Err(unread("holds no certificates".to_owned()));
    }
    Ok((document, certificates))
}

pub(super) fn run(path: &Path) -> anyhow::Result<()> {
    let text = text_of(path)?;
    let (document, certificates) = bundle(path, &text)?;
    let mut bad = 0;
    // Who proves a schema proves all of it: a certificate that is missing hides something.
    for schema in document.schemas() {
        let own: Vec<&str> = certificates
            .iter()
            .filter(|one| one.schema == schema)
            .map(|one| one.pattern.as_str())
            .collect();
        for pattern in document.patterns().filter(|name| !own.is_empty() && !own.contains(name)) {
            bad += 1;
            print(&format!("WRONG {schema}.{pattern}: there is no certificate of it\n"))?;
        }
    }
    for certificate in &certificates {
        let name = format!("{}.{}", certificate.schema, certificate.pattern);
        match document.verify(certificate) {
            Ok(how) => print(&format!("ok    {name}: {how}\n"))?,
            Err(why) => {
                bad += 1;
                print(&format!("WRONG {name}: {why}\n"))?;
            }
        }
    }
    if bad > 0 {
        let all = shelfmark_design::shown::counted(certificates.len(), "certificate");
        bail!("{bad} of {all} do not hold");
    }
    let all = shelfmark_design::shown::counted(certificates.len(), "certificate");
    print(&format!("{all} checked, of the model {}\n", document.name()))
}
