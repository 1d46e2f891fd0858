//! The integration tests of the store: one suite for every driver.

#[cfg(test)]
#[macro_use]
mod lanes;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod kill;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod memory;
#[cfg(test)]
mod property;
#[cfg(test)]
mod seeds;
#[cfg(test)]
mod support;
