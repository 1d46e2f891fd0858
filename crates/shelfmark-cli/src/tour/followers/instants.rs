//! Two followers in one instant: with the key that the document finds sufficient, and with both
//! columns in it.

use super::data::{Follow, Follows};
use super::tables::ANSWERED;
use crate::tour::asker::{Answer, Asker, Question};
use crate::tour::cql::Cql;
use crate::tour::outcome::Plan;

pub(super) fn ask(asker: &mut Asker, cql: &mut Cql, follows: &Follows) -> anyhow::Result<()> {
    // From behind: the first followers have left meanwhile.
    let mut pairs = follows.pairs().into_iter();
    if let Some(pair) = pairs.next() {
        two_of_an_instant(asker, cql, pair)?;
    }
    if let (Some(one), Some(other)) = (pairs.next(), pairs.next()) {
        one_of_two_leaves(asker, cql, one, other)?;
    }
    Ok(())
}

fn two_of_an_instant(
    asker: &mut Asker,
    cql: &mut Cql,
    (a, b): (&Follow, &Follow),
) -> anyhow::Result<()> {
    let (user, at) = (a.user, a.at_ms);
    let mut ask = |plan, table: &str, note| {
        let question = Question {
            pattern: "two followers in one instant",
            plan,
            question: "Two begin to follow in the same millisecond; who are they?".to_owned(),
            range: format!("user_id = {}, f_time = {at}", user.short()),
            note,
        };
        asker.ask(question, &[a.follower.to_string(), b.follower.to_string()], || {
            cql.read(&format!(
                "SELECT f_user_id FROM {ANSWERED}.{table} WHERE user_id = {user} AND f_time = {at}"
            ))
        })
    };
    ask(
        Plan::Published,
        "followers_by_instant",
        "the document finds a third key column unnecessary: without it the later one takes the \
         earlier one's place",
    )?;
    ask(Plan::Right, "followers_by_time", "the follower is the last part of the key")
}

fn one_of_two_leaves(
    asker: &mut Asker,
    cql: &mut Cql,
    first: (&Follow, &Follow),
    second: (&Follow, &Follow),
) -> anyhow::Result<()> {
    let mut ask = |plan, (leaves, stays): (&Follow, &Follow), exactly: bool, note| {
        let (user, at) = (leaves.user, leaves.at_ms);
        let table = format!("{ANSWERED}.followers_by_time");
        let place = format!("user_id = {user} AND f_time = {at}");
        let mut range = format!("user_id = {}, f_time = {at}", user.short());
        let mut delete = format!("DELETE FROM {table} WHERE {place}");
        if exactly {
            range.push_str(&format!(", f_user_id = {}", leaves.follower.short()));
            delete.push_str(&format!(" AND f_user_id = {}", leaves.follower));
        }
        let question = Question {
            pattern: "one of two leaves",
            plan,
            question: "One of two followers of one instant leaves; the other one stays".to_owned(),
            range,
            note,
        };
        asker.ask(question, &[stays.follower.to_string()], || {
            let answer = cql.work(|cql| Ok(cql.run(&delete)?.err()))?;
            let values = cql.must(&format!("SELECT f_user_id FROM {table} WHERE {place}"))?;
            Ok(Answer { values, ..answer })
        })
    };
    ask(
        Plan::Published,
        first,
        false,
        "deleted by user and time, as the document says: whoever came in that instant goes too",
    )?;
    ask(Plan::Right, second, true, "the whole key: one row")
}
