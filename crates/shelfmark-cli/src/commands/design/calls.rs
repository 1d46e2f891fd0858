//! `shelfmark design calls`: the requests that a user of the target sends.

use super::{NoModel, document, known_schema, print, suggestion};
use crate::arguments::{DesignCalls, DesignFormat};

pub(super) fn run(run: &DesignCalls) -> anyhow::Result<()> {
    let document = document(&run.file)?;
    known_schema(&document, run.schema.as_deref())?;
    let schemas = document.schemas();
    if let Some(pattern) = &run.pattern
        && !document.patterns().any(|known| known == pattern)
    {
        let known: Vec<&str> = document.patterns().collect();
        let meant = suggestion(pattern, &known);
        return Err(NoModel::call(format!("there is no pattern {pattern}{meant}")));
    }
    let wanted: Vec<&String> = schemas
        .iter()
        .filter(|name| run.schema.as_ref().is_none_or(|only| only == *name))
        .collect();
    if let (DesignFormat::Json, [_, _, ..]) = (run.format, wanted.as_slice()) {
        let names: Vec<&str> = schemas.iter().map(String::as_str).collect();
        let message = format!("name one of the schemas with --schema: {}", names.join(", "));
        return Err(NoModel::call(message));
    }
    if wanted.is_empty() {
        let message =
            format!("{} has no schema; `shelfmark design plan` derives one", document.name());
        return Err(NoModel::call(message));
    }
    for (at, schema) in wanted.into_iter().enumerate() {
        let said = document
            .calls(schema, run.pattern.as_deref())
            .map_err(|why| NoModel::call(format!("schema {schema}: {why}")));
        match run.format {
            DesignFormat::Json => print(&format!("{:#}\n", said?.json()))?,
            DesignFormat::Text => {
                let between = if at > 0 { "\n" } else { "" };
                print(&format!("{between}{}", said?.text()))?;
            }
        }
    }
    Ok(())
}
