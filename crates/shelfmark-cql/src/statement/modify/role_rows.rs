//! Writes of `system_auth.roles`, whose rows are computed: what they set becomes changes of roles, as
//! scripts for Cassandra make a role a superuser or let it log in.
//!
//! What it is not: deletions, conditions, JSON and what roles are given to a role; there are statements
//! for those.

use shelfmark_cql_protocol::{BoundValue, CqlError, ErrorCode, Result};
use shelfmark_cql_syntax::ast::RoleOption;
use shelfmark_cql_types::term::EvalContext;
use shelfmark_engine::CellOperation;

use super::{Kind, Lists, Modify, operation};
use crate::auth::{Authority, RoleChange, User};
use crate::function_context::EngineContext;
use crate::schema::Table;

/// Returns true if a table shows the roles.
pub(crate) fn is_of_roles(table: &Table) -> bool {
    table.stored.is_none() && &*table.keyspace == "system_auth" && &*table.name == "roles"
}

/// Returns the refusal of what a table of the server's own does not take.
pub(super) fn not_modifiable(table: &Table) -> CqlError {
    let text = format!("{} keyspace is not user-modifiable.", table.keyspace);
    CqlError::new(ErrorCode::Unauthorized, text)
}

impl Modify {
    /// Runs a write of `system_auth.roles`.
    ///
    /// # Errors
    ///
    /// * `Unauthorized`: it is one that is not taken, or `user` is no superuser.
    /// * `Invalid`: a value does not fit.
    pub(crate) fn write_roles(
        &self,
        values: &[BoundValue],
        context: &EngineContext<'_>,
        authority: &Authority,
        user: Option<&User>,
    ) -> Result<()> {
        let env = EvalContext { context: Some(context), values, row: None };
        authority.write_roles(user, &self.role_changes(env)?)
    }

    fn role_changes(&self, env: EvalContext<'_>) -> Result<Vec<RoleChange>> {
        if self.kind == Kind::Delete || self.is_conditional() || self.json.is_some() {
            return Err(not_modifiable(&self.table));
        }
        let mut read = |_: Option<&[_]>| Ok(None);
        let mut lists = Lists { read: &mut read };
        let operations = operation::evaluate(&self.regular, env, &mut lists, None)?;
        let options: Vec<RoleOption> =
            operations.iter().map(|own| self.role_option(own)).collect::<Result<_>>()?;
        let name = |partition: &[u8]| String::from_utf8_lossy(partition).into_owned();
        let changes = self.changes(env)?;
        Ok(changes
            .iter()
            .map(|own| RoleChange { name: name(&own.partition), options: options.clone() })
            .collect())
    }

    fn role_option(&self, operation: &CellOperation) -> Result<RoleOption> {
        let (column, value) = match operation {
            CellOperation::Set { column, value } => (column, Some(value)),
            CellOperation::Delete { column } => (column, None),
            _ => return Err(not_modifiable(&self.table)),
        };
        let column = self.table.columns.iter().find(|own| own.id == *column);
        // Null is false, as where a role is read.
        let flag = value.is_some_and(|value| value.as_ref() == [1]);
        match (column.map(|own| &*own.name), value) {
            (Some("can_login"), _) => Ok(RoleOption::Login(flag)),
            (Some("is_superuser"), _) => Ok(RoleOption::Superuser(flag)),
            (Some("salted_hash"), Some(hash)) => {
                Ok(RoleOption::HashedPassword(String::from_utf8_lossy(hash).into()))
            }
            _ => Err(not_modifiable(&self.table)),
        }
    }
}
