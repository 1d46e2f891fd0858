//! The language of the scripts.
//!
//! ```text
//! > create notes partition=user/text sort=at/i64/desc
//! > put notes user=ann at=7 text=hello
//! > query notes user=ann from=5 limit=1
//! ```
//!
//! Tables: `create`, `alter`, `drop`, `index`, `drop_index`, `tables`, `describe`. Writes: `put`,
//! `patch`, `delete`, `check`. Reads: `get`, `query`, `scan`, `count`, `changes`, `shards`,
//! `cursor`. Upkeep: `sweep`, `purge`, `split`, `advance SECONDS`, `reopen`. `snapshot NAME` holds
//! a moment that reads with `at=NAME` see, `release NAME` lets it go.
//!
//! With a prefix (`a: put …`) a call waits, and `a: commit` does all of that prefix at once:
//! `commit` as one call with several writes (`once=TOKEN` with a token), `commit as=transaction` in
//! the body of a transaction, which may also read; with the tag `[outside]` a call comes from
//! somebody else while the body runs for the first time.
//!
//! An answer shows items one a line, then what was read for it: table and index, the key ranges as
//! values, rows read and returned. A key range `("ann", 7)…` is all keys that begin so; `from … to …`
//! both included, `after` and `before` are not. A cursor shows the key that it stands behind.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::error::Error;
use std::fmt::Write as _;
use std::sync::Arc;

use goldenscript::{Command, Context, Runner};
use shelfmark_engine::{
    ChangePosition, Cursor, ErrorKind, Once, SweepPosition, Table, Token, View,
};
use shelfmark_model::TableName;

use crate::drivers::{Bed, START_SECONDS, keys, patiently};
use crate::script::arguments::Args;
use crate::script::{read, shown, tables, write};

pub(super) type Answer<T> = Result<T, Box<dyn Error>>;

pub(super) struct Script {
    pub(super) bed: Bed,
    pub(super) cursor: Option<Cursor>,
    pub(super) change: Option<ChangePosition>,
    pub(super) views: HashMap<String, View>,
    position: SweepPosition,
    waiting: BTreeMap<String, Vec<(Command, BTreeSet<String>)>>,
    /// Forms of tables that a script keeps, as a caller may who looked them up long ago.
    pub(super) kept: HashMap<String, Arc<Table>>,
}

impl Script {
    pub(super) fn new(bed: Bed) -> Self {
        Self {
            bed,
            cursor: None,
            change: None,
            views: HashMap::new(),
            position: SweepPosition::default(),
            waiting: BTreeMap::new(),
            kept: HashMap::new(),
        }
    }

