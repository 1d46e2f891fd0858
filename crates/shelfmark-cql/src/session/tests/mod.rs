mod memory;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use shelfmark_cql_protocol::frame::{Envelopes, Framing, Opcode, Version};
use shelfmark_cql_protocol::message::{ResultMetadataId, Write as _};
use shelfmark_engine::budget::Budget;
use shelfmark_engine::weight::{Asker, INLINE_ROWS_MAX, Inline, Pool, Refused, Weight, Work};
use shelfmark_engine::{Engine, Environment, SeededRandom};
use shelfmark_store::clock::{Clock, SystemClock};
use shelfmark_store::memory::MemoryStore;

use super::*;
use crate::auth::{Login, OneRole};
use crate::limits::{
    POOLED_MAX, PREPARED_PART, PREPARED_TEXT_SIZE_BYTES_MAX, SHARED_MAX, TURN_REQUESTS_MAX,
    TURN_TIME_MAX,
};

fn face(login: Option<Login>) -> Arc<Face> {
    face_with(login, FaceOptions::default(), Arc::new(Inline))
}

/// A face whose clients share so many bytes.
fn small_face(bytes: usize, background: Arc<dyn Pool>) -> Arc<Face> {
    let budget = Arc::new(Budget::new(bytes));
    face_with(None, FaceOptions { budget, ..FaceOptions::default() }, background)
}

fn face_with(login: Option<Login>, options: FaceOptions, background: Arc<dyn Pool>) -> Arc<Face> {
    face_at(Duration::ZERO, login, options, background)
}

/// The machine's clock, whose other time goes one step with each look and not by itself.
struct Stepping {
    wall: SystemClock,
    step: Duration,
    looks: AtomicUsize,
}

impl Clock for Stepping {
    fn now_micros(&self) -> u64 {
        self.wall.now_micros()
    }

    fn monotonic(&self) -> Duration {
        let looks = self.looks.fetch_add(1, Ordering::Relaxed);
        self.step * u32::try_from(looks).unwrap()
    }
}

fn face_at(
    step: Duration,
    login: Option<Login>,
    options: FaceOptions,
    background: Arc<dyn Pool>,
) -> Arc<Face> {
    let clock: Arc<dyn Clock> =
        Arc::new(Stepping { wall: SystemClock::new(), step, looks: AtomicUsize::new(0) });
    let environment =
        Environment { clock: Arc::clone(&clock), random: Arc::new(SeededRandom::new(1)) };
    let engine = Engine::open(Arc::new(MemoryStore::new(clock)), environment.clone()).unwrap();
    Arc::new(Face::open(engine, environment, options, login, background).unwrap())
}

fn connect(face: &Arc<Face>) -> Connection {
    let client = "127.0.0.1:50000".parse().unwrap();
    Connection::new(Arc::clone(face), client, Box::new(|| ()))
}

fn envelope(version: u8, stream: i16, opcode: u8, body: &[u8]) -> BytesMut {
    let mut out = BytesMut::new();
    out.put_slice(&[version, 0]);
    out.put_i16(stream);
    out.put_u8(opcode);
    out.put_u32(u32::try_from(body.len()).unwrap());
    out.put_slice(body);
    out
}

fn map(entries: &[(&str, &str)]) -> BytesMut {
    let mut out = BytesMut::new();
    out.put_u16(u16::try_from(entries.len()).unwrap());
    for (key, value) in entries {
        out.string(key);
        out.string(value);
    }
    out
}

/// Stream, opcode and body of each answer.
fn answers(mut bytes: Bytes) -> Vec<(i16, u8, Bytes)> {
    let mut found = Vec::new();
    while bytes.has_remaining() {
        bytes.advance(2);
        let (stream, opcode) = (bytes.get_i16(), bytes.get_u8());
        let length = usize::try_from(bytes.get_u32()).unwrap();
        found.push((stream, opcode, bytes.split_to(length)));
    }
    found
}

fn ask(connection: &mut Connection, bytes: &BytesMut) -> (Progress, Vec<(i16, u8, Bytes)>) {
    let progress = connection.feed(&mut bytes.clone());
    (progress, answers(connection.take_output().unwrap()))
}

fn error_text(body: &Bytes) -> (i32, String) {
    let mut body = body.clone();
    let code = body.get_i32();
    let length = usize::from(body.get_u16());
    (code, String::from_utf8(body.split_to(length).to_vec()).unwrap())
}

const STARTUP: u8 = 1;
const OPTIONS: u8 = 5;
const ERROR: u8 = 0;
const SUPPORTED: u8 = 6;
const QUERY: u8 = 7;
const RESULT: u8 = 8;
const PREPARE: u8 = 9;
const EXECUTE: u8 = 10;
const AUTH_RESPONSE: u8 = 15;

