//! A client of version 4 and its server in one process: what is asked, and each answer as lines.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use bytes::{BufMut as _, BytesMut};
use shelfmark_cql::{Authorizer, Connection, Face, FaceOptions, Inline, Login, OneRole};
use shelfmark_engine::{Engine, Environment, SeededRandom};
use shelfmark_store::clock::{Clock, SystemClock};
use shelfmark_store::memory::MemoryStore;

use super::paths::Observer;
use super::text::{Kind, bound, kind, kind_text, value_text};

const VERSION: u8 = 4;
const ERROR: u8 = 0x00;
const STARTUP: u8 = 0x01;
const AUTHENTICATE: u8 = 0x03;
const QUERY: u8 = 0x07;
const RESULT: u8 = 0x08;
const PREPARE: u8 = 0x09;
const EXECUTE: u8 = 0x0A;
const AUTH_RESPONSE: u8 = 0x0F;
const WARNING: u8 = 0x08;
const ALREADY_EXISTS: i32 = 0x2400;
const QUORUM: u16 = 4;
const SERIAL: u16 = 8;

/// What clients connect to.
pub(super) struct Server {
    face: Arc<Face>,
    /// Sees what each statement reads.
    pub(super) observer: Observer,
}

/// A server with nothing in it but the role `cassandra`, whose password is the same.
pub(super) fn server() -> Server {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let environment =
        Environment { clock: Arc::clone(&clock), random: Arc::new(SeededRandom::new(1)) };
    let engine = Engine::open(Arc::new(MemoryStore::new(clock)), environment.clone()).unwrap();
    let observer = Observer::default();
    let own = observer.clone();
    let engine = engine.observed(move |report| own.note(report));
    let login = Login::new(OneRole::new("cassandra", "cassandra", [7; 16]), [8; 16])
        .with_authorizer(Authorizer::Cassandra);
    let options = FaceOptions::default();
    let face = Face::open(engine, environment, options, Some(login), Arc::new(Inline)).unwrap();
    Server { face: Arc::new(face), observer }
}

/// Reads the protocol's notations, one behind the other.
pub(super) struct Reader {
    data: Vec<u8>,
    at: usize,
}

impl Reader {
    pub(super) fn new(data: &[u8]) -> Self {
        Self { data: data.to_vec(), at: 0 }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at == self.data.len()
    }

    fn take(&mut self, count: usize) -> Vec<u8> {
        let taken = self.data[self.at..self.at + count].to_vec();
        self.at += count;
        taken
    }

    fn fixed<const N: usize>(&mut self) -> [u8; N] {
        self.take(N).try_into().unwrap()
    }

    pub(super) fn short(&mut self) -> u16 {
        u16::from_be_bytes(self.fixed())
    }

    pub(super) fn int(&mut self) -> i32 {
        i32::from_be_bytes(self.fixed())
    }

    pub(super) fn string(&mut self) -> String {
        let length = self.short();
        String::from_utf8(self.take(length.into())).unwrap()
    }

    pub(super) fn value(&mut self) -> Option<Vec<u8>> {
        usize::try_from(self.int()).ok().map(|length| self.take(length))
    }
}

/// The metadata of rows, or of a prepared statement's markers.
#[derive(Default)]
struct Columns {
    key: Vec<u16>,
    paging: Option<Vec<u8>>,
    columns: Vec<(String, String, Kind)>,
}

impl Columns {
    fn read(reader: &mut Reader, of_markers: bool) -> Self {
        let (flags, count) = (reader.int(), reader.int());
        let mut own = Self::default();
        if of_markers {
            let count = reader.int();
            own.key = (0..count).map(|_| reader.short()).collect();
        }
        if flags & 0x02 != 0 {
            own.paging = reader.value();
        }
        if flags & 0x04 != 0 {
            return own;
        }
        let table = |reader: &mut Reader| format!("{}.{}", reader.string(), reader.string());
        let shared = (flags & 0x01 != 0).then(|| table(reader));
        for _ in 0..count {
            let table = shared.clone().unwrap_or_else(|| table(reader));
            let name = reader.string();
            own.columns.push((table, name, kind(reader)));
        }
        own
    }

    fn line(&self, title: &str) -> String {
        if self.columns.is_empty() {
            return format!("{title}: none");
        }
        let mut tables: Vec<&str> = self.columns.iter().map(|(table, ..)| table.as_str()).collect();
        tables.sort_unstable();
        tables.dedup();
        let column =
            |(_, name, kind): &(String, String, Kind)| format!("{name} {}", kind_text(kind));
        let parts: Vec<String> = self.columns.iter().map(column).collect();
        format!("{title} of {}: {}", tables.join(" "), parts.join(", "))
    }
}

