//! Aggregates: `count`, `min`, `max`, `sum`, `avg`, and those of users, which two functions make.

use std::cmp::Ordering;
use std::sync::Arc;

use num_bigint::BigInt;
use shelfmark_cql_protocol::CqlError;

use super::context::FunctionContext;
use super::float_sum::FloatSum;
use super::numeric::{Number, compute, divide_half_even, is_numeric};
use super::resolve::untyped_argument;
use super::scalar::{Scalar, native};
use crate::value::{CqlType, Native, compare};

/// An aggregate of known types.
#[derive(Debug, Clone)]
pub struct Aggregate {
    /// The keyspace: `system` of aggregates that are always there.
    pub keyspace: Arc<str>,
    /// The name, without keyspace.
    pub name: String,
    /// The types of its arguments.
    pub arguments: Vec<CqlType>,
    /// The type of its value.
    pub returns: CqlType,
    kind: Kind,
    user: Option<Arc<UserAggregate>>,
}

/// The functions of an aggregate of a user's.
#[derive(Debug, Clone)]
pub struct UserAggregate {
    /// Makes the next state of the state and the arguments of a row.
    pub state: Scalar,
    /// True if the state function is not called with nulls: a row that has some changes nothing.
    pub is_strict: bool,
    /// Makes the value of the last state.
    pub last: Option<Scalar>,
    /// The state before the first row.
    pub initial: Option<Vec<u8>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    User,
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
    /// The least or greatest value, or the state of a user's aggregate.
    best: Option<Vec<u8>>,
    sum: Option<Number>,
    floats: FloatSum,
    user: Option<Arc<UserAggregate>>,
}

/// Returns the aggregates of this name.
pub(super) fn candidates(
    name: &str,
    arguments: &[Option<CqlType>],
    texts: &[String],
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
        return Err(CqlError::invalid(match name {
            "count" => format!(
                "Invalid number of arguments in call to function system.count: 1 required but {} provided",
                arguments.len()
            ),
            _ => format!("Invalid number of arguments for function system.{name}(any)"),
        }));
    };
    let ty = match argument {
        Some(ty) => ty,
        // Whatever is not null is counted.
        None if name == "count" => &CqlType::Blob,
        None if numeric => return Ok(Some(all_numeric(name))),
        None => {
            let text = texts.first().map_or("?", String::as_str);
            return Err(untyped_argument(text, &format!("{name}(any)")));
        }
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

/// Returns `sum` or `avg` of each type of numbers, sorted by type as refusals list them.
fn all_numeric(name: &str) -> Vec<Aggregate> {
    let mut types: Vec<&CqlType> = super::scalar::NUMERIC.iter().collect();
    types.sort_by_key(|ty| ty.to_string());
    let of = if name == "sum" { Aggregate::sum } else { Aggregate::average };
    types.into_iter().filter_map(of).collect()
}

fn no_numeric_match(name: &str) -> CqlError {
    let full = format!("system.{name}");
    let known: Vec<String> = super::scalar::NUMERIC
        .iter()
        .map(|ty| super::scalar::full_signature(&full, std::slice::from_ref(ty), ty))
        .collect();
    CqlError::invalid(format!(
        "Invalid call to function {name}, none of its type signatures match (known type signatures: {})",
        known.join(", ")
    ))
}

impl Aggregate {
    fn new(name: &'static str, ty: &CqlType, returns: CqlType, kind: Kind) -> Self {
        Self {
            keyspace: native(),
            name: name.to_owned(),
            arguments: vec![ty.clone()],
            returns,
            kind,
            user: None,
        }
    }

    /// Creates `COUNT(*)`.
    pub fn count_rows() -> Self {
        Self {
            keyspace: native(),
            name: "countRows".to_owned(),
            arguments: Vec::new(),
            returns: CqlType::Bigint,
            kind: Kind::CountRows,
            user: None,
        }
    }

    /// Creates an aggregate of a user's.
    #[must_use]
    pub fn of_user(
        (keyspace, name): (&str, &str),
        arguments: Vec<CqlType>,
        returns: CqlType,
        functions: UserAggregate,
    ) -> Self {
        let user = Some(Arc::new(functions));
        let (keyspace, name) = (keyspace.into(), name.to_owned());
        Self { keyspace, name, arguments, returns, kind: Kind::User, user }
    }

    /// Returns the function that is called for each row, and the one that is called at the end.
    #[must_use]
    pub fn user_functions(&self) -> Option<&UserAggregate> {
        self.user.as_deref()
    }

    /// Returns its name with its keyspace.
    #[must_use]
    pub fn full_name(&self) -> String {
        format!("{}.{}", self.keyspace, self.name)
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
            best: self.user.as_ref().and_then(|own| own.initial.clone()),
            sum: None,
            floats: FloatSum::default(),
            user: self.user.clone(),
        }
    }
}

