//! `shelfmark design verify`: certificates re-checked by other code than the prover's.

use std::path::Path;

use anyhow::{Context as _, anyhow, bail};
use serde_json::Value as Json;
use shelfmark_design::{Certificate, Document};

use super::{NoModel, print, text_of};

pub(super) fn run(path: &Path) -> anyhow::Result<()> {
    let bundle: Json = serde_json::from_str(&text_of(path)?)
        .with_context(|| format!("{} holds no certificates", path.display()))?;
    if bundle.get("format").and_then(Json::as_u64) != Some(1) {
        bail!("{} has another format; write it anew with `prove --save`", path.display());
    }
    let text = |name: &str| {
        bundle.get(name).and_then(Json::as_str).ok_or_else(|| anyhow!("`{name}` is missing"))
    };
    let document = Document::parse(text("name")?, text("model")?).map_err(NoModel::Text)?;
    let list = bundle.get("certificates").cloned().unwrap_or(Json::Null);
    let certificates: Vec<Certificate> =
        serde_json::from_value(list).context("the certificates are damaged")?;
    if certificates.is_empty() {
        bail!("{} holds no certificates", path.display());
    }
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
