//! The engine's tests: every case runs on every driver.
//!
//! `SHELFMARK_LONG=1` runs many more seeds; `SHELFMARK_SEED=n` runs one.

#[cfg(test)]
mod background;
#[cfg(test)]
mod backups;
#[cfg(test)]
mod both_kinds;
#[cfg(test)]
#[expect(dead_code, reason = "the driver's own tests also count by method")]
#[path = "../../../shelfmark-tikv/tests/it/calls.rs"]
mod calls;
#[cfg(test)]
mod cells;
#[cfg(test)]
mod drivers;
#[cfg(test)]
mod every_error;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod filling;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod format;
#[cfg(test)]
mod full_disk;
#[cfg(test)]
mod histories;
#[cfg(test)]
mod indexes;
#[cfg(test)]
mod items;
#[cfg(test)]
mod log_reads;
#[cfg(test)]
mod many_tables;
#[cfg(test)]
mod model;
#[cfg(test)]
mod owners;
#[cfg(test)]
mod preloads;
#[cfg(test)]
mod races;
#[cfg(test)]
mod renew;
#[cfg(test)]
mod round_trips;
#[cfg(test)]
mod script;
#[cfg(test)]
mod servers;
#[cfg(test)]
mod servers_counters;
#[cfg(test)]
mod shard_bytes;
#[cfg(test)]
mod shared_cells;
#[cfg(test)]
mod shared_items;
#[cfg(test)]
mod stream_histories;
#[cfg(test)]
mod streams;
#[cfg(test)]
mod transactions;
#[cfg(test)]
mod upkeep;
#[cfg(test)]
mod verify;
#[cfg(test)]
mod watched;
