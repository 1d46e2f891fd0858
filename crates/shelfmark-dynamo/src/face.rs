//! The face: from a request's head and body to an answer.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use bytes::Bytes;
use shelfmark_engine::budget::{NoRoom, Room};
use shelfmark_engine::weight::{Allowance, Asker, Inline, Pool, Weight};
use shelfmark_engine::{Engine, Environment, Owner};

use crate::auth::{Access, Credentials, CurrentCredentials, Policy, Refusal, SignedRequest};
use crate::errors::{Error, Exception, texts};
use crate::limits::REQUEST_SIZE_BYTES_MAX;
use crate::operations;
use crate::options::FaceOptions;
use crate::reply::{Answer, Answered, Reply, RequestIds};
use crate::scope::{NAMESPACE, ScopedEngine, ScopedFaces};
use crate::sizes::KnownSizes;
use crate::transfers::{Buckets, Transfers, waiting};

/// The headers of a request that the face needs.
#[derive(Debug, Clone, Copy, Default)]
pub struct RequestHead<'a> {
    /// The header `X-Amz-Target`, such as `DynamoDB_20120810.GetItem`.
    pub target: Option<&'a str>,
    /// The operation, when it is known without a header; takes the place of `target`.
    pub operation: Option<&'a str>,
    /// The header `Host`: under which name the client reaches this server.
    pub host: Option<&'a str>,
    /// The credential of the signature ([`crate::credential_of`]), which names the region and the account.
    pub credential: Option<&'a str>,
    /// The policy of the key that signed the request, as [`Face::admit`] returned it; without one
    /// every operation is allowed.
    pub policy: Option<&'a Policy>,
    /// Whose turn at the pool it is.
    pub asker: Asker,
    /// The room for what is read and answered, if somebody counts; an answer carries it on.
    pub room: Option<&'a Arc<Room>>,
}

/// The prefix of the operation in `X-Amz-Target`.
const TARGET_PREFIX: &str = "DynamoDB_20120810.";
/// The prefix of an operation on streams.
const STREAMS_TARGET_PREFIX: &str = "DynamoDBStreams_20120810.";

impl<'a> RequestHead<'a> {
    /// Creates the head of a request with this `X-Amz-Target`.
    #[must_use]
    pub const fn target(target: &'a str) -> Self {
        Self { target: Some(target), ..Self::empty() }
    }

    /// Creates the head of a request for this operation.
    #[must_use]
    pub const fn operation(operation: &'a str) -> Self {
        Self { operation: Some(operation), ..Self::empty() }
    }

    const fn empty() -> Self {
        Self {
            target: None,
            operation: None,
            host: None,
            credential: None,
            policy: None,
            asker: None,
            room: None,
        }
    }

    /// Returns true if the key that signed the request may do anything with a table of this name.
    pub(crate) fn sees(&self, table: &str) -> bool {
        let may = |access| self.policy.is_none_or(|own| own.allows(access, table));
        Access::ALL.into_iter().any(may)
    }

    fn name(&self) -> Option<&'a str> {
        self.operation.or_else(|| {
            let target = self.target?;
            let own = target.strip_prefix(TARGET_PREFIX);
            match target.strip_prefix(STREAMS_TARGET_PREFIX) {
                Some(name) => Some(name).filter(|name| operations::is_of_streams(name)),
                None => own.filter(|name| !operations::is_of_streams(name)),
            }
        })
    }
}

/// The DynamoDB API over one engine. Shared by all connections.
///
/// Operations run on the face of their scope, which differs from the server's own in its tables and in
/// what its ARNs say.
pub struct Face {
    pub(crate) engine: ScopedEngine,
    pub(crate) environment: Environment,
    pub(crate) options: Arc<FaceOptions>,
    /// The sizes of tables that were counted.
    pub(crate) sizes: Arc<KnownSizes>,
    pub(crate) pool: Arc<dyn Pool>,
    /// The work on exports and imports, where the server has buckets.
    pub(crate) transfers: Option<Arc<Transfers>>,
    reads_may_wait: bool,
    ids: Arc<RequestIds>,
    credentials: Option<Arc<CurrentCredentials>>,
    /// The faces of the scopes that requests were signed for.
    pub(crate) scoped: ScopedFaces,
}

