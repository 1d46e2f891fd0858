//! Checks the addresses that the server listens on.

use std::net::SocketAddr;

/// The authentication of a port's clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guard {
    /// Its name in a configuration file.
    pub setting: &'static str,
    /// The flags that set it.
    pub flags: &'static str,
    /// True if it is set.
    pub is_set: bool,
}

/// The reason why an address is refused.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum AddressError {
    /// The port can be reached from other machines, and clients would not be authenticated.
    #[error(
        "{0} can be reached from other machines, and nobody who connects would be asked who they \
         are: the setting `{setting}` is missing. Pass {flags}, listen on 127.0.0.1, or pass \
         --insecure to serve everybody who can reach the port",
        setting = .1.setting,
        flags = .1.flags
    )]
    Exposed(SocketAddr, Guard),
}

/// Refuses to listen where other machines can reach the port, unless clients are authenticated or
/// `insecure` was asked for by name.
///
/// # Errors
///
/// * [`AddressError::Exposed`]: set what the message names, listen on the loopback, or pass
///   `--insecure`.
pub fn check_exposed(
    address: SocketAddr,
    guard: Guard,
    insecure: bool,
) -> Result<(), AddressError> {
    if insecure || guard.is_set || address.ip().is_loopback() {
        Ok(())
    } else {
        Err(AddressError::Exposed(address, guard))
    }
}
