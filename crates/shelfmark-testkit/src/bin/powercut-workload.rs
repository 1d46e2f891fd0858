//! A process that writes to a store, for tests that kill it, cut it off, or make its file
//! operations fail. See `shelfmark_testkit::crash::run`.

use std::process::ExitCode;

use shelfmark_testkit::crash::run::{Arguments, run};

fn main() -> ExitCode {
    match Arguments::parse(std::env::args().skip(1)) {
        Some(arguments) if run(&arguments) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}