impl Face {
    /// Creates the face. Its tables are the engine's namespace `dynamodb`.
    #[must_use]
    pub fn new(engine: Engine, environment: Environment, mut options: FaceOptions) -> Self {
        let credentials = options.credentials.take();
        let ids = Arc::new(RequestIds::new(environment.random.number()));
        let engine = engine.of_owner(Owner::DynamoDb).sharing(options.share);
        let reads_may_wait = engine.store().caps().reads_may_wait;
        let engine = ScopedEngine::new(engine, NAMESPACE, None);
        Self {
            engine,
            environment,
            options: Arc::new(options),
            sizes: Arc::default(),
            pool: Arc::new(Inline),
            transfers: None,
            reads_may_wait,
            ids,
            credentials: credentials.map(|own| Arc::new(CurrentCredentials::new(own))),
            scoped: ScopedFaces::default(),
        }
    }

    /// Returns a face of other tables and other ARNs, which shares everything else with this one.
    pub(crate) fn with_scope(&self, engine: ScopedEngine, options: FaceOptions) -> Self {
        Self {
            engine,
            environment: self.environment.clone(),
            options: Arc::new(options),
            sizes: Arc::clone(&self.sizes),
            pool: Arc::clone(&self.pool),
            transfers: self.transfers.clone(),
            reads_may_wait: self.reads_may_wait,
            ids: Arc::clone(&self.ids),
            credentials: self.credentials.clone(),
            scoped: ScopedFaces::default(),
        }
    }

    /// Sets the pool for requests that are heavy or wait; without one every request runs on the
    /// calling thread.
    #[must_use]
    pub fn with_pool(self, pool: Arc<dyn Pool>) -> Self {
        Self { pool, ..self }
    }

    /// Sets the buckets for exports and imports; without them there are none. Those that were begun go on
    /// in the engine's background work.
    #[must_use]
    pub fn with_buckets(self, buckets: Arc<dyn Buckets>) -> Self {
        let transfers = Transfers::new((*self.engine).clone(), (*self.options).clone(), buckets);
        let transfers = Arc::new(transfers);
        // The engine outlives its faces, and must not keep itself.
        let own = Arc::downgrade(&transfers);
        self.engine.work_beside_backups(move |should_stop| {
            own.upgrade().map_or(Ok(0), |transfers| transfers.go_on(should_stop))
        });
        Self { transfers: Some(transfers), ..self }
    }

    /// Returns what waits for buckets, of which this server has none: exports and imports that were begun
    /// by one that had some. `None` also where servers share the store, and another one may go on.
    ///
    /// Cost: a read of the list of what is under way.
    ///
    /// # Errors
    ///
    /// * Those of the engine.
    pub fn waiting_for_buckets(&self) -> shelfmark_engine::Result<Option<String>> {
        if self.transfers.is_some() || self.engine.store().peers().is_some() {
            return Ok(None);
        }
        waiting(&self.engine)
    }

    /// Returns the pool for heavy requests, for a server to process their bytes there too.
    #[must_use]
    pub fn pool(&self) -> &Arc<dyn Pool> {
        &self.pool
    }

    /// Dispatches a request to the thread that its weight asks for. `answer` is called once: before
    /// this returns, or from another thread.
    pub fn dispatch(self: &Arc<Self>, head: &RequestHead<'_>, body: Bytes, answer: Answer) {
        let weight = self.weigh(head, body.len());
        if !weight.is_for_pool() || self.pool.is_inline() {
            return self.run(head, &body, Allowance::inline(), answer);
        }
        let face = Arc::clone(self);
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let (target, operation) = (owned(head.target), owned(head.operation));
        let (host, credential) = (owned(head.host), owned(head.credential));
        let (policy, asker, room) = (head.policy.cloned(), head.asker, head.room.cloned());
        let begun = self.environment.clock.monotonic();
        let work = move |admitted: Result<(), _>| {
            if admitted.is_err() {
                return answer(face.full());
            }
            let head = RequestHead {
                target: target.as_deref(),
                operation: operation.as_deref(),
                host: host.as_deref(),
                credential: credential.as_deref(),
                policy: policy.as_ref(),
                asker,
                room: room.as_ref(),
            };
            let queued = face.environment.clock.monotonic().saturating_sub(begun);
            let answer =
                move |reply: Reply| answer(Reply { queued: reply.queued + queued, ..reply });
            face.run(&head, &body, Allowance::whole(), Box::new(answer));
        };
        self.pool.run(asker, weight, Box::new(work));
    }

    /// Returns the weight of a request with a body of so many bytes.
    ///
    /// Changes of tables wait for other writers, and for an index that is built.
    #[must_use]
    pub fn weigh(&self, head: &RequestHead<'_>, bytes: usize) -> Weight {
        let of_operation = head.name().map_or(Weight::Light, operations::weight);
        of_operation.max(Weight::of(1, bytes)).over(self.reads_may_wait)
    }

