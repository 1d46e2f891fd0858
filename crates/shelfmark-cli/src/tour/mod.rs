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

use std::path::Path;

use shelfmark_engine::Engine;

pub(crate) use outcome::{Outcome, Plan};

/// Everything a model needs to load and to ask.
pub(crate) struct Stage<'a> {
    pub(crate) engine: &'a Engine,
    /// Seed of the data.
    pub(crate) seed: u64,
    /// Told what happens, for a person who waits.
    pub(crate) progress: &'a dyn Fn(&str),
}

/// One model of a document.
pub(crate) struct Model {
    /// Its name in the JSON output.
    pub(crate) name: &'static str,
    /// A line about it.
    pub(crate) title: &'static str,
    /// Loads it and asks its questions.
    pub(crate) run: fn(&Stage<'_>) -> anyhow::Result<Vec<Outcome>>,
    /// A command that reads what it loaded from a server, where it has a client.
    pub(crate) further: Option<fn() -> String>,
}

/// The models, in the order of the tour.
pub(crate) const MODELS: &[Model] = &[
    Model {
        name: "openchat",
        title: "A chat in CanDB: a partition per user, four calls, and two ways to read nothing",
        run: openchat::run,
        further: None,
    },
    Model {
        name: "reddit",
        title: "The sort-key advice of the CanDB guide: hierarchies, numbers, times, places, versions",
        run: reddit::run,
        further: None,
    },
    Model {
        name: "publication",
        title: "A publication index in DynamoDB: three key designs, and what each cannot answer",
        run: publication::run,
        further: Some(publication::further),
    },
    Model {
        name: "blog",
        title: "A blog in ordered tables: tuple keys, and where the newest posts really are",
        run: blog::run,
        further: None,
    },
    Model {
        name: "twissandra",
        title: "Tweets in Cassandra, in the command language of 2012: wide rows, and their ends",
        run: twissandra::run,
        further: Some(twissandra::further),
    },
    Model {
        name: "followers",
        title: "Followers in CQL: a list by time that nobody can be removed from, and three cures",
        run: followers::run,
        further: Some(followers::further),
    },
    Model {
        name: "phonebook",
        title: "A phone directory in CQL: a table for each question, and keys that hold everybody",
        run: phonebook::run,
        further: None,
    },
    Model {
        name: "proofs",
        title: "The seven models as the modeller has them: what the data above did not happen to contain, \
                a proof looks for",
        run: proofs::run,
        further: None,
    },
];

/// How to look further once a store was kept.
pub(crate) fn how_to_go_on(data: &Path, models: &[&Model]) -> String {
    let data = data.display().to_string();
    let mut text = format!("Look further:\n  shelfmark serve --data {}", quoted(&data));
    for further in models.iter().filter_map(|model| model.further) {
        text.push_str("\n  ");
        text.push_str(&further());
    }
    text
}

/// A word as a shell reads it back.
fn quoted(word: &str) -> String {
    let is_plain = |own: char| own.is_alphanumeric() || "/._-+=:@%,".contains(own);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
