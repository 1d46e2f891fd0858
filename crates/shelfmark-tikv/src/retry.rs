//! Tells what an error of the client means, and tries reads again.
//!
//! The client wraps errors in many ways and gives some back without waiting. What it is not: the
//! end of a commit, which `commit::two_phase` decides, because there an error may hide a success.
//!
//! Invariant: a read is tried until it succeeds, is refused for good, or the time is up.

use std::future::Future;
use std::time::Duration;

use shelfmark_store::{Error, ErrorKind, Result};
use tikv_client::Error as ClientError;
use tokio::time::Instant;

/// The wait after the first failed attempt; it doubles.
const WAIT_FIRST: Duration = Duration::from_millis(2);
/// The longest wait between two attempts.
const WAIT_MAX: Duration = Duration::from_millis(200);
/// Status code of a message that is larger than the client takes.
const OUT_OF_RANGE: i32 = 11;

/// Waits that grow until a moment.
pub(crate) struct Patience {
    until: Instant,
    wait: Duration,
}

impl Patience {
    pub(crate) fn new(patience: Duration) -> Self {
        Self { until: Instant::now() + patience, wait: WAIT_FIRST }
    }

    /// Waits before the next attempt; false when the time is up.
    pub(crate) async fn wait(&mut self) -> bool {
        if Instant::now() + self.wait >= self.until {
            return false;
        }
        tokio::time::sleep(self.wait).await;
        self.wait = (self.wait * 2).min(WAIT_MAX);
        true
    }

    /// Returns the time that is left, at least a moment.
    pub(crate) fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now()).max(WAIT_FIRST)
    }
}

/// Runs `read` until it succeeds, is refused for good, or `patience` is used up.
///
/// # Errors
///
/// * [`ErrorKind::TooOld`]: the versions at the snapshot's moment were collected.
/// * [`ErrorKind::LimitExceeded`]: the answer is larger than a message; ask for less.
/// * [`ErrorKind::Busy`]: another's commit stood in the way all the time.
/// * [`ErrorKind::Unavailable`]: the cluster did not answer.
pub(crate) async fn read<T, F>(patience: Duration, mut read: impl FnMut() -> F) -> Result<T>
where
    F: Future<Output = std::result::Result<T, ClientError>>,
{
    let mut patience = Patience::new(patience);
    loop {
        let error = match tokio::time::timeout(patience.left(), read()).await {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(error)) => error,
            Err(_) => {
                return Err(Error::new(ErrorKind::Unavailable, "the cluster does not answer"));
            }
        };
        let refused = read_error(error);
        let is_final = !matches!(refused.kind(), ErrorKind::Unavailable | ErrorKind::Busy);
        if is_final || !patience.wait().await {
            return Err(refused);
        }
    }
}

fn read_error(error: ClientError) -> Error {
    let text = error.to_string();
    let mut kind = ErrorKind::Unavailable;
    walk(&error, &mut |leaf| match leaf {
        ClientError::GrpcAPI(status) if i32::from(status.code()) == OUT_OF_RANGE => {
            kind = ErrorKind::LimitExceeded;
        }
        ClientError::KeyError(_) | ClientError::ResolveLockError(_) => kind = ErrorKind::Busy,
        _ => {}
    });
    if text.contains("GC life time") || text.contains("GcTooEarly") || text.contains("safe point") {
        let message = "the versions of this moment were collected";
        return Error::new(ErrorKind::TooOld, message).with_source(error);
    }
    match kind {
        ErrorKind::Busy => {
            let message = "another commit stands in the way of a read";
            Error::busy(message, Duration::from_millis(50)).with_source(error)
        }
        kind => Error::new(kind, format!("the cluster answers: {text}")).with_source(error),
    }
}

/// Calls `visit` with every error that `error` holds and that holds none itself.
fn walk(error: &ClientError, visit: &mut impl FnMut(&ClientError)) {
    match error {
        ClientError::ExtractedErrors(errors) | ClientError::MultipleKeyErrors(errors) => {
            for error in errors {
                walk(error, visit);
            }
        }
        ClientError::UndeterminedError(inner) | ClientError::PessimisticLockError { inner, .. } => {
            walk(inner, visit);
        }
        leaf => visit(leaf),
    }
}
