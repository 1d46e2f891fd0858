//! Bounds of `token(…)`: a range of partitions that is read, or a test of partitions that are named.
//!
//! The two differ where the lower bound lies above the upper one: such a range is empty, and the test holds
//! on either side of it. The least token is none of a partition: as an upper bound of a range it stands for
//! the end, and no named partition passes it. Source: Apache Cassandra 5.0.8, asked.

use std::cmp::Ordering;
use std::ops::Bound;

use shelfmark_cql_protocol::{BoundValue, CqlError, Result};
use shelfmark_cql_types::term::EvalContext;

use super::Select;
use crate::statement::relation::Test;

/// A range of tokens.
pub(super) type TokenRange = (Bound<i64>, Bound<i64>);

/// The bounds of a statement: a token each, and whether it belongs to the range.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TokenBounds {
    lower: Option<(i64, bool)>,
    upper: Option<(i64, bool)>,
}

impl TokenBounds {
    /// Evaluates the bounds of a SELECT.
    ///
    /// # Errors
    ///
    /// * `Invalid`: one is null.
    pub(super) fn of(select: &Select, env: EvalContext<'_>) -> Result<Self> {
        let mut bounds = Self::default();
        for test in &select.restrictions.token {
            let (Test::Equal(expr) | Test::Lower(expr, _) | Test::Upper(expr, _)) = test else {
                continue;
            };
            let token = match expr.eval(env)? {
                BoundValue::Bytes(bytes) => bytes.as_ref().try_into().map(i64::from_be_bytes).ok(),
                BoundValue::Null | BoundValue::Unset => None,
            };
            let Some(token) = token else {
                return Err(CqlError::invalid("Invalid null token value"));
            };
            match test {
                Test::Lower(_, inclusive) => bounds.lower = Some((token, *inclusive)),
                Test::Upper(_, inclusive) => bounds.upper = Some((token, *inclusive)),
                _ => bounds = Self { lower: Some((token, true)), upper: Some((token, true)) },
            }
        }
        Ok(bounds)
    }

    /// Returns true if a partition that is named passes.
    pub(super) fn pass(&self, key: &[u8]) -> bool {
        if self.lower.is_none() && self.upper.is_none() {
            return true;
        }
        self.holds(shelfmark_keycode::token(key))
    }

    fn holds(&self, token: i64) -> bool {
        let above = self.lower.is_none_or(|(own, also)| own < token || (also && own == token));
        let below = self.upper.is_none_or(|(own, also)| token < own || (also && own == token));
        match (self.lower, self.upper) {
            (Some((lower, from)), Some((upper, to))) => match lower.cmp(&upper) {
                Ordering::Less => above && below,
                Ordering::Equal => from && to && above && below,
                Ordering::Greater => above || below,
            },
            _ => above && below,
        }
    }

    /// Returns the range to read; `None` if it is empty.
    pub(super) fn range(&self) -> Option<TokenRange> {
        let lower = match self.lower {
            None => Bound::Unbounded,
            // Equal to the least one is the whole table.
            lower if lower == Some((i64::MIN, true)) && lower == self.upper => Bound::Unbounded,
            // All tokens are above the least one, that of the empty key of a view's partition included.
            Some((token, true) | (token @ i64::MIN, _)) => Bound::Included(token),
            Some((token, false)) => Bound::Excluded(token),
        };
        let upper = match self.upper {
            None | Some((i64::MIN, _)) => Bound::Unbounded,
            Some((token, true)) => Bound::Included(token),
            Some((token, false)) => Bound::Excluded(token),
        };
        let is_empty = match (lower, upper) {
            (Bound::Included(a), Bound::Included(b)) => a > b,
            (Bound::Included(a) | Bound::Excluded(a), Bound::Included(b) | Bound::Excluded(b)) => {
                a >= b
            }
            _ => false,
        };
        (!is_empty).then_some((lower, upper))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asked of Apache Cassandra 5.0.8 with tokens of three partitions, in this order.
    const TOKENS: [i64; 3] = [-7_509, -4_069, 9_010];

    fn check(
        lower: Option<(i64, bool)>,
        upper: Option<(i64, bool)>,
        named: &[i64],
        ranged: &[i64],
    ) {
        let bounds = TokenBounds { lower, upper };
        let found: Vec<i64> = TOKENS.into_iter().filter(|own| bounds.holds(*own)).collect();
        assert_eq!(found, named, "{bounds:?}");
        let range = bounds.range();
        let is_in =
            |own: &i64| range.is_some_and(|range| std::ops::RangeBounds::contains(&range, own));
        let found: Vec<i64> = TOKENS.into_iter().filter(is_in).collect();
        assert_eq!(found, ranged, "{bounds:?}");
    }

    #[test]
    fn bounds_are_a_range_and_a_test() {
        let ([first, second, third], least) = (TOKENS, i64::MIN);
        let open = |token: i64| Some((token, false));
        let closed = |token: i64| Some((token, true));
        for bounds in [(open(5), open(5)), (closed(5), open(5)), (open(5), closed(5))] {
            check(bounds.0, bounds.1, &[], &[]);
        }
        check(closed(third), closed(third), &[third], &[third]);
        check(open(first), None, &[second, third], &[second, third]);
        // Crossed: a range of nothing, and either side of a test.
        check(open(third), open(second), &[first], &[]);
        check(closed(third), open(second), &[first, third], &[]);
        check(closed(third), closed(second), &TOKENS, &[]);
        // The least token.
        for upper in [closed(least), open(least)] {
            check(None, upper, &[], &TOKENS);
            check(open(least), upper, &[], &TOKENS);
            check(closed(least), upper, &[], &TOKENS);
            check(open(second), upper, &[third], &[third]);
        }
        check(closed(least), None, &TOKENS, &TOKENS);
        check(open(least), closed(second), &[first, second], &[first, second]);
    }
}
