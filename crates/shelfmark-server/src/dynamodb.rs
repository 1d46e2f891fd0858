//! The DynamoDB face over HTTP/1.1 and HTTP/2: one task per connection, requests executed where they are
//! read, unless the face finds them heavy; those of HTTP/2 in a task of their own.
//!
//! Here live the rules of the transport: methods, health, CORS, sizes, compression, times. What a
//! body means is the face's alone.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body as _, Incoming};
use hyper::header::{self, Entry, HeaderMap, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::server::conn::{http1, http2};
use hyper::service::{HttpService, service_fn};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use shelfmark_admin::Watch;
use shelfmark_dynamo::auth::{Policy, SignedRequest};
use shelfmark_dynamo::{Face, OPERATIONS, Reply, RequestHead, credential_of};
use shelfmark_engine::budget::{Budget, Client, NoRoom, Room, Share};
use shelfmark_engine::weight::{INLINE_SIZE_BYTES_MAX, Weight};
use shelfmark_engine::{AccessReport, Environment};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{oneshot, watch};

use crate::accept::{asked_to_stop, may_lead};
use crate::coding::{Coding, accepted};
use crate::connection_slots::{ConnectionSlot, ConnectionSlots, Port};
use crate::console::{self, EndedOperation};
use crate::gzip::{GzipError, compress, is_packed, unpack};
use crate::in_flight::InFlight;
use crate::limits::{
    BODY_COUNTED_SIZE_BYTES, BODY_PART_SIZE_BYTES, BODY_SIZE_BYTES_MAX, BODY_TIMES,
    COMPRESSED_SIZE_BYTES_MIN, GZIP_GROWTH_MAX, HEAD_SIZE_BYTES_MAX, HTTP2_CONNECTION_SIZE_BYTES,
    HTTP2_CONNECTION_WINDOW_BYTES, HTTP2_HEAD_SIZE_BYTES_MAX, HTTP2_STREAM_WINDOW_BYTES,
    HTTP2_STREAMS_MAX, LINGER_SIZE_BYTES_MAX, LINGER_TIME_MAX, READ_SIZE_BYTES, TURN_REQUESTS_MAX,
    Times,
};
use crate::memory_wait;
use crate::opening::Opened;
use crate::pages::Pages;
use crate::stalled::Stalled;
use crate::throttled_log::ThrottledLog;
use crate::tls::{HTTP2, Tls};

type Answer = Response<Full<Bytes>>;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-amzn-requestid");
const CRC32: HeaderName = HeaderName::from_static("x-amz-crc32");
const TARGET: HeaderName = HeaderName::from_static("x-amz-target");

/// The state that all connections share.
pub(crate) struct Shared {
    face: Arc<Face>,
    tls: Option<Tls>,
    times: Times,
    budget: Arc<Budget>,
    throttled_log: ThrottledLog,
    pages: Pages,
    /// True if the threads that serve connections may be held up for a sync.
    may_lead: bool,
    /// The notes for whoever watches the server, and the clock for them.
    watch: Option<(Watch, Environment)>,
}

impl Shared {
    pub(crate) fn new(
        face: Arc<Face>,
        tls: Option<Tls>,
        times: Times,
        budget: Arc<Budget>,
        pages: Pages,
        watch: Option<(Watch, Environment)>,
    ) -> Arc<Self> {
        let throttled_log = ThrottledLog::default();
        let may_lead = may_lead();
        Arc::new(Self { face, tls, times, budget, throttled_log, pages, may_lead, watch })
    }
}

/// The state that the requests of a connection share.
struct Caller {
    shared: Arc<Shared>,
    times: Times,
    client: Client,
    /// The client's end of the connection.
    address: SocketAddr,
    slot: Arc<ConnectionSlot>,
    /// True once a head was read that has both Content-Length and Transfer-Encoding.
    is_ambiguous: Arc<AtomicBool>,
    /// True if the port is on loopback.
    on_loopback: bool,
    in_flight: Arc<InFlight>,
}

/// Accepts connections until `stopped`, then waits for the open ones.
pub(crate) async fn accept(
    listener: TcpListener,
    shared: Arc<Shared>,
    slots: ConnectionSlots,
    stopped: watch::Receiver<bool>,
) {
    let until = stopped.clone();
    let on_loopback = listener.local_addr().is_ok_and(|address| address.ip().is_loopback());
    let budget = Arc::clone(&shared.budget);
    let is_known = !shared.face.asks_for_credentials();
    let account = move |address| budget.client(address, is_known);
    let all = slots.clone();
    crate::accept::accept(listener, &slots, Port::Dynamodb, until, account, {
        move |stream, address, client, slot| {
            let is_crowded = all.is_crowded(Port::Dynamodb);
            let times = if is_crowded { shared.times.in_a_crowd() } else { shared.times };
            let caller = Caller {
                shared: Arc::clone(&shared),
                times,
                client,
                address,
                in_flight: InFlight::new(Arc::clone(&slot)),
                slot,
                is_ambiguous: Arc::default(),
                on_loopback,
            };
            serve(stream, caller, stopped.clone())
        }
    })
    .await;
}

async fn serve(stream: TcpStream, caller: Caller, stopped: watch::Receiver<bool>) {
    let Some(tls) = caller.shared.tls.clone() else { return open(stream, caller, stopped).await };
    match tokio::time::timeout(caller.times.head_max, tls.http_acceptor().accept(stream)).await {
        Ok(Ok(stream)) => match stream.get_ref().1.alpn_protocol() {
            Some(HTTP2) => http2(stream, caller, stopped).await,
            _ => http1(stream, caller, stopped).await,
        },
        Ok(Err(error)) => tracing::debug!(%error, "TLS was not agreed on"),
        Err(_) => tracing::debug!("TLS was not agreed on in time"),
    }
}

/// Serves a connection in the protocol that its first bytes tell.
async fn open(stream: TcpStream, caller: Caller, mut stopped: watch::Receiver<bool>) {
    let opened = tokio::select! {
        opened = tokio::time::timeout(caller.times.head_max, Opened::read(stream)) => opened,
        () = asked_to_stop(&mut stopped) => return,
        () = caller.slot.is_wanted() => return,
    };
    match opened {
        Ok(Ok((stream, true))) => http2(stream, caller, stopped).await,
        Ok(Ok((stream, false))) => http1(stream, caller, stopped).await,
        Ok(Err(error)) => tracing::debug!(%error, "a connection ended early"),
        Err(_) => tracing::debug!("a connection said nothing in time"),
    }
}

async fn http1(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send,
    caller: Caller,
    stopped: watch::Receiver<bool>,
) {
    let mut stream = Stalled::new(stream, caller.times.stall_max);
    let caller = Arc::new(Caller { is_ambiguous: stream.heads().found(), ..caller });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(caller.times.head_max)
        .max_buf_size(HEAD_SIZE_BYTES_MAX)
        // Not `pipeline_flush`: what cannot be parsed stays in the buffer, and with it the refusal.
        .serve_connection(TokioIo::new(&mut stream), answering(&caller));
    let end = std::future::pending();
    let may_send =
        run(connection, http1::Connection::graceful_shutdown, &caller, stopped, end).await;
    caller.shared.face.pool().forget(Some(caller.address));
    if may_send {
        linger(&mut stream).await;
    }
}

async fn http2(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    caller: Caller,
    stopped: watch::Receiver<bool>,
) {
    let caller = Arc::new(caller);
    // What the client may send before anything of it is looked at.
    let mut share = caller.client.share();
    if !memory_wait::wait_for(&mut share, HTTP2_CONNECTION_SIZE_BYTES).await {
        tracing::debug!("no memory for a connection of HTTP/2");
        return;
    }
    let stream = Stalled::new(stream, caller.times.stall_max);
    let connection = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .max_concurrent_streams(HTTP2_STREAMS_MAX)
        .max_header_list_size(HTTP2_HEAD_SIZE_BYTES_MAX)
        .initial_stream_window_size(HTTP2_STREAM_WINDOW_BYTES)
        .initial_connection_window_size(HTTP2_CONNECTION_WINDOW_BYTES)
        .serve_connection(TokioIo::new(stream), answering(&caller));
    let watched = Arc::clone(&caller);
    let end = async move {
        tokio::select! {
            () = is_silent(&watched) => true,
            () = watched.in_flight.is_abused() => false,
        }
    };
    run(connection, http2::Connection::graceful_shutdown, &caller, stopped, end).await;
    caller.shared.face.pool().forget(Some(caller.address));
}

/// Returns once no request came and none was in progress for as long as a client may be silent.
async fn is_silent(caller: &Caller) {
    let mut before = caller.in_flight.state().0;
    loop {
        tokio::time::sleep(caller.times.head_max).await;
        let (begun, is_busy) = caller.in_flight.state();
        if begun == before && !is_busy {
            return;
        }
        before = begun;
    }
}

/// Returns the service that answers the requests of a connection, one by one or several at once.
fn answering(
    caller: &Arc<Caller>,
) -> impl HttpService<
    Incoming,
    ResBody = Full<Bytes>,
    Error = Infallible,
    Future = impl Future<Output = Result<Answer, Infallible>> + Send + use<>,
> + use<> {
    let caller = Arc::clone(caller);
    service_fn(move |request| {
        let caller = Arc::clone(&caller);
        // In a box of its own: a connection that waits for its next request keeps none of it.
        Box::pin(async move {
            let running = caller.in_flight.begin();
            if running.number.is_multiple_of(TURN_REQUESTS_MAX) {
                tokio::task::yield_now().await;
            }
            let answer = answer(&caller, request).await;
            if answer.extensions().get::<GivenUp>().is_none() {
                running.answered();
            }
            Ok(answer)
        })
    })
}

/// Answers requests until there are none, and returns true if the client may still be sending. `end` tells
/// that the connection ends, in good order or at once.
async fn run<C: Future<Output = hyper::Result<()>>>(
    connection: C,
    shut_down: impl Fn(Pin<&mut C>),
    caller: &Caller,
    mut stopped: watch::Receiver<bool>,
    end: impl Future<Output = bool>,
) -> bool {
    let times = caller.times;
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => Some(ended),
        () = asked_to_stop(&mut stopped) => None,
        () = tokio::time::sleep(times.connection_max) => None,
        () = caller.slot.is_wanted() => {
            if !caller.slot.is_busy() {
                return false;
            }
            None
        }
        in_order = end => {
            if !in_order {
                tracing::debug!("a client gives up one request after the other");
                return false;
            }
            None
        }
    };
    match ended {
        Some(Ok(())) => true,
        Some(Err(error)) => {
            tracing::debug!(%error, "a connection ended early");
            !error.is_timeout()
        }
        // What is under way may end; who does not take his answer is cut off.
        None => {
            shut_down(connection.as_mut());
            if tokio::time::timeout(times.drain_max, connection).await.is_err() {
                tracing::debug!("a connection did not end in time");
            }
            false
        }
    }
}