#[test]
fn the_handshake_as_drivers_do_it() {
    let face = face(None);
    // The Python driver begins with a version of another server and reads which there are.
    let mut connection = connect(&face);
    let (progress, found) = ask(&mut connection, &envelope(66, 0, OPTIONS, b""));
    assert_eq!((progress, found[0].1), (Progress::Ended, 0));
    let (code, text) = error_text(&found[0].2);
    assert_eq!(code, 0x000A);
    assert!(text.contains("Invalid or unsupported protocol version (66)"), "{text}");
    assert!(text.contains("supported versions are (3/v3, 4/v4, 5/v5)"), "{text}");
    for version in [3, 4, 5] {
        let mut connection = connect(&face);
        let (_, found) = ask(&mut connection, &envelope(version, 1, OPTIONS, b""));
        assert_eq!((found[0].0, found[0].1), (1, 6));
        let options = map(&[("CQL_VERSION", "4.0.0"), ("DRIVER_NAME", "x")]);
        let (progress, found) = ask(&mut connection, &envelope(version, 2, STARTUP, &options));
        assert_eq!((progress, found[0].0, found[0].1), (Progress::Hungry, 2, 2));
        assert!(connection.is_established());
    }
}

#[test]
fn statements_wait_for_the_handshake() {
    let face = face(None);
    let mut connection = connect(&face);
    let mut query = BytesMut::new();
    query.put_i32(1);
    query.put_slice(b"x\0\x01\0");
    let (progress, found) = ask(&mut connection, &envelope(4, 9, QUERY, &query));
    assert_eq!((progress, found[0].0), (Progress::Hungry, 9));
    assert_eq!(error_text(&found[0].2).1, "Unexpected message QUERY, expecting STARTUP or OPTIONS");
    let unknown = map(&[("CQL_VERSION", "3.0.0"), ("COMPRESSION", "zstd")]);
    let (_, found) = ask(&mut connection, &envelope(4, 1, STARTUP, &unknown));
    assert_eq!(error_text(&found[0].2).1, "Unknown compression algorithm: zstd");
    let (_, found) = ask(&mut connection, &envelope(4, 1, STARTUP, &map(&[])));
    assert_eq!(error_text(&found[0].2).1, "Missing value CQL_VERSION in STARTUP message");
}

#[test]
fn versions_of_the_language_and_kinds_of_events() {
    let face = face(None);
    for (version, text) in [
        (
            "2.0.0",
            "CQL version 2.0.0 is not supported by the binary protocol (supported version are >= 3.0.0)",
        ),
        ("x", "Invalid version value: x"),
    ] {
        let mut connection = connect(&face);
        let options = map(&[("CQL_VERSION", version)]);
        let (_, found) = ask(&mut connection, &envelope(4, 1, STARTUP, &options));
        assert_eq!(error_text(&found[0].2), (0x000A, text.to_owned()));
        assert!(!connection.is_established());
    }
    let mut connection = connect(&face);
    ask(&mut connection, &envelope(4, 1, STARTUP, &map(&[("CQL_VERSION", "3.0.0")])));
    let (_, found) = ask(&mut connection, &envelope(4, 2, STARTUP, &map(&[])));
    let text = "Unexpected message STARTUP, the connection is already initialized";
    assert_eq!(error_text(&found[0].2), (0x000A, text.to_owned()));
    // REGISTER takes any case, and nothing that is no event.
    let (_, found) = ask(&mut connection, &envelope(4, 3, 0x0B, b"\0\x01\0\x0dschema_change"));
    assert_eq!(found[0].1, 2);
    let (_, found) = ask(&mut connection, &envelope(4, 4, 0x0B, b"\0\x01\0\x01x"));
    assert_eq!(error_text(&found[0].2), (0x000A, "Invalid value 'x' for Type".to_owned()));
}

#[test]
fn what_cannot_be_read_is_named() {
    let face = face(None);
    let started = envelope(4, 0, STARTUP, &map(&[("CQL_VERSION", "3.0.0")]));
    for (opcode, body, text) in [
        (QUERY, &b"\0\0\0\x01x\0\x63\0"[..], "Unknown code 99 for a consistency level"),
        (QUERY, b"\0\0\0\x01x\0\x01\x04\0\0\0\0", "The page size cannot be 0"),
        (QUERY, b"\0\0\0\x01x\0\x01\x01\0\x01\xff\xff\xff\xfd", "Invalid ByteBuf length -3"),
        (0x0D, b"\x03", "Invalid BATCH message type 3"),
        (0x0D, b"\0\0\x01\xff", "Invalid query kind in BATCH messages. Must be 0 or 1 but got -1"),
    ] {
        let mut connection = connect(&face);
        ask(&mut connection, &started);
        let (_, found) = ask(&mut connection, &envelope(4, 1, opcode, body));
        assert_eq!(error_text(&found[0].2), (0x000A, text.to_owned()));
    }
}

