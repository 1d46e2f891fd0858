//! Followers of a user in CQL: the lists, the follower that cannot be removed, and three ways to
//! remove him all the same.

mod data;
mod instants;
mod lists;
mod tables;
mod unfollow;

use super::asker::Asker;
use super::cql::Cql;
use super::{Outcome, Stage};
use data::Follows;

/// Returns a command that reads the newest followers of some user.
pub(super) fn further() -> String {
    format!("shelfmark cql -e 'SELECT * FROM {}.followers_by_time LIMIT 10'", tables::ANSWERED)
}

/// Loads the tables and asks the document's questions.
pub(super) fn run(stage: &Stage<'_>) -> anyhow::Result<Vec<Outcome>> {
    (stage.progress)("loading followers");
    let follows = Follows::generate(stage.seed);
    let mut cql = Cql::open(stage)?;
    tables::create(&mut cql, &follows)?;
    (stage.progress)("asking");
    let mut asker = Asker::new("followers", "cql", stage.engine.environment().clock.clone());
    lists::ask(&mut asker, &mut cql, &follows)?;
    unfollow::ask(&mut asker, &mut cql, &follows)?;
    instants::ask(&mut asker, &mut cql, &follows)?;
    Ok(asker.outcomes)
}
