//! Dispatches requests of the console's port to the operations, by name, and lists them all.

use serde::de::DeserializeOwned;

use crate::admin::Admin;
use crate::config::Config;
use crate::error::{Error, ErrorKind, Refused, Result};
use crate::faces::{Cql, DynamoDb};
use crate::http::{API, Answer, Method, Request};
use crate::maintain::{Backup, Compact};
use crate::operation::Operation;
use crate::partition_stats::PartitionStats;
use crate::read::{Get, Query, Scan};
use crate::servers::Servers;
use crate::stats::Stats;
use crate::table_stats::TableStats;
use crate::tables::Tables;
use crate::verify::Verify;
use crate::watch::{Connections, Slow};
use crate::watched::{WatchClose, WatchModel, WatchOpen, WatchReset};
use crate::write::{Delete, Put};

/// The names of the operations, in the order of the help.
pub const OPERATIONS: [&str; 22] = [
    Tables::NAME,
    Stats::NAME,
    TableStats::NAME,
    PartitionStats::NAME,
    Get::NAME,
    Scan::NAME,
    Query::NAME,
    Put::NAME,
    Delete::NAME,
    DynamoDb::NAME,
    Cql::NAME,
    Verify::NAME,
    Backup::NAME,
    Compact::NAME,
    Servers::NAME,
    Connections::NAME,
    Slow::NAME,
    Config::NAME,
    WatchModel::NAME,
    WatchOpen::NAME,
    WatchReset::NAME,
    WatchClose::NAME,
];

impl Admin {
    /// Answers a request below [`API`]; `None` for another path. The path itself lists the operations.
    ///
    /// An error is answered as [`Refused`], with the status of its kind.
    #[must_use]
    pub fn answer(&self, request: &Request) -> Option<Answer> {
        let name = request.path.strip_prefix(API)?;
        Some(match self.dispatch(name, request) {
            Ok(answer) => answer,
            Err(error) => Answer::json(error.kind.status(), &Refused { error }),
        })
    }

    fn dispatch(&self, name: &str, request: &Request) -> Result<Answer> {
        if name.is_empty() {
            return Ok(Answer::json(200, &OPERATIONS));
        }
        if request.method != Method::Post {
            return Err(Error::invalid(format!("{API}{name} takes POST with a body of JSON")));
        }
        match name {
            Tables::NAME => self.run_body::<Tables>(request),
            Stats::NAME => self.run_body::<Stats>(request),
            TableStats::NAME => self.run_body::<TableStats>(request),
            PartitionStats::NAME => self.run_body::<PartitionStats>(request),
            Get::NAME => self.run_body::<Get>(request),
            Scan::NAME => self.run_body::<Scan>(request),
            Query::NAME => self.run_body::<Query>(request),
            Put::NAME => self.run_body::<Put>(request),
            Delete::NAME => self.run_body::<Delete>(request),
            DynamoDb::NAME => self.run_body::<DynamoDb>(request),
            Cql::NAME => parse::<Cql>(request)?.answer(self),
            Verify::NAME => self.run_body::<Verify>(request),
            Compact::NAME => self.run_body::<Compact>(request),
            Servers::NAME => self.run_body::<Servers>(request),
            Connections::NAME => self.run_body::<Connections>(request),
            Slow::NAME => self.run_body::<Slow>(request),
            Config::NAME => self.run_body::<Config>(request),
            WatchModel::NAME => self.run_body::<WatchModel>(request),
            WatchOpen::NAME => self.run_body::<WatchOpen>(request),
            WatchReset::NAME => self.run_body::<WatchReset>(request),
            WatchClose::NAME => self.run_body::<WatchClose>(request),
            Backup::NAME => Ok(parse::<Backup>(request)?.answer(self)),
            _ => Err(unknown(name)),
        }
    }

    fn run_body<O: Operation>(&self, request: &Request) -> Result<Answer> {
        Ok(Answer::json(200, &self.run(parse::<O>(request)?)?))
    }
}

/// Parses the body of an operation; none stands for one without parameters.
fn parse<O: DeserializeOwned>(request: &Request) -> Result<O> {
    let body: &[u8] = if request.body.is_empty() { b"{}" } else { &request.body };
    serde_json::from_slice(body).map_err(|error| {
        Error::invalid(format!("the body of {} is not what it takes: {error}", request.path))
    })
}

fn unknown(name: &str) -> Error {
    let name: String = name.chars().take(40).collect();
    let all = OPERATIONS.join(", ");
    Error::new(ErrorKind::NotFound, format!("there is no operation {name:?}; there are: {all}"))
}
