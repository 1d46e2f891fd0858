//! What CI runs, step by step. Nothing here is more than a developer could type.

use crate::run::{run as start, run_with};
use crate::{clients, fuzz, oracle, tidy, wasm};

/// How long each fuzz target runs in the long mode, in seconds.
const FUZZ_SECONDS: u32 = 30;

/// The ordinary mode draws the same cases each time, so that red always means this change; the long
/// mode draws new ones.
const SAME_CASES: (&str, &str) = ("PROPTEST_RNG_SEED", "20121121");

/// Runs every step; `long` adds the long fuzz, crash and differential modes.
pub(crate) fn run(long: bool) -> anyhow::Result<()> {
    start("cargo", &["fmt", "--all", "--check"])?;
    start("cargo", &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])?;
    let mode: &[(&str, &str)] = if long { &[("SHELFMARK_LONG", "1")] } else { &[SAME_CASES] };
    // The command is built first: tests of real processes start it.
    start("cargo", &["build", "--package", "shelfmark-cli"])?;
    run_with("cargo", &["test", "--workspace"], mode)?;
    run_with("cargo", &["doc", "--workspace", "--no-deps"], &[("RUSTDOCFLAGS", "-D warnings")])?;
    for example in ["chat", "blog"] {
        start("cargo", &["run", "--quiet", "--package", "shelfmark", "--example", example])?;
    }
    tidy::run()?;
    wasm::run()?;
    fuzz::replay()?;
    clients::run(long)?;
    if long {
        fuzz::run(None, FUZZ_SECONDS)?;
        oracle::run_if_there()?;
    }
    println!("all steps passed");
    Ok(())
}
