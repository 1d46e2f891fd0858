//! Generates the people of an organization from a seed.

use shelfmark_store::random::SplitMix;

use crate::tour::names;
use crate::tour::words::{WORDS, word};

const PEOPLE: usize = 4_000;
const BUILDINGS: usize = 16;

/// The unit and building of the questions.
pub(super) const UNIT: &str = "Library";
pub(super) const BUILDING: &str = "Building 05";

/// One entry of the directory.
pub(super) struct Entry {
    pub(super) person: usize,
    pub(super) name: String,
    pub(super) building: String,
    pub(super) unit: &'static str,
    pub(super) phone: String,
}

/// The directory, in the order of its numbers.
pub(super) struct Directory {
    pub(super) entries: Vec<Entry>,
}

impl Directory {
    /// Generates the directory of a seed.
    pub(super) fn generate(seed: u64) -> Self {
        let mut random = SplitMix::new(seed);
        let entries = (0..PEOPLE).map(|person| Entry {
            person,
            name: names::name(&mut random),
            building: format!("Building {:02}", random.index(BUILDINGS)),
            unit: word(&WORDS.units, random.index(WORDS.units.len())),
            phone: format!("{}-{:04}", 20 + random.below(9), random.below(10_000)),
        });
        Self { entries: entries.collect() }
    }

    /// Returns the entries that pass a test, sorted by a key.
    pub(super) fn sorted<'d, K: Ord>(
        &'d self,
        wanted: impl Fn(&Entry) -> bool,
        by: impl Fn(&&'d Entry) -> K,
    ) -> Vec<&'d Entry> {
        let mut found: Vec<&Entry> = self.entries.iter().filter(|entry| wanted(entry)).collect();
        found.sort_by_key(by);
        found
    }

    /// Returns the first name by order that two people in the building share.
    pub(super) fn namesake(&self) -> &str {
        let here = self.sorted(|entry| entry.building == BUILDING, |entry| &entry.name);
        let next = here.iter().skip(1);
        let twice = here.iter().zip(next).find(|(a, b)| a.name == b.name);
        twice.map_or("", |(entry, _)| entry.name.as_str())
    }
}
