//! Defines the type of a scalar function, its signature and its body; registers none.

use std::sync::Arc;

use shelfmark_cql_protocol::CqlError;

use super::context::FunctionContext;
use crate::value::CqlType;

/// The body of a scalar function.
pub(super) type Body = Arc<
    dyn Fn(&dyn FunctionContext, &[Option<&[u8]>]) -> Result<Option<Vec<u8>>, CqlError>
        + Send
        + Sync,
>;

/// A function of values to a value.
#[derive(Clone)]
pub struct Scalar {
    /// The keyspace: `system` of functions that are always there.
    pub keyspace: Arc<str>,
    /// The name, without keyspace.
    pub name: String,
    /// The types of its arguments.
    pub arguments: Vec<CqlType>,
    /// The type of its value.
    pub returns: CqlType,
    pub(super) body: Body,
}

impl std::fmt::Debug for Scalar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", signature(&self.full_name(), &self.arguments))
    }
}

impl Scalar {
    /// Creates a function of a user's.
    pub fn of_user(
        (keyspace, name): (&str, &str),
        arguments: Vec<CqlType>,
        returns: CqlType,
        body: impl Fn(&dyn FunctionContext, &[Option<&[u8]>]) -> Result<Option<Vec<u8>>, CqlError>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        let keyspace = keyspace.into();
        Self { keyspace, name: name.to_owned(), arguments, returns, body: Arc::new(body) }
    }

    /// Returns its name with its keyspace.
    #[must_use]
    pub fn full_name(&self) -> String {
        format!("{}.{}", self.keyspace, self.name)
    }

    /// Creates a function that is null when an argument is null.
    pub(super) fn strict(
        name: &str,
        arguments: Vec<CqlType>,
        returns: CqlType,
        body: impl Fn(&[&[u8]]) -> Result<Option<Vec<u8>>, CqlError> + Send + Sync + 'static,
    ) -> Self {
        let meaningless: Vec<bool> = arguments.iter().map(CqlType::empty_is_meaningless).collect();
        let body: Body = Arc::new(move |_, values| {
            let values: Option<Vec<&[u8]>> = values
                .iter()
                .zip(&meaningless)
                .map(|(value, skip)| value.filter(|value| !(*skip && value.is_empty())))
                .collect();
            values.map_or(Ok(None), |values| body(&values))
        });
        Self { keyspace: native(), name: name.to_owned(), arguments, returns, body }
    }

    /// Creates a function of no arguments that asks for time or randomness.
    pub(super) fn of_context(
        name: &str,
        returns: CqlType,
        body: impl Fn(&dyn FunctionContext) -> Vec<u8> + Send + Sync + 'static,
    ) -> Self {
        let body: Body = Arc::new(move |context, _| Ok(Some(body(context))));
        Self { keyspace: native(), name: name.to_owned(), arguments: Vec::new(), returns, body }
    }

    /// Computes the value of the function.
    ///
    /// # Errors
    ///
    /// * `Invalid`, `FunctionFailure`: the arguments have no value.
    pub fn call(
        &self,
        context: &dyn FunctionContext,
        values: &[Option<&[u8]>],
    ) -> Result<Option<Vec<u8>>, CqlError> {
        (self.body)(context, values)
    }
}

/// Returns the keyspace of functions that are always there.
pub(super) fn native() -> Arc<str> {
    "system".into()
}

/// Writes a signature with its result as Cassandra lists them: `system.abs : (int) -> int`.
pub(super) fn full_signature(name: &str, arguments: &[CqlType], returns: &CqlType) -> String {
    // Tuples are frozen without saying so.
    let shown = |ty: &CqlType| {
        let text = ty.to_string();
        let inner = text.strip_prefix("frozen<").and_then(|own| own.strip_suffix('>'));
        inner.filter(|_| matches!(ty, CqlType::Tuple(_))).unwrap_or(&text).to_owned()
    };
    let arguments: Vec<String> = arguments.iter().map(shown).collect();
    format!("{name} : ({}) -> {}", arguments.join(", "), shown(returns))
}

/// Writes a signature as Cassandra's messages do: `system.abs(int)`.
fn signature(name: &str, arguments: &[CqlType]) -> String {
    let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
    format!("{name}({})", arguments.join(", "))
}

/// The numeric types, in the order of Cassandra's declarations.
pub(super) const NUMERIC: [CqlType; 9] = [
    CqlType::Tinyint,
    CqlType::Smallint,
    CqlType::Int,
    CqlType::Bigint,
    CqlType::Float,
    CqlType::Double,
    CqlType::Varint,
    CqlType::Decimal,
    CqlType::Counter,
];

pub(super) fn refused(name: &str, message: &str) -> CqlError {
    CqlError::invalid(format!("Function {name} {message}"))
}
