//! The connection that commands run on: anything that takes CQL.

use shelfmark_cql_types::CqlType;

/// A connection that runs CQL, in the same process or over a socket.
pub trait Backend {
    /// Runs one statement of CQL text.
    ///
    /// # Errors
    ///
    /// The message for the person at the prompt.
    fn run(&mut self, cql: &str) -> Result<Table, String>;

    /// Returns milliseconds that only rise, for the elapsed times that are printed.
    fn now_ms(&mut self) -> u64;
}

/// The rows of an answer; of a statement without rows nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The types of the columns, in order.
    pub types: Vec<CqlType>,
    /// The values of each row as CQL serialises them.
    pub rows: Vec<Vec<Option<Vec<u8>>>>,
}

impl Table {
    /// Returns a value as text; of nothing nothing.
    pub(super) fn text(&self, row: &[Option<Vec<u8>>], column: usize) -> Option<String> {
        let bytes = row.get(column)?.as_ref()?;
        Some(shelfmark_cql_types::to_text(self.types.get(column)?, bytes))
    }
}

/// The output of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// Lines to print.
    pub lines: Vec<String>,
    /// Advice beside the answer.
    pub hints: Vec<String>,
    /// The command was `quit` or `exit`.
    pub exit: bool,
}

impl Reply {
    pub(super) fn say(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }

    pub(super) fn line(line: impl Into<String>) -> Reply {
        Reply { lines: vec![line.into()], ..Reply::default() }
    }
}
