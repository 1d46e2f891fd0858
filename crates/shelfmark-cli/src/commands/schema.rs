//! Parses the schemas of `verify --salvage --schema FILE`, for rows whose own were lost.
//!
//! A file is a CQL script or JSON: the bodies of CreateTable. They are run over a store in memory by
//! the faces themselves, so whatever a face takes is taken here, and means the same.
//!
//! Invariant: the store that is salvaged is not touched.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use serde_json::Value;
use shelfmark_admin::readable_tables;
use shelfmark_cql as cql;
use shelfmark_cql_protocol::client::Query;
use shelfmark_dynamo as dynamo;
use shelfmark_engine::{Engine, GivenSchema};

use super::cql::{pieces::pieces, read_text};
use crate::connect::Session;
use crate::store::memory;

/// Parses the files, in the given order.
pub(super) fn read(paths: &[PathBuf]) -> anyhow::Result<GivenSchema> {
    if paths.is_empty() {
        return Ok(GivenSchema::default());
    }
    let engine = memory()?;
    for path in paths {
        let (name, text) = read_text(path)?;
        let run = match text.trim_start().starts_with(['{', '[']) {
            true => create_tables(&engine, &text),
            false => run_script(&engine, &text),
        };
        run.with_context(|| {
            format!(
                "{name} is no schema: a CQL script of CREATE statements, or JSON \
                                     of CreateTable requests"
            )
        })?;
    }
    let mut tables = readable_tables(&engine)?.0;
    // As they were created.
    tables.sort_by_key(|table| table.id);
    let tables = tables.iter().map(|table| table.schema.clone()).collect();
    Ok(GivenSchema { namespaces: engine.namespaces()?, tables })
}

/// Executes the body of a CreateTable, or a list of them.
fn create_tables(engine: &Engine, text: &str) -> anyhow::Result<()> {
    let bodies = match serde_json::from_str(text)? {
        Value::Array(bodies) => bodies,
        body => vec![body],
    };
    let environment = engine.environment().clone();
    let face = dynamo::Face::new(engine.clone(), environment, dynamo::FaceOptions::default());
    let head = dynamo::RequestHead::operation("CreateTable");
    for body in bodies {
        let reply = face.call(&head, body.to_string().as_bytes());
        if reply.status != 200 {
            bail!("CreateTable was refused: {}", String::from_utf8_lossy(&reply.body));
        }
    }
    Ok(())
}

fn run_script(engine: &Engine, text: &str) -> anyhow::Result<()> {
    let environment = engine.environment().clone();
    let options = cql::FaceOptions::default();
    let face = cql::Face::open(engine.clone(), environment, options, None, Arc::new(cql::Inline))?;
    let mut session = Session::over(Arc::new(face))?;
    for piece in pieces(text).0 {
        if piece.command {
            bail!("`{}` is a command of the shell, not a statement", piece.text.trim());
        }
        let query = Query { text: piece.text, ..Query::default() };
        if let Err(failure) = session.ask(&query) {
            bail!("{failure}: {}", piece.text.trim());
        }
    }
    session.close()
}
