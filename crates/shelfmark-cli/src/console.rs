//! Asks the console's port of a running server.
//!
//! What it is not: a client of the faces. It sends operations as JSON and reads their answers, one
//! connection each.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, TE};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde::Serialize;
use shelfmark_admin::http::{API, JSON};
use shelfmark_admin::{Operation, Refused};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;

use crate::credentials;

/// The environment variable with the token.
const TOKEN: &str = "SHELFMARK_CONSOLE_TOKEN";
/// Time that a server has to accept the connection. Source: ours; as for CQL.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Longest answer that is read into memory. Source: ours; a page of the largest items, twice.
const ANSWER_SIZE_BYTES_MAX: usize = 256 * 1024 * 1024;

/// The console of one running server.
pub(crate) struct ConsoleClient {
    address: String,
    token: Option<String>,
    runtime: Runtime,
}

impl ConsoleClient {
    /// Creates the client; connections are made when something is asked.
    pub(crate) fn new(server: &str, token_file: Option<&Path>) -> anyhow::Result<Self> {
        let address = server.strip_prefix("http://").unwrap_or(server).trim_end_matches('/');
        let has_port =
            address.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        if !has_port {
            bail!(
                "--server takes the address of a console, host and port, such as 127.0.0.1:8080: that of \
                 `shelfmark serve --console`"
            );
        }
        let token = match token_file {
            Some(path) => Some(credentials::password(path)?),
            None => std::env::var(TOKEN).ok().filter(|token| !token.trim().is_empty()),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let token = token.map(|token| token.trim().to_owned());
        Ok(Self { address: address.to_owned(), token, runtime })
    }

    /// Runs an operation there.
    pub(crate) fn run<O: Operation>(&self, operation: &O) -> anyhow::Result<O::Answer> {
        self.runtime.block_on(async {
            let answer = self.send(O::NAME, operation).await?;
            let body = whole(answer).await?;
            serde_json::from_slice(&body).with_context(|| {
                format!("{} answered what this version does not understand", self.address)
            })
        })
    }

    /// Writes the body of a long answer to `out`, and returns the headers behind it.
    pub(crate) fn receive(
        &self,
        name: &str,
        operation: &impl Serialize,
        out: &mut dyn Write,
    ) -> anyhow::Result<HeaderMap> {
        self.runtime.block_on(async {
            let mut body = self.send(name, operation).await?.into_body();
            let mut trailers = HeaderMap::new();
            while let Some(frame) = body.frame().await {
                let frame = frame
                    .context("the server ended its answer before it was whole; its log says why")?;
                match frame.into_data() {
                    Ok(piece) => out.write_all(&piece)?,
                    Err(frame) => trailers.extend(frame.into_trailers().unwrap_or_default()),
                }
            }
            Ok(trailers)
        })
    }

    /// Sends an operation; an answer that says why it was not done is an error.
    async fn send(
        &self,
        name: &str,
        operation: &impl Serialize,
    ) -> anyhow::Result<Response<Incoming>> {
        let mut request = Request::post(format!("{API}{name}"))
            .header(HOST, &self.address)
            .header(CONTENT_TYPE, JSON)
            .header(TE, "trailers");
        if let Some(token) = &self.token {
            request = request.header(AUTHORIZATION, format!("Bearer {token}"));
        }
        let request = request.body(Full::new(Bytes::from(serde_json::to_vec(operation)?)))?;
        let unreachable = || {
            format!(
                "cannot reach a console at {}; start the server with --console ADDR",
                self.address
            )
        };
        let stream = tokio::time::timeout(CONNECT_TIMEOUT, TcpStream::connect(&self.address)).await;
        let stream = stream.map_err(anyhow::Error::from).and_then(|own| Ok(own?));
        let stream = stream.with_context(unreachable)?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        let answer = sender.send_request(request).await.with_context(unreachable)?;
        if answer.status().is_success() {
            return Ok(answer);
        }
        let status = answer.status();
        Err(refusal(status, &whole(answer).await?))
    }
}

/// Returns the reason why something was not done.
fn refusal(status: StatusCode, body: &[u8]) -> anyhow::Error {
    if status == StatusCode::UNAUTHORIZED {
        return anyhow!(
            "the console asks for its token: pass --console-token-file FILE, or set {TOKEN}"
        );
    }
    match serde_json::from_slice::<Refused>(body) {
        Ok(refused) => refused.error.into(),
        Err(_) => anyhow!("{status}: {}", String::from_utf8_lossy(body).trim_end()),
    }
}

async fn whole(answer: Response<Incoming>) -> anyhow::Result<Bytes> {
    let body = Limited::new(answer.into_body(), ANSWER_SIZE_BYTES_MAX).collect().await;
    Ok(body.map_err(|error| anyhow!("the answer cannot be read: {error}"))?.to_bytes())
}
