//! Defines the command line: every flag once, from which help and completions follow.

mod design;
mod items;
mod transfer;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) use self::design::*;
pub(crate) use self::items::*;
pub(crate) use self::transfer::*;
use crate::place::Place;
use crate::tour::MODELS;

use crate::commands::backup::{Backup, Restore};

/// One ordered store for people who think in partition keys and sort keys.
#[derive(Debug, Parser)]
#[command(name = "shelfmark", version, propagate_version = true, max_term_width = 100)]
#[command(
    after_help = "Examples:\n  shelfmark tour\n  shelfmark serve --data ./shelfmark-data\n  \
    shelfmark cql -e 'DESCRIBE TABLES'"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve a store to DynamoDB and CQL clients
    Serve(Box<Serve>),
    /// Show the settings that `serve` would have, and which place each comes from
    Config(Box<ConfigCommand>),
    /// Load the teaching models and read them through the faces, pattern by pattern
    Tour(Tour),
    /// Read one item
    Get(Get),
    /// Write one item
    Put(Put),
    /// Delete one item
    Delete(Delete),
    /// Read a partition, or a whole table, in key order
    Scan(Scan),
    /// Read one partition in key order
    Query(Query),
    /// List tables and their keys
    Tables(Tables),
    /// Show what a store, a table or a partition holds and costs, and where a partition lies
    #[command(visible_aliases = ["info", "tablestats"])]
    Stats(Stats),
    /// List the live servers on the store of a running server
    #[command(visible_alias = "status")]
    Servers(Servers),
    /// List the connections of clients to a running server
    #[command(visible_alias = "clientstats")]
    Connections(Connections),
    /// List slow and refused requests of a running server
    Slow(Slow),
    /// Compare the requests of a running server with a model
    Watch(Watch),
    /// Have a store write and merge its files now
    #[command(visible_alias = "flush")]
    Compact(Compact),
    /// Copy a whole store into a file
    #[command(visible_alias = "snapshot")]
    Backup(Backup),
    /// Make a new store of such a file
    Restore(Restore),
    /// Check every byte of a store, and rescue one that is damaged
    Verify(Verify),
    /// Write a table into files
    Export(Box<Export>),
    /// Read files into a table
    Import(Box<Import>),
    /// Copy a store to another engine, or take over the tables of a live server
    Migrate(Box<Migrate>),
    /// Type CQL at a prompt, or run it from text and files
    Cql(Cql),
    /// Run scripts of the cassandra-cli of 2012, or type its commands
    CassandraCli(CassandraCli),
    /// Design keys: check a model, prove its access patterns
    Design(Design),
    /// Measure the engine against the bare store underneath, in one run
    Bench(Bench),
    /// Offer the modeller, and a store, to language models (Model Context Protocol)
    Mcp(Mcp),
    /// Make and read key codecs: lexicographic integers, ULIDs, tokens
    Key(Key),
    /// Print the completion script of a shell
    Completions(Completions),
    /// Write the manual pages of all commands
    Man(Man),
}

/// Parses an address to listen on.
pub(crate) fn address(text: &str) -> Result<SocketAddr, &'static str> {
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    match text.strip_prefix("localhost:").map(str::parse) {
        Some(Ok(port)) => Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port))),
        _ => Err(
            "it takes an IP address and a port, such as 127.0.0.1:8000; port 0 picks a free one",
        ),
    }
}

/// The store that a command works on.
#[derive(Debug, Clone, Args)]
pub(crate) struct Data {
    /// Folder of the store
    #[arg(long, value_name = "DIR", default_value = "./shelfmark-data")]
    pub(crate) data: PathBuf,
}

