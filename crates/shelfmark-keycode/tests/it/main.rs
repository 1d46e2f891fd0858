//! Tests of the key codecs through their public interface.

mod token;
