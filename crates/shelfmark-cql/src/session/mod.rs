//! What one connection may say next, and what it is answered.