#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Every flag is also a setting of a configuration file, cql_user = \"ann\", and an environment \
    variable,\nSHELFMARK_CQL_USER=ann; flags win over the environment, and that over the file. `shelfmark \
    config` shows\nwhat holds and why. SIGHUP has the log's levels, the credentials and the certificates read \
    again.\n\nExamples:\n  shelfmark serve\n  shelfmark serve --data /srv/store --dynamodb \
    127.0.0.1:0 --ready-file ready.json\n  shelfmark serve --credentials ~/.aws/credentials --dynamodb 0.0.0.0:8000\n  \
    shelfmark serve --memory\n  shelfmark serve --engine \
    tikv://10.0.0.1:2379,10.0.0.2:2379"
)]
pub(crate) struct Serve {
    /// Folder of the store; created when absent [default: ./shelfmark-data]
    #[arg(long, value_name = "DIR", conflicts_with = "memory")]
    pub(crate) data: Option<PathBuf>,
    /// Keep everything in memory; it is gone when the server stops
    #[arg(long)]
    pub(crate) memory: bool,
    /// Keep everything on a TiKV cluster, by its placement drivers: tikv://HOST:PORT,HOST:PORT. Any
    /// number of servers may share one; a name behind a slash keeps stores on one cluster apart
    #[arg(long, value_name = "URL", conflicts_with_all = ["memory", "durability", "disk_free_min"])]
    pub(crate) engine: Option<String>,
    /// Encrypt connections to the cluster: file with the authority of its certificates, PEM
    #[arg(long, value_name = "FILE")]
    pub(crate) engine_tls_ca: Option<PathBuf>,
    /// File with this server's certificate for the cluster, PEM
    #[arg(long, value_name = "FILE")]
    pub(crate) engine_tls_certificate: Option<PathBuf>,
    /// File with the private key of --engine-tls-certificate, PEM
    #[arg(long, value_name = "FILE")]
    pub(crate) engine_tls_key: Option<PathBuf>,
    /// Where DynamoDB clients connect; port 0 picks a free port [default: 127.0.0.1:8000]
    #[arg(long, value_name = "ADDR", value_parser = address)]
    pub(crate) dynamodb: Option<SocketAddr>,
    /// Encrypt DynamoDB connections: file with the certificate chain, PEM
    #[arg(long, value_name = "FILE")]
    pub(crate) dynamodb_tls_certificate: Option<PathBuf>,
    /// File with the private key of --dynamodb-tls-certificate, PEM
    #[arg(long, value_name = "FILE")]
    pub(crate) dynamodb_tls_key: Option<PathBuf>,
    /// Where CQL clients connect; port 0 picks a free port [default: 127.0.0.1:9042]
    #[arg(long, value_name = "ADDR", value_parser = address)]
    pub(crate) cql: Option<SocketAddr>,
    /// Where whoever runs the server looks: pages for a browser, commands with --server, /health, /ready,
    /// and /metrics for Prometheus; off by default
    #[arg(long, value_name = "ADDR", value_parser = address)]
    pub(crate) console: Option<SocketAddr>,
    /// File with the token that requests to the console carry (Authorization: Bearer TOKEN); needed where
    /// other machines reach it
    #[arg(long, value_name = "FILE")]
    pub(crate) console_token_file: Option<PathBuf>,
    /// Note requests that take MS milliseconds or longer, for `shelfmark slow` and the console; refused ones
    /// are noted as well [default: 100]
    #[arg(long, value_name = "MS")]
    pub(crate) slow_after: Option<u64>,
    /// Send a span of each request to the collector of OpenTelemetry at URL (OTLP over HTTP), such as
    /// http://127.0.0.1:4318
    #[arg(long, value_name = "URL")]
    pub(crate) traces: Option<String>,
    /// Trace one request of N [default: 1]
    #[arg(long, value_name = "N")]
    pub(crate) traces_one_in: Option<u64>,
    /// Compare requests with this model as they come, for `shelfmark watch` and the console's page Watch
    #[arg(long, value_name = "FILE")]
    pub(crate) model: Option<PathBuf>,
    /// The schema of --model whose requests clients send [default: the only one for DynamoDB or CQL]
    #[arg(long, value_name = "NAME")]
    pub(crate) model_schema: Option<String>,
    /// Ask CQL clients to log in; this role is a superuser: it may do everything
    #[arg(long, value_name = "NAME")]
    pub(crate) cql_user: Option<String>,
    /// File with the password of --cql-user; a line end at its end does not count
    #[arg(long, value_name = "FILE")]
    pub(crate) cql_password_file: Option<PathBuf>,
    /// What decides which CQL role may do what: CassandraAuthorizer (what it was granted) or
    /// AllowAllAuthorizer (everything, once it has logged in) [default: CassandraAuthorizer with
    /// --cql-user; without it nobody logs in and everybody may do everything]
    #[arg(long, value_name = "NAME")]
    pub(crate) cql_authorizer: Option<String>,
    /// Whether CQL clients may make and call functions and aggregates of their own: on or off. Their
    /// bodies are run by an interpreter that reaches nothing outside, and take processor time [default: on]
    #[arg(long, value_name = "on|off")]
    pub(crate) cql_functions: Option<String>,
    /// Encrypt CQL connections: file with the certificate chain, PEM
    #[arg(long, value_name = "FILE")]
    pub(crate) cql_tls_certificate: Option<PathBuf>,
    /// File with the private key of --cql-tls-certificate, PEM
    #[arg(long, value_name = "FILE")]
    pub(crate) cql_tls_key: Option<PathBuf>,
    /// What clients of one face may do to tables of another: none, read, or all; a table may say
    /// otherwise of itself [default: read; none where only one face asks who its clients are]
    #[arg(long, value_name = "GRANT")]
    pub(crate) share: Option<String>,
    /// Show all DynamoDB clients one set of tables, whatever region and access key they sign for, as
    /// -sharedDb of DynamoDB Local does; without it each region and account has its own
    #[arg(long)]
    pub(crate) shared: bool,
    /// Read these settings from a TOML file; the environment and flags win over it
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Write the addresses to FILE as JSON once every port answers
    #[arg(long, value_name = "FILE")]
    pub(crate) ready_file: Option<PathBuf>,
    /// Least free disk at which items are still written; deletions are done down to a quarter of it. A
    /// number of bytes, or one with MB, MiB, GB or GiB [default: 256MiB]
    #[arg(long, value_name = "SIZE", value_parser = crate::size::size)]
    pub(crate) disk_free_min: Option<u64>,
    /// Most memory to share out: half of it to requests and answers, a quarter to cached blocks, the rest
    /// to memory tables and connections; clients that ask for more wait or are refused. A number of
    /// bytes, or one with MB, MiB, GB or GiB; never more than six tenths of what a control group or a
    /// quarter of what ulimit leaves, and the log says so [default: half of what the machine or its
    /// control group has]
    #[arg(long, value_name = "SIZE", value_parser = crate::memory::limit)]
    pub(crate) memory_limit: Option<u64>,
    /// Take each folder in DIR as an S3 bucket: ExportTableToPointInTime writes there, ImportTable reads
    /// there, and nothing outside of it is touched
    #[arg(long, value_name = "DIR")]
    pub(crate) buckets: Option<PathBuf>,
    /// Let web pages of ORIGIN use the DynamoDB port without credentials, such as
    /// http://localhost:3000; * for all. May be given several times
    #[arg(long, value_name = "ORIGIN")]
    pub(crate) cors: Vec<String>,
    /// When a write is acknowledged: after its sync, or every so many milliseconds
    #[arg(long, value_name = "sync|interval:MS")]
    pub(crate) durability: Option<String>,
    /// Ask DynamoDB clients for signatures made with a key of FILE, in the form of ~/.aws/credentials.
    /// In a key's section shelfmark_tables (names, * for any letters) and shelfmark_access (read,
    /// write, manage) restrict what it may do, by default everything
    #[arg(long, value_name = "FILE")]
    pub(crate) credentials: Option<PathBuf>,
    /// Serve addresses that other machines can reach without asking for credentials
    #[arg(long)]
    pub(crate) insecure: bool,
    /// What is logged to standard error: error, warn, info or debug, or levels by target, such as
    /// info,shelfmark_cql=debug [default: info]
    #[arg(long, value_name = "LEVELS")]
    pub(crate) log: Option<String>,
    /// Form of log lines: text, or json for an object a line [default: text]
    #[arg(long, value_name = "text|json")]
    pub(crate) log_format: Option<String>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "It takes the flags of `serve`.\n\nExamples:\n  shelfmark config\n  shelfmark config --config \
    /etc/shelfmark/shelfmark.toml --json"
)]
pub(crate) struct ConfigCommand {
    #[command(flatten)]
    pub(crate) serve: Serve,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print CSV
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  shelfmark tour\n  shelfmark tour --model openchat\n  shelfmark \
    tour --json | jq '.[] | select(.correct | not)'\n  shelfmark tour --data ./tour-data"
)]
pub(crate) struct Tour {
    /// Keep the loaded store in DIR and print how to look further
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Print one JSON array instead of text
    #[arg(long)]
    pub(crate) json: bool,
    /// Only this model
    #[arg(long, value_name = "NAME", value_parser = model_names())]
    pub(crate) model: Option<String>,
    /// Seed of the generated data
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
}

