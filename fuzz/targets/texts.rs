//! Fuzzes [`shelfmark_fuzz::texts`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| shelfmark_fuzz::texts::run(data));