#[test]
fn a_login_in_version_4() {
    let login = Login::new(OneRole::new("me", "secret", [1; 16]), [2; 16]);
    let face = face(Some(login));
    let mut connection = connect(&face);
    let options = map(&[("CQL_VERSION", "3.4.7")]);
    let (_, found) = ask(&mut connection, &envelope(4, 0, STARTUP, &options));
    assert_eq!(found[0].1, 3);
    assert!(found[0].2.ends_with(b"PasswordAuthenticator"));
    let mut token = BytesMut::new();
    token.bytes(Some(b"\0me\0wrong"));
    let (_, found) = ask(&mut connection, &envelope(4, 0, AUTH_RESPONSE, &token));
    let expected = "Provided username me and/or password are incorrect".to_owned();
    assert_eq!(error_text(&found[0].2), (0x0100, expected));
    assert!(!connection.is_established());
    let mut token = BytesMut::new();
    token.bytes(Some(b"\0me\0secret"));
    let (_, found) = ask(&mut connection, &envelope(4, 0, AUTH_RESPONSE, &token));
    assert_eq!((found[0].1, &found[0].2[..]), (16, &[255; 4][..]));
    assert!(connection.is_established());
}

#[test]
fn version_5_begins_frames_after_the_answer_to_startup() {
    let face = face(None);
    let mut connection = connect(&face);
    let options = map(&[("CQL_VERSION", "3.4.7"), ("COMPRESSION", "lz4")]);
    let mut bytes = envelope(5, 1, STARTUP, &options);
    assert_eq!(connection.feed(&mut bytes), Progress::Hungry);
    assert_eq!(&connection.take_output().unwrap()[..], &[0x85, 0, 0, 1, 2, 0, 0, 0, 0]);
    // An envelope outside a frame is no frame.
    let (progress, found) = {
        let progress = connection.feed(&mut envelope(5, 1, OPTIONS, b""));
        (progress, connection.take_output().unwrap())
    };
    assert_eq!(progress, Progress::Ended);
    let text = b"unrecoverable CRC mismatch detected in frame header";
    assert!(found.windows(text.len()).any(|window| window == text));
}

#[test]
fn bytes_without_known_borders_end_the_connection_with_a_reason() {
    let face = face(None);
    let started = envelope(4, 0, STARTUP, &map(&[("CQL_VERSION", "3.0.0")]));
    for (bytes, reason) in [
        (envelope(4, -3, OPTIONS, b""), "Negative stream"),
        (envelope(0x84, 3, QUERY, b""), "Wrong protocol direction"),
    ] {
        let mut connection = connect(&face);
        ask(&mut connection, &started);
        let mut bytes = bytes.clone();
        bytes.extend_from_slice(&envelope(4, 4, OPTIONS, b""));
        let (progress, found) = ask(&mut connection, &bytes);
        assert_eq!((progress, found.len()), (Progress::Ended, 1), "{reason}");
        let (code, text) = error_text(&found[0].2);
        assert_eq!(code, 0x000A);
        assert!(text.contains(reason), "{text}");
    }
    // Who begins so does not speak the protocol.
    let mut connection = connect(&face);
    let (progress, found) = ask(&mut connection, &envelope(4, 3, STARTUP, b"\0\x01\0"));
    assert_eq!((progress, found.len()), (Progress::Ended, 1));
}

