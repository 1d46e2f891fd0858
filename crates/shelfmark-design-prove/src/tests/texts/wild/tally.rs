//! Counts, sums and extremes that rows may keep, the reads of them, and writes that change what is counted.
//!
//! What it is not: no promise that a schema keeps them.
//!
//! Invariant: what is counted refers to the row's source once, and is told by constants.

use super::path;
use super::relation::{Attribute, Relation};
use super::{Random, chance, word};

/// A number of what refers to an entity.
pub(super) struct Tally {
    /// `count La where p = 1`, `sum q of La`, or `max q of La`.
    of: String,
    /// The attribute that refers, and the condition.
    via: &'static str,
    when: Option<String>,
    /// A write of one tuple that is counted and then is not, or elsewhere, if there is one.
    write: Option<String>,
}

impl Tally {
    /// Returns the read of the number, and the write.
    pub(super) fn text(&self, number: usize) -> String {
        let when = self.when.as_ref().map_or_else(String::new, |when| format!(" and {when}"));
        let mut out = format!("read k{number}(x1) = {} where {} = x1{when}\n", self.of, self.via);
        if let Some(write) = &self.write {
            let inputs = if write.contains("x2") { "x1, x2" } else { "x1" };
            out.push_str(&format!("write m{number}({inputs}) = {write}\n"));
        }
        out
    }
}

/// Draws some numbers, and tells their parents to keep them at times.
pub(super) fn tallies(relations: &mut [Relation], newest: bool, random: &mut Random) -> Vec<Tally> {
    let mut found = Vec::new();
    for parent in 0..relations.len() {
        for child in 0..relations.len() {
            let refers = |one: &&Attribute| one.refers == Some(parent);
            let own: Vec<&Attribute> = relations[child].attributes.iter().filter(refers).collect();
            let [via] = own.as_slice() else { continue };
            if relations[parent].key().len() > 1 || !chance(random, 3, 4) {
                continue;
            }
            let name = ["ca", "cb", "cc"][found.len() % 3];
            let (mut tally, kept) = tally(&relations[child], via.name, name, random);
            if newest && chance(random, 1, 2) {
                tally.write = moved(&relations[child], via.name).or(tally.write);
            }
            relations[parent].tallies.push(kept);
            found.push(tally);
        }
    }
    found
}

/// Returns a number of a relation's tuples, and how a row keeps it.
fn tally(child: &Relation, via: &'static str, name: &str, random: &mut Random) -> (Tally, String) {
    let number = |one: &&Attribute| one.ty.starts_with("int") && !one.optional;
    let numbers: Vec<&Attribute> = child.attributes.iter().filter(number).collect();
    let (of, kept) = match random.pick(&numbers).filter(|_| chance(random, 1, 2)) {
        Some(number) => {
            let word = word(random, &["sum", "sum", "max", "min"]);
            let text = format!("{word} {} of {}", number.name, child.name);
            (text.clone(), text)
        }
        None => (format!("count of {}", child.name), format!("count {}", child.name)),
    };
    let own = &child.attributes[random.below(child.attributes.len())];
    let when = condition(own, random).filter(|_| chance(random, 2, 3));
    let asked = when.as_ref().map_or_else(String::new, |when| format!(" where {when}"));
    let kept = format!("{kept}{asked} as {name}");
    let write = change(child, own, random);
    (Tally { of, via, when, write }, kept)
}

fn condition(own: &Attribute, random: &mut Random) -> Option<String> {
    if own.optional && chance(random, 1, 2) {
        return Some(format!("{} is {}", own.name, word(random, &["present", "absent"])));
    }
    let value = path::constant(own.ty, random).filter(|_| own.refers.is_none())?;
    let ordered = own.ty.starts_with("int") && chance(random, 1, 3);
    let comparison = if ordered { word(random, &[">=", "<", "<="]) } else { "=" };
    Some(format!("{} {comparison} {value}", own.name))
}

/// Returns a write that sets the attribute from one constant to another.
fn change(child: &Relation, own: &Attribute, random: &mut Random) -> Option<String> {
    let at = child.attributes.iter().position(|one| one.name == own.name)?;
    let fixed =
        own.immutable || own.mate.is_some() || child.keys.iter().any(|key| key.contains(&at));
    let (before, after) = (path::constant(own.ty, random)?, path::constant(own.ty, random)?);
    if child.is_link || child.key().len() > 1 || fixed || own.refers.is_some() {
        return None;
    }
    let (name, relation) = (own.name, child.name);
    Some(match random.below(3) {
        0 => format!("update {relation}(id x1, {name} {before}) set {name} = {after}"),
        1 => format!("update {relation}(id x1) set {name} = {after} if {name} = {before}"),
        _ => format!("delete {relation}(id x1, {name} {before})"),
    })
}

/// Returns a write by which a tuple refers to another row.
fn moved(child: &Relation, via: &str) -> Option<String> {
    let at = child.attributes.iter().position(|one| one.name == via)?;
    let fixed = child.attributes[at].immutable || child.keys.iter().any(|key| key.contains(&at));
    if child.is_link || child.key().len() > 1 || fixed {
        return None;
    }
    Some(format!("update {}(id x1) set {via} = x2", child.name))
}
