//! Compares the texts of a column's parts with the text that a range ends at.
//!
//! Invariant: languages are supersets, so what is said not to exceed an end never does.

use super::language::{Language, State};
use shelfmark_design_language::model::schema::{Codec, Part};

/// Positions in the parts' texts: which part, and the state of its language.
type Places = Vec<(usize, usize)>;

/// The texts that a column continues with, read byte by byte.
struct Walk {
    languages: Vec<Language>,
}

/// Returns true if some text of the rest lies above `limit`, or at it where `limit` itself is
/// excluded.
pub(crate) fn may_exceed(rest: &[Part], limit: &str, left_out: bool) -> bool {
    let walk = Walk::of(rest);
    let mut places = walk.start();
    for byte in limit.bytes() {
        let higher = |state: &State| {
            state.edges.iter().any(|(set, _)| set.max().is_some_and(|most| most > byte))
        };
        if walk.states(&places).any(higher) {
            return true;
        }
        places = walk.behind(&places, byte);
    }
    let goes_on = |state: &State| state.edges.iter().any(|(set, _)| !set.is_empty());
    left_out && walk.ends(&places) || walk.states(&places).any(goes_on)
}

/// Returns true if some text of the rest lies below `limit`.
pub(crate) fn may_fall_below(rest: &[Part], limit: &str) -> bool {
    let walk = Walk::of(rest);
    let mut places = walk.start();
    for byte in limit.bytes() {
        let lower = |state: &State| {
            state.edges.iter().any(|(set, _)| set.min().is_some_and(|least| least < byte))
        };
        if walk.ends(&places) || walk.states(&places).any(lower) {
            return true;
        }
        places = walk.behind(&places, byte);
    }
    false
}

impl Walk {
    /// Returns the parts up to the end of their column.
    fn of(rest: &[Part]) -> Self {
        let ends =
            |part: &&Part| matches!(part, Part::End | Part::Hole { codec: Codec::Native, .. });
        let languages = rest.iter().take_while(|part| !ends(part)).map(Language::of).collect();
        Self { languages }
    }

    fn start(&self) -> Places {
        let mut places = Vec::new();
        self.reach((0, 0), &mut places);
        places
    }

    /// Adds a position, and those that are reached from it without a byte.
    fn reach(&self, place: (usize, usize), places: &mut Places) {
        if places.contains(&place) {
            return;
        }
        places.push(place);
        let (part, state) = place;
        let accepts = |language: &Language| language.states.get(state).is_some_and(|at| at.accepts);
        if self.languages.get(part).is_some_and(accepts) {
            self.reach((part + 1, 0), places);
        }
    }

    fn states<'a>(&'a self, places: &'a Places) -> impl Iterator<Item = &'a State> {
        places.iter().filter_map(|(part, state)| self.languages.get(*part)?.states.get(*state))
    }

    /// Returns true if a text can end here.
    fn ends(&self, places: &Places) -> bool {
        places.iter().any(|(part, _)| *part >= self.languages.len())
    }

    fn behind(&self, places: &Places, byte: u8) -> Places {
        let mut next = Vec::new();
        for (part, state) in places {
            let state = self.languages.get(*part).and_then(|one| one.states.get(*state));
            for (set, to) in state.map_or(&[][..], |state| state.edges.as_slice()) {
                if set.contains(byte) {
                    self.reach((*part, *to), &mut next);
                }
            }
        }
        next
    }
}
