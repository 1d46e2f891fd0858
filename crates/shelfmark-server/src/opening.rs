//! Reads the first bytes of a connection, which tell HTTP/2 from HTTP/1.1, and gives them back to
//! whoever reads on.
//!
//! What it is not: a parser of either. A client of HTTP/2 that did not agree on it by TLS begins with the
//! connection preface, which no request of HTTP/1.1 begins with.
//!
//! Source: RFC 9113, 3.4.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf};

/// The beginning of the preface that no method of HTTP/1.1 shares.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n";

/// A stream whose first bytes were read and are read once more.
pub(crate) struct Opened<S> {
    inner: S,
    first: Vec<u8>,
    /// Bytes of the first ones that were given back.
    given: usize,
}

impl<S: AsyncRead + Unpin> Opened<S> {
    /// Reads until the protocol is known. Returns true for HTTP/2.
    ///
    /// # Errors
    ///
    /// * Those of the stream. One that ends early is HTTP/1.1, whose reader sees that end.
    pub(crate) async fn read(mut inner: S) -> io::Result<(Self, bool)> {
        let mut first = Vec::with_capacity(PREFACE.len());
        while PREFACE.starts_with(&first) && first.len() < PREFACE.len() {
            let mut byte = [0; PREFACE.len()];
            let room = PREFACE.len() - first.len();
            let count = inner.read(byte.get_mut(..room).unwrap_or_default()).await?;
            first.extend_from_slice(byte.get(..count).unwrap_or_default());
            if count == 0 {
                break;
            }
        }
        let is_http2 = first == PREFACE;
        Ok((Self { inner, first, given: 0 }, is_http2))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Opened<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let rest = self.first.get(self.given..).unwrap_or_default();
        if rest.is_empty() {
            return Pin::new(&mut self.inner).poll_read(context, buffer);
        }
        let count = rest.len().min(buffer.remaining());
        buffer.put_slice(rest.get(..count).unwrap_or_default());
        self.given += count;
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Opened<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt as _;

    use super::*;

    async fn check(sent: &[u8], piece: usize, expected: bool) {
        let (near, mut far) = tokio::io::duplex(1024);
        let bytes = sent.to_vec();
        let sender = tokio::spawn(async move {
            for piece in bytes.chunks(piece) {
                far.write_all(piece).await.unwrap();
            }
        });
        let (mut opened, is_http2) = Opened::read(near).await.unwrap();
        assert_eq!(is_http2, expected, "{sent:?}");
        let mut read = Vec::new();
        opened.read_to_end(&mut read).await.unwrap();
        assert_eq!(read, sent, "nothing is lost");
        sender.await.unwrap();
    }

    #[tokio::test]
    async fn the_preface_tells_the_protocols_apart_however_it_is_cut() {
        for piece in [1, 3, 7, 1024] {
            check(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nmore", piece, true).await;
            check(b"POST / HTTP/1.1\r\nHost: x\r\n\r\n", piece, false).await;
            check(b"PRI * HTTP/1.1\r\n\r\n", piece, false).await;
            for short in [&b""[..], b"P", b"PRI * HTTP/2"] {
                check(short, piece, false).await;
            }
        }
    }
}
