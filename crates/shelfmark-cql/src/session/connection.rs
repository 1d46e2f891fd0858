//! One connection.

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};

use super::face::Face;
use super::login::{self, Phase, SharedPhase};
use super::outbox::{Outbox, Wake};
use super::paging;
use super::reply::{Known, Pending, Traced};
use super::room::Share;
use crate::auth::User;
use crate::error::{CqlError, ErrorCode};
use crate::frame::{Decoder, Envelope, FrameError, Framing, Opcode, Version, flag};
use crate::limits::{ANSWER_BYTES_PENDING_MAX, REQUEST_BYTES_PENDING_MAX, REQUESTS_PENDING_MAX};
use crate::message::{
    self, Batch, BatchItem, Execute, MetadataId, Prepare, Query, Request, Statement, Write as _,
};
use crate::outcome::{BatchEntry, BatchRequest, PreparedStatement, RequestOptions, Values, Weight};

/// The class that drivers know the login by.
/// What Cassandra says of prepared statements that rely on `USE`, once per connection.
const USE_WARNING: &str = "`USE <keyspace>` with prepared statements is considered to be an anti-pattern due to ambiguity in non-qualified table names. Please consider removing instances of `Session#setKeyspace(<keyspace>)`, `Session#execute(\"USE <keyspace>\")` and `cluster.newSession(<keyspace>)` from your code, and always use fully qualified table names (e.g. <keyspace>.<table>).";

const AUTHENTICATOR: &str = "org.apache.cassandra.auth.PasswordAuthenticator";

/// The version of CQL that is reported, here and in `system.local`.
pub(crate) const CQL_VERSION: &str = "3.4.7";

/// What a connection can do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// It has read all whole requests: give it more bytes.
    Hungry,
    /// It has as much under way as it may: give it nothing before answers were taken.
    Full,
    /// It broke the protocol: send what it has to say, then close it.
    Ended,
}

/// A connection: bytes in, bytes out.
pub struct Connection {
    face: Arc<Face>,
    outbox: Arc<Outbox>,
    decoder: Decoder,
    phase: SharedPhase,
    share: Share,
    client: SocketAddr,
    version: Version,
    /// More requests wait behind the one that runs.
    crowd: bool,
    ended: bool,
}

impl Connection {
    /// Creates the connection of a client. `wake` is called, from any thread, when there is
    /// something to take after [`Connection::take_output`] had nothing more.
    #[must_use]
    pub fn new(face: Arc<Face>, client: SocketAddr, wake: Wake) -> Self {
        Self {
            share: Share::new(&face.room),
            face,
            outbox: Arc::new(Outbox::new(wake)),
            decoder: Decoder::default(),
            phase: SharedPhase::new(),
            client,
            version: Version::HIGHEST,
            crowd: false,
            ended: false,
        }
    }

    /// Takes whole requests off `input` and runs them. Their answers come out of
    /// [`Connection::take_output`], now or later.
    pub fn feed(&mut self, input: &mut BytesMut) -> Progress {
        self.outbox.stay_awake();
        while !self.ended {
            if self.is_full() {
                return Progress::Full;
            }
            match self.decoder.take(input) {
                Ok(Some(envelope)) => {
                    self.share.release();
                    self.crowd = self.decoder.has_more(input);
                    self.request(&envelope);
                }
                Ok(None) if self.share.cover(self.decoder.announced(input)) => {
                    return Progress::Hungry;
                }
                Ok(None) => self.crowded(),
                Err(error) => self.end(&error),
            }
        }
        input.clear();
        Progress::Ended
    }

    /// Takes the answers that are ready, as they go over the wire; may be empty.
    pub fn take_output(&mut self) -> Bytes {
        self.outbox.take()
    }

