//! The store or the server of a transfer, opened.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{anyhow, bail};
use shelfmark_admin::{Stats, TableEntry, Tables};
use shelfmark_cql::Inline;
use shelfmark_dynamo::{DynamoDbEndpoint, Face, FaceOptions};
use shelfmark_engine::{Engine, Share, Upkeep};
use shelfmark_model::{RowKind, TableName};
use shelfmark_store::embedded::Options;
use shelfmark_transfer::rows::CqlPeer;

use crate::arguments::{Connect, EndpointLogin, Format, TablePlace};
use crate::connect::{ConsolePlace, DynamoDbServer, Session, SessionPeer};
use crate::store::{open, shared};

/// The namespace of the DynamoDB face.
const DYNAMODB: &str = "dynamodb";
/// Time between two rounds of the background work.
const UPKEEP_PERIOD: Duration = Duration::from_secs(1);

/// A place of tables.
pub(super) enum Opened {
    /// A store that is open in this process.
    Here(Box<Here>),
    /// A server of DynamoDB.
    DynamoDb { url: String, login: EndpointLogin },
    /// A server of CQL.
    Cql(Box<Connect>),
    /// A server of this kind, by way of its console.
    Console(ConsolePlace),
}

/// A store with its faces.
pub(super) struct Here {
    engine: Engine,
    /// The thread that builds indexes in the background.
    upkeep: Upkeep,
    dynamodb: Arc<Face>,
    cql: Arc<shelfmark_cql::Face>,
}

/// A table by the kind of its rows, with its name there.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Items(String),
    Rows(String),
}

/// A face that is shared by threads.
struct Shared(Arc<Face>);

impl DynamoDbEndpoint for Shared {
    fn send(&self, operation: &str, body: &[u8]) -> Result<(u16, Vec<u8>), String> {
        self.0.send(operation, body)
    }
}

impl Opened {
    pub(super) fn open(place: &TablePlace, create: bool) -> anyhow::Result<Self> {
        if let Some(server) = &place.server {
            let own = ConsolePlace {
                server: server.clone(),
                token_file: place.console_token_file.clone(),
            };
            // What is wrong with it is told before anything is done.
            own.client()?.run(&Stats::default())?;
            return Ok(Self::Console(own));
        }
        match &place.endpoint {
            Some(url) => Self::at(url, &place.login),
            None => Self::here(open(&place.data, Options::default(), create)?),
        }
    }

    /// Names a server.
    pub(super) fn at(url: &str, login: &EndpointLogin) -> anyhow::Result<Self> {
        let (url, login) = (url.to_owned(), login.clone());
        match url.split_once("://") {
            Some(("dynamodb" | "http" | "https", _)) => {
                if login.user.is_some() {
                    bail!("--user is for CQL; DynamoDB's keys are in the environment");
                }
                // What is wrong with it is told before anything is done.
                DynamoDbServer::at(&url, login.tls_ca.as_deref())?;
                Ok(Self::DynamoDb { url, login })
            }
            Some(("cql", server)) if !server.trim_end_matches('/').is_empty() => {
                let EndpointLogin { tls_ca, user, password_file } = login;
                let server = server.trim_end_matches('/').to_owned();
                let (data, password, keyspace) = (None, None, None);
                Ok(Self::Cql(Box::new(Connect {
                    data,
                    server,
                    user,
                    password,
                    password_file,
                    tls_ca,
                    keyspace,
                })))
            }
            _ => bail!("{url}: a server is dynamodb://HOST:PORT or cql://HOST:PORT"),
        }
    }

    /// Opens faces over a store of this process. Whoever may open the folder may do everything.
    pub(super) fn here(engine: Engine) -> anyhow::Result<Self> {
        let environment = engine.environment().clone();
        let shown = shared(&engine, Share::All);
        let options = FaceOptions { share: Share::All, ..FaceOptions::default() };
        let dynamodb = Arc::new(Face::new(shown.clone(), environment.clone(), options));
        let options = shelfmark_cql::FaceOptions::default();
        let cql = shelfmark_cql::Face::open(shown, environment, options, None, Arc::new(Inline))
            .map_err(|error| anyhow!("CQL tables cannot be read: {error}"))?;
        let upkeep = Upkeep::start(&engine, UPKEEP_PERIOD)?;
        Ok(Self::Here(Box::new(Here { engine, upkeep, dynamodb, cql: Arc::new(cql) })))
    }

