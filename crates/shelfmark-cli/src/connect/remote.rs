//! A server at the other end of a socket, encrypted or not.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use shelfmark_store::vfs;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::interrupt::Interrupt;
use super::link::Link;
use super::trust::Trust;

const PORT: u16 = 9042;
/// Time that a server has to accept the connection. Source: ours; drivers wait 5 seconds.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const RECEIVE_BYTES: usize = 64 * 1024;
/// Interval at which a waiting query checks for an interrupt.
const LOOK_PERIOD: Duration = Duration::from_millis(100);

/// Returns an address with its port.
pub(super) fn address(server: &str) -> String {
    let bare_v6 = server.matches(':').count() > 1 && !server.contains(']');
    if bare_v6 {
        format!("[{server}]:{PORT}")
    } else if server.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok()) {
        server.to_owned()
    } else {
        format!("{server}:{PORT}")
    }
}

/// Reads the trusted certificates; without a file nothing is encrypted.
pub(super) fn tls(file: Option<&Path>) -> anyhow::Result<Option<Arc<ClientConfig>>> {
    let Some(path) = file else { return Ok(None) };
    let shown = path.display();
    let pem = vfs::read(path).with_context(|| format!("cannot read {shown}"))?;
    let mut roots = RootCertStore::empty();
    let mut pinned = Vec::new();
    for certificate in CertificateDer::pem_slice_iter(&pem) {
        let certificate = certificate.map_err(|error| anyhow!("{shown} is not PEM: {error}"))?;
        roots.add(certificate.clone()).with_context(|| format!("{shown} cannot be used"))?;
        pinned.push(certificate);
    }
    if roots.is_empty() {
        bail!("{shown} holds no certificate");
    }
    let provider = Arc::new(ring::default_provider());
    let trust = Trust::new(pinned, roots, Arc::clone(&provider))?;
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(trust))
        .with_no_client_auth();
    Ok(Some(Arc::new(config)))
}

/// Connects to the server.
pub(super) fn dial(
    address: &str,
    tls: Option<&Arc<ClientConfig>>,
) -> anyhow::Result<Box<dyn Link>> {
    let mut stream = connect(address)?;
    // A question is one small write, and waits for its answer.
    stream.set_nodelay(true)?;
    let Some(config) = tls else {
        stream.set_read_timeout(Some(LOOK_PERIOD))?;
        return Ok(Box::new(Remote { stream, interrupt: None }));
    };
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let name = ServerName::try_from(host)?;
    let mut connection = ClientConnection::new(Arc::clone(config), name)?;
    stream.set_read_timeout(Some(CONNECT_TIMEOUT))?;
    // Before the first question, so that later on only an answer is waited for.
    while connection.is_handshaking() {
        connection
            .complete_io(&mut stream)
            .with_context(|| format!("{address} and this side cannot agree on TLS"))?;
    }
    stream.set_read_timeout(Some(LOOK_PERIOD))?;
    let stream = StreamOwned::new(connection, stream);
    Ok(Box::new(Remote { stream, interrupt: None }))
}

fn connect(address: &str) -> anyhow::Result<TcpStream> {
    let places = address.to_socket_addrs().with_context(|| format!("{address} is no address"))?;
    let mut failed = None;
    for place in places {
        match TcpStream::connect_timeout(&place, CONNECT_TIMEOUT) {
            Ok(stream) => return Ok(stream),
            Err(error) => failed = Some(error),
        }
    }
    let why = failed.map_or_else(|| "it has no address".to_owned(), |error| error.to_string());
    bail!(
        "no server answers at {address} ({why}); start one with `shelfmark serve`, or open a store \
         in this process with --data DIR"
    )
}

/// A socket, or TLS over one.
struct Remote<S> {
    stream: S,
    /// The flag that is checked while waiting for an answer.
    interrupt: Option<Interrupt>,
}

impl<S: Read + Write + Send> Link for Remote<S> {
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)?;
        self.stream.flush()
    }

    fn interrupted_by(&mut self, interrupt: Interrupt) {
        self.interrupt = Some(interrupt);
    }

    fn receive(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; RECEIVE_BYTES];
        loop {
            match self.stream.read(&mut bytes) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(length) => {
                    bytes.truncate(length);
                    return Ok(bytes);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if is_late(&error) => {
                    if self.interrupt.as_ref().is_some_and(Interrupt::is_wanted) {
                        return Err(io::ErrorKind::Interrupted.into());
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn close(self: Box<Self>) -> anyhow::Result<()> {
        Ok(())
    }
}

/// Returns true if nothing came within [`LOOK_PERIOD`].
fn is_late(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn addresses_have_a_port() {
        for (server, expected) in [
            ("db", "db:9042"),
            ("db:1", "db:1"),
            ("10.0.0.1", "10.0.0.1:9042"),
            ("::1", "[::1]:9042"),
            ("[::1]", "[::1]:9042"),
            ("[::1]:7", "[::1]:7"),
        ] {
            assert_eq!(address(server), expected);
        }
    }
}
