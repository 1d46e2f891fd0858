//! Entities and links: references, optional and immutable attributes, several keys, dependencies,
//! fan-outs.
//!
//! What it is not: no data; states of it are the evaluator's.
//!
//! Invariant: a reference points at an entity with a key of one attribute, declared before it or the
//! entity itself.

use super::{Random, chance, word};

/// Types of attributes: few values, so that tuples meet, and texts that hold what keys are cut at.
pub(super) const TYPES: [&str; 17] = [
    "int(0..3)",
    "int(0..3)",
    "int(0..120)",
    "int(-5..5)",
    "int(10..99)",
    "text(max 4)",
    "text(min 1, max 4, without \"#\")",
    "text(max 3, only \"ab\")",
    "text(min 2, max 2, only \"ab\")",
    "enum(\"x\", \"y\")",
    "enum(\"x\", \"y\")",
    "enum(\"a\", \"ab\", \"b\")",
    "bool",
    "timestamp",
    "date",
    "uuid",
    "ulid",
];

/// Types of keys of entities.
const KEY_TYPES: [&str; 6] = [
    "uuid",
    "uuid",
    "ulid",
    "int(0..9)",
    "text(min 1, max 3, without \"#\")",
    "text(max 3, only \"ab\")",
];

const ENTITIES: [&str; 3] = ["Ea", "Eb", "Ec"];

#[derive(Clone)]
pub(super) struct Attribute {
    pub(super) name: &'static str,
    /// As written; of a reference the name of the entity.
    pub(super) ty: &'static str,
    pub(super) refers: Option<usize>,
    pub(super) optional: bool,
    pub(super) immutable: bool,
    pub(super) unique: bool,
    /// The attribute that it comes together with.
    pub(super) mate: Option<usize>,
}

#[derive(Clone)]
pub(super) struct Relation {
    pub(super) name: &'static str,
    pub(super) attributes: Vec<Attribute>,
    /// The first key, then the others.
    pub(super) keys: Vec<Vec<usize>>,
    pub(super) is_link: bool,
    /// Counts and sums that its rows may keep.
    pub(super) tallies: Vec<String>,
    /// Dependencies and fan-outs, as written.
    facts: Vec<String>,
    /// Declarations of attributes of several parts, whose parts are attributes with a dot.
    pub(super) documents: Vec<String>,
}

impl Relation {
    pub(super) fn key(&self) -> &[usize] {
        &self.keys[0]
    }

    /// Returns one of the keys, the first more often than not.
    pub(super) fn some_key(&self, random: &mut Random) -> &[usize] {
        let other = chance(random, 1, 4);
        let at = if other { random.below(self.keys.len()) } else { 0 };
        &self.keys[at]
    }
}

/// Returns one to three entities, no link to two.
pub(super) fn relations(random: &mut Random) -> Vec<Relation> {
    let count = 1 + random.below(ENTITIES.len());
    let mut relations: Vec<Relation> = Vec::new();
    for number in 0..count {
        let entity = entity(&relations, number, random);
        relations.push(entity);
    }
    for name in ["La", "Lb"].into_iter().take(random.below(3)) {
        relations.push(link(name, count, random));
    }
    widen_key(&mut relations, count - 1, random);
    relations
}

fn entity(before: &[Relation], number: usize, random: &mut Random) -> Relation {
    let mut attributes = vec![scalar("id", word(random, &KEY_TYPES))];
    if number > 0 {
        let optional = chance(random, 1, 3);
        attributes.push(reference("up", random.below(number), optional, random));
        if chance(random, 1, 3) {
            let optional = chance(random, 1, 2);
            attributes.push(reference("by", random.below(number), optional, random));
        }
    }
    if chance(random, 1, 6) {
        attributes.push(reference("own", number, true, random));
    }
    for name in ["p", "q", "r", "s"].into_iter().take(1 + random.below(4)) {
        let attribute = own(name, before, random);
        attributes.push(attribute);
    }
    let mut keys = vec![vec![0]];
    keys.extend(
        attributes.iter().enumerate().filter(|(_, one)| one.unique).map(|(at, _)| vec![at]),
    );
    let (a, b) = (other_than_key(&attributes, random), other_than_key(&attributes, random));
    if chance(random, 1, 3) && a != b && !attributes[a].optional && !attributes[b].optional {
        keys.push(vec![a, b]);
    }
    let facts = facts(&attributes, random);
    let (tallies, documents) = (Vec::new(), Vec::new());
    let name = ENTITIES[number];
    Relation { name, attributes, keys, is_link: false, tallies, facts, documents }
}

fn link(name: &'static str, entities: usize, random: &mut Random) -> Relation {
    let mut attributes = Vec::new();
    for end in ["a", "b"] {
        let at = random.below(entities);
        attributes.push(Attribute { refers: Some(at), ..scalar(end, ENTITIES[at]) });
    }
    for name in ["v", "w"].into_iter().take(random.below(3)) {
        let attribute = own(name, &[], random);
        attributes.push(Attribute { unique: false, ..attribute });
    }
    let mut keys = vec![vec![0, 1]];
    if chance(random, 1, 4) {
        keys.push(vec![random.below(2)]);
    }
    let (tallies, facts, documents) = (Vec::new(), Vec::new(), Vec::new());
    Relation { name, attributes, keys, is_link: true, tallies, facts, documents }
}

