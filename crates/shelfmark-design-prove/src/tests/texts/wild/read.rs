//! Reads: conditions of all kinds, several row types, orders, limits, selections, aggregates.
//!
//! What it is not: no plan; most reads fit no key of the schemas beside them.
//!
//! Invariant: what a read of several row types names is an attribute of each of them.

use super::condition::{Condition, Inputs, always, condition};
use super::path::{self, Path};
use super::relation::Relation;
use super::{Random, chance, word};

pub(super) struct Read {
    pub(super) name: String,
    pub(super) sources: Vec<usize>,
    pub(super) conditions: Vec<Condition>,
    /// The order, and whether it descends; `kind` is one of them.
    pub(super) order: Vec<(Path, bool)>,
    pub(super) limit: Option<String>,
    /// `count of `, or nothing.
    pub(super) aggregate: String,
    /// The selection, as written.
    shown: String,
    inputs: Vec<String>,
    facts: &'static str,
}

impl Read {
    pub(super) fn text(&self, relations: &[Relation]) -> String {
        let names: Vec<&str> = self.sources.iter().map(|at| relations[*at].name).collect();
        let mut out = format!(
            "read {}({}) = {}{}{}",
            self.name,
            self.inputs.join(", "),
            self.aggregate,
            names.join(" + "),
            self.shown
        );
        let conditions: Vec<String> = self.conditions.iter().map(Condition::text).collect();
        if !conditions.is_empty() {
            out.push_str(&format!(" where {}", conditions.join(" and ")));
        }
        if !self.order.is_empty() {
            out.push_str(&format!(" order by {}", self.order_text()));
        }
        if let Some(limit) = &self.limit {
            out.push_str(&format!(" limit {limit}"));
        }
        out + self.facts + "\n"
    }

    /// Asks for one value more, or for what is there, mostly: what an index may ask for as well.
    pub(super) fn narrow(&mut self, relations: &[Relation], random: &mut Random) {
        let [of] = self.sources.as_slice() else { return };
        let path = path::path(relations, *of, false, random);
        if chance(random, 2, 3)
            && let Some(test) = always(&path, random)
        {
            self.conditions.push(Condition { path, test });
        }
    }

    /// Returns true if a relation is the second row type only.
    pub(super) fn is_second(&self, of: usize) -> bool {
        self.sources.get(1) == Some(&of) && self.sources.first() != Some(&of)
    }

    /// `p desc, q`.
    pub(super) fn order_text(&self) -> String {
        let keys = self.order.iter().map(|(path, desc)| {
            if *desc { format!("{} desc", path.text()) } else { path.text().to_owned() }
        });
        keys.collect::<Vec<String>>().join(", ")
    }
}

/// Returns a read of any kind.
pub(super) fn read(
    relations: &[Relation],
    number: usize,
    newest: bool,
    random: &mut Random,
) -> Read {
    let of = random.below(relations.len());
    let pairs = if newest { pairs(relations, of, random) } else { Vec::new() };
    let sources = match pairs.first() {
        Some((other, _)) => vec![of, *other],
        None => sources(relations, of, random),
    };
    let mut inputs = Inputs::default();
    let mut pick = |deep: bool, random: &mut Random| loop {
        if let Some((_, path)) = random.pick(&pairs) {
            return path.clone();
        }
        let path = path::path(relations, of, deep, random);
        if is_in_all(relations, &sources, &path) {
            return path;
        }
    };
    let mut conditions = Vec::new();
    for _ in 0..[0, 1, 1, 1, 2, 2, 3][random.below(7)] {
        let deep = chance(random, 1, 4);
        let path = pick(deep, random);
        conditions.push(condition(path, &mut inputs, random));
    }
    let aggregate = aggregate(&relations[of], random);
    let mut order = Vec::new();
    if aggregate.is_empty() && chance(random, 2, 3) {
        if sources.len() > 1 && chance(random, 1, 2) {
            order.push((kind(), false));
        }
        for _ in 0..=random.below(2) {
            let deep = chance(random, 1, 6);
            // Behind the row type an attribute need not be in all of them.
            let by_type =
                order.first().is_some_and(|(first, _): &(Path, bool)| first.name == "kind");
            let path = match by_type {
                false => pick(deep, random),
                true => path::path(relations, sources[random.below(2)], false, random),
            };
            order.push((path, chance(random, 1, 3)));
        }
    }
    let single = aggregate.is_empty() && pairs.is_empty();
    let shown = if single { shown(&mut pick, random) } else { String::new() };
    let mut names = inputs.names();
    let limit = if aggregate.is_empty() { limit(random) } else { None };
    if limit.as_deref() == Some("n") {
        names.push("n".to_owned());
    }
    let facts = word(random, &["", "", "", "", "", "", "", "", "", " strong"]);
    let facts = match newest && facts.is_empty() {
        true => word(random, &["", "", "", "", " session", " staleness 2s", " staleness 1min"]),
        false => facts,
    };
    let name = format!("r{number}");
    Read { name, sources, conditions, order, limit, aggregate, shown, inputs: names, facts }
}

