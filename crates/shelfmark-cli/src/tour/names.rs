//! Generates names of people, few enough that some are shared.

use shelfmark_store::random::SplitMix;

use super::words::{WORDS, word};

/// Returns the next name.
pub(crate) fn name(random: &mut SplitMix) -> String {
    let mut pick = |names: &'static [String]| word(names, random.index(names.len()));
    let first = pick(&WORDS.first_names);
    format!("{first} {}", pick(&WORDS.last_names))
}
