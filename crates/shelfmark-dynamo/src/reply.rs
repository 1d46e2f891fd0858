//! An answer as an HTTP server sends it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use shelfmark_engine::AccessReport;
use shelfmark_engine::budget::Room;

use crate::errors::Error;

/// A callback that gets the answer; it is called once, from any thread, and must not block.
pub type Answer = Box<dyn FnOnce(Reply) + Send>;

/// The content type of every answer.
const CONTENT_TYPE: &str = "application/x-amz-json-1.0";

/// An answer, from which a server makes an HTTP response.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// The body, JSON.
    pub body: Bytes,
    /// The value of `x-amzn-RequestId`: 52 characters.
    pub request_id: String,
    /// The value of `Content-Type`.
    pub content_type: &'static str,
    /// The value of `x-amz-crc32`: of the body as it is here. A server that compresses it has to
    /// compute the checksum anew.
    pub crc32: u32,
    /// A message for the log, not for the client.
    pub log: Option<String>,
    /// The engine's access report; for `explain`, the tour and tests, not for the client.
    pub report: AccessReport,
    /// The time that the request waited for a thread.
    pub queued: Duration,
    /// The room that the request had, for whoever keeps the body until it is sent.
    pub room: Option<Arc<Room>>,
}

/// The body of an answer, and the access report behind it.
#[derive(Debug, Default)]
pub(crate) struct Answered {
    pub(crate) body: Vec<u8>,
    pub(crate) report: AccessReport,
}

impl Answered {
    /// Adds an access report.
    pub(crate) fn reporting(self, report: AccessReport) -> Self {
        Self { report, ..self }
    }
}

impl From<Vec<u8>> for Answered {
    fn from(body: Vec<u8>) -> Self {
        Self { body, report: AccessReport::default() }
    }
}

impl Reply {
    pub(crate) fn new(request_id: String, outcome: Result<Answered, Error>) -> Self {
        let (status, Answered { body, report }, log) = match outcome {
            Ok(answered) => (200, answered, None),
            Err(error) => (error.exception.status(), error.body().into(), error.log),
        };
        let crc32 = crc32fast::hash(&body);
        Self {
            status,
            body: body.into(),
            request_id,
            content_type: CONTENT_TYPE,
            crc32,
            log,
            report,
            queued: Duration::ZERO,
            room: None,
        }
    }
}

/// A source of request ids: unique in one face, and not alike between two.
#[derive(Debug)]
pub(crate) struct RequestIds {
    seed: u64,
    next: AtomicU64,
}

/// Characters of a request id.
const ID_CHARS: usize = 52;

/// Digits of base 32.
const ID_DIGITS: &[u8; 32] = b"0123456789ABCDEFGHIJKLMNOPQRSTUV";

impl RequestIds {
    pub(crate) const fn new(seed: u64) -> Self {
        Self { seed, next: AtomicU64::new(0) }
    }

    /// Returns an id: base-32 digits of a number that no other call gets, mixed.
    pub(crate) fn next(&self) -> String {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let mut state = self.seed ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut id = String::with_capacity(ID_CHARS);
        while id.len() < ID_CHARS {
            state = mixed(state);
            let mut bits = state;
            for _ in 0..12 {
                let [.., lowest] = bits.to_be_bytes();
                let digit = ID_DIGITS.get(usize::from(lowest & 31)).copied().unwrap_or(b'0');
                id.push(char::from(digit));
                bits >>= 5;
            }
        }
        id.truncate(ID_CHARS);
        id
    }
}

/// Computes one step of the generator SplitMix64 (Steele, Lea, Flood 2014), with its own constants.
const fn mixed(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn request_ids_differ_and_have_the_service_s_form() {
        let ids = RequestIds::new(7);
        let seen: HashSet<String> = (0..10_000).map(|_| ids.next()).collect();
        assert_eq!(seen.len(), 10_000);
        for id in seen {
            assert_eq!(id.len(), ID_CHARS);
            assert!(id.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()));
        }
    }
}
