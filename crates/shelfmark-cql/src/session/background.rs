//! The pool for work that would hold up the thread of a socket.

/// Runs work away from the thread that reads a connection.
pub trait Background: Send + Sync {
    /// Runs `work` soon, however long it may take; does not wait for it.
    fn run(&self, work: Box<dyn FnOnce() + Send>);
    /// Runs `work`, which is short, on whichever thread serves connections and has time.
    fn share(&self, work: Box<dyn FnOnce() + Send>);
    /// Tells whether work runs where it is handed over, so that handing it over helps nobody.
    fn is_inline(&self) -> bool {
        false
    }
}

/// Runs the work at once: for tests and tools that have one connection.
#[derive(Debug, Clone, Copy, Default)]
pub struct Inline;

impl Background for Inline {
    fn run(&self, work: Box<dyn FnOnce() + Send>) {
        work();
    }

    fn share(&self, work: Box<dyn FnOnce() + Send>) {
        work();
    }

    fn is_inline(&self) -> bool {
        true
    }
}
