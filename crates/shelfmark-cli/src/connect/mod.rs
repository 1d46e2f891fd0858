//! CQL over a connection: to a server, or to a store that is opened in this process.
//!
//! What it is not: a driver. One statement at a time, text only; it blocks until it is answered.
//!
//! Invariant: statements run alike over every [`Link`]; the bytes are the same.

mod dynamodb;
mod interrupt;
mod link;
mod local;
mod password;
mod peer;
mod remote;
mod trust;
mod tunnel;

use std::fmt;
use std::sync::Arc;

use anyhow::{anyhow, bail};
use shelfmark_cql::{ErrorCode, Face};
use shelfmark_cql_protocol::client::{
    ClientConnection, ProtocolVersion, Query, Request, Response, Result as Answered, ServerError,
};
use shelfmark_store::clock::{Clock as _, SystemClock};

use crate::arguments::Connect;
pub(crate) use dynamodb::DynamoDbServer;
pub(crate) use interrupt::{Interrupt, Listening};
pub(crate) use link::Link;
pub(crate) use peer::SessionPeer;
pub(crate) use tunnel::{ConsolePlace, ServedFaces, ask_dynamodb};

/// Rows per page where all rows are wanted.
pub(crate) const ROWS_AT_ONCE: i32 = 5_000;

/// The hint for a peer that answers, but not in the protocol.
const NO_ANSWER: &str = "; is that the CQL port? If it wants TLS, pass --tls-ca FILE";

/// The driver name that the server is told.
const DRIVER: &str = "shelfmark";

/// Connects to an address without saying anything; encrypted if there are certificates to trust.
///
/// # Errors
///
/// * Nobody answers there, or the certificates cannot be read.
pub(crate) fn dial(
    address: &str,
    tls_ca: Option<&std::path::Path>,
) -> anyhow::Result<Box<dyn Link>> {
    remote::dial(address, remote::tls(tls_ca)?.as_ref())
}

/// A connection that is ready for statements.
pub(crate) struct Session {
    client: ClientConnection,
    link: Box<dyn Link>,
    clock: SystemClock,
    /// The parameters to reconnect with, after a query that was given up has ended the connection.
    again: Option<Again>,
    interrupt: Option<Interrupt>,
    /// The name of the peer, for people.
    pub(crate) place: String,
}

/// The parameters of a connection.
struct Again {
    connect: Connect,
    /// The password as it was given or typed.
    password: Option<String>,
}

/// The reason why a statement has no answer.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The statement was refused; the connection goes on.
    Refused(ServerError),
    /// The user gave up; the server may run the statement all the same.
    Interrupted,
    /// The connection is lost.
    Lost(anyhow::Error),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => write!(f, "{refusal}"),
            Self::Interrupted => f.write_str("interrupted"),
            Self::Lost(error) => write!(f, "{error:#}"),
        }
    }
}

impl Session {
    /// Opens the store or connects, and logs in.
    pub(crate) fn open(connect: &Connect) -> anyhow::Result<Self> {
        if let Some(folder) = &connect.data {
            let link = Box::new(local::InProcess::open(folder)?);
            return Self::begin(
                link,
                ProtocolVersion::V5,
                format!("the store in {}", folder.display()),
            )?
            .login(connect, &mut None);
        }
        let mut password = None;
        let mut session = Self::dial(connect, &mut password)?;
        session.again = Some(Again { connect: connect.clone(), password });
        Ok(session)
    }

    /// Connects to a server and logs in; `password` is the one that was given or typed before.
    fn dial(connect: &Connect, password: &mut Option<String>) -> anyhow::Result<Self> {
        let address = remote::address(&connect.server);
        let tls = remote::tls(connect.tls_ca.as_deref())?;
        let dial = || remote::dial(&address, tls.as_ref());
        match Self::begin(dial()?, ProtocolVersion::V5, address.clone()) {
            // It may still speak what was before.
            Err(error) if speaks_otherwise(&error) => {
                Self::begin(dial()?, ProtocolVersion::V4, address.clone())?.login(connect, password)
            }
            begun => begun?.login(connect, password),
        }
    }

    /// Connects to a face of this process that needs no login.
    pub(crate) fn over(face: Arc<Face>) -> anyhow::Result<Self> {
        let link = Box::new(local::InProcess::over(face));
        Ok(Self::begin(link, ProtocolVersion::V5, "this process".to_owned())?.session)
    }

    /// Asks the CQL face of a server by way of its console, which asks for no login.
    pub(crate) fn by_console(place: &ConsolePlace) -> anyhow::Result<Self> {
        let link = Box::new(tunnel::ConsoleLink::new(place.client()?));
        Ok(Self::begin(link, ProtocolVersion::V4, place.server.clone())?.session)
    }

    fn begin(
        link: Box<dyn Link>,
        version: ProtocolVersion,
        place: String,
    ) -> anyhow::Result<Handshake> {
        let client = ClientConnection::new(version);
        let mut session =
            Self { client, link, clock: SystemClock::new(), again: None, interrupt: None, place };
        let startup = session.client.startup(DRIVER);
        match session.said(&startup)? {
            Response::Ready => Ok(Handshake { session, wants_login: false }),
            Response::AuthenticationRequired(_) => Ok(Handshake { session, wants_login: true }),
            Response::Error(refusal) => Err(refusal.into()),
            Response::Authenticated | Response::Result(_) => Err(out_of_turn()),
        }
    }

