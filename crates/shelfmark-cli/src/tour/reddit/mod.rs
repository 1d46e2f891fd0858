//! The sort-key advice of the CanDB guide: a hierarchy, encoded numbers, ULIDs, places, versions.

mod hierarchy;
mod numbers;
mod places;

use super::asker::Asker;
use super::entities::Entities;
use super::{Outcome, Stage};

/// Loads the models of the guide and asks their questions.
pub(super) fn run(stage: &Stage<'_>) -> anyhow::Result<Vec<Outcome>> {
    let entities = Entities::create(stage.engine, "reddit")?;
    let mut asker = Asker::new("reddit", "candb", stage.engine.environment().clock.clone());
    (stage.progress)("loading comments and replies");
    hierarchy::run(&mut asker, &entities, stage.seed)?;
    (stage.progress)("scores, times, places, versions");
    numbers::run(&mut asker, &entities, stage.seed)?;
    places::run(&mut asker, &entities)?;
    Ok(asker.outcomes)
}
