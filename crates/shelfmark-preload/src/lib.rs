//! A library loaded under a process (`LD_PRELOAD`): it records every file operation below one
//! folder, and makes chosen ones fail.
//!
//! A power cut cannot be had in a test, and `kill -9` keeps everything the kernel holds. So the
//! operations of a process are written down in their order, syncs among them, and the testkit
//! (`shelfmark_testkit::powercut`) rebuilds from them what a power cut could have left.
//!
//! | variable | meaning |
//! | --- | --- |
//! | `SHELFMARK_RECORD` | append what happens to this file; see the module `record` |
//! | `SHELFMARK_RECORD_ROOT` | absolute path of the folder that counts; without it nothing is done |
//! | `SHELFMARK_RECORD_SITES` | if set, each sync is recorded with the functions that asked for it |
//! | `SHELFMARK_FAULT` | `op\|op:n:what` or `op:n+:what`; see the module `fault` |
//! | `SHELFMARK_FAULT_PATH` | faults are meant for paths with this end only; `…/`: for what is in such folders |
//! | `SHELFMARK_FAULT_WHILE` | faults happen only while this file exists |
//! | `SHELFMARK_FAULT_TOLD` | a file that is created when a fault strikes |
//! | `SHELFMARK_FREE` | a file that holds how many bytes `statvfs` shall call free |
//!
//! What it is not: part of the product, or able to see system calls that do not go through libc.
//! `rustix` goes past it unless everything is built with `--cfg rustix_use_libc`; a test compares
//! the recording with `strace`.
//!
//! Invariant: except for chosen faults, the process sees the same results as without it. Calls that
//! cannot be recorded (copies inside the kernel, preallocation) answer that they are not
//! supported, and callers fall back to reading and writing.

#![cfg(target_os = "linux")]
#![allow(
    unsafe_code,
    reason = "taking over C functions cannot be done without; this crate is loaded in tests only"
)]

mod fault;
mod files;
mod handles;
mod names;
mod next;
mod paths;
mod record;
mod state;
