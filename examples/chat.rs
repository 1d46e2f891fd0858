//! A chat: creating chats, sending messages, the newest messages of a chat, the chats of a user.
//!
//! Every user is a partition that holds the user's chats (`chat#…`) and a copy of every message in
//! them (`chats#…#message#…`, the plural, so that the two never mix). A partition `chats` holds who
//! may write where. Each question is one range of one partition; each change is one transaction
//! over the partitions it touches, so nobody sees half of it.
//!
//! Run it with `cargo run -p shelfmark --example chat`.

#![expect(clippy::print_stdout, reason = "it shows what it does")]

use shelfmark::{
    Attribute, Attributes, Database, Entity, EntityTable, Error, ErrorKind, Result, Shelfmark,
};

/// The partition of the chats' own data.
const CHATS: &str = "chats";

struct OpenChat<'s> {
    shelfmark: &'s Shelfmark,
    database: Database,
    entities: EntityTable,
}

impl<'s> OpenChat<'s> {
    fn open(shelfmark: &'s Shelfmark) -> Result<Self> {
        let database = shelfmark.database("openchat")?;
        let entities = EntityTable::named(&database, "entities")?;
        Ok(Self { shelfmark, database, entities })
    }

    /// Creates a chat and puts it on the list of each of its members. Returns its id.
    fn create_chat(&self, owner: &str, name: &str, kind: &str, members: &[&str]) -> Result<String> {
        let chat = self.shelfmark.ulid()?.to_string();
        let sk = format!("chat#{chat}");
        let shown = Attributes::new().with("chatName", name).with("chatType", kind);
        let own = shown
            .clone()
            .with("chatOwner", owner)
            .with("chatAllowList", Attribute::array(members.iter().copied()));
        self.database.transact(|tx| {
            let entities = tx.entities(&self.entities)?;
            entities.partition(CHATS).create(&sk, own.clone())?;
            for member in members {
                entities.partition(user(member)).put(&sk, shown.clone())?;
            }
            Ok(())
        })?;
        Ok(chat)
    }

    /// Sends a message to every member of a chat, by its allow list at this moment.
    fn send_message(&self, chat: &str, from: &str, body: &str) -> Result<()> {
        let message = self.shelfmark.ulid()?.to_string();
        let sk = format!("chats#{chat}#message#{message}");
        self.database.transact(|tx| {
            let entities = tx.entities(&self.entities)?;
            let found = entities.partition(CHATS).get(&format!("chat#{chat}"))?;
            let Some(found) = found else { return tx.abort("there is no such chat") };
            let members = allowed(&found);
            if !members.contains(&from) {
                return tx.abort(format!("{from} is not in this chat"));
            }
            let sent = Attributes::new().with("from", from).with("messageBody", body);
            for member in members {
                entities.partition(user(member)).put(&sk, sent.clone())?;
            }
            Ok(())
        })
    }

    /// Returns the newest messages of a chat as a user has them, newest first.
    fn messages_in_chat(&self, of: &str, chat: &str, newest: usize) -> Result<Vec<Entity>> {
        let prefix = format!("chats#{chat}#message#");
        self.entities.partition(user(of)).begins_with(&prefix).descending().limit(newest).collect()
    }

    /// Returns the chats of a user, in the order in which they were created.
    fn chats_for_user(&self, of: &str) -> Result<Vec<Entity>> {
        self.entities.partition(user(of)).begins_with("chat#").collect()
    }
}

fn user(id: &str) -> String {
    format!("user#{id}")
}

fn allowed(chat: &Entity) -> Vec<&str> {
    let list = chat.attributes.get("chatAllowList").and_then(Attribute::as_array);
    list.unwrap_or_default().iter().filter_map(Attribute::as_text).collect()
}

fn show_chats(chat: &OpenChat<'_>, of: &str) -> Result<()> {
    println!("Chats of {of}:");
    for entity in chat.chats_for_user(of)? {
        let text = |name: &str| entity.attributes.text(name).unwrap_or("?").to_owned();
        println!("    {} ({})", text("chatName"), text("chatType"));
    }
    Ok(())
}

fn main() -> Result<()> {
    let shelfmark = Shelfmark::memory()?;
    let chat = OpenChat::open(&shelfmark)?;

    let books = chat.create_chat("alice", "Bücher", "group", &["alice", "bob", "carol"])?;
    let private = chat.create_chat("bob", "Alice & Bob", "dm", &["alice", "bob"])?;
    show_chats(&chat, "alice")?;
    show_chats(&chat, "carol")?;

    for (from, body) in [
        ("alice", "Where do the atlases stand?"),
        ("carol", "On the lowest shelf."),
        ("bob", "They are too tall for the others."),
        ("alice", "~ found them, thank you"),
    ] {
        chat.send_message(&books, from, body)?;
    }
    chat.send_message(&private, "bob", "Shall we lend Carol one?")?;

    println!("The newest three messages in Bücher, as Carol has them:");
    for message in chat.messages_in_chat("carol", &books, 3)? {
        let text = |name: &str| message.attributes.text(name).unwrap_or("?").to_owned();
        println!("    {}: {}", text("from"), text("messageBody"));
    }

    match chat.send_message(&private, "carol", "Let me in!") {
        Err(error) if error.kind() == ErrorKind::Aborted => println!("Refused: {error}."),
        other => return other.and(Err(Error::invalid("a stranger wrote into a private chat"))),
    }
    let private = chat.messages_in_chat("alice", &private, 10)?;
    println!("Alice & Bob have {} message in their chat.", private.len());
    shelfmark.close()
}
