//! Servers that come and go, as events tell of them.

/// A change of the servers that a client may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerChange {
    /// The server is a new one.
    Added,
    /// The server will not come back.
    Removed,
    /// The server answers.
    Up,
    /// The server does not answer any more.
    Down,
}
