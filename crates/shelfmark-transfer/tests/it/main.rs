//! Tables through files and from one endpoint to another, over faces in this process.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise"
)]

mod bad;
mod forms;
mod goes_on;
mod migrated;
mod side;
