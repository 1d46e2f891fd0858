//! Tells whoever compares requests with a model what an expression asks for, by name: the attributes of
//! the key that it binds and how, and the attributes that an update changes.
//!
//! What it is not: a check of a request. Values are named by their placeholders and never looked at, so
//! an expression that is told may still be refused; one that cannot be parsed is told as nothing.
//!
//! Invariant: the text is parsed by the parser that answers requests, with its limits.

use std::collections::BTreeMap;

use shelfmark_model::Value;

use crate::expression::{KeyRelation, Placeholders, changed};

/// A condition on one attribute of the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedKey {
    /// The attribute.
    pub attribute: String,
    /// The values that it may have.
    pub bound: AskedBound,
}

/// The values that an attribute of the key may have, by the names of placeholders such as `:from`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AskedBound {
    /// The one value.
    Equal(String),
    /// All that begin with it.
    Prefix(String),
    /// All between two, of which one may be absent.
    Range(Option<String>, Option<String>),
}

/// Returns the conditions of a `KeyConditionExpression`, in the order of its text; `None` if it is none.
///
/// `names` is what `ExpressionAttributeNames` has, `values` are the names of
/// `ExpressionAttributeValues`.
#[must_use]
pub fn asked_keys<'v>(
    expression: &str,
    names: BTreeMap<String, String>,
    values: impl Iterator<Item = &'v str>,
) -> Option<Vec<AskedKey>> {
    // Each placeholder stands for its own name.
    let values = values.map(|name| (name.to_owned(), Value::text(name))).collect();
    let placeholders = Placeholders::unchecked(names, values);
    let found = placeholders.key_condition(Some(expression)).ok()??;
    let name = |value: Value| value.as_text().map(str::to_owned);
    let asked = found.into_iter().map(|own| {
        let bound = match own.relation {
            KeyRelation::Equal(value) => AskedBound::Equal(name(value)?),
            KeyRelation::BeginsWith(value) => AskedBound::Prefix(name(value)?),
            KeyRelation::Less(value) | KeyRelation::LessOrEqual(value) => {
                AskedBound::Range(None, Some(name(value)?))
            }
            KeyRelation::Greater(value) | KeyRelation::GreaterOrEqual(value) => {
                AskedBound::Range(Some(name(value)?), None)
            }
            KeyRelation::Between(from, to) => AskedBound::Range(Some(name(from)?), Some(name(to)?)),
        };
        Some(AskedKey { attribute: own.attribute, bound })
    });
    asked.collect()
}

/// Returns the attributes that an `UpdateExpression` changes, each once and in the order of their names;
/// `None` if it is none.
#[must_use]
pub fn asked_changes(expression: &str, names: BTreeMap<String, String>) -> Option<Vec<String>> {
    let placeholders = Placeholders::unchecked(names, BTreeMap::new());
    changed(&placeholders, expression)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> BTreeMap<String, String> {
        [("#p", "pk"), ("#s", "sk")].map(|(name, own)| (name.to_owned(), own.to_owned())).into()
    }

    #[test]
    fn conditions_are_told_by_the_names_of_their_values() {
        let asked = |text: &str| asked_keys(text, names(), [":a", ":b", ":c"].into_iter());
        let key = |attribute: &str, bound| AskedKey { attribute: attribute.to_owned(), bound };
        let name = |text: &str| text.to_owned();
        assert_eq!(
            asked("#p = :a AND #s BETWEEN :b AND :c"),
            Some(vec![
                key("pk", AskedBound::Equal(name(":a"))),
                key("sk", AskedBound::Range(Some(name(":b")), Some(name(":c")))),
            ])
        );
        assert_eq!(
            asked("begins_with(#s, :b) and (pk = :a)"),
            Some(vec![
                key("sk", AskedBound::Prefix(name(":b"))),
                key("pk", AskedBound::Equal(name(":a"))),
            ])
        );
        let upper = Some(vec![key("sk", AskedBound::Range(None, Some(name(":b"))))]);
        assert_eq!(asked("sk < :b"), upper);
        for none in ["", "pk =", "pk = :unknown", "#x = :a", "pk = :a OR sk = :b"] {
            assert_eq!(asked(none), None, "{none}");
        }
    }

    #[test]
    fn changes_are_told_by_attribute() {
        let told = asked_changes("SET #s = :x, a.b = a.c + :y REMOVE pk ADD a.d :z", names());
        assert_eq!(told, Some(["a", "pk", "sk"].map(str::to_owned).to_vec()));
        for none in ["", "SET", "SET #x = :a"] {
            assert_eq!(asked_changes(none, names()), None, "{none}");
        }
    }
}