impl Accumulator {
    /// Adds the arguments of one row.
    ///
    /// # Errors
    ///
    /// * `Invalid`: the sum cannot be represented.
    /// * `FunctionFailure`: the state function failed.
    pub fn add(
        &mut self,
        context: &dyn FunctionContext,
        values: &[Option<&[u8]>],
    ) -> Result<(), CqlError> {
        if let Some(user) = &self.user {
            if user.is_strict && (self.best.is_none() || values.iter().any(Option::is_none)) {
                return Ok(());
            }
            let state = std::iter::once(self.best.as_deref());
            let all: Vec<Option<&[u8]>> = state.chain(values.iter().copied()).collect();
            self.best = user.state.call(context, &all)?;
            return Ok(());
        }
        self.add_values(values)
    }

    /// Adds the arguments of one row to an aggregate that is always there.
    pub(super) fn add_values(&mut self, values: &[Option<&[u8]>]) -> Result<(), CqlError> {
        if self.kind == Kind::CountRows {
            self.count += 1;
            return Ok(());
        }
        let Some(value) = values.first().copied().flatten() else { return Ok(()) };
        match self.kind {
            Kind::CountRows | Kind::Count | Kind::User => self.count += 1,
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
                if let Number::Float(value) = number {
                    self.floats.add(value);
                    return Ok(());
                }
                if self.kind == Kind::Average
                    && let Number::Decimal(..) = &number
                {
                    self.sum = Some(self.moved(&number).map_err(CqlError::invalid)?);
                    return Ok(());
                }
                // Sums of fixed integers wrap around at the end; averages must not.
                let wide = match &self.ty {
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

    /// Returns how many bytes the state of a user's aggregate has; 0 of one that is always there.
    #[must_use]
    pub fn state_bytes(&self) -> usize {
        let state = self.best.as_ref().filter(|_| self.user.is_some());
        state.map_or(0, Vec::len)
    }

    /// Returns the value of the aggregate over the rows that were added.
    ///
    /// # Errors
    ///
    /// * `FunctionFailure`: the function of a user's that is called at the end failed.
    pub fn finish(&self, context: &dyn FunctionContext) -> Result<Option<Vec<u8>>, CqlError> {
        if let Some(last) = self.user.as_ref().and_then(|own| own.last.as_ref()) {
            return last.call(context, &[self.best.as_deref()]);
        }
        Ok(self.value())
    }

    /// Returns the value of an aggregate that is always there.
    pub(super) fn value(&self) -> Option<Vec<u8>> {
        match self.kind {
            Kind::CountRows | Kind::Count => Some(self.count.to_be_bytes().to_vec()),
            Kind::Min | Kind::Max | Kind::User => self.best.clone(),
            Kind::Sum if self.is_of_floats() => {
                Number::Float(self.floats.value()).write(&self.returns)
            }
            Kind::Sum => {
                self.sum.clone().unwrap_or(Number::Integer(BigInt::ZERO)).write(&self.returns)
            }
            Kind::Average => self.average(),
        }
    }

    /// Returns the average of decimals once one more has come: the one before, moved towards it, and
    /// rounded at each step to the places that both have.
    ///
    /// Source: Cassandra 5.0, `AggregateFcts.makeAvgFunction` of decimals, read 2026-11.
    fn moved(&self, number: &Number) -> Result<Number, &'static str> {
        let zero = Number::Decimal(BigInt::ZERO, 0);
        let average = self.sum.as_ref().unwrap_or(&zero);
        let far = compute('-', number, average, &CqlType::Decimal)?;
        let Some((unscaled, scale)) = far.to_decimal() else { return Ok(average.clone()) };
        let step = divide_half_even(&unscaled, &BigInt::from(self.count));
        compute('+', average, &Number::Decimal(step, scale), &CqlType::Decimal)
    }

    fn average(&self) -> Option<Vec<u8>> {
        if self.count == 0 {
            return Number::Integer(BigInt::ZERO).write(&self.returns);
        }
        if self.is_of_floats() {
            return Number::Float(self.floats.average(self.count)).write(&self.returns);
        }
        let sum = self.sum.as_ref()?;
        let count = Number::Integer(BigInt::from(self.count));
        let number = match self.returns {
            CqlType::Native(Native::Decimal) => sum.clone(),
            _ => compute('/', sum, &count, &CqlType::Varint).ok()?,
        };
        number.write(&self.returns)
    }

    fn is_of_floats(&self) -> bool {
        matches!(self.ty, CqlType::Native(Native::Float | Native::Double))
    }
}
