//! The typed layers' tests: every case runs on every driver. The files named `case_…` are the
//! acceptance cases of the specification, one module each.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test stops at the first surprise"
)]

mod blobs;
mod case_01_scan_bounds;
mod case_02_counts;
mod case_03_parallel_splits;
mod case_04_one_key_during_a_split;
mod case_05_failing_hooks;
mod case_06_prefixes;
mod case_07_tuple_prefixes;
mod case_08_latest;
mod case_09_transactions;
mod case_10_emptied_leaves;
mod case_11_codecs;
mod case_12_rename;
mod case_13_batch_replace;
mod collections;
mod databases;
mod directions;
mod drivers;
mod entities;
mod indexes;
mod inside;
mod maps;
mod ordered;
mod shards_by_bytes;
