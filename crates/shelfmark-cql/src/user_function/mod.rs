//! Functions and aggregates of users: what is known of them, and what calls them.
//!
//! Bodies are compiled and run by `shelfmark-java-subset`, which reaches nothing outside.
//!
//! What it is not: the statements that make them; and no place where a body is run while a lock is
//! held.
//!
//! Invariant: a function whose body this build cannot compile is kept, shown and dropped like any
//! other; calling it fails with what is wrong with its body.

mod convert;
#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::sync::{Arc, OnceLock};

use shelfmark_cql_protocol::{CqlError, ErrorCode, ErrorExtra, Result};
use shelfmark_cql_types::function::{self, Aggregate, FunctionContext, Resolved, Scalar};
use shelfmark_cql_types::{CqlType, UserTypes, fields, maybe_quote, resolve_type, to_literal};
use shelfmark_java_subset::{CompileError, DataType, Failure, Host, Program};

use crate::limits::{
    FUNCTION_BYTES_PER_STEP, FUNCTION_CALL_STEPS, FUNCTION_TIME_TEXT_MS, FUNCTION_VALUE_TIMES,
    FUNCTIONS_TIME_TEXT_MS,
};
use crate::schema::Schema;

/// A function of a user's.
#[derive(Debug, Clone)]
pub struct UserFunction {
    /// The keyspace.
    pub keyspace: Arc<str>,
    /// The name.
    pub name: Arc<str>,
    /// The names and types of its arguments.
    pub arguments: Vec<(Arc<str>, CqlType)>,
    /// The type of its value.
    pub returns: CqlType,
    /// True if it is called where an argument is null; else it is null then.
    pub called_on_null: bool,
    /// The language of its body.
    pub language: Arc<str>,
    /// Its body.
    pub body: Arc<str>,
    /// The compiled body, made when it is first asked for.
    program: Arc<OnceLock<std::result::Result<Program, CompileError>>>,
}

impl PartialEq for UserFunction {
    fn eq(&self, other: &Self) -> bool {
        (&self.keyspace, &self.name, &self.arguments, &self.returns)
            == (&other.keyspace, &other.name, &other.arguments, &other.returns)
            && (self.called_on_null, &self.language, &self.body)
                == (other.called_on_null, &other.language, &other.body)
    }
}

/// An aggregate of a user's.
#[derive(Debug, Clone, PartialEq)]
pub struct UserAggregate {
    /// The keyspace.
    pub keyspace: Arc<str>,
    /// The name.
    pub name: Arc<str>,
    /// The types of its arguments.
    pub arguments: Vec<CqlType>,
    /// The name of the function that makes the next state.
    pub state_function: Arc<str>,
    /// The type of the state.
    pub state_type: CqlType,
    /// The name of the function that makes the value of the last state.
    pub final_function: Option<Arc<str>>,
    /// The state before the first row.
    pub initial: Option<Vec<u8>>,
    /// The type of its value.
    pub returns: CqlType,
}

/// Returns the types of arguments as statements name them: `int, list<text>`.
pub(crate) fn listed(types: &[CqlType]) -> String {
    types.iter().map(shown).collect::<Vec<_>>().join(", ")
}

/// Returns a type as functions show it: user types live, tuples without saying that they are frozen.
pub(crate) fn shown(ty: &CqlType) -> String {
    match ty {
        CqlType::User { definition, frozen: true } => {
            shelfmark_cql_types::maybe_quote(&definition.name)
        }
        CqlType::Tuple(_) => {
            let text = ty.to_string();
            let inner = text.strip_prefix("frozen<").and_then(|own| own.strip_suffix('>'));
            inner.map_or_else(|| text.clone(), str::to_owned)
        }
        other => other.to_string(),
    }
}

