//! Carries bytes to the peer that answers them.

use std::io;

use super::interrupt::Interrupt;

/// One blocking connection.
pub(crate) trait Link: Send {
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

    /// Sets the flag at which [`Link::receive`] ends with `Interrupted`. Where a question is
    /// answered before `send` returns, there is nothing to interrupt.
    fn interrupted_by(&mut self, _: Interrupt) {}

    /// Ends the connection.
    ///
    /// # Errors
    ///
    /// * What it opened could not be closed in good order.
    fn close(self: Box<Self>) -> anyhow::Result<()>;
}
