//! `shelfmark design size`: rows and bytes, as a table or JSON.

use std::path::Path;

use super::{document, hint_without_schemas, known_schema, print};
use crate::arguments::DesignFormat;

pub(super) fn run(file: &Path, schema: Option<&str>, format: DesignFormat) -> anyhow::Result<()> {
    let document = document(file)?;
    known_schema(&document, schema)?;
    let mut report = document.size();
    if let Some(schema) = schema {
        report.schemas.retain(|one| one.schema == schema);
    }
    match format {
        DesignFormat::Text => {
            print(&report.to_string())?;
            hint_without_schemas(&document);
            Ok(())
        }
        DesignFormat::Json => print(&format!("{:#}\n", serde_json::to_value(&report)?)),
    }
}
