//! Tests of the key codecs through their public interface.
//!
//! Properties run 1,024 cases each; `PROPTEST_CASES=n` makes it 4·n.

#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "a test may panic")]

mod errors;
mod format_doc;
mod lexint;
mod number;
mod order;
mod packed;
mod prefix;
mod strict;
mod token;
mod typed;
mod ulid;
mod values;
