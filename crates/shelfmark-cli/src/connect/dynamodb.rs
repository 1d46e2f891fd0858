//! A server of DynamoDB behind HTTP, as a client of it.
//!
//! What it is not: a client for programs. One request at a time, and nothing is tried again but on a
//! connection that the server closed while nobody asked.
//!
//! Invariant: no message and no log line holds a secret.

use std::cell::RefCell;
use std::env;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::bail;
use shelfmark_dynamo::DynamoDbEndpoint;
use shelfmark_dynamo::auth::Signer;
use shelfmark_store::clock::{Clock as _, SystemClock};

use super::{Link, dial};

/// Longest answer that is read, in bytes.
///
/// Source: ours; a page of DynamoDB has up to 1 MB.
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// A server of DynamoDB behind HTTP.
pub(crate) struct DynamoDbServer {
    address: String,
    host: String,
    tls_ca: Option<PathBuf>,
    signer: Signer,
    link: RefCell<Option<Box<dyn Link>>>,
}

impl DynamoDbServer {
    /// Reads the URL, and the credentials from the environment.
    pub(crate) fn at(url: &str, tls_ca: Option<&Path>) -> anyhow::Result<Self> {
        let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
        let port = match (scheme, tls_ca) {
            ("http" | "dynamodb", None) => 80,
            ("https" | "dynamodb", Some(_)) => 443,
            ("https", None) => bail!("https needs --tls-ca FILE with the certificates to trust"),
            ("http", Some(_)) => bail!("--tls-ca is for https: write https://…"),
            _ => bail!("{url}: DynamoDB is reached by dynamodb://, http:// or https://"),
        };
        let host = rest.trim_end_matches('/').to_owned();
        if host.is_empty() || host.contains(|c: char| c == '/' || c.is_whitespace()) {
            bail!("{url}: write dynamodb://HOST:PORT without a path");
        }
        let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let address = if has_port { host.clone() } else { format!("{host}:{port}") };
        let named = |names: &[&str]| names.iter().find_map(|name| env::var(name).ok());
        let signer = Signer {
            key_id: named(&["AWS_ACCESS_KEY_ID"]).unwrap_or_else(|| "local".to_owned()),
            secret: named(&["AWS_SECRET_ACCESS_KEY"]).unwrap_or_else(|| "local".to_owned()),
            token: named(&["AWS_SESSION_TOKEN"]),
            region: named(&["AWS_REGION", "AWS_DEFAULT_REGION"])
                .unwrap_or_else(|| "us-east-1".to_owned()),
        };
        let tls_ca = tls_ca.map(Path::to_path_buf);
        Ok(Self { address, host, tls_ca, signer, link: RefCell::new(None) })
    }

    fn ask(&self, request: &[u8]) -> Result<(u16, Vec<u8>), String> {
        let mut link = self.link.borrow_mut();
        let reused = link.is_some();
        let open = || dial(&self.address, self.tls_ca.as_deref()).map_err(|why| format!("{why:#}"));
        if link.is_none() {
            *link = Some(open()?);
        }
        let Some(own) = link.as_mut() else { return Err("no connection".to_owned()) };
        match exchange(own.as_mut(), request) {
            Ok(answer) => Ok(answer),
            Err(Broken::Unasked(_)) if reused => {
                let mut fresh = open()?;
                let answer = exchange(fresh.as_mut(), request);
                *link = Some(fresh);
                answer.map_err(|broken| broken.text(&self.address))
            }
            Err(broken) => {
                *link = None;
                Err(broken.text(&self.address))
            }
        }
    }
}

impl DynamoDbEndpoint for DynamoDbServer {
    fn send(&self, operation: &str, body: &[u8]) -> Result<(u16, Vec<u8>), String> {
        let now_ms = i64::try_from(SystemClock::new().now_micros() / 1_000).unwrap_or(i64::MAX);
        let headers = self.signer.headers(&self.host, operation, body, now_ms);
        let headers = headers.ok_or("the credentials cannot sign a request")?;
        let mut request = String::from("POST / HTTP/1.1\r\n");
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
        self.ask(&[request.as_bytes(), body].concat())
    }
}

