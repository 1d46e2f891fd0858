//! The store that a command asks: one that it opens itself, or that of a running server.
//!
//! Invariant: a command is written against [`Asked`] and does not know which of the two it has, so both
//! answer alike.

use std::path::PathBuf;

use clap::Args;
use shelfmark_admin::{Admin, Operation};
use shelfmark_engine::Share;
use shelfmark_store::embedded::Options;

use crate::arguments::EngineTls;
use crate::cluster::cluster;
use crate::console::ConsoleClient;
use crate::store::{open, shared};

/// The store that a command works on.
#[derive(Debug, Clone, Args)]
pub(crate) struct Place {
    /// Folder of the store, which no server has open
    #[arg(long, value_name = "DIR", default_value = "./shelfmark-data")]
    pub(crate) data: PathBuf,
    /// Ask the running server whose console is at ADDR (`shelfmark serve --console ADDR`)
    #[arg(long, value_name = "ADDR", conflicts_with_all = ["data", "engine"])]
    pub(crate) server: Option<String>,
    /// File with the token of that console; without it the environment variable SHELFMARK_CONSOLE_TOKEN
    /// is taken
    #[arg(long, value_name = "FILE", requires = "server")]
    pub(crate) console_token_file: Option<PathBuf>,
    /// The cluster that holds the store, in place of a folder: tikv://HOST:PORT,HOST:PORT[/SPACE]
    #[arg(long, value_name = "URL", conflicts_with = "data")]
    pub(crate) engine: Option<String>,
    #[command(flatten)]
    pub(crate) tls: EngineTls,
}

/// The store that answers a command's operations.
pub(crate) enum Asked {
    /// A store that is open in this process.
    Here(Admin),
    /// A running server.
    Server(ConsoleClient),
}

impl Place {
    /// Runs a command over the store, and closes it if it was opened for this.
    pub(crate) fn ask<T>(
        &self,
        command: impl FnOnce(&Asked) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        if let Some(server) = &self.server {
            let client = ConsoleClient::new(server, self.console_token_file.as_deref())?;
            return command(&Asked::Server(client));
        }
        let engine = match &self.engine {
            Some(address) => cluster(address, self.tls.files()?.as_ref())?,
            None => open(&self.data, Options::default(), false)?,
        };
        // Whoever may open the folder may do everything.
        let outcome = command(&Asked::Here(Admin::new(shared(&engine, Share::All))));
        engine.store().close()?;
        outcome
    }
}

impl Asked {
    /// Runs one operation.
    pub(crate) fn run<O: Operation>(&self, operation: O) -> anyhow::Result<O::Answer> {
        match self {
            Self::Here(admin) => Ok(admin.run(operation)?),
            Self::Server(client) => client.run(&operation),
        }
    }
}
