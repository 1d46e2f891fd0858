//! One file per command.

pub(crate) mod bench;
pub(crate) mod completions;
pub(crate) mod design;
pub(crate) mod get;
pub(crate) mod key;
pub(crate) mod put;
pub(crate) mod scan;
pub(crate) mod serve;
pub(crate) mod stats;
pub(crate) mod tables;
pub(crate) mod tour;
pub(crate) mod verify;
