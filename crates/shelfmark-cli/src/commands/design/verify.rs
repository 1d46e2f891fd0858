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
    let mut bad = 0;
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
        bail!("{bad} of {} certificates do not hold", certificates.len());
    }
    Ok(())
}