#[test]
fn a_request_that_cannot_be_read_costs_no_other() {
    let face = face(None);
    let started = envelope(4, 0, STARTUP, &map(&[("CQL_VERSION", "3.0.0")]));
    let node_local = "NODE_LOCAL consistency level is highly dangerous and should be used only for debugging purposes";
    for (bytes, code, reason) in [
        (envelope(4, 3, 0x55, b""), 0x000A, "Unknown opcode 85"),
        (envelope(4, 3, 0x04, b""), 0x000A, "Unsupported message"),
        (
            envelope(4, 3, 0x08, b""),
            0x000A,
            "Wrong protocol direction (expected RESPONSE, got REQUEST) for opcode 8 (RESULT)",
        ),
        (
            envelope(4, 3, QUERY, b"\0\0\0\x09"),
            0x000A,
            "Not enough bytes to read an UTF8 serialized string preceded by its 4 bytes length",
        ),
        (
            envelope(4, 3, QUERY, b"\0\0\0\x01x\0\x01\x01\0\x01\0\0\0\x03a"),
            0x000A,
            "Cannot read value of length 3, only 1 bytes remaining in the message",
        ),
        (
            envelope(4, 3, EXECUTE, b""),
            0x000A,
            "Not enough bytes to read a byte array preceded by its 2 bytes length",
        ),
        (
            envelope(3, 3, OPTIONS, b""),
            0x000A,
            "Invalid message version. Got 3/v3 but previous messages on this connection had version 4/v4",
        ),
        (envelope(4, 3, QUERY, b"\0\0\0\x01x\0\x0b\0"), 0x2200, node_local),
    ] {
        let mut connection = connect(&face);
        ask(&mut connection, &started);
        let mut bytes = bytes.clone();
        bytes.extend_from_slice(&envelope(4, 4, OPTIONS, b""));
        let (progress, found) = ask(&mut connection, &bytes);
        assert_eq!(progress, Progress::Hungry, "{reason}");
        assert_eq!((found[0].0, error_text(&found[0].2)), (3, (code, reason.to_owned())));
        assert_eq!((found[1].0, found[1].1), (4, SUPPORTED), "{reason}");
    }
}

#[test]
fn answers_wake_the_writer_once() {
    let face = face(None);
    let woken = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&woken);
    let wake = Box::new(move || {
        count.fetch_add(1, Ordering::Relaxed);
    });
    let mut connection = Connection::new(face, "127.0.0.1:1".parse().unwrap(), wake);
    // What is answered while requests are read is taken by whoever reads.
    connection.feed(&mut envelope(4, 0, OPTIONS, b""));
    assert_eq!(woken.load(Ordering::Relaxed), 0);
    assert!(!connection.take_output().unwrap().is_empty());
}

#[test]
fn a_login_in_version_5_is_framed() {
    let login = Login::new(OneRole::new("me", "secret", [1; 16]), [2; 16]);
    let face = face(Some(login));
    let mut connection = connect(&face);
    let options = map(&[("CQL_VERSION", "3.4.7")]);
    let (_, found) = ask(&mut connection, &envelope(5, 0, STARTUP, &options));
    assert_eq!(found[0].1, 3);
    let framing = Framing::Framed { compressed: false };
    let mut request = Envelopes::of_requests();
    request.push(Version::V5, 0, 7, Opcode::AuthResponse, framing, |out| {
        out.bytes(Some(b"\0me\0secret"));
    });
    let mut bytes = BytesMut::from(&request.take(framing)[..]);
    assert_eq!(connection.feed(&mut bytes), Progress::Hungry);
    let answer = connection.take_output().unwrap();
    // A frame's head and checksum, an envelope, and the checksum of both.
    assert_eq!(answer[6..answer.len() - 4], *b"\x85\0\0\x07\x10\0\0\0\x04\xff\xff\xff\xff");
}

#[test]
fn prepared_statements_take_no_more_than_their_room() {
    const UNPREPARED: i32 = 0x2500;
    const BUDGET_BYTES: usize = 64 << 20;
    let face = small_face(BUDGET_BYTES, Arc::new(Inline));
    let mut connection = connect(&face);
    let startup = map(&[("CQL_VERSION", "3.0.0")]);
    ask(&mut connection, &envelope(4, 0, STARTUP, &startup));
    let mut prepare = |number: usize, length: usize| {
        let mut text = format!("SELECT key FROM system.local /* {number} */");
        text.extend(std::iter::repeat_n(' ', length - text.len()));
        let mut body = BytesMut::new();
        body.put_u32(u32::try_from(text.len()).unwrap());
        body.put_slice(text.as_bytes());
        let (_, mut answers) = ask(&mut connection, &envelope(4, 1, PREPARE, &body));
        answers.remove(0)
    };
    let (_, opcode, body) = prepare(0, PREPARED_TEXT_SIZE_BYTES_MAX + 1);
    assert_eq!(opcode, ERROR);
    let (code, said) = error_text(&body);
    assert_eq!(code, 0x2200);
    let wanted = "Prepared statement of size 1048577 bytes is larger than allowed maximum of 1 MB: \
                  SELECT key FROM system.local /* 0 */   ";
    assert!(said.starts_with(wanted), "{said}");
    // One more than there is room for: the first are forgotten, the last is there.
    let count = BUDGET_BYTES / PREPARED_PART / PREPARED_TEXT_SIZE_BYTES_MAX + 1;
    let ids: Vec<Bytes> = (0..count)
        .map(|number| {
            let (_, opcode, body) = prepare(number, PREPARED_TEXT_SIZE_BYTES_MAX);
            assert_eq!(opcode, RESULT, "{}", error_text(&body).1);
            body.slice(4..4 + 2 + 16)
        })
        .collect();
    let mut execute = |id: &Bytes| {
        let mut body = BytesMut::from(&id[..]);
        body.put_slice(&[0, 1, 0]);
        let (_, mut answers) = ask(&mut connection, &envelope(4, 2, EXECUTE, &body));
        answers.remove(0)
    };
    let (_, opcode, body) = execute(&ids[0]);
    assert_eq!(opcode, ERROR);
    assert_eq!(error_text(&body).0, UNPREPARED, "{}", error_text(&body).1);
    assert_eq!(execute(&ids[count - 1]).1, RESULT);
}

