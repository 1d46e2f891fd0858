//! A server of DynamoDB as whoever asks it sees it.
//!
//! What it is not: there is no socket here. A face in this process is one; who has a socket implements the
//! trait over it.

use crate::face::{Face, RequestHead};

/// A server that takes DynamoDB's requests.
pub trait DynamoDbEndpoint {
    /// Sends a request; returns the HTTP status and the body of the answer.
    ///
    /// # Errors
    ///
    /// The server cannot be reached, as a message.
    fn send(&self, operation: &str, body: &[u8]) -> Result<(u16, Vec<u8>), String>;
}

impl DynamoDbEndpoint for Face {
    fn send(&self, operation: &str, body: &[u8]) -> Result<(u16, Vec<u8>), String> {
        let reply = self.call(&RequestHead::operation(operation), body);
        Ok((reply.status, reply.body.to_vec()))
    }
}
