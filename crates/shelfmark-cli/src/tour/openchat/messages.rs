//! getMessagesInChat: the document's two ways of writing its bounds, and the range that is meant.

use super::data::{Chats, EXAMPLE_USER};
use crate::tour::asker::{Asker, Question};
use crate::tour::entities::Entities;
use crate::tour::outcome::Plan;

/// Number of messages that the questions ask for.
const NEWEST: usize = 10;

pub(super) fn ask(asker: &mut Asker, entities: &Entities, chats: &Chats) -> anyhow::Result<()> {
    let user = format!("user#{EXAMPLE_USER}");
    let Some(chat) = chats.of_user(EXAMPLE_USER).first().copied() else { return Ok(()) };
    let prefix = format!("chats#{}#message#", chat.id);
    let upper = format!("chat#{}#message#~", chat.id);
    let expected: Vec<String> =
        chat.messages.iter().rev().take(NEWEST).map(|id| format!("{prefix}{id}")).collect();
    let question = |plan, range, note| Question {
        pattern: "getMessagesInChat",
        plan,
        question: format!("The newest {NEWEST} messages of {user} in {}", chat.id),
        range,
        note,
    };
    asker.ask(
        question(
            Plan::Published,
            format!("PK = {user}, SK from {prefix} to {upper}"),
            "the heading's bounds: the lower one is above the upper one, so nothing is between them",
        ),
        &expected,
        || entities.scan(&user, &prefix, &upper, false, NEWEST),
    )?;
    asker.ask(
        question(
            Plan::Published,
            format!("PK = {user}, SK from {prefix} to {prefix}"),
            "the prose's bounds: both are the same, and no message has that key",
        ),
        &expected,
        || entities.scan(&user, &prefix, &prefix, false, NEWEST),
    )?;
    asker.ask(
        question(
            Plan::Published,
            format!("PK = {user}, SK from {prefix} to {prefix}~, ascending, limit {NEWEST}"),
            "bounds mended, but an ascending scan gives the oldest",
        ),
        &expected,
        || entities.scan(&user, &prefix, &format!("{prefix}~"), true, NEWEST),
    )?;
    asker.ask(
        question(
            Plan::Right,
            format!("PK = {user}, SK begins with {prefix}, descending, limit {NEWEST}"),
            "ULIDs sort by time, so the newest come first from the end",
        ),
        &expected,
        || entities.prefix(&user, &prefix, false, NEWEST),
    )
}