    /// Tells whether requests are under way whose answers are still to come.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.outbox.load().requests > 0
    }

    /// Tells whether the handshake, with the login where one is asked for, is done.
    #[must_use]
    pub fn is_established(&self) -> bool {
        matches!(self.phase.get(), Phase::Ready(_))
    }

    /// Tells whether a part of a request was taken in and the rest is still to come.
    #[must_use]
    pub fn is_midway(&self) -> bool {
        self.decoder.is_midway()
    }

    fn is_full(&self) -> bool {
        let load = self.outbox.load();
        load.requests >= REQUESTS_PENDING_MAX
            || load.request_bytes >= REQUEST_BYTES_PENDING_MAX
            || load.answer_bytes >= ANSWER_BYTES_PENDING_MAX
    }

    /// Says what is wrong with the bytes, and reads no more of them.
    fn end(&mut self, error: &FrameError) {
        let version = match error {
            // In no version that was agreed on: the client is to see which there are.
            FrameError::UnknownVersion { .. } => Version::HIGHEST,
            _ => self.version,
        };
        let refused = match error {
            FrameError::TooLarge { .. } => CqlError::invalid(error.to_string()),
            _ => CqlError::protocol(error.to_string()),
        };
        self.outbox.begin(0);
        self.outbox.answer(0, version, 0, error.stream(), Opcode::Error, |out| {
            message::error(&refused, version, out);
        });
        self.ended = true;
    }

    /// Turns a large request away because there are too many.
    fn crowded(&mut self) {
        let error = CqlError::new(
            ErrorCode::Overloaded,
            "Too many large requests are on their way: come again later",
        );
        self.outbox.begin(0);
        self.outbox.answer(0, self.version, 0, 0, Opcode::Error, |out| {
            message::error(&error, self.version, out);
        });
        self.ended = true;
    }

    fn request(&mut self, envelope: &Envelope) {
        self.version = envelope.version;
        let bytes = envelope.body.len();
        self.outbox.begin(bytes);
        let pending = Pending {
            face: Arc::clone(&self.face),
            outbox: Arc::clone(&self.outbox),
            version: envelope.version,
            stream: envelope.stream.max(0),
            bytes,
            traced: None,
        };
        if envelope.stream < 0 {
            pending.refuse(&CqlError::protocol("Negative stream ids are the server's"));
            self.ended = true;
            return;
        }
        match Request::read(envelope) {
            Ok(request) => self.run(request, envelope, pending),
            Err(text) => {
                pending.refuse(&CqlError::protocol(text));
                self.ended = true;
            }
        }
    }

    fn run(&mut self, request: Request, envelope: &Envelope, mut pending: Pending) {
        let phase = self.phase.get();
        match (&phase, &request) {
            (Phase::New | Phase::Ready(_), Request::Options)
            | (Phase::New, Request::Startup(_))
            | (Phase::Asked, Request::AuthResponse(_)) => {}
            (Phase::Ready(_), Request::Startup(_)) => {
                return pending.refuse(&CqlError::protocol(
                    "Unexpected message STARTUP, the connection is already initialized",
                ));
            }
            (Phase::Ready(_), Request::AuthResponse(_)) => {
                return pending.refuse(&unexpected(&request, "a statement"));
            }
            (Phase::Ready(_), _) => {}
            (Phase::New, _) => return pending.refuse(&unexpected(&request, "STARTUP or OPTIONS")),
            (Phase::Asked | Phase::Checking, _) => {
                return pending.refuse(&unexpected(&request, "SASL_RESPONSE"));
            }
        }
        let user = if let Phase::Ready(user) = phase { user } else { None };
        if envelope.flags & flag::TRACING != 0 {
            pending.traced = self.traced(&request);
        }
        match request {
            Request::Startup(options) => self.startup(&options, pending),
            Request::Options => pending.say(Opcode::Supported, |out| {
                message::supported(
                    &[
                        ("CQL_VERSION", &[CQL_VERSION]),
                        ("COMPRESSION", &["lz4", "snappy"]),
                        ("PROTOCOL_VERSIONS", &Version::SPOKEN),
                    ],
                    out,
                );
            }),
            Request::AuthResponse(token) => {
                login::check(&self.face, self.phase.clone(), token, pending);
            }
            Request::Register(kinds) => self.register(&kinds, pending),
            Request::Query(query) => self.query(query, user, pending),
            Request::Prepare(prepare) => self.prepare(prepare, pending),
            Request::Execute(execute) => self.execute(execute, user, pending),
            Request::Batch(batch) => self.batch(batch, user, pending),
        }
    }

    fn startup(&mut self, options: &[(String, String)], pending: Pending) {
        let version = pending.version;
        let compression = match login::compression(options, version) {
            Ok(compression) => compression,
            Err(error) => return pending.refuse(&error),
        };
        // The answer itself still goes out as before.
        if self.face.login.is_some() {
            self.phase.set(Phase::Asked);
            pending.say(Opcode::Authenticate, |out| out.string(AUTHENTICATOR));
        } else {
            self.phase.set(Phase::Ready(None));
            pending.say(Opcode::Ready, |_| ());
        }
        self.decoder.agree(version, compression);
        let framing = match (version, compression) {
            (Version::V5, compression) => Framing::Framed { compressed: compression.is_some() },
            (Version::V3 | Version::V4, None) => Framing::Plain,
            (Version::V3 | Version::V4, Some(compression)) => Framing::PlainCompressed(compression),
        };
        self.outbox.agree(version, framing);
    }

    fn register(&self, kinds: &[String], pending: Pending) {
        for kind in kinds {
            match kind.to_ascii_uppercase().as_str() {
                "SCHEMA_CHANGE" => self.face.events.add(&self.outbox),
                "TOPOLOGY_CHANGE" | "STATUS_CHANGE" => {}
                _ => {
                    let text = format!("Invalid value '{kind}' for Type");
                    return pending.refuse(&CqlError::protocol(text));
                }
            }
        }
        pending.say(Opcode::Ready, |_| ());
    }

    fn query(&self, query: Query, user: Option<User>, pending: Pending) {
        let skip = query.options.skip_metadata;
        let options = match self.options(query.options, user, pending.traced.is_some()) {
            Ok(options) => options,
            Err(error) => return pending.refuse(&error),
        };
        match self.face.executor.prepare(&query.text, options.keyspace.as_deref()) {
            Ok(statement) if !fills(&options.values, &statement) => {
                pending.refuse(&CqlError::invalid("Invalid amount of bind variables"));
            }
            Ok(statement) => {
                let known = if skip { Known::All } else { Known::None };
                self.start(&statement, options, known, pending);
            }
            Err(error) => pending.refuse(&error),
        }
    }

    fn prepare(&self, prepare: Prepare, pending: Pending) {
        let keyspace = prepare.keyspace.map(Arc::from).or_else(|| self.outbox.keyspace());
        match self.face.statements.prepare(&self.face.executor, prepare.text, keyspace) {
            Ok(prepared) => {
                let version = pending.version;
                let used = prepared.statement.needs_keyspace.then(|| prepared.keyspace()).flatten();
                let warning = used.filter(|_| self.outbox.warns_of_use()).map(|keyspace| {
                    let id: String = prepared.id.iter().map(|own| format!("{own:02x}")).collect();
                    format!("{USE_WARNING} Keyspace used: {keyspace}, statement keyspace: {keyspace}, statement id: {id}")
                });
                pending.say_traced(Opcode::Result, warning.into_iter().collect(), |out| {
                    message::prepared(
                        &prepared.id,
                        &prepared.metadata_id,
                        &prepared.statement,
                        version,
                        out,
                    );
                });
            }
            Err(error) => pending.refuse(&error),
        }
    }

    fn execute(&self, execute: Execute, user: Option<User>, pending: Pending) {
        let face = &self.face;
        let found = face.statements.find(&face.executor, &execute.id, pending.version);
        let skip = execute.options.skip_metadata;
        let options = self.options(execute.options, user, pending.traced.is_some());
        let (prepared, options) = match (found, options) {
            (Ok(prepared), Ok(options)) => (prepared, options),
            (Err(error), _) | (_, Err(error)) => return pending.refuse(&error),
        };
        let statement = &prepared.statement;
        let client_has = execute.metadata_id.and_then(|id| MetadataId::try_from(&id[..]).ok());
        let known = match client_has {
            // Rows of conditional writes differ from one to the next: they say what they hold.
            _ if statement.conditional => Known::None,
            // The usual case is told without hashing the columns.
            Some(id) if id == prepared.metadata_id && skip => {
                Known::These(Arc::clone(&statement.result))
            }
            Some(id) => Known::Named(id, skip),
            None if pending.version >= Version::V5 => Known::Named(MetadataId::default(), skip),
            None if skip && !prepared.changed => Known::These(Arc::clone(&statement.result)),
            None => Known::None,
        };
        self.start(&prepared.statement, options, known, pending);
    }

    fn batch(&self, batch: Batch, user: Option<User>, pending: Pending) {
        let options = match self.options(batch.options, user, pending.traced.is_some()) {
            Ok(options) => options,
            Err(error) => return pending.refuse(&error),
        };
        let face = &self.face;
        let mut entries = Vec::with_capacity(batch.items.len());
        for (item, values) in batch.items {
            let statement = match item {
                BatchItem::Text(text) => face.executor.prepare(&text, options.keyspace.as_deref()),
                BatchItem::Prepared(id) => face
                    .statements
                    .find(&face.executor, &id, pending.version)
                    .map(|prepared| Arc::clone(&prepared.statement)),
            };
            match statement {
                Ok(statement) => {
                    entries.push(BatchEntry { statement, values: Values::Positional(values) });
                }
                Err(error) => return pending.refuse(&error),
            }
        }
        let request = BatchRequest { kind: batch.kind, entries };
        face.executor.batch(request, options, pending.answer(Known::None));
    }

    /// Runs a statement, here or where it holds nobody up.
    fn start(
        &self,
        statement: &Arc<PreparedStatement>,
        options: RequestOptions,
        known: Known,
        pending: Pending,
    ) {
        let answer = pending.answer(known);
        let elsewhere = match statement.weight {
            Weight::Light => None,
            Weight::Page => self.crowd.then_some(false),
            Weight::Heavy => Some(true),
        };
        let Some(is_long) = elsewhere else {
            return self.face.executor.execute(statement, options, answer);
        };
        let executor = Arc::clone(&self.face.executor);
        let statement = Arc::clone(statement);
        let work = Box::new(move || executor.execute(&statement, options, answer));
        match is_long {
            true => self.face.background.run(work),
            false => self.face.background.share(work),
        }
    }

    fn options(
        &self,
        options: Statement,
        user: Option<User>,
        tracing: bool,
    ) -> Result<RequestOptions, CqlError> {
        if options.timestamp == Some(i64::MIN) {
            return Err(CqlError::protocol(format!(
                "Out of bound timestamp, must be in [{}, {}] (got {})",
                i64::MIN + 1,
                i64::MAX,
                i64::MIN
            )));
        }
        if options.page_size == Some(0) {
            return Err(CqlError::protocol("The page size cannot be 0"));
        }
        Ok(RequestOptions {
            keyspace: options.keyspace.map(Arc::from).or_else(|| self.outbox.keyspace()),
            user,
            consistency: options.consistency,
            serial_consistency: options.serial_consistency,
            values: options.values,
            // Less than zero is how drivers say "all".
            page_size: options
                .page_size
                .and_then(|size| u32::try_from(size).ok())
                .filter(|s| *s > 0),
            paging: options.paging_state.map(paging::open).transpose()?,
            timestamp: options.timestamp,
            now_in_seconds: options.now_in_seconds,
            tracing,
        })
    }

    fn traced(&self, request: &Request) -> Option<Traced> {
        let (command, text) = match request {
            Request::Query(query) => ("QUERY", query.text.clone()),
            Request::Prepare(prepare) => ("PREPARE", prepare.text.clone()),
            Request::Execute(_) => ("EXECUTE", String::new()),
            Request::Batch(_) => ("BATCH", String::new()),
            Request::Startup(_)
            | Request::Options
            | Request::AuthResponse(_)
            | Request::Register(_) => return None,
        };
        Some(Traced {
            client: self.client.ip(),
            command,
            parameters: vec![("query".to_owned(), without_password(text))],
            started_micros: self.face.environment.clock.now_micros(),
        })
    }
}

/// Whether there is a value for each marker.
fn fills(values: &Values, statement: &PreparedStatement) -> bool {
    match values {
        Values::Positional(values) => values.len() == statement.markers.len(),
        Values::Named(values) => statement
            .markers
            .iter()
            .all(|marker| values.iter().any(|(name, _)| **name == *marker.name)),
    }
}

fn unexpected(request: &Request, expected: &str) -> CqlError {
    let name = match request {
        Request::Startup(_) => "STARTUP",
        Request::Options => "OPTIONS",
        Request::AuthResponse(_) => "AUTH_RESPONSE",
        Request::Register(_) => "REGISTER",
        Request::Query(_) => "QUERY",
        Request::Prepare(_) => "PREPARE",
        Request::Execute(_) => "EXECUTE",
        Request::Batch(_) => "BATCH",
    };
    CqlError::new(ErrorCode::Protocol, format!("Unexpected message {name}, expecting {expected}"))
}

/// Cuts a statement before a password in it: traces can be read by everybody.
fn without_password(mut text: String) -> String {
    if let Some(at) = text.to_ascii_lowercase().find("password") {
        text.truncate(at);
        text.push_str("password *******");
    }
    text
}
