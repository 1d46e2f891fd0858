//! The teaching models: loaded with seeded data, read through their faces, each answer checked.
//!
//! What it is not: a benchmark, and no proof. Every answer is compared with what a plain walk over
//! the generated data gives, so "correct" means: on this data.
//!
//! Invariant: what is printed was read from the store in this run; nothing is written down here but
//! questions and what to say about them.

mod asker;
mod blog;
mod cql;
mod entities;
mod face;
mod followers;
mod meter;
mod names;
mod openchat;
mod outcome;
mod phonebook;
mod proofs;
mod publication;
mod reddit;
mod twissandra;
mod uuid;
mod verdicts;
mod words;

use std::path::Path;

use shelfmark_engine::Engine;

pub(crate) use outcome::{Outcome, Plan};

/// The context that a model loads and asks in.
pub(crate) struct Stage<'a> {
    pub(crate) engine: &'a Engine,
    /// Seed of the data.
    pub(crate) seed: u64,
    /// A callback for progress messages.
    pub(crate) progress: &'a dyn Fn(&str),
}

/// A teaching model of a document.
pub(crate) struct Model {
    /// Its name in the JSON output.
    pub(crate) name: &'static str,
    /// A line that describes it.
    pub(crate) title: &'static str,
    /// The publisher and title of its document; empty for ours.
    pub(crate) published: &'static str,
    /// Loads the model and asks its questions; called by [`Model::outcomes`].
    run: fn(&Stage<'_>) -> anyhow::Result<Vec<Outcome>>,
    /// Returns a command that reads the loaded data from a server, where there is a client.
    pub(crate) further: Option<fn() -> String>,
}

impl Model {
    /// Loads the model, asks its questions, and adds the modeller's verdicts to the plans that it
    /// knows. The right plan of a question comes first.
    pub(crate) fn outcomes(&self, stage: &Stage<'_>) -> anyhow::Result<Vec<Outcome>> {
        let mut outcomes = (self.run)(stage)?;
        verdicts::hold_to_proofs(self.name, &mut outcomes)?;
        for same in outcomes.chunk_by_mut(|one, other| one.pattern == other.pattern) {
            same.sort_by_key(|outcome| outcome.plan != Plan::Right);
        }
        Ok(outcomes)
    }
}

/// The guide that two of the models are from.
const CANDB: &str = "\"How to model your data with CanDB\" (arkMeta Crypto Network, 2023)";
/// The article that two others are from.
const PERSIAN: &str =
    "\"A look at data modelling in Cassandra\" (the Persian site Data Engineering)";

/// The models, in the order of the tour.
pub(crate) const MODELS: &[Model] = &[
    Model {
        name: "openchat",
        title: "A chat in CanDB: a partition per user, four calls, and two ways to read nothing",
        published: CANDB,
        run: openchat::run,
        further: None,
    },
    Model {
        name: "reddit",
        title: "The sort-key advice of the CanDB guide: hierarchies, numbers, times, places, versions",
        published: CANDB,
        run: reddit::run,
        further: None,
    },
    Model {
        name: "publication",
        title: "A publication index in DynamoDB: three key designs, and what each cannot answer",
        published: "\"Efficient database design\" (Edward Huang, in Russian translation)",
        run: publication::run,
        further: Some(publication::further),
    },
    Model {
        name: "blog",
        title: "A blog in ordered tables: tuple keys, and where the newest posts really are",
        published: "\"Schema modeling with OrderedTable\" (Unison Cloud)",
        run: blog::run,
        further: None,
    },
    Model {
        name: "twissandra",
        title: "Tweets in Cassandra, in the command language of 2012: wide rows, and their ends",
        published: "\"Apache Cassandra Learning Step by Step (4): Data Modeling\" (Bright Zheng, 2012)",
        run: twissandra::run,
        further: Some(twissandra::further),
    },
    Model {
        name: "followers",
        title: "Followers in CQL: a list by time that nobody can be removed from, and three cures",
        published: PERSIAN,
        run: followers::run,
        further: Some(followers::further),
    },
    Model {
        name: "phonebook",
        title: "A phone directory in CQL: a table for each question, and keys that hold everybody",
        published: PERSIAN,
        run: phonebook::run,
        further: None,
    },
    Model {
        name: "proofs",
        title: "The seven models as the modeller has them: what the data above did not happen to contain, \
                a proof looks for",
        published: "",
        run: proofs::run,
        further: None,
    },
];

/// Returns instructions for a store that was kept.
pub(crate) fn how_to_go_on(data: &Path, models: &[&Model]) -> String {
    let data = data.display().to_string();
    let mut text = format!("Look further:\n  shelfmark serve --data {}", quoted(&data));
    for further in models.iter().filter_map(|model| model.further) {
        text.push_str("\n  ");
        text.push_str(&further());
    }
    text
}

/// Quotes a word for a shell.
fn quoted(word: &str) -> String {
    let is_plain = |own: char| own.is_alphanumeric() || "/._-+=:@%,".contains(own);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