/// Reads what the client is still sending, for a while: closing a socket with unread bytes could
/// discard the refusal before the client gets it.
async fn linger(stream: &mut (impl AsyncRead + AsyncWrite + Unpin)) {
    let drained = async {
        stream.shutdown().await.ok()?;
        let mut unread = vec![0; READ_SIZE_BYTES];
        let mut left = LINGER_SIZE_BYTES_MAX;
        while left > 0 {
            let count = stream.read(&mut unread).await.ok().filter(|count| *count > 0)?;
            left = left.saturating_sub(count);
        }
        Some(())
    };
    let _ = tokio::time::timeout(LINGER_TIME_MAX, drained).await;
}

async fn answer(caller: &Caller, request: Request<Incoming>) -> Answer {
    let face = &caller.shared.face;
    let (mut head, body) = request.into_parts();
    name_host(&mut head);
    let pages = &caller.shared.pages;
    // A signature says more than an origin does.
    let is_open = !face.asks_for_credentials();
    let refusal = if is_open { pages.refusal(&head.headers, caller.on_loopback) } else { None };
    let origin = head.headers.get(header::ORIGIN).filter(|_| refusal.is_none());
    let is_chunked = head.headers.contains_key(header::TRANSFER_ENCODING);
    let mut answer = match head.method {
        // Two that disagree on where a body ends could be made to take one request for two.
        _ if is_chunked && caller.is_ambiguous.load(Ordering::Relaxed) => plain(
            StatusCode::BAD_REQUEST,
            "a request has Content-Length or Transfer-Encoding, not both\n",
        ),
        _ if refusal.is_some() => plain(StatusCode::FORBIDDEN, refusal.unwrap_or_default()),
        Method::POST => operation(caller, &head, body).await,
        Method::GET | Method::HEAD => health(face, &head.headers, head.uri.path()),
        Method::OPTIONS if origin.is_some() => preflight(&head.headers),
        Method::OPTIONS => plain(StatusCode::OK, ""),
        _ => unknown(),
    };
    let headers = answer.headers_mut();
    if let Entry::Vacant(slot) = headers.entry(REQUEST_ID)
        && let Ok(id) = HeaderValue::from_str(&face.request_id())
    {
        slot.insert(id);
    }
    headers.insert(header::SERVER, HeaderValue::from_static("Shelfmark"));
    if is_chunked {
        // Nothing that follows is taken for a request, should somebody have seen another end.
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    if let Some(origin) = origin {
        let all = HeaderValue::from_static("*");
        let allowed = if is_open { pages.allowed(origin).unwrap_or(all) } else { all };
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, allowed);
        headers.append(header::VARY, HeaderValue::from_static("Origin"));
        headers.insert(
            header::ACCESS_CONTROL_EXPOSE_HEADERS,
            HeaderValue::from_static("x-amzn-RequestId, x-amz-crc32"),
        );
    }
    answer
}

