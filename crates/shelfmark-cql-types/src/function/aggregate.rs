//! Aggregates: `count`, `min`, `max`, `sum`, `avg`.

use std::cmp::Ordering;

use num_bigint::BigInt;
use num_traits::Signed as _;
use shelfmark_cql_protocol::CqlError;

use super::numeric::{Number, compute, is_numeric};
use crate::value::{CqlType, Native, compare};

/// An aggregate of known types.
#[derive(Debug, Clone)]
pub struct Aggregate {
    /// The name, without keyspace.
    pub name: &'static str,
    /// The types of its arguments.
    pub arguments: Vec<CqlType>,
    /// The type of its value.
    pub returns: CqlType,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    CountRows,
    Count,
    Min,
    Max,
    Sum,
    Average,
}

/// Holds the state of an aggregate between two rows.
#[derive(Debug, Clone)]
pub struct Accumulator {
    kind: Kind,
    ty: CqlType,
    returns: CqlType,
    count: i64,
    best: Option<Vec<u8>>,
    sum: Option<Number>,
}

/// Returns the aggregates of this name.
pub(super) fn candidates(
    name: &str,
    arguments: &[Option<CqlType>],
) -> Result<Option<Vec<Aggregate>>, CqlError> {
    let kinds = ["count", "count_rows", "min", "max", "sum", "avg"];
    if !kinds.contains(&name) {
        return Ok(None);
    }
    if name == "count_rows" {
        return Ok(Some(vec![Aggregate::count_rows()]));
    }
    let numeric = matches!(name, "sum" | "avg");
    let [argument] = arguments else {
        if numeric {
            return Err(no_numeric_match(name));
        }
        return Err(CqlError::invalid(format!(
            "Invalid number of arguments in call to function system.{name}: 1 required but {} provided",
            arguments.len()
        )));
    };
    let Some(ty) = argument else {
        return Err(CqlError::invalid(format!(
            "Cannot infer type of argument 1 in call to function system.{name}"
        )));
    };
    let found = match name {
        "count" => Some(Aggregate::new("count", ty, CqlType::Bigint, Kind::Count)),
        "min" => Some(Aggregate::new("min", ty, ty.clone(), Kind::Min)),
        "max" => Some(Aggregate::new("max", ty, ty.clone(), Kind::Max)),
        "sum" => Aggregate::sum(ty),
        _ => Aggregate::average(ty),
    };
    match found {
        Some(found) => Ok(Some(vec![found])),
        None => Err(no_numeric_match(name)),
    }
}

fn no_numeric_match(name: &str) -> CqlError {
    let known: Vec<String> = super::scalar::NUMERIC
        .iter()
        .map(|ty| super::scalar::full_signature(name, std::slice::from_ref(ty), ty))
        .collect();
    CqlError::invalid(format!(
        "Invalid call to function {name}, none of its type signatures match (known type signatures: {})",
        known.join(", ")
    ))
}

impl Aggregate {
    fn new(name: &'static str, ty: &CqlType, returns: CqlType, kind: Kind) -> Self {
        Self { name, arguments: vec![ty.clone()], returns, kind }
    }

    /// Creates `COUNT(*)`.
    pub fn count_rows() -> Self {
        Self {
            name: "countRows",
            arguments: Vec::new(),
            returns: CqlType::Bigint,
            kind: Kind::CountRows,
        }
    }

    /// Returns the sum of numbers; its type is theirs.
    pub(super) fn sum(ty: &CqlType) -> Option<Self> {
        is_numeric(ty).then(|| Self::new("sum", ty, ty.clone(), Kind::Sum))
    }

    /// Returns the average of numbers; its type is theirs.
    pub(super) fn average(ty: &CqlType) -> Option<Self> {
        is_numeric(ty).then(|| Self::new("avg", ty, ty.clone(), Kind::Average))
    }

    /// Creates the state before the first row.
    pub fn start(&self) -> Accumulator {
        Accumulator {
            kind: self.kind,
            ty: self.arguments.first().cloned().unwrap_or(CqlType::Blob),
            returns: self.returns.clone(),
            count: 0,
            best: None,
            sum: None,
        }
    }
}

impl Accumulator {
    /// Adds the arguments of one row.
    ///
    /// # Errors
    ///
    /// * `Invalid`: the sum cannot be represented.
    pub fn add(&mut self, values: &[Option<&[u8]>]) -> Result<(), CqlError> {
        if self.kind == Kind::CountRows {
            self.count += 1;
            return Ok(());
        }
        let Some(value) = values.first().copied().flatten() else { return Ok(()) };
        match self.kind {
            Kind::CountRows | Kind::Count => self.count += 1,
            Kind::Min | Kind::Max => {
                let wanted =
                    if self.kind == Kind::Min { Ordering::Less } else { Ordering::Greater };
                if self.best.as_deref().is_none_or(|best| compare(&self.ty, value, best) == wanted)
                {
                    self.best = Some(value.to_vec());
                }
            }
            Kind::Sum | Kind::Average => {
                let Some(number) = Number::read(&self.ty, value) else { return Ok(()) };
                self.count += 1;
                // Sums of fixed integers wrap around at the end; averages must not.
                let wide = match &self.ty {
                    CqlType::Native(Native::Float | Native::Double) => CqlType::Double,
                    CqlType::Native(Native::Decimal) => CqlType::Decimal,
                    _ => CqlType::Varint,
                };
                let sum = match self.sum.take() {
                    Some(sum) => compute('+', &sum, &number, &wide).map_err(CqlError::invalid)?,
                    None => number,
                };
                self.sum = Some(sum);
            }
        }
        Ok(())
    }

    /// Returns the value of the aggregate over the rows that were added.
    pub fn finish(&self) -> Option<Vec<u8>> {
        match self.kind {
            Kind::CountRows | Kind::Count => Some(self.count.to_be_bytes().to_vec()),
            Kind::Min | Kind::Max => self.best.clone(),
            Kind::Sum => {
                self.sum.clone().unwrap_or(Number::Integer(BigInt::ZERO)).write(&self.returns)
            }
            Kind::Average => self.average(),
        }
    }

    fn average(&self) -> Option<Vec<u8>> {
        let zero = || Number::Integer(BigInt::ZERO);
        let Some(sum) = &self.sum else { return zero().write(&self.returns) };
        let count = Number::Integer(BigInt::from(self.count));
        let number = match self.returns {
            CqlType::Native(Native::Decimal) => {
                let (unscaled, scale) = sum.to_decimal()?;
                Number::Decimal(divide_half_even(&unscaled, &BigInt::from(self.count)), scale)
            }
            CqlType::Native(Native::Float | Native::Double) => {
                compute('/', sum, &count, &CqlType::Double).ok()?
            }
            _ => compute('/', sum, &count, &CqlType::Varint).ok()?,
        };
        number.write(&self.returns)
    }
}

/// Divides and rounds to the nearest, of two equally near to the even one: averages of decimals keep
/// the sum's scale.
fn divide_half_even(number: &BigInt, by: &BigInt) -> BigInt {
    let (quotient, rest) = (number / by, number % by);
    let twice: BigInt = rest.abs() * 2_i32;
    let step = BigInt::from(if number.is_negative() { -1 } else { 1 });
    let odd = (&quotient % 2_i32) != BigInt::ZERO;
    match twice.cmp(by) {
        Ordering::Greater => quotient + step,
        Ordering::Equal if odd => quotient + step,
        _ => quotient,
    }
}
