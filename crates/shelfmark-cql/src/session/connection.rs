//! One connection.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use bytes::{Bytes, BytesMut};
use shelfmark_cql_protocol::frame::{
    Decoder, Envelope, FrameError, Framing, Opcode, Version, flag,
};
use shelfmark_cql_protocol::message::{
    self, Batch, Execute, Prepare, Query, QueryParameters, Request, ResultMetadataId, Write as _,
};
use shelfmark_cql_protocol::{CQL_VERSION, Consistency, CqlError, ErrorCode};
use shelfmark_engine::budget::{Client, NoRoom, Share};
use shelfmark_engine::weight::{INLINE_SIZE_BYTES_MAX, Weight};

use super::clients::{Encryption, Listed};
use super::events::EventKind;
use super::face::{Face, full};
use super::login;
use super::paging_state;
use super::phase::{Phase, SharedPhase};
use super::reply::{ClientMetadata, OpenTrace, OpenWatch, PendingRequest};
use super::running::{
    begin, fills, long_query, no_room_for_statement, run_batch, run_long, run_prepare,
};
use super::send_queue::{SendQueue, Wake};
use super::tracing;
use crate::auth::User;
use crate::limits::{
    ANSWER_BYTES_PENDING_MAX, HEAVY_OVERHEAD_BYTES, POOLED_MAX, REQUEST_BYTES_PENDING_MAX,
    REQUESTS_PENDING_MAX, SHARED_MAX, TRUSTED_PAGE_BYTES, TURN_REQUESTS_MAX, TURN_SIZE_BYTES_MAX,
    TURN_TIME_MAX, planned_bytes,
};
use crate::outcome::{RequestOptions, no_room};
use crate::statement::PreparedStatement;
use crate::trace_recorder::TraceRecorder;
use crate::watch::{Reads, Statements};

/// The class that drivers know the login by.
const AUTHENTICATOR: &str = "org.apache.cassandra.auth.PasswordAuthenticator";

/// The state of a connection after it was fed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// All whole requests were read: give it more bytes.
    Hungry,
    /// There may be more whole requests: let other connections have their turn, then feed it again.
    Paused,
    /// As much is under way as may be: give it nothing before answers were taken.
    Full,
    /// The client broke the protocol, and where its next request begins is not known: send what the
    /// connection has to say, then close it.
    Ended,
}

/// A connection: bytes in, bytes out.
pub struct Connection {
    face: Arc<Face>,
    send_queue: Arc<SendQueue>,
    decoder: Decoder,
    phase: SharedPhase,
    listed: Listed,
    /// The connection's part of the memory budget, and what the request that is being read holds.
    budget: Client,
    share: Share,
    client: SocketAddr,
    version: Version,
    /// More requests wait behind the one that runs.
    crowd: bool,
    /// Reads of pages that run on other threads of the sockets.
    shared: Arc<AtomicUsize>,
    /// Set when this is dropped.
    has_gone: Arc<AtomicBool>,
    ended: bool,
    /// Nobody is asked to log in on it.
    is_trusted: bool,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.has_gone.store(true, Ordering::Relaxed);
        self.face.pool.forget(Some(self.client));
    }
}

impl Connection {
    /// Creates the connection of a client. `wake` is called, from any thread, when there is
    /// something to take after [`Connection::take_output`] had nothing more.
    #[must_use]
    pub fn new(face: Arc<Face>, client: SocketAddr, wake: Wake) -> Self {
        let budget = face.account(client.ip());
        Self::with_account(face, client, wake, budget)
    }

    /// Works as [`Connection::new`], of a client whose part of the memory budget is known already:
    /// see [`Face::account`].
    #[must_use]
    pub fn with_account(face: Arc<Face>, client: SocketAddr, wake: Wake, budget: Client) -> Self {
        let send_queue = Arc::new(SendQueue::new(wake, &budget));
        let phase = SharedPhase::new();
        Self {
            listed: Listed::new(&face.clients, client, &phase, &send_queue),
            face,
            send_queue,
            share: budget.share(),
            budget,
            decoder: Decoder::default(),
            phase,
            client,
            version: Version::HIGHEST,
            crowd: false,
            shared: Arc::default(),
            has_gone: Arc::default(),
            ended: false,
            is_trusted: false,
        }
    }

