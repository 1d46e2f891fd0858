//! Development tasks. `cargo xtask ci` is exactly what CI runs.
//!
//! What it is not: part of the product. It may print, read files and start programs as it likes.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a tool for developers: it prints, and what it reads and writes is no data of users"
)]

mod book;
mod ci;
mod clients;
mod cluster;
mod deny;
mod dynamodb_local;
mod fuzz;
mod java;
mod mutants;
mod oracle;
mod packages;
mod publish;
mod run;
mod tidy;
mod wasm;

use std::process::ExitCode;

const HELP: &str = "\
Usage: cargo xtask TASK

Tasks:
  ci [--long]   format, clippy, tests, docs, tidy, real clients; --long adds the long modes
  tidy          check the rules that no compiler checks
  wasm          check the modeller for browsers, where that target is installed
  tikv          run the suites of the store and the engine on a TiKV cluster: the test bed, or the one whose
                placement drivers SHELFMARK_TIKV names (host:port, with commas)
  clients [--long]
                run the real clients against a server, and replay what Cassandra answered; --long adds
                the Java driver (JDK 17 and Maven) and what takes long
  packages      run the packages for test suites (clients/pytest-shelfmark, clients/vitest-shelfmark)
  publish [--build]
                pack every crate as for a registry; --build compiles each from its package alone
  report        print the size of the release build and the licences of what it is made of
  book          build the book and run the commands on its pages
  image         build the image of deploy/Containerfile and start it, where buildah is installed
  oracle [--seed N] [--count N] [--statements N]
                compare CQL with Apache Cassandra, which is downloaded; see clients/cassandra
  dynamodb-local [--seed N] [--count N] [--requests N] [--all]
                compare DynamoDB's operations with DynamoDB Local, which is downloaded; see
                clients/dynamodb-local
  fuzz [TARGET] [--seconds N]
                run one fuzz target, or each of them, for N seconds (60); see fuzz/README.md
  mutants [AREA] [--seed N] [--count N] [--shard K/N] [--together]
                change one expression of an area at a time (keycode, store, engine, verifier, cql), N of
                each (30), and see whether the crate's own tests notice; needs cargo-mutants.
                --together builds all of them once, behind a switch, and runs hundreds in minutes
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["ci"] => ci::run(false),
        ["ci", "--long"] => ci::run(true),
        ["tidy"] => tidy::run(),
        ["wasm"] => wasm::run(),
        ["tikv"] => cluster::run(),
        ["clients"] => clients::run(false),
        ["clients", "--long"] => clients::run(true),
        ["packages"] => packages::run(),
        ["publish"] => publish::check(false),
        ["publish", "--build"] => publish::check(true),
        ["report"] => publish::report(),
        ["book"] => book::check(),
        ["image"] => book::image(),
        ["oracle", options @ ..] => oracle::run(options),
        ["dynamodb-local", options @ ..] => dynamodb_local::run(options),
        ["fuzz", options @ ..] => fuzz::run_with_options(options),
        ["mutants", options @ ..] => mutants::run_with_options(options),
        _ => {
            print!("{HELP}");
            return if words == ["--help"] { ExitCode::SUCCESS } else { ExitCode::FAILURE };
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
