//! Reads CHECK constraints: the values that a column may have.
//!
//! `state IN ('a', 'b')` says as much as an enum, `stars BETWEEN 1 AND 5` and `stars IN (1, 2, 3)` say a
//! range; PostgreSQL writes the first as `state = ANY (ARRAY['a'::text, 'b'::text])` in dumps.
//!
//! What it is not: an expression. Any other constraint is told as it is written.

use super::tables::brackets;
use crate::names::comment;
use crate::relational::{Table, words};
use crate::tokens::{Kind, Token};

/// Applies a constraint (`tokens` from CHECK on) to the column that it names; returns a remark if that
/// does not say all of it.
pub(super) fn apply(table: &mut Table, tokens: &[Token]) -> Option<String> {
    let inside = inside(tokens);
    let name = inside.iter().find(|token| token.kind != Kind::Mark);
    let column = name.and_then(|name| {
        table.columns.iter_mut().find(|own| own.name.eq_ignore_ascii_case(&name.text))
    });
    let told = Some(format!("? {} there", comment(&format!("CHECK ({})", written(inside)))));
    let Some(column) = column else { return told };
    if let Some(found) = listed(inside) {
        column.ty = words(&found);
        return None;
    }
    match range(inside).filter(|_| column.ty.starts_with("int")) {
        Some((low, high)) => {
            column.ty = format!("int({low}..{high})");
            None
        }
        None => told,
    }
}

/// Returns the tokens between the brackets of a constraint.
fn inside(tokens: &[Token]) -> &[Token] {
    let rest = brackets(tokens).map_or(0, |(_, rest)| rest.len() + 1);
    let start = tokens.iter().position(|token| token.is("(")).map_or(0, |at| at + 1);
    tokens.get(start..tokens.len().saturating_sub(rest)).unwrap_or_default()
}

/// Returns tokens as text, parted by spaces.
pub(super) fn written(tokens: &[Token]) -> String {
    let texts = tokens.iter().map(|token| match token.kind {
        Kind::Text(quote) => format!("{quote}{}{quote}", token.text),
        _ => token.text.clone(),
    });
    texts.collect::<Vec<_>>().join(" ")
}

fn has(tokens: &[Token], word: &str) -> bool {
    tokens.iter().any(|token| token.is_word(word))
}

/// Returns the texts of a list, if the constraint is nothing but that the column is among them.
fn listed(tokens: &[Token]) -> Option<Vec<String>> {
    let more = ["not", "and", "or"].iter().any(|word| has(tokens, word));
    let among = has(tokens, "in") || has(tokens, "any") && has(tokens, "array");
    let texts = tokens.iter().filter(|token| matches!(token.kind, Kind::Text('\'')));
    let found: Vec<String> = texts.map(|token| token.text.clone()).collect();
    (among && !more && !found.is_empty()).then_some(found)
}

/// Returns the least and the greatest of whole numbers that follow each other.
fn range(tokens: &[Token]) -> Option<(i64, i64)> {
    let number = |token: &Token| (token.kind == Kind::Number).then(|| token.text.parse().ok())?;
    match tokens {
        [_, between, low, and, high] if between.is_word("between") && and.is_word("and") => {
            number(low).zip(number(high)).filter(|(low, high)| low <= high)
        }
        [_, word, open, values @ .., close]
            if word.is_word("in") && open.is("(") && close.is(")") =>
        {
            let values = values.iter().filter(|token| !token.is(","));
            let mut found = values.map(number).collect::<Option<Vec<i64>>>()?;
            found.sort_unstable();
            found.dedup();
            let (low, high) = (*found.first()?, *found.last()?);
            let all = high.checked_sub(low).and_then(|gap| usize::try_from(gap).ok());
            (all == Some(found.len() - 1)).then_some((low, high))
        }
        _ => None,
    }
}
