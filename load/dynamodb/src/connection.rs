//! One connection that is kept: a request, its answer, the next request.

use std::time::Duration;

use shelfmark_load_measure::Result;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::sign::Signer;

/// How long an answer may take.
const ANSWER_MAX: Duration = Duration::from_secs(60);

/// A connection to one server, opened when it is needed.
pub struct Connection {
    endpoint: String,
    signer: Option<Signer>,
    stream: Option<TcpStream>,
    received: Vec<u8>,
}

/// An answer whose whole body has come.
pub struct Answer {
    pub status: u16,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn contains(&self, text: &str) -> bool {
        memchr::memmem::find(&self.body, text.as_bytes()).is_some()
    }

    pub fn start(&self) -> String {
        String::from_utf8_lossy(&self.body).chars().take(200).collect()
    }
}

impl Connection {
    pub fn new(endpoint: &str) -> Self {
        Self { endpoint: endpoint.to_owned(), signer: None, stream: None, received: Vec::new() }
    }

    /// Asks for one operation of the main interface.
    pub async fn ask(&mut self, operation: &str, body: &str) -> Result<Answer> {
        self.ask_target(&format!("DynamoDB_20120810.{operation}"), body).await
    }

    pub async fn ask_target(&mut self, target: &str, body: &str) -> Result<Answer> {
        let answer = tokio::time::timeout(ANSWER_MAX, self.exchange(target, body)).await;
        let answer = answer.unwrap_or_else(|_| Err("no answer within a minute".into()));
        if answer.is_err() {
            self.stream = None;
        }
        answer
    }

    async fn exchange(&mut self, target: &str, body: &str) -> Result<Answer> {
        if self.signer.is_none() {
            self.signer = Some(Signer::new(&self.endpoint)?);
        }
        let signer = self.signer.as_mut().ok_or("no signer")?;
        let request = signer.request(target, body)?;
        if self.stream.is_none() {
            let stream = TcpStream::connect(&self.endpoint).await?;
            stream.set_nodelay(true)?;
            self.stream = Some(stream);
            self.received.clear();
        }
        self.stream.as_mut().ok_or("no connection")?.write_all(&request).await?;
        let end = self.line_end(0, b"\r\n\r\n").await?;
        let head = String::from_utf8(self.received.drain(..end).collect())?.to_ascii_lowercase();
        let status = head.get(9..12).ok_or("a short head")?.parse()?;
        let body = match header(&head, "content-length") {
            Some(length) => self.take(length.parse()?).await?,
            None => self.take_chunks().await?,
        };
        if header(&head, "connection") == Some("close") {
            self.stream = None;
        }
        Ok(Answer { status, body })
    }

    /// Returns where `mark` ends in what was received, and reads until it is there.
    async fn line_end(&mut self, from: usize, mark: &[u8]) -> Result<usize> {
        loop {
            let found = memchr::memmem::find(&self.received[from..], mark);
            if let Some(at) = found {
                return Ok(from + at + mark.len());
            }
            self.receive().await?;
        }
    }

    async fn receive(&mut self) -> Result<()> {
        let stream = self.stream.as_mut().ok_or("no connection")?;
        if stream.read_buf(&mut self.received).await? == 0 {
            return Err("the server closed the connection".into());
        }
        Ok(())
    }

    async fn take(&mut self, length: usize) -> Result<Vec<u8>> {
        while self.received.len() < length {
            self.receive().await?;
        }
        Ok(self.received.drain(..length).collect())
    }

    async fn take_chunks(&mut self) -> Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let end = self.line_end(0, b"\r\n").await?;
            let line = String::from_utf8(self.received.drain(..end).collect())?;
            let size = line.trim().split(';').next().unwrap_or_default();
            let size = usize::from_str_radix(size, 16)?;
            let chunk = self.take(size + 2).await?;
            if size == 0 {
                return Ok(body);
            }
            body.extend_from_slice(&chunk[..size]);
        }
    }
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':').map(str::trim))
}
