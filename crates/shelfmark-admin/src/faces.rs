//! `dynamodb` and `cql`: requests of the faces by way of the console's port, for tools that have its
//! address and its token and nothing else.
//!
//! What it is not: a way around a face. A request is answered as its face answers it, in the face's words;
//! only that nobody is asked who he is, for whoever has the console's token may do everything.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::admin::Admin;
use crate::error::{Error, ErrorKind, Result};
use crate::operation::Operation;
use crate::report::Report;

/// The faces of a running server, as they are asked by way of its console.
pub trait FaceCalls: Send + Sync {
    /// Answers an operation of DynamoDB: status, body and cost.
    fn dynamodb(&self, operation: &str, body: &[u8]) -> (u16, Vec<u8>, Report);

    /// Answers frames of CQL's protocol, of which the first is a STARTUP.
    ///
    /// # Errors
    ///
    /// * The reason why they are no frames.
    fn cql(&self, frames: &[u8]) -> std::result::Result<Vec<u8>, String>;
}

/// Asks the DynamoDB face.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DynamoDb {
    /// The operation, such as `Query`.
    pub operation: String,
    /// Its body.
    pub request: Box<RawValue>,
}

/// An answer of the DynamoDB face.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DynamoDbAnswer {
    /// The status code of HTTP.
    pub status: u16,
    /// The body.
    pub answer: Box<RawValue>,
    /// The cost: rows and ranges read.
    pub report: Report,
}

/// Asks the CQL face.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cql {
    /// Frames of the protocol in hexadecimal digits, of which the first is a STARTUP.
    pub frames: String,
}

/// An answer of the CQL face.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CqlAnswer {
    /// A frame for each one that was asked, in hexadecimal digits.
    pub frames: String,
}

impl Operation for DynamoDb {
    const NAME: &'static str = "dynamodb";
    type Answer = DynamoDbAnswer;

    fn run(self, admin: &Admin) -> Result<DynamoDbAnswer> {
        let faces = faces_of(admin)?;
        let (status, body, report) = faces.dynamodb(&self.operation, self.request.get().as_bytes());
        let body = if body.is_empty() { b"null".to_vec() } else { body };
        let answer = serde_json::from_slice(&body);
        let failed = |_| Error::new(ErrorKind::Failed, "the face answered what is no JSON");
        Ok(DynamoDbAnswer { status, answer: answer.map_err(failed)?, report })
    }
}

impl Operation for Cql {
    const NAME: &'static str = "cql";
    type Answer = CqlAnswer;

    fn run(self, admin: &Admin) -> Result<CqlAnswer> {
        let frames = hex::decode(&self.frames);
        let frames = frames.map_err(|_| Error::invalid("frames are hexadecimal digits"))?;
        let answered = faces_of(admin)?.cql(&frames).map_err(Error::invalid)?;
        Ok(CqlAnswer { frames: hex::encode(answered) })
    }
}

fn faces_of(admin: &Admin) -> Result<&dyn FaceCalls> {
    let why =
        "only a running server has faces: ask it with --server ADDR, the address of its console";
    admin.faces().ok_or_else(|| Error::invalid(why))
}