    /// Returns the connection of somebody who has proved elsewhere that he may do everything: no login is
    /// asked for.
    #[must_use]
    pub fn trusted(self) -> Self {
        let mut own = self;
        own.is_trusted = true;
        own.budget.admit();
        own
    }

    /// Notes that the connection is encrypted, for `system_views.clients`: the protocol such as
    /// `TLSv1.3`, and the cipher suite by its registered name.
    pub fn encrypted(&self, protocol: &str, cipher_suite: &str) {
        let (protocol, cipher_suite) = (protocol.to_owned(), cipher_suite.to_owned());
        self.listed.encrypted(Encryption { protocol, cipher_suite });
    }

    /// Takes whole requests off `input` and runs them. Their answers come out of
    /// [`Connection::take_output`], now or later.
    pub fn feed(&mut self, input: &mut BytesMut) -> Progress {
        self.send_queue.stay_awake();
        let (mut requests, mut bytes) = (0, 0);
        let clock = Arc::clone(&self.face.environment.clock);
        let began = clock.monotonic();
        while !self.ended {
            if self.is_full() {
                return Progress::Full;
            }
            let is_over = requests >= TURN_REQUESTS_MAX
                || bytes >= TURN_SIZE_BYTES_MAX
                || requests > 0 && clock.monotonic().saturating_sub(began) >= TURN_TIME_MAX;
            if is_over && self.decoder.has_more(input) {
                return Progress::Paused;
            }
            let (share, most) = (&mut self.share, self.budget.most());
            let mut has_room = |bytes: usize| bytes <= most && share.cover(bytes);
            match self.decoder.take_within(input, &mut has_room) {
                Ok(Some(envelope)) => {
                    requests += 1;
                    bytes += envelope.body.len();
                    self.crowd = self.decoder.has_more(input);
                    // What was wanted while it grew is wanted no more.
                    let held = envelope.body.len() + input.len() + self.decoder.held();
                    let _ = self.share.cover(held);
                    self.request(&envelope);
                }
                Err(FrameError::NoRoom { .. }) => self.crowded(0),
                Ok(None) => {
                    // A buffer that grows is up to twice as large as what is in it.
                    let held = input.len() + self.decoder.held();
                    let held = (2 * held).min(most).max(held);
                    let announced = self.decoder.announced(input);
                    if announced <= most && self.share.cover(held) {
                        return Progress::Hungry;
                    }
                    self.crowded(announced);
                }
                Err(error) => {
                    requests += 1;
                    self.refuse(&error);
                    self.ended = !error.is_behind();
                }
            }
        }
        input.clear();
        Progress::Ended
    }

    /// Takes the answers that are ready, as they go over the wire; may be empty. What was taken
    /// before has been sent: its memory is given back.
    ///
    /// # Errors
    ///
    /// * The operating system's error: a long answer cannot be read back. Close the connection.
    pub fn take_output(&mut self) -> std::io::Result<Bytes> {
        self.send_queue.take()
    }

    /// Returns the connection's part of the memory budget.
    #[must_use]
    pub fn budget(&self) -> &Client {
        &self.budget
    }

