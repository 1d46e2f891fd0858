//! Random conditions on attributes, and their inputs.
//!
//! Invariant: every input is named by some condition.

use super::path::{self, Path};
use super::read::Read;
use super::relation::Relation;
use super::{Random, chance, word};

/// The inputs of one pattern: `x1`, `x2` and so on.
#[derive(Clone, Default)]
pub(super) struct Inputs(usize);

impl Inputs {
    pub(super) fn fresh(&mut self) -> String {
        self.0 += 1;
        format!("x{}", self.0)
    }

    pub(super) fn names(&self) -> Vec<String> {
        (1..=self.0).map(|number| format!("x{number}")).collect()
    }
}

#[derive(Clone)]
pub(super) enum Test {
    Equal(String),
    /// An end, with its comparison.
    End(&'static str, String),
    Between(String, String),
    Begins(String),
    /// One of a list.
    Among(String),
    Is(&'static str),
}

impl Test {
    /// Returns true if the test has no inputs.
    fn is_constant(&self) -> bool {
        match self {
            Self::Equal(value) => !value.starts_with('x'),
            Self::Is(_) => true,
            _ => false,
        }
    }
}

#[derive(Clone)]
pub(super) struct Condition {
    pub(super) path: Path,
    pub(super) test: Test,
}

impl Condition {
    pub(super) fn text(&self) -> String {
        let name = self.path.text();
        match &self.test {
            Test::Equal(value) => format!("{name} = {value}"),
            Test::End(comparison, value) => format!("{name} {comparison} {value}"),
            Test::Between(low, high) => format!("{name} between {low} and {high}"),
            Test::Begins(value) => format!("{name} begins {value}"),
            Test::Among(values) => format!("{name} in {values} max 3"),
            Test::Is(what) => format!("{name} is {what}"),
        }
    }
}

/// Returns a condition of any kind, equalities more often than others.
pub(super) fn condition(path: Path, inputs: &mut Inputs, random: &mut Random) -> Condition {
    let test = match random.below(12) {
        0 => Test::Between(inputs.fresh(), inputs.fresh()),
        1 if path.is_text() => Test::Begins(inputs.fresh()),
        2 => Test::End(word(random, &["<", "<=", ">", ">="]), inputs.fresh()),
        3 if path.optional => Test::Is(word(random, &["present", "present", "absent"])),
        4 => {
            let value = path::constant(path.ty, random);
            Test::Equal(value.unwrap_or_else(|| inputs.fresh()))
        }
        5 => Test::Among(inputs.fresh()),
        _ => Test::Equal(inputs.fresh()),
    };
    Condition { path, test }
}

/// Returns the condition that makes a row family sparse: ` when p = 1`, mostly nothing.
pub(super) fn when(relations: &[Relation], of: usize, random: &mut Random) -> String {
    if !chance(random, 1, 4) {
        return String::new();
    }
    let deep = chance(random, 1, 4);
    let path = path::path(relations, of, deep, random);
    if path.optional && chance(random, 1, 2) {
        let what = word(random, &["present", "present", "absent"]);
        return format!(" when {} is {what}", path.name);
    }
    let Some(value) = path::constant(path.ty, random) else { return String::new() };
    let number = path.ty.starts_with("int");
    // Below nothing there is nothing.
    let comparison = match value.as_str() {
        _ if !number => "=",
        "0" => word(random, &["=", ">="]),
        _ => word(random, &["=", ">=", "<"]),
    };
    format!(" when {} {comparison} {value}", path.name)
}

/// Returns a test without inputs, if an attribute has one.
pub(super) fn always(path: &Path, random: &mut Random) -> Option<Test> {
    if path.optional && chance(random, 1, 2) {
        return Some(Test::Is(word(random, &["present", "present", "absent"])));
    }
    path::constant(path.ty, random).map(Test::Equal)
}

/// Returns the condition of an index: mostly what a read asks for, else any of its rows' attributes.
pub(super) fn of_index(
    relations: &[Relation],
    (of, aim): (usize, Option<&Read>),
    random: &mut Random,
) -> String {
    let asked = aim.into_iter().flat_map(|read| read.conditions.iter().map(move |one| (read, one)));
    let own = asked.filter(|(_, one)| one.path.steps == 1 && one.test.is_constant());
    let own: Vec<_> = own
        .map(|(read, one)| {
            let second = read.is_second(of);
            let path =
                Path { name: one.path.named(second).to_owned(), pair: None, ..one.path.clone() };
            Condition { path, test: one.test.clone() }.text()
        })
        .collect();
    if let Some(found) = random.pick(&own).filter(|_| chance(random, 4, 5)) {
        return format!(" when {found}");
    }
    if chance(random, 1, 3) {
        return String::new();
    }
    let path = path::path(relations, of, false, random);
    let test = always(&path, random);
    test.map_or_else(String::new, |test| format!(" when {}", Condition { path, test }.text()))
}
