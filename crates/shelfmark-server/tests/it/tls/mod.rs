//! Both faces over TLS. The key beside this file is nobody's secret: it was made for this test.

use std::io::Write as _;
use std::sync::Arc;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use shelfmark_dynamo::FaceOptions;
use shelfmark_server::Tls;
use shelfmark_server::limits::Times;

use crate::bed::{Bed, READY, startup};
use crate::http::{Running, request, rest};

pub(crate) const CERTIFICATE: &[u8] = include_bytes!("certificate.pem");
pub(crate) const KEY: &[u8] = include_bytes!("key.pem");

/// Returns what connects as a client that would speak these protocols.
pub(crate) fn connector(protocols: &[&[u8]]) -> TlsConnector {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(CERTIFICATE).unwrap()).unwrap();
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|own| own.to_vec()).collect();
    TlsConnector::from(Arc::new(config))
}

#[test]
fn dynamodb_operations_over_tls() {
    let tls = Tls::from_pem(CERTIFICATE, KEY).unwrap();
    let server = Running::with(Times::default(), FaceOptions::default(), Some(tls));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let plain = TcpStream::connect(server.address).await.unwrap();
        let name = "localhost".try_into().unwrap();
        let mut stream = connector(&[]).connect(name, plain).await.unwrap();
        stream.write_all(request("ListTables", "{}").as_bytes()).await.unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).await.unwrap();
        assert_eq!(&answer, b"HTTP/1.1 200");
    });
    // A client that speaks without TLS is not answered in plain text.
    let mut client = server.connect();
    client.write_all(request("ListTables", "{}").as_bytes()).unwrap();
    assert!(!rest(&mut client).starts_with(b"HTTP"));
}

#[test]
fn a_handshake_over_tls() {
    let bed = Bed::start_with(Some(Tls::from_pem(CERTIFICATE, KEY).unwrap()));
    let connector = connector(&[]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let plain = TcpStream::connect(bed.address).await.unwrap();
        let name = "localhost".try_into().unwrap();
        let mut stream = connector.connect(name, plain).await.unwrap();
        stream.write_all(&startup(4, &[("CQL_VERSION", "3.0.0")])).await.unwrap();
        let mut answer = [0; 9];
        stream.read_exact(&mut answer).await.unwrap();
        assert_eq!(answer[4], READY);
    });
    // A client that speaks without TLS is not answered in plain text.
    let mut client = bed.connect();
    client.send(&startup(4, &[("CQL_VERSION", "3.0.0")]));
    assert!(client.answer().is_none_or(|answer| answer.opcode != READY));
}

#[test]
fn what_is_no_certificate_or_key_is_refused() {
    assert!(Tls::from_pem(b"", KEY).is_err());
    assert!(Tls::from_pem(CERTIFICATE, b"nothing").is_err());
    assert!(Tls::from_pem(KEY, KEY).is_err());
}