/// Gives a request of HTTP/2 the header `Host`, which it has as a part of its address.
fn name_host(head: &mut Parts) {
    if let Some(authority) = head.uri.authority()
        && !head.headers.contains_key(header::HOST)
        && let Ok(host) = HeaderValue::from_str(authority.as_str())
    {
        head.headers.insert(header::HOST, host);
    }
}

fn plain(status: StatusCode, text: impl Into<Bytes>) -> Answer {
    let text = text.into();
    let sum = crc32(&text);
    with_sum(status, text, sum)
}

fn with_sum(status: StatusCode, body: Bytes, sum: u32) -> Answer {
    let mut answer = Response::new(Full::new(body));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CRC32, HeaderValue::from(sum));
    answer
}

/// Returns the service's answer to a request that names no operation.
fn unknown() -> Answer {
    plain(StatusCode::NOT_FOUND, "<UnknownOperationException/>\n")
}

fn health(face: &Face, headers: &HeaderMap, path: &str) -> Answer {
    if path != "/" && !path.starts_with("/shard") {
        return unknown();
    }
    if let Some(why) = face.trouble() {
        return plain(StatusCode::SERVICE_UNAVAILABLE, format!("unhealthy: {why}"));
    }
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("");
    plain(StatusCode::OK, format!("healthy: {host}"))
}

