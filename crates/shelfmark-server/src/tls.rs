//! Configures TLS by rustls, for any port.

use std::sync::{Arc, PoisonError, RwLock};

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, ServerConfig};

/// The reason why certificate and key cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The certificates cannot be read.
    #[error("the certificate file is not PEM: {0}")]
    Certificate(String),
    /// The file holds no certificate.
    #[error("the certificate file holds no certificate")]
    Empty,
    /// The key cannot be read; the message says nothing of its content.
    #[error("the key file holds no private key in PEM form")]
    Key,
    /// Certificate and key do not match, or are of a kind that is not supported.
    #[error("certificate and key cannot be used: {0}")]
    Unusable(rustls::Error),
}

/// The TLS settings of a port; clones share them.
#[derive(Clone)]
pub struct Tls {
    acceptors: Arc<RwLock<Acceptors>>,
}

#[derive(Clone)]
struct Acceptors {
    plain: TlsAcceptor,
    /// Offers HTTP/2 and HTTP/1.1.
    http: TlsAcceptor,
}

/// The name of HTTP/2 in the negotiation of protocols. Source: RFC 9113, 3.2.
pub(crate) const HTTP2: &[u8] = b"h2";
const HTTP1: &[u8] = b"http/1.1";

impl Tls {
    /// Reads the certificate chain and the private key, both PEM.
    ///
    /// # Errors
    ///
    /// * [`TlsError`]: says which of the two is wrong; give another.
    pub fn from_pem(certificates: &[u8], key: &[u8]) -> Result<Self, TlsError> {
        let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(certificates)
            .collect::<Result<_, _>>()
            .map_err(|error| TlsError::Certificate(error.to_string()))?;
        if chain.is_empty() {
            return Err(TlsError::Empty);
        }
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| TlsError::Key)?;
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(TlsError::Unusable)?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(TlsError::Unusable)?;
        let mut http = config.clone();
        http.alpn_protocols = vec![HTTP2.to_vec(), HTTP1.to_vec()];
        let (plain, http) = (Arc::new(config).into(), Arc::new(http).into());
        Ok(Self { acceptors: Arc::new(RwLock::new(Acceptors { plain, http })) })
    }

    /// Takes over the certificate and key of `new`, for connections from now on.
    pub fn replace(&self, new: &Self) {
        let acceptors = new.acceptors();
        *self.acceptors.write().unwrap_or_else(PoisonError::into_inner) = acceptors;
    }

    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        self.acceptors().plain
    }

    /// Returns the acceptor of a port that speaks HTTP/2 beside HTTP/1.1.
    pub(crate) fn http_acceptor(&self) -> TlsAcceptor {
        self.acceptors().http
    }

    fn acceptors(&self) -> Acceptors {
        self.acceptors.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
