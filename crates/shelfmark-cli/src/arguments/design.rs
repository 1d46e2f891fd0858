//! Defines the flags of `shelfmark design`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  shelfmark design new > shop.shelf\n  shelfmark design check \
    shop.shelf --deny error\n  shelfmark design prove shop.shelf --schema first\n  shelfmark \
    design explain K3")]
pub(crate) struct Design {
    #[command(subcommand)]
    pub(crate) verb: DesignVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DesignVerb {
    /// Print a commented model to begin with
    #[command(after_help = "Example:\n  shelfmark design new > shop.shelf")]
    New,
    /// Format models in place
    #[command(
        after_help = "Examples:\n  shelfmark design fmt shop.shelf\n  shelfmark design fmt --check models/*.shelf"
    )]
    Fmt {
        /// Models; '-' reads standard input and prints
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Change nothing; fail if something would change
        #[arg(long)]
        check: bool,
    },
    /// Look for defects
    Check(DesignCheck),
    /// Prove each pattern in each schema, or refuse it with a witness
    #[command(
        after_help = "Exit code 0: nothing that is denied; 1: something is; 2: no model, or a word that nothing is called.\n\nExamples:\n  shelfmark design prove shop.shelf --deny refused\n  shelfmark design prove shop.shelf --save proofs.json"
    )]
    Prove {
        #[command(flatten)]
        run: DesignRun,
        /// Fail on these: certified, multi, refused, unservable, or an obligation (O1 to O10)
        #[arg(long, value_name = "WHAT", value_delimiter = ',')]
        deny: Vec<String>,
        /// Write the certificates to FILE, for `verify`
        #[arg(long, value_name = "FILE")]
        save: Option<PathBuf>,
    },
    /// Run each pattern on the engine, and compare it with what the proof says
    Confirm(DesignConfirm),
    /// Re-check certificates that `prove --save` wrote
    #[command(after_help = "Example:\n  shelfmark design verify proofs.json")]
    Verify {
        /// File that `prove --save` wrote
        certificates: PathBuf,
    },
    /// Derive a schema from the patterns: the families, look-ups and transactions that they need
    Plan(DesignPlan),
    /// Print each step of a certified plan as the request that a user of the target sends
    Calls(DesignCalls),
    /// Count rows and bytes: partitions now and later, hot ones, what one write costs
    #[command(after_help = "Example:\n  shelfmark design size shop.shelf --schema first")]
    Size {
        /// Model
        file: PathBuf,
        /// Only this schema
        #[arg(long, value_name = "NAME")]
        schema: Option<String>,
        /// Text for people or JSON for machines
        #[arg(long, value_enum, default_value_t = DesignFormat::Text)]
        format: DesignFormat,
    },
    /// Turn a schema of another tool into a model, with questions where it does not say enough
    #[command(
        after_help = "Understood: data models of NoSQL Workbench and Dynobase (row types from sample \
        rows, named queries); entities of ElectroDB and schemas of OneTable (JavaScript, TypeScript, \
        JSON; no code is run); SQL tables of PostgreSQL, MySQL and SQLite with a query log; Prisma \
        schemas; CQL. What a text does not say stands in the model as a comment that begins with \
        '# ?'.\n\nExamples:\n  shelfmark design import schema.cql > shop.shelf\n  \
        shelfmark design import workbench.json > shop.shelf\n  \
        shelfmark design import dump.sql --log queries.log --span 1h > shop.shelf"
    )]
    Import {
        /// A schema of another tool, '-' for standard input, or a live server with a sample of its rows:
        /// dynamodb://HOST:PORT[/TABLE], cql://HOST:PORT[/KEYSPACE]
        file: PathBuf,
        /// What it is, where name and beginning do not tell
        #[arg(long, value_enum)]
        from: Option<DesignSource>,
        /// Query log beside SQL tables: statements, a general or slow log, or CSV of
        /// pg_stat_statements
        #[arg(long, value_name = "FILE")]
        log: Option<PathBuf>,
        /// How long the log took, for rates: 90s, 15m, 1h, 7d
        #[arg(long, value_name = "TIME", requires = "log")]
        span: Option<String>,
        /// Encrypt the connection to a live server; its certificate must be one of FILE, PEM, or signed
        /// by one
        #[arg(long, value_name = "FILE")]
        tls_ca: Option<PathBuf>,
    },
    /// Say what a lint means, or why a pattern stands as it does
    #[command(
        after_help = "Examples:\n  shelfmark design explain K3\n  shelfmark design explain by_time --file shop.shelf"
    )]
    Explain {
        /// Id of a lint, or name of a pattern of --file
        what: String,
        /// The model that has the pattern
        #[arg(long, value_name = "FILE")]
        file: Option<PathBuf>,
    },
    /// Draw ranges, partitions, tables or entities as SVG, or all of it as one HTML page
    Draw(DesignDraw),
    /// Print the JSON Schema of models, or a model in its JSON form
    #[command(
        after_help = "Examples:\n  shelfmark design json > model.schema.json\n  shelfmark design json shop.shelf"
    )]
    Json {
        /// Model; without one the JSON Schema is printed
        file: Option<PathBuf>,
        /// The file is JSON: print it as model text
        #[arg(long)]
        back: bool,
    },
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  shelfmark design plan shop.shelf >> shop.shelf\n  shelfmark \
    design plan shop.shelf --target cql --whole | shelfmark design prove -\n  shelfmark \
    design plan shop.shelf --beside published")]
