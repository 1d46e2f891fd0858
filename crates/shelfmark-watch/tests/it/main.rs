//! Tests of the comparison without a server: requests in, findings out.

mod cql;
mod data;
mod dynamo;
mod proposals;
mod stage;
