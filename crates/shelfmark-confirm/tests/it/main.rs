//! Models on the engine: certified right, refused wrong.

mod alarms;
mod later;
#[expect(clippy::print_stdout, reason = "a test's own words")]
mod random;
mod reference;
mod seeds;
#[expect(clippy::expect_used, clippy::print_stdout, reason = "a test's own words")]
mod through;
mod tutorial;

#[expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "texts are put together from lists that are there"
)]
#[path = "../../../shelfmark-design-prove/src/tests/texts/mod.rs"]
mod texts;

use shelfmark_design_prove::eval::random::Random;

use std::path::PathBuf;

use shelfmark_design::Document;

/// The models of the five documents.
const SEEDS: [&str; 7] =
    ["blog", "followers", "openchat", "phonebook", "publication", "reddit", "twissandra"];

/// The models of published schemas.
const REFERENCE: [&str; 8] =
    ["battle", "hotel", "killrvideo", "leaderboard", "messaging", "rubis", "sensors", "social"];

/// Whether the long mode was asked for.
fn long() -> bool {
    std::env::var_os("SHELFMARK_LONG").is_some()
}

/// A file of the repository.
fn read(path: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn parse(name: &str, text: &str) -> Document {
    Document::parse(name, text).unwrap_or_else(|report| panic!("{report}"))
}

fn seed(name: &str) -> Document {
    parse(name, &read(&format!("models/seeds/{name}.shelf")))
}

fn reference(name: &str) -> Document {
    parse(name, &read(&format!("models/reference/{name}.shelf")))
}

/// `SHELFMARK_SEED=n` alone, `SHELFMARK_SEEDS=from..to`, or as many as the mode runs.
#[expect(clippy::expect_used, reason = "who asks for seeds is told what is none")]
fn seeds(few: u64, many: u64) -> std::ops::Range<u64> {
    let number = |text: &str| -> u64 { text.parse().expect("seeds are numbers") };
    if let Ok(seed) = std::env::var("SHELFMARK_SEED") {
        return number(&seed)..number(&seed) + 1;
    }
    if let Ok(part) = std::env::var("SHELFMARK_SEEDS") {
        let (from, to) = part.split_once("..").expect("SHELFMARK_SEEDS=from..to");
        return number(from)..number(to);
    }
    0..if long() { many } else { few }
}
