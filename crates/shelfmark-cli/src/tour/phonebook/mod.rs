//! A phone directory in CQL: three tables for three questions, and a key of five columns read by
//! its parts.

mod data;
mod directory;
mod five_columns;

use super::asker::Asker;
use super::cql::Cql;
use super::{Outcome, Stage};
use data::Directory;

/// Loads the tables and asks the document's questions.
pub(super) fn run(stage: &Stage<'_>) -> anyhow::Result<Vec<Outcome>> {
    (stage.progress)("loading the directory");
    let mut cql = Cql::open(stage)?;
    let mut asker = Asker::new("phonebook", "cql", stage.engine.environment().clock.clone());
    let directory = Directory::generate(stage.seed);
    directory::create(&mut cql, &directory)?;
    (stage.progress)("asking");
    directory::ask(&mut asker, &mut cql, &directory)?;
    (stage.progress)("a key of five columns");
    let rows = five_columns::create(&mut cql)?;
    five_columns::ask(&mut asker, &mut cql, &rows)?;
    Ok(asker.outcomes)
}