fn preflight(headers: &HeaderMap) -> Answer {
    let mut answer = plain(StatusCode::OK, "");
    let asked =
        |name, default| headers.get(name).cloned().unwrap_or(HeaderValue::from_static(default));
    let out = answer.headers_mut();
    // Whatever a page asks for is allowed, as the service does.
    let allowed = asked(header::ACCESS_CONTROL_REQUEST_HEADERS, "*");
    out.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, allowed);
    let allowed = asked(header::ACCESS_CONTROL_REQUEST_METHOD, "POST, GET, OPTIONS");
    out.insert(header::ACCESS_CONTROL_ALLOW_METHODS, allowed);
    out.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("172800"));
    answer
}

/// Marks the answer to a client that ended in the middle of its request.
#[derive(Clone)]
struct GivenUp;

/// The reason why a body was not read.
enum BodyFault {
    TooLarge,
    /// There is not enough memory for it.
    Busy,
    Broken(hyper::Error),
}

/// Reads a body as it arrives, within the connection's share of memory.
async fn collect(mut body: Incoming, share: &mut Share, most: usize) -> Result<Bytes, BodyFault> {
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(BodyFault::Broken)?.into_data() else { continue };
        let length = whole.len() + data.len();
        if length > BODY_SIZE_BYTES_MAX {
            return Err(BodyFault::TooLarge);
        }
        if whole.is_empty() && body.is_end_stream() {
            return Ok(data);
        }
        if length > whole.capacity() {
            let wanted = (2 * length).min(BODY_SIZE_BYTES_MAX);
            let wanted = wanted.min(most.saturating_sub(whole.capacity()));
            // No client ever gets more.
            if wanted < length {
                return Err(BodyFault::TooLarge);
            }
            // The old slot is given up once the new one is filled.
            if !memory_wait::wait_for(share, whole.capacity() + wanted).await {
                return Err(BodyFault::Busy);
            }
            whole.reserve(wanted - whole.len());
        }
        whole.extend_from_slice(&data);
    }
    Ok(whole.freeze())
}

