//! Runs the commands of the shell itself.

use anyhow::anyhow;
use shelfmark_cql::Consistency;
use shelfmark_store::vfs;

use super::pieces::first_word;
use super::shell::{Flow, Shell, Source, Stop};

/// The levels in the order of their numbers.
pub(super) const LEVELS: [&str; 11] = [
    "ANY",
    "ONE",
    "TWO",
    "THREE",
    "QUORUM",
    "ALL",
    "LOCAL_QUORUM",
    "EACH_QUORUM",
    "SERIAL",
    "LOCAL_SERIAL",
    "LOCAL_ONE",
];

/// Deepest nesting of scripts that call scripts. Source: ours.
const SOURCE_DEPTH_MAX: usize = 16;

const PAGE_ROWS: i32 = 100;

const HELP: &str = "\
Statements of CQL end with a semicolon and may take several lines. Commands of the shell:

  HELP, ?                        this text
  EXIT, QUIT                     leave; so does Ctrl-D
  COPY TABLE [(COLUMN, ...)] TO | FROM 'FILE' [WITH HEADER = TRUE AND DELIMITER = '|' ...]
                                 rows as delimited text, or TO STDOUT and FROM STDIN, whose rows
                                 follow and end with a line of \\. alone (QUOTE, ESCAPE, NULL, MAXROWS, SKIPROWS,
                                 SKIPCOLS, TTL, PAGESIZE, BEGINTOKEN, ENDTOKEN)
  DESCRIBE KEYSPACES | TABLES | TYPES | CLUSTER | SCHEMA
  DESCRIBE KEYSPACE [NAME] | TABLE NAME | INDEX NAME | TYPE NAME | NAME
  EXPAND [ON | OFF]              one column a line
  PAGING [ON | OFF | ROWS]       rows that are shown at once
  TRACING [ON | OFF]             what the server did for each statement
  CONSISTENCY [LEVEL]            level of reads and writes
  SERIAL CONSISTENCY [LEVEL]     level of conditions
  SHOW VERSION | HOST | SESSION ID
  SOURCE 'FILE'                  run the statements of a file
  CLEAR, CLS                     clear the screen

Tab completes keywords and names. Ctrl-C throws away what was typed, and ends a statement that runs. Up and down go through what was
run before; Ctrl-R searches it.";

impl Shell {
    /// Runs a command of the shell.
    pub(super) fn command(&mut self, text: &str) -> Result<Flow, Stop> {
        let text = text.trim().trim_end_matches(';').trim_end();
        let word = first_word(text);
        let rest = text.get(word.len()..).unwrap_or_default().trim();
        let upper = rest.to_ascii_uppercase();
        match word.to_ascii_uppercase().as_str() {
            "HELP" | "?" => self.say(HELP)?,
            "EXIT" | "QUIT" => return Ok(Flow::Exit),
            "DESC" | "DESCRIBE" => self.describe(rest)?,
            "CLEAR" | "CLS" => self.say_raw("\x1b[2J\x1b[H")?,
            "CONSISTENCY" => self.consistency(&upper)?,
            "SERIAL" => self.serial_consistency(&upper)?,
            "EXPAND" => {
                let on = self.switch("Expanded output", "EXPAND", &upper, self.expand)?;
                self.expand = on;
            }
            "TRACING" => {
                let on = self.switch("Tracing", "TRACING", &upper, self.tracing)?;
                self.tracing = on;
            }
            "COPY" => self.copy(rest)?,
            "PAGING" => self.paging(&upper)?,
            "SHOW" => self.show(rest, &upper)?,
            "SOURCE" => return self.source(rest),
            other => {
                return Err(Stop::wrong(format!(
                    "{other} is not answered here; cqlsh speaks to this server, too"
                )));
            }
        }
        Ok(Flow::Go)
    }

    /// Parses ON, OFF or nothing, which asks.
    fn switch(&mut self, name: &str, word: &str, asked: &str, now: bool) -> Result<bool, Stop> {
        let shown = |on: bool| if on { "enabled" } else { "disabled" };
        let other = if now { "OFF" } else { "ON" };
        match asked {
            "" => {
                let now_shown = shown(now);
                self.say(&format!("{name} is {now_shown}. Use {word} {other} to change it."))?;
                Ok(now)
            }
            "ON" | "OFF" => {
                self.say(&format!("{name} is {}.", shown(asked == "ON")))?;
                Ok(asked == "ON")
            }
            _ => Err(Stop::wrong(format!("{word} takes ON or OFF"))),
        }
    }

