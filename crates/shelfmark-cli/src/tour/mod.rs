//! The teaching models: loaded with seeded data, read through their faces, each answer checked.
//!
//! What it is not: a benchmark, and no proof. Every answer is compared with what a plain walk over
//! the generated data gives, so "correct" means: on this data.
//!
//! Invariant: what is printed was read from the store in this run; nothing is written down here but
//! questions and what to say about them.

mod asker;
mod blog;
mod entities;
mod openchat;
mod outcome;
mod publication;
mod reddit;

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
}

/// The models, in the order of the tour.
pub(crate) const MODELS: &[Model] = &[
    Model {
        name: "openchat",
        title: "A chat in CanDB: a partition per user, four calls, and two ways to read nothing",
        run: openchat::run,
    },
    Model {
        name: "reddit",
        title: "The sort-key advice of the CanDB guide: hierarchies, numbers, times, places, versions",
        run: reddit::run,
    },
    Model {
        name: "publication",
        title: "A publication index in DynamoDB: three key designs, and what each cannot answer",
        run: publication::run,
    },
    Model {
        name: "blog",
        title: "A blog in ordered tables: tuple keys, and where the newest posts really are",
        run: blog::run,
    },
];

/// How to look further once a store was kept.
pub(crate) fn how_to_go_on(data: &Path) -> String {
    format!(
        "Look further:\n  shelfmark serve --data {data}\n  aws dynamodb query --endpoint-url \
         http://127.0.0.1:8000 --table-name publication_corrected \\\n    --index-name by_title \
         --key-condition-expression 'GSIPK = :t' \\\n    --expression-attribute-values '{{\":t\": \
         {{\"S\": \"Title#{title}\"}}}}'",
        data = data.display(),
        title = format_args!("Better Programming 7#{}", publication::EXAMPLE_TITLE),
    )
}
