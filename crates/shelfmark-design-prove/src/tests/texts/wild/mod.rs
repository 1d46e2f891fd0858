//! Models without a plan behind them: relations of any shape, patterns of any kind, schemas of row
//! families put together at random, named plans that may or may not do it.
//!
//! What it is not: no model that anybody would write, and none that is right by construction. Some
//! keys are chosen with a read in mind, so that not everything is refused.
//!
//! Invariant: names and types fit, so that nearly every text is a model; whether a plan does what
//! its pattern asks for is left to the prover.

mod condition;
mod documents;
mod family;
mod key;
mod path;
mod plan;
mod read;
mod relation;
mod schema;
mod tally;
mod write;

use super::Random;

/// Features that a text may use.
#[derive(Clone, Copy)]
pub(super) struct Taste {
    pub(super) conditional: bool,
    pub(super) keeping: bool,
    pub(super) newest: bool,
    pub(super) sparse: bool,
}

/// Returns a model: entities and links, two to five reads, one to four writes, one or two schemas.
pub(super) fn text(random: &mut Random, taste: Taste) -> String {
    let Taste { conditional, keeping, newest, sparse } = taste;
    let mut relations = relation::relations(random);
    let mut tallies = Vec::new();
    if keeping {
        relation::widen(&mut relations, random);
        if newest {
            documents::widen(&mut relations, random);
        }
        tallies = tally::tallies(&mut relations, newest, random);
    }
    let mut out = relation::declared(&relations);
    let mut reads: Vec<read::Read> = (0..2 + random.below(4))
        .map(|number| read::read(&relations, number, newest, random))
        .collect();
    if sparse {
        reads.iter_mut().for_each(|read| read.narrow(&relations, random));
    }
    for read in &reads {
        let text = read.text(&relations);
        // A limit may be the size of a page.
        let paged = keeping && chance(random, 1, 2);
        out.push_str(&if paged { text.replace(" limit ", " page ") } else { text });
    }
    for (number, one) in tallies.iter().enumerate() {
        out.push_str(&one.text(number));
    }
    for number in 0..1 + random.below(4) {
        out.push_str(&write::text(&relations, number, random, conditional));
    }
    for number in 0..1 + random.below(2) {
        out.push_str(&schema::text(&relations, &reads, number, (newest, sparse), random));
    }
    out
}

/// Returns true if something happens that happens so many times of so many.
fn chance(random: &mut Random, times: usize, of: usize) -> bool {
    random.below(of) < times
}

/// Returns one of some words; those that are there twice come twice as often.
fn word(random: &mut Random, words: &[&'static str]) -> &'static str {
    random.pick(words).copied().expect("words to choose from")
}
