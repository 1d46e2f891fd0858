//! The upper bound of rows that one call reads, as a certificate states it.
//!
//! Invariant: the text of a bound, which is its machine form, is read back as the same bound.

use serde::{Deserialize, Serialize};

use crate::model::pattern::Param;
use crate::model::{Term, Value};

/// An upper bound of rows, or that there is none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum RowsMax {
    /// No maximum is declared.
    #[default]
    Unbounded,
    /// The product of these.
    Product(Vec<Factor>),
    /// The sum of these products.
    Sum(Vec<Vec<Factor>>),
}

/// One factor of a bound.
#[derive(Debug, Clone, PartialEq)]
pub enum Factor {
    /// A number.
    Number(f64),
    /// The value of an input, by its name.
    Input(String),
}

/// The word for [`RowsMax::Unbounded`].
const UNBOUNDED: &str = "unbounded";

impl RowsMax {
    /// Returns the bound of a number of rows.
    #[must_use]
    pub fn number(rows: f64) -> Self {
        Self::Product(vec![Factor::Number(rows)])
    }

    /// Returns the bound that a limit sets.
    #[must_use]
    pub fn limit(params: &[Param], limit: &Term) -> Self {
        Self::from(super::text::params_term(params, limit))
    }

    /// Returns the bound of so many ranges with this bound each.
    #[must_use]
    pub fn times(self, ranges: f64) -> Self {
        match self {
            Self::Unbounded => Self::Unbounded,
            Self::Product(mut factors) => {
                factors.insert(0, Factor::Number(ranges));
                Self::Product(factors)
            }
            Self::Sum(mut terms) => {
                terms.iter_mut().for_each(|term| term.insert(0, Factor::Number(ranges)));
                Self::Sum(terms)
            }
        }
    }

    /// Returns the bound of what two reads return together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        if let (Some(a), Some(b)) = (self.as_number(), other.as_number()) {
            return Self::number(a + b);
        }
        let terms = |bound| match bound {
            Self::Unbounded => None,
            Self::Product(factors) => Some(vec![factors]),
            Self::Sum(terms) => Some(terms),
        };
        match (terms(self), terms(other)) {
            (Some(mut all), Some(more)) => {
                all.extend(more);
                Self::Sum(all)
            }
            _ => Self::Unbounded,
        }
    }

    /// Returns the bound if it is one number, whatever the inputs.
    #[must_use]
    pub fn as_number(&self) -> Option<f64> {
        match self {
            Self::Product(factors) => match factors.as_slice() {
                [Factor::Number(number)] => Some(*number),
                _ => None,
            },
            Self::Sum(_) | Self::Unbounded => None,
        }
    }

    /// Computes the bound of one call; `None` where there is none.
    #[must_use]
    pub fn of_call(&self, params: &[Param], inputs: &[Value]) -> Option<usize> {
        let terms: &[Vec<Factor>] = match self {
            Self::Unbounded => return None,
            Self::Product(factors) => std::slice::from_ref(factors),
            Self::Sum(terms) => terms,
        };
        terms.iter().try_fold(0, |rows: usize, term| {
            Some(rows.saturating_add(product(term, params, inputs)?))
        })
    }
}

/// Computes a product of one call.
fn product(factors: &[Factor], params: &[Param], inputs: &[Value]) -> Option<usize> {
    factors.iter().try_fold(1, |rows: usize, factor| {
        let number = match factor {
            // A declared number of rows is far below 2^53.
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "the number is checked to fit"
            )]
            Factor::Number(number) if (0.0..9e15).contains(number) => *number as usize,
            Factor::Number(_) => return None,
            Factor::Input(name) => {
                let at = params.iter().position(|param| param.name == *name)?;
                let Value::Int(n) = inputs.get(at)? else { return None };
                usize::try_from(*n).ok()?
            }
        };
        Some(rows.saturating_mul(number))
    })
}

impl From<String> for RowsMax {
    fn from(text: String) -> Self {
        if text == UNBOUNDED {
            return Self::Unbounded;
        }
        let factor = |one: &str| match one.parse() {
            Ok(number) => Factor::Number(number),
            Err(_) => Factor::Input(one.to_owned()),
        };
        let product = |text: &str| text.split(" x ").map(factor).collect();
        match text.contains(" + ") {
            true => Self::Sum(text.split(" + ").map(product).collect()),
            false => Self::Product(product(&text)),
        }
    }
}

impl From<RowsMax> for String {
    fn from(bound: RowsMax) -> Self {
        bound.to_string()
    }
}

impl std::fmt::Display for RowsMax {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let terms: &[Vec<Factor>] = match self {
            Self::Unbounded => return out.write_str(UNBOUNDED),
            Self::Product(factors) => std::slice::from_ref(factors),
            Self::Sum(terms) => terms,
        };
        for (at, factors) in terms.iter().enumerate() {
            if at > 0 {
                out.write_str(" + ")?;
            }
            for (at, factor) in factors.iter().enumerate() {
                if at > 0 {
                    out.write_str(" x ")?;
                }
                match factor {
                    Factor::Number(number) => write!(out, "{number}")?,
                    Factor::Input(name) => out.write_str(name)?,
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Type;

    /// The bound of several requests is the sum of theirs, as text and as a number.
    #[test]
    fn bounds_of_requests_add_up() {
        let input = |name: &str| RowsMax::from(name.to_owned());
        let (one, two) = (RowsMax::number(1.0), RowsMax::number(25.0));
        assert_eq!(one.clone().plus(two.clone()), RowsMax::number(26.0));
        assert_eq!(one.clone().plus(RowsMax::Unbounded), RowsMax::Unbounded);
        let sum = one.clone().plus(input("n").times(3.0)).plus(two);
        assert_eq!(sum.to_string(), "1 + 3 x n + 25");
        assert_eq!(RowsMax::from(sum.to_string()), sum);
        assert_eq!(sum.as_number(), None);
        let params = [Param { name: "n".to_owned(), ty: Type::Int(None) }];
        assert_eq!(sum.of_call(&params, &[Value::Int(4)]), Some(38));
        assert_eq!(sum.of_call(&params, &[Value::Int(-1)]), None);
        assert_eq!(sum.times(2.0).to_string(), "2 x 1 + 2 x 3 x n + 2 x 25");
        assert_eq!(one.of_call(&params, &[]), Some(1));
    }
}
