//! Tests of the pages, in this process: requests in, pages out.

#[cfg(test)]
mod ask;
#[cfg(test)]
mod escape;
#[cfg(test)]
mod many;
#[cfg(test)]
mod models;
#[cfg(test)]
mod rows;
#[cfg(test)]
mod stage;
#[cfg(test)]
mod tables;
