//! `shelfmark design confirm`: a model run on the engine against brute force.

use shelfmark_confirm::{Options, confirm};

use super::{Denied, document, print};
use crate::arguments::{DesignConfirm, DesignFormat};

pub(super) fn run(run: &DesignConfirm) -> anyhow::Result<()> {
    let document = document(&run.file)?;
    if let Some(schema) = &run.schema {
        let known = document.schemas();
        if !known.contains(schema) {
            anyhow::bail!("there is no schema {schema}; known: {}", known.join(", "));
        }
    }
    let options = Options {
        schema: run.schema.clone(),
        seed: run.seed,
        scales: run.scale.iter().map(|scale| usize::from(*scale)).collect(),
        calls: run.calls,
    };
    let report = confirm(&document, &options).map_err(|error| anyhow::anyhow!(error))?;
    match run.format {
        DesignFormat::Json => print(&format!("{:#}\n", report.json()))?,
        DesignFormat::Text => print(&report.text())?,
    }
    if report.ok() { Ok(()) } else { Err(Denied.into()) }
}