    pub(super) fn driver(&self) -> &'static str {
        self.bed.name
    }

    /// The table that a call names first.
    pub(super) fn table(&self, args: &mut Args) -> Answer<Arc<Table>> {
        let name = args.next("which table?")?;
        if let Some(kept) = self.kept.get(&name) {
            return Ok(Arc::clone(kept));
        }
        Ok(self.bed.engine.table(&table_name(&name))?)
    }

    fn call(&mut self, command: &Command) -> Answer<String> {
        let mut args = Args::of(command);
        let answer = match command.name.as_str() {
            "create" => tables::create(self, &mut args),
            "alter" => tables::alter(self, &mut args),
            "drop" => tables::drop_table(self, &mut args),
            "index" => tables::index(self, &mut args),
            "drop_index" => tables::drop_index(self, &mut args),
            "tables" => tables::list(self, &mut args),
            "describe" => tables::describe(self, &mut args),
            "keep" => tables::keep(self, &mut args),
            "put" | "patch" | "delete" | "check" => write::one(self, &command.name, &mut args),
            "get" => read::get(self, &mut args),
            "query" => read::query(self, &mut args),
            "scan" => read::scan(self, &mut args),
            "count" => read::count(self, &mut args),
            "changes" => read::changes(self, &mut args),
            "shards" => read::shards(self, &mut args),
            "cursor" => read::cursor(self, &mut args),
            name => self.upkeep(name, &mut args),
        }?;
        args.end()?;
        Ok(answer)
    }

    fn upkeep(&mut self, name: &str, args: &mut Args) -> Answer<String> {
        match name {
            "sweep" => {
                let before = self.swept();
                // What a sweep did before the store was busy is done, and not told.
                while self.bed.sweep(&mut self.position, 100)? > 0 {
                    self.bed.settle();
                }
                self.bed.settle();
                Ok(format!("{} gone\n", before - self.swept()))
            }
            "purge" => Ok(format!("{} left\n", self.bed.purge()?)),
            "split" => {
                // What was written since the last call waits for one more.
                patiently(|| self.bed.engine.split_all_due())?;
                let splits = patiently(|| self.bed.engine.split_all_due())?;
                Ok(format!("{splits} split\n"))
            }
            "advance" => {
                self.bed.seconds(args.next("how many seconds?")?.parse()?);
                Ok(String::new())
            }
            "reopen" => {
                self.views.clear();
                self.bed.reopen();
                Ok(String::new())
            }
            "snapshot" => {
                let name = args.next("which name?")?;
                self.views.insert(name, self.bed.engine.snapshot()?);
                Ok(String::new())
            }
            "release" => {
                self.views.remove(&args.next("which name?")?);
                Ok(String::new())
            }
            name => Err(format!("there is no call {name}").into()),
        }
    }

    /// How many items and tokens there are.
    fn swept(&self) -> usize {
        keys(&self.bed, &[2]).len() + keys(&self.bed, &[7]).len()
    }

    fn commit(&mut self, prefix: &str, mut args: Args) -> Answer<String> {
        let calls = self.waiting.remove(prefix).unwrap_or_default();
        let (once, hash) = (args.take("once"), args.number("hash")?.unwrap_or(1));
        let is_transaction = args.take("as").as_deref() == Some("transaction");
        let is_aborted = args.flag("abort");
        args.end()?;
        match is_transaction {
            true => self.transaction(&calls, is_aborted),
            false => self.batch(&calls, once.as_deref(), hash),
        }
    }

    fn batch(
        &mut self,
        calls: &[(Command, BTreeSet<String>)],
        once: Option<&str>,
        hash: u64,
    ) -> Answer<String> {
        let mut writes = Vec::new();
        for (command, _) in calls {
            let mut args = Args::of(command);
            writes.push(write::parse(self, &command.name, &mut args)?);
            args.end()?;
        }
        let written = match once {
            None => Once::Written(self.bed.write_all(writes)?),
            Some(once) => {
                let token = Token {
                    token: once.as_bytes().to_vec(),
                    request_hash: hash,
                    expires_at: START_SECONDS + 600,
                };
                self.bed.write_all_once(&token, writes)?
            }
        };
        Ok(match written {
            Once::Written(written) => {
                written.iter().map(|written| shown::written(self, written)).collect()
            }
            Once::Repeated => "repeated\n".to_owned(),
            Once::Mismatch => "mismatch\n".to_owned(),
        })
    }

    fn transaction(
        &mut self,
        calls: &[(Command, BTreeSet<String>)],
        is_aborted: bool,
    ) -> Answer<String> {
        let bed_engine = self.bed.engine.clone();
        let mut shown = String::new();
        let mut outside: BTreeMap<usize, String> = BTreeMap::new();
        let mut trouble = None;
        let mut body = |tx: &shelfmark_engine::Transaction<'_>| {
            shown.clear();
            for (place, (command, tags)) in calls.iter().enumerate() {
                if tags.contains("outside") {
                    let answer = outside.entry(place).or_insert_with(|| {
                        self.call(command).unwrap_or_else(|error| error.to_string())
                    });
                    shown.extend(answer.lines().map(|line| format!("outside: {line}\n")));
                    continue;
                }
                match in_body(self, tx, command) {
                    Ok(answer) => shown.push_str(&answer),
                    Err(error) => match error.downcast::<shelfmark_engine::Error>() {
                        Ok(error) if error.failures().is_empty() => return Err(*error),
                        Ok(error) => writeln!(shown, "refused: {error}").unwrap_or_default(),
                        Err(error) => trouble = Some(error.to_string()),
                    },
                }
            }
            if is_aborted {
                let message = "the body changed its mind";
                return Err(shelfmark_engine::Error::new(ErrorKind::ConditionFailed, message));
            }
            Ok(())
        };
        let outcome = patiently(|| bed_engine.transact(&mut body));
        if let Some(trouble) = trouble {
            return Err(trouble.into());
        }
        outcome?;
        Ok(shown)
    }
}

/// One call in the body of a transaction.
fn in_body(
    script: &mut Script,
    tx: &shelfmark_engine::Transaction<'_>,
    command: &Command,
) -> Answer<String> {
    let mut args = Args::of(command);
    let answer = match command.name.as_str() {
        "get" => read::get_in(script, tx, &mut args)?,
        "query" => read::query_in(script, tx, &mut args)?,
        "scan" => read::scan_in(script, tx, &mut args)?,
        name => {
            let write = write::parse(script, name, &mut args)?;
            shown::written(script, &tx.write(&write)?)
        }
    };
    args.end()?;
    Ok(answer)
}

pub(super) fn table_name(name: &str) -> TableName {
    match name.split_once('.') {
        Some((namespace, name)) => TableName::new(namespace, name),
        None => TableName::new("test", name),
    }
}

impl Runner for Script {
    type Command = Command;

    fn run(&mut self, command: &Command, context: &Context) -> Answer<String> {
        let answer = match (&context.prefix, command.name.as_str()) {
            (Some(prefix), "commit") => {
                let prefix = prefix.clone();
                self.commit(&prefix, Args::of(command))
            }
            (Some(prefix), _) => {
                let call = (command.clone(), context.tags.clone());
                self.waiting.entry(prefix.clone()).or_default().push(call);
                Ok(String::new())
            }
            (None, _) => self.call(command),
        };
        match answer {
            Err(error) => match error.downcast::<shelfmark_engine::Error>() {
                Ok(error) => Ok(shown::error(&error)),
                Err(error) => Err(error),
            },
            answer => answer,
        }
    }
}
