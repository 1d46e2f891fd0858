//! Accepts connections, in the same way for every face.

use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use shelfmark_engine::budget::Client;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::connection_slots::{ConnectionSlot, ConnectionSlots, Port};
use crate::limits::ENTERING_MAX;
use crate::throttled_log::ThrottledLog;

/// Pause after a connection could not be accepted …
const RETRY_AFTER: Duration = Duration::from_millis(10);
/// … and the longest pause, after many.
const RETRY_AFTER_MAX: Duration = Duration::from_millis(500);

/// Tells whether a thread of this runtime may be held up for a sync: others serve connections meanwhile.
pub(crate) fn may_lead() -> bool {
    Handle::current().metrics().num_workers() > 1
}

/// Accepts connections until `stopped`, serving each in a task of its own once it has a slot, then
/// waits for the open ones.
pub(crate) async fn accept<F>(
    listener: TcpListener,
    slots: &ConnectionSlots,
    port: Port,
    mut stopped: watch::Receiver<bool>,
    account: impl Fn(IpAddr) -> Client,
    serve: impl Fn(TcpStream, SocketAddr, Client, Arc<ConnectionSlot>) -> F + Clone + Send + 'static,
) where
    F: Future<Output = ()> + Send + 'static,
{
    let mut connections = JoinSet::new();
    let mut refused = Refused::default();
    // Those who have no slot yet.
    let entering = Arc::new(Semaphore::new(ENTERING_MAX));
    loop {
        let Ok(enters) = Arc::clone(&entering).acquire_owned().await else { break };
        tokio::select! {
            () = asked_to_stop(&mut stopped) => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, address)) => {
                    // Without it small answers wait for the client's acknowledgements.
                    let _ = stream.set_nodelay(true);
                    let client = account(address.ip());
                    let (slots, serve) = (slots.clone(), serve.clone());
                    connections.spawn(async move {
                        let slot = slots.enter(port, address.ip(), &client).await;
                        drop(enters);
                        match slot {
                            Some(slot) => serve(stream, address, client, slot).await,
                            None => tracing::debug!(%address, "no slot: every connection is busy"),
                        }
                    });
                }
                Err(error) => refused.pause(&error).await,
            },
            // Ended connections are forgotten as they end.
            Some(_) = connections.join_next() => {}
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

/// The backoff after failures to accept: the process is out of open files, or the client has gone.
#[derive(Default)]
struct Refused {
    throttled_log: ThrottledLog,
    /// Number of failures in a row since the last pause of [`RETRY_AFTER`].
    in_a_row: u32,
    last_at: Option<Instant>,
}

impl Refused {
    /// Waits, longer each time up to [`RETRY_AFTER_MAX`], and logs the error.
    async fn pause(&mut self, error: &std::io::Error) {
        // Only what comes soon after the pause before is in a row with it.
        let now = Instant::now();
        let is_in_a_row = self.last_at.is_some_and(|at| now < at + 2 * RETRY_AFTER_MAX);
        self.in_a_row = if is_in_a_row { self.in_a_row.saturating_add(1) } else { 0 };
        self.last_at = Some(now);
        if is_out_of_files(error) {
            self.throttled_log.warn(&format!(
                "connections cannot be accepted, clients wait: {error}; raise the limit of open files \
                 (ulimit -n), or have clients keep fewer connections"
            ));
        } else {
            tracing::debug!(%error, "a connection could not be accepted");
        }
        tokio::time::sleep(pause_of(self.in_a_row)).await;
    }
}

fn pause_of(in_a_row: u32) -> Duration {
    RETRY_AFTER.saturating_mul(2_u32.saturating_pow(in_a_row)).min(RETRY_AFTER_MAX)
}

/// Returns true if the process or the system has no free file descriptor.
fn is_out_of_files(error: &std::io::Error) -> bool {
    #[cfg(unix)]
    {
        use rustix::io::Errno;
        let number = error.raw_os_error();
        [Errno::MFILE, Errno::NFILE].iter().any(|own| Some(own.raw_os_error()) == number)
    }
    #[cfg(not(unix))]
    {
        let _ = error;
        false
    }
}

/// Returns once the server is asked to stop, or its handle is dropped.
pub(crate) async fn asked_to_stop(stopped: &mut watch::Receiver<bool>) {
    let _ = stopped.wait_for(|stopped| *stopped).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_half_a_second() {
        let pauses = [0, 1, 2, 5, 6, 40, u32::MAX].map(|times| pause_of(times).as_millis());
        assert_eq!(pauses, [10, 20, 40, 320, 500, 500, 500]);
    }

    #[cfg(unix)]
    #[test]
    fn running_out_of_files_is_told_apart() {
        use rustix::io::Errno;
        assert!(is_out_of_files(&Errno::MFILE.into()));
        assert!(is_out_of_files(&Errno::NFILE.into()));
        assert!(!is_out_of_files(&Errno::CONNABORTED.into()));
    }
}
