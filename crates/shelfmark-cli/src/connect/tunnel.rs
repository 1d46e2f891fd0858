//! Requests of the faces by way of the console's port: both ends.
//!
//! What it is not: a port of its own. Each question is one request to the console; nothing is kept between
//! two of them, so a connection of CQL begins anew with each.
//!
//! Invariant: whoever has the console's token may do everything, so no face asks who he is.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::value::RawValue;
use shelfmark_admin::{Cql, DynamoDb, DynamoDbAnswer, FaceCalls, Report};
use shelfmark_dynamo::{DynamoDbEndpoint, Face, FaceOptions, RequestHead};
use shelfmark_engine::{Engine, Share};

use super::link::Link;
use super::local;
use crate::console::ConsoleClient;
use crate::store::shared;

/// Bytes of the head of a frame of version 4, whose last four are the length of its body.
const HEAD_BYTES: usize = 9;
/// Bytes of memory that a byte of an answer takes on its way: it is read, written in hexadecimal digits,
/// and these in JSON.
const ANSWER_TIMES: usize = 5;
const TOO_LONG: &str = "the answer does not fit in the memory that the server has for one client; ask for \
                        fewer rows at once, by LIMIT or by a smaller page";
/// Most frames of one question: a greeting and a request.
const FRAMES_MAX: usize = 2;

/// The faces of a server, as its console asks them.
pub(crate) struct ServedFaces {
    dynamodb: Face,
    cql: Arc<shelfmark_cql::Face>,
}

impl ServedFaces {
    /// Creates them over the engine of a server and its CQL face.
    pub(crate) fn new(engine: &Engine, cql: Arc<shelfmark_cql::Face>) -> Self {
        let options = FaceOptions { share: Share::All, ..FaceOptions::default() };
        let engine = shared(engine, Share::All);
        let environment = engine.environment().clone();
        Self { dynamodb: Face::new(engine, environment, options), cql }
    }
}

impl FaceCalls for ServedFaces {
    fn dynamodb(&self, operation: &str, body: &[u8]) -> (u16, Vec<u8>, Report) {
        let reply = self.dynamodb.call(&RequestHead::operation(operation), body);
        (reply.status, reply.body.to_vec(), Report::from(&reply.report))
    }

    fn cql(&self, frames: &[u8]) -> Result<Vec<u8>, String> {
        let lost =
            |error: io::Error| format!("the frames are not what CQL's protocol has: {error}");
        let count = frames_of(frames).filter(|count| (1..=FRAMES_MAX).contains(count));
        let count = count.ok_or("these are not one or two whole frames of CQL's protocol")?;
        let mut link = local::InProcess::trusted(Arc::clone(&self.cql));
        let mut share = link.share();
        link.send(frames).map_err(lost)?;
        let mut answers = Vec::new();
        while frames_of(&answers).is_none_or(|answered| answered < count) {
            match link.receive() {
                Ok(bytes) => {
                    let length = answers.len() + bytes.len();
                    if !share.cover(length.saturating_mul(ANSWER_TIMES)) {
                        return Err(TOO_LONG.to_owned());
                    }
                    answers.extend(bytes);
                }
                // What it had to say before it ended is the answer.
                Err(_) if !answers.is_empty() => break,
                Err(error) => return Err(lost(error)),
            }
        }
        Ok(answers)
    }
}

/// Counts whole frames; `None` if bytes are over.
fn frames_of(mut bytes: &[u8]) -> Option<usize> {
    let mut count = 0;
    while !bytes.is_empty() {
        let length = bytes.get(..HEAD_BYTES)?.last_chunk::<4>()?;
        let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
        bytes = bytes.get(HEAD_BYTES.checked_add(length)?..)?;
        count += 1;
    }
    Some(count)
}

/// The address of a console and how its token is found.
#[derive(Debug, Clone)]
pub(crate) struct ConsolePlace {
    pub(crate) server: String,
    pub(crate) token_file: Option<PathBuf>,
}

impl ConsolePlace {
    pub(crate) fn client(&self) -> anyhow::Result<ConsoleClient> {
        ConsoleClient::new(&self.server, self.token_file.as_deref())
    }
}

/// Asks the DynamoDB face of a server by way of its console.
///
/// # Errors
///
/// * The console cannot be reached, or refuses.
pub(crate) fn ask_dynamodb(
    client: &ConsoleClient,
    operation: &str,
    body: &[u8],
) -> anyhow::Result<DynamoDbAnswer> {
    let request: Box<RawValue> = serde_json::from_slice(body)?;
    client.run(&DynamoDb { operation: operation.to_owned(), request })
}

impl DynamoDbEndpoint for ConsoleClient {
    fn send(&self, operation: &str, body: &[u8]) -> Result<(u16, Vec<u8>), String> {
        let answer = ask_dynamodb(self, operation, body).map_err(|error| format!("{error:#}"))?;
        Ok((answer.status, answer.answer.get().as_bytes().to_vec()))
    }
}

/// A connection of CQL that is made of questions to a console.
pub(super) struct ConsoleLink {
    client: ConsoleClient,
    /// The first frame, which goes before each question.
    greeting: Vec<u8>,
    answered: Vec<u8>,
}

impl ConsoleLink {
    pub(super) fn new(client: ConsoleClient) -> Self {
        Self { client, greeting: Vec::new(), answered: Vec::new() }
    }
}

impl Link for ConsoleLink {
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let asked = [&self.greeting, bytes].concat();
        let answer = self.client.run(&Cql { frames: hex::encode(&asked) });
        let answer = answer.map_err(|error| io::Error::other(format!("{error:#}")))?;
        let frames = hex::decode(&answer.frames).map_err(io::Error::other)?;
        if self.greeting.is_empty() {
            self.greeting = bytes.to_vec();
            self.answered = frames;
            return Ok(());
        }
        // The answer to the greeting is known.
        let length = frames.get(..HEAD_BYTES).and_then(|head| head.last_chunk::<4>());
        let length = length.map(|own| u32::from_be_bytes(*own));
        let length = length.and_then(|own| usize::try_from(own).ok());
        let behind = length.and_then(|length| frames.get(HEAD_BYTES.checked_add(length)?..));
        let behind = behind.ok_or(io::ErrorKind::UnexpectedEof)?;
        self.answered = behind.to_vec();
        Ok(())
    }

    fn receive(&mut self) -> io::Result<Vec<u8>> {
        match std::mem::take(&mut self.answered) {
            bytes if bytes.is_empty() => Err(io::ErrorKind::UnexpectedEof.into()),
            bytes => Ok(bytes),
        }
    }

    fn close(self: Box<Self>) -> anyhow::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_frames_are_counted() {
        let frame =
            |length: u32, body: &[u8]| [&[4, 0, 0, 0, 1][..], &length.to_be_bytes(), body].concat();
        let two = [frame(2, b"ab"), frame(0, b"")].concat();
        assert_eq!(frames_of(&two), Some(2));
        assert_eq!(frames_of(b""), Some(0));
        for wrong in [&two[..3], &two[..10], &frame(u32::MAX, b"")] {
            assert_eq!(frames_of(wrong), None);
        }
    }
}
