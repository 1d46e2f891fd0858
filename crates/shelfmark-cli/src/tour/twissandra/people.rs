//! Users by name and by the time they came, friends and followers.

use super::data::{User, World};
use super::session::Session;
use crate::tour::asker::{Asker, Question};
use crate::tour::outcome::Plan;

/// The day of the questions, in days since the first.
const DAY: u64 = 4;
const DAY_MICROS: u64 = 86_400_000_000;

pub(super) fn ask(asker: &mut Asker, session: &mut Session, world: &World) -> anyhow::Result<()> {
    let Some(example) = world.users.first() else { return Ok(()) };
    by_name(asker, session, example)?;
    of_a_day(asker, session, world)?;
    friends(asker, session, world, example)?;
    followers(asker, session, world, example)
}

fn by_name(asker: &mut Asker, session: &mut Session, user: &User) -> anyhow::Result<()> {
    let command = format!("get User where user_name = '{}';", user.name);
    let expected = [
        format!("create_timestamp = {}", user.created_micros),
        format!("user_name = {}", user.name),
        "user_password = ******".to_owned(),
    ];
    asker.ask(
        Question {
            pattern: "user by name",
            plan: Plan::Published,
            question: format!("The user called {}", user.name),
            range: command.clone(),
            note: "the KEYS index finds the row, then its columns are read",
        },
        &expected,
        || session.ask(&command, |column| format!("{} = {}", column.name, column.value)),
    )
}

fn of_a_day(asker: &mut Asker, session: &mut Session, world: &World) -> anyhow::Result<()> {
    let mut of_day: Vec<&User> = world.users.iter().filter(|user| user.day() == DAY).collect();
    of_day.sort_by_key(|user| user.created_micros);
    let expected: Vec<String> = of_day.iter().map(|user| user.id.to_string()).collect();
    let Some(user) = of_day.first() else { return Ok(()) };
    let from = user.created_micros / DAY_MICROS * DAY_MICROS;
    let until = from + DAY_MICROS;
    let by_index =
        format!("get User where create_timestamp >= {from} and create_timestamp < {until};");
    let by_day = format!("get UserByDay['{DAY}'];");
    for (plan, command, note) in [
        (
            Plan::Published,
            by_index,
            "a KEYS index knows equal values alone, and nobody knows the microsecond",
        ),
        (Plan::Right, by_day, "a row for each day, sorted by the time of it"),
    ] {
        let question = Question {
            pattern: "users of a day",
            plan,
            question: "Who came on the fifth day?".to_owned(),
            range: command.clone(),
            note,
        };
        asker.ask(question, &expected, || session.ask(&command, |column| column.value.clone()))?;
    }
    Ok(())
}

fn friends(
    asker: &mut Asker,
    session: &mut Session,
    world: &World,
    user: &User,
) -> anyhow::Result<()> {
    let ids = user.friends.iter().filter_map(|(friend, _)| world.users.get(*friend));
    let expected: Vec<String> = ids.map(|friend| friend.id.to_string()).collect();
    let command = format!("get Friend['{}'];", user.id);
    asker.ask(
        Question {
            pattern: "friends of a user",
            plan: Plan::Published,
            question: format!("Whom does {} follow, since longest first?", user.name),
            range: command.clone(),
            note: "one row, its columns in the order of time",
        },
        &expected,
        || session.ask(&command, |column| column.value.clone()),
    )
}

fn followers(
    asker: &mut Asker,
    session: &mut Session,
    world: &World,
    user: &User,
) -> anyhow::Result<()> {
    // The example user is number 0.
    let since = |other: &User| other.friends.iter().find(|(to, _)| *to == 0).map(|own| own.1);
    let mut found: Vec<(u64, &User)> =
        world.users.iter().filter_map(|other| Some((since(other)?, other))).collect();
    found.sort_by_key(|(since, _)| *since);
    let expected: Vec<String> = found.iter().map(|(_, other)| other.id.to_string()).collect();
    let command = format!("get Follower['{}'];", user.id);
    asker.ask(
        Question {
            pattern: "followers of a user",
            plan: Plan::Published,
            question: format!("Who follows {}, since longest first?", user.name),
            range: command.clone(),
            note: "the same facts the other way round: every friendship is written twice",
        },
        &expected,
        || session.ask(&command, |column| column.value.clone()),
    )
}
