//! `shelfmark design draw`: pictures of a model, or one page with all of it.
//!
//! Invariant: nothing is written but the file that `--output` names; without it the text goes to
//! standard output.

use super::{document, known_schema, print, write};
use crate::arguments::DesignDraw;

pub(super) fn run(draw: &DesignDraw) -> anyhow::Result<()> {
    let document = document(&draw.file)?;
    known_schema(&document, draw.schema.as_deref())?;
    let text = if draw.page {
        document.page()
    } else {
        document
            .draw(draw.view.view(), draw.schema.as_deref())
            .map_err(|message| anyhow::anyhow!(message))?
    };
    match &draw.output {
        Some(path) => write(path, &text),
        None => print(&text),
    }
}