#[test]
fn values_of_other_types_than_were_told_are_not_taken() {
    const UNPREPARED: i32 = 0x2500;
    let face = face(None);
    let mut connection = connect(&face);
    ask(&mut connection, &envelope(4, 0, STARTUP, &map(&[("CQL_VERSION", "3.0.0")])));
    let mut run = |text: &str| {
        let (_, mut answers) = ask(&mut connection, &envelope(4, 1, QUERY, &query(text)));
        let (_, opcode, body) = answers.remove(0);
        assert_eq!(opcode, RESULT, "{text}: {}", error_text(&body).1);
    };
    run(
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    );
    run("CREATE TABLE k.t (p int PRIMARY KEY, v int)");
    let text = "INSERT INTO k.t (p, v) VALUES (?, ?)";
    let mut body = BytesMut::new();
    body.put_u32(u32::try_from(text.len()).unwrap());
    body.put_slice(text.as_bytes());
    let mut prepared = connect(&face);
    ask(&mut prepared, &envelope(4, 0, STARTUP, &map(&[("CQL_VERSION", "3.0.0")])));
    let (_, mut answers) = ask(&mut prepared, &envelope(4, 1, PREPARE, &body));
    let id = answers.remove(0).2.slice(4..4 + 2 + 16);
    let mut execute = || {
        let mut body = BytesMut::from(&id[..]);
        // Consistency ONE, values: two of four bytes each.
        body.put_slice(&[0, 1, 1, 0, 2, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 2]);
        let (_, mut answers) = ask(&mut prepared, &envelope(4, 2, EXECUTE, &body));
        let (_, opcode, body) = answers.remove(0);
        (opcode == ERROR).then(|| error_text(&body).0)
    };
    assert_eq!(execute(), None);
    // A change that concerns none of its values.
    run("ALTER TABLE k.t ADD w int");
    assert_eq!(execute(), None);
    // Four bytes of an int are a text, too.
    run("DROP TABLE k.t");
    run("CREATE TABLE k.t (p int PRIMARY KEY, v text)");
    assert_eq!(execute(), Some(UNPREPARED));
}

fn query(text: &str) -> BytesMut {
    let mut body = BytesMut::new();
    body.put_u32(u32::try_from(text.len()).unwrap());
    body.put_slice(text.as_bytes());
    body.put_slice(&[0, 1, 0]);
    body
}

/// Keeps the work instead of running it.
#[derive(Default)]
struct Kept {
    long: std::sync::Mutex<Vec<Work>>,
    shared: std::sync::Mutex<Vec<Box<dyn FnOnce() + Send>>>,
}

impl Pool for Kept {
    fn run(&self, _: Asker, _: Weight, work: Work) {
        self.long.lock().unwrap().push(work);
    }

    fn share(&self, _: Asker, work: Box<dyn FnOnce() + Send>) {
        self.shared.lock().unwrap().push(work);
    }
}

#[test]
fn what_the_pool_refuses_is_answered_and_a_connection_fills_no_pool() {
    let (mut connection, background) = kept(1);
    let scan = envelope(4, 3, QUERY, &query("SELECT count(*) FROM k.t"));
    let (_, found) = ask(&mut connection, &scan);
    assert!(found.is_empty());
    let work = background.long.lock().unwrap().pop().unwrap();
    work(Err(Refused));
    let found = answers(connection.take_output().unwrap());
    assert_eq!((found[0].0, found[0].1), (3, ERROR));
    assert_eq!(found[0].2[..4], 0x1001_i32.to_be_bytes());
    // The next one is served, and no more are read than may wait.
    let mut input = BytesMut::from(&scan.repeat(POOLED_MAX + 1)[..]);
    while connection.feed(&mut input) == Progress::Paused {}
    let works = std::mem::take(&mut *background.long.lock().unwrap());
    assert_eq!((works.len(), input.len()), (POOLED_MAX, scan.len()));
    works.into_iter().for_each(|work| work(Ok(())));
    assert_eq!(answers(connection.take_output().unwrap()).len(), POOLED_MAX);
    assert_eq!(connection.feed(&mut input), Progress::Hungry);
}

