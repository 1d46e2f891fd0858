//! `shelfmark watch`: a running server's requests compared with a model.

use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, anyhow};
use shelfmark_admin::{ModelFile, WatchClose, WatchModel, WatchOpen, WatchReset};
use shelfmark_store::vfs;

use crate::arguments::Watch;
use crate::console::ConsoleClient;

pub(crate) fn run(watch: &Watch) -> anyhow::Result<()> {
    let client = ConsoleClient::new(&watch.server, watch.console_token_file.as_deref())?;
    let report = match &watch.model {
        Some(path) => client.run(&WatchOpen(model(path, watch.schema.as_deref())?))?,
        None => client.run(&WatchModel {})?,
    };
    if watch.reset {
        client.run(&WatchReset {})?;
    }
    if watch.close {
        client.run(&WatchClose {})?;
    }
    let mut out = std::io::stdout().lock();
    match watch.json {
        true => writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?,
        false => write!(out, "{}", report.text())?,
    }
    Ok(())
}

/// Reads the file of a model.
pub(crate) fn model(path: &Path, schema: Option<&str>) -> anyhow::Result<ModelFile> {
    let shown = path.display();
    let text = vfs::read(path).with_context(|| format!("cannot read the model {shown}"))?;
    let text = String::from_utf8(text).map_err(|_| anyhow!("the model {shown} is not UTF-8"))?;
    let name =
        path.file_name().map_or_else(|| shown.to_string(), |own| own.to_string_lossy().into());
    Ok(ModelFile { name, text, schema: schema.map(str::to_owned) })
}