    fn paging(&mut self, asked: &str) -> Result<(), Stop> {
        match asked {
            "" => {}
            "ON" => self.page_rows = Some(PAGE_ROWS),
            "OFF" => self.page_rows = None,
            rows => match rows.parse() {
                Ok(rows @ 1..) => self.page_rows = Some(rows),
                _ => return Err(Stop::wrong("PAGING takes ON, OFF or a number of rows")),
            },
        }
        match self.page_rows {
            Some(rows) => self.say(&format!("Paging is enabled. Page size: {rows}.")),
            None => self.say("Paging is disabled."),
        }
    }

    fn consistency(&mut self, asked: &str) -> Result<(), Stop> {
        if asked.is_empty() {
            return self.say(&format!("Current consistency level is {}.", name(self.consistency)));
        }
        self.consistency = level(asked)?;
        self.say(&format!("Consistency level set to {asked}."))
    }

    fn serial_consistency(&mut self, asked: &str) -> Result<(), Stop> {
        let Some(asked) = asked.strip_prefix("CONSISTENCY") else {
            return Err(Stop::wrong("the command is SERIAL CONSISTENCY [LEVEL]"));
        };
        let asked = asked.trim();
        if asked.is_empty() {
            let now = self.serial_consistency.unwrap_or(Consistency::Serial);
            return self.say(&format!("Current serial consistency level is {}.", name(now)));
        }
        match level(asked)? {
            found @ (Consistency::Serial | Consistency::LocalSerial) => {
                self.serial_consistency = Some(found);
                self.say(&format!("Serial consistency level set to {asked}."))
            }
            _ => Err(Stop::wrong("the level of conditions is SERIAL or LOCAL_SERIAL")),
        }
    }

    fn show(&mut self, rest: &str, upper: &str) -> Result<(), Stop> {
        if upper == "VERSION" || upper == "HOST" {
            let text = "SELECT cluster_name, release_version, cql_version, \
                        native_protocol_version FROM system.local";
            let table = self.session.all(text)?.page.unwrap_or_default();
            let column = |index: usize| {
                let cell = table.rows.first().and_then(|row| row.get(index)?.as_deref());
                String::from_utf8_lossy(cell.unwrap_or_default()).into_owned()
            };
            let said = if upper == "HOST" {
                format!("Connected to {} at {}.", column(0), self.session.place)
            } else {
                format!(
                    "[shelfmark {} | Cassandra {} | CQL spec {} | Native protocol v{}]",
                    env!("CARGO_PKG_VERSION"),
                    column(1),
                    column(2),
                    column(3)
                )
            };
            return self.say(&said);
        }
        match rest.split_whitespace().collect::<Vec<_>>().as_slice() {
            [word, id] if word.eq_ignore_ascii_case("SESSION") => {
                if id.chars().all(|c| c.is_ascii_hexdigit() || c == '-') {
                    self.trace(id)
                } else {
                    Err(Stop::wrong(format!("{id} is no id of a trace")))
                }
            }
            _ => Err(Stop::wrong("the command is SHOW VERSION, SHOW HOST or SHOW SESSION ID")),
        }
    }

    fn source(&mut self, rest: &str) -> Result<Flow, Stop> {
        let path = rest.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
        let Some(path) = path.filter(|path| !path.is_empty()) else {
            return Err(Stop::wrong("the command is SOURCE 'FILE'"));
        };
        if self.depth >= SOURCE_DEPTH_MAX {
            let text = format!("scripts call each other more than {SOURCE_DEPTH_MAX} deep");
            return Err(Stop::wrong(text));
        }
        let bytes = vfs::read(path.as_ref())
            .map_err(|error| Stop::wrong(format!("cannot read {path}: {error}")))?;
        let text =
            String::from_utf8(bytes).map_err(|_| Stop::wrong(format!("{path} is not UTF-8")))?;
        self.depth += 1;
        let flow = self.script(&Source { name: Some(path.to_owned()), text });
        self.depth -= 1;
        match flow {
            // Leaving a script that was called is no leaving of the shell.
            Ok(_) => Ok(Flow::Go),
            Err(error) if error.is::<crate::commands::Stopped>() => Err(Stop::Told),
            Err(error) => Err(Stop::Lost(error)),
        }
    }
}

fn level(asked: &str) -> Result<Consistency, Stop> {
    let number = LEVELS.iter().position(|level| *level == asked);
    number
        .and_then(|number| Consistency::from_number(u16::try_from(number).ok()?))
        .ok_or_else(|| Stop::wrong(format!("{asked} is no level; there are {}", LEVELS.join(", "))))
}

fn name(level: Consistency) -> &'static str {
    LEVELS.get(usize::from(level as u16)).copied().unwrap_or_default()
}

impl From<std::io::Error> for Stop {
    fn from(error: std::io::Error) -> Self {
        Self::Lost(anyhow!(error))
    }
}