    /// Finds out of which kind a table is. `COPY`'s form is for rows, and the service's for items,
    /// whatever the table was made by.
    pub(super) fn kind(&self, table: &str, format: Format) -> anyhow::Result<Kind> {
        match self {
            Self::Here(here) => kind_of(table, format, &|name: &TableName| {
                let found = here.engine.table(name).ok()?;
                Some(found.schema.rows == RowKind::Cells)
            }),
            Self::Console(place) => {
                let all = place.client()?.run(&Tables::default())?.tables;
                kind_of(table, format, &|name: &TableName| {
                    let is_it = |own: &&TableEntry| {
                        own.namespace == name.namespace && own.name == name.name
                    };
                    all.iter().find(is_it).map(|own| own.owner == "cql")
                })
            }
            Self::DynamoDb { .. } => Ok(Kind::Items(table.to_owned())),
            Self::Cql(_) => Ok(Kind::Rows(table.to_owned())),
        }
    }

    /// Connects to the DynamoDB side, for one thread.
    pub(super) fn dynamodb(&self) -> Result<Box<dyn DynamoDbEndpoint>, String> {
        match self {
            Self::Here(here) => Ok(Box::new(Shared(Arc::clone(&here.dynamodb)))),
            Self::DynamoDb { url, login } => DynamoDbServer::at(url, login.tls_ca.as_deref())
                .map(|server| Box::new(server) as Box<dyn DynamoDbEndpoint>)
                .map_err(|error| format!("{error:#}")),
            Self::Cql(connect) => {
                Err(format!("{} is a server of CQL, and this is for items", connect.server))
            }
            Self::Console(place) => place
                .client()
                .map(|client| Box::new(client) as Box<dyn DynamoDbEndpoint>)
                .map_err(|error| format!("{error:#}")),
        }
    }

    /// Connects to the CQL side, for one thread.
    pub(super) fn cql(&self) -> Result<Box<dyn CqlPeer>, String> {
        let opened = match self {
            Self::Here(here) => {
                let face = Arc::clone(&here.cql);
                SessionPeer::open(move || Session::over(Arc::clone(&face)))
            }
            Self::Cql(connect) => {
                let connect = (**connect).clone();
                SessionPeer::open(move || Session::open(&connect))
            }
            Self::Console(place) => {
                let place = place.clone();
                SessionPeer::open(move || Session::by_console(&place))
            }
            Self::DynamoDb { url, .. } => {
                return Err(format!("{url} is a server of DynamoDB, and this is for rows of CQL"));
            }
        };
        opened.map(|peer| Box::new(peer) as Box<dyn CqlPeer>).map_err(|error| format!("{error:#}"))
    }

    pub(super) fn close(self) -> anyhow::Result<()> {
        if let Self::Here(here) = self {
            let Here { engine, mut upkeep, dynamodb, cql } = *here;
            upkeep.stop();
            drop((dynamodb, cql));
            engine.store().close()?;
        }
        Ok(())
    }
}

/// Finds out of which kind a table is, where `has_cells` knows the tables: whether the one of a name has
/// rows of cells.
fn kind_of(
    table: &str,
    format: Format,
    has_cells: &dyn Fn(&TableName) -> Option<bool>,
) -> anyhow::Result<Kind> {
    if has_cells(&TableName::new(DYNAMODB, table)).is_some() {
        return Ok(match format {
            Format::Copy => Kind::Rows(format!("{DYNAMODB}.\"{table}\"")),
            _ => Kind::Items(table.to_owned()),
        });
    }
    let is_of_items = matches!(format, Format::DynamodbJson | Format::Workbench);
    let Some((space, name)) = table.split_once('.') else {
        return Ok(Kind::Items(table.to_owned()));
    };
    Ok(match has_cells(&TableName::new(space, name)) {
        Some(_) if space == DYNAMODB => Kind::Items(name.to_owned()),
        Some(true) | None if !is_of_items => Kind::Rows(table.to_owned()),
        _ => Kind::Items(table.to_owned()),
    })
}
