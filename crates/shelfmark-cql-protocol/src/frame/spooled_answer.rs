//! One answer whose rows lie in a file, read and framed piece by piece as it is sent.
//!
//! What it is not: compressed as a body of versions 3 and 4, whose compressed length would have to
//! be known first; the flag says for each envelope whether it is. Payloads of version 5 are.
//!
//! Invariant: its pieces, one after the other, are what an envelope of the same body would be.

use bytes::{Bytes, BytesMut};

use super::encoder::Framing;
use super::envelope::{Header, Opcode, Version};
use super::framed;
use crate::limits::{FRAME_PAYLOAD_SIZE_BYTES_MAX, SPOOL_READ_SIZE_BYTES};
use crate::spool::Spooled;

/// An answer on its way.
#[derive(Debug)]
pub struct SpooledAnswer {
    /// The envelope's header and what stands before the rows.
    head: BytesMut,
    rows: Spooled,
    /// The rows behind those of the file.
    tail: Bytes,
    framing: Framing,
    sent: u64,
}

impl SpooledAnswer {
    /// Creates an answer; `before` is the body up to the rows.
    pub fn new(
        version: Version,
        flags: u8,
        stream: i16,
        framing: Framing,
        before: &[u8],
        rows: Spooled,
        tail: Bytes,
    ) -> Self {
        let length = before.len() as u64 + rows.bytes + tail.len() as u64;
        let header = Header {
            version: version.number() | 0x80,
            flags,
            stream,
            opcode: Opcode::Result.number(),
            length: usize::try_from(length).unwrap_or(usize::MAX),
        };
        let mut head = BytesMut::with_capacity(before.len() + 16);
        header.write(&mut head);
        head.extend_from_slice(before);
        Self { head, rows, tail, framing, sent: 0 }
    }

    /// Returns how many bytes of it are in memory.
    pub fn held_bytes(&self) -> usize {
        self.head.len() + self.tail.len()
    }

    fn size_bytes(&self) -> u64 {
        self.head.len() as u64 + self.rows.bytes + self.tail.len() as u64
    }

    /// Tells whether all of it was sent.
    pub fn is_done(&self) -> bool {
        self.sent >= self.size_bytes()
    }

    /// Returns the next piece as it goes over the wire.
    ///
    /// # Errors
    ///
    /// * The operating system's error: the rest is lost, and the connection with it.
    pub fn next_piece(&mut self) -> std::io::Result<Bytes> {
        let left = usize::try_from(self.size_bytes() - self.sent).unwrap_or(usize::MAX);
        let mut piece = vec![0; left.min(SPOOL_READ_SIZE_BYTES)];
        self.read(&mut piece)?;
        self.sent += piece.len() as u64;
        let Framing::Framed { compressed } = self.framing else { return Ok(piece.into()) };
        let mut out = BytesMut::with_capacity(piece.len() + 256);
        for payload in piece.chunks(FRAME_PAYLOAD_SIZE_BYTES_MAX) {
            framed::put(&mut out, payload, false, compressed);
        }
        Ok(out.freeze())
    }

    /// Fills `buffer` with what comes next.
    fn read(&self, mut buffer: &mut [u8]) -> std::io::Result<()> {
        let (in_file, in_tail) = (self.head.len() as u64, self.head.len() as u64 + self.rows.bytes);
        let mut at = self.sent;
        while !buffer.is_empty() {
            let count = if at < in_file {
                copy(&self.head, at, buffer)
            } else if at < in_tail {
                let most = usize::try_from(in_tail - at).unwrap_or(usize::MAX).min(buffer.len());
                let room = buffer.get_mut(..most).unwrap_or_default();
                self.rows.file.read(at - in_file, room)?
            } else {
                copy(&self.tail, at - in_tail, buffer)
            };
            if count == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            at += count as u64;
            buffer = buffer.get_mut(count..).unwrap_or_default();
        }
        Ok(())
    }
}

/// Copies what fits of `from` behind `at`.
fn copy(from: &[u8], at: u64, buffer: &mut [u8]) -> usize {
    let rest = usize::try_from(at).ok().and_then(|at| from.get(at..)).unwrap_or_default();
    let count = rest.len().min(buffer.len());
    for (place, byte) in buffer.iter_mut().zip(rest) {
        *place = *byte;
    }
    count
}
