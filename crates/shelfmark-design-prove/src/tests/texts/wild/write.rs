//! Writes of one to three parts: inserts, replacements, updates, increments, deletes, loops.
//!
//! What it is not: nothing that leaves a state behind each time; where it does not, the write is not
//! defined.
//!
//! Invariant: an input has one type, whichever parts name it.

use super::condition::Inputs;
use super::path;
use super::relation::{Attribute, Relation};
use super::{Random, chance, word};

/// Values of one write: inputs are taken again where their type is asked for again.
struct Values<'a> {
    relations: &'a [Relation],
    /// True if parts may have conditions.
    conditional: bool,
    inputs: Inputs,
    typed: Vec<(String, &'static str)>,
}

/// One part of a write, while it is written.
struct Part<'a> {
    relation: &'a Relation,
    /// The loop's relation.
    each: Option<&'a Relation>,
}

pub(super) fn text(
    relations: &[Relation],
    number: usize,
    random: &mut Random,
    conditional: bool,
) -> String {
    let mut values =
        Values { relations, conditional, inputs: Inputs::default(), typed: Vec::new() };
    let count = [1, 1, 1, 2, 2, 3][random.below(6)];
    let mut parts: Vec<String> = (0..count).map(|_| values.part(random)).collect();
    values.differ(&mut parts);
    format!("write w{number}({}) = {}\n", values.inputs.names().join(", "), parts.join(" and "))
}

impl<'a> Values<'a> {
    fn part(&mut self, random: &mut Random) -> String {
        let relations = self.relations;
        let relation = &relations[random.below(relations.len())];
        let each = match random.below(10) {
            0 => Some(relation),
            1 => Some(&relations[random.below(relations.len())]),
            _ => None,
        };
        let part = Part { relation, each };
        let mut out = match random.below(7) {
            0..=2 => self.insert(&part, random),
            3 => self.delete(&part, random),
            4 => self.increment(&part, random),
            _ => self.update(&part, random),
        };
        let changes = !out.starts_with("insert") && !out.starts_with("link");
        if self.conditional && each.is_none() && changes && chance(random, 2, 3) {
            let count = 1 + random.below(2);
            let all: Vec<String> = (0..count).map(|_| self.condition(&part, random)).collect();
            out.push_str(&format!(" if {}", all.join(", ")));
        }
        if let Some(each) = each {
            out.push_str(&format!(" for each {} as e", each.name));
            if chance(random, 4, 5) {
                let attribute = &each.attributes[random.below(each.attributes.len())];
                let value = self.input(wanted(each, attribute), random);
                out.push_str(&format!(" where {} = {value}", attribute.name));
            }
        }
        out
    }

    /// Says of some writes of several parts that two inputs of one type differ. Draws nothing, so that all
    /// else is as it was without it.
    fn differ(&self, parts: &mut [String]) {
        let pairs = self.typed.iter().enumerate().flat_map(|(at, (one, ty))| {
            let later = self.typed.iter().skip(at + 1).filter(move |(_, other)| other == ty);
            later.map(move |(other, _)| (one, other))
        });
        let letters: usize = parts.iter().map(String::len).sum();
        if parts.len() < 2 {
            return;
        }
        let plain = parts.iter().rposition(|part| !part.contains(" for each "));
        let (Some((one, other)), Some(at), 0) = (pairs.last(), plain, letters % 3) else { return };
        if let Some(part) = parts.get_mut(at) {
            let word = if part.contains(" if ") { "," } else { " if" };
            part.push_str(&format!("{word} {one} != {other}"));
        }
    }

    fn insert(&mut self, part: &Part<'_>, random: &mut Random) -> String {
        let relation = part.relation;
        let mut given = Vec::new();
        let none = relation.attributes.iter().any(|one| one.mate.is_some()) && chance(random, 1, 3);
        for attribute in &relation.attributes {
            // What comes together is given together.
            if attribute.mate.is_some() {
                if !none {
                    let value = self.value(part, attribute, true, random);
                    given.push(format!("{} {value}", attribute.name));
                }
                continue;
            }
            if attribute.optional && chance(random, 1, 3) {
                continue;
            }
            let value = self.new_value(part, attribute, random);
            given.push(format!("{} {value}", attribute.name));
        }
        let verb = if relation.is_link { "link" } else { "insert" };
        let existing = word(random, &["", "", " unless exists", " or replace"]);
        format!("{verb} {}({}){existing}", relation.name, given.join(", "))
    }

    fn delete(&mut self, part: &Part<'_>, random: &mut Random) -> String {
        let verb = if part.relation.is_link { "unlink" } else { "delete" };
        format!("{verb} {}({})", part.relation.name, self.selected(part, random))
    }

    fn increment(&mut self, part: &Part<'_>, random: &mut Random) -> String {
        let relation = part.relation;
        let mut counters = changeable(relation)
            .filter(|attribute| attribute.ty.starts_with("int") && !attribute.optional);
        let Some(counter) = counters.next() else { return self.delete(part, random) };
        let by = word(random, &["1", "1", "-1"]);
        let selected = self.selected(part, random);
        format!("increment {}({selected}) set {} by {by}", relation.name, counter.name)
    }

