//! `shelfmark mcp`: the modeller, and a store, for language models.
//!
//! What it is not: it knows no tool; `shelfmark-mcp` does. Here a store is opened for it, or one that is
//! open in a running server is asked.
//!
//! Invariant: standard output belongs to the protocol; what people read goes to standard error.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::anyhow;
use serde_json::Value as Json;
use shelfmark_admin::{Admin, Report, Stats, Step, Tables};
use shelfmark_cql_protocol::client::Query;
use shelfmark_dynamo::{Face, FaceOptions, RequestHead};
use shelfmark_engine::{Engine, Share, Upkeep};
use shelfmark_mcp::{Answered, Settings, Store};
use shelfmark_store::embedded::Options;

use crate::arguments::Mcp;
use crate::commands::cql::json_rows;
use crate::connect::{ConsolePlace, Failure, Session, ask_dynamodb};
use crate::console::ConsoleClient;
use crate::store::{open, shared};

/// Rows that a statement of CQL answers at most.
const ROWS_MAX: i32 = 500;

const UPKEEP_PERIOD: Duration = Duration::from_secs(1);

/// Serves one client, until it goes.
pub(crate) fn run(mcp: &Mcp) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_io()
        .enable_time()
        .build()?;
    if let Some(server) = &mcp.server {
        let place =
            ConsolePlace { server: server.clone(), token_file: mcp.console_token_file.clone() };
        let store: Arc<dyn Store> = Arc::new(Running::at(place)?);
        let settings = Settings { store: Some(store), allow_writes: mcp.allow_writes };
        let served = shelfmark_mcp::serve(settings);
        return runtime.block_on(served).map_err(|error| anyhow!(error));
    }
    let Some(folder) = &mcp.data else {
        let served = shelfmark_mcp::serve(Settings::default());
        return runtime.block_on(served).map_err(|error| anyhow!(error));
    };
    let opened = Arc::new(Opened::open(folder)?);
    let store: Arc<dyn Store> = Arc::<Opened>::clone(&opened);
    let settings = Settings { store: Some(store), allow_writes: mcp.allow_writes };
    let served = runtime.block_on(shelfmark_mcp::serve(settings));
    drop(runtime);
    if let Some(opened) = Arc::into_inner(opened) {
        opened.close()?;
    }
    served.map_err(|error| anyhow!(error))
}

/// A store that is opened for the tools, with a face of each kind over it.
struct Opened {
    engine: Engine,
    upkeep: Upkeep,
    dynamodb: Face,
    cql: Mutex<Session>,
}

impl Opened {
    fn open(folder: &Path) -> anyhow::Result<Self> {
        let engine = open(folder, Options::default(), false)?;
        let upkeep = Upkeep::start(&engine, UPKEEP_PERIOD)?;
        let shown = shared(&engine, Share::Read);
        let environment = engine.environment().clone();
        let options = shelfmark_cql::FaceOptions::default();
        let background = Arc::new(shelfmark_cql::Inline);
        let cql = shelfmark_cql::Face::open(
            shown.clone(),
            environment.clone(),
            options,
            None,
            background,
        );
        let cql = cql.map_err(|error| anyhow!("CQL tables cannot be read: {error}"))?;
        let cql = Mutex::new(Session::over(Arc::new(cql))?);
        let dynamodb = Face::new(shown, environment, FaceOptions::default());
        Ok(Self { engine, upkeep, dynamodb, cql })
    }

    fn close(self) -> anyhow::Result<()> {
        let Self { engine, mut upkeep, dynamodb, cql } = self;
        upkeep.stop();
        drop((dynamodb, cql));
        engine.store().close()?;
        Ok(())
    }
}

impl Store for Opened {
    fn tables(&self) -> Result<Json, String> {
        let admin = Admin::new(self.engine.clone());
        let tables = admin.run(Tables::default()).map_err(|error| error.to_string())?;
        serde_json::to_value(&tables).map_err(|error| error.to_string())
    }

