//! Runs what CI runs, step by step. Nothing here is more than a developer could type.

use crate::run::{built, run as start, run_with};
use crate::{
    book, clients, cluster, deny, dynamodb_local, fuzz, mutants, oracle, packages, publish, tidy,
    wasm,
};

/// The ordinary mode draws the same cases each time, so that red always means this change; the long
/// mode draws new ones.
const SAME_CASES: (&str, &str) = ("PROPTEST_RNG_SEED", "20121121");

/// Runs every step; `long` adds the long fuzz, crash and differential modes.
pub(crate) fn run(long: bool) -> anyhow::Result<()> {
    start("cargo", &["fmt", "--all", "--check"])?;
    start("cargo", &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])?;
    let mode: &[(&str, &str)] = if long { &[("SHELFMARK_LONG", "1")] } else { &[SAME_CASES] };
    // It also builds the command and the examples, which the steps below start: asking cargo for
    // them alone would choose other features of half the dependencies and compile all of it again.
    run_with("cargo", &["test", "--workspace"], mode)?;
    run_with("cargo", &["doc", "--workspace", "--no-deps"], &[("RUSTDOCFLAGS", "-D warnings")])?;
    for example in ["async", "blog", "chat", "inventory"] {
        start(&built("examples").join(example).to_string_lossy(), &[])?;
    }
    tidy::run()?;
    deny::run(long)?;
    publish::check(long)?;
    wasm::run()?;
    cluster::run()?;
    clients::run_built(long)?;
    packages::run()?;
    book::check()?;
    if long {
        book::image()?;
        fuzz::run_long()?;
        oracle::run_if_there()?;
        dynamodb_local::run_if_there()?;
        mutants::run_if_there()?;
    }
    println!("all steps passed");
    Ok(())
}
