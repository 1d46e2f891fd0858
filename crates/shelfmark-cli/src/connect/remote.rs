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

use super::link::Link;

const PORT: u16 = 9042;
/// How long a server may take to be there. Source: ours; drivers wait 5 seconds.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const RECEIVE_BYTES: usize = 64 * 1024;

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

/// Reads whom to trust; without a file nothing is encrypted.
pub(super) fn tls(file: Option<&Path>) -> anyhow::Result<Option<Arc<ClientConfig>>> {
    let Some(path) = file else { return Ok(None) };
    let shown = path.display();
    let pem = vfs::read(path).with_context(|| format!("cannot read {shown}"))?;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&pem) {
        let certificate = certificate.map_err(|error| anyhow!("{shown} is not PEM: {error}"))?;
        roots.add(certificate).with_context(|| format!("{shown} cannot be used"))?;
    }
    if roots.is_empty() {
        bail!("{shown} holds no certificate");
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Some(Arc::new(config)))
}

/// Connects.
pub(super) fn dial(
    address: &str,
    tls: Option<&Arc<ClientConfig>>,
) -> anyhow::Result<Box<dyn Link>> {
    let stream = connect(address)?;
    // A question is one small write, and waits for its answer.
    stream.set_nodelay(true)?;
    let Some(config) = tls else { return Ok(Box::new(Remote(stream))) };
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let name = ServerName::try_from(host)?;
    let connection = ClientConnection::new(Arc::clone(config), name)?;
    Ok(Box::new(Remote(StreamOwned::new(connection, stream))))
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
struct Remote<S>(S);

impl<S: Read + Write> Link for Remote<S> {
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)?;
        self.0.flush()
    }

    fn receive(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; RECEIVE_BYTES];
        loop {
            match self.0.read(&mut bytes) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(length) => {
                    bytes.truncate(length);
                    return Ok(bytes);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn close(self: Box<Self>) -> anyhow::Result<()> {
        Ok(())
    }
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