/// Returns the row type, as something to order by.
fn kind() -> Path {
    Path { name: "kind".to_owned(), ty: "", optional: false, steps: 1, pair: None }
}

/// Returns one row type, or two that have something in common.
fn sources(relations: &[Relation], of: usize, random: &mut Random) -> Vec<usize> {
    let other = random.below(relations.len());
    let mut own = (0..relations[of].attributes.len()).map(|at| Path::of(&relations[of], at));
    if other != of && chance(random, 1, 4) && own.any(|one| is_in_all(relations, &[other], &one)) {
        return vec![of, other];
    }
    vec![of]
}

/// Returns another row type, sometimes, and what it and this one have in common: of one type, by
/// whichever names.
fn pairs(relations: &[Relation], of: usize, random: &mut Random) -> Vec<(usize, Path)> {
    let other = random.below(relations.len());
    if other == of || !chance(random, 1, 4) {
        return Vec::new();
    }
    let (a, b) = (&relations[of], &relations[other]);
    let own = a.attributes.iter().enumerate();
    let both = own.flat_map(|(at, one)| {
        let theirs = b.attributes.iter().enumerate().filter(|(_, two)| two.ty == one.ty);
        theirs.map(move |(their, _)| (other, Path::both((a, at), (b, their))))
    });
    both.collect()
}

/// Returns true if each of several row types has an attribute of this name and type.
fn is_in_all(relations: &[Relation], sources: &[usize], path: &Path) -> bool {
    let has = |at: &usize| {
        relations[*at].attributes.iter().any(|one| one.name == path.name && one.ty == path.ty)
    };
    sources.len() == 1 && path.steps > 1 || sources.iter().all(has)
}

fn aggregate(relation: &Relation, random: &mut Random) -> String {
    let mut numbers = relation.attributes.iter().filter(|one| one.ty.starts_with("int"));
    match (random.below(24), numbers.next()) {
        (0 | 1, _) => "count of ".to_owned(),
        (2, Some(number)) => {
            format!("{} {} of ", word(random, &["sum", "min", "max"]), number.name)
        }
        _ => String::new(),
    }
}

fn shown(pick: &mut impl FnMut(bool, &mut Random) -> Path, random: &mut Random) -> String {
    if chance(random, 1, 3) {
        let distinct = if chance(random, 1, 3) { "distinct " } else { "" };
        let mut names: Vec<String> =
            (0..=random.below(2)).map(|_| pick(true, random).name).collect();
        names.dedup();
        return format!(" select {distinct}{}", names.join(", "));
    }
    let more = pick(true, random);
    if more.steps > 1 && chance(random, 1, 3) {
        format!(" with {}", more.name)
    } else {
        String::new()
    }
}

fn limit(random: &mut Random) -> Option<String> {
    match random.below(9) {
        0 => Some((1 + random.below(3)).to_string()),
        1 | 2 => Some("n".to_owned()),
        _ => None,
    }
}
