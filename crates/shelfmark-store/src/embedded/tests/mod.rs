//! Tests of the embedded driver.

mod basics;
