//! Tables through files and from one endpoint to another, over faces in this process.

mod bad;
mod forms;
mod goes_on;
mod migrated;
mod side;