/// A ready connection to a face whose work is kept, with partition 1 of `rows` rows.
fn kept(rows: usize) -> (Connection, Arc<Kept>) {
    let background = Arc::new(Kept::default());
    let face = small_face(64 << 20, Arc::clone(&background) as Arc<dyn Pool>);
    let mut connection = connect(&face);
    ask(&mut connection, &envelope(4, 0, STARTUP, &map(&[("CQL_VERSION", "3.0.0")])));
    let mut run = |text: &str| {
        ask(&mut connection, &envelope(4, 1, QUERY, &query(text)));
        let works = std::mem::take(&mut *background.long.lock().unwrap());
        works.into_iter().for_each(|work| work(Ok(())));
        let found = answers(connection.take_output().unwrap());
        assert!(found.iter().all(|(_, opcode, _)| *opcode == RESULT), "{text}: {found:?}");
    };
    run(
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    );
    run("CREATE TABLE k.t (a int, b int, c int, PRIMARY KEY (a, b))");
    for row in 0..rows {
        run(&format!("INSERT INTO k.t (a, b, c) VALUES (1, {row}, 7)"));
    }
    (connection, background)
}

#[test]
fn a_long_read_goes_on_where_it_holds_nobody_up() {
    let texts = [
        "SELECT * FROM k.t WHERE a = 1",
        "SELECT b, c + 1 FROM k.t WHERE a = 1",
        "SELECT * FROM k.t WHERE a IN (1, 2)",
    ];
    for (rows, is_long) in [(INLINE_ROWS_MAX - 1, false), (INLINE_ROWS_MAX + 1, true)] {
        let (mut connection, background) = kept(rows);
        for text in texts {
            let (_, mut found) = ask(&mut connection, &envelope(4, 1, QUERY, &query(text)));
            let works = std::mem::take(&mut *background.long.lock().unwrap());
            assert_eq!((works.len(), found.len()), (usize::from(is_long), usize::from(!is_long)));
            works.into_iter().for_each(|work| work(Ok(())));
            found.extend(answers(connection.take_output().unwrap()));
            let (_, opcode, body) = found.remove(0);
            assert_eq!(opcode, RESULT, "{text}");
            // Nothing of the first attempt is in the answer.
            let seven = body.windows(8).filter(|own| **own == [0, 0, 0, 4, 0, 0, 0, 7]).count();
            let eight = body.windows(8).filter(|own| **own == [0, 0, 0, 4, 0, 0, 0, 8]).count();
            assert!(seven.max(eight) >= rows && seven.max(eight) <= rows + 2, "{text}: {seven}");
        }
    }
}

#[test]
fn a_connection_has_its_turn_and_then_others_have_theirs() {
    let (mut connection, background) = kept(1);
    let options = envelope(4, 1, OPTIONS, b"");
    let mut input = BytesMut::from(&options.repeat(TURN_REQUESTS_MAX + 1)[..]);
    assert_eq!(connection.feed(&mut input), Progress::Paused);
    assert_eq!(answers(connection.take_output().unwrap()).len(), TURN_REQUESTS_MAX);
    assert_eq!(connection.feed(&mut input), Progress::Hungry);
    assert_eq!(answers(connection.take_output().unwrap()).len(), 1);
    // Of pages that are read by others, few are under way at once.
    let page = envelope(4, 1, QUERY, &query("SELECT * FROM k.t WHERE a = 1"));
    let mut input = BytesMut::from(&page.repeat(SHARED_MAX + 2)[..]);
    assert_eq!(connection.feed(&mut input), Progress::Full);
    let works = std::mem::take(&mut *background.shared.lock().unwrap());
    assert_eq!(works.len(), SHARED_MAX);
    works.into_iter().for_each(|work| work());
    assert_eq!(answers(connection.take_output().unwrap()).len(), SHARED_MAX);
    assert_eq!(connection.feed(&mut input), Progress::Hungry);
}

#[test]
fn a_turn_ends_with_its_time() {
    let face = face_at(TURN_TIME_MAX / 2, None, FaceOptions::default(), Arc::new(Inline));
    let mut connection = connect(&face);
    let options = envelope(4, 1, OPTIONS, b"");
    let mut input = BytesMut::from(&options.repeat(3)[..]);
    assert_eq!(connection.feed(&mut input), Progress::Paused);
    assert_eq!(input.len(), options.len());
    assert_eq!(connection.feed(&mut input), Progress::Hungry);
}