impl UserFunction {
    /// Creates a function. Its body is compiled when it is first asked for.
    pub(crate) fn new(
        (keyspace, name): (&str, &str),
        arguments: Vec<(Arc<str>, CqlType)>,
        returns: CqlType,
        called_on_null: bool,
        language: &str,
        body: &str,
    ) -> Self {
        Self {
            keyspace: keyspace.into(),
            name: name.into(),
            arguments,
            returns,
            called_on_null,
            language: language.into(),
            body: body.into(),
            program: Arc::default(),
        }
    }

    fn program(&self) -> &std::result::Result<Program, CompileError> {
        self.program.get_or_init(|| {
            let parameters = self.arguments.iter();
            let parameters =
                parameters.map(|(name, ty)| (name.to_string(), convert::data_type(ty)));
            let returns = convert::data_type(&self.returns);
            Program::compile(parameters.collect(), returns, !self.called_on_null, &self.body)
        })
    }

    /// Returns what is wrong with the body.
    pub(crate) fn refusal(&self) -> Option<&CompileError> {
        self.program().as_ref().err()
    }

    /// Returns the types of its arguments.
    pub(crate) fn types(&self) -> Vec<CqlType> {
        self.arguments.iter().map(|(_, ty)| ty.clone()).collect()
    }

    /// Returns its name with the types of its arguments: `f(int, text)`.
    pub(crate) fn signature(&self) -> String {
        signature(&self.name, &self.types())
    }

    /// Returns the function as terms call it.
    pub(crate) fn scalar(&self, keyspace: &crate::schema::Keyspace) -> Scalar {
        let own = self.clone();
        let types: Vec<(String, CqlType)> = keyspace
            .types
            .iter()
            .map(|(name, definition)| {
                let definition = Arc::clone(definition);
                (name.clone(), CqlType::User { definition, frozen: true })
            })
            .collect();
        Scalar::of_user(
            (&self.keyspace, &self.name),
            self.types(),
            self.returns.clone(),
            move |context, values| own.call(context, values, &types),
        )
    }

    fn call(
        &self,
        context: &dyn FunctionContext,
        values: &[Option<&[u8]>],
        types: &[(String, CqlType)],
    ) -> Result<Option<Vec<u8>>> {
        let meaningless =
            |ty: &CqlType, value: &[u8]| value.is_empty() && ty.empty_is_meaningless();
        let pairs = || values.iter().zip(&self.arguments);
        let mut all = Vec::with_capacity(values.len());
        for (value, (_, ty)) in pairs() {
            let value = value.filter(|value| !meaningless(ty, value));
            if value.is_none() && !self.called_on_null {
                return Ok(None);
            }
            all.push(value);
        }
        let steps_left = context.steps_left()?;
        let program = match self.program() {
            Ok(program) => program,
            Err(error) => return Err(self.failed(error.to_string())),
        };
        let bytes: usize = all.iter().flatten().map(|value| value.len()).sum();
        let host = BodyHost {
            context,
            keyspace: &self.keyspace,
            types,
            steps_left: steps_left.saturating_sub(conversion_steps(bytes)),
            steps: Cell::new(conversion_steps(bytes)),
            argument_bytes: bytes.saturating_mul(FUNCTION_VALUE_TIMES),
        };
        if !host.has_room(0) {
            return Err(no_room());
        }
        let arguments =
            all.iter().zip(&self.arguments).map(|(value, (_, ty))| convert::to_java(ty, *value));
        let called = program.call(arguments.collect(), &host);
        let made = called.map(|result| convert::from_java(&self.returns, &result));
        let result_bytes = match &made {
            Ok(Ok(Some(bytes))) => bytes.len(),
            _ => 0,
        };
        let steps = host.steps.get().saturating_add(conversion_steps(result_bytes));
        context.took(steps, result_bytes)?;
        match made {
            Ok(result) => result.map_err(|text| self.failed(text)),
            Err(failure) if failure.is_refused => Err(no_room()),
            Err(failure) => Err(self.failed(self.failure_text(failure, context)?)),
        }
    }

