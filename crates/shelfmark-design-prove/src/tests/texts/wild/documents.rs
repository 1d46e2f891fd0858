//! Attributes of several parts: records, references to one of several entities, references to keys of
//! two attributes.
//!
//! What it is not: no list and no map.
//!
//! Invariant: each part is an attribute of its relation whose name has a dot; parts of what is optional
//! as a whole are mates.

use super::relation::{Attribute, Relation, TYPES, scalar};
use super::{Random, chance, word};

/// Adds attributes of several parts to some relations.
pub(super) fn widen(relations: &mut [Relation], random: &mut Random) {
    let subject = subject(relations, random);
    let wide = wide(relations);
    for relation in relations {
        if chance(random, 1, 3) {
            record(relation, random);
        }
        if let Some((entities, kind, key)) = &subject
            && chance(random, 1, 3)
        {
            let parts = [scalar("sub.kind", kind), scalar("sub.key", key)];
            add(relation, &format!("sub: one of ({entities})"), parts, random);
        }
        if let Some((entity, first, second)) = &wide
            && relation.name != *entity
            && chance(random, 1, 2)
        {
            let parts = [first.clone(), second.clone()];
            add(relation, &format!("wide: {entity}"), parts, random);
        }
    }
}

/// Adds a record of two fields, of which the second may be missing.
fn record(relation: &mut Relation, random: &mut Random) {
    let (c, d) = (word(random, &TYPES), word(random, &TYPES));
    if chance(random, 1, 3) {
        let text = format!("h: record {{ c: {c}, d: {d} optional }}");
        relation.attributes.push(scalar("h.c", c));
        relation.attributes.push(Attribute { optional: true, ..scalar("h.d", d) });
        relation.documents.push(text);
        return;
    }
    let parts = [scalar("h.c", c), scalar("h.d", d)];
    add(relation, &format!("h: record {{ c: {c}, d: {d} }}"), parts, random);
}

/// Adds an attribute of two parts, which may be optional or immutable as a whole.
fn add(relation: &mut Relation, text: &str, parts: [Attribute; 2], random: &mut Random) {
    let (optional, immutable) = (chance(random, 1, 3), chance(random, 1, 6));
    let at = relation.attributes.len();
    for (number, part) in parts.into_iter().enumerate() {
        let mate = optional.then_some(at + 1 - number);
        relation.attributes.push(Attribute { optional, immutable, mate, ..part });
    }
    let optional = if optional { " optional" } else { "" };
    let immutable = if immutable { " immutable" } else { "" };
    relation.documents.push(format!("{text}{optional}{immutable}"));
}

/// Returns two entities with keys of one attribute and one type, the enum of their names, and the type.
fn subject(
    relations: &[Relation],
    random: &mut Random,
) -> Option<(&'static str, &'static str, &'static str)> {
    const PAIRS: [(usize, usize, &str, &str); 3] = [
        (0, 1, "Ea, Eb", "enum(\"Ea\", \"Eb\")"),
        (0, 2, "Ea, Ec", "enum(\"Ea\", \"Ec\")"),
        (1, 2, "Eb, Ec", "enum(\"Eb\", \"Ec\")"),
    ];
    let key = |at: usize| {
        let one = relations.get(at).filter(|one| !one.is_link && one.key().len() == 1)?;
        Some(one.attributes[one.key()[0]].ty)
    };
    let fits = |(a, b, ..): &&(usize, usize, &str, &str)| key(*a).is_some() && key(*a) == key(*b);
    let fitting: Vec<_> = PAIRS.iter().filter(fits).collect();
    let (a, _, names, kind) = random.pick(&fitting)?;
    Some((names, kind, key(*a)?))
}

/// Returns the entity whose key has two attributes, and a reference to each of them.
fn wide(relations: &[Relation]) -> Option<(&'static str, Attribute, Attribute)> {
    const NAMES: [(&str, &str); 8] = [
        ("up", "wide.up"),
        ("by", "wide.by"),
        ("own", "wide.own"),
        ("p", "wide.p"),
        ("q", "wide.q"),
        ("r", "wide.r"),
        ("s", "wide.s"),
        ("id", "wide.id"),
    ];
    let entity = relations.iter().find(|one| !one.is_link && one.key().len() > 1)?;
    let part = |at: usize| {
        let attribute = &entity.attributes[entity.key()[at]];
        let (_, name) = NAMES.iter().find(|(name, _)| *name == attribute.name)?;
        Some(scalar(name, attribute.ty))
    };
    Some((entity.name, part(0)?, part(1)?))
}
