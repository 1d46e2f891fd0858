//! Decides which servers an encrypted connection trusts: those signed by a certificate of the file,
//! and such a certificate itself.
//!
//! The usual rules refuse a certificate that may sign others where a server presents it as its own.
//! `openssl req -x509` makes just such ones, and it is what people pin. A server that presents
//! exactly one of the file's, byte for byte, is therefore taken, and of what the rules ask all the
//! rest still holds: the name, the time, and that the server has the key. Of a certificate that names
//! no server at all (`-subj /CN=localhost` alone does not) the file says which server it is.
//!
//! Invariant: nothing that is not in the file is trusted for being similar.

use std::sync::Arc;

use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::client::{WebPkiServerVerifier, verify_server_name};
use tokio_rustls::rustls::crypto::CryptoProvider;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::server::ParsedCertificate;
use tokio_rustls::rustls::{
    CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};

type Result<T> = std::result::Result<T, Error>;

/// Verifies a server's certificate.
#[derive(Debug)]
pub(super) struct Trust {
    usual: Arc<WebPkiServerVerifier>,
    pinned: Vec<CertificateDer<'static>>,
}

impl Trust {
    /// Creates the verifier for these certificates.
    pub(super) fn new(
        pinned: Vec<CertificateDer<'static>>,
        roots: RootCertStore,
        provider: Arc<CryptoProvider>,
    ) -> anyhow::Result<Self> {
        let usual = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider);
        Ok(Self { usual: usual.build()?, pinned })
    }
}

/// Returns true if the only defect of a certificate is that it is a certificate authority's. The
/// rules look at its time before.
fn is_of_an_authority(error: &Error) -> bool {
    let Error::InvalidCertificate(CertificateError::Other(other)) = error else { return false };
    // The library that decides has no public name for it here.
    format!("{:?}", other.0) == "CaUsedAsEndEntity"
}

/// Returns true if a certificate was refused because it has no name of a server.
fn names_nobody(error: &Error) -> bool {
    matches!(
        error,
        Error::InvalidCertificate(CertificateError::NotValidForNameContext { presented, .. })
            if presented.is_empty()
    )
}

impl ServerCertVerifier for Trust {
    fn verify_server_cert(
        &self,
        own: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified> {
        let error = match self.usual.verify_server_cert(own, others, name, ocsp, now) {
            Err(error) if !self.pinned.contains(own) => return Err(error),
            Err(error) if names_nobody(&error) => return Ok(ServerCertVerified::assertion()),
            Err(error) if is_of_an_authority(&error) => error,
            other => return other,
        };
        let parsed = ParsedCertificate::try_from(own).map_err(|_| error)?;
        match verify_server_name(&parsed, name) {
            Err(error) if !names_nobody(&error) => Err(error),
            _ => Ok(ServerCertVerified::assertion()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        own: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid> {
        self.usual.verify_tls12_signature(message, own, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        own: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid> {
        self.usual.verify_tls13_signature(message, own, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.usual.supported_verify_schemes()
    }
}
