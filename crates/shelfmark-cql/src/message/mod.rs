//! Requests decoded, answers encoded.
