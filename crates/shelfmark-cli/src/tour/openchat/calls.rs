//! createChat and sendMessage: the writes, one by one and in one transaction.

use super::data::{Chats, EXAMPLE_USER};
use crate::tour::asker::{Answer, Asker, Question};
use crate::tour::entities::Entities;
use crate::tour::outcome::Plan;

pub(super) fn ask(asker: &mut Asker, entities: &Entities, chats: &Chats) -> anyhow::Result<()> {
    create_chat(asker, entities)?;
    send_message(asker, entities, chats)
}

fn create_chat(asker: &mut Asker, entities: &Entities) -> anyhow::Result<()> {
    let members = [EXAMPLE_USER, 11, 42];
    let question = |plan, range, note| Question {
        pattern: "createChat",
        plan,
        question: "A new chat appears in the list of each of its three members".to_owned(),
        range,
        note,
    };
    for (plan, id, note) in [
        (
            Plan::Published,
            "new-one-by-one",
            "one put after the other: right when alone, but a crash between them leaves lists without it",
        ),
        (Plan::Right, "new-at-once", "one transaction over four partitions: all or nothing"),
    ] {
        let key = format!("chat#{id}");
        let range = format!("put PK = chats, SK = {key}; put PK = user#(member), SK = {key}");
        let expected = vec![key.clone(); members.len()];
        asker.ask(question(plan, range, note), &expected, || {
            let at_once = plan == Plan::Right;
            let rows = entities.create_chat(&key, &members, at_once)?;
            let mut values = Vec::new();
            for user in members {
                values.extend(entities.get(&format!("user#{user}"), &key)?.values);
            }
            Ok(Answer::new(values, rows))
        })?;
    }
    Ok(())
}

fn send_message(asker: &mut Asker, entities: &Entities, chats: &Chats) -> anyhow::Result<()> {
    let Some(chat) = chats.of_user(EXAMPLE_USER).last().copied() else { return Ok(()) };
    let key = format!("chat#{}", chat.id);
    let question = |plan, range, note| Question {
        pattern: "sendMessage",
        plan,
        question: format!("A message reaches all {} members of {}", chat.members.len(), chat.id),
        range,
        note,
    };
    for (plan, message, note) in [
        (
            Plan::Published,
            "7ZZZZZZZZZZZZZZZZZZZZZZZZ0",
            "get the allow list, then one put per member: who joins or leaves meanwhile is missed",
        ),
        (
            Plan::Right,
            "7ZZZZZZZZZZZZZZZZZZZZZZZZ1",
            "the allow list is read and the messages are put in one transaction",
        ),
    ] {
        let sort_key = format!("chats#{}#message#{message}", chat.id);
        let range = format!("get PK = chats, SK = {key}; put PK = user#(member), SK = {sort_key}");
        let expected = vec![sort_key.clone(); chat.members.len()];
        asker.ask(question(plan, range, note), &expected, || {
            let rows = entities.send_message(&key, &sort_key, plan == Plan::Right)?;
            let mut values = Vec::new();
            for user in &chat.members {
                values.extend(entities.get(&format!("user#{user}"), &sort_key)?.values);
            }
            Ok(Answer::new(values, rows))
        })?;
    }
    Ok(())
}
