//! The face: from a request's head and body to an answer.

use std::sync::{Arc, mpsc};

use shelfmark_engine::{Engine, Environment, Owner, Share};

use crate::auth::{Credentials, Policy, Refusal, SignedRequest};
use crate::errors::{Error, Exception, texts};
use crate::limits::REQUEST_SIZE_BYTES_MAX;
use crate::operations;
use crate::reply::{Answer, Answered, Reply, RequestIds};

/// Told of refused signatures, for a log: the answer's words, which show no secret. It must not block.
pub type RefusalListener = Arc<dyn Fn(&str) + Send + Sync>;

/// Who the server says it is. Shows in ARNs and nowhere else.
#[derive(Clone)]
pub struct FaceOptions {
    /// The region, such as `eu-central-1`.
    pub region: String,
    /// The account, twelve digits.
    pub account: String,
    /// What DescribeEndpoints answers to a request that names no host of its own.
    pub endpoint: String,
    /// Who is let in; without it, everybody.
    pub credentials: Option<Credentials>,
    /// Told of every request whose signature is refused.
    pub refusals: Option<RefusalListener>,
    /// What tables of other faces grant, unless they say otherwise themselves.
    pub share: Share,
}

impl Default for FaceOptions {
    fn default() -> Self {
        Self {
            region: "local".to_owned(),
            account: "000000000000".to_owned(),
            endpoint: "localhost:8000".to_owned(),
            credentials: None,
            refusals: None,
            share: Share::default(),
        }
    }
}

/// What of a request's headers the face needs.
#[derive(Debug, Clone, Copy, Default)]
pub struct RequestHead<'a> {
    /// The header `X-Amz-Target`, such as `DynamoDB_20120810.GetItem`.
    pub target: Option<&'a str>,
    /// The operation, when it is known without a header; takes the place of `target`.
    pub operation: Option<&'a str>,
    /// The header `Host`: under which name the client reaches this server.
    pub host: Option<&'a str>,
    /// What the key may do that the request was signed with, as [`Face::admit`] returned it; without
    /// one it may do everything.
    pub policy: Option<&'a Policy>,
}

/// What stands before the operation in `X-Amz-Target`.
const TARGET_PREFIX: &str = "DynamoDB_20120810.";

impl<'a> RequestHead<'a> {
    /// Creates the head of a request with this `X-Amz-Target`.
    #[must_use]
    pub const fn target(target: &'a str) -> Self {
        Self { target: Some(target), operation: None, host: None, policy: None }
    }

    /// Creates the head of a request for this operation.
    #[must_use]
    pub const fn operation(operation: &'a str) -> Self {
        Self { target: None, operation: Some(operation), host: None, policy: None }
    }

    fn name(&self) -> Option<&'a str> {
        self.operation.or_else(|| self.target?.strip_prefix(TARGET_PREFIX))
    }
}

/// The DynamoDB API over one engine. Shared by all connections.
pub struct Face {
    pub(crate) engine: Engine,
    pub(crate) environment: Environment,
    pub(crate) options: FaceOptions,
    ids: RequestIds,
}

impl Face {
    /// Creates the face. Its tables are the engine's namespace `dynamodb`.
    #[must_use]
    pub fn new(engine: Engine, environment: Environment, options: FaceOptions) -> Self {
        let ids = RequestIds::new(environment.random.number());
        let engine = engine.of_owner(Owner::DynamoDb).sharing(options.share);
        Self { engine, environment, options, ids }
    }

    /// Answers a request. `answer` is called once: before this returns, or, for operations that
    /// write items, from another thread as soon as the write is durable.
    ///
    /// Reads run on the calling thread. Operations on tables, and building an index above all, run
    /// there too and may take long; see [`Face::may_take_long`].
    pub fn handle(&self, head: &RequestHead<'_>, body: &[u8], answer: Answer) {
        let request_id = self.ids.next();
        let done = Done { request_id, answer };
        let Some(operation) = head.name() else {
            return done.answer(Err(Error::new(Exception::UnknownOperation, "")));
        };
        if body.len() > REQUEST_SIZE_BYTES_MAX {
            let error = Error::new(Exception::RequestTooLarge, texts::REQUEST_TOO_LARGE);
            return done.answer(Err(error));
        }
        operations::run(self, head, operation, body, done);
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
        receiver.recv().unwrap_or_else(|_| {
            let error = Error { log: Some("an answer was lost".to_owned()), ..internal() };
            Reply::new(self.ids.next(), Err(error))
        })
    }

