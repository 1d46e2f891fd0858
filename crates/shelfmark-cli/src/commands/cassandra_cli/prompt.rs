//! The prompt of the dialect.

use shelfmark_cassandra_cli::{Mode, script};

use super::{Shell, Stop};
use crate::prompt::{Language, Line, Prompt};

/// The words that commands begin with.
const COMMANDS: [&str; 29] = [
    "assume ",
    "connect ",
    "consistencylevel as ",
    "count ",
    "create column family ",
    "create keyspace ",
    "decr ",
    "del ",
    "describe ",
    "describe cluster;",
    "drop column family ",
    "drop index on ",
    "drop keyspace ",
    "exit;",
    "get ",
    "help;",
    "help ",
    "incr ",
    "list ",
    "quit;",
    "set ",
    "show cluster name;",
    "show keyspaces;",
    "show schema;",
    "truncate ",
    "update column family ",
    "update keyspace ",
    "use ",
    "?",
];

/// The dialect at a prompt: a command ends where a line ends with a semicolon.
struct Dialect {
    mode: Mode,
}

impl Language for Dialect {
    fn is_whole(&self, text: &str) -> bool {
        text.trim() == "?" || !script(text, self.mode).unfinished
    }

    fn complete(&self, text: &str) -> (usize, Vec<String>) {
        let lower = text.to_lowercase();
        let found = COMMANDS.iter().filter(|command| command.starts_with(&lower));
        (0, found.map(|command| (*command).to_owned()).collect())
    }
}

/// Runs typed commands until the user leaves.
pub(super) fn run(shell: &mut Shell) -> anyhow::Result<()> {
    let mut prompt = Prompt::new(Dialect { mode: shell.mode }, "cassandra_cli_history")?;
    anstream::println!("Welcome to Shelfmark's cassandra-cli, connected to {}.\n", shell.place);
    anstream::println!("Type 'help;' or '?' for help.\nType 'quit;' or 'exit;' to quit.\n");
    loop {
        let text = match prompt.read(&shell.client.prompt())? {
            Line::Interrupted => continue,
            Line::End => return Ok(()),
            Line::Text(text) if text.trim() == "?" => "help;".to_owned(),
            Line::Text(text) => text,
        };
        for piece in &script(&text, shell.mode).pieces {
            match shell.piece(piece, "") {
                Ok(false) => {}
                Ok(true) => return Ok(()),
                Err(Stop::Failed(said)) => {
                    anstream::eprintln!("{said}");
                    break;
                }
                Err(Stop::Lost(error)) => return Err(error),
            }
        }
    }
}