pub(super) fn scalar(name: &'static str, ty: &'static str) -> Attribute {
    let (optional, immutable, unique) = (false, false, false);
    Attribute { name, ty, refers: None, optional, immutable, unique, mate: None }
}

fn reference(name: &'static str, to: usize, optional: bool, random: &mut Random) -> Attribute {
    let immutable = chance(random, 1, 4);
    Attribute { refers: Some(to), optional, immutable, ..scalar(name, ENTITIES[to]) }
}

/// Returns an attribute that refers to nothing; often of the type that one of its name has elsewhere, so
/// that several row types can be asked for at once.
fn own(name: &'static str, before: &[Relation], random: &mut Random) -> Attribute {
    let elsewhere = before.iter().flat_map(|one| &one.attributes).find(|one| one.name == name);
    let ty = match elsewhere {
        Some(other) if chance(random, 2, 3) => other.ty,
        _ => word(random, &TYPES),
    };
    Attribute {
        optional: chance(random, 1, 4),
        immutable: chance(random, 1, 8),
        unique: chance(random, 1, 7) && ty != "bool",
        ..scalar(name, ty)
    }
}

fn other_than_key(attributes: &[Attribute], random: &mut Random) -> usize {
    1 + random.below(attributes.len() - 1)
}

fn facts(attributes: &[Attribute], random: &mut Random) -> Vec<String> {
    let mut facts = Vec::new();
    let (a, b) = (other_than_key(attributes, random), other_than_key(attributes, random));
    if chance(random, 1, 6) && a != b {
        facts.push(format!("fd {} -> {}", attributes[a].name, attributes[b].name));
    }
    if chance(random, 1, 6) {
        let at = other_than_key(attributes, random);
        facts.push(format!("fanout {} max 2", attributes[at].name));
    }
    facts
}

/// An entity that nothing refers to may be told apart by two attributes only.
fn widen_key(relations: &mut [Relation], at: usize, random: &mut Random) {
    let mut references = relations.iter().flat_map(|one| &one.attributes).map(|one| one.refers);
    if references.any(|refers| refers == Some(at)) || !chance(random, 1, 4) {
        return;
    }
    let second = other_than_key(&relations[at].attributes, random);
    let attribute = &relations[at].attributes[second];
    if !attribute.optional && !attribute.unique {
        relations[at].keys[0].push(second);
    }
}

/// Makes some attributes binary, and two of a relation come together at times.
pub(super) fn widen(relations: &mut [Relation], random: &mut Random) {
    for relation in relations {
        let keys = relation.keys.clone();
        let plain = |at: usize, one: &Attribute| {
            one.refers.is_none() && !one.unique && !keys.iter().any(|key| key.contains(&at))
        };
        let free: Vec<usize> = (0..relation.attributes.len())
            .filter(|at| plain(*at, &relation.attributes[*at]))
            .collect();
        for at in &free {
            if chance(random, 1, 5) {
                relation.attributes[*at].ty = word(random, &BINARY);
            }
        }
        if let [.., a, b] = free.as_slice()
            && relation.facts.is_empty()
            && chance(random, 1, 2)
        {
            for (one, other) in [(*a, *b), (*b, *a)] {
                relation.attributes[one].optional = true;
                relation.attributes[one].mate = Some(other);
            }
        }
    }
}

/// Types of binary attributes.
const BINARY: [&str; 3] = ["bytes(max 2)", "bytes(min 1, max 2)", "bytes(min 2, max 2)"];

/// Returns the relations, as a model declares them.
pub(super) fn declared(relations: &[Relation]) -> String {
    let mut out = String::new();
    for one in relations {
        out.push_str(&if one.is_link {
            let (a, b) = (one.attributes[0].ty, one.attributes[1].ty);
            format!("link {} from {a} as a to {b} as b {{\n", one.name)
        } else {
            format!("entity {} {{\n", one.name)
        });
        for (at, attribute) in one.attributes.iter().enumerate() {
            if (!one.is_link || at > 1) && !attribute.name.contains('.') {
                let key = if !one.is_link && at == 0 && one.key().len() == 1 { "key " } else { "" };
                out.push_str(&format!("  {key}{}\n", declaration(attribute)));
            }
        }
        let names = |key: &[usize]| -> String {
            let names: Vec<&str> = key.iter().map(|at| one.attributes[*at].name).collect();
            names.join(", ")
        };
        if !one.is_link && one.key().len() > 1 {
            out.push_str(&format!("  key ({})\n", names(one.key())));
        }
        for key in one.keys.iter().skip(1).filter(|key| key.len() > 1 || one.is_link) {
            out.push_str(&format!("  unique ({})\n", names(key)));
        }
        for (at, attribute) in one.attributes.iter().enumerate() {
            let mate = attribute.mate.filter(|mate| at < *mate && !attribute.name.contains('.'));
            if let Some(mate) = mate {
                let mate = one.attributes[mate].name;
                out.push_str(&format!("  together ({}, {mate})\n", attribute.name));
            }
        }
        for fact in one.documents.iter().chain(&one.facts) {
            out.push_str(&format!("  {fact}\n"));
        }
        out.push_str("}\n");
    }
    out
}

fn declaration(attribute: &Attribute) -> String {
    let mut out = format!("{}: {}", attribute.name, attribute.ty);
    for (word, is) in [
        (" optional", attribute.optional),
        (" immutable", attribute.immutable),
        (" unique", attribute.unique),
    ] {
        if is {
            out.push_str(word);
        }
    }
    out
}