    fn dynamodb(&self, operation: &str, request: &Json) -> Result<Answered, String> {
        let head = RequestHead::operation(operation);
        let reply = self.dynamodb.call(&head, request.to_string().as_bytes());
        let text = String::from_utf8_lossy(&reply.body).into_owned();
        answered(reply.status, text, &Report::from(&reply.report))
    }

    fn cql(&self, statement: &str) -> Result<Answered, String> {
        asked(&mut self.cql.lock().unwrap_or_else(PoisonError::into_inner), statement)
    }
}

/// The store of a running server, which is asked by way of its console.
struct Running {
    place: ConsolePlace,
}

impl Running {
    fn at(place: ConsolePlace) -> anyhow::Result<Self> {
        // What is wrong with it is told before the client is answered.
        place.client()?.run(&Stats::default())?;
        Ok(Self { place })
    }

    fn client(&self) -> Result<ConsoleClient, String> {
        self.place.client().map_err(|error| format!("{error:#}"))
    }
}

impl Store for Running {
    fn tables(&self) -> Result<Json, String> {
        let tables = self.client()?.run(&Tables::default());
        let tables = tables.map_err(|error| format!("{error:#}"))?;
        serde_json::to_value(&tables).map_err(|error| error.to_string())
    }

    fn dynamodb(&self, operation: &str, request: &Json) -> Result<Answered, String> {
        let answer = ask_dynamodb(&self.client()?, operation, request.to_string().as_bytes());
        let answer = answer.map_err(|error| format!("{error:#}"))?;
        answered(answer.status, answer.answer.get().to_owned(), &answer.report)
    }

    fn cql(&self, statement: &str) -> Result<Answered, String> {
        let session = Session::by_console(&self.place);
        asked(&mut session.map_err(|error| format!("{error:#}"))?, statement)
    }
}

/// Returns an answer of DynamoDB with what was read for it.
fn answered(status: u16, text: String, report: &Report) -> Result<Answered, String> {
    if status != 200 {
        return Err(text);
    }
    let step = |step: &Step| {
        let index = step.index.as_ref().map_or_else(String::new, |name| format!(" by {name}"));
        let ranges = step.ranges.len() + step.ranges_more;
        let (read, returned) = (step.rows_read, step.rows_returned);
        format!("{}{index}: {ranges} range(s), {read} rows read, {returned} returned", step.table)
    };
    let read: Vec<String> = report.steps.iter().map(step).collect();
    Ok(Answered { text, read: read.join("\n") })
}

/// Asks a statement of CQL, with what was read for it.
fn asked(session: &mut Session, statement: &str) -> Result<Answered, String> {
    let query =
        Query { text: statement, page_size: Some(ROWS_MAX), tracing: true, ..Query::default() };
    let answered = session.ask(&query).map_err(|failure: Failure| failure.to_string())?;
    let trace = answered.trace.map(|id| format!("{:032x}", u128::from_be_bytes(id)));
    let (rows, has_more) = match &answered.page {
        Some(page) => (json_rows(page), page.paging.is_some()),
        None => (Vec::new(), false),
    };
    let mut read = trace.map_or_else(String::new, |id| read_of(session, &id));
    if has_more {
        read.push_str(&format!("\nonly the first {} rows are shown", rows.len()));
    }
    Ok(Answered { text: format!("[{}]", rows.join(",")), read })
}

/// Returns what a trace says of key ranges and rows.
fn read_of(session: &mut Session, id: &str) -> String {
    let part = |from: usize, to: usize| id.get(from..to).unwrap_or_default();
    let uuid = [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-");
    let text = format!("SELECT activity FROM system_traces.events WHERE session_id = {uuid}");
    let Ok(answered) = session.all(&text) else { return String::new() };
    let activities = answered.page.into_iter().flat_map(|page| page.rows).flatten().flatten();
    let lines = activities.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    lines.collect::<Vec<_>>().join("\n")
}
