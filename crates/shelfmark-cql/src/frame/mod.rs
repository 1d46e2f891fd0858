//! Envelopes, checksummed frames, compression.