/// Reads the body of an operation, authenticates its sender, and returns the policy of the key too.
async fn body_of(
    caller: &Caller,
    head: &Parts,
    body: Incoming,
    share: &mut Share,
    coding: Option<Coding>,
) -> Result<(Bytes, Option<Arc<Policy>>), Answer> {
    let face = &caller.shared.face;
    let mut policy = None;
    // Who announces too much need not send it first.
    if body.size_hint().lower() > BODY_SIZE_BYTES_MAX as u64 {
        return Err(encode(face.too_large(), None));
    }
    let kind = text_of(&head.headers, &header::CONTENT_TYPE);
    let is_empty = body.size_hint().upper() == Some(0);
    if !kind.map_or(is_empty, is_json) {
        return Err(unknown());
    }
    let asks = face.asks_for_credentials();
    // Of a request that names no operation the service does not look at the signature.
    let refused = |refusal: Box<Reply>| {
        let target = text_of(&head.headers, &TARGET);
        let unknown = face.unknown_operation(&RequestHead { target, ..RequestHead::default() });
        encode(unknown.unwrap_or(*refusal), coding)
    };
    if asks && let Err(refusal) = face.admit_head(&signed(head, &[])) {
        return Err(refused(refusal));
    }
    let is_known = caller.client.is_known();
    let time = if is_known { caller.times.body_max } else { caller.times.unauthenticated_body_max };
    let body = match tokio::time::timeout(time, collect(body, share, caller.client.most())).await {
        Ok(Ok(body)) => body,
        Ok(Err(BodyFault::TooLarge)) => return Err(encode(face.too_large(), None)),
        Ok(Err(BodyFault::Busy)) => return Err(encode(face.busy(), None)),
        Ok(Err(BodyFault::Broken(error))) => {
            let text = format!("the body cannot be read: {error}\n");
            let mut answer = plain(StatusCode::BAD_REQUEST, text);
            answer.extensions_mut().insert(GivenUp);
            return Err(answer);
        }
        Err(_) => {
            let text = "the body did not come in time\n";
            return Err(plain(StatusCode::REQUEST_TIMEOUT, text));
        }
    };
    // The signature is over the bytes as they were sent.
    if asks {
        let admitted = if body.len() <= INLINE_SIZE_BYTES_MAX {
            face.admit(&signed(head, &body))
        } else {
            let (checks, head, body) = (Arc::clone(face), head.clone(), body.clone());
            run_at_pool(caller, move || checks.admit(&signed(&head, &body))).await?
        };
        policy = admitted.map_err(refused)?;
        caller.client.admit();
    }
    Ok((body, policy))
}

/// Runs a long computation at the pool.
///
/// # Errors
///
/// * The client's answer, where the pool is full or the work panicked.
async fn run_at_pool<T: Send + 'static>(
    caller: &Caller,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Answer> {
    let face = &caller.shared.face;
    let (sender, receiver) = oneshot::channel();
    let work = move |admitted: Result<(), _>| {
        // A client that has gone away does not wait for it.
        let _ = sender.send(admitted.map(|()| work()));
    };
    face.pool().run(Some(caller.address), Weight::Heavy, Box::new(work));
    let done = receiver.await.map_err(|_| lost())?;
    done.map_err(|_| encode(face.full(), None))
}

/// Returns the answer in place of one that was lost.
fn lost() -> Answer {
    plain(StatusCode::INTERNAL_SERVER_ERROR, "")
}

