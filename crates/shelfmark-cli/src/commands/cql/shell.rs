//! The state of the shell, and how it runs and shows one statement.

use std::collections::{HashSet, VecDeque};
use std::io::{IsTerminal as _, Write as _};

use anyhow::anyhow;
use shelfmark_cql::{Consistency, ErrorCode};
use shelfmark_cql_protocol::client::{Page, Query, ServerError};
use shelfmark_cql_syntax::{quoted_name, with_plain_spaces};
use shelfmark_cql_types::to_text;

use super::complete::Names;
use super::copy_input::{Rows, cut_rows};
use super::pieces::{Piece, pieces, place};
use super::show::{self, Look};
use crate::commands::Stopped;
use crate::connect::{Failure, Interrupt, ROWS_AT_ONCE, Session};
use crate::prompt::{Line, more};

/// Longest line that an error is pointed out in by an arrow below: longer ones would wrap.
const LINE_CHARS_MAX: usize = 200;

/// Exit code of the process when a statement was refused; cqlsh has the same.
const REFUSED: u8 = 2;

/// The decision whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    Go,
    Exit,
}

/// The reason why a piece of a script failed.
pub(super) enum Stop {
    /// The server refused it.
    Refused(ServerError),
    /// The shell refused it.
    Wrong(String),
    /// The user interrupted it.
    Interrupted,
    /// The message was already printed.
    Told,
    /// The connection is lost.
    Lost(anyhow::Error),
}

impl Stop {
    pub(super) fn wrong(text: impl Into<String>) -> Self {
        Self::Wrong(text.into())
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Refused(refusal) => Self::Refused(refusal),
            Failure::Interrupted => Self::Interrupted,
            Failure::Lost(error) => Self::Lost(error),
        }
    }
}

/// A text of statements, with its origin.
pub(super) struct Source {
    /// The name of its origin; `None` for typed text.
    pub(super) name: Option<String>,
    /// The statements.
    pub(super) text: String,
}

/// The state of the shell.
pub(super) struct Shell {
    pub(super) session: Session,
    pub(super) keyspace: Option<String>,
    pub(super) consistency: Consistency,
    pub(super) serial_consistency: Option<Consistency>,
    /// Rows per screen; `None` for no limit.
    pub(super) page_rows: Option<i32>,
    pub(super) tracing: bool,
    pub(super) expand: bool,
    /// Depth of scripts that call each other.
    pub(super) depth: usize,
    /// True if statements are typed.
    interactive: bool,
    json: bool,
    /// True if the schema has changed since its names were read.
    pub(super) stale: bool,
    /// A flag that is checked between the steps of long work.
    interrupt: Interrupt,
    /// Warnings of a copy that were printed already.
    pub(super) told: HashSet<String>,
    /// The rows of the imports of the script that runs.
    pub(super) rows: VecDeque<Rows>,
}

impl Shell {
    pub(super) fn new(session: Session, json: bool, interactive: bool) -> Self {
        Self {
            session,
            keyspace: None,
            consistency: Consistency::One,
            serial_consistency: None,
            page_rows: Some(if interactive { 100 } else { ROWS_AT_ONCE }),
            tracing: false,
            expand: false,
            depth: 0,
            interactive,
            json,
            stale: true,
            interrupt: Interrupt::default(),
            told: HashSet::new(),
            rows: VecDeque::new(),
        }
    }

    /// Sets the flag that ends running work.
    pub(super) fn interrupted_by(&mut self, interrupt: &Interrupt) {
        self.session.interrupted_by(interrupt);
        self.interrupt = interrupt.clone();
    }

    /// Returns the flag that ends running work.
    pub(super) fn interrupt(&self) -> Interrupt {
        self.interrupt.clone()
    }

    /// Returns true if statements are typed.
    pub(super) fn is_interactive(&self) -> bool {
        self.interactive
    }

    /// Returns an error if running work is to end.
    pub(super) fn go_on(&self) -> Result<(), Stop> {
        if self.interrupt.is_wanted() { Err(Stop::Interrupted) } else { Ok(()) }
    }

    /// Selects the keyspace again on a new connection.
    fn come_back(&mut self) -> anyhow::Result<()> {
        self.interrupt.forget();
        match self.keyspace.clone() {
            Some(keyspace) => self.enter(&format!("\"{}\"", keyspace.replace('"', "\"\""))),
            None => Ok(()),
        }
    }

