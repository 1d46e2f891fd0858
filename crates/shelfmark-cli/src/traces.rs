//! Spans of requests for a collector of OpenTelemetry: OTLP over HTTP.
//!
//! What it is not: a log. A span has of a request what the notes of slow ones have, and nothing of a
//! value; one that finds the queue full is dropped, and no request waits for any.
//!
//! Invariant: a collector that cannot be reached is told once, and again when it takes spans.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use anyhow::{Context as _, bail};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1;
use hyper::header::{HOST, HeaderValue};
use hyper::{Request, Response, Uri};
use hyper_util::rt::TokioIo;
use opentelemetry::trace::{Span as _, SpanBuilder, SpanKind, Status, TracerProvider as _};
use opentelemetry::{Array, Context, KeyValue, StringValue, Value};
use opentelemetry_http::{HttpClient, HttpError};
use opentelemetry_otlp::{Protocol, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, SdkTracer, SdkTracerProvider, SpanData, SpanExporter,
};
use shelfmark_admin::{Noted, RequestTracer};
use shelfmark_dynamo::CONDITION_FAILED;
use shelfmark_engine::AccessReport;
use tokio::net::TcpStream;
use tokio::runtime::Handle;

/// The path of spans at a collector. Source: OTLP specification 1.9, "OTLP/HTTP request".
const PATH: &str = "/v1/traces";
/// Time that a collector has for a batch of spans. Source: ours.
const SEND_TIME_MAX: Duration = Duration::from_secs(5);
/// Time between two batches, if none is full before. Source: ours; a fifth of the SDK's.
const SEND_PERIOD: Duration = Duration::from_secs(1);
/// Spans that wait at most; more are dropped. Source: the SDK's usual number.
const QUEUED_MAX: usize = 2_048;
/// Longest answer of a collector that is read.
const ANSWER_BYTES_MAX: usize = 64 * 1024;
/// Key ranges of a span, and bytes of each of their ends.
const RANGES_MAX: usize = 16;
const KEY_BYTES_MAX: usize = 64;

/// Holds where spans go, and of which requests they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TraceSettings {
    endpoint: String,
    /// One request of so many is traced.
    one_in: u64,
}

impl TraceSettings {
    /// Reads the settings: a URL, to which the path of spans is added where it has none.
    pub(crate) fn of(url: &str, one_in: Option<u64>) -> anyhow::Result<Self> {
        let parsed: Uri = url.parse().with_context(|| format!("traces: {url} is no URL"))?;
        if parsed.scheme_str() != Some("http") {
            bail!(
                "traces is http://HOST:PORT, the address of a collector of OpenTelemetry (OTLP over HTTP), \
                 not {url}; for https let a collector beside this server pass spans on"
            );
        }
        let one_in = one_in.unwrap_or(1);
        if one_in == 0 {
            bail!("traces_one_in is 1 for every request, 100 for one of a hundred, not 0");
        }
        let has_path = !matches!(parsed.path(), "" | "/");
        let endpoint = match has_path {
            true => url.to_owned(),
            false => format!("{}{PATH}", url.trim_end_matches('/')),
        };
        Ok(Self { endpoint, one_in })
    }
}

/// The spans of a running server.
pub(crate) struct Traces {
    provider: SdkTracerProvider,
}

/// Makes spans of requests that ended.
pub(crate) struct Spans {
    tracer: SdkTracer,
    one_in: u64,
    count: AtomicU64,
}

impl Traces {
    /// Begins to send spans, by tasks of this runtime.
    pub(crate) fn start(
        settings: &TraceSettings,
        runtime: Handle,
    ) -> anyhow::Result<(Self, Spans)> {
        let exporter = opentelemetry_otlp::SpanExporter::builder()
            .with_http()
            .with_http_client(Sender { runtime })
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(&settings.endpoint)
            .with_timeout(SEND_TIME_MAX)
            .build()
            .with_context(|| format!("spans cannot be sent to {}", settings.endpoint))?;
        let told = Telling {
            exporter,
            endpoint: settings.endpoint.clone(),
            is_down: AtomicBool::new(false),
        };
        let config = BatchConfigBuilder::default()
            .with_max_queue_size(QUEUED_MAX)
            .with_scheduled_delay(SEND_PERIOD)
            .build();
        let resource = Resource::builder_empty().with_attributes([
            KeyValue::new("service.name", "shelfmark"),
            KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
        ]);
        let provider = SdkTracerProvider::builder()
            .with_span_processor(
                BatchSpanProcessor::builder(told).with_batch_config(config).build(),
            )
            .with_resource(resource.build())
            .build();
        let tracer = provider.tracer("shelfmark");
        let spans = Spans { tracer, one_in: settings.one_in, count: AtomicU64::new(0) };
        Ok((Self { provider }, spans))
    }

    /// Sends what waits, and ends. The runtime must still be there.
    pub(crate) fn stop(self) {
        // Whoever does not take spans now was told of before.
        let _ = self.provider.shutdown_with_timeout(SEND_TIME_MAX);
    }
}

