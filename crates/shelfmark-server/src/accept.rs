//! Taking connections in: the same for every face.

use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::places::Places;

/// How long to wait after a connection could not be taken in.
const RETRY_AFTER: Duration = Duration::from_millis(10);

/// Accepts connections until `stopped`, serving each in a task of its own, then waits for the open
/// ones.
pub(crate) async fn accept<F>(
    listener: TcpListener,
    places: &Places,
    mut stopped: watch::Receiver<bool>,
    serve: impl Fn(TcpStream, SocketAddr) -> F,
) where
    F: Future<Output = ()> + Send + 'static,
{
    let mut connections = JoinSet::new();
    loop {
        let Ok(place) = places.take().await else { break };
        tokio::select! {
            () = asked_to_stop(&mut stopped) => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, client)) => {
                    // Without it small answers wait for the client's acknowledgements.
                    let _ = stream.set_nodelay(true);
                    let served = serve(stream, client);
                    connections.spawn(async move {
                        served.await;
                        drop(place);
                    });
                }
                // Out of files, or the client has gone: the next one may fare better.
                Err(error) => {
                    tracing::debug!(%error, "a connection could not be accepted");
                    tokio::time::sleep(RETRY_AFTER).await;
                }
            },
            // Ended connections are forgotten as they end.
            Some(_) = connections.join_next() => {}
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

/// Returns once the server is asked to stop, or nobody is left to ask.
pub(crate) async fn asked_to_stop(stopped: &mut watch::Receiver<bool>) {
    let _ = stopped.wait_for(|stopped| *stopped).await;
}