/// Returns the names that `tour --model` takes, for help, completion and suggestions.
fn model_names() -> PossibleValuesParser {
    PossibleValuesParser::new(MODELS.iter().map(|model| model.name))
}

/// The server to speak CQL to, or the store to open in this process.
#[derive(Debug, Clone, Args)]
pub(crate) struct Connect {
    /// Open the store in DIR in this process instead of asking a server; created when absent
    #[arg(long, value_name = "DIR", conflicts_with_all = ["server", "user", "tls_ca"])]
    pub(crate) data: Option<PathBuf>,
    /// CQL port of the server, HOST or HOST:PORT
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:9042")]
    pub(crate) server: String,
    /// Log in under this name; without a password you are asked for it
    #[arg(short, long, value_name = "NAME")]
    pub(crate) user: Option<String>,
    /// The password; others see it in the list of processes, so better use --password-file
    #[arg(short, long, value_name = "TEXT", requires = "user")]
    pub(crate) password: Option<String>,
    /// File with the password; a line end at its end does not count
    #[arg(long, value_name = "FILE", requires = "user", conflicts_with = "password")]
    pub(crate) password_file: Option<PathBuf>,
    /// Encrypt the connection; the server's certificate must be one of FILE, PEM, or signed by one
    #[arg(long, value_name = "FILE")]
    pub(crate) tls_ca: Option<PathBuf>,
    /// Begin in this keyspace
    #[arg(short, long, value_name = "NAME")]
    pub(crate) keyspace: Option<String>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Without -e and -f it prompts on a terminal, and otherwise runs its standard \
    input.\nExit codes: 0 all done, 1 no connection or no file, 2 a statement was refused; the rest \
    was not run.\n\nExamples:\n  shelfmark cql\n  shelfmark cql --data ./shelfmark-data -f \
    schema.cql\n  shelfmark cql -k blog -e 'SELECT * FROM posts LIMIT 3' --json | jq .title\n  \
    shelfmark cql -k shop --forgiving -f article.txt"
)]
pub(crate) struct Cql {
    #[command(flatten)]
    pub(crate) connect: Connect,
    /// Run these statements and exit; may be given several times
    #[arg(short, long, value_name = "STATEMENTS", conflicts_with = "file")]
    pub(crate) execute: Vec<String>,
    /// Run the statements of FILE and exit; '-' is standard input; may be given several times
    #[arg(short, long, value_name = "FILE")]
    pub(crate) file: Vec<PathBuf>,
    /// Print each row as a JSON object on a line of its own
    #[arg(long)]
    pub(crate) json: bool,
    /// Mend what text processors made of scripts, and pass over prose; every repair is a warning
    #[arg(long)]
    pub(crate) forgiving: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Without -f it prompts on a terminal, and otherwise runs its standard \
    input.\nExit codes: 0 all done, 1 no connection or no file, 4 a command failed; the rest was \
    not run.\n\nExamples:\n  shelfmark cassandra-cli -f schema.txt\n  shelfmark cassandra-cli \
    --data ./shelfmark-data --forgiving -f document.txt\n  shelfmark cassandra-cli -k Twissandra")]
pub(crate) struct CassandraCli {
    #[command(flatten)]
    pub(crate) connect: Connect,
    /// Run the commands of FILE and exit; '-' is standard input
    #[arg(short, long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Mend what text processors made of scripts, and pass over prose; every repair is a warning
    #[arg(long)]
    pub(crate) forgiving: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  shelfmark tables --data ./shelfmark-data")]
pub(crate) struct Tables {
    #[command(flatten)]
    pub(crate) place: Place,
    /// List the store's own tables too: records of streams, copies of backups
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print CSV
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "A large table is sampled by a bounded number of seeks; figures that are estimates say \
    'about'.\n\nExamples:\n  shelfmark stats --json\n  shelfmark stats --server 127.0.0.1:8080\n  shelfmark \
    stats Music\n  shelfmark stats Music --partition 'No One You Know'"
)]
pub(crate) struct Stats {
    #[command(flatten)]
    pub(crate) place: Place,
    /// Show this table: NAME (a DynamoDB table) or NAMESPACE.NAME
    pub(crate) table: Option<String>,
    /// Show one partition of it: values of the partition key's columns
    #[arg(short, long, value_name = "VALUE", num_args = 1.., requires = "table")]
    pub(crate) partition: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print CSV, sizes as numbers of bytes
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
}

/// The running server that a command asks.
#[derive(Debug, Clone, Args)]
pub(crate) struct RunningServer {
    /// Address of the server's console (`shelfmark serve --console ADDR`)
    #[arg(long, value_name = "ADDR")]
    pub(crate) server: String,
    /// File with the token of that console; without it the environment variable SHELFMARK_CONSOLE_TOKEN
    /// is taken
    #[arg(long, value_name = "FILE")]
    pub(crate) console_token_file: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print CSV
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "A server that died is listed until its lease is over, at most ten seconds.\n\nExample:\n  \
    shelfmark servers --server 127.0.0.1:8080"
)]
pub(crate) struct Servers {
    #[command(flatten)]
    pub(crate) running: RunningServer,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  shelfmark connections --server 127.0.0.1:8080")]
pub(crate) struct Connections {
    #[command(flatten)]
    pub(crate) running: RunningServer,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The server keeps the last 128 slow ones and as many refused ones; no values, but --json has the key \
    ranges that were read.\n\nExample:\n  shelfmark slow --server 127.0.0.1:8080 --limit 20"
)]
pub(crate) struct Slow {
    #[command(flatten)]
    pub(crate) running: RunningServer,
    /// At most this many, the newest
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The report names patterns and forms of keys; no value of a request or row is kept.\n\nExamples:\n  \
    shelfmark watch --server 127.0.0.1:8080 --model shop.shelf --schema first\n  shelfmark watch --server \
    127.0.0.1:8080 --json > report.json\n  shelfmark watch --server 127.0.0.1:8080 --reset"
)]
pub(crate) struct Watch {
    /// Address of the server's console (`shelfmark serve --console ADDR`)
    #[arg(long, value_name = "ADDR")]
    pub(crate) server: String,
    /// File with the token of that console; without it the environment variable SHELFMARK_CONSOLE_TOKEN
    /// is taken
    #[arg(long, value_name = "FILE")]
    pub(crate) console_token_file: Option<PathBuf>,
    /// Open this model there, in the place of the one before
    #[arg(long, value_name = "FILE")]
    pub(crate) model: Option<PathBuf>,
    /// The schema of --model [default: the only one for DynamoDB or CQL]
    #[arg(long, value_name = "NAME", requires = "model")]
    pub(crate) schema: Option<String>,
    /// Print the report, then forget what was counted
    #[arg(long, conflicts_with = "model")]
    pub(crate) reset: bool,
    /// Print the report, then close the model: nothing is compared any more
    #[arg(long, conflicts_with_all = ["model", "reset"])]
    pub(crate) close: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Stores do this by themselves when it is due.\n\nExample:\n  shelfmark compact --server \
    127.0.0.1:8080"
)]
pub(crate) struct Compact {
    #[command(flatten)]
    pub(crate) place: Place,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "With --server and --engine the records are checked, while clients write; the bytes of \
                  files are not.\n\nWith --suites nothing of a store is read or written. Each case has a key \
                  space of its own on the cluster, shelfmark-verify-RUN-NUMBER, which is removed when the case \
                  ends; Ctrl-C removes it too, and what a killed run left is removed by the next one. Servers \
                  on the cluster go on beside it, and share its load: a minute or a few of small commits from a few \
                  threads, one of 16 MiB, some 30 MB in all, which the next collection takes off the disks.\n\nExamples:\n  shelfmark verify\n  shelfmark verify --server 127.0.0.1:8080\n  \
                  shelfmark verify --data /srv/store --salvage\n  \
                  shelfmark verify --salvage --schema schema.cql --schema tables.json\n  \
                  shelfmark verify --engine tikv://10.0.0.1:2379,10.0.0.2:2379\n  \
                  shelfmark verify --engine tikv://10.0.0.1:2379 --suites"
)]
pub(crate) struct Verify {
    #[command(flatten)]
    pub(crate) place: Place,
    /// Say what is lost, set damaged parts aside, and make the rest usable again; also gives a
    /// keyspace that has the name of another face's tables a name of its own
    #[arg(long, conflicts_with_all = ["server", "engine"])]
    pub(crate) salvage: bool,
    /// With --salvage: take rows whose table is not known any more by the schema in FILE, a CQL script
    /// of CREATE statements in the order in which the tables were made, or the JSON body of a
    /// CreateTable, or a list of them; may be given more than once
    #[arg(long, value_name = "FILE", requires = "salvage")]
    pub(crate) schema: Vec<std::path::PathBuf>,
    /// With --salvage: go on although whole tables are lost
    #[arg(long, requires = "salvage")]
    pub(crate) accept_loss: bool,
    /// Print JSON: an object for the files, where these are checked, and one for the records
    #[arg(long, conflicts_with = "salvage")]
    pub(crate) json: bool,
    /// Try the cluster of --engine itself, in place of the records of a store on it: whether it keeps the
    /// storage contract, case by case, and whether transactions that run side by side are in one order
    #[cfg(feature = "tikv")]
    #[arg(long, requires = "engine", conflicts_with_all = ["data", "server", "salvage", "json"])]
    pub(crate) suites: bool,
    /// With --suites: run the cases whose group or name has TEXT in it
    #[cfg(feature = "tikv")]
    #[arg(long, value_name = "TEXT", requires = "suites")]
    pub(crate) only: Option<String>,
    /// With --suites: seed of the transactions [default: another one each time, which is printed]
    #[cfg(feature = "tikv")]
    #[arg(long, value_name = "N", requires = "suites")]
    pub(crate) seed: Option<u64>,
}