    /// Runs a statement.
    pub(crate) fn ask(&mut self, query: &Query<'_>) -> Result<Answered, Failure> {
        let bytes = self.client.query(query);
        self.answered(&bytes)
    }

    /// Sends any request.
    pub(crate) fn request(&mut self, request: &Request<'_>) -> Result<Answered, Failure> {
        let bytes = self.client.request(request);
        self.answered(&bytes)
    }

    fn answered(&mut self, bytes: &[u8]) -> Result<Answered, Failure> {
        let said = self.said(bytes);
        if said.is_err() && self.interrupt.as_ref().is_some_and(Interrupt::is_wanted) {
            return Err(self.give_up());
        }
        match said.map_err(Failure::Lost)? {
            Response::Result(result) => Ok(result),
            Response::Error(refusal) => Err(Failure::Refused(refusal)),
            Response::Ready | Response::AuthenticationRequired(_) | Response::Authenticated => {
                Err(Failure::Lost(out_of_turn()))
            }
        }
    }

    /// Sets the flag at which statements end with [`Failure::Interrupted`].
    pub(crate) fn interrupted_by(&mut self, interrupt: &Interrupt) {
        self.link.interrupted_by(interrupt.clone());
        self.interrupt = Some(interrupt.clone());
    }

    /// Drops the connection with a query on it: its answer would come first on this one.
    fn give_up(&mut self) -> Failure {
        let Some(again) = &mut self.again else { return Failure::Interrupted };
        match Self::dial(&again.connect, &mut again.password) {
            Ok(fresh) => {
                (self.client, self.link) = (fresh.client, fresh.link);
                if let Some(interrupt) = &self.interrupt {
                    self.link.interrupted_by(interrupt.clone());
                }
                Failure::Interrupted
            }
            Err(error) => Failure::Lost(error),
        }
    }

    /// Runs a statement and returns all of its rows, of which there are few.
    pub(crate) fn all(&mut self, text: &str) -> Result<Answered, Failure> {
        let mut query = Query { text, page_size: Some(ROWS_AT_ONCE), ..Query::default() };
        let mut whole = self.ask(&query)?;
        loop {
            query.paging = whole.page.as_mut().and_then(|page| page.paging.take());
            if query.paging.is_none() {
                return Ok(whole);
            }
            let next = self.ask(&query)?;
            if let (Some(page), Some(next)) = (&mut whole.page, next.page) {
                page.rows.extend(next.rows);
                page.paging = next.paging;
            }
        }
    }

    /// Returns a monotonic time in milliseconds.
    pub(crate) fn now_ms(&self) -> u64 {
        self.clock.now_micros() / 1_000
    }

    /// Ends the connection; closes a store that was opened for it.
    pub(crate) fn close(self) -> anyhow::Result<()> {
        self.link.close()
    }

    fn said(&mut self, bytes: &[u8]) -> anyhow::Result<Response> {
        self.link.send(bytes).map_err(|error| self.lost(error))?;
        let mut said = self.client.receive(&[])?;
        while said.is_none() {
            let bytes = self.link.receive().map_err(|error| self.lost(error))?;
            said = self
                .client
                .receive(&bytes)
                .map_err(|error| anyhow!("{}: {error}{NO_ANSWER}", self.place))?;
        }
        said.ok_or_else(out_of_turn)
    }

    fn lost(&self, error: std::io::Error) -> anyhow::Error {
        let hint = match error.kind() {
            std::io::ErrorKind::UnexpectedEof => NO_ANSWER,
            _ => "",
        };
        anyhow!("the connection to {} is gone: {error}{hint}", self.place)
    }
}

/// A connection during the handshake and the login.
struct Handshake {
    session: Session,
    wants_login: bool,
}

impl Handshake {
    fn login(self, connect: &Connect, known: &mut Option<String>) -> anyhow::Result<Session> {
        let Self { mut session, wants_login } = self;
        if !wants_login {
            return Ok(session);
        }
        let Some(user) = &connect.user else {
            bail!(
                "{} asks who is there: pass --user NAME, and --password-file FILE",
                session.place
            );
        };
        let password = match known.take() {
            Some(password) => password,
            None => password::of(connect, user)?,
        };
        let login = session.client.login(user, &password);
        *known = Some(password);
        match session.said(&login)? {
            Response::Authenticated => Ok(session),
            Response::Error(refusal) => Err(refusal.into()),
            Response::Ready | Response::AuthenticationRequired(_) | Response::Result(_) => {
                Err(out_of_turn())
            }
        }
    }
}

/// Returns true if a server refused the version of the protocol.
fn speaks_otherwise(error: &anyhow::Error) -> bool {
    let refusal = error.downcast_ref::<ServerError>();
    refusal.is_some_and(|refusal| refusal.code == Some(ErrorCode::Protocol))
}

fn out_of_turn() -> anyhow::Error {
    anyhow!("the server answers something that was not asked")
}
