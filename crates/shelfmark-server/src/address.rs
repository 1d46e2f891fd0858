//! Where the server may listen.

use std::net::SocketAddr;

/// Why an address is refused.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum AddressError {
    /// Others could reach the port, and nothing would ask them who they are.
    #[error(
        "{0} can be reached from other machines, and nobody who connects would be asked who they \
         are: the setting `credentials` is missing. Pass --credentials FILE, listen on 127.0.0.1, or \
         pass --insecure to serve everybody who can reach the port"
    )]
    Exposed(SocketAddr),
}

/// Refuses to listen where other machines can reach the port, unless clients are asked who they are
/// or `insecure` was asked for by name.
///
/// # Errors
///
/// * [`AddressError::Exposed`]: set credentials, listen on the loopback, or pass `--insecure`.
pub fn check_exposed(
    address: SocketAddr,
    has_credentials: bool,
    insecure: bool,
) -> Result<(), AddressError> {
    if insecure || has_credentials || address.ip().is_loopback() {
        Ok(())
    } else {
        Err(AddressError::Exposed(address))
    }
}
