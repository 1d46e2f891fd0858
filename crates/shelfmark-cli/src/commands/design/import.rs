//! `shelfmark design import`: schemas of other tools as models.

use std::path::Path;

use shelfmark_design::import::{Source, import};

use super::{NoModel, print, text_of};
use crate::arguments::DesignSource;

pub(super) fn run(file: &Path, from: Option<DesignSource>) -> anyhow::Result<()> {
    let text = text_of(file)?;
    let from = match from {
        Some(DesignSource::Workbench) => Source::Workbench,
        Some(DesignSource::Cql) => Source::Cql,
        None => Source::of(&text),
    };
    let name =
        file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    // A place in the text goes behind its name, as editors take it.
    let model = import(&name, &text, from)
        .map_err(|error| NoModel::call(format!("{}:{error}", file.display())))?;
    print(&model)
}
