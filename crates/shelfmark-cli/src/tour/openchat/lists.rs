//! getChatsForUser: by a sentinel, by a prefix, and from a shared partition.

use super::data::{Chats, EXAMPLE_USER};
use crate::tour::asker::{Asker, Question};
use crate::tour::entities::Entities;
use crate::tour::outcome::Plan;

pub(super) fn ask(asker: &mut Asker, entities: &Entities, chats: &Chats) -> anyhow::Result<()> {
    let user = format!("user#{EXAMPLE_USER}");
    let ids: Vec<String> = chats.of_user(EXAMPLE_USER).iter().map(|chat| chat.id.clone()).collect();
    let expected: Vec<String> = ids.iter().map(|id| format!("chat#{id}")).collect();
    let question = |plan, range, note| Question {
        pattern: "getChatsForUser",
        plan,
        question: format!("All chats of {user}, oldest first"),
        range,
        note,
    };
    asker.ask(
        question(
            Plan::Published,
            format!("PK = {user}, SK from chat# to chat#~"),
            "no ULID reaches ~, so it ends the range; of names it would cut off other scripts",
        ),
        &expected,
        || entities.scan(&user, "chat#", "chat#~", true, 1_000),
    )?;
    asker.ask(
        question(
            Plan::Right,
            format!("PK = {user}, SK begins with chat#"),
            "the range ends at the prefix's successor",
        ),
        &expected,
        || entities.prefix(&user, "chat#", true, 1_000),
    )?;
    shared_partition(asker, entities, chats, &ids)
}

fn shared_partition(
    asker: &mut Asker,
    entities: &Entities,
    chats: &Chats,
    ids: &[String],
) -> anyhow::Result<()> {
    let partition = format!("users#{}", EXAMPLE_USER / 100);
    let prefix = format!("user#{EXAMPLE_USER}#chat#");
    let expected: Vec<String> = ids.iter().map(|id| format!("{prefix}{id}")).collect();
    let partitions = chats.users.div_ceil(100);
    asker.ask(
        Question {
            pattern: "one partition per 100 users",
            plan: Plan::Published,
            question: format!(
                "The same list, with {partitions} partitions instead of {}",
                chats.users
            ),
            range: format!("PK = {partition}, SK begins with {prefix}"),
            note: "the same rows read: the user moved from the partition key into the sort key",
        },
        &expected,
        || entities.prefix(&partition, &prefix, true, 1_000),
    )
}
