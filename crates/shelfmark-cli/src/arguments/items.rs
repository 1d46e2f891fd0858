//! Arguments of the commands that read and write items: `get`, `put`, `delete`, `scan`, `query`.

use clap::Args;

use crate::place::Place;

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  shelfmark get Music 'No One You Know' 'Call Me Today'")]
pub(crate) struct Get {
    #[command(flatten)]
    pub(crate) place: Place,
    /// Table: NAME (a DynamoDB table) or NAMESPACE.NAME
    pub(crate) table: String,
    /// Values of the key columns, partition key first
    #[arg(required = true)]
    pub(crate) key: Vec<String>,
    #[command(flatten)]
    pub(crate) form: ItemsForm,
}

/// The form in which items are printed.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ItemsForm {
    /// Print JSON, an object a line
    #[arg(long)]
    pub(crate) json: bool,
    /// Print CSV: key columns first, then all other attributes by name; documents as JSON. The items are
    /// held until all are read
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  shelfmark put Music '{\"Artist\": \"A\", \"Song\": \"S\", \"Year\": \
    2026}'"
)]
pub(crate) struct Put {
    #[command(flatten)]
    pub(crate) place: Place,
    /// Table: NAME (a DynamoDB table) or NAMESPACE.NAME
    pub(crate) table: String,
    /// The item as JSON; '-' reads it from standard input
    pub(crate) item: String,
    /// Fail if an item with this key is there already
    #[arg(long)]
    pub(crate) if_absent: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  shelfmark delete Music 'No One You Know' 'Call Me Today'")]
pub(crate) struct Delete {
    #[command(flatten)]
    pub(crate) place: Place,
    /// Table: NAME (a DynamoDB table) or NAMESPACE.NAME
    pub(crate) table: String,
    /// Values of the key columns, partition key first
    #[arg(required = true)]
    pub(crate) key: Vec<String>,
    /// Fail if there is no item with this key
    #[arg(long)]
    pub(crate) if_present: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  shelfmark scan Music --limit 10\n  shelfmark scan Music --csv > music.csv\n  shelfmark scan Music -p 'No One \
    You Know' --prefix Call --desc --explain"
)]
pub(crate) struct Scan {
    #[command(flatten)]
    pub(crate) place: Place,
    /// Table: NAME (a DynamoDB table) or NAMESPACE.NAME
    pub(crate) table: String,
    /// Read one partition: values of the partition key's columns
    #[arg(short, long, value_name = "VALUE", num_args = 1..)]
    pub(crate) partition: Vec<String>,
    #[command(flatten)]
    pub(crate) options: ScanOptions,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  shelfmark query Music 'No One You Know' --prefix Call --desc\n  shelfmark \
    query Music 'No One You Know' --server 127.0.0.1:8080 --explain"
)]
pub(crate) struct Query {
    #[command(flatten)]
    pub(crate) place: Place,
    /// Table: NAME (a DynamoDB table) or NAMESPACE.NAME
    pub(crate) table: String,
    /// Values of the partition key's columns
    #[arg(value_name = "VALUE", required = true)]
    pub(crate) partition: Vec<String>,
    #[command(flatten)]
    pub(crate) options: ScanOptions,
}

/// What a scan or query reads of its table, and how much.
#[derive(Debug, Args)]
pub(crate) struct ScanOptions {
    /// Only sort keys that begin with this
    #[arg(long, value_name = "TEXT", requires = "partition", conflicts_with_all = ["from", "to"])]
    pub(crate) prefix: Option<String>,
    /// Only sort keys from this one on
    #[arg(long, value_name = "VALUE", requires = "partition")]
    pub(crate) from: Option<String>,
    /// Only sort keys up to this one
    #[arg(long, value_name = "VALUE", requires = "partition")]
    pub(crate) to: Option<String>,
    /// Read this index instead of the table
    #[arg(long, value_name = "NAME")]
    pub(crate) index: Option<String>,
    /// From the last key to the first
    #[arg(long)]
    pub(crate) desc: bool,
    /// At most this many items
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) limit: usize,
    /// Say what was read for it, on standard error
    #[arg(long)]
    pub(crate) explain: bool,
    #[command(flatten)]
    pub(crate) form: ItemsForm,
}