/// Decompresses a body if it is compressed, once there is memory for all that it could hold.
async fn unpacked(
    caller: &Caller,
    packing: Option<&str>,
    body: Bytes,
    share: &mut Share,
) -> Result<Bytes, Answer> {
    let face = &caller.shared.face;
    let unpacked = if is_packed(packing) {
        let most = body.len().saturating_mul(GZIP_GROWTH_MAX).min(BODY_SIZE_BYTES_MAX);
        // While it grows there are the old slot and the new one, of twice the size.
        let held = (body.len() + 3 * most).min(caller.client.most());
        if !memory_wait::wait_for(share, held).await {
            return Err(encode(face.busy(), None));
        }
        let packing = packing.map(str::to_owned);
        run_at_pool(caller, move || unpack(packing.as_deref(), body)).await?
    } else {
        unpack(packing, body)
    };
    unpacked.map_err(|error| match error {
        GzipError::TooLarge => encode(face.too_large(), None),
        // The service takes a body that it cannot unpack for a fault of its own.
        GzipError::Damaged => {
            plain(StatusCode::INTERNAL_SERVER_ERROR, "the body is not what its coding says\n")
        }
    })
}

/// The parts of a request that are kept until it ended, where somebody watches.
#[derive(Default)]
struct Seen {
    report: AccessReport,
    queued: Duration,
    asked: Bytes,
    refused: Option<Bytes>,
}

/// Answers an operation in the content type that it was asked in.
async fn operation(caller: &Caller, head: &Parts, body: Incoming) -> Answer {
    let begun = tokio::time::Instant::now();
    let mut seen = Seen::default();
    let mut answer = answer_to(caller, head, body, &mut seen).await;
    let named = text_of(&head.headers, &TARGET);
    let name = named.and_then(|named| named.rsplit('.').next()).unwrap_or_default();
    let known = OPERATIONS.into_iter().find(|own| *own == name).unwrap_or("other");
    console::ended(
        caller.shared.watch.as_ref(),
        &EndedOperation {
            operation: known,
            status: answer.status().as_u16(),
            took: begun.elapsed(),
            queued: seen.queued,
            report: &seen.report,
            asked: &seen.asked,
            refused: seen.refused.as_deref(),
        },
    );
    let is_plain = text_of(&head.headers, &header::CONTENT_TYPE)
        .is_none_or(|kind| kind_of(kind) == Some(PLAIN_JSON));
    if let Some(own) = answer.headers_mut().get_mut(header::CONTENT_TYPE).filter(|_| is_plain) {
        *own = HeaderValue::from_static(PLAIN_JSON);
    }
    answer
}

async fn answer_to(caller: &Caller, head: &Parts, body: Incoming, seen: &mut Seen) -> Answer {
    let face = &caller.shared.face;
    let headers = &head.headers;
    let text = |name: &HeaderName| text_of(headers, name);
    let coding = text(&header::ACCEPT_ENCODING).and_then(accepted);
    let mut share = caller.client.share();
    let (body, policy) = match body_of(caller, head, body, &mut share, coding).await {
        Ok(found) => found,
        Err(refusal) => return refusal,
    };
    let body = match unpacked(caller, text(&header::CONTENT_ENCODING), body, &mut share).await {
        Ok(body) => body,
        Err(refusal) => return refusal,
    };
    let most = caller.client.most();
    let parts = parts_of(&body).saturating_mul(BODY_PART_SIZE_BYTES);
    if parts > most {
        return encode(face.too_large(), coding);
    }
    let held = (body.len() * BODY_TIMES + parts).min(most);
    if !memory_wait::wait_for(&mut share, held).await {
        return encode(face.busy(), coding);
    }
    let room = Room::beside(&caller.client, share.taken());
    let credential = credential_of(text(&header::AUTHORIZATION), head.uri.query().unwrap_or(""));
    let names = RequestHead {
        target: text(&TARGET),
        host: text(&header::HOST),
        credential: credential.as_deref(),
        policy: policy.as_deref(),
        asker: Some(caller.address),
        room: Some(&room),
        ..RequestHead::default()
    };
    let is_watched = caller.shared.watch.is_some();
    if is_watched && body.len() <= INLINE_SIZE_BYTES_MAX {
        seen.asked = body.clone();
    }
    let Some(mut reply) = receive(caller, &names, body).await else { return lost() };
    drop(share);
    if is_watched {
        seen.report = std::mem::take(&mut reply.report);
        seen.queued = reply.queued;
        let is_refused = reply.status != StatusCode::OK.as_u16();
        seen.refused = is_refused.then(|| reply.body.clone());
    }
    if let Some(why) = &reply.log
        && reply.status >= StatusCode::INTERNAL_SERVER_ERROR.as_u16()
    {
        caller.shared.throttled_log.tell(why);
    }
    let (body, room) = (std::mem::take(&mut reply.body), reply.room.take());
    match memory_wait::held_within(&caller.client, body, room).await {
        Ok(body) if coding.is_some() && body.len() > INLINE_SIZE_BYTES_MAX => {
            let packed = run_at_pool(caller, move || encode(Reply { body, ..reply }, coding)).await;
            packed.unwrap_or_else(|refusal| refusal)
        }
        Ok(body) => encode(Reply { body, ..reply }, coding),
        Err(NoRoom::Now) => encode(face.busy(), coding),
        Err(NoRoom::Ever) => encode(face.answer_too_large(), coding),
    }
}