    /// Returns the answer to a request whose body is longer than
    /// [`crate::limits::REQUEST_SIZE_BYTES_MAX`], for a server that stops reading there.
    #[must_use]
    pub fn too_large(&self) -> Reply {
        let error = Error::new(Exception::RequestTooLarge, texts::REQUEST_TOO_LARGE);
        Reply::new(self.ids.next(), Err(error))
    }

    /// Returns the answer to a request that there is no memory for at the moment, for a server that
    /// counts it. The SDKs retry on it.
    #[must_use]
    pub fn busy(&self) -> Reply {
        let error = Error::new(Exception::ServiceUnavailable, texts::UNAVAILABLE);
        Reply::new(self.ids.next(), Err(error))
    }

    /// Returns an id for an answer that does not come from here.
    #[must_use]
    pub fn request_id(&self) -> String {
        self.ids.next()
    }

    /// Returns why the store takes no writes now, if it does not: for a health check.
    #[must_use]
    pub fn trouble(&self) -> Option<String> {
        self.engine.store().refusal().map(|refusal| refusal.to_string())
    }

    /// Tells whether requests must be signed: a server then asks [`Face::admit`] first.
    #[must_use]
    pub fn asks_for_credentials(&self) -> bool {
        self.options.credentials.is_some()
    }

    /// Verifies a request's signature, if credentials are set, and returns what its key may do: that
    /// goes into the [`RequestHead`].
    ///
    /// # Errors
    ///
    /// * The answer that the client gets. Nothing of the request may be done.
    pub fn admit(&self, request: &SignedRequest<'_>) -> Result<Option<Arc<Policy>>, Box<Reply>> {
        let Some(credentials) = &self.options.credentials else { return Ok(None) };
        let checked = credentials.check(request, self.now_ms());
        let key_id = checked.map_err(|refusal| self.refused(refusal))?;
        Ok(credentials.policy(&key_id).map(Arc::clone))
    }

    /// Tells of a refused signature, and makes the answer of it.
    fn refused(&self, Refusal { exception, message }: Refusal) -> Box<Reply> {
        if let Some(listener) = &self.options.refusals {
            let text = message.lines().next().unwrap_or_default();
            listener(&format!("{exception:?}: {text}"));
        }
        Box::new(Reply::new(self.ids.next(), Err(Error::new(exception, message))))
    }

    /// Checks what the headers of a request say of its signature, if credentials are set, before
    /// its body is read. The body of `request` is not looked at.
    ///
    /// # Errors
    ///
    /// * The answer that the client gets, as [`Face::admit`] would give it with the body.
    pub fn admit_head(&self, request: &SignedRequest<'_>) -> Result<(), Box<Reply>> {
        let Some(credentials) = &self.options.credentials else { return Ok(()) };
        let checked = credentials.check_head(request, self.now_ms());
        checked.map_err(|refusal| self.refused(refusal))
    }

    /// Tells whether a request may keep its thread for long: it changes tables, which waits for
    /// other writers and may read a whole table to build an index, or it reads many items. Requests
    /// with long bodies may, too; that their sender sees.
    #[must_use]
    pub fn may_take_long(head: &RequestHead<'_>) -> bool {
        head.name().is_some_and(|operation| {
            operations::changes_tables(operation) || operations::reads_much(operation)
        })
    }

    /// Returns milliseconds since the Unix epoch.
    pub(crate) fn now_ms(&self) -> i64 {
        i64::try_from(self.environment.clock.now_millis()).unwrap_or(i64::MAX)
    }
}

fn internal() -> Error {
    Error::new(Exception::InternalServerError, texts::INTERNAL)
}

/// An answer on its way.
pub(crate) struct Done {
    request_id: String,
    answer: Answer,
}

impl Done {
    /// Sends the answer.
    pub(crate) fn answer(self, outcome: Result<Answered, Error>) {
        (self.answer)(Reply::new(self.request_id, outcome));
    }
}
