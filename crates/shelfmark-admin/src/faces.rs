//! `dynamodb` and `cql`: requests of the faces by way of the console's port, for tools that have its
//! address and its token and nothing else.
//!
//! What it is not: a way around a face. A request is answered as its face answers it, in the face's words;
//! only that nobody is asked who he is, for whoever has the console's token may do everything.

use std::io;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::admin::Admin;
use crate::error::{Error, ErrorKind, Result};
use crate::http::{Answer, JSON, Writer};
use crate::operation::Operation;
use crate::report::Report;

/// The faces of a running server, as they are asked by way of its console.
pub trait FaceCalls: Send + Sync {
    /// Answers an operation of DynamoDB: status, body and cost.
    fn dynamodb(&self, operation: &str, body: &[u8]) -> (u16, Vec<u8>, Report);

    /// Takes frames of CQL's protocol, of which the first is a STARTUP, and returns where their answers
    /// come from.
    ///
    /// # Errors
    ///
    /// * The reason why they are no frames.
    fn cql(&self, frames: &[u8]) -> std::result::Result<Box<dyn CqlAnswers>, String>;
}

/// The answers to frames of CQL's protocol, which are read piece by piece: they may be much longer than
/// what fits in memory.
pub trait CqlAnswers: Send {
    /// Waits for the next piece; `None` behind the last.
    ///
    /// # Errors
    ///
    /// * The operating system's error: a long answer cannot be read back, and there is no more of it.
    fn next_piece(&mut self) -> io::Result<Option<Vec<u8>>>;
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
        let mut answers = self.ask(admin)?;
        let mut frames = String::new();
        while let Some(piece) = answers.next_piece().map_err(lost)? {
            frames.push_str(&hex::encode(piece));
        }
        Ok(CqlAnswer { frames })
    }
}

impl Cql {
    fn ask(self, admin: &Admin) -> Result<Box<dyn CqlAnswers>> {
        let frames = hex::decode(&self.frames);
        let frames = frames.map_err(|_| Error::invalid("frames are hexadecimal digits"))?;
        faces_of(admin)?.cql(&frames).map_err(Error::invalid)
    }

    /// Returns the answer of the console, a [`CqlAnswer`] that is written while it is sent.
    ///
    /// # Errors
    ///
    /// * As [`Operation::run`], before anything was answered.
    pub(crate) fn answer(self, admin: &Admin) -> Result<Answer> {
        let mut answers = self.ask(admin)?;
        let mut next = answers.next_piece().map_err(lost)?;
        let writer: Writer = Box::new(move |out| {
            out.write_all(br#"{"frames":""#)?;
            while let Some(piece) = next {
                out.write_all(hex::encode(piece).as_bytes())?;
                next = answers.next_piece()?;
            }
            out.write_all(br#""}"#)?;
            Ok(Vec::new())
        });
        Ok(Answer::written(JSON, writer))
    }
}

fn lost(error: io::Error) -> Error {
    Error::invalid(format!("the frames are not what CQL's protocol has: {error}"))
}

fn faces_of(admin: &Admin) -> Result<&dyn FaceCalls> {
    let why =
        "only a running server has faces: ask it with --server ADDR, the address of its console";
    admin.faces().ok_or_else(|| Error::invalid(why))
}
