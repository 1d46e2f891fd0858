//! Taking connections in: the same for every face.

use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use shelfmark_engine::budget::Client;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use crate::limits::ENTERING_MAX;
use crate::places::{Place, Places, Port};

/// How long to wait after a connection could not be taken in.
const RETRY_AFTER: Duration = Duration::from_millis(10);

/// Accepts connections until `stopped`, serving each in a task of its own once it has a place, then
/// waits for the open ones.
pub(crate) async fn accept<F>(
    listener: TcpListener,
    places: &Places,
    port: Port,
    mut stopped: watch::Receiver<bool>,
    account: impl Fn(IpAddr) -> Client,
    serve: impl Fn(TcpStream, SocketAddr, Client, Arc<Place>) -> F + Clone + Send + 'static,
) where
    F: Future<Output = ()> + Send + 'static,
{
    let mut connections = JoinSet::new();
    // Those who have no place yet.
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
                    let (places, serve) = (places.clone(), serve.clone());
                    connections.spawn(async move {
                        let place = places.enter(port, address.ip(), &client).await;
                        drop(enters);
                        match place {
                            Some(place) => serve(stream, address, client, place).await,
                            None => tracing::debug!(%address, "no place: every connection is busy"),
                        }
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