/// What a statement is sent with.
#[derive(Default)]
struct Sending<'a> {
    key: Option<Vec<u8>>,
    kinds: Vec<Kind>,
    words: &'a [String],
    page: Option<i32>,
}

/// One answer.
struct Answer {
    lines: Vec<String>,
    rows: Option<i32>,
    paging: Option<Vec<u8>>,
}

/// One connection. Statements are sent one after the other.
pub(super) struct Client {
    connection: Connection,
    woken: Receiver<()>,
    warnings: Vec<String>,
}

impl Client {
    pub(super) fn connect(server: &Server, user: &str, password: &str) -> Self {
        let (wake, woken) = channel();
        let wake = std::sync::Mutex::new(wake);
        let wake = Box::new(move || wake.lock().unwrap().send(()).unwrap_or_default());
        let address = "127.0.0.1:50000".parse().unwrap();
        let connection = Connection::new(Arc::clone(&server.face), address, wake);
        let mut client = Self { connection, woken, warnings: Vec::new() };
        let startup = [&1_u16.to_be_bytes()[..], &short("CQL_VERSION"), &short("3.0.0")].concat();
        let (opcode, _) = client.ask(STARTUP, &startup);
        assert_eq!(opcode, AUTHENTICATE);
        let token = format!("\0{user}\0{password}");
        client.ask(AUTH_RESPONSE, &sized(token.as_bytes()));
        client
    }

    /// Sends a request and returns the answer's opcode and body; warnings are kept aside.
    fn ask(&mut self, opcode: u8, body: &[u8]) -> (u8, Reader) {
        let mut request = BytesMut::new();
        request.put_slice(&[VERSION, 0, 0, 0, opcode]);
        request.put_u32(u32::try_from(body.len()).unwrap());
        request.put_slice(body);
        self.connection.feed(&mut request);
        let mut answer = Vec::new();
        loop {
            let bytes = self.connection.take_output().unwrap();
            if bytes.is_empty() {
                self.woken.recv().unwrap();
            }
            answer.extend_from_slice(&bytes);
            let length =
                answer.get(5..9).map(|length| u32::from_be_bytes(length.try_into().unwrap()));
            if length.is_some_and(|length| answer.len() == 9 + usize::try_from(length).unwrap()) {
                break;
            }
        }
        let mut reader = Reader::new(&answer[9..]);
        let warned = answer[1] & WARNING != 0;
        let count = if warned { reader.short() } else { 0 };
        self.warnings = (0..count)
            .map(|_| format!("warning: {}", reader.string().replace('\n', "\\n")))
            .collect();
        (answer[4], reader)
    }

    /// Runs a statement and returns its answer as lines. With values to bind it is prepared, and what
    /// PREPARE says comes first; with a page's rows every page is asked for.
    pub(super) fn run(
        &mut self,
        text: &str,
        words: Option<&[String]>,
        page: Option<i32>,
    ) -> Vec<String> {
        let mut lines = Vec::new();
        let mut prepared = Columns::default();
        let mut sending = Sending { page, words: words.unwrap_or_default(), ..Sending::default() };
        if words.is_some() {
            let (opcode, mut reader) = self.ask(PREPARE, &sized(text.as_bytes()));
            if opcode == ERROR {
                return self.answer(opcode, reader).lines;
            }
            reader.int();
            let length = reader.short();
            sending.key = Some(reader.take(length.into()));
            let markers = Columns::read(&mut reader, true);
            prepared = Columns::read(&mut reader, false);
            lines.push(markers.line("markers"));
            if !markers.key.is_empty() {
                lines.push(format!("key: {:?}", markers.key));
            }
            sending.kinds = markers.columns.into_iter().map(|(_, _, kind)| kind).collect();
            lines.append(&mut self.warnings);
        }
        let mut paging = None;
        for number in 0.. {
            let (opcode, reader) = self.send(text, &sending, paging.as_deref());
            let mut answer = self.answer(opcode, reader);
            if number > 0 && answer.paging.is_none() && answer.rows == Some(0) {
                // Whether an empty page follows a full one is up to the server.
                lines.pop();
                return lines;
            }
            let first = answer.lines.first().cloned().unwrap_or_default();
            let shown = prepared.line("columns");
            if !prepared.columns.is_empty() && first != shown && first.starts_with("columns") {
                answer.lines.insert(0, format!("prepared {shown}"));
            }
            lines.append(&mut answer.lines);
            paging = answer.paging;
            if paging.is_none() {
                break;
            }
            lines.push("-- next page".to_owned());
        }
        lines
    }

