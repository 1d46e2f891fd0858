//! Generates the publication index from a seed.

use std::collections::BTreeMap;

use shelfmark_store::random::SplitMix;

use crate::tour::words::{WORDS, word};

const PUBLICATIONS: usize = 40;
const TITLES: usize = 100;
const TAGS: usize = 60;

/// The example publication of the questions.
pub(super) const EXAMPLE_PUBLICATION: &str = "Better Programming 7";
/// The example title of the questions; several publications have one of this name.
pub(super) const EXAMPLE_TITLE: &str = "Designing databases 3";
/// The example tag of the questions.
pub(super) const EXAMPLE_TAG: &str = "tag-05";

/// Publications, their titles, and the tags of each title, all by name.
pub(super) struct Index {
    pub(super) publications: BTreeMap<String, BTreeMap<String, Vec<String>>>,
}

impl Index {
    /// Generates the index of a seed.
    pub(super) fn generate(seed: u64) -> Self {
        let mut random = SplitMix::new(seed);
        let mut publications = BTreeMap::new();
        for number in 0..PUBLICATIONS {
            let mut titles = BTreeMap::new();
            for title in 0..TITLES {
                titles.insert(title_name(title), tags(&mut random));
            }
            publications.insert(format!("Better Programming {number}"), titles);
        }
        Self { publications }
    }

    /// Returns the titles of the example publication.
    pub(super) fn example(&self) -> BTreeMap<String, Vec<String>> {
        self.publications.get(EXAMPLE_PUBLICATION).cloned().unwrap_or_default()
    }

    /// Returns all tags of a publication's titles, each once.
    pub(super) fn tags_of(titles: &BTreeMap<String, Vec<String>>) -> Vec<String> {
        let mut tags: Vec<String> = titles.values().flatten().cloned().collect();
        tags.sort();
        tags.dedup();
        tags
    }
}

fn title_name(number: usize) -> String {
    let (subjects, objects) = (&WORDS.subjects, &WORDS.objects);
    let subject = word(subjects, number);
    let object = word(objects, number / subjects.len().max(1));
    format!("{subject} {object} {}", number / (subjects.len() * objects.len()).max(1))
}

/// Returns three different tags, in order.
fn tags(random: &mut SplitMix) -> Vec<String> {
    let mut tags = Vec::new();
    while tags.len() < 3 {
        let tag = format!("tag-{:02}", random.index(TAGS));
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    tags.sort();
    tags
}