    /// Selects a keyspace.
    pub(super) fn enter(&mut self, name: &str) -> anyhow::Result<()> {
        // Whoever quotes it has done what is to be done; otherwise its case is kept, as cqlsh does.
        let quoted = if name.starts_with('"') { name.into() } else { quoted_name(name) };
        let text = format!("USE {quoted}");
        let answered = self.session.all(&text).map_err(|error| anyhow!("{error}"))?;
        self.keyspace = answered.keyspace;
        Ok(())
    }

    /// Runs a text; stops a script at the first statement that is refused.
    ///
    /// # Errors
    ///
    /// * [`Stopped`]: a statement was refused, and why was said.
    /// * Others: nothing more can be run.
    pub(super) fn script(&mut self, source: &Source) -> anyhow::Result<Flow> {
        let Some(name) = &source.name else { return self.run(source) };
        let (text, rows) = cut_rows(&source.text, name);
        // A script that was called has rows of its own.
        let outer = std::mem::replace(&mut self.rows, rows);
        let flow = self.run(&Source { name: Some(name.clone()), text });
        self.rows = outer;
        flow
    }

    /// Runs a text without rows.
    fn run(&mut self, source: &Source) -> anyhow::Result<Flow> {
        let (text, wide) = with_plain_spaces(&source.text);
        if let Some(first) = wide.first() {
            let (line, column) = place(&source.text, *first);
            let more = match wide.len() - 1 {
                0 => String::new(),
                more => format!(", and {more} more"),
            };
            anstream::eprintln!(
                "warning: {}a wide space that no server reads was taken for a plain one{more}",
                at(source, line, column)
            );
        }
        for piece in pieces(&text).0 {
            let ran =
                if piece.command { self.command(piece.text) } else { self.statement(piece.text) };
            match ran {
                Ok(Flow::Go) => {}
                Ok(Flow::Exit) => return Ok(Flow::Exit),
                Err(Stop::Lost(error)) => return Err(error),
                Err(Stop::Interrupted) => {
                    anstream::eprintln!("interrupted; the server may still do what it was asked");
                    self.come_back()?;
                    return Err(Stopped { code: REFUSED }.into());
                }
                Err(stop) => {
                    complain(source, &text, piece, &stop);
                    // Whoever types what is wrong goes on typing.
                    return Err(Stopped { code: REFUSED }.into());
                }
            }
        }
        Ok(Flow::Go)
    }

    /// Runs a statement and prints its answer.
    fn statement(&mut self, text: &str) -> Result<Flow, Stop> {
        let text = text.trim_end().trim_end_matches(';');
        let look = match (self.json, self.expand) {
            (true, _) => Look::Json,
            (false, true) => Look::Expanded,
            (false, false) => Look::Table,
        };
        let mut query = self.query(text);
        let (mut shown, mut trace) = (0, None);
        loop {
            self.go_on()?;
            let answered = self.session.ask(&query)?;
            answered.warnings.iter().for_each(|warning| warn(warning));
            if answered.keyspace.is_some() {
                self.keyspace.clone_from(&answered.keyspace);
            }
            self.stale |= answered.schema_changed || answered.keyspace.is_some();
            trace = answered.trace.or(trace);
            let Some(page) = answered.page else { break };
            let mut out = anstream::stdout().lock();
            if !page.rows.is_empty() || shown == 0 {
                show::rows(&page, look, shown, &mut out)?;
            }
            shown += page.rows.len();
            if page.paging.is_some() && (!self.interactive || self.wants_more()?) {
                query.paging = page.paging;
                continue;
            }
            if look != Look::Json {
                // As cqlsh counts, whose output scripts read.
                writeln!(out, "\n({shown} rows)")?;
            }
            break;
        }
        if let Some(id) = trace {
            self.trace(&to_text(&shelfmark_cql::CqlType::Uuid, &id))?;
        }
        Ok(Flow::Go)
    }

