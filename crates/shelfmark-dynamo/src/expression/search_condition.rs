//! The condition of a vector search: attributes that equal a value, joined by AND.

use std::collections::BTreeSet;

use shelfmark_model::{Comparison, Value};

use super::Kind;
use super::ast::{Arg, Leaf, Node, Operator};
use super::placeholders::Placeholders;
use crate::errors::{Error, Result, texts};

/// Returns the attributes and their values, in the order of the text.
///
/// # Errors
///
/// * ValidationException: something else than equalities, or two of one attribute, even the same.
pub(super) fn equalities(
    placeholders: &Placeholders,
    node: &Node<'_>,
) -> Result<Vec<(String, Value)>> {
    let all = read(placeholders, node)?;
    let mut names = BTreeSet::new();
    if all.iter().all(|(name, _)| names.insert(name)) {
        return Ok(all);
    }
    Err(refused_as(texts::SEARCH_TWICE))
}

fn read(placeholders: &Placeholders, node: &Node<'_>) -> Result<Vec<(String, Value)>> {
    match node {
        Node::Or(_) | Node::Not(_) => Err(refused()),
        Node::And(nodes) => {
            let mut all = Vec::new();
            for node in nodes {
                all.extend(read(placeholders, node)?);
            }
            Ok(all)
        }
        Node::Leaf(leaf) => Ok(vec![equality(placeholders, leaf)?]),
    }
}

fn equality(placeholders: &Placeholders, leaf: &Leaf<'_>) -> Result<(String, Value)> {
    if leaf.operator != Operator::Compare(Comparison::Equal) {
        return Err(refused());
    }
    let (path, value) = match leaf.args.as_slice() {
        [Arg::Path(path), Arg::Value(value)] | [Arg::Value(value), Arg::Path(path)] => {
            (path, value)
        }
        _ => return Err(refused()),
    };
    // The checks of conditions have found every name and value.
    let path = placeholders.path(path).map_err(|_| refused())?;
    if !path.steps.is_empty() {
        return Err(refused_as(texts::SEARCH_NESTED));
    }
    let value = placeholders.value(value).cloned().map_err(|_| refused())?;
    Ok((path.attribute, value))
}

fn refused() -> Error {
    refused_as(texts::SEARCH_COMPARATOR)
}

fn refused_as(text: &str) -> Error {
    let member = Kind::SearchCondition.member();
    Error::validation(texts::invalid_expression(member, text))
}