    /// Returns the text of a failure: of a call that took too long, or of all of them together.
    fn failure_text(&self, failure: Failure, context: &dyn FunctionContext) -> Result<String> {
        let (text, name) = (failure.text, self.full_signature());
        Ok(match failure.is_too_long {
            true if context.steps_left()? == 0 => format!(
                "{text}: User defined functions of one request, {name} the last of them, ran longer than \
                 {FUNCTIONS_TIME_TEXT_MS}ms together; ask for fewer rows, or for smaller pages"
            ),
            true => {
                format!(
                    "{text}: User defined function {name} ran longer than {FUNCTION_TIME_TEXT_MS}ms"
                )
            }
            false => text,
        })
    }

    fn full_signature(&self) -> String {
        format!("{}.{} : ({}) -> {}", self.keyspace, self.name, listed(&self.types()), self.returns)
    }

    fn failed(&self, text: String) -> CqlError {
        CqlError {
            code: ErrorCode::FunctionFailure,
            message: text,
            extra: ErrorExtra::Function {
                keyspace: self.keyspace.to_string(),
                name: self.name.to_string(),
                arguments: self.types().iter().map(ToString::to_string).collect(),
            },
        }
    }
}

/// Returns a name with types of arguments.
pub(crate) fn signature(name: &str, types: &[CqlType]) -> String {
    format!("{name}({})", listed(types))
}

impl UserAggregate {
    /// Returns its name with the types of its arguments: `f(int, text)`.
    pub(crate) fn signature(&self) -> String {
        signature(&self.name, &self.arguments)
    }

    /// Returns its first state as a constant of CQL.
    pub(crate) fn initial_text(&self) -> Option<String> {
        let initial = self.initial.as_ref()?;
        let CqlType::User { definition, .. } = &self.state_type else {
            return Some(to_literal(&self.state_type, Some(initial)));
        };
        // Fields that the type has got since are not there.
        let parts = definition.fields.iter().zip(fields(initial)).map(|((name, ty), value)| {
            format!("{}: {}", maybe_quote(name), to_literal(ty, value.ok().flatten()))
        });
        Some(format!("{{{}}}", parts.collect::<Vec<_>>().join(", ")))
    }

    /// Returns the types of the arguments of its state function.
    pub(crate) fn state_types(&self) -> Vec<CqlType> {
        std::iter::once(&self.state_type).chain(&self.arguments).cloned().collect()
    }

    /// Returns true if it calls a function.
    pub(crate) fn uses(&self, function: &UserFunction) -> bool {
        let types = function.types();
        let is_state = self.state_function == function.name && same(&types, &self.state_types());
        let is_last = self.final_function.as_ref() == Some(&function.name)
            && same(&types, std::slice::from_ref(&self.state_type));
        is_state || is_last
    }

    /// Returns the aggregate as selections call it; `None` if a function of it is not there.
    pub(crate) fn aggregate(&self, keyspace: &crate::schema::Keyspace) -> Option<Aggregate> {
        let state = keyspace.function(&self.state_function, &self.state_types())?;
        let last = match &self.final_function {
            Some(name) => Some(keyspace.function(name, std::slice::from_ref(&self.state_type))?),
            None => None,
        };
        let functions = function::UserAggregate {
            is_strict: !state.called_on_null,
            state: state.scalar(keyspace),
            last: last.map(|own| own.scalar(keyspace)),
            initial: self.initial.clone(),
        };
        Some(Aggregate::of_user(
            (&self.keyspace, &self.name),
            self.arguments.clone(),
            self.returns.clone(),
            functions,
        ))
    }
}

/// Compares types of arguments; whether they are frozen makes no difference.
pub(crate) fn same(one: &[CqlType], other: &[CqlType]) -> bool {
    let frozen = |own: &[CqlType]| own.iter().map(CqlType::freeze).collect::<Vec<_>>();
    one.len() == other.len() && frozen(one) == frozen(other)
}

