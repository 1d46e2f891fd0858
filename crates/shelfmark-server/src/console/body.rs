//! The bodies of the console's answers: whole, or written piece by piece by a thread that may wait.
//!
//! What it is not: a buffer without end. A writer waits while the client has pieces to take, and fails
//! once it is gone.
//!
//! Invariant: a body whose writer failed is cut off, never ended as if it were whole.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::Full;
use hyper::HeaderMap;
use hyper::body::{Frame, SizeHint};
use hyper::header::{HeaderName, HeaderValue};
use shelfmark_admin::http::Trailers;
use tokio::sync::mpsc;

/// Pieces that may wait for the client.
const PIECES_MAX: usize = 4;
/// Size of a piece.
const PIECE_SIZE_BYTES: usize = 64 * 1024;

/// The body of an answer.
pub(super) enum Body {
    Whole(Full<Bytes>),
    Written(mpsc::Receiver<io::Result<Frame<Bytes>>>),
}

impl Body {
    pub(super) fn whole(bytes: Bytes) -> Self {
        Self::Whole(Full::new(bytes))
    }

    /// Returns a body and where it is written.
    pub(super) fn written() -> (Self, Pieces) {
        let (sender, receiver) = mpsc::channel(PIECES_MAX);
        (Self::Written(receiver), Pieces { sender, piece: Vec::new() })
    }
}

impl hyper::body::Body for Body {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        match self.get_mut() {
            Self::Whole(whole) => {
                Pin::new(whole).poll_frame(context).map_err(|never: Infallible| match never {})
            }
            Self::Written(pieces) => pieces.poll_recv(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(whole) => whole.is_end_stream(),
            Self::Written(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(whole) => whole.size_hint(),
            Self::Written(_) => SizeHint::default(),
        }
    }
}

/// Takes the pieces of a body from a thread that may wait.
pub(super) struct Pieces {
    sender: mpsc::Sender<io::Result<Frame<Bytes>>>,
    piece: Vec<u8>,
}

impl Pieces {
    /// Ends the body: whole with its trailers, or cut off where its writer failed.
    pub(super) fn finish(mut self, written: io::Result<Trailers>) {
        let ended = written.and_then(|trailers| {
            io::Write::flush(&mut self)?;
            let map = trailers.iter().filter_map(|(name, value)| {
                Some((HeaderName::from_static(name), HeaderValue::from_str(value).ok()?))
            });
            self.put(Frame::trailers(map.collect::<HeaderMap>()))
        });
        if let Err(error) = ended {
            tracing::warn!("an answer of the console was cut off: {error}");
            // A client that has gone away needs no end.
            let _ = self.sender.blocking_send(Err(error));
        }
    }

    fn put(&mut self, frame: Frame<Bytes>) -> io::Result<()> {
        let sent = self.sender.blocking_send(Ok(frame));
        sent.map_err(|_| io::Error::new(io::ErrorKind::BrokenPipe, "the client has gone away"))
    }

    fn send(&mut self) -> io::Result<()> {
        let piece = Bytes::from(std::mem::take(&mut self.piece));
        self.put(Frame::data(piece))
    }
}

impl io::Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = PIECE_SIZE_BYTES.saturating_sub(self.piece.len());
        let taken = bytes.get(..room).unwrap_or(bytes);
        self.piece.extend_from_slice(taken);
        if self.piece.len() >= PIECE_SIZE_BYTES {
            self.send()?;
        }
        Ok(taken.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.piece.is_empty() { Ok(()) } else { self.send() }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use http_body_util::BodyExt as _;

    use super::*;

    #[tokio::test]
    async fn a_body_ends_with_its_trailers_or_is_cut_off() {
        for fails in [false, true] {
            let (mut body, mut pieces) = Body::written();
            let writer = tokio::task::spawn_blocking(move || {
                pieces.write_all(&[7; 100_000]).unwrap();
                let failed = || Err(io::Error::other("the disk is gone"));
                pieces.finish(if fails { failed() } else { Ok(vec![("rows", "1".to_owned())]) });
            });
            let (mut bytes, mut end) = (0, None);
            while let Some(frame) = body.frame().await {
                match frame.map(Frame::into_data) {
                    Ok(Ok(data)) => bytes += data.len(),
                    Ok(Err(trailers)) => end = trailers.into_trailers().ok(),
                    Err(error) => assert!(fails, "{error}"),
                }
            }
            writer.await.unwrap();
            assert_eq!((end.is_some(), bytes == 100_000), (!fails, !fails));
        }
    }

    #[tokio::test]
    async fn a_writer_fails_once_its_client_has_gone() {
        let (body, mut pieces) = Body::written();
        drop(body);
        let writer = tokio::task::spawn_blocking(move || pieces.write_all(&[7; 1_000_000]));
        assert_eq!(writer.await.unwrap().unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }
}