/// Certificates for connections to a cluster.
#[derive(Debug, Clone, Args)]
pub(crate) struct EngineTls {
    /// Encrypt connections to the cluster: file with the authority of its certificates, PEM
    #[arg(long, value_name = "FILE", requires = "engine_tls_certificate")]
    pub(crate) engine_tls_ca: Option<PathBuf>,
    /// File with this command's certificate for the cluster, PEM
    #[arg(long, value_name = "FILE", requires = "engine_tls_key")]
    pub(crate) engine_tls_certificate: Option<PathBuf>,
    /// File with the private key of --engine-tls-certificate, PEM
    #[arg(long, value_name = "FILE", requires = "engine_tls_ca")]
    pub(crate) engine_tls_key: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Servers on both sides are stopped first. A call that was interrupted is made again, with \
    the same places, and goes on; until it\nis done no server opens the target. At the end both \
    sides are read and compared, key by key.\n\nExamples:\n  shelfmark migrate --from ./shelfmark-data --to \
    tikv://10.0.0.1:2379,10.0.0.2:2379\n  shelfmark migrate --from tikv://10.0.0.1:2379/shop --to \
    /srv/store\n\nOf a live server definitions, indexes and rows are taken over while it runs; a call that was \
    interrupted goes on, and at the end both sides\nare read and compared, table by table.\n\nExamples:\n  shelfmark \
    migrate --from dynamodb://127.0.0.1:8000 --to ./shelfmark-data\n  shelfmark migrate --from cql://10.0.0.1:9042 \
    --only shop --to ./shelfmark-data"
)]
pub(crate) struct Migrate {
    /// Store to copy: a folder, or tikv://HOST:PORT,HOST:PORT[/SPACE]; or a live server whose tables are taken
    /// over: dynamodb://HOST:PORT (DynamoDB Local, the service itself) or cql://HOST:PORT (Cassandra)
    #[arg(long, value_name = "PLACE")]
    pub(crate) from: String,
    /// Empty place for the copy: a folder, or tikv://HOST:PORT,HOST:PORT[/SPACE]; of a live server, a folder,
    /// whose other tables stay
    #[arg(long, value_name = "PLACE")]
    pub(crate) to: String,
    /// Of a live server only this table of DynamoDB, or this keyspace of CQL; may be given several times
    #[arg(long, value_name = "NAME")]
    pub(crate) only: Vec<String>,
    /// Of a live server at most so many rows a second
    #[arg(long, value_name = "ROWS_PER_SECOND", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) rate: Option<u64>,
    /// Parts of a live server's table that are copied at once
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub(crate) segments: usize,
    #[command(flatten)]
    pub(crate) login: EndpointLogin,
    #[command(flatten)]
    pub(crate) tls: EngineTls,
    /// Print the outcome as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  shelfmark bench --seconds 5")]
pub(crate) struct Bench {
    /// Seconds per measurement
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) seconds: u64,
    /// Items loaded before reads are measured
    #[arg(long, value_name = "N", default_value_t = 200_000)]
    pub(crate) items: u64,
    /// Print a Markdown table
    #[arg(long)]
    pub(crate) markdown: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  shelfmark key lexint 307        # fb38\n  shelfmark key lexint --decode \
    fb38\n  shelfmark key ulid\n  shelfmark key token 'user#1'"
)]
pub(crate) struct Key {
    #[command(subcommand)]
    pub(crate) codec: KeyCodec,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeyCodec {
    /// Write whole numbers as text that sorts like them
    #[command(
        after_help = "Examples:\n  shelfmark key lexint 5 20 307\n  shelfmark key lexint --decode fb38"
    )]
    Lexint {
        /// Numbers, or hexadecimal text with --decode
        #[arg(required = true)]
        values: Vec<String>,
        /// Read the text back
        #[arg(long)]
        decode: bool,
    },
    /// Make ULIDs, or read their time
    #[command(
        after_help = "Examples:\n  shelfmark key ulid --count 3\n  shelfmark key ulid 01ARZ3NDEKTSV4RRFFQ69G5FAV"
    )]
    Ulid {
        /// ULIDs to read; none makes a new one
        values: Vec<String>,
        /// How many to make
        #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "values")]
        count: u32,
    },
    /// Compute Cassandra's token of a text partition key
    #[command(after_help = "Example:\n  shelfmark key token 'user#1'")]
    Token {
        /// Texts
        #[arg(required = true)]
        values: Vec<String>,
    },
}

