//! Detects requests that give the length of their body twice: hyper takes the second header and
//! does not show the first.
//!
//! What it is not: a parser of HTTP. It looks at how lines begin, also of bodies, so it may suspect a
//! request whose body has such lines at its end; it never misses a head that has both.
//!
//! Source: RFC 9112, 6.3: such a message ought to be handled as an error.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const LENGTH: &[u8] = b"content-length:";
const CODING: &[u8] = b"transfer-encoding:";

/// Scans the bytes read of a connection for ambiguous heads.
#[derive(Debug, Default)]
pub(crate) struct Heads {
    /// The beginning of the current line, in lower case, as far as it may matter.
    line: Vec<u8>,
    has_length: bool,
    has_coding: bool,
    found: Arc<AtomicBool>,
}

impl Heads {
    /// Returns a flag that is set once a head with both headers was read.
    pub(crate) fn found(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.found)
    }

    /// Scans the next bytes.
    pub(crate) fn look(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let end = memchr::memchr(b'\n', bytes);
            let rest = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default();
            if end.is_some() && self.line.is_empty() && !matters(rest) {
                bytes = bytes.get(rest.len() + 1..).unwrap_or_default();
                continue;
            }
            let room = CODING.len().saturating_sub(self.line.len());
            self.line.extend(rest.iter().take(room).map(u8::to_ascii_lowercase));
            let Some(end) = end else { return };
            self.line_ended();
            bytes = bytes.get(end + 1..).unwrap_or_default();
        }
    }

    fn line_ended(&mut self) {
        if self.line.is_empty() || self.line == b"\r" {
            // A head has ended.
            (self.has_length, self.has_coding) = (false, false);
        }
        self.has_length |= self.line.starts_with(LENGTH);
        self.has_coding |= self.line.starts_with(CODING);
        if self.has_length && self.has_coding {
            self.found.store(true, Ordering::Relaxed);
        }
        self.line.clear();
    }
}

/// Tells whether a whole line ends a head or could name one of the two headers.
fn matters(line: &[u8]) -> bool {
    matches!(line.first(), None | Some(b'\r' | b'c' | b'C' | b't' | b'T'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finds(text: &str) -> bool {
        let whole = |size: usize| {
            let mut heads = Heads::default();
            text.as_bytes().chunks(size).for_each(|piece| heads.look(piece));
            heads.found.load(Ordering::Relaxed)
        };
        let found = whole(usize::MAX);
        assert_eq!([whole(1), whole(7)], [found; 2], "how it is cut changes nothing");
        found
    }

    #[test]
    fn heads_with_both_are_found_in_either_order() {
        assert!(finds(
            "POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"
        ));
        assert!(finds(
            "POST / HTTP/1.1\r\nTRANSFER-ENCODING: x\r\nHost: x\r\ncontent-length: 3\r\n\r\n"
        ));
        assert!(finds(
            "POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}POST / HTTP/1.1\nContent-Length:1\nTransfer-Encoding:x\n\n"
        ));
    }

    #[test]
    fn one_after_the_other_is_no_fault() {
        assert!(!finds(
            "POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        ));
        assert!(!finds(
            "POST / HTTP/1.1\r\nX-Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n"
        ));
    }
}
