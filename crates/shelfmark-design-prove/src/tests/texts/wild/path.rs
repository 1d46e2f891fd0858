//! Ways along references, and constants of the types at their ends.
//!
//! Invariant: a path names an attribute that is there.

use super::relation::Relation;
use super::{Random, chance, word};

#[derive(Clone, PartialEq)]
pub(super) struct Path {
    /// As written: `up.p`.
    pub(super) name: String,
    pub(super) ty: &'static str,
    /// True if there may be nothing at its end.
    pub(super) optional: bool,
    /// Number of attributes that it names.
    pub(super) steps: usize,
    /// `(Ea.p, Eb.q)` and `q`, if the second row type of a read calls it otherwise.
    pub(super) pair: Option<(String, String)>,
}

impl Path {
    pub(super) fn of(relation: &Relation, at: usize) -> Self {
        let attribute = &relation.attributes[at];
        let (ty, optional) = (attribute.ty, attribute.optional);
        Self { name: attribute.name.to_owned(), ty, optional, steps: 1, pair: None }
    }

    /// Returns what two row types call differently, as one.
    pub(super) fn both((a, own): (&Relation, usize), (b, other): (&Relation, usize)) -> Self {
        let (own, other) = (Self::of(a, own), Self::of(b, other));
        if own.name == other.name {
            return Self { optional: own.optional || other.optional, ..own };
        }
        let text = format!("({}.{}, {}.{})", a.name, own.name, b.name, other.name);
        let optional = own.optional || other.optional;
        Self { optional, pair: Some((text, other.name)), ..own }
    }

    /// Returns the path as a read writes it.
    pub(super) fn text(&self) -> &str {
        self.pair.as_ref().map_or(&self.name, |(text, _)| text)
    }

    /// Returns what the second row type of a read calls it, or the first.
    pub(super) fn named(&self, second: bool) -> &str {
        self.pair.as_ref().filter(|_| second).map_or(&self.name, |(_, name)| name)
    }

    pub(super) fn is_text(&self) -> bool {
        self.ty.starts_with("text")
    }
}

/// Returns one to three attributes, or one only.
pub(super) fn path(relations: &[Relation], of: usize, deep: bool, random: &mut Random) -> Path {
    let mut found: Option<Path> = None;
    let mut at = of;
    loop {
        let number = random.below(relations[at].attributes.len());
        let attribute = &relations[at].attributes[number];
        let next = Path::of(&relations[at], number);
        let path = match found.take() {
            None => next,
            Some(before) => Path {
                name: format!("{}.{}", before.name, next.name),
                optional: before.optional || next.optional,
                steps: before.steps + 1,
                ..next
            },
        };
        match attribute.refers {
            Some(target) if deep && path.steps < 3 && chance(random, 1, 2) => at = target,
            _ => return path,
        }
        found = Some(path);
    }
}

/// Returns a value of a type, as patterns and rows write it; of some types none is written.
pub(super) fn constant(ty: &str, random: &mut Random) -> Option<String> {
    let words: &[&'static str] = match ty {
        "bool" => &["true", "false"],
        "enum(\"x\", \"y\")" => &["\"x\"", "\"y\""],
        "enum(\"a\", \"ab\", \"b\")" => &["\"a\"", "\"ab\"", "\"b\""],
        "int(0..3)" | "int(0..9)" | "int(0..120)" => &["0", "1", "2"],
        "int(-5..5)" => &["-1", "0", "1"],
        "text(max 3, only \"ab\")" => &["\"a\"", "\"ab\"", "\"b\""],
        "bytes(max 2)" => &["\"\"", "\"00\"", "\"00ff\""],
        "bytes(min 1, max 2)" | "bytes(min 2, max 2)" => &["\"0000\"", "\"00ff\""],
        _ => return None,
    };
    Some(word(random, words).to_owned())
}
