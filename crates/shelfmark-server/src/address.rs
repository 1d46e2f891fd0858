//! Where the server may listen.

use std::net::SocketAddr;

/// Why an address is refused.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum AddressError {
    /// Others could reach the port, and nothing would ask them who they are.
    #[error(
        "{0} can be reached from other machines, and this build cannot check credentials yet; \
         listen on 127.0.0.1, or pass --insecure to serve everybody who can reach the port"
    )]
    Exposed(SocketAddr),
}

/// Refuses to listen where other machines can reach the port, unless that was asked for by name.
///
/// # Errors
///
/// * [`AddressError::Exposed`]: pass `--insecure`, or listen on the loopback.
pub fn check_exposed(address: SocketAddr, insecure: bool) -> Result<(), AddressError> {
    if insecure || address.ip().is_loopback() {
        Ok(())
    } else {
        Err(AddressError::Exposed(address))
    }
}
