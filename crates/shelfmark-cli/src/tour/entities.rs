//! Uses the entity face: loads and reads partitions, with access reports.

use shelfmark_engine::Engine;
use shelfmark_typed::{
    Attribute, Attributes, Database, EntityTable, Registry, ScanOptions, Tx, WriteReach,
};

use super::asker::Answer;
use super::meter::Meter;
use super::outcome::Rows;

/// Entities per commit while loading.
const BATCH: usize = 500;

/// One table of entities.
pub(crate) struct Entities {
    database: Database,
    table: EntityTable,
    meter: Meter,
}

impl Entities {
    /// Creates a table for a model.
    pub(crate) fn create(engine: &Engine, name: &str) -> anyhow::Result<Self> {
        let meter = Meter::default();
        let environment = Registry::open(&meter.on(engine))?.environment("default")?;
        let database = environment.create_database(name)?;
        let table = EntityTable::named(&database, "entities")?;
        Ok(Self { database, table, meter })
    }

    /// Puts entities; `describe` returns the attributes for a partition and a sort key.
    pub(crate) fn put_all(
        &self,
        rows: &[(String, String)],
        describe: fn(&str, &str) -> Attributes,
    ) -> anyhow::Result<()> {
        for batch in rows.chunks(BATCH) {
            self.database.transact(|tx| {
                let table = tx.entities(&self.table)?;
                for (pk, sk) in batch {
                    table.partition(pk.as_str()).put(sk, describe(pk, sk))?;
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Works as [`Entities::put_all`], into one partition.
    pub(crate) fn put_keys(
        &self,
        pk: &str,
        keys: &[String],
        describe: fn(&str, &str) -> Attributes,
    ) -> anyhow::Result<()> {
        let rows: Vec<_> = keys.iter().map(|key| (pk.to_owned(), key.clone())).collect();
        self.put_all(&rows, describe)
    }

    /// Puts a chat's own entity, with its members.
    pub(crate) fn put_chat(&self, sk: &str, members: &[usize]) -> anyhow::Result<()> {
        self.table.partition("chats").put(sk, chat_attributes(sk, members))?;
        Ok(())
    }

    /// Reads one entity.
    pub(crate) fn get(&self, pk: &str, sk: &str) -> anyhow::Result<Answer> {
        let (entity, rows) = self.meter.measure(|| Ok(self.table.partition(pk).get(sk)?))?;
        Ok(Answer::new(entity.into_iter().map(|entity| entity.sk).collect(), rows))
    }

    /// Scans between two bounds, both included, as CanDB does.
    pub(crate) fn scan(
        &self,
        pk: &str,
        lower: &str,
        upper: &str,
        ascending: bool,
        limit: usize,
    ) -> anyhow::Result<Answer> {
        let mut options = ScanOptions::between(lower, upper).limit(limit);
        if !ascending {
            options = options.descending();
        }
        let (page, rows) = self.meter.measure(|| Ok(self.table.partition(pk).scan(&options)?))?;
        Ok(Answer::new(page.entities.into_iter().map(|entity| entity.sk).collect(), rows))
    }

    /// Reads the sort keys that begin with a prefix.
    pub(crate) fn prefix(
        &self,
        pk: &str,
        prefix: &str,
        ascending: bool,
        limit: usize,
    ) -> anyhow::Result<Answer> {
        let (values, rows) = self.meter.measure(|| {
            let mut entities = self.table.partition(pk).begins_with(prefix).limit(limit);
            if !ascending {
                entities = entities.descending();
            }
            entities.map(|entity| Ok(entity?.sk)).collect::<anyhow::Result<Vec<_>>>()
        })?;
        Ok(Answer::new(values, rows))
    }

    /// Creates a chat: its own entity, and one in the list of each member.
    pub(crate) fn create_chat(
        &self,
        key: &str,
        members: &[usize],
        at_once: bool,
    ) -> anyhow::Result<Rows> {
        let ((), rows) = self.meter.measure(|| {
            if at_once {
                return Ok(self
                    .database
                    .transact(|tx| put_chat(&tx.entities(&self.table)?, key, members))?);
            }
            Ok(put_chat(&self.table, key, members)?)
        })?;
        Ok(rows)
    }

    /// Puts a message into the partition of each member of a chat.
    pub(crate) fn send_message(
        &self,
        chat: &str,
        sort_key: &str,
        at_once: bool,
    ) -> anyhow::Result<Rows> {
        let ((), rows) = self.meter.measure(|| {
            if at_once {
                let send = |tx: &Tx<'_>| put_message(&tx.entities(&self.table)?, chat, sort_key);
                return Ok(self.database.transact(send)?);
            }
            Ok(put_message(&self.table, chat, sort_key)?)
        })?;
        Ok(rows)
    }
}

fn chat_attributes(key: &str, members: &[usize]) -> Attributes {
    let owner = members.first().map_or_else(String::new, |user| format!("user#{user}"));
    let members = members.iter().map(|user| format!("user#{user}"));
    Attributes::new()
        .with("chatID", key)
        .with("chatType", "group")
        .with("chatAllowList", Attribute::array(members))
        .with("chatOwner", owner)
}

fn put_chat<R: WriteReach>(
    table: &EntityTable<R>,
    key: &str,
    members: &[usize],
) -> shelfmark_typed::Result<()> {
    table.partition("chats").put(key, chat_attributes(key, members))?;
    for user in members {
        table
            .partition(format!("user#{user}"))
            .put(key, Attributes::new().with("chatName", key).with("chatType", "group"))?;
    }
    Ok(())
}

fn put_message<R: WriteReach>(
    table: &EntityTable<R>,
    chat: &str,
    sort_key: &str,
) -> shelfmark_typed::Result<()> {
    let allowed = table.partition("chats").get(chat)?;
    let members = allowed
        .as_ref()
        .and_then(|chat| chat.attributes.get("chatAllowList"))
        .and_then(Attribute::as_array)
        .unwrap_or_default();
    for member in members.iter().filter_map(Attribute::as_text) {
        let message = Attributes::new().with("messageBody", "hello");
        table.partition(member).put(sort_key, message)?;
    }
    Ok(())
}
