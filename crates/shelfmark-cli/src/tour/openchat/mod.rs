//! OpenChat, the document's chat in CanDB: its four calls, as written there and done right.

mod calls;
mod data;
mod lists;
mod messages;

use shelfmark_typed::Attributes;

use super::asker::Asker;
use super::entities::Entities;
use super::{Outcome, Stage};
use data::Chats;

/// Loads the chats and makes the document's calls.
pub(super) fn run(stage: &Stage<'_>) -> anyhow::Result<Vec<Outcome>> {
    (stage.progress)("loading chats and messages");
    let chats = Chats::generate(stage.seed)?;
    let entities = Entities::create(stage.engine, "openchat")?;
    load(&entities, &chats)?;
    (stage.progress)("asking");
    let mut asker = Asker::new("openchat", "candb", stage.engine.environment().clock.clone());
    lists::ask(&mut asker, &entities, &chats)?;
    messages::ask(&mut asker, &entities, &chats)?;
    calls::ask(&mut asker, &entities, &chats)?;
    Ok(asker.outcomes)
}

fn load(entities: &Entities, chats: &Chats) -> anyhow::Result<()> {
    let mut rows = Vec::new();
    for chat in &chats.chats {
        for user in &chat.members {
            let own = format!("user#{user}");
            rows.push((own.clone(), format!("chat#{}", chat.id)));
            // The other design of the document: one partition for every hundred users.
            rows.push((format!("users#{}", user / 100), format!("user#{user}#chat#{}", chat.id)));
            for message in &chat.messages {
                rows.push((own.clone(), format!("chats#{}#message#{message}", chat.id)));
            }
        }
    }
    entities.put_all(&rows, attributes)?;
    // What sendMessage reads: who may write.
    for chat in &chats.chats {
        entities.put_chat(&format!("chat#{}", chat.id), &chat.members)?;
    }
    Ok(())
}

/// Returns the attributes of a message, and of a chat in a member's list, as the document has them.
fn attributes(_: &str, sk: &str) -> Attributes {
    if let Some((chat, message)) = sk.split_once("#message#") {
        return Attributes::new()
            .with("messageId", message)
            .with("messageBody", format!("Said in {chat}: see you at the usual place"))
            .with("messageMetadata", "text/plain; read by nobody yet");
    }
    let (_, name) = sk.rsplit_once("chat#").unwrap_or(("", sk));
    Attributes::new().with("chatName", name).with("chatType", "group")
}
