//! Hashes a request, to recognise a repeated one under the same token.
//!
//! It is over a serialisation of the request's own: the members that count, in a fixed order, values
//! in DynamoDB's JSON with maps and sets sorted and numbers in one form. Member order, white space and
//! unknown members of what a client sent make no difference.
//!
//! Invariant: the serialisation stays as it is, over versions of this build: hashes of it are stored.
//! A change of it needs another [`VERSION`], which makes every hash of before another one.

use xxhash_rust::xxh3::Xxh3;

use super::write_request::{Verb, WriteRequest};
use crate::json::Writer;

/// Version of the serialisation.
const VERSION: u8 = 1;

/// Hashes the writes of one request.
pub(super) struct Fingerprint {
    hash: Xxh3,
}

impl Fingerprint {
    /// Begins the hash of a request.
    pub(super) fn new() -> Self {
        let mut hash = Xxh3::new();
        hash.update(&[VERSION]);
        Self { hash }
    }

    /// Adds a write.
    pub(super) fn add(&mut self, verb: Verb, write: &WriteRequest) {
        let text = Writer::body(|out| {
            out.name(verb.member()).object(|out| write.put_members(out));
        });
        self.hash.update(&text);
        self.hash.update(b"\n");
    }

    /// Returns the hash.
    pub(super) fn digest(&self) -> u64 {
        self.hash.digest()
    }
}