    fn send(&mut self, text: &str, sending: &Sending<'_>, paging: Option<&[u8]>) -> (u8, Reader) {
        let (mut flags, mut rest) = (0x10_u8, Vec::new());
        if !sending.words.is_empty() {
            flags |= 0x01;
            // Too few or too many values are sent as they are: their refusal is compared too.
            let value = |(at, word): (usize, &String)| {
                sending.kinds.get(at).map_or_else(|| sized(b""), |kind| bound(kind, word))
            };
            rest.extend(u16::try_from(sending.words.len()).unwrap().to_be_bytes());
            rest.extend(sending.words.iter().enumerate().flat_map(value));
        }
        if let Some(page) = sending.page {
            flags |= 0x04;
            rest.extend(page.to_be_bytes());
        }
        if let Some(paging) = paging {
            flags |= 0x08;
            rest.extend(sized(paging));
        }
        rest.extend(SERIAL.to_be_bytes());
        let options = [&QUORUM.to_be_bytes()[..], &[flags], &rest].concat();
        match &sending.key {
            None => self.ask(QUERY, &[sized(text.as_bytes()), options].concat()),
            Some(key) => {
                let length = u16::try_from(key.len()).unwrap().to_be_bytes();
                self.ask(EXECUTE, &[&length[..], key, &options].concat())
            }
        }
    }

    fn answer(&mut self, opcode: u8, mut reader: Reader) -> Answer {
        let mut lines = std::mem::take(&mut self.warnings);
        let plain = |mut lines: Vec<String>, line: String| {
            lines.push(line);
            Answer { lines, rows: None, paging: None }
        };
        if opcode == ERROR {
            let code = reader.int();
            let message = with_sorted_signatures(&reader.string()).replace('\n', "\\n");
            lines.push(format!("error {code:04x}: {message}"));
            if code == ALREADY_EXISTS {
                let about = format!("about: {} {}", reader.string(), reader.string());
                lines.push(about.trim_end().to_owned());
            }
            return Answer { lines, rows: None, paging: None };
        }
        assert_eq!(opcode, RESULT);
        match reader.int() {
            1 => plain(lines, "ok".to_owned()),
            3 => {
                let keyspace = reader.string();
                plain(lines, format!("keyspace {keyspace}"))
            }
            5 => {
                let mut words = vec![reader.string(), reader.string(), reader.string()];
                if words[1] != "KEYSPACE" {
                    words.push(reader.string());
                }
                if matches!(words[1].as_str(), "FUNCTION" | "AGGREGATE") {
                    let count = reader.short();
                    let types: Vec<String> = (0..count).map(|_| reader.string()).collect();
                    words.push(format!("({})", types.join(", ")));
                }
                plain(lines, words.join(" "))
            }
            2 => {
                let metadata = Columns::read(&mut reader, false);
                lines.insert(0, metadata.line("columns"));
                let rows = reader.int();
                for _ in 0..rows {
                    let cell = |(.., kind): &(String, String, Kind)| {
                        value_text(kind, reader.value().as_deref())
                    };
                    let cells: Vec<String> = metadata.columns.iter().map(cell).collect();
                    lines.push(cells.join(" | ").trim_end().to_owned());
                }
                assert!(reader.is_at_end(), "bytes behind the last row");
                Answer { lines, rows: Some(rows), paging: metadata.paging }
            }
            other => panic!("no result is of kind {other}"),
        }
    }
}

/// A message with the functions that it lists in order: Cassandra's is that of a hash table.
fn with_sorted_signatures(message: &str) -> String {
    let Some((head, rest)) = message.split_once("signatures: ") else { return message.to_owned() };
    let hint = "): use type casts to disambiguate";
    let end = if rest.ends_with(hint) { hint } else { ")" };
    let Some(list) = rest.strip_suffix(end).filter(|list| list.contains(" : ")) else {
        return message.to_owned();
    };
    let mut signatures: Vec<String> = Vec::new();
    for part in list.split(", ") {
        // A part that does not begin with a name is the next argument of the one before.
        let begins = part.split_once(" : ").is_some_and(|(name, _)| !name.contains(' '));
        match signatures.last_mut().filter(|_| !begins) {
            Some(last) => *last = format!("{last}, {part}"),
            None => signatures.push(part.to_owned()),
        }
    }
    signatures.sort();
    format!("{head}signatures: {}{end}", signatures.join(", "))
}

fn sized(data: &[u8]) -> Vec<u8> {
    [&i32::try_from(data.len()).unwrap().to_be_bytes()[..], data].concat()
}

fn short(text: &str) -> Vec<u8> {
    [&u16::try_from(text.len()).unwrap().to_be_bytes()[..], text.as_bytes()].concat()
}
