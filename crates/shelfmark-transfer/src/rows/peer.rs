//! A server of CQL as whoever asks it sees it, and requests that are sent again where it is busy.

use bytes::Bytes;
use shelfmark_cql_protocol::client::{Page, PreparedStatement, Query, Request, Result as Answered};
use shelfmark_cql_protocol::{Consistency, ErrorCode};

use crate::control::Control;
use crate::error::{Error, ErrorKind, Result};
use crate::items::backoff;

/// Times that a request is sent. Source: ours; with the waits between them some two minutes.
const TRIES_MAX: u32 = 30;
/// Rows of a page where all rows of an answer are wanted.
const PAGE_ROWS: i32 = 1_000;

/// The reason why a statement has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PeerFailure {
    /// It was refused, with this code and these words.
    Refused(Option<ErrorCode>, String),
    /// The connection is gone.
    Lost(String),
}

/// A connection to a server of CQL. Whoever has a socket implements it.
pub trait CqlPeer {
    /// Sends a request and waits for its answer; connects again where the connection was lost before.
    ///
    /// # Errors
    ///
    /// * What the server says, or that it is gone.
    fn ask(&mut self, request: &Request<'_>) -> std::result::Result<Answered, PeerFailure>;
}

/// The refusal of a statement.
pub(crate) struct Refusal {
    code: Option<ErrorCode>,
    pub(crate) why: String,
}

impl Refusal {
    /// Returns true if what was to be made is there; types and indexes have no code for that.
    pub(crate) fn is_there_already(&self) -> bool {
        self.code == Some(ErrorCode::AlreadyExists) || self.why.contains("already exist")
    }
}

/// Makes a connection to a server; each thread has its own.
pub type ConnectCql<'c> = dyn Fn() -> std::result::Result<Box<dyn CqlPeer>, String> + Sync + 'c;

/// A connection whose requests wait where the server is busy.
pub(crate) struct Peer<'c> {
    peer: Box<dyn CqlPeer>,
    control: &'c Control<'c>,
    /// The level of reads and writes.
    pub(crate) consistency: Consistency,
}

impl<'c> Peer<'c> {
    pub(crate) fn new(connect: &ConnectCql<'_>, control: &'c Control<'c>) -> Result<Self> {
        let peer = connect().map_err(|why| Error::new(ErrorKind::Unreachable, why))?;
        Ok(Self { peer, control, consistency: Consistency::LocalQuorum })
    }

    /// Sends a request and returns the answer, or the refusal.
    pub(crate) fn ask(
        &mut self,
        request: &Request<'_>,
    ) -> Result<std::result::Result<Answered, Refusal>> {
        for number in 1.. {
            let why = match self.peer.ask(request) {
                Ok(answer) => return Ok(Ok(answer)),
                Err(PeerFailure::Refused(code, why)) if !is_busy(code) => {
                    return Ok(Err(Refusal { code, why }));
                }
                Err(PeerFailure::Refused(_, why)) => (ErrorKind::Refused, why),
                Err(PeerFailure::Lost(why)) => (ErrorKind::Unreachable, why),
            };
            let most = if why.0 == ErrorKind::Unreachable { TRIES_MAX / 5 } else { TRIES_MAX };
            if number >= most {
                return Err(Error::new(why.0, why.1));
            }
            self.control.wait(backoff(number))?;
        }
        Err(Error::new(ErrorKind::Unreachable, "the request was not sent"))
    }

    /// Sends a request whose refusal ends the transfer.
    pub(crate) fn call(&mut self, request: &Request<'_>) -> Result<Answered> {
        self.ask(request)?.map_err(|refusal| Error::new(ErrorKind::Refused, refusal.why))
    }

    pub(crate) fn prepare(&mut self, text: &str) -> Result<PreparedStatement> {
        let answer = self.call(&Request::Prepare(text))?;
        answer
            .prepared
            .map(|own| *own)
            .ok_or_else(|| Error::new(ErrorKind::Refused, format!("{text} was not prepared")))
    }

    /// Runs a statement and returns all of its rows, of which there are few.
    pub(crate) fn all(&mut self, text: &str) -> Result<Page> {
        let mut query = Query { text, page_size: Some(PAGE_ROWS), ..Query::default() };
        let mut whole = Page::default();
        loop {
            let page = self.call(&Request::Query(query.clone()))?.page.unwrap_or_default();
            whole.columns = page.columns;
            whole.rows.extend(page.rows);
            query.paging = page.paging;
            if query.paging.is_none() {
                return Ok(whole);
            }
        }
    }
}

/// Returns true if a statement that was refused so is worth sending again.
fn is_busy(code: Option<ErrorCode>) -> bool {
    matches!(
        code,
        Some(
            ErrorCode::Overloaded
                | ErrorCode::Bootstrapping
                | ErrorCode::Unavailable
                | ErrorCode::ReadTimeout
                | ErrorCode::WriteTimeout
        )
    )
}

/// Returns the text of a cell.
pub(crate) fn text_of(cell: Option<&Option<Bytes>>) -> String {
    cell.and_then(Option::as_ref)
        .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
        .unwrap_or_default()
}
