//! Random conditions on attributes, and their inputs.
//!
//! Invariant: every input is named by some condition.

use super::path::{self, Path};
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
