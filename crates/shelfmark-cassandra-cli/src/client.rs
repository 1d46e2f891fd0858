//! A session: the keyspace in use, what was assumed, and which function answers which command.

use std::collections::HashMap;

use shelfmark_cql_types::CqlType;

use super::backend::{Backend, Reply};
use super::family::{Family, load};
use super::read::ListLimits;
use super::tree::{Command, Value};
use super::{Mode, values};

/// Rows that `list` and `get … where` return unless told otherwise. Source: the original.
pub(super) const ROWS_DEFAULT: usize = 100;

/// The types that `assume` gave to a column family.
#[derive(Clone, Debug, Default)]
pub(super) struct Assumed {
    pub(super) keys: Option<CqlType>,
    pub(super) comparator: Option<CqlType>,
    pub(super) sub_comparator: Option<CqlType>,
    pub(super) validator: Option<CqlType>,
}

/// Runs commands one by one and remembers what they set.
pub struct Client<B> {
    pub(super) backend: B,
    pub(super) mode: Mode,
    pub(super) keyspace: Option<String>,
    user: String,
    assumed: HashMap<String, Assumed>,
}

impl<B: Backend> Client<B> {
    /// Starts a session.
    pub fn new(backend: B, mode: Mode) -> Client<B> {
        Client {
            backend,
            mode,
            keyspace: None,
            user: "default".to_owned(),
            assumed: HashMap::new(),
        }
    }

    /// Ends the session and returns what it ran on.
    pub fn into_backend(self) -> B {
        self.backend
    }

    /// Returns what stands before the next command.
    #[must_use]
    pub fn prompt(&self) -> String {
        let keyspace = self.keyspace.as_deref().unwrap_or("unknown");
        format!("[{}@{keyspace}] ", self.user)
    }

    /// Runs a command.
    ///
    /// # Errors
    ///
    /// The message for the person at the prompt. The session goes on.
    pub fn run(&mut self, command: &Command) -> Result<Reply, String> {
        let start = self.backend.now_ms();
        let timed = matches!(
            command,
            Command::Set { .. }
                | Command::Get { .. }
                | Command::GetWhere { .. }
                | Command::List { .. }
                | Command::Delete(_)
        );
        let mut reply = self.answer(command)?;
        if timed {
            let elapsed = self.backend.now_ms().saturating_sub(start);
            reply.say(format!("Elapsed time: {elapsed} msec(s)."));
        }
        Ok(reply)
    }

    fn answer(&mut self, command: &Command) -> Result<Reply, String> {
        match command {
            Command::Connect { host, port, login } => {
                if let Some((user, _)) = login {
                    self.user.clone_from(user);
                }
                let cluster = self.one_text("SELECT cluster_name FROM system.local")?;
                Ok(Reply::line(format!("Connected to: \"{cluster}\" on {host}/{port}")))
            }
            Command::Use { keyspace, login } => {
                let keyspace = self.known_keyspace(keyspace)?;
                if let Some((user, _)) = login {
                    self.user.clone_from(user);
                }
                self.keyspace = Some(keyspace.clone());
                Ok(Reply::line(format!("Authenticated to keyspace: {keyspace}")))
            }
            Command::CreateKeyspace(definition) => self.create_keyspace(definition),
            Command::UpdateKeyspace(definition) => self.update_keyspace(definition),
            Command::DropKeyspace(name) => self.drop_keyspace(name),
            Command::CreateColumnFamily(definition) => self.create_family(definition),
            Command::UpdateColumnFamily(definition) => self.update_family(definition),
            Command::DropColumnFamily(name) => self.drop_family(name),
            Command::DropIndex { family, column } => self.drop_index(family, column),
            Command::Set { cell, value, ttl } => self.set(cell, value, ttl.as_deref()),
            Command::Get { cell, as_type, limit } => {
                self.get(cell, as_type.as_deref(), limit.as_deref())
            }
            Command::GetWhere { family, conditions, limit } => {
                self.get_where(family, conditions, limit.as_deref())
            }
            Command::List { family, range, limit, columns, reversed } => {
                let cut = ListLimits { columns: columns.as_deref(), reversed: *reversed };
                self.list(family, range.as_ref(), limit.as_deref(), &cut)
            }
            Command::Count(cell) => self.count(cell),
            Command::Delete(cell) => self.delete(cell),
            Command::Truncate(family) => self.truncate(family),
            Command::Increment { cell, by, down } => self.increment(cell, by.as_deref(), *down),
            Command::Assume { family, element, as_type } => self.assume(family, element, as_type),
            Command::ConsistencyLevel(level) => self.consistency_level(level),
            Command::Exit => Ok(Reply { exit: true, ..Reply::default() }),
            Command::Nothing => Ok(Reply::default()),
            _ => self.inform(command),
        }
    }

    /// Returns the first value of an answer as text.
    pub(super) fn one_text(&mut self, cql: &str) -> Result<String, String> {
        let table = self.backend.run(cql)?;
        let first = table.rows.first().and_then(|row| table.text(row, 0));
        Ok(first.unwrap_or_default())
    }

    /// Returns what the original says after every change of the schema.
    pub(super) fn agreed(&mut self) -> Result<Reply, String> {
        let version = self.one_text("SELECT schema_version FROM system.local")?;
        let mut reply = Reply::line(version);
        reply.say("Waiting for schema agreement...");
        reply.say("... schemas agree across the cluster");
        Ok(reply)
    }

    pub(super) fn working_keyspace(&self) -> Result<String, String> {
        let none = || "Not authenticated to a working keyspace.".to_owned();
        self.keyspace.clone().ok_or_else(none)
    }

    /// Reads a column family of the keyspace in use, with what was assumed of it.
    pub(super) fn family(&mut self, name: &str) -> Result<(String, Family, Assumed), String> {
        let keyspace = self.working_keyspace()?;
        let family = load(&mut self.backend, &keyspace, name)?;
        let assumed = self.assumed.get(&family.name).cloned().unwrap_or_default();
        Ok((keyspace, family, assumed))
    }

    fn assume(&mut self, family: &str, element: &str, as_type: &str) -> Result<Reply, String> {
        let (_, family, mut assumed) = self.family(family)?;
        let found = values::named(as_type)?;
        match element.to_ascii_lowercase().as_str() {
            "keys" => assumed.keys = Some(found),
            "comparator" => assumed.comparator = Some(found),
            "sub_comparator" => assumed.sub_comparator = Some(found),
            "validator" => assumed.validator = Some(found),
            _ => {
                return Err(format!(
                    "'{element}' is not valid. Available: comparator, sub_comparator, validator, \
                     keys."
                ));
            }
        }
        let name = family.name;
        self.assumed.insert(name.clone(), assumed);
        Ok(Reply::line(format!("Assumption for column family '{name}' added successfully.")))
    }

    fn consistency_level(&mut self, level: &str) -> Result<Reply, String> {
        const LEVELS: [&str; 8] =
            ["ONE", "TWO", "THREE", "QUORUM", "ALL", "LOCAL_QUORUM", "EACH_QUORUM", "ANY"];
        let level = level.to_ascii_uppercase();
        if !LEVELS.contains(&level.as_str()) {
            return Err(format!(
                "'{level}' is no consistency level. Available: {}.",
                LEVELS.join(", ")
            ));
        }
        // One store satisfies every level.
        Ok(Reply::line(format!("Consistency level is set to '{level}'.")))
    }
}

/// Writes a row key as CQL.
pub(super) fn key_literal(
    family: &Family,
    assumed: &Assumed,
    key: &Value,
) -> Result<String, String> {
    values::literal(key, &family.key, assumed.keys.as_ref())
}
