//! The integration tests of the store: one suite for every driver.

#[cfg(test)]
mod conformance;
#[cfg(test)]
mod kill;
#[cfg(test)]
mod lanes;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod memory;
#[cfg(test)]
mod property;
#[cfg(test)]
mod seeds;