impl RequestTracer for Spans {
    fn ended(&self, request: &Noted<'_>) {
        if !self.count.fetch_add(1, Ordering::Relaxed).is_multiple_of(self.one_in) {
            return;
        }
        let table = request.table.or_else(|| request.report.steps.first().map(|own| &*own.table));
        let name = match table {
            Some(table) => format!("{} {table}", request.operation),
            None => request.operation.to_owned(),
        };
        let end = UNIX_EPOCH + Duration::from_micros(request.now_micros);
        let mut span = SpanBuilder::from_name(name)
            .with_kind(SpanKind::Server)
            .with_start_time(end.checked_sub(request.took).unwrap_or(end))
            .with_attributes(attributes(request, table))
            .start_with_context(&self.tracer, &Context::new());
        // A condition that does not hold is an answer like another.
        if let Some(refusal) = request.refusal.filter(|own| *own != CONDITION_FAILED) {
            span.set_status(Status::error(refusal.to_owned()));
        }
        span.end_with_timestamp(end);
    }
}

/// Returns what a span says. Source of the names: OpenTelemetry's conventions for databases, where they
/// have one; `shelfmark.…` otherwise.
fn attributes(request: &Noted<'_>, table: Option<&str>) -> Vec<KeyValue> {
    let report = request.report;
    let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let micros = |time: Duration| i64::try_from(time.as_micros()).unwrap_or(i64::MAX);
    let ranges = report.steps.iter().map(|step| step.ranges.len() as u64).sum();
    let mut all = vec![
        KeyValue::new("db.system.name", "shelfmark"),
        KeyValue::new("db.operation.name", request.operation),
        KeyValue::new("db.response.returned_rows", whole(report.rows_returned())),
        KeyValue::new("shelfmark.face", request.face),
        KeyValue::new("shelfmark.rows_read", whole(report.rows_read())),
        KeyValue::new("shelfmark.bytes_read", whole(report.bytes_read())),
        KeyValue::new("shelfmark.ranges_read", whole(ranges)),
        KeyValue::new("shelfmark.key_ranges", Value::Array(Array::String(key_ranges(report)))),
        KeyValue::new("shelfmark.queue_us", micros(request.queued)),
    ];
    all.extend(table.map(|table| KeyValue::new("db.collection.name", table.to_owned())));
    all.extend(request.refusal.map(|why| KeyValue::new("error.type", why.to_owned())));
    all
}

/// Formats the first key ranges: bytes of the store, cut short.
fn key_ranges(report: &AccessReport) -> Vec<StringValue> {
    let key = |bytes: &[u8]| hex::encode(bytes.get(..KEY_BYTES_MAX).unwrap_or(bytes));
    let all = report.steps.iter().flat_map(|step| {
        let index = step.index.as_ref().map(|name| format!(".{name}")).unwrap_or_default();
        let table = format!("{}{index}", step.table);
        step.ranges.iter().map(move |range| {
            let end = range.end.as_ref().map(|end| key(end)).unwrap_or_default();
            StringValue::from(format!("{table} {}..{end}", key(&range.start)))
        })
    });
    all.take(RANGES_MAX).collect()
}

/// An exporter that tells when its collector goes and comes.
struct Telling<E> {
    exporter: E,
    endpoint: String,
    is_down: AtomicBool,
}

impl<E> fmt::Debug for Telling<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Telling").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

impl<E: SpanExporter> SpanExporter for Telling<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let outcome = self.exporter.export(batch).await;
        let was_down = self.is_down.swap(outcome.is_err(), Ordering::Relaxed);
        match &outcome {
            Err(error) if !was_down => {
                let endpoint = &self.endpoint;
                tracing::warn!("spans cannot be sent to {endpoint}, and are dropped: {error}");
            }
            Ok(()) if was_down => tracing::info!("spans are sent to {} again", self.endpoint),
            _ => {}
        }
        outcome
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

/// Sends batches by tasks of a runtime, for the SDK's thread has none.
#[derive(Debug)]
struct Sender {
    runtime: Handle,
}

impl HttpClient for Sender {
    fn send_bytes<'s, 'f>(
        &'s self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'f>>
    where
        's: 'f,
        Self: 'f,
    {
        // The clock of the timeout belongs to the runtime, so it is asked for there.
        let limited = async move { tokio::time::timeout(SEND_TIME_MAX, send(request)).await };
        let sent = self.runtime.spawn(limited);
        Box::pin(async move { sent.await?? })
    }
}

async fn send(request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
    let (mut parts, body) = request.into_parts();
    let authority = parts.uri.authority().ok_or("the URL names no host")?.clone();
    let port = authority.port_u16().unwrap_or(80);
    let host = authority.host().trim_start_matches('[').trim_end_matches(']');
    let stream = TcpStream::connect((host, port)).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    parts.headers.insert(HOST, HeaderValue::from_str(authority.as_str())?);
    let path = parts.uri.path_and_query().map_or("/", |own| own.as_str()).to_owned();
    parts.uri = path.parse()?;
    let answer = sender.send_request(Request::from_parts(parts, Full::new(body))).await?;
    let (head, body) = answer.into_parts();
    let body = Limited::new(body, ANSWER_BYTES_MAX).collect().await?.to_bytes();
    Ok(Response::from_parts(head, body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_without_a_path_is_that_of_a_collector() {
        let of = |url: &str| TraceSettings::of(url, None).map(|own| own.endpoint);
        for (url, expected) in [
            ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
            ("http://[::1]:4318/", "http://[::1]:4318/v1/traces"),
            ("http://collector:9/own/path", "http://collector:9/own/path"),
        ] {
            assert_eq!(of(url).unwrap(), expected);
        }
        for (url, part) in [("https://x:1", "for https"), ("127.0.0.1:4318", "http://HOST:PORT")] {
            let why = format!("{:#}", of(url).unwrap_err());
            assert!(why.contains(part) || why.contains("is no URL"), "{why}");
        }
        assert!(TraceSettings::of("http://a:1", Some(0)).is_err());
    }
}