/// The reason why there is no answer.
enum Broken {
    /// The connection was closed before anything came back.
    Unasked(io::Error),
    /// It was closed in the middle of an answer.
    Cut(io::Error),
    /// The server does not speak HTTP.
    Malformed(&'static str),
}

impl Broken {
    fn text(&self, address: &str) -> String {
        match self {
            Self::Unasked(error) | Self::Cut(error) => format!("{address}: {error}"),
            Self::Malformed(what) => format!("{address} does not speak HTTP as expected: {what}"),
        }
    }
}

/// Sends a request and reads its answer.
fn exchange(link: &mut dyn Link, request: &[u8]) -> Result<(u16, Vec<u8>), Broken> {
    link.send(request).map_err(Broken::Unasked)?;
    let mut came: Vec<u8> = Vec::new();
    let head = loop {
        if let Some(end) = came.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        let more = match link.receive() {
            Ok(more) => more,
            Err(error) if came.is_empty() => return Err(Broken::Unasked(error)),
            Err(error) => return Err(Broken::Cut(error)),
        };
        came.extend(more);
        if came.len() > ANSWER_BYTES_MAX {
            return Err(Broken::Malformed("its head does not end"));
        }
    };
    let text = String::from_utf8_lossy(came.get(..head).unwrap_or(&[])).into_owned();
    let mut body = came.split_off(head + 4);
    let mut lines = text.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok());
    let status = status.ok_or(Broken::Malformed("no status"))?;
    let field = |wanted: &str| {
        lines.clone().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case(wanted).then(|| value.trim().to_owned())
        })
    };
    let chunked = field("transfer-encoding").is_some_and(|how| how.eq_ignore_ascii_case("chunked"));
    let length = field("content-length").and_then(|length| length.parse::<usize>().ok());
    loop {
        let whole = match (chunked, length) {
            (true, _) => unchunked(&body)?,
            (false, Some(length)) if body.len() >= length => {
                body.truncate(length);
                Some(std::mem::take(&mut body))
            }
            (false, Some(_)) => None,
            (false, None) => return Err(Broken::Malformed("no length")),
        };
        if let Some(whole) = whole {
            return Ok((status, whole));
        }
        body.extend(link.receive().map_err(Broken::Cut)?);
        if body.len() > ANSWER_BYTES_MAX {
            return Err(Broken::Malformed("its answer is too long"));
        }
    }
}

/// Returns the content of chunks; `None` until the last one is there.
fn unchunked(mut rest: &[u8]) -> Result<Option<Vec<u8>>, Broken> {
    let mut whole = Vec::new();
    loop {
        let Some(end) = rest.windows(2).position(|two| two == b"\r\n") else { return Ok(None) };
        let line = String::from_utf8_lossy(rest.get(..end).unwrap_or(&[])).into_owned();
        let size = line.split(';').next().map(str::trim).unwrap_or("");
        let size = usize::from_str_radix(size, 16)
            .ok()
            .filter(|size| *size <= ANSWER_BYTES_MAX)
            .ok_or(Broken::Malformed("a chunk without its size"))?;
        let Some(chunk) = rest.get(end + 2..end + 2 + size) else { return Ok(None) };
        let Some(behind) = rest.get(end + 2 + size + 2..) else { return Ok(None) };
        if size == 0 {
            return Ok(Some(whole));
        }
        whole.extend_from_slice(chunk);
        rest = behind;
    }
}

#[cfg(test)]
mod tests {
    use super::unchunked;

    #[test]
    fn chunks_are_joined_when_the_last_is_there() {
        let all = b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n";
        for end in 0..all.len() {
            assert!(unchunked(&all[..end]).is_ok_and(|whole| whole.is_none()), "{end}");
        }
        assert!(unchunked(all).is_ok_and(|whole| whole.as_deref() == Some(&b"abcde"[..])));
        assert!(unchunked(b"zz\r\n").is_err());
    }
}
