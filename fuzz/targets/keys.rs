//! Fuzzes [`shelfmark_fuzz::keys`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| shelfmark_fuzz::keys::run(data));
