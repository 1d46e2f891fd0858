//! The CQL face over TCP: one task per connection; requests are executed where they are read, unless
//! they are long or others wait behind them, and all answers that are ready leave in one write.
//!
//! What it is not: it knows no byte of the protocol; the face's connection does.
//!
//! Invariant: memory that a client can tie up is bounded by the face's limits, whether it reads its
//! answers or not, and whoever stalls is let go.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf as _, Bytes, BytesMut};
use shelfmark_cql::{Connection, Face, Progress};
use shelfmark_engine::budget::Client;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};
use tokio::time::MissedTickBehavior;
use tokio_rustls::rustls::{CipherSuite, ProtocolVersion};

use crate::accept::{asked_to_stop, may_lead};
use crate::connection_slots::{ConnectionSlot, ConnectionSlots, Port};
use crate::limits::{
    HANDSHAKE_TIME_MAX, IDLE_READ_SIZE_BYTES, READ_SIZE_BYTES, SILENCE_TIME_MAX, STALL_TIME_MAX,
};
use crate::tls::Tls;

/// Interval at which a connection is checked for having stalled.
const STALL_CHECK_PERIOD: Duration = Duration::from_secs(5);

/// Frees the buffer of a request after it, from this size on.
const LARGE_SIZE_BYTES: usize = 1024 * 1024;

/// Accepts connections until `stopped`, then waits for the open ones.
pub(crate) async fn accept(
    listener: TcpListener,
    face: Arc<Face>,
    tls: Option<Tls>,
    slots: ConnectionSlots,
    stopped: watch::Receiver<bool>,
) {
    let until = stopped.clone();
    let accounts = Arc::clone(&face);
    let account = move |address| accounts.account(address);
    crate::accept::accept(listener, &slots, Port::Cql, until, account, {
        move |stream, address, client, slot| {
            let served = (Arc::clone(&face), tls.clone(), stopped.clone());
            serve(stream, address, client, slot, served)
        }
    })
    .await;
}

async fn serve(
    mut stream: TcpStream,
    client: SocketAddr,
    account: Client,
    slot: Arc<ConnectionSlot>,
    (face, tls, stopped): (Arc<Face>, Option<Tls>, watch::Receiver<bool>),
) {
    let woken = Arc::new(Notify::new());
    let waker = Arc::clone(&woken);
    let wake = Box::new(move || waker.notify_one());
    let leader = may_lead().then(|| Arc::clone(&face));
    let connection = Connection::with_account(face, client, wake, account);
    let Some(tls) = tls else {
        let (reader, writer) = stream.split();
        return Served { connection, reader, writer, woken, stopped, slot, leader }.run().await;
    };
    match tokio::time::timeout(HANDSHAKE_TIME_MAX, tls.acceptor().accept(stream)).await {
        Ok(Ok(stream)) => {
            let agreed = stream.get_ref().1;
            let (protocol, suite) = (agreed.protocol_version(), agreed.negotiated_cipher_suite());
            if let (Some(protocol), Some(suite)) = (protocol, suite) {
                connection.encrypted(&protocol_name(protocol), &suite_name(suite.suite()));
            }
            let (reader, writer) = tokio::io::split(stream);
            Served { connection, reader, writer, woken, stopped, slot, leader }.run().await;
        }
        Ok(Err(error)) => tracing::debug!(%client, %error, "TLS was not agreed on"),
        Err(_) => tracing::debug!(%client, "TLS was not agreed on in time"),
    }
}

/// Returns a protocol's name in Cassandra's tables: `TLSv1.3`.
fn protocol_name(protocol: ProtocolVersion) -> String {
    format!("{protocol:?}").replacen('_', ".", 1)
}

/// Returns a cipher suite's registered name: `TLS_AES_256_GCM_SHA384`.
fn suite_name(suite: CipherSuite) -> String {
    format!("{suite:?}").replacen("TLS13_", "TLS_", 1)
}