    /// Tells whether requests are under way whose answers are still to come.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.send_queue.load().requests > 0
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
        let load = self.send_queue.load();
        load.requests >= REQUESTS_PENDING_MAX
            || load.request_bytes >= REQUEST_BYTES_PENDING_MAX
            || load.answer_bytes >= ANSWER_BYTES_PENDING_MAX
            || self.shared.load(Ordering::Relaxed) >= SHARED_MAX
            || self.send_queue.pooled.load(Ordering::Relaxed) >= POOLED_MAX
            // One request always gets in.
            || load.is_over && load.requests > 0
    }

    /// Says what is wrong with the bytes.
    fn refuse(&self, error: &FrameError) {
        let version = match error {
            // In no version that was agreed on: the client is to see which there are.
            FrameError::UnknownVersion { .. } => Version::HIGHEST,
            _ => self.version,
        };
        let refused = match error {
            FrameError::TooLarge { .. } => CqlError::invalid(error.to_string()),
            _ => CqlError::protocol(error.to_string()),
        };
        self.send_queue.begin(0);
        self.send_queue.answer(0, version, 0, error.stream(), Opcode::Error, |out| {
            message::error(&refused, version, out);
        });
    }

    /// Turns a large request away because there are too many, or because it is too large for any client.
    fn crowded(&mut self, announced: usize) {
        let error = match self.budget.no_room(announced) {
            NoRoom::Ever => no_room(Some(&self.budget), "this request", announced, ""),
            NoRoom::Now => CqlError::overloaded(
                "Server is in overloaded state. Cannot accept more requests at this point",
            ),
        };
        self.send_queue.begin(0);
        self.send_queue.answer(0, self.version, 0, 0, Opcode::Error, |out| {
            message::error(&error, self.version, out);
        });
        self.ended = true;
    }

    fn request(&mut self, envelope: &Envelope) {
        self.version = envelope.version;
        let bytes = envelope.body.len();
        self.send_queue.begin(bytes);
        let pending = PendingRequest {
            face: Arc::clone(&self.face),
            send_queue: Arc::clone(&self.send_queue),
            version: envelope.version,
            stream: envelope.stream.max(0),
            bytes,
            traced: None,
            watched: self.face.watcher.as_ref().map(|watcher| OpenWatch {
                watcher: Arc::clone(watcher),
                operation: "OTHER",
                plan: None,
                reads: Reads::default(),
                statements: Statements::default(),
                goes_on: false,
                started: self.face.environment.clock.monotonic(),
            }),
            turn: None,
            client: self.client,
        };
        if envelope.stream < 0 {
            pending.refuse(&CqlError::protocol("Negative stream ids are the server's"));
            self.ended = true;
            return;
        }
        let read = Request::read(envelope);
        self.listed.count(read.as_ref().ok());
        match read {
            Ok(request) => self.run(request, envelope, pending),
            Err(text) => {
                // Where the next request begins is known. Before the handshake nobody speaks the
                // protocol for sure.
                self.ended = matches!(self.phase.get(), Phase::New);
                pending.refuse(&CqlError::protocol(text));
            }
        }
    }

    fn run(&mut self, request: Request, envelope: &Envelope, mut pending: PendingRequest) {
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
                let budget = self.budget.clone();
                login::check(&self.face, self.phase.clone(), token, budget, pending);
            }
            Request::Register(kinds) => self.register(&kinds, pending),
            Request::Query(query) => self.query(query, user, pending),
            Request::Prepare(prepare) => self.prepare(prepare, pending),
            Request::Execute(execute) => self.execute(execute, user, pending),
            Request::Batch(batch) => self.batch(batch, user, pending),
        }
    }

    fn startup(&mut self, options: &[(String, String)], pending: PendingRequest) {
        let version = pending.version;
        let compression = match login::compression(options, version) {
            Ok(compression) => compression,
            Err(error) => return pending.refuse(&error),
        };
        self.listed.started(version, options);
        // The answer itself still goes out as before.
        if self.face.login.is_some() && !self.is_trusted {
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
        self.send_queue.agree(version, framing);
    }

    fn register(&self, kinds: &[String], pending: PendingRequest) {
        for kind in kinds {
            match EventKind::parse(kind) {
                Some(kind) => self.face.events.add(kind, &self.send_queue),
                None => {
                    let text = format!("Invalid value '{kind}' for Type");
                    return pending.refuse(&CqlError::protocol(text));
                }
            }
        }
        pending.say(Opcode::Ready, |_| ());
    }

    fn query(&self, query: Query, user: Option<User>, mut pending: PendingRequest) {
        let skip = query.options.skip_metadata;
        pending.asks(&query.text);
        let options = match self.options(query.options, user, &pending) {
            Ok(options) => options,
            Err(error) => return pending.refuse(&error),
        };
        if query.text.len() > INLINE_SIZE_BYTES_MAX {
            pending.charge(HEAVY_OVERHEAD_BYTES);
            pending.take_turn_of_pool();
            let face = Arc::clone(&self.face);
            let waits = pending.waits();
            let work = move |admitted: Result<(), _>| match admitted {
                Ok(()) => long_query(&face, &query.text, options, skip, pending),
                Err(refused) => pending.refuse(&full(refused)),
            };
            return self.face.pool.run(
                Some(self.client),
                self.face.weigh(Weight::Heavy),
                waits.before(work),
            );
        }
        match self.face.executor.prepare(&query.text, options.keyspace.as_deref()) {
            Ok(statement) if !fills(&options.values, &statement) => {
                pending.refuse(&CqlError::invalid("Invalid amount of bind variables"));
            }
            Ok(statement) => {
                pending.record_step(|| "Preparing statement".to_owned());
                let known = if skip { ClientMetadata::All } else { ClientMetadata::None };
                self.start(&statement, options, known, pending);
            }
            Err(error) => pending.refuse(&error),
        }
    }

    fn prepare(&self, prepare: Prepare, mut pending: PendingRequest) {
        pending.runs("PREPARE");
        let keyspace = prepare.keyspace.map(Arc::from).or_else(|| self.send_queue.keyspace());
        let text = prepare.text;
        if text.len() <= INLINE_SIZE_BYTES_MAX {
            return run_prepare(text, keyspace, pending);
        }
        pending.charge(HEAVY_OVERHEAD_BYTES);
        pending.take_turn_of_pool();
        let budget = self.budget.clone();
        let work = move |admitted: Result<(), _>| {
            if let Err(refused) = admitted {
                return pending.refuse(&full(refused));
            }
            let mut share = budget.share();
            let (planned, held) = (planned_bytes(&text), pending.bytes);
            if !share.cover(planned) {
                return pending.refuse(&no_room_for_statement(Some(&budget), planned + held));
            }
            run_prepare(text, keyspace, pending);
        };
        let weight = self.face.weigh(Weight::Heavy);
        self.face.pool.run(Some(self.client), weight, Box::new(work));
    }

    fn execute(&self, execute: Execute, user: Option<User>, mut pending: PendingRequest) {
        let face = &self.face;
        let found = face.statements.find(&face.executor, &execute.id, pending.version);
        let skip = execute.options.skip_metadata;
        let options = self.options(execute.options, user, &pending);
        let (prepared, options) = match (found, options) {
            (Ok(prepared), Ok(options)) => (prepared, options),
            (Err(error), _) | (_, Err(error)) => return pending.refuse(&error),
        };
        pending.asks(prepared.text());
        if let Some(traced) = &mut pending.traced {
            traced.log.record("Found the prepared statement");
            let text = without_password(prepared.text().to_owned());
            let own = tracing::values(&text, &prepared.statement.markers, &options.values);
            traced.parameters.extend(own);
        }
        let statement = &prepared.statement;
        let client_has =
            execute.metadata_id.and_then(|id| ResultMetadataId::try_from(&id[..]).ok());
        let known = match client_has {
            // Rows of conditional writes differ from one to the next: they say what they hold.
            _ if statement.conditional => ClientMetadata::None,
            // The usual case is told without hashing the columns.
            Some(id) if id == prepared.metadata_id && skip => {
                ClientMetadata::These(Arc::clone(&statement.result))
            }
            Some(id) => ClientMetadata::Named(id, skip),
            None if pending.version >= Version::V5 => {
                ClientMetadata::Named(ResultMetadataId::default(), skip)
            }
            None if skip && !prepared.changed => {
                ClientMetadata::These(Arc::clone(&statement.result))
            }
            None => ClientMetadata::None,
        };
        self.start(&prepared.statement, options, known, pending);
    }

    fn batch(&self, mut batch: Batch, user: Option<User>, mut pending: PendingRequest) {
        pending.runs("BATCH");
        let own = std::mem::take(&mut batch.options);
        let options = match self.options(own, user, &pending) {
            Ok(options) => options,
            Err(error) => return pending.refuse(&error),
        };
        let weight = self.face.weigh(Weight::of(batch.items.len(), pending.bytes));
        if !weight.is_for_pool() {
            return run_batch(&self.face, weight, batch, options, pending);
        }
        pending.charge(HEAVY_OVERHEAD_BYTES);
        pending.take_turn_of_pool();
        let (face, waits) = (Arc::clone(&self.face), pending.waits());
        let work = move |admitted: Result<(), _>| match admitted {
            Ok(()) => run_batch(&face, weight, batch, options, pending),
            Err(refused) => pending.refuse(&full(refused)),
        };
        self.face.pool.run(Some(self.client), weight, waits.before(work));
    }

    /// Runs a statement, here or where it holds nobody up.
    fn start(
        &self,
        statement: &Arc<PreparedStatement>,
        options: RequestOptions,
        known: ClientMetadata,
        mut pending: PendingRequest,
    ) {
        let face = Arc::clone(&self.face);
        pending.runs_statement(statement);
        pending.goes_on(options.paging.is_some());
        let weight = face.weigh(statement.weight);
        match weight {
            Weight::Light => face.executor.execute(statement, options, pending.answer(known)),
            Weight::Page if self.crowd => {
                pending.charge(HEAVY_OVERHEAD_BYTES);
                pending.take_turn(&self.shared);
                let statement = Arc::clone(statement);
                let work = move || begin(&face, &statement, options, known, pending);
                self.face.pool.share(Some(self.client), Box::new(work));
            }
            Weight::Page => begin(&face, statement, options, known, pending),
            Weight::Heavy | Weight::Waiting | Weight::Login => {
                run_long(&face, (statement, weight), options, known, pending);
            }
        }
    }

    fn options(
        &self,
        options: QueryParameters,
        user: Option<User>,
        pending: &PendingRequest,
    ) -> Result<RequestOptions, CqlError> {
        if options.timestamp == Some(i64::MIN) {
            return Err(CqlError::protocol(format!(
                "Out of bound timestamp, must be in [{}, {}] (got {})",
                i64::MIN + 1,
                i64::MAX,
                i64::MIN
            )));
        }
        if options.consistency == Consistency::NodeLocal {
            return Err(CqlError::invalid(
                "NODE_LOCAL consistency level is highly dangerous and should be used only for debugging purposes",
            ));
        }
        if options.page_size == Some(0) {
            return Err(CqlError::protocol("The page size cannot be 0"));
        }
        Ok(RequestOptions {
            keyspace: options.keyspace.map(Arc::from).or_else(|| self.send_queue.keyspace()),
            user,
            consistency: options.consistency,
            serial_consistency: options.serial_consistency,
            values: options.values,
            // Less than zero is how drivers say "all".
            page_size: options
                .page_size
                .and_then(|size| u32::try_from(size).ok())
                .filter(|s| *s > 0),
            paging: options.paging_state.map(paging_state::decode).transpose()?,
            timestamp: options.timestamp,
            now_in_seconds: options.now_in_seconds,
            masks: false,
            is_inline: false,
            trace: pending.traced.as_ref().map(|traced| traced.log.clone()),
            reads: pending.watched.as_ref().map(|watched| watched.reads.clone()),
            page_bytes_max: self.is_trusted.then_some(TRUSTED_PAGE_BYTES),
            client: Some(self.budget.clone()),
            held_bytes: pending.bytes,
            spools: self.face.spools.clone(),
            has_gone: Arc::clone(&self.has_gone),
        })
    }

    fn traced(&self, request: &Request) -> Option<OpenTrace> {
        let (request, text, options) = match request {
            Request::Query(query) => {
                ("Execute CQL3 query", Some(&query.text), Some(&query.options))
            }
            Request::Prepare(prepare) => ("Preparing CQL3 query", Some(&prepare.text), None),
            Request::Execute(execute) => {
                ("Execute CQL3 prepared query", None, Some(&execute.options))
            }
            Request::Batch(batch) => ("Execute batch of CQL3 queries", None, Some(&batch.options)),
            Request::Startup(_)
            | Request::Options
            | Request::AuthResponse(_)
            | Request::Register(_) => return None,
        };
        let text = text.map(|text| without_password(text.clone()));
        let log = TraceRecorder::new(&self.face.environment);
        if let Some(text) = &text {
            log.record(format!("Parsing {text}"));
        }
        let parameters = tracing::parameters(text, options);
        Some(OpenTrace { client: self.client.ip(), request, parameters, log })
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

/// Cuts a statement before a password in it: traces and lists of statements can be read by others.
pub(crate) fn without_password(mut text: String) -> String {
    if let Some(at) = text.to_ascii_lowercase().find("password") {
        text.truncate(at);
        text.push_str("password *******");
    }
    text
}
