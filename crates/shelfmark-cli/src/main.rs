//! The command `shelfmark`.
//!
//! What it is not: it holds no logic of stores, tables or faces; it opens them, asks, and prints.
//!
//! Invariant: what a person reads goes to standard output, what went wrong to standard error, and
//! the exit code is 0 exactly when the command did what it was asked.

mod arguments;
mod cluster;
mod commands;
mod connect;
mod console;
mod credentials;
mod items_csv;
mod log;
mod memory;
mod place;
mod pretty;
mod prompt;
mod random;
mod size;
mod store;
mod table;
mod tour;
mod traces;

use std::process::ExitCode;

use clap::Parser as _;

use arguments::{Arguments, Command};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(arguments.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is::<commands::design::Denied>() => ExitCode::FAILURE,
        Err(error) if error.is::<commands::design::NoModel>() => {
            anstream::eprint!("{error}");
            ExitCode::from(2)
        }
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            if let Some(stopped) = error.downcast_ref::<commands::Stopped>() {
                return ExitCode::from(stopped.code);
            }
            let style = anstyle::AnsiColor::Red.on_default().bold();
            anstream::eprintln!("{style}error:{style:#} {}", message_of(&error));
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Serve(serve) => commands::serve::run(&serve),
        Command::Config(config) => commands::config::run(&config),
        Command::Tour(tour) => commands::tour::run(&tour),
        Command::Get(get) => commands::get::run(&get),
        Command::Put(put) => commands::put::run(&put),
        Command::Delete(delete) => commands::put::delete(&delete),
        Command::Scan(scan) => commands::scan::run(&scan),
        Command::Query(query) => commands::scan::query(&query),
        Command::Tables(tables) => commands::tables::run(&tables),
        Command::Stats(stats) => commands::stats::run(&stats),
        Command::Servers(servers) => commands::running::servers(&servers),
        Command::Connections(connections) => commands::running::connections(&connections),
        Command::Slow(slow) => commands::running::slow(&slow),
        Command::Watch(watch) => commands::watch::run(&watch),
        Command::Compact(compact) => commands::compact::run(&compact),
        Command::Backup(backup) => commands::backup::backup(&backup),
        Command::Restore(restore) => commands::backup::restore(&restore),
        Command::Verify(verify) => commands::verify::run(&verify),
        Command::Mcp(mcp) => commands::mcp::run(&mcp),
        Command::Export(export) => commands::transfer::export(&export),
        Command::Import(import) => commands::transfer::import(&import),
        Command::Migrate(migrate) => commands::migrate::run(&migrate),
        Command::Cql(cql) => commands::cql::run(&cql),
        Command::CassandraCli(cli) => commands::cassandra_cli::run(&cli),
        Command::Design(design) => commands::design::run(&design),
        Command::Bench(bench) => commands::bench::run(&bench),
        Command::Key(key) => commands::key::run(&key),
        Command::Completions(completions) => commands::completions::run(&completions),
        Command::Man(man) => commands::man::run(&man),
    }
}

/// Joins the messages of an error and its causes, leaving out those that another one repeats.
fn message_of(error: &anyhow::Error) -> String {
    let mut text = error.to_string().trim_end().to_owned();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        let cause = cause.trim_end();
        if !text.contains(cause) {
            text.push_str(": ");
            text.push_str(cause);
        }
    }
    text
}

/// Returns true if standard output was closed early, as by `shelfmark scan … | head`: no error.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
    })
}
