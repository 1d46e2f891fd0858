//! The server over real sockets.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise"
)]
#![expect(clippy::disallowed_methods, reason = "a test waits for real sockets with a real clock")]

mod bed;
mod cluster;
mod histories;
mod hostile;
mod http;
mod http2;
mod shared;
mod tls;
mod waiting;
