//! Tells whether the server is well, and whether it should get requests.

use hyper::StatusCode;
use shelfmark_engine::Engine;

use super::{Answer, text};

/// Answers 200 while writes are taken, 503 with the reason otherwise; then what fails behind the scenes,
/// and the servers that share the store.
pub(super) fn health(engine: &Engine) -> Answer {
    let trouble = trouble(engine);
    let status = if trouble.is_none() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let mut told = match trouble {
        None => "healthy\n".to_owned(),
        Some(why) => format!("unhealthy: {why}\n"),
    };
    let background = engine.background();
    for work in background.works.iter().filter(|own| own.failures_in_a_row > 0) {
        let why = work.last_error.as_ref().map_or("", |error| &error.message);
        let (name, times) = (work.work.name(), work.failures_in_a_row);
        told.push_str(&format!("failing: {name}, {times} times in a row: {why}\n"));
    }
    for record in &background.set_aside {
        let why = &record.error.message;
        told.push_str(&format!("set aside: a record of {}: {why}\n", record.work.name()));
    }
    text(status, told)
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