    /// Answers a request on this thread, except that reads of pages may go on at the pool, if there
    /// is one. `answer` is called once: before this returns, or, for operations that write items,
    /// from another thread as soon as the write is durable.
    pub fn handle(&self, head: &RequestHead<'_>, body: &[u8], answer: Answer) {
        self.run(head, body, Allowance::inline(), answer);
    }

    fn run(&self, head: &RequestHead<'_>, body: &[u8], allowance: Allowance, answer: Answer) {
        let allowance = if self.pool.is_inline() { Allowance::whole() } else { allowance };
        let request_id = self.ids.next();
        let room = head.room.cloned();
        let done = Done { request_id, asker: head.asker, room, answer, queued: Duration::ZERO };
        let Some(operation) = head.name() else {
            return done.answer(Err(unknown_operation()));
        };
        if body.len() > REQUEST_SIZE_BYTES_MAX {
            let error = Error::new(Exception::RequestTooLarge, texts::REQUEST_TOO_LARGE);
            return done.answer(Err(error));
        }
        match self.of_scope(head, operation) {
            Ok(Some(face)) => operations::run(&face, head, operation, (body, allowance), done),
            Ok(None) => operations::run(self, head, operation, (body, allowance), done),
            Err(error) => done.answer(Err(error)),
        }
    }

    /// Answers a request and waits for the answer. For tests and tools; a server that waits here
    /// keeps a thread per write.
    #[must_use]
    pub fn call(&self, head: &RequestHead<'_>, body: &[u8]) -> Reply {
        let (sender, receiver) = mpsc::sync_channel(1);
        let answer = move |reply| {
            // The receiver waits below as long as this closure is not called.
            let _ = sender.send(reply);
        };
        self.handle(head, body, Box::new(answer));
        self.lead();
        receiver.recv().unwrap_or_else(|_| {
            let error = Error { log: Some("an answer was lost".to_owned()), ..internal() };
            Reply::new(self.ids.next(), Err(error))
        })
    }

    /// Makes a write that this thread just passed on durable here, where that is quicker than to wait for
    /// another thread. For who was not answered yet, and may be held up for a sync.
    pub fn lead(&self) {
        self.engine.store().lead();
    }

    /// Returns the answer to a request whose body is longer than
    /// [`crate::limits::REQUEST_SIZE_BYTES_MAX`], for a server that stops reading there.
    #[must_use]
    pub fn too_large(&self) -> Reply {
        let error = Error::new(Exception::RequestTooLarge, texts::REQUEST_TOO_LARGE);
        Reply::new(self.ids.next(), Err(error))
    }

    /// Returns the answer to a request whose answer no client ever gets the memory for. Nobody retries on it.
    #[must_use]
    pub fn answer_too_large(&self) -> Reply {
        let error = shelfmark_engine::Error::no_room(NoRoom::Ever);
        Reply::new(self.ids.next(), Err(error.into()))
    }

    /// Returns the answer to a request that there is no memory for at the moment, for a server that
    /// counts it. The SDKs retry on it.
    #[must_use]
    pub fn busy(&self) -> Reply {
        let error = Error::new(Exception::ServiceUnavailable, texts::UNAVAILABLE);
        Reply::new(self.ids.next(), Err(error))
    }

    /// Returns the answer to a request that the pool refused because its queue is full. The SDKs
    /// wait and retry on it.
    #[must_use]
    pub fn full(&self) -> Reply {
        Reply::new(self.ids.next(), Err(full()))
    }

    /// Returns a request id for an answer that the server makes itself.
    #[must_use]
    pub fn request_id(&self) -> String {
        self.ids.next()
    }

    /// Returns why the store refuses writes now, if it does: for a health check.
    #[must_use]
    pub fn trouble(&self) -> Option<String> {
        self.engine.store().refusal().map(|refusal| refusal.to_string())
    }

    /// Returns true if requests must be signed: a server then calls [`Face::admit`] first.
    #[must_use]
    pub fn asks_for_credentials(&self) -> bool {
        self.credentials.is_some()
    }

    /// Exchanges the credentials for requests from now on; nothing where none are asked for.
    pub fn replace_credentials(&self, credentials: Credentials) {
        if let Some(current) = &self.credentials {
            current.replace(credentials);
        }
    }

    /// Verifies a request's signature, if credentials are set, and returns what its key may do: that
    /// goes into the [`RequestHead`].
    ///
    /// # Errors
    ///
    /// * The answer that the client gets. Nothing of the request may be done.
    pub fn admit(&self, request: &SignedRequest<'_>) -> Result<Option<Arc<Policy>>, Box<Reply>> {
        let Some(credentials) = &self.credentials else { return Ok(None) };
        let credentials = credentials.now();
        let checked = credentials.check(request, self.now_ms());
        let key_id = checked.map_err(|refusal| self.refused(refusal))?;
        Ok(credentials.policy(&key_id).map(Arc::clone))
    }