impl crate::schema::Keyspace {
    /// Returns the function of a name and types of arguments.
    pub(crate) fn function(&self, name: &str, types: &[CqlType]) -> Option<&Arc<UserFunction>> {
        self.functions.iter().find(|own| *own.name == *name && same(&own.types(), types))
    }

    /// Returns the functions and aggregates of a name, as calls find them.
    pub(crate) fn callable(&self, name: &str) -> Vec<Resolved> {
        let functions = self.functions.iter().filter(|own| *own.name == *name);
        let aggregates = self.aggregates.iter().filter(|own| *own.name == *name);
        let functions = functions.map(|own| Resolved::Scalar(own.scalar(self)));
        functions
            .chain(aggregates.filter_map(|own| own.aggregate(self).map(Resolved::Aggregate)))
            .collect()
    }
}

/// Returns the steps of turning so many bytes into values of a body, or back.
fn conversion_steps(bytes: usize) -> u64 {
    let steps = u64::try_from(bytes / FUNCTION_BYTES_PER_STEP).unwrap_or(u64::MAX);
    steps.saturating_add(FUNCTION_CALL_STEPS)
}

fn no_room() -> CqlError {
    CqlError::overloaded(
        "The memory budget has no room for what a function of this statement makes; come again later",
    )
}

/// Offers a body types, time and randomness, and accounts for what it takes.
struct BodyHost<'c> {
    context: &'c dyn FunctionContext,
    keyspace: &'c str,
    types: &'c [(String, CqlType)],
    steps_left: u64,
    /// Steps that were taken, those of the conversion included.
    steps: Cell<u64>,
    /// The memory that the arguments take.
    argument_bytes: usize,
}

/// User types of one keyspace.
struct Known<'t>(&'t [(String, CqlType)]);

impl UserTypes for Known<'_> {
    fn user_type(&self, _: &str, name: &str) -> Option<&Arc<shelfmark_cql_types::UserType>> {
        self.0.iter().find_map(|(own, ty)| match ty {
            CqlType::User { definition, .. } if own == name => Some(definition),
            _ => None,
        })
    }
}

impl Host for BodyHost<'_> {
    fn find_type(&self, text: &str) -> Option<DataType> {
        let parsed = shelfmark_cql_syntax::parse_type(text).ok()?;
        let found = resolve_type(&parsed, self.keyspace, &Known(self.types)).ok()?;
        Some(convert::data_type(&found))
    }

    fn now_milliseconds(&self) -> i64 {
        i64::try_from(self.context.now_micros() / 1_000).unwrap_or(i64::MAX)
    }

    fn random(&self) -> u128 {
        let mut bytes = [0; 16];
        self.context.fill_random(&mut bytes);
        u128::from_be_bytes(bytes)
    }

    fn steps_left(&self) -> u64 {
        self.steps_left
    }

    fn took(&self, steps: u64) {
        self.steps.set(self.steps.get().saturating_add(steps));
    }

    fn has_room(&self, bytes: usize) -> bool {
        // Buffers that grow are up to twice as large as what is in them.
        self.context.has_room(self.argument_bytes.saturating_add(bytes.saturating_mul(2)))
    }
}

/// Returns a type that is stored as CQL writes it.
pub(crate) fn stored_type(text: &str, keyspace: &str, schema: &dyn UserTypes) -> Option<CqlType> {
    let parsed = shelfmark_cql_syntax::parse_type(text).ok()?;
    resolve_type(&parsed, keyspace, schema).ok()
}

/// Returns the functions and aggregates of a keyspace that there is, as calls find them.
pub(crate) fn found(schema: &Schema, keyspace: &str, name: &str) -> Vec<Resolved> {
    schema.keyspace(keyspace).map(|own| own.callable(name)).unwrap_or_default()
}
