//! The unfollow problem: one list is sorted by a time that whoever unfollows does not know.

use super::data::{Follow, Follows};
use super::tables::{ANSWERED, ASKED, INDEXED, VIEWED};
use crate::tour::asker::{Answer, Asker, Question};
use crate::tour::cql::Cql;
use crate::tour::outcome::Plan;
use crate::tour::uuid::Uuid;

pub(super) fn ask(asker: &mut Asker, cql: &mut Cql, follows: &Follows) -> anyhow::Result<()> {
    // Each way removes a follower of its own.
    let mut leaving = follows.own.iter().step_by(150);
    let mut next = || leaving.next().map(Unfollow::of);
    if let Some(unfollow) = next() {
        as_asked(asker, cql, &unfollow)?;
    }
    if let Some(unfollow) = next() {
        by_filter(asker, cql, &unfollow)?;
    }
    if let Some(unfollow) = next() {
        by_reading(asker, cql, &unfollow)?;
    }
    if let Some(unfollow) = next() {
        by_view(asker, cql, &unfollow)?;
    }
    match next() {
        Some(unfollow) => by_index(asker, cql, &unfollow),
        None => Ok(()),
    }
}

/// A user and the follower who leaves.
struct Unfollow {
    user: Uuid,
    follower: Uuid,
}

impl Unfollow {
    fn of(follow: &Follow) -> Self {
        Self { user: follow.user, follower: follow.follower }
    }

    fn question(&self, plan: Plan, range: &str, note: &'static str) -> Question {
        Question {
            pattern: "unfollow",
            plan,
            question: "A follower leaves, and is in no list any more".to_owned(),
            range: format!(
                "user_id = {}, f_user_id = {}{range}",
                self.user.short(),
                self.follower.short()
            ),
            note,
        }
    }

    /// Returns the statement that names the two users and nothing else.
    fn delete(&self, table: &str) -> String {
        let Self { user, follower } = self;
        format!("DELETE FROM {table} WHERE user_id = {user} AND f_user_id = {follower}")
    }

    /// Returns the statement that also names the time.
    fn delete_at(&self, table: &str, time: &str) -> String {
        let Self { user, follower } = self;
        format!(
            "DELETE FROM {table} WHERE user_id = {user} AND f_time = '{time}' \
             AND f_user_id = {follower}"
        )
    }

    /// Reads the time since which one follows the other.
    fn time(&self, cql: &mut Cql, table: &str, more: &str) -> anyhow::Result<String> {
        let Self { user, follower } = self;
        let rows = cql.must(&format!(
            "SELECT f_time FROM {table} WHERE user_id = {user} AND f_user_id = {follower}{more}"
        ))?;
        Ok(rows.into_iter().next().unwrap_or_default())
    }

    /// Returns the tables of a keyspace that still list the follower.
    fn left(&self, cql: &mut Cql, keyspace: &str, tables: &[&str]) -> anyhow::Result<Vec<String>> {
        let Self { user, follower } = self;
        let mut left = Vec::new();
        for table in tables {
            let rows = cql.must(&format!(
                "SELECT f_user_id FROM {keyspace}.{table} WHERE user_id = {user}"
            ))?;
            if rows.contains(&follower.to_string()) {
                left.push((*table).to_owned());
            }
        }
        Ok(left)
    }
}

const BOTH: &[&str] = &["followers", "followers_by_time"];

fn as_asked(asker: &mut Asker, cql: &mut Cql, unfollow: &Unfollow) -> anyhow::Result<()> {
    let note = "the list by id forgets him, the list by time does not";
    asker.ask(unfollow.question(Plan::Published, "", note), &[], || {
        let answer = cql.work(|cql| {
            cql.must(&unfollow.delete(&format!("{ASKED}.followers")))?;
            Ok(cql.run(&unfollow.delete(&format!("{ASKED}.followers_by_time")))?.err())
        })?;
        Ok(Answer { values: unfollow.left(cql, ASKED, BOTH)?, ..answer })
    })
}

fn by_filter(asker: &mut Asker, cql: &mut Cql, unfollow: &Unfollow) -> anyhow::Result<()> {
    let note = "with ALLOW FILTERING: right, and reads every follower to find one";
    let question = unfollow.question(Plan::Published, ", every f_time", note);
    asker.ask(question, &[], || {
        let by_time = format!("{ASKED}.followers_by_time");
        let answer = cql.work(|cql| {
            let time = unfollow.time(cql, &by_time, " ALLOW FILTERING")?;
            cql.must(&both(unfollow, ASKED, &time))?;
            Ok(None)
        })?;
        Ok(Answer { values: unfollow.left(cql, ASKED, BOTH)?, ..answer })
    })
}

fn both(unfollow: &Unfollow, keyspace: &str, time: &str) -> String {
    format!(
        "BEGIN BATCH {}; {}; APPLY BATCH",
        unfollow.delete(&format!("{keyspace}.followers")),
        unfollow.delete_at(&format!("{keyspace}.followers_by_time"), time)
    )
}

fn by_reading(asker: &mut Asker, cql: &mut Cql, unfollow: &Unfollow) -> anyhow::Result<()> {
    let note = "the time stands in both tables: read it, then delete both in one batch, which \
                nobody sees half of";
    asker.ask(unfollow.question(Plan::Right, ", then f_time as read", note), &[], || {
        let answer = cql.work(|cql| {
            let time = unfollow.time(cql, &format!("{ANSWERED}.followers"), "")?;
            cql.must(&both(unfollow, ANSWERED, &time))?;
            Ok(None)
        })?;
        Ok(Answer { values: unfollow.left(cql, ANSWERED, BOTH)?, ..answer })
    })
}

fn by_view(asker: &mut Asker, cql: &mut Cql, unfollow: &Unfollow) -> anyhow::Result<()> {
    let note = "the list by time is a view of the other: its row goes in the same commit";
    asker.ask(unfollow.question(Plan::Right, "", note), &[], || {
        let answer = cql.work(|cql| {
            cql.must(&unfollow.delete(&format!("{VIEWED}.followers")))?;
            Ok(None)
        })?;
        Ok(Answer { values: unfollow.left(cql, VIEWED, BOTH)?, ..answer })
    })
}

fn by_index(asker: &mut Asker, cql: &mut Cql, unfollow: &Unfollow) -> anyhow::Result<()> {
    let note = "one table; an index on the follower finds the time";
    asker.ask(unfollow.question(Plan::Right, ", then f_time as read", note), &[], || {
        let table = format!("{INDEXED}.followers_by_time");
        let answer = cql.work(|cql| {
            let time = unfollow.time(cql, &table, "")?;
            cql.must(&unfollow.delete_at(&table, &time))?;
            Ok(None)
        })?;
        Ok(Answer { values: unfollow.left(cql, INDEXED, &["followers_by_time"])?, ..answer })
    })
}