#[test]
fn what_a_statement_becomes_is_counted_before_it_is_prepared() {
    let face = small_face(64 << 20, Arc::new(Inline));
    let mut connection = connect(&face);
    ask(&mut connection, &envelope(4, 0, STARTUP, &map(&[("CQL_VERSION", "3.0.0")])));
    for (count, refused) in [(10_000, false), (200_000, true)] {
        let list = vec!["1"; count].join(",");
        let text = format!("SELECT key FROM system.local WHERE key IN ({list})");
        let mut body = BytesMut::new();
        body.put_u32(u32::try_from(text.len()).unwrap());
        body.put_slice(text.as_bytes());
        let (_, found) = ask(&mut connection, &envelope(4, 1, PREPARE, &body));
        let said = error_text(&found[0].2);
        assert_eq!(said.1.contains("budget never has room"), refused, "{said:?}");
    }
}

#[test]
fn a_compressed_request_is_counted_as_long_as_it_says_it_is() {
    for compression in ["lz4", "snappy"] {
        let face = small_face(64 << 20, Arc::new(Inline));
        let mut connection = connect(&face);
        let startup = map(&[("CQL_VERSION", "3.0.0"), ("COMPRESSION", compression)]);
        ask(&mut connection, &envelope(4, 0, STARTUP, &startup));
        let compressed = |length: usize| {
            let text = " ".repeat(length);
            let plain = query(&text);
            let mut body = BytesMut::new();
            let own = match compression {
                "lz4" => shelfmark_cql_protocol::frame::Compression::Lz4,
                _ => shelfmark_cql_protocol::frame::Compression::Snappy,
            };
            own.pack_body(&plain, &mut body);
            let mut out = envelope(4, 1, QUERY, &body);
            out[1] = 1;
            out
        };
        let told = |progress: Progress, connection: &mut Connection| {
            let output = connection.take_output().unwrap();
            (progress, output.len())
        };
        let progress = connection.feed(&mut compressed(1 << 20));
        assert_eq!(told(progress, &mut connection).0, Progress::Hungry, "{compression}");
        let large = compressed(40 << 20);
        assert!(large.len() < 4 << 20);
        let progress = connection.feed(&mut large.clone());
        let (progress, length) = told(progress, &mut connection);
        assert!(progress == Progress::Ended && length > 0, "{compression}");
    }
}

/// Runs a statement that is right, in a version whose envelopes are not framed.
fn run(connection: &mut Connection, text: &str) {
    let mut body = BytesMut::new();
    body.put_u32(u32::try_from(text.len()).unwrap());
    body.put_slice(text.as_bytes());
    body.put_slice(&[0, 1, 0]);
    let (_, found) = ask(connection, &envelope(4, 1, QUERY, &body));
    assert_eq!(found[0].1, RESULT, "{text}");
}

#[test]
fn version_5_is_told_that_columns_changed() {
    let face = face(None);
    let mut schema = connect(&face);
    ask(&mut schema, &envelope(4, 1, STARTUP, &map(&[("CQL_VERSION", "3.0.0")])));
    run(
        &mut schema,
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    );
    run(&mut schema, "CREATE TABLE k.t (a int PRIMARY KEY, v int)");
    run(&mut schema, "INSERT INTO k.t (a, v) VALUES (1, 2)");
    let text = "SELECT * FROM k.t";
    let prepared = face.statements.prepare(&face.executor, text.to_owned(), None).unwrap();
    let (id, old) = (prepared.id, prepared.metadata_id);
    // Version 5 in one frame each way; the client has the columns and wants none that it has.
    let mut connection = connect(&face);
    connection.feed(&mut envelope(5, 1, STARTUP, &map(&[("CQL_VERSION", "3.0.0")])));
    connection.take_output().unwrap();
    let mut execute = |metadata: &ResultMetadataId| -> (i32, i32, Bytes) {
        let mut body = BytesMut::new();
        for part in [&id, metadata] {
            body.put_u16(16);
            body.put_slice(part);
        }
        body.put_u16(1);
        body.put_u32(2);
        let mut envelopes = Envelopes::of_requests();
        let framing = Framing::Framed { compressed: false };
        envelopes.push(Version::V5, 0, 1, Opcode::Execute, framing, |out| out.put_slice(&body));
        connection.feed(&mut BytesMut::from(&envelopes.take(framing)[..]));
        // Behind the frame's head and the envelope's: kind, flags, columns.
        let mut answer = connection.take_output().unwrap().slice(6 + 9..);
        assert_eq!(answer.get_i32(), 2, "rows");
        let (flags, columns) = (answer.get_i32(), answer.get_i32());
        (flags, columns, answer)
    };
    const CHANGED: i32 = 8;
    const NO_METADATA: i32 = 4;
    assert_eq!(execute(&old).0, NO_METADATA);
    run(&mut schema, "ALTER TABLE k.t ADD w text");
    let (flags, columns, mut rest) = execute(&old);
    assert_eq!((flags & CHANGED, flags & NO_METADATA, columns), (CHANGED, 0, 3));
    assert_eq!(rest.get_u16(), 16);
    let fresh: ResultMetadataId = rest.split_to(16)[..].try_into().unwrap();
    assert_ne!(fresh, old);
    assert!(rest.windows(3).any(|part| part == [0, 1, b'w']), "the new column is named");
    // Whoever has the new columns is sent none, and whoever has not is told again.
    assert_eq!(execute(&fresh).0, NO_METADATA);
    assert_eq!(execute(&old).0 & CHANGED, CHANGED);
    run(&mut schema, "ALTER TABLE k.t DROP w");
    assert_eq!(execute(&fresh).0 & CHANGED, CHANGED);
    assert_eq!(execute(&old).0, NO_METADATA, "the columns are those of the beginning");
}

