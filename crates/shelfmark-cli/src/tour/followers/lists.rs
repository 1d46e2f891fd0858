//! The lists of followers: by id, by time, by name.

use super::data::{Follow, Follows};
use super::tables::{ANSWERED, ASKED};
use crate::tour::asker::{Asker, Question};
use crate::tour::cql::Cql;
use crate::tour::outcome::Plan;

const NEWEST: usize = 10;
const PREFIX: &str = "Mar";
/// The least text above all that begin with the prefix.
const BEHIND_PREFIX: &str = "Mas";

pub(super) fn ask(asker: &mut Asker, cql: &mut Cql, follows: &Follows) -> anyhow::Result<()> {
    by_id(asker, cql, follows)?;
    by_time(asker, cql, follows)?;
    by_name(asker, cql, follows)
}

fn ids<'f>(follows: impl IntoIterator<Item = &'f Follow>) -> Vec<String> {
    follows.into_iter().map(|follow| follow.follower.to_string()).collect()
}

fn by_id(asker: &mut Asker, cql: &mut Cql, follows: &Follows) -> anyhow::Result<()> {
    let user = follows.user;
    let mut all: Vec<&Follow> = follows.own.iter().collect();
    all.sort_by_key(|follow| follow.follower);
    asker.ask(
        Question {
            pattern: "followers of a user",
            plan: Plan::Published,
            question: format!("All followers of {}", user.short()),
            range: format!("user_id = {}", user.short()),
            note: "one partition is one contiguous range",
        },
        &ids(all.iter().copied()),
        || cql.read(&format!("SELECT f_user_id FROM {ASKED}.followers WHERE user_id = {user}")),
    )?;
    let Some(one) = all.first() else { return Ok(()) };
    asker.ask(
        Question {
            pattern: "does one follow another",
            plan: Plan::Published,
            question: format!("Does {} follow {}?", one.follower.short(), user.short()),
            range: format!("user_id = {}, f_user_id = {}", user.short(), one.follower.short()),
            note: "the whole key: one row",
        },
        &ids([*one]),
        || {
            let follower = one.follower;
            cql.read(&format!(
                "SELECT f_user_id FROM {ASKED}.followers \
                 WHERE user_id = {user} AND f_user_id = {follower}"
            ))
        },
    )
}

fn by_time(asker: &mut Asker, cql: &mut Cql, follows: &Follows) -> anyhow::Result<()> {
    let user = follows.user;
    let newest_first = follows.newest_first();
    asker.ask(
        Question {
            pattern: "newest followers",
            plan: Plan::Published,
            question: format!("The newest {NEWEST} followers of {}", user.short()),
            range: format!("user_id = {}, f_time from the newest, limit {NEWEST}", user.short()),
            note: "stored newest first: the last followers are the first rows",
        },
        &ids(newest_first.iter().copied().take(NEWEST)),
        || {
            cql.read(&format!(
                "SELECT f_user_id FROM {ASKED}.followers_by_time WHERE user_id = {user} \
                 LIMIT {NEWEST}"
            ))
        },
    )?;
    let (Some(from), Some(until)) = (follows.own.get(500), follows.own.get(700)) else {
        return Ok(());
    };
    let (from, until) = (from.at_ms, until.at_ms);
    let within = newest_first.iter().filter(|own| from <= own.at_ms && own.at_ms < until);
    asker.ask(
        Question {
            pattern: "followers of a time",
            plan: Plan::Published,
            question: format!("Who began to follow {} in a stretch of time?", user.short()),
            range: format!("user_id = {}, f_time from {from} to before {until}", user.short()),
            note: "the first clustering column may be a stretch",
        },
        &ids(within.copied()),
        || {
            cql.read(&format!(
                "SELECT f_user_id FROM {ASKED}.followers_by_time WHERE user_id = {user} \
                 AND f_time >= {from} AND f_time < {until}"
            ))
        },
    )
}

fn by_name(asker: &mut Asker, cql: &mut Cql, follows: &Follows) -> anyhow::Result<()> {
    let user = follows.user;
    let mut all: Vec<(&str, _)> =
        follows.own.iter().map(|own| (own.name.as_str(), own.follower)).collect();
    all.sort_unstable();
    let row = |(name, id): &(&str, _)| format!("{name} | {id}");
    asker.ask(
        Question {
            pattern: "followers by name",
            plan: Plan::Right,
            question: format!("The first {NEWEST} followers of {} by name", user.short()),
            range: format!("user_id = {}, f_name from the first, limit {NEWEST}", user.short()),
            note: "another order is another table, says the document and prints none; the id behind the name keeps namesakes apart",
        },
        &all.iter().take(NEWEST).map(row).collect::<Vec<_>>(),
        || {
            cql.read(&format!(
                "SELECT f_name, f_user_id FROM {ANSWERED}.followers_by_name \
                 WHERE user_id = {user} LIMIT {NEWEST}"
            ))
        },
    )?;
    let begins = all.iter().filter(|(name, _)| name.starts_with(PREFIX));
    asker.ask(
        Question {
            pattern: "followers whose names begin so",
            plan: Plan::Right,
            question: format!("Followers of {} whose names begin with {PREFIX}", user.short()),
            range: format!(
                "user_id = {}, f_name from {PREFIX} to before {BEHIND_PREFIX}",
                user.short()
            ),
            note: "a prefix is a stretch that ends before its successor",
        },
        &begins.map(row).collect::<Vec<_>>(),
        || {
            cql.read(&format!(
                "SELECT f_name, f_user_id FROM {ANSWERED}.followers_by_name \
                 WHERE user_id = {user} AND f_name >= '{PREFIX}' AND f_name < '{BEHIND_PREFIX}'"
            ))
        },
    )
}
