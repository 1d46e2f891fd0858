//! The server over real sockets.

mod bed;
mod hostile;
mod tls;
