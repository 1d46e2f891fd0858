//! Statements, and `DESCRIBE`.

use std::fmt::{self, Display, Formatter};

use super::names::{strictly_quoted, user_type};
use super::role::{grant, grant_role};
use crate::ast::{Describe, DescribeTarget, Dropped, QualifiedName, Statement};

impl Display for Statement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Statement::Select(statement) => statement.fmt(f),
            Statement::Insert(statement) => statement.fmt(f),
            Statement::Update(statement) => statement.fmt(f),
            Statement::Batch(statement) => statement.fmt(f),
            Statement::Delete(statement) => statement.fmt(f),
            Statement::Use(name) => write!(f, "USE {name}"),
            Statement::Truncate(table) => write!(f, "TRUNCATE {table}"),
            Statement::CreateKeyspace(statement) => statement.fmt(f),
            Statement::CreateTable(statement) => statement.fmt(f),
            Statement::CreateIndex(statement) => statement.fmt(f),
            Statement::DropKeyspace(dropped) => write!(f, "DROP KEYSPACE {dropped}"),
            Statement::DropTable(dropped) => write!(f, "DROP TABLE {dropped}"),
            Statement::DropIndex(dropped) => write!(f, "DROP INDEX {dropped}"),
            Statement::AlterTable(statement) => statement.fmt(f),
            Statement::AlterKeyspace(statement) => statement.fmt(f),
            Statement::GrantPermissions(granted) => {
                f.write_str("GRANT ")?;
                grant(f, granted, "TO")
            }
            Statement::RevokePermissions(revoked) => {
                f.write_str("REVOKE ")?;
                grant(f, revoked, "FROM")
            }
            Statement::ListPermissions(statement) => statement.fmt(f),
            Statement::CreateRole(statement) => statement.fmt(f),
            Statement::AlterRole(statement) => statement.fmt(f),
            Statement::DropRole(statement) => statement.fmt(f),
            Statement::ListUsers => f.write_str("LIST USERS"),
            _ => rest(f, self),
        }
    }
}

fn rest(f: &mut Formatter<'_>, statement: &Statement) -> fmt::Result {
    match statement {
        Statement::CreateTrigger(statement) => statement.fmt(f),
        Statement::DropTrigger(statement) => statement.fmt(f),
        Statement::CreateType(statement) => statement.fmt(f),
        Statement::AlterType(statement) => statement.fmt(f),
        Statement::DropType(dropped) => drop_type(f, dropped),
        Statement::CreateFunction(statement) => statement.fmt(f),
        Statement::DropFunction(dropped) => write!(f, "DROP FUNCTION {dropped}"),
        Statement::CreateAggregate(statement) => statement.fmt(f),
        Statement::DropAggregate(dropped) => write!(f, "DROP AGGREGATE {dropped}"),
        Statement::ListRoles(statement) => statement.fmt(f),
        Statement::ListSuperUsers => f.write_str("LIST SUPERUSERS"),
        Statement::GrantRole(granted) => {
            f.write_str("GRANT ")?;
            grant_role(f, granted, "TO")
        }
        Statement::RevokeRole(revoked) => {
            f.write_str("REVOKE ")?;
            grant_role(f, revoked, "FROM")
        }
        Statement::CreateView(statement) => statement.fmt(f),
        Statement::DropView(dropped) => write!(f, "DROP MATERIALIZED VIEW {dropped}"),
        Statement::AlterView(statement) => statement.fmt(f),
        Statement::Describe(statement) => statement.fmt(f),
        Statement::AddIdentity(statement) => statement.fmt(f),
        Statement::DropIdentity(statement) => statement.fmt(f),
        Statement::Transaction(statement) => statement.fmt(f),
        _ => Ok(()),
    }
}

fn drop_type(f: &mut Formatter<'_>, dropped: &Dropped) -> fmt::Result {
    write!(f, "DROP TYPE {}", super::schema::if_exists(dropped.if_exists))?;
    user_type(f, &dropped.name)
}

impl Display for Describe {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("DESCRIBE ")?;
        match &self.target {
            DescribeTarget::Cluster => f.write_str("CLUSTER")?,
            DescribeTarget::Schema { full: true } => f.write_str("FULL SCHEMA")?,
            DescribeTarget::Schema { full: false } => f.write_str("SCHEMA")?,
            DescribeTarget::Keyspaces => f.write_str("KEYSPACES")?,
            DescribeTarget::Keyspace { only, name } => {
                super::word(f, *only, "ONLY ")?;
                f.write_str("KEYSPACE")?;
                if let Some(name) = name {
                    write!(f, " {name}")?;
                }
            }
            DescribeTarget::Tables => f.write_str("TABLES")?,
            DescribeTarget::Table(name) => write!(f, "TABLE {name}")?,
            DescribeTarget::Index(name) => write!(f, "INDEX {name}")?,
            DescribeTarget::View(name) => write!(f, "MATERIALIZED VIEW {name}")?,
            DescribeTarget::Types => f.write_str("TYPES")?,
            DescribeTarget::Type(name) => {
                f.write_str("TYPE ")?;
                user_type(f, name)?;
            }
            DescribeTarget::Functions => f.write_str("FUNCTIONS")?,
            DescribeTarget::Function(name) => write!(f, "FUNCTION {name}")?,
            DescribeTarget::Aggregates => f.write_str("AGGREGATES")?,
            DescribeTarget::Aggregate(name) => write!(f, "AGGREGATE {name}")?,
            DescribeTarget::Any(name) => any(f, name)?,
        }
        super::word(f, self.with_internals, " WITH INTERNALS")
    }
}

/// Writes a name in quotes where it is a keyword: bare it would be taken as one.
fn any(f: &mut Formatter<'_>, name: &QualifiedName) -> fmt::Result {
    if let Some(keyspace) = &name.keyspace {
        write!(f, "{}.", strictly_quoted(keyspace))?;
    }
    f.write_str(&strictly_quoted(&name.name))
}
