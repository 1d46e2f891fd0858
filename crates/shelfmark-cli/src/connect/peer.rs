//! A session as a peer of transfers, which is opened again after it was lost.
//!
//! Statements that were prepared are prepared again by whoever has them: their ids are the same on every
//! connection of one server, as they are hashes of the text.

use shelfmark_cql_protocol::client::{Request, Result as Answered};
use shelfmark_transfer::rows::{CqlPeer, PeerFailure};

use super::{Failure, Session};

type Open = Box<dyn Fn() -> anyhow::Result<Session>>;

/// A session, and how it is opened.
pub(crate) struct SessionPeer {
    open: Open,
    session: Option<Session>,
}

impl SessionPeer {
    /// Opens a session.
    pub(crate) fn open(
        open: impl Fn() -> anyhow::Result<Session> + 'static,
    ) -> anyhow::Result<Self> {
        let session = Some(open()?);
        Ok(Self { open: Box::new(open), session })
    }
}

impl CqlPeer for SessionPeer {
    fn ask(&mut self, request: &Request<'_>) -> Result<Answered, PeerFailure> {
        if self.session.is_none() {
            let opened = (self.open)();
            self.session = Some(opened.map_err(|error| PeerFailure::Lost(format!("{error:#}")))?);
        }
        let Some(session) = &mut self.session else {
            return Err(PeerFailure::Lost("no connection".to_owned()));
        };
        session.request(request).map_err(|failure| match failure {
            Failure::Refused(refusal) => PeerFailure::Refused(refusal.code, refusal.message),
            Failure::Interrupted | Failure::Lost(_) => {
                self.session = None;
                PeerFailure::Lost(failure.to_string())
            }
        })
    }
}
