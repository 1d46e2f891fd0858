//! The words that the tour's data is made of, read from a file of their own.
//!
//! What it is not: the data, which each model generates from a seed.
//!
//! Invariant: no list is empty; a test reads the file.

use std::sync::LazyLock;

use serde::Deserialize;

/// Lists of words, as `data/tour/words.json` has them.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Words {
    pub(crate) first_names: Vec<String>,
    pub(crate) last_names: Vec<String>,
    /// Units of an organization.
    pub(crate) units: Vec<String>,
    /// First words of titles.
    pub(crate) subjects: Vec<String>,
    /// Second words of titles.
    pub(crate) objects: Vec<String>,
    /// Country, region and city.
    pub(crate) cities: Vec<(String, String, String)>,
}

/// The words of all models.
pub(crate) static WORDS: LazyLock<Words> = LazyLock::new(|| read().unwrap_or_default());

fn read() -> serde_json::Result<Words> {
    serde_json::from_str(include_str!("../../data/tour/words.json"))
}

/// Returns the word at a position, counted around the list.
pub(crate) fn word(words: &'static [String], at: usize) -> &'static str {
    words.get(at % words.len().max(1)).map_or("", String::as_str)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_file_of_words_can_be_read() {
        let words = super::read().unwrap();
        let lists =
            [words.first_names, words.last_names, words.units, words.subjects, words.objects];
        assert!(lists.iter().all(|list| !list.is_empty()) && !words.cities.is_empty());
    }
}
