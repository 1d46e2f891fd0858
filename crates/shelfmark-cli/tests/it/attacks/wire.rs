//! Clients of the attacks: CQL and HTTP, byte by byte.

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

pub(super) const OPTIONS: u8 = 5;
pub(super) const QUERY: u8 = 7;
pub(super) const PREPARE: u8 = 9;
pub(super) const EXECUTE: u8 = 10;
pub(super) const BATCH: u8 = 13;
pub(super) const REGISTER: u8 = 11;
pub(super) const AUTH_RESPONSE: u8 = 15;

pub(super) fn connect(address: &str, patience: Duration) -> io::Result<TcpStream> {
    let address = address.parse().map_err(io::Error::other)?;
    let stream = TcpStream::connect_timeout(&address, patience)?;
    stream.set_read_timeout(Some(patience))?;
    stream.set_write_timeout(Some(patience))?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

pub(super) fn envelope(stream: i16, opcode: u8, body: &[u8]) -> Vec<u8> {
    let mut out = vec![4, 0];
    out.extend(stream.to_be_bytes());
    out.push(opcode);
    out.extend(u32::try_from(body.len()).unwrap().to_be_bytes());
    out.extend(body);
    out
}

pub(super) fn startup() -> Vec<u8> {
    envelope(0, 1, b"\0\x01\0\x0bCQL_VERSION\0\x053.0.0")
}

/// The body of a QUERY without values and pages.
pub(super) fn query(text: &str) -> Vec<u8> {
    let mut body = u32::try_from(text.len()).unwrap().to_be_bytes().to_vec();
    body.extend(text.as_bytes());
    body.extend([0, 1, 0]);
    body
}

/// Works as [`query`], with values.
pub(super) fn query_with(text: &str, values: &[&[u8]]) -> Vec<u8> {
    let mut body = u32::try_from(text.len()).unwrap().to_be_bytes().to_vec();
    body.extend(text.as_bytes());
    body.extend([0, 1, 1]);
    body.extend(u16::try_from(values.len()).unwrap().to_be_bytes());
    for value in values {
        body.extend(u32::try_from(value.len()).unwrap().to_be_bytes());
        body.extend(*value);
    }
    body
}

/// A CQL client of version 4.
pub(super) struct Cql {
    pub(super) stream: TcpStream,
}

/// An answer: its opcode, and its body or the first megabyte of it.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) opcode: u8,
    pub(super) body: Vec<u8>,
    pub(super) length: u64,
}

impl Answer {
    /// Code and text of an error.
    pub(super) fn error(&self) -> Option<(i32, String)> {
        let code = i32::from_be_bytes(self.body.get(..4)?.try_into().ok()?);
        (self.opcode == 0).then(|| (code, String::from_utf8_lossy(&self.body[6..]).into_owned()))
    }
}

impl Cql {
    pub(super) fn open(address: &str, patience: Duration) -> io::Result<Self> {
        let mut client = Self { stream: connect(address, patience)? };
        client.stream.write_all(&startup())?;
        client.answer()?;
        Ok(client)
    }

    /// Opens a connection and logs in.
    pub(super) fn log_in(
        address: &str,
        patience: Duration,
        name: &str,
        password: &str,
    ) -> io::Result<Self> {
        let mut client = Self::open(address, patience)?;
        let token = format!("\0{name}\0{password}");
        let mut body = u32::try_from(token.len()).unwrap().to_be_bytes().to_vec();
        body.extend(token.as_bytes());
        client.send(AUTH_RESPONSE, &body)?;
        match client.answer()?.opcode {
            16 => Ok(client),
            opcode => Err(io::Error::other(format!("opcode {opcode}"))),
        }
    }

    pub(super) fn send(&mut self, opcode: u8, body: &[u8]) -> io::Result<()> {
        self.stream.write_all(&envelope(1, opcode, body))
    }

    pub(super) fn answer(&mut self) -> io::Result<Answer> {
        let mut head = [0; 9];
        self.stream.read_exact(&mut head)?;
        let length = u64::from(u32::from_be_bytes(head[5..].try_into().unwrap()));
        let kept = usize::try_from(length.min(1 << 20)).unwrap();
        let mut body = vec![0; kept];
        self.stream.read_exact(&mut body)?;
        let mut left = length - kept as u64;
        let mut rest = vec![0; 1 << 16];
        while left > 0 {
            let most = usize::try_from(left).unwrap_or(usize::MAX).min(rest.len());
            let count = self.stream.read(&mut rest[..most])?;
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            left -= count as u64;
        }
        Ok(Answer { opcode: head[4], body, length })
    }

    pub(super) fn ask(&mut self, text: &str) -> io::Result<Answer> {
        self.send(QUERY, &query(text))?;
        self.answer()
    }
}

/// Sends an HTTP request and returns the status; 0 if there is no answer.
pub(super) fn http(address: &str, patience: Duration, request: &[u8]) -> u16 {
    let asked = || -> io::Result<u16> {
        let mut stream = connect(address, patience)?;
        // The server may answer before it has read everything.
        let _ = stream.write_all(request);
        let mut head = [0; 12];
        stream.read_exact(&mut head)?;
        let status = std::str::from_utf8(&head[9..12]).ok().and_then(|text| text.parse().ok());
        Ok(status.unwrap_or(0))
    };
    asked().unwrap_or(0)
}

pub(super) fn post(operation: &str, length: usize, more: &str) -> Vec<u8> {
    format!(
        "POST / HTTP/1.1\r\nHost: localhost\r\nX-Amz-Target: DynamoDB_20120810.{operation}\r\n\
         Content-Type: application/x-amz-json-1.0\r\nContent-Length: {length}\r\n{more}\r\n"
    )
    .into_bytes()
}

pub(super) fn call(operation: &str, body: &str) -> Vec<u8> {
    let mut request = post(operation, body.len(), "");
    request.extend(body.as_bytes());
    request
}