pub(crate) struct DesignPlan {
    /// Model; its own schemas are not looked at
    pub(crate) file: PathBuf,
    /// Store to plan for: shelfmark, dynamodb, cql, candb, ordered [default: shelfmark, with
    /// --beside that of the schema]
    #[arg(long, value_name = "NAME")]
    pub(crate) target: Option<String>,
    /// Name of the schema
    #[arg(long, value_name = "NAME", default_value = "planned")]
    pub(crate) name: String,
    /// Print the model too, with this schema in place of its own
    #[arg(long)]
    pub(crate) whole: bool,
    /// Compare with a schema of the model instead, pattern by pattern, in dollars a month
    #[arg(long, value_name = "SCHEMA", conflicts_with_all = ["whole"])]
    pub(crate) beside: Option<String>,
    /// Say what each choice costs instead, and what the next best would cost
    #[arg(long, conflicts_with_all = ["whole", "beside"])]
    pub(crate) explain: bool,
    /// Show instead what is given up for fewer tables, cheaper reads or cheaper writes
    #[arg(long, conflicts_with_all = ["whole", "beside", "explain"])]
    pub(crate) pareto: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DesignSource {
    Workbench,
    Cql,
    Electrodb,
    Onetable,
    Prisma,
    Sql,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit code 0: nothing that is denied; 1: something is; 2: no model, or a word \
    that nothing is called.\n\nExamples:\n  shelfmark design check shop.shelf --deny error\n  \
    shelfmark design check models/*.shelf --format json --deny error,K5"
)]
pub(crate) struct DesignCheck {
    /// Models; '-' reads standard input
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Only this schema
    #[arg(long, value_name = "NAME")]
    pub(crate) schema: Option<String>,
    /// Text for people or JSON for machines
    #[arg(long, value_enum, default_value_t = DesignFormat::Text)]
    pub(crate) format: DesignFormat,
    /// Fail on these: a severity (error, warning, note) or a lint's id
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    pub(crate) deny: Vec<String>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  shelfmark design calls shop.shelf --schema first\n  shelfmark design calls shop.shelf orders_of --schema first --format json"
)]
pub(crate) struct DesignCalls {
    /// Model; '-' reads standard input
    pub(crate) file: PathBuf,
    /// Only this read or write
    pub(crate) pattern: Option<String>,
    /// Only this schema
    #[arg(long, value_name = "NAME")]
    pub(crate) schema: Option<String>,
    /// Text for people or JSON for machines
    #[arg(long, value_enum, default_value_t = DesignFormat::Text)]
    pub(crate) format: DesignFormat,
}

#[derive(Debug, Args)]
pub(crate) struct DesignRun {
    /// Model; '-' reads standard input
    pub(crate) file: PathBuf,
    /// Only this schema
    #[arg(long, value_name = "NAME")]
    pub(crate) schema: Option<String>,
    /// Text for people or JSON for machines
    #[arg(long, value_enum, default_value_t = DesignFormat::Text)]
    pub(crate) format: DesignFormat,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  shelfmark design draw mine.shelf -o mine.svg\n  shelfmark design draw mine.shelf --page -o mine.html"
)]
pub(crate) struct DesignDraw {
    /// Model
    pub(crate) file: PathBuf,
    /// What to draw
    #[arg(long, value_enum, default_value_t = DesignView::Ranges)]
    pub(crate) view: DesignView,
    /// Only this schema
    #[arg(long, value_name = "NAME")]
    pub(crate) schema: Option<String>,
    /// One HTML page with findings, certificates and all pictures
    #[arg(long, conflicts_with_all = ["view", "schema"])]
    pub(crate) page: bool,
    /// Write to FILE instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DesignView {
    /// Sample rows in key order, and the interval of each read on them
    Ranges,
    /// Partitions with their rows and attributes
    Aggregate,
    /// Tables with key columns and the queries that reach them
    Chebotko,
    /// Entities and links
    Entities,
}

impl DesignView {
    pub(crate) fn view(self) -> shelfmark_design::View {
        match self {
            Self::Ranges => shelfmark_design::View::Ranges,
            Self::Aggregate => shelfmark_design::View::Aggregate,
            Self::Chebotko => shelfmark_design::View::Chebotko,
            Self::Entities => shelfmark_design::View::Entities,
        }
    }
}

/// Most calls of each pattern on each state; ours: a thousand take minutes.
const CALLS_MAX: i64 = 1_000;

/// Sizes of states that `confirm` draws.
const SCALES: &str = "3,12,40";

#[derive(Debug, Args)]
#[command(
    after_help = "Exit code 0: the engine did what the proofs say; 1: it did not; 2: no model.\n\nExamples:\n  \
    shelfmark design confirm models/seeds/followers.shelf\n  \
    shelfmark design confirm mine.shelf --schema corrected --seed 7 --scale 100\n  \
    shelfmark design confirm mine.shelf --through dynamodb --endpoint http://127.0.0.1:8000"
)]
pub(crate) struct DesignConfirm {
    /// Model
    pub(crate) file: PathBuf,
    /// Only this schema
    #[arg(long, value_name = "NAME")]
    pub(crate) schema: Option<String>,
    /// Seed of the states and calls
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Sizes of the states: entities and links of each kind
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = SCALES,
        value_parser = clap::value_parser!(u16).range(1..=shelfmark_confirm::SCALE_MAX.into()))]
    pub(crate) scale: Vec<u16>,
    /// Calls of each pattern on each state
    #[arg(long, value_name = "N", default_value_t = 8,
        value_parser = clap::value_parser!(u16).range(1..=CALLS_MAX))]
    pub(crate) calls: u16,
    /// Send the requests that `design calls` prints, for the schemas of this target, through its face
    #[arg(long, value_enum)]
    pub(crate) through: Option<DesignFace>,
    /// Send them to this server instead, `http://host:port` or `host:port` of CQL; tables are made there
    /// and dropped again. Keys come from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN and
    /// AWS_REGION, the login of CQL from CQL_USER and CQL_PASSWORD
    #[arg(long, value_name = "URL", requires = "through")]
    pub(crate) endpoint: Option<String>,
    /// Encrypt the connection; the server's certificate must be one of FILE, PEM, or signed by one
    #[arg(long, value_name = "FILE", requires = "endpoint")]
    pub(crate) tls_ca: Option<PathBuf>,
    /// Text for people or JSON for machines
    #[arg(long, value_enum, default_value_t = DesignFormat::Text)]
    pub(crate) format: DesignFormat,
}

/// A language that requests are sent in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DesignFace {
    Dynamodb,
    Cql,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DesignFormat {
    Text,
    Json,
}
