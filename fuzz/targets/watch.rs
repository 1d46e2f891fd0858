//! Fuzzes [`shelfmark_fuzz::watch`].

#![no_main]
#![expect(clippy::disallowed_methods, reason = "the macro writes a file when it is asked to")]

libfuzzer_sys::fuzz_target!(|data: &[u8]| shelfmark_fuzz::watch::run(data));