    fn update(&mut self, part: &Part<'_>, random: &mut Random) -> String {
        let selected = self.selected(part, random);
        let mut set = Vec::new();
        for (one, other) in pairs(part.relation) {
            if !chance(random, 1, 3) {
                continue;
            }
            let gone = chance(random, 1, 2);
            for attribute in [one, other] {
                let value = match gone {
                    true => "absent".to_owned(),
                    false => self.value(part, attribute, true, random),
                };
                set.push(format!("{} = {value}", attribute.name));
            }
        }
        for attribute in changeable(part.relation).filter(|one| one.mate.is_none()) {
            if chance(random, 1, 2) {
                let value = self.new_value(part, attribute, random);
                set.push(format!("{} = {value}", attribute.name));
            }
        }
        if set.is_empty() {
            let verb = if part.relation.is_link { "unlink" } else { "delete" };
            return format!("{verb} {}({selected})", part.relation.name);
        }
        format!("update {}({selected}) set {}", part.relation.name, set.join(", "))
    }

    /// Returns a comparison of an attribute of the changed tuple.
    fn condition(&mut self, part: &Part<'_>, random: &mut Random) -> String {
        let all = &part.relation.attributes;
        let attribute = &all[random.below(all.len())];
        if attribute.optional && chance(random, 1, 3) {
            return format!("{} is {}", attribute.name, word(random, &["present", "absent"]));
        }
        let plain = attribute.ty == "bool" || chance(random, 1, 2);
        let op = if plain { "=" } else { word(random, &["<", "<=", ">", ">="]) };
        let value = self.value(part, attribute, true, random);
        format!("{} {op} {value}", attribute.name)
    }

    /// Returns a key of the relation, and sometimes one attribute more.
    fn selected(&mut self, part: &Part<'_>, random: &mut Random) -> String {
        let relation = part.relation;
        let mut selected = relation.some_key(random).to_vec();
        let more = random.below(relation.attributes.len());
        if chance(random, 1, 6) && !selected.contains(&more) {
            selected.push(more);
        }
        let given = selected.iter().map(|at| {
            let attribute = &relation.attributes[*at];
            format!("{} {}", attribute.name, self.value(part, attribute, *at > 0, random))
        });
        given.collect::<Vec<String>>().join(", ")
    }

    /// Returns the new value of an attribute; an optional one may be removed.
    fn new_value(&mut self, part: &Part<'_>, attribute: &Attribute, random: &mut Random) -> String {
        if attribute.optional && chance(random, 1, 5) {
            return "absent".to_owned();
        }
        self.value(part, attribute, attribute.name != "id", random)
    }

    fn value(
        &mut self,
        part: &Part<'_>,
        attribute: &Attribute,
        may_be_constant: bool,
        random: &mut Random,
    ) -> String {
        let wanted = wanted(part.relation, attribute);
        if let Some(each) = part.each
            && chance(random, 1, 2)
        {
            let fitting: Vec<&Attribute> = each
                .attributes
                .iter()
                .filter(|one| !one.optional && self::wanted(each, one) == wanted)
                .collect();
            if let Some(found) = random.pick(&fitting) {
                return format!("e.{}", found.name);
            }
        }
        if may_be_constant
            && chance(random, 1, 3)
            && let Some(value) = path::constant(attribute.ty, random)
        {
            return value;
        }
        self.input(wanted, random)
    }

    /// Returns a new input, or one of this type again.
    fn input(&mut self, wanted: &'static str, random: &mut Random) -> String {
        let known = self.typed.iter().find(|(_, ty)| *ty == wanted);
        if let Some((name, _)) = known
            && chance(random, 1, 2)
        {
            return name.clone();
        }
        let name = self.inputs.fresh();
        self.typed.push((name.clone(), wanted));
        name
    }
}

/// Returns the attributes that are neither in the key nor immutable.
fn changeable(relation: &Relation) -> impl Iterator<Item = &Attribute> {
    let all = relation.attributes.iter().enumerate();
    all.filter(|(at, one)| !relation.key().contains(at) && !one.immutable).map(|(_, one)| one)
}

/// Returns the changeable attributes that come together, two and two.
fn pairs(relation: &Relation) -> impl Iterator<Item = (&Attribute, &Attribute)> {
    let firsts = changeable(relation).filter_map(|one| {
        let other = &relation.attributes[one.mate?];
        let at = relation.attributes.iter().position(|each| each.name == one.name)?;
        (Some(at) < one.mate).then_some((one, other))
    });
    firsts.filter(|(_, other)| changeable(relation).any(|one| one.name == other.name))
}

/// Returns the type of an attribute; of an entity's identifier the entity, as references have it.
fn wanted(relation: &Relation, attribute: &Attribute) -> &'static str {
    if attribute.name == "id" { relation.name } else { attribute.ty }
}