    fn query<'t>(&self, text: &'t str) -> Query<'t> {
        Query {
            text,
            consistency: self.consistency,
            serial_consistency: self.serial_consistency,
            page_size: self.page_rows,
            paging: None,
            tracing: self.tracing,
        }
    }

    /// Asks whether the next page is wanted.
    fn wants_more(&self) -> Result<bool, Stop> {
        if !std::io::stdout().is_terminal() {
            return Ok(true);
        }
        match more("---MORE--- (Enter: next rows, q: enough) ").map_err(Stop::Lost)? {
            Line::Interrupted => Err(Stop::Interrupted),
            Line::End => Ok(false),
            Line::Text(line) => Ok(!line.trim().eq_ignore_ascii_case("q")),
        }
    }

    /// Prints the schema as the server describes it.
    pub(super) fn describe(&mut self, what: &str) -> Result<(), Stop> {
        let answered = self.session.all(&format!("DESCRIBE {what}"))?;
        let page = answered.page.unwrap_or_default();
        let mut out = anstream::stdout().lock();
        if self.json {
            return Ok(show::rows(&page, Look::Json, 0, &mut out)?);
        }
        let column = |name: &str| page.columns.iter().position(|column| &*column.name == name);
        let text = |row: &Vec<Option<bytes::Bytes>>, index: usize| {
            let bytes = row.get(index).and_then(Option::as_deref).unwrap_or_default();
            String::from_utf8_lossy(bytes).into_owned()
        };
        if let Some(index) = column("create_statement") {
            for row in &page.rows {
                writeln!(out)?;
                for line in text(row, index).lines() {
                    writeln!(out, "{}", show::plain(line))?;
                }
            }
        } else if let (Some(keyspace), Some(name)) = (column("keyspace_name"), column("name")) {
            let mut before = None;
            for row in &page.rows {
                let (own, name) = (text(row, keyspace), text(row, name));
                if what.trim().eq_ignore_ascii_case("keyspaces") {
                    writeln!(out, "{name}")?;
                    continue;
                }
                if before.as_ref() != Some(&own) {
                    writeln!(out, "\nKeyspace {own}\n{}", "-".repeat(own.len() + 9))?;
                }
                writeln!(out, "{name}")?;
                before = Some(own);
            }
        } else {
            show::rows(&page, Look::Expanded, 0, &mut out)?;
        }
        Ok(())
    }

    /// Prints a trace.
    pub(super) fn trace(&mut self, id: &str) -> Result<(), Stop> {
        let text = format!(
            "SELECT activity, source, source_elapsed AS \"elapsed µs\" FROM system_traces.events \
             WHERE session_id = {id}"
        );
        let page = self.session.all(&text)?.page.unwrap_or_default();
        if page.rows.is_empty() {
            return self
                .say(&format!("Trace {id} is not there, or not yet: try SHOW SESSION {id}"));
        }
        let mut out = anstream::stdout().lock();
        writeln!(out, "\nTrace {id}")?;
        Ok(show::rows(&page, Look::Table, 0, &mut out)?)
    }

    /// Prints a message that is no answer; with JSON answers, on standard error.
    pub(super) fn say(&mut self, text: &str) -> Result<(), Stop> {
        if self.json {
            writeln!(anstream::stderr(), "{text}")?;
        } else {
            writeln!(anstream::stdout(), "{text}")?;
        }
        Ok(())
    }

    /// Prints control sequences if standard output is a terminal.
    pub(super) fn say_raw(&mut self, text: &str) -> Result<(), Stop> {
        let mut out = std::io::stdout();
        if out.is_terminal() {
            write!(out, "{text}")?;
            out.flush()?;
        }
        Ok(())
    }

    /// Reads the names for completion.
    pub(super) fn names(&mut self) -> Names {
        self.stale = false;
        let mut names = Names { keyspace: self.keyspace.clone(), ..Names::default() };
        let mut rows = |text: &str| {
            let page = self.session.all(text).ok().and_then(|answered| answered.page);
            texts(&page.unwrap_or_default())
        };
        for row in rows("SELECT keyspace_name FROM system_schema.keyspaces") {
            names.keyspaces.entry(row.into_iter().next().unwrap_or_default()).or_default();
        }
        for row in rows("SELECT keyspace_name, table_name, column_name FROM system_schema.columns")
        {
            let [keyspace, table, column] = row.try_into().unwrap_or_default();
            let tables = names.keyspaces.entry(keyspace).or_default();
            tables.entry(table).or_default().push(column);
        }
        for row in rows("SELECT keyspace_name, type_name FROM system_schema.types") {
            let [keyspace, own] = row.try_into().unwrap_or_default();
            names.keyspaces.entry(keyspace).or_default().entry(own).or_default();
        }
        names
    }
}

