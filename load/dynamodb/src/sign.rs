//! Signature version 4, as much of it as one kind of request needs.

use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use shelfmark_load_measure::Result;

const KEY: &str = "load";
const SECRET: &str = "load";
const REGION: &str = "us-east-1";
const SIGNED: &str = "content-type;host;x-amz-date;x-amz-target";
const CONTENT_TYPE: &str = "application/x-amz-json-1.0";
/// How long one date is used: much less than servers allow.
const DATE_USED_MAX: Duration = Duration::from_secs(20);

/// Signs requests, with the key of a day kept.
pub struct Signer {
    endpoint: String,
    moment: String,
    taken: Instant,
    key: Vec<u8>,
}

impl Signer {
    pub fn new(endpoint: &str) -> Result<Self> {
        let moment = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string();
        let mut key = format!("AWS4{SECRET}").into_bytes();
        for part in [&moment[..8], REGION, "dynamodb", "aws4_request"] {
            key = keyed_hash(&key, part)?;
        }
        Ok(Self { endpoint: endpoint.to_owned(), moment, taken: Instant::now(), key })
    }

    /// Returns the whole request: head and body.
    pub fn request(&mut self, target: &str, body: &str) -> Result<Vec<u8>> {
        if self.taken.elapsed() > DATE_USED_MAX {
            *self = Self::new(&self.endpoint)?;
        }
        let Self { endpoint, moment, key, .. } = self;
        let scope = format!("{}/{REGION}/dynamodb/aws4_request", &moment[..8]);
        let canonical = format!(
            "POST\n/\n\ncontent-type:{CONTENT_TYPE}\nhost:{endpoint}\nx-amz-date:{moment}\n\
             x-amz-target:{target}\n\n{SIGNED}\n{}",
            hex(&Sha256::digest(body))
        );
        let hash = hex(&Sha256::digest(canonical));
        let text = format!("AWS4-HMAC-SHA256\n{moment}\n{scope}\n{hash}");
        let signature = hex(&keyed_hash(key, &text)?);
        Ok(format!(
            "POST / HTTP/1.1\r\nHost: {endpoint}\r\nContent-Type: {CONTENT_TYPE}\r\n\
             X-Amz-Target: {target}\r\nX-Amz-Date: {moment}\r\nAuthorization: AWS4-HMAC-SHA256 \
             Credential={KEY}/{scope}, SignedHeaders={SIGNED}, Signature={signature}\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .into_bytes())
    }
}

fn keyed_hash(key: &[u8], text: &str) -> Result<Vec<u8>> {
    let mut hash = <Hmac<Sha256> as Mac>::new_from_slice(key)?;
    hash.update(text.as_bytes());
    Ok(hash.finalize().into_bytes().to_vec())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // A text takes all that is written to it.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
