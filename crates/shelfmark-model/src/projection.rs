//! Projections select the parts of an item that come back.

use crate::item::Item;
use crate::path::{Path, Step};
use crate::value::Value;

/// The parts of an item that come back.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Projection {
    /// All of it.
    #[default]
    All,
    /// The parts that these paths lead to; none overlaps another.
    Paths(Vec<Path>),
}

impl Projection {
    /// Returns the parts of `item`; paths that lead nowhere are left out.
    ///
    /// Elements of one list come back without the gaps between them, in list order.
    #[must_use]
    pub fn apply(&self, item: Item) -> Item {
        let Self::Paths(paths) = self else { return item };
        let mut tree = Vec::new();
        for path in paths {
            if path.find(&item).is_some() {
                add(&mut tree, Step::Name(path.attribute.clone()), &path.steps);
            }
        }
        item.into_iter()
            .filter_map(|(name, value)| {
                let (_, below) = tree.iter().find(|(step, _)| is_name(step, &name))?;
                Some((name, cut(value, below)))
            })
            .collect()
    }

    /// Returns true if the attribute, or a part of it, is selected.
    #[must_use]
    pub fn needs(&self, attribute: &str) -> bool {
        match self {
            Self::All => true,
            Self::Paths(paths) => paths.iter().any(|path| path.attribute == attribute),
        }
    }
}

type Tree = Vec<(Step, Branch)>;

struct Branch(Tree);

fn is_name(step: &Step, name: &str) -> bool {
    matches!(step, Step::Name(own) if own == name)
}

fn add(tree: &mut Tree, first: Step, rest: &[Step]) {
    let position = tree.iter().position(|(step, _)| *step == first).unwrap_or_else(|| {
        tree.push((first, Branch(Vec::new())));
        tree.len() - 1
    });
    if let (Some((_, branch)), Some((next, rest))) = (tree.get_mut(position), rest.split_first()) {
        add(&mut branch.0, next.clone(), rest);
    }
}

/// Keeps the parts that the branch selects; a branch without steps keeps everything.
fn cut(value: Value, Branch(tree): &Branch) -> Value {
    if tree.is_empty() {
        return value;
    }
    match value {
        Value::Map(map) => Value::Map(
            map.into_iter()
                .filter_map(|(name, value)| {
                    let (_, below) = tree.iter().find(|(step, _)| is_name(step, &name))?;
                    Some((name, cut(value, below)))
                })
                .collect(),
        ),
        Value::List(list) => Value::List(
            list.into_iter()
                .enumerate()
                .filter_map(|(index, value)| {
                    let (_, below) = tree
                        .iter()
                        .find(|(step, _)| matches!(step, Step::Index(own) if *own == index))?;
                    Some(cut(value, below))
                })
                .collect(),
        ),
        other => other,
    }
}
