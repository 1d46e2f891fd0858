//! The parts of a request beside its statement: its level, its timestamp, and how much its functions may take.
//!
//! What it is not: the options themselves, which are `outcome`'s.

use shelfmark_cql_protocol::{BoundValue, Consistency, CqlError, Result};
use shelfmark_cql_types::term::Expr;

use super::Executor;
use super::modify::Modify;
use crate::function_context::EngineContext;
use crate::outcome::RequestOptions;

impl Executor {
    /// Refuses a level of conditional writes that a keyspace's replication does not have: data centres
    /// are known to one strategy alone.
    pub(super) fn check_level<'m>(
        &self,
        all: impl IntoIterator<Item = &'m Modify>,
        level: Consistency,
    ) -> Result<()> {
        const SIMPLE: &str = "org.apache.cassandra.locator.SimpleStrategy";
        let first = all.into_iter().find(|own| own.is_conditional());
        let Some(first) = first.filter(|_| level == Consistency::EachQuorum) else { return Ok(()) };
        let schema = self.schema();
        let replication = schema.keyspace(&first.table.keyspace).map(|own| &own.replication);
        let is_simple = |own: &Vec<(String, String)>| {
            own.iter().any(|(name, class)| name == "class" && class == SIMPLE)
        };
        if replication.is_some_and(is_simple) {
            return Err(CqlError::invalid(format!(
                "consistency level EACH_QUORUM not compatible with replication strategy ({SIMPLE})"
            )));
        }
        Ok(())
    }

    /// Returns what functions of a request ask for.
    pub(super) fn context<'r>(&'r self, options: &'r RequestOptions) -> EngineContext<'r> {
        let environment = self.engine.environment();
        EngineContext::of_request(environment, options, &*self.pool, self.user_functions)
    }

    pub(super) fn batch_timestamp(
        &self,
        expr: Option<&Expr>,
        values: &[BoundValue],
        options: &RequestOptions,
    ) -> Result<Option<i64>> {
        let Some(expr) = expr else { return Ok(None) };
        let context = self.context(options);
        let env =
            shelfmark_cql_types::term::EvalContext { context: Some(&context), values, row: None };
        match expr.eval(env)? {
            BoundValue::Bytes(bytes) => bytes
                .as_ref()
                .try_into()
                .map(|bytes| Some(i64::from_be_bytes(bytes)))
                .map_err(|_| CqlError::invalid("Invalid timestamp value")),
            BoundValue::Unset => Ok(None),
            BoundValue::Null => Err(CqlError::invalid("Invalid null value of timestamp")),
        }
    }
}