/// A QUERY with a default timestamp of 99 microseconds.
fn query_at_99(text: &str) -> BytesMut {
    let mut body = BytesMut::new();
    body.put_i32(i32::try_from(text.len()).unwrap());
    body.put_slice(text.as_bytes());
    body.put_slice(b"\0\x01\x20");
    body.put_i64(99);
    envelope(4, 1, QUERY, &body)
}

#[test]
fn a_conditional_batch_is_written_at_its_own_moment() {
    let face = face(None);
    let mut connection = connect(&face);
    ask(&mut connection, &envelope(4, 0, STARTUP, &map(&[("CQL_VERSION", "3.0.0")])));
    run(
        &mut connection,
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    );
    run(&mut connection, "CREATE TABLE k.t (p int, c int, v int, PRIMARY KEY (p, c))");
    let mut written_at = |statement: &str, c: i32| {
        let (_, found) = ask(&mut connection, &query_at_99(statement));
        assert_eq!(found[0].1, RESULT, "{statement}");
        let read = format!("SELECT writetime(v) FROM k.t WHERE p = 1 AND c = {c}");
        let (_, found) = ask(&mut connection, &envelope(4, 1, QUERY, &query(&read)));
        let body = &found[0].2;
        i64::from_be_bytes(body[body.len() - 8..].try_into().unwrap())
    };
    let plain = "BEGIN BATCH INSERT INTO k.t (p, c, v) VALUES (1, 1, 1); APPLY BATCH";
    assert_eq!(written_at(plain, 1), 99);
    let conditional = "BEGIN BATCH INSERT INTO k.t (p, c, v) VALUES (1, 2, 1) IF NOT EXISTS; \
        INSERT INTO k.t (p, c, v) VALUES (1, 3, 1) USING TIMESTAMP 5; APPLY BATCH";
    let at = written_at(conditional, 2);
    assert!(at > 1_600_000_000_000_000, "{at}");
    let other = "BEGIN BATCH INSERT INTO k.t (p, c, v) VALUES (1, 4, 1) IF NOT EXISTS; APPLY BATCH";
    assert_eq!(written_at(other, 3), at);
}

/// The console's token makes its holder no stranger to the memory budget.
#[test]
fn a_trusted_connection_has_the_share_of_one_that_is_logged_in() {
    let login = Login::new(OneRole::new("me", "secret", [1; 16]), [2; 16]);
    let face = face(Some(login));
    assert!(!connect(&face).budget().is_known());
    assert!(connect(&face).trusted().budget().is_known());
}

/// The tables that drivers read when they connect have a lane of their own.
#[test]
fn system_tables_do_not_wait_for_long_answers() {
    let face = face(None);
    let weight = |text: &str| face.executor.prepare(text, None).unwrap().weight;
    for text in [
        "SELECT key FROM system.local",
        "SELECT * FROM system.peers_v2",
        "SELECT * FROM system_schema.tables",
        "SELECT * FROM system_virtual_schema.columns",
    ] {
        assert_eq!(weight(text), Weight::Waiting, "{text}");
    }
    assert!(!weight("SELECT key FROM system.local WHERE key = 'local'").is_for_pool());
    // These read the store for each table that there is.
    assert_eq!(weight("SELECT * FROM system.size_estimates"), Weight::Heavy);
}
