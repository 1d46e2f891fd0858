//! Tells whether the server is well, whether it should get requests, and which servers share its store.
//!
//! What it is not: a check of the others. A server that died is listed until its lease is over.
//!
//! Invariant: it answers soon, whatever the cluster does: the list is waited for on a thread that may wait,
//! and not for long.

use std::sync::Arc;
use std::time::Duration;

use hyper::StatusCode;
use hyper::header::{self, HeaderMap, HeaderValue};
use serde::Serialize;
use shelfmark_admin::http::JSON;
use shelfmark_admin::{ServerEntry, Servers, moment_text};
use shelfmark_engine::Engine;
use shelfmark_engine::weight::{Pool as _, Refused, Weight};
use tokio::sync::oneshot;

use super::{Answer, Console, text};

/// The longest time for the list of servers. Source: probes wait for one second by default on Kubernetes.
const SERVERS_WAIT_MAX: Duration = Duration::from_millis(500);

/// The state of the server, as it is told.
#[derive(Debug, Serialize)]
struct Health {
    healthy: bool,
    /// The reason why writes are not taken.
    trouble: Option<String>,
    /// Work behind the scenes that fails.
    failing: Vec<Failing>,
    /// Records that work behind the scenes went on without.
    set_aside: Vec<SetAside>,
    servers: Vec<ServerEntry>,
    /// The reason why the servers are not listed.
    servers_unknown: Option<String>,
}

#[derive(Debug, Serialize)]
struct Failing {
    work: &'static str,
    times: u32,
    error: String,
}

#[derive(Debug, Serialize)]
struct SetAside {
    work: &'static str,
    error: String,
}

/// Answers 200 while writes are taken, 503 with the reason otherwise; then what fails behind the scenes,
/// and the servers that share the store. In JSON for who asks for it.
pub(super) async fn health(console: &Arc<Console>, headers: &HeaderMap) -> Answer {
    let mut told = Health::of(console.admin.engine());
    match servers(console, told.trouble.is_some()).await {
        Ok(servers) => told.servers = servers,
        Err(why) => told.servers_unknown = Some(why),
    }
    let status = if told.healthy { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let accepts = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    if !accepts.is_some_and(|kinds| kinds.contains(JSON)) {
        return text(status, told.text());
    }
    let Ok(body) = serde_json::to_string(&told) else { return text(status, told.text()) };
    let mut answer = text(status, body);
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(JSON));
    answer
}

/// Answers 200 while requests can be served.
pub(super) fn ready(engine: &Engine) -> Answer {
    match trouble(engine) {
        None => text(StatusCode::OK, "ready\n".to_owned()),
        Some(why) => text(StatusCode::SERVICE_UNAVAILABLE, format!("not ready: {why}\n")),
    }
}

fn trouble(engine: &Engine) -> Option<String> {
    if let Some(refusal) = engine.store().refusal() {
        return Some(refusal.to_string());
    }
    let peers = engine.store().peers()?;
    let is_cut_off = peers.lease_left().is_zero();
    is_cut_off.then(|| "this server has lost touch with the cluster".to_owned())
}

fn listed(console: &Console) -> Result<Vec<ServerEntry>, String> {
    match console.admin.run(Servers {}) {
        Ok(answer) => Ok(answer.servers),
        Err(error) => Err(error.message),
    }
}

/// Returns the live servers; on a cluster that is in trouble only the reason why not.
async fn servers(console: &Arc<Console>, is_in_trouble: bool) -> Result<Vec<ServerEntry>, String> {
    if console.admin.engine().store().peers().is_none() {
        return listed(console);
    }
    if is_in_trouble {
        return Err("the cluster is not asked while this server is in trouble".to_owned());
    }
    let (sender, receiver) = oneshot::channel();
    let own = Arc::clone(console);
    console.pool.run(
        None,
        Weight::Waiting,
        Box::new(move |admitted: Result<(), Refused>| {
            let told = match admitted {
                Ok(()) => listed(&own),
                Err(_) => Err("too much is under way".to_owned()),
            };
            // Whoever asked may not wait any more.
            let _ = sender.send(told);
        }),
    );
    match tokio::time::timeout(SERVERS_WAIT_MAX, receiver).await {
        Ok(Ok(told)) => told,
        _ => Err("the cluster did not list them in time".to_owned()),
    }
}

impl Health {
    fn of(engine: &Engine) -> Self {
        let trouble = trouble(engine);
        let background = engine.background();
        let failing = background.works.iter().filter(|own| own.failures_in_a_row > 0);
        let failing = failing.map(|own| Failing {
            work: own.work.name(),
            times: own.failures_in_a_row,
            error: own.last_error.as_ref().map_or_else(String::new, |own| own.message.clone()),
        });
        let set_aside = background.set_aside.iter().map(|record| SetAside {
            work: record.work.name(),
            error: record.error.message.clone(),
        });
        Self {
            healthy: trouble.is_none(),
            trouble,
            failing: failing.collect(),
            set_aside: set_aside.collect(),
            servers: Vec::new(),
            servers_unknown: None,
        }
    }

    fn text(&self) -> String {
        let mut told = match &self.trouble {
            None => "healthy\n".to_owned(),
            Some(why) => format!("unhealthy: {why}\n"),
        };
        for Failing { work, times, error } in &self.failing {
            told.push_str(&format!("failing: {work}, {times} times in a row: {error}\n"));
        }
        for SetAside { work, error } in &self.set_aside {
            told.push_str(&format!("set aside: a record of {work}: {error}\n"));
        }
        match &self.servers_unknown {
            None => told.push_str(&format!("servers: {}\n", self.servers.len())),
            Some(why) => told.push_str(&format!("servers: unknown: {why}\n")),
        }
        self.servers.iter().for_each(|own| told.push_str(&line(own)));
        told
    }
}

/// Writes a server on a line of its own.
fn line(server: &ServerEntry) -> String {
    let mut line = format!("server {}", server.id);
    for (face, address) in
        [("dynamodb", server.dynamodb), ("cql", server.cql), ("console", server.console)]
    {
        if let Some(address) = address {
            line.push_str(&format!(" {face}={address}"));
        }
    }
    if let Some(since) = server.since_ms {
        line.push_str(&format!(" since={}", moment_text(since)));
    }
    if let Some(ago) = server.renewed_ago_ms {
        line.push_str(&format!(" renewed={ago}ms ago"));
    }
    for (is, word) in [(server.leads, " leads"), (server.this, " (this one)")] {
        line.push_str(if is { word } else { "" });
    }
    line.push('\n');
    line
}
