//! `shelfmark design confirm`: a model run on the engine against brute force.

use shelfmark_confirm::{
    Options, confirm, confirm_at_cql, confirm_at_dynamodb, confirm_through_cql,
    confirm_through_dynamodb,
};

use super::endpoint::CqlServer;
use super::{Denied, document, hint_without_schemas, known_schema, print};
use crate::arguments::{DesignConfirm, DesignFace, DesignFormat};
use crate::connect::DynamoDbServer;

pub(super) fn run(run: &DesignConfirm) -> anyhow::Result<()> {
    let document = document(&run.file)?;
    known_schema(&document, run.schema.as_deref())?;
    let options = Options {
        schema: run.schema.clone(),
        seed: run.seed,
        scales: run.scale.iter().map(|scale| usize::from(*scale)).collect(),
        calls: usize::from(run.calls),
    };
    let tls = run.tls_ca.as_deref();
    let report = match (run.through, &run.endpoint) {
        (None, _) => confirm(&document, &options),
        (Some(DesignFace::Dynamodb), None) => confirm_through_dynamodb(&document, &options),
        (Some(DesignFace::Dynamodb), Some(url)) => {
            confirm_at_dynamodb(&document, &options, &DynamoDbServer::at(url, tls)?)
        }
        (Some(DesignFace::Cql), None) => confirm_through_cql(&document, &options),
        (Some(DesignFace::Cql), Some(url)) => {
            confirm_at_cql(&document, &options, &CqlServer::at(url, tls)?)
        }
    };
    let report = report.map_err(|error| anyhow::anyhow!(error))?;
    match run.format {
        DesignFormat::Json => print(&format!("{:#}\n", report.json()))?,
        DesignFormat::Text => {
            print(&report.text())?;
            hint_without_schemas(&document);
        }
    }
    if report.ok() { Ok(()) } else { Err(Denied.into()) }
}
