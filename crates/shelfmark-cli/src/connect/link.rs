//! What carries bytes to whoever answers them.

use std::io;

/// One connection; it blocks.
pub(super) trait Link {
    /// Sends all of the bytes.
    ///
    /// # Errors
    ///
    /// * The connection is gone.
    fn send(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Waits for bytes and returns some, at least one.
    ///
    /// # Errors
    ///
    /// * The connection is gone; `UnexpectedEof` if the other side ended it.
    fn receive(&mut self) -> io::Result<Vec<u8>>;

    /// Ends the connection.
    ///
    /// # Errors
    ///
    /// * What it opened could not be closed in good order.
    fn close(self: Box<Self>) -> anyhow::Result<()>;
}
