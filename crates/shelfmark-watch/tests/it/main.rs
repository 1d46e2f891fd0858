//! Tests of the comparison without a server: requests in, findings out.

#[cfg(test)]
mod cql;
#[cfg(test)]
mod data;
#[cfg(test)]
mod dynamo;
#[cfg(test)]
mod proposals;
#[cfg(test)]
mod stage;