#[derive(Debug, Args)]
#[command(
    after_help = "It speaks over standard input and output; a client starts it. Tools: language, check, \
    prove, plan, compare, calls, explain, confirm and size on models; tables, dynamodb and cql on a \
    store.\n\nExamples:\n  shelfmark mcp\n  shelfmark mcp --data ./shelfmark-data\n  shelfmark mcp \
    --server 127.0.0.1:8080\n\nAs most clients are told of it:\n  {\"mcpServers\": {\"shelfmark\": {\"command\": \"shelfmark\", \"args\": [\"mcp\"]}}}",
    group = clap::ArgGroup::new("store").args(["data", "server"])
)]
pub(crate) struct Mcp {
    /// Offer the store in this folder too; no server may have it open
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Offer the store of the running server whose console is at ADDR (`shelfmark serve --console ADDR`)
    #[arg(long, value_name = "ADDR", conflicts_with = "data")]
    pub(crate) server: Option<String>,
    /// File with the token of that console; without it the environment variable SHELFMARK_CONSOLE_TOKEN
    /// is taken
    #[arg(long, value_name = "FILE", requires = "server")]
    pub(crate) console_token_file: Option<PathBuf>,
    /// Let tools change the store; without it they only read
    #[arg(long, requires = "store")]
    pub(crate) allow_writes: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  shelfmark completions bash > \
    ~/.local/share/bash-completion/completions/shelfmark")]
pub(crate) struct Completions {
    /// Which shell
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  shelfmark man | man -l -\n  shelfmark man --out /usr/local/share/man/man1"
)]
pub(crate) struct Man {
    /// Folder for a page per command, created when absent; without it the page `shelfmark.1` is printed
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Shell {
    Bash,
    Elvish,
    Fish,
    Powershell,
    Zsh,
}
