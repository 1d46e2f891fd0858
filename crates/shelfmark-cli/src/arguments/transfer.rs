//! The flags of `export` and `import`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// The form of rows in files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Lines of DynamoDB's JSON; in a folder with manifests, as ExportTableToPointInTime writes them
    DynamodbJson,
    /// Plain JSON, a row a line
    Jsonl,
    /// Comma-separated values with a header
    Csv,
    /// What cqlsh's COPY writes
    Copy,
    /// A data model of NoSQL Workbench with its rows
    Workbench,
}

/// The store or the server whose table it is.
#[derive(Debug, Clone, Args)]
pub(crate) struct TablePlace {
    /// Folder of the store, which no server has open
    #[arg(long, value_name = "DIR", default_value = "./shelfmark-data")]
    pub(crate) data: PathBuf,
    /// Ask the running server whose console is at ADDR (`shelfmark serve --console ADDR`)
    #[arg(long, value_name = "ADDR", conflicts_with_all = ["data", "endpoint"])]
    pub(crate) server: Option<String>,
    /// File with the token of that console; without it the environment variable SHELFMARK_CONSOLE_TOKEN
    /// is taken
    #[arg(long, value_name = "FILE", requires = "server")]
    pub(crate) console_token_file: Option<PathBuf>,
    /// Ask a server instead: dynamodb://HOST:PORT (this one, DynamoDB Local, or the service itself), or
    /// cql://HOST:PORT (this one, or Cassandra)
    #[arg(long, value_name = "URL", conflicts_with = "data")]
    pub(crate) endpoint: Option<String>,
    #[command(flatten)]
    pub(crate) login: EndpointLogin,
}

/// How to speak to a server.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct EndpointLogin {
    /// Encrypt the connection; the server's certificate must be one of FILE, PEM, or signed by one
    #[arg(long, value_name = "FILE")]
    pub(crate) tls_ca: Option<PathBuf>,
    /// Name for a login to CQL; keys for DynamoDB are AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
    /// AWS_SESSION_TOKEN and AWS_REGION in the environment
    #[arg(long, value_name = "NAME")]
    pub(crate) user: Option<String>,
    /// File with the password of that login
    #[arg(long, value_name = "FILE", requires = "user")]
    pub(crate) password_file: Option<PathBuf>,
}

/// The pace and the report of a transfer.
#[derive(Debug, Clone, Args)]
pub(crate) struct Pace {
    /// At most so many rows a second
    #[arg(long, value_name = "ROWS_PER_SECOND", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) rate: Option<u64>,
    /// Print the outcome as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "An export that was interrupted goes on when it is called again: how far it came stands in \
    a file beside its output, which is removed at the end. The definition of the table is written beside it, \
    too, for `import --create`. The last line has the count of rows and a checksum that does not depend on \
    their order; an import of the same rows prints the same.\n\nExamples:\n  shelfmark export music --to \
    music.jsonl --format jsonl\n  shelfmark export music --to ./exported --format dynamodb-json\n  shelfmark \
    export music --to music.csv.gz --format csv --endpoint dynamodb://127.0.0.1:8000"
)]
pub(crate) struct Export {
    /// The table: NAME of DynamoDB, KEYSPACE.NAME of CQL, DATABASE.NAME of a Rust program
    pub(crate) table: String,
    /// File or folder to write, '-' for standard output; a name that ends in .gz is packed
    #[arg(long, value_name = "PATH")]
    pub(crate) to: PathBuf,
    /// The form of the rows
    #[arg(long, value_enum)]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) place: TablePlace,
    /// Pack the file as gzip
    #[arg(long)]
    pub(crate) gzip: bool,
    /// Parts of the table that are read at once; with 1 the rows of a file are in the order of the table
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub(crate) segments: usize,
    /// Keep the write time and expiry of each cell (CQL tables, jsonl)
    #[arg(long)]
    pub(crate) cells: bool,
    #[command(flatten)]
    pub(crate) pace: Pace,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Rows replace those that have their key. An import that was interrupted goes on when it is \
    called again. Of two records with one key either may stay.\n\nExamples:\n  shelfmark import music.jsonl \
    --table music --format jsonl --create artist:S,song:S\n  shelfmark import ./exported --table music --format \
    dynamodb-json --create ./exported.table.json\n  shelfmark import model.json --format workbench"
)]
pub(crate) struct Import {
    /// File or folder to read, '-' for standard input; what is packed as gzip is unpacked
    pub(crate) from: PathBuf,
    /// The table; all of a data model of Workbench where none is named
    #[arg(long, value_name = "NAME", required_if_eq_any([
        ("format", "dynamodb-json"),
        ("format", "jsonl"),
        ("format", "csv"),
        ("format", "copy"),
    ]))]
    pub(crate) table: Option<String>,
    /// The form of the rows
    #[arg(long, value_enum)]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) place: TablePlace,
    /// Create the table, and the store, unless they are there: the key, such as pk:S,sk:N, or a file with the
    /// definition, as export writes it (a request CreateTable, or statements of CQL)
    #[arg(long, value_name = "KEY|FILE")]
    pub(crate) create: Option<String>,
    /// Pass over up to N records that cannot be kept; they are told
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) skip_bad: u64,
    /// Threads that write at once
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) threads: u16,
    #[command(flatten)]
    pub(crate) pace: Pace,
}