/// Returns the text of a header, as [`HeaderValue::to_str`] does, without a look at each character.
fn text_of<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let value = headers.get(name)?.as_bytes();
    std::str::from_utf8(value).ok().filter(|text| text.is_ascii())
}

/// Returns the approximate number of values in a body, where it is long enough to matter: each has a name
/// before it or, in lists and sets, a comma.
fn parts_of(body: &[u8]) -> usize {
    if body.len() < BODY_COUNTED_SIZE_BYTES {
        return 0;
    }
    let (mut names, mut commas) = (0, 0);
    let (mut in_text, mut is_escaped) = (false, false);
    for byte in body {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = in_text,
            b'"' => in_text = !in_text,
            b':' if !in_text => names += 1,
            b',' if !in_text => commas += 1,
            _ => {}
        }
    }
    names.max(commas)
}

/// Returns the parts of a request that its signature covers.
fn signed<'a>(head: &'a Parts, body: &'a [u8]) -> SignedRequest<'a> {
    let headers = head.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
    SignedRequest {
        method: head.method.as_str(),
        path: head.uri.path(),
        query: head.uri.query().unwrap_or(""),
        headers: headers.collect(),
        body,
    }
}

/// Passes a request to the face. `None` if the answer was lost.
async fn receive(caller: &Caller, head: &RequestHead<'_>, body: Bytes) -> Option<Reply> {
    let (sender, mut receiver) = oneshot::channel();
    let answer = Box::new(move |reply| {
        // A client that has gone away does not wait for its answer.
        let _ = sender.send(reply);
    });
    let face = &caller.shared.face;
    face.dispatch(head, body, answer);
    // Who has its answer, such as a read, would write for somebody else.
    if let Ok(reply) = receiver.try_recv() {
        return Some(reply);
    }
    if caller.shared.may_lead {
        face.lead();
    }
    receiver.await.ok()
}

/// The content type of JSON as everybody has it, beside the service's own.
const PLAIN_JSON: &str = "application/json";

fn is_json(content_type: &str) -> bool {
    kind_of(content_type).is_some()
}

/// Returns the kind of JSON that a content type names.
fn kind_of(content_type: &str) -> Option<&'static str> {
    let kind = content_type.split(';').next().unwrap_or("").trim();
    let mut kinds = ["application/x-amz-json-1.0", PLAIN_JSON].into_iter();
    kinds.find(|own| kind == *own || kind.eq_ignore_ascii_case(own))
}

fn encode(reply: Reply, coding: Option<Coding>) -> Answer {
    let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let coding = coding.filter(|_| reply.body.len() >= COMPRESSED_SIZE_BYTES_MIN);
    let packed = coding.and_then(|coding| Some((compress(&reply.body, coding)?, coding)));
    let (body, sum, coding) = match packed {
        // The sum is over the bytes as they are sent.
        Some((packed, coding)) => {
            let sum = crc32(&packed);
            (packed, sum, Some(coding))
        }
        None => (reply.body, reply.crc32, None),
    };
    let mut answer = with_sum(status, body, sum);
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(reply.content_type));
    if let Ok(id) = HeaderValue::from_str(&reply.request_id) {
        headers.insert(REQUEST_ID, id);
    }
    if let Some(coding) = coding {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
    }
    answer
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}