struct Served<R, W> {
    connection: Connection,
    reader: R,
    writer: W,
    woken: Arc<Notify>,
    stopped: watch::Receiver<bool>,
    slot: Arc<ConnectionSlot>,
    /// The face, if this thread may be held up for a sync.
    leader: Option<Arc<Face>>,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Served<R, W> {
    /// Serves the connection to its end.
    #[expect(clippy::too_many_lines, reason = "one loop whose state is all of it")]
    async fn run(mut self) {
        let mut input = BytesMut::new();
        let mut read_size = IDLE_READ_SIZE_BYTES;
        let mut output = Bytes::new();
        let mut progress = Progress::Hungry;
        let mut stall = StallCounter::default();
        let mut looks = tokio::time::interval(STALL_CHECK_PERIOD);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut stopping = false;
        let mut largest = 0;
        loop {
            if output.is_empty() {
                if progress == Progress::Paused {
                    tokio::task::yield_now().await;
                }
                if matches!(progress, Progress::Full | Progress::Paused) {
                    progress = self.connection.feed(&mut input);
                }
                // Last, so that whatever is answered from here on wakes this task.
                output = match self.connection.take_output() {
                    Ok(output) => output,
                    Err(error) => {
                        tracing::warn!("a long answer cannot be read back: {error}");
                        return;
                    }
                };
                self.slot.set_busy(!output.is_empty() || self.connection.is_busy());
                let done = progress == Progress::Ended || stopping && !self.connection.is_busy();
                if output.is_empty() && done {
                    break;
                }
            }
            if progress == Progress::Paused && output.is_empty() {
                // Nothing is ready yet of what was asked for; there is more to ask.
                continue;
            }
            let reads = progress == Progress::Hungry && !stopping;
            input.reserve(if reads { read_size } else { 0 });
            let room = input.capacity() - input.len();
            tokio::select! {
                biased;
                written = self.writer.write_buf(&mut output), if output.has_remaining() => {
                    match written {
                        Ok(1..) => stall.renew(),
                        Ok(0) | Err(_) => return,
                    }
                }
                () = self.woken.notified(), if !output.has_remaining() => {}
                read = self.reader.read_buf(&mut input), if reads => {
                    match read {
                        Ok(count @ 1..) => {
                            stall.renew();
                            if count == room {
                                read_size = (read_size * 4).min(READ_SIZE_BYTES);
                            }
                        }
                        // The client has gone; what it still waits for goes nowhere.
                        Ok(0) | Err(_) => return,
                    }
                    largest = largest.max(input.len());
                    progress = self.connection.feed(&mut input);
                    if let Some(face) = self.leader.as_ref().filter(|_| self.connection.is_busy()) {
                        face.lead();
                    }
                    // The room of a large request is not kept for small ones.
                    if input.is_empty() && largest > LARGE_SIZE_BYTES {
                        input = BytesMut::with_capacity(READ_SIZE_BYTES);
                        largest = 0;
                    }
                }
                () = self.slot.is_wanted(), if !stopping => {
                    // Somebody else comes in; what is under way may end.
                    stopping = true;
                }
                _ = looks.tick() => {
                    let midway = !input.is_empty() || self.connection.is_midway();
                    let limit = if output.has_remaining() || reads && midway {
                        STALL_TIME_MAX
                    } else if !self.connection.is_established() {
                        HANDSHAKE_TIME_MAX
                    } else if self.connection.is_busy() {
                        // The client waits for us.
                        Duration::MAX
                    } else {
                        SILENCE_TIME_MAX
                    };
                    let late = !self.connection.is_established() && stall.is_old();
                    if stall.is_over(limit) || late {
                        return;
                    }
                    if stall.is_idle() && input.is_empty() {
                        input = BytesMut::new();
                        read_size = IDLE_READ_SIZE_BYTES;
                    }
                }
                () = asked_to_stop(&mut self.stopped), if !stopping => stopping = true,
            }
        }
        let _ = self.writer.shutdown().await;
    }
}

/// Counts the checks since a connection last made progress.
#[derive(Debug, Default)]
struct StallCounter {
    looks: u32,
    /// Checks since the connection was made.
    all: u32,
}

impl StallCounter {
    fn renew(&mut self) {
        self.looks = 0;
    }

    /// Returns true if the handshake takes too long, however busy the connection is.
    fn is_old(&self) -> bool {
        STALL_CHECK_PERIOD.saturating_mul(self.all) > 2 * HANDSHAKE_TIME_MAX
    }

    /// Returns true if nothing has moved since the last check.
    fn is_idle(&self) -> bool {
        self.looks > 1
    }

    fn is_over(&mut self, limit: Duration) -> bool {
        self.all = self.all.saturating_add(1);
        self.looks = self.looks.saturating_add(1);
        // The first look may come at once.
        STALL_CHECK_PERIOD.saturating_mul(self.looks.saturating_sub(1)) > limit
    }
}