    /// Returns the answer to a request that names no operation, if this is one: the service looks at the
    /// operation before it looks at the signature.
    #[must_use]
    pub fn unknown_operation(&self, head: &RequestHead<'_>) -> Option<Reply> {
        let is_known = head.name().is_some_and(operations::is_known);
        (!is_known).then(|| Reply::new(self.ids.next(), Err(unknown_operation())))
    }

    /// Reports a refused signature to the listener, and returns the answer to it.
    fn refused(&self, Refusal { exception, message }: Refusal) -> Box<Reply> {
        if let Some(listener) = &self.options.refusals {
            let text = message.lines().next().unwrap_or_default();
            listener(&format!("{exception:?}: {text}"));
        }
        Box::new(Reply::new(self.ids.next(), Err(Error::new(exception, message))))
    }

    /// Checks the signature headers of a request before its body is read, if credentials are set.
    /// The body of `request` is not looked at.
    ///
    /// # Errors
    ///
    /// * The answer that the client gets, as [`Face::admit`] would give it with the body.
    pub fn admit_head(&self, request: &SignedRequest<'_>) -> Result<(), Box<Reply>> {
        let Some(credentials) = &self.credentials else { return Ok(()) };
        let checked = credentials.now().check_head(request, self.now_ms());
        checked.map_err(|refusal| self.refused(refusal))
    }

    /// Returns milliseconds since the Unix epoch.
    pub(crate) fn now_ms(&self) -> i64 {
        i64::try_from(self.environment.clock.now_millis()).unwrap_or(i64::MAX)
    }
}

/// Returns the error of a request that names no operation.
fn unknown_operation() -> Error {
    Error::new(Exception::UnknownOperation, texts::UNKNOWN_OPERATION)
}

fn internal() -> Error {
    Error::new(Exception::InternalServerError, texts::INTERNAL)
}

/// Returns the error of a request that the pool refused.
pub(crate) fn full() -> Error {
    Error {
        log: Some("as many requests wait for a thread as may".to_owned()),
        ..Error::new(Exception::ProvisionedThroughputExceeded, texts::BUSY)
    }
}

/// A read in progress, with the state that it needs to continue.
pub(crate) trait Reading: Send + 'static {
    /// Continues within `allowance`; returns `None` if that is used up before the end.
    ///
    /// # Errors
    ///
    /// * Those of the operation.
    fn go_on(&mut self, allowance: Allowance) -> crate::errors::Result<Option<Answered>>;
}

/// Reads within `allowance` on this thread, and continues at the pool.
pub(crate) fn read(face: &Face, mut reading: impl Reading, allowance: Allowance, done: Done) {
    match reading.go_on(allowance).transpose() {
        Some(outcome) => done.answer(outcome),
        None => {
            let asker = done.asker;
            let clock = Arc::clone(&face.environment.clock);
            let begun = clock.monotonic();
            let work = move |admitted: Result<(), _>| {
                let done = done.waited(clock.monotonic().saturating_sub(begun));
                if admitted.is_err() {
                    return done.answer(Err(full()));
                }
                let rest = reading.go_on(Allowance::whole()).transpose();
                done.answer(rest.unwrap_or_else(|| Err(internal())));
            };
            face.pool.run(asker, Weight::Heavy, Box::new(work));
        }
    }
}

/// The callback of a request in progress.
pub(crate) struct Done {
    request_id: String,
    asker: Asker,
    room: Option<Arc<Room>>,
    answer: Answer,
    /// The time that the request waited for a thread.
    queued: Duration,
}

impl Done {
    /// Returns whose turn at the pool it is.
    pub(crate) fn asker(&self) -> Asker {
        self.asker
    }

    /// Returns the room for what is read and answered, if somebody counts.
    pub(crate) fn room(&self) -> Option<&Arc<Room>> {
        self.room.as_ref()
    }

    /// Returns an engine whose calls draw from the room of the request.
    pub(crate) fn engine(&self, face: &Face) -> Engine {
        match &self.room {
            Some(room) => face.engine.within(Arc::clone(room)),
            None => (*face.engine).clone(),
        }
    }

    /// Adds a time that the request waited for a thread.
    pub(crate) fn waited(self, time: Duration) -> Self {
        Self { queued: self.queued + time, ..self }
    }

    /// Sends the answer.
    pub(crate) fn answer(self, outcome: Result<Answered, Error>) {
        let reply = Reply::new(self.request_id, outcome);
        (self.answer)(Reply { queued: self.queued, room: self.room, ..reply });
    }
}