/// Prints a warning of the server, one line for each of its lines.
pub(super) fn warn(warning: &str) {
    for (number, line) in warning.lines().enumerate() {
        let head = if number == 0 { "warning: " } else { "    " };
        anstream::eprintln!("{head}{}", show::plain(line));
    }
}

/// Returns the rows of a page of texts.
fn texts(page: &Page) -> Vec<Vec<String>> {
    let text = |cell: &Option<bytes::Bytes>| {
        String::from_utf8_lossy(cell.as_deref().unwrap_or_default()).into_owned()
    };
    page.rows.iter().map(|row| row.iter().map(text).collect()).collect()
}

/// Formats a place as compilers do; nothing for typed text.
fn at(source: &Source, line: usize, column: usize) -> String {
    source.name.as_ref().map_or_else(String::new, |name| format!("{name}:{line}:{column}: "))
}

/// Prints the error of a piece.
fn complain(source: &Source, text: &str, piece: Piece<'_>, stop: &Stop) {
    let (mut line, mut column) = place(text, piece.start);
    let mut pointed = false;
    let style = anstyle::AnsiColor::Red.on_default().bold();
    let message = match stop {
        Stop::Told | Stop::Interrupted | Stop::Lost(_) => return,
        Stop::Wrong(text) => text.clone(),
        Stop::Refused(refusal) => {
            if refusal.code == Some(ErrorCode::Syntax)
                && let Some((down, right)) = place_in(&refusal.message)
            {
                column = if down == 1 { column + right } else { right + 1 };
                line += down - 1;
                pointed = true;
            }
            format!("{} [{}]", show::plain(&refusal.message), code(refusal))
        }
    };
    let place = at(source, line, column);
    anstream::eprintln!("{style}error:{style:#} {place}{message}");
    let wrong = text.lines().nth(line - 1).filter(|line| line.chars().count() <= LINE_CHARS_MAX);
    if let Some(wrong) = wrong.filter(|_| pointed) {
        let number = line.to_string();
        let before = " ".repeat(number.len() + 3 + column - 1);
        anstream::eprintln!("{number} | {}\n{before}{style}^{style:#}", wrong.replace('\t', " "));
    }
}

/// Parses the place that a message of a syntax error begins with: line from 1, column from 0.
fn place_in(message: &str) -> Option<(usize, usize)> {
    let place = message.strip_prefix("line ")?.split(' ').next()?;
    let (line, column) = place.split_once(':')?;
    let line = line.parse().ok().filter(|line| *line > 0)?;
    Some((line, column.parse().ok()?))
}

/// Returns the name of an error's code in cqlsh.
fn code(refusal: &ServerError) -> String {
    let name = match refusal.code {
        None => "Unknown",
        Some(ErrorCode::Server) => "Server error",
        Some(ErrorCode::Protocol) => "Protocol error",
        Some(ErrorCode::BadCredentials) => "Bad credentials",
        Some(ErrorCode::Unavailable) => "Unavailable exception",
        Some(ErrorCode::Overloaded) => "Coordinator node overloaded",
        Some(ErrorCode::Bootstrapping) => "Coordinator node is bootstrapping",
        Some(ErrorCode::Truncate) => "Truncate error",
        Some(ErrorCode::WriteTimeout) => {
            "Coordinator node timed out waiting for replica nodes' responses"
        }
        Some(ErrorCode::ReadTimeout) => {
            "Coordinator node timed out waiting for replica nodes' responses"
        }
        Some(ErrorCode::ReadFailure) => "Replica(s) failed to execute read",
        Some(ErrorCode::FunctionFailure) => "User Defined Function failure",
        Some(ErrorCode::WriteFailure) => "Replica(s) failed to execute write",
        Some(ErrorCode::CdcWriteFailure) => "CDC write failure",
        Some(ErrorCode::CasWriteUnknown) => "CAS write result unknown",
        Some(ErrorCode::Syntax) => "Syntax error in CQL query",
        Some(ErrorCode::Unauthorized) => "Unauthorized",
        Some(ErrorCode::Invalid) => "Invalid query",
        Some(ErrorCode::Configuration) => "Query invalid because of configuration issue",
        Some(ErrorCode::AlreadyExists) => "Item already exists",
        Some(ErrorCode::Unprepared) => "Unprepared query",
    };
    format!("{name}, code {:04X}", refusal.number)
}
