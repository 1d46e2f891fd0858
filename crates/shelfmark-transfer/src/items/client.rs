//! Requests to an endpoint of DynamoDB, which are sent again where it is busy.

use std::time::Duration;

use serde::Deserialize;
use shelfmark_dynamo::DynamoDbEndpoint;

use crate::control::Control;
use crate::error::{Error, ErrorKind, Result};

/// Times that a request is sent. Source: ours; with the waits between them some two minutes.
const TRIES_MAX: u32 = 30;
/// The first wait, and the longest. Source: as the service's own clients.
const WAIT_FIRST: Duration = Duration::from_millis(50);
const WAIT_MAX: Duration = Duration::from_secs(5);

/// Exceptions after which a request is sent again. Source: Developer Guide, "Error handling with DynamoDB".
const BUSY: [&str; 6] = [
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "ThrottlingException",
    "LimitExceededException",
    "InternalServerError",
    "TransactionInProgressException",
];

/// Makes a connection to an endpoint; each thread has its own.
pub type Connect<'c> =
    dyn Fn() -> std::result::Result<Box<dyn DynamoDbEndpoint>, String> + Sync + 'c;

/// The exception of an answer.
#[derive(Deserialize)]
struct Exception {
    #[serde(rename = "__type", default)]
    name: String,
    #[serde(alias = "Message", default)]
    message: String,
}

/// The reason why a request was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The exception's name, without its namespace.
    pub(crate) name: String,
    pub(crate) message: String,
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::new(ErrorKind::Refused, format!("{}: {}", refusal.name, refusal.message))
    }
}

/// A connection to an endpoint.
pub struct Client<'c> {
    endpoint: Box<dyn DynamoDbEndpoint>,
    control: &'c Control<'c>,
}

impl<'c> Client<'c> {
    /// Connects to the endpoint.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Unreachable`]: nobody is there.
    pub fn new(connect: &Connect<'_>, control: &'c Control<'c>) -> Result<Self> {
        let endpoint = connect().map_err(|why| Error::new(ErrorKind::Unreachable, why))?;
        Ok(Self { endpoint, control })
    }

    /// Sends a request and returns the answer's body, or the refusal.
    pub(crate) fn ask(
        &self,
        operation: &str,
        body: &str,
    ) -> Result<std::result::Result<Vec<u8>, Refusal>> {
        for number in 1.. {
            let outcome = match self.endpoint.send(operation, body.as_bytes()) {
                Ok((200, answer)) => return Ok(Ok(answer)),
                Ok((status, answer)) => {
                    let refusal = refusal(status, &answer);
                    let is_busy = status >= 500 || BUSY.contains(&refusal.name.as_str());
                    match is_busy && number < TRIES_MAX {
                        true => None,
                        false => Some(Ok(Err(refusal))),
                    }
                }
                Err(_) if number < TRIES_MAX / 5 => None,
                Err(why) => Some(Err(Error::new(ErrorKind::Unreachable, why))),
            };
            match outcome {
                Some(outcome) => return outcome,
                None => self.control.wait(backoff(number))?,
            }
        }
        Err(Error::new(ErrorKind::Unreachable, "the request was not sent"))
    }

    /// Sends a request whose refusal ends the transfer.
    pub(crate) fn call(&self, operation: &str, body: &str) -> Result<Vec<u8>> {
        self.ask(operation, body)?.map_err(|refusal| {
            Error::new(
                ErrorKind::Refused,
                format!("{operation}: {}: {}", refusal.name, refusal.message),
            )
        })
    }

    pub(crate) fn control(&self) -> &'c Control<'c> {
        self.control
    }
}

/// Returns the wait behind so many tries.
pub(crate) fn backoff(tries: u32) -> Duration {
    WAIT_FIRST.saturating_mul(1_u32 << tries.saturating_sub(1).min(10)).min(WAIT_MAX)
}

fn refusal(status: u16, answer: &[u8]) -> Refusal {
    let none = || Exception {
        name: format!("HTTP {status}"),
        message: String::from_utf8_lossy(answer).chars().take(200).collect(),
    };
    let found: Exception = serde_json::from_slice(answer).unwrap_or_else(|_| none());
    let name = found.name.rsplit(['#', '.']).next().unwrap_or_default().to_owned();
    let name = if name.is_empty() { format!("HTTP {status}") } else { name };
    Refusal { name, message: found.message }
}

/// Parses an answer.
pub(crate) fn parse<'a, T: Deserialize<'a>>(operation: &str, answer: &'a [u8]) -> Result<T> {
    serde_json::from_slice(answer).map_err(|error| {
        Error::new(
            ErrorKind::Refused,
            format!("the answer to {operation} is not understood: {error}"),
        )
    })
}
