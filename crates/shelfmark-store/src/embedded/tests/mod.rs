//! Tests of the embedded driver, one module per promise.

mod basics;
mod contract;
mod creation;
mod damage;
mod interval;
mod isolation;
mod model;
mod replay;
mod snapshots;
mod support;
mod trouble;
