//! Requests of the faces by way of the console's port: both ends.
//!
//! What it is not: a port of its own. Each question is one request to the console; nothing is kept between
//! two of them, so a connection of CQL begins anew with each.
//!
//! Invariant: whoever has the console's token may do everything, so no face asks who he is.

use std::io;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::value::RawValue;
use shelfmark_admin::{
    Cql, CqlAnswers, DynamoDb, DynamoDbAnswer, FaceCalls, Operation as _, Report,
};
use shelfmark_dynamo::{DynamoDbEndpoint, Face, FaceOptions, RequestHead};
use shelfmark_engine::budget::Room;
use shelfmark_engine::{Engine, Share};

use super::link::Link;
use super::local;
use crate::console::ConsoleClient;
use crate::store::shared;

/// Bytes of the head of a frame of version 4, whose last four are the length of its body.
const HEAD_BYTES: usize = 9;
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
        let client = self.cql.account(Ipv4Addr::LOCALHOST.into());
        client.admit();
        let room = Room::beside(&client, body.len());
        let head = RequestHead { room: Some(&room), ..RequestHead::operation(operation) };
        let reply = self.dynamodb.call(&head, body);
        (reply.status, reply.body.to_vec(), Report::from(&reply.report))
    }

    fn cql(&self, frames: &[u8]) -> Result<Box<dyn CqlAnswers>, String> {
        let mut asked = FrameCounter::default();
        asked.feed(frames);
        let count = asked.count().filter(|count| (1..=FRAMES_MAX).contains(count));
        let count = count.ok_or("these are not one or two whole frames of CQL's protocol")?;
        let mut link = local::InProcess::trusted(Arc::clone(&self.cql));
        let lost = |error| format!("the frames are not what CQL's protocol has: {error}");
        link.send(frames).map_err(lost)?;
        Ok(Box::new(Answers { link, count, answered: FrameCounter::default(), has_begun: false }))
    }
}

/// The answers of a connection that was made for one question.
struct Answers {
    link: local::InProcess,
    /// The number of frames that are to come.
    count: usize,
    answered: FrameCounter,
    has_begun: bool,
}

impl CqlAnswers for Answers {
    fn next_piece(&mut self) -> io::Result<Option<Vec<u8>>> {
        if self.answered.count().is_some_and(|answered| answered >= self.count) {
            return Ok(None);
        }
        match self.link.receive() {
            Ok(bytes) => {
                self.has_begun = true;
                self.answered.feed(&bytes);
                Ok(Some(bytes))
            }
            // What it had to say before it ended is the answer.
            Err(_) if self.has_begun && self.answered.count().is_some() => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Counts frames, of bytes that come in pieces of any length.
#[derive(Default)]
struct FrameCounter {
    whole: usize,
    /// The head of the frame that has begun, as far as it came in.
    head: Vec<u8>,
    /// Bytes of its body that are still to come.
    left: usize,
}

impl FrameCounter {
    fn feed(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.head.len() < HEAD_BYTES {
                let wanted = (HEAD_BYTES - self.head.len()).min(bytes.len());
                let (more, behind) = bytes.split_at(wanted);
                self.head.extend_from_slice(more);
                bytes = behind;
                let length = self.head.get(HEAD_BYTES - 4..HEAD_BYTES);
                let Some(length) = length.and_then(|own| own.first_chunk::<4>()) else { return };
                self.left = usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX);
            }
            let (taken, behind) = bytes.split_at(self.left.min(bytes.len()));
            self.left -= taken.len();
            bytes = behind;
            if self.left == 0 {
                self.head.clear();
                self.whole += 1;
            }
        }
    }

    /// Returns how many whole frames there were; `None` in the middle of one.
    fn count(&self) -> Option<usize> {
        self.head.is_empty().then_some(self.whole)
    }
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
        let mut answer = HexFrames::default();
        let received =
            self.client.receive(Cql::NAME, &Cql { frames: hex::encode(&asked) }, &mut answer);
        received.map_err(|error| io::Error::other(format!("{error:#}")))?;
        let frames = answer.whole().ok_or(io::ErrorKind::UnexpectedEof)?;
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

/// Takes the frames out of a `CqlAnswer` while it comes in, so that its digits are never held whole.
#[derive(Default)]
struct HexFrames {
    frames: Vec<u8>,
    /// The text in front of the digits, until they begin.
    before: Vec<u8>,
    place: Place,
}

/// A place in the text of a `CqlAnswer`.
#[derive(Default, Clone, Copy)]
enum Place {
    #[default]
    Before,
    /// Between two bytes, or behind the first digit of one.
    Digits(Option<u8>),
    Behind,
}

/// The text in front of the digits, without spaces.
const BEFORE_DIGITS: &[u8] = br#"{"frames":""#;

impl HexFrames {
    /// Returns the frames, if they were whole.
    fn whole(self) -> Option<Vec<u8>> {
        matches!(self.place, Place::Behind).then_some(self.frames)
    }

    fn take(&mut self, byte: u8) -> io::Result<()> {
        self.place = match self.place {
            Place::Before => {
                if !byte.is_ascii_whitespace() {
                    self.before.push(byte);
                }
                match BEFORE_DIGITS.starts_with(&self.before) {
                    true if self.before.len() == BEFORE_DIGITS.len() => Place::Digits(None),
                    true => Place::Before,
                    false => return Err(io::ErrorKind::InvalidData.into()),
                }
            }
            Place::Digits(None) if byte == b'"' => Place::Behind,
            Place::Digits(first) => {
                let digit = char::from(byte).to_digit(16).and_then(|own| u8::try_from(own).ok());
                let digit = digit.ok_or(io::ErrorKind::InvalidData)?;
                match first {
                    None => Place::Digits(Some(digit)),
                    Some(first) => {
                        self.frames.push(first << 4 | digit);
                        Place::Digits(None)
                    }
                }
            }
            Place::Behind => Place::Behind,
        };
        Ok(())
    }
}

impl io::Write for HexFrames {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        bytes.iter().try_for_each(|byte| self.take(*byte))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn frames_of(bytes: &[u8]) -> Option<usize> {
        let mut counter = FrameCounter::default();
        bytes.chunks(5).for_each(|piece| counter.feed(piece));
        counter.count()
    }

    #[test]
    fn frames_are_taken_out_of_an_answer_in_pieces() {
        let text = br#"{ "frames": "00ff10" }"#;
        for cut in 0..text.len() {
            let mut answer = HexFrames::default();
            answer.write_all(&text[..cut]).unwrap();
            answer.write_all(&text[cut..]).unwrap();
            assert_eq!(answer.whole().unwrap(), [0, 255, 16]);
        }
        let mut cut_off = HexFrames::default();
        cut_off.write_all(br#"{"frames":"00ff"#).unwrap();
        assert_eq!(cut_off.whole(), None);
        for wrong in [&br#"{"error":"x"}"#[..], br#"{"frames":"0x"}"#, br#"{"frames":"0"}"#] {
            assert!(HexFrames::default().write_all(wrong).is_err(), "{wrong:?}");
        }
    }

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
