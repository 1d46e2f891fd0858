//! Tests of the pages, in this process: requests in, pages out.

mod ask;
mod escape;
mod rows;
mod stage;
mod tables;
