//! Schemas for each target: tables of columns or of texts, with and without a base table for each
//! relation, and named plans for some reads.
//!
//! Invariant: names of tables, row families and indexes are used once.

use super::family::{self, Family};
use super::plan;
use super::read::Read;
use super::relation::Relation;
use super::{Random, chance, word};

const TARGETS: [&str; 6] = ["shelfmark", "shelfmark", "cql", "dynamodb", "candb", "ordered"];

pub(super) fn text(
    relations: &[Relation],
    reads: &[Read],
    number: usize,
    (newest, sparse): (bool, bool),
    random: &mut Random,
) -> String {
    let target = word(random, &TARGETS);
    let mut out = format!("schema s{number} target {target} {{\n");
    let mut families: Vec<Family> = Vec::new();
    let is_text = target == "candb" || target != "ordered" && chance(random, 1, 3);
    let mut next = 0;
    if !is_text && chance(random, 1, 2) {
        for of in 0..relations.len() {
            let (text, family) = family::base(relations, of, next);
            out.push_str(&text);
            families.push(family);
            next += 1;
        }
    }
    for _ in 0..1 + random.below(3) {
        let (text, more) = if is_text {
            let wanted: Vec<_> =
                (0..=random.below(3)).map(|_| aim(relations, reads, random)).collect();
            let local = newest && target == "dynamodb";
            family::textual(relations, &wanted, (next, local, sparse), random)
        } else {
            family::typed(relations, aim(relations, reads, random), target, (next, sparse), random)
        };
        out.push_str(&if newest { family::late(&text, random) } else { text });
        families.extend(more);
        next += 1;
        if newest && target == "dynamodb" {
            let (text, more) = family::local(relations, families.last(), next, random);
            out.push_str(&text);
            families.extend(more);
        }
    }
    for read in reads {
        if chance(random, 1, 2)
            && let Some(serve) = plan::serve(relations, read, &families, random)
        {
            out.push_str(&serve);
        }
    }
    out + "}\n"
}

/// Returns the source of a family, and the read that it is for, if any.
fn aim<'a>(
    relations: &[Relation],
    reads: &'a [Read],
    random: &mut Random,
) -> (usize, Option<&'a Read>) {
    match random.pick(reads).filter(|_| chance(random, 3, 4)) {
        Some(read) => (*random.pick(&read.sources).expect("a source"), Some(read)),
        None => (random.below(relations.len()), None),
    }
}
