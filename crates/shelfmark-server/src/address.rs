//! Where the server may listen.

use std::net::SocketAddr;

/// What asks those who connect to a face who they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guard {
    /// The setting, as it is called in a configuration file.
    pub setting: &'static str,
    /// The flags that set it.
    pub flags: &'static str,
    /// Whether it is set.
    pub is_set: bool,
}

/// Why an address is refused.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum AddressError {
    /// Others could reach the port, and nothing would ask them who they are.
    #[error(
        "{0} can be reached from other machines, and nobody who connects would be asked who they \
         are: the setting `{setting}` is missing. Pass {flags}, listen on 127.0.0.1, or pass \
         --insecure to serve everybody who can reach the port",
        setting = .1.setting,
        flags = .1.flags
    )]
    Exposed(SocketAddr, Guard),
}

/// Refuses to listen where other machines can reach the port, unless clients are asked who they are
/// or `insecure` was asked for by name.
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
