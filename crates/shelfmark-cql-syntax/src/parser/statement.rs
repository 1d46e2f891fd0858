//! The rule for a statement of any kind.

use super::cursor::{Parse, Parser};
use crate::ast::{RoleSyntax, Statement};
use crate::lexer::Kind;

impl Parser<'_> {
    /// Parses one statement.
    pub(super) fn statement(&mut self) -> Parse<Statement> {
        let first = self.now();
        match first {
            Kind::Create => return self.create(),
            Kind::Drop => return self.drop_statement(),
            Kind::Alter => return self.alter(),
            Kind::Grant | Kind::Revoke => return self.grant_or_revoke(),
            Kind::List => return self.list_statement(),
            _ => self.looked(2),
        }
        Ok(match first {
            Kind::Select => Statement::Select(self.select()?),
            Kind::Insert => Statement::Insert(self.insert()?),
            Kind::Update => Statement::Update(self.update()?),
            Kind::Delete => Statement::Delete(self.delete()?),
            Kind::Begin => {
                self.bump();
                // Of a transaction that does not parse, the original's message is given, which
                // knows only batches.
                let transaction = self.is_word("transaction");
                match if transaction { self.attempt(Self::transaction)? } else { None } {
                    Some(transaction) => Statement::Transaction(transaction),
                    None => {
                        self.farthest = self.position;
                        Statement::Batch(self.batch()?)
                    }
                }
            }
            Kind::Use => {
                self.bump();
                Statement::Use(self.keyspace_name()?)
            }
            Kind::Truncate => {
                self.bump();
                self.eat(Kind::Table);
                Statement::Truncate(self.table_name()?)
            }
            Kind::Desc | Kind::Describe => Statement::Describe(self.describe()?),
            Kind::Add => {
                self.bump();
                Statement::AddIdentity(self.add_identity()?)
            }
            _ => {
                self.farthest = self.position;
                return self.no_viable(1);
            }
        })
    }

    fn create(&mut self) -> Parse<Statement> {
        let second = self.peek(2);
        match second {
            Kind::Or => {
                if self.peek(3) != Kind::Replace {
                    return self.no_viable(3);
                }
                if !matches!(self.peek(4), Kind::Function | Kind::Aggregate) {
                    return self.no_viable(4);
                }
                self.looked(5);
                self.bump();
                self.bump();
                self.bump();
                let function = self.bump().kind == Kind::Function;
                return if function {
                    Ok(Statement::CreateFunction(self.create_function(true)?))
                } else {
                    Ok(Statement::CreateAggregate(self.create_aggregate(true)?))
                };
            }
            Kind::Keyspace
            | Kind::Table
            | Kind::User
            | Kind::Trigger
            | Kind::Type
            | Kind::Role
            | Kind::Materialized
            | Kind::Custom
            | Kind::Index
            | Kind::Function
            | Kind::Aggregate => self.looked(3),
            _ => return self.no_viable(2),
        }
        self.bump();
        if !matches!(second, Kind::Custom | Kind::Index) {
            self.bump();
        }
        Ok(match second {
            Kind::Keyspace => Statement::CreateKeyspace(self.create_keyspace()?),
            Kind::Table => Statement::CreateTable(self.create_table()?),
            Kind::User => Statement::CreateRole(self.create_role(RoleSyntax::User)?),
            Kind::Role => Statement::CreateRole(self.create_role(RoleSyntax::Role)?),
            Kind::Trigger => Statement::CreateTrigger(self.create_trigger()?),
            Kind::Type => Statement::CreateType(self.create_type()?),
            Kind::Function => Statement::CreateFunction(self.create_function(false)?),
            Kind::Aggregate => Statement::CreateAggregate(self.create_aggregate(false)?),
            Kind::Materialized => {
                self.expect(Kind::View)?;
                Statement::CreateView(self.create_view()?)
            }
            _ => Statement::CreateIndex(self.create_index()?),
        })
    }

    fn alter(&mut self) -> Parse<Statement> {
        let second = self.peek(2);
        if !matches!(
            second,
            Kind::Table
                | Kind::Keyspace
                | Kind::User
                | Kind::Type
                | Kind::Role
                | Kind::Materialized
        ) {
            return self.no_viable(2);
        }
        self.looked(3);
        self.bump();
        self.bump();
        Ok(match second {
            Kind::Table => Statement::AlterTable(self.alter_table()?),
            Kind::Keyspace => Statement::AlterKeyspace(self.alter_keyspace()?),
            Kind::User => Statement::AlterRole(self.alter_role(RoleSyntax::User)?),
            Kind::Role => Statement::AlterRole(self.alter_role(RoleSyntax::Role)?),
            Kind::Type => Statement::AlterType(self.alter_type()?),
            _ => {
                self.expect(Kind::View)?;
                Statement::AlterView(self.alter_view()?)
            }
        })
    }

    fn drop_statement(&mut self) -> Parse<Statement> {
        let second = self.peek(2);
        if !matches!(
            second,
            Kind::Keyspace
                | Kind::Table
                | Kind::Index
                | Kind::User
                | Kind::Trigger
                | Kind::Type
                | Kind::Function
                | Kind::Aggregate
                | Kind::Role
                | Kind::Materialized
                | Kind::Identity
        ) {
            return self.no_viable(2);
        }
        self.looked(3);
        self.bump();
        self.bump();
        Ok(match second {
            Kind::Keyspace => Statement::DropKeyspace(self.drop_keyspace()?),
            Kind::Table => Statement::DropTable(self.dropped(Self::table_name)?),
            Kind::Index => Statement::DropIndex(self.dropped(Self::index_name)?),
            Kind::Type => Statement::DropType(self.dropped(Self::user_type_name)?),
            Kind::User => Statement::DropRole(self.drop_role(RoleSyntax::User)?),
            Kind::Role => Statement::DropRole(self.drop_role(RoleSyntax::Role)?),
            Kind::Trigger => Statement::DropTrigger(self.drop_trigger()?),
            Kind::Function => Statement::DropFunction(self.drop_function()?),
            Kind::Aggregate => Statement::DropAggregate(self.drop_function()?),
            Kind::Identity => Statement::DropIdentity(self.drop_identity()?),
            _ => {
                self.expect(Kind::View)?;
                Statement::DropView(self.dropped(Self::table_name)?)
            }
        })
    }
}
