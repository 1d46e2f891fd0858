//! Functions and aggregates.

use super::cursor::{Parse, Parser};
use crate::ast::{Argument, CreateAggregate, CreateFunction, DropFunction, Type};
use crate::lexer::Kind;

impl Parser<'_> {
    /// Parses `CREATE [OR REPLACE] FUNCTION`, from behind `FUNCTION`.
    pub(super) fn create_function(&mut self, or_replace: bool) -> Parse<CreateFunction> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.function_name()?;
        self.expect(Kind::LeftParen)?;
        let arguments = if self.now().is_name() { self.list(Self::argument)? } else { Vec::new() };
        self.expect(Kind::RightParen)?;
        let called_on_null = match self.now() {
            Kind::Returns => {
                self.bump();
                self.expect(Kind::Null)?;
                false
            }
            Kind::Called => {
                self.bump();
                true
            }
            _ => return self.no_viable(1),
        };
        self.expect(Kind::On)?;
        self.expect(Kind::Null)?;
        self.expect(Kind::Input)?;
        self.expect(Kind::Returns)?;
        let returns = self.cql_type()?;
        self.expect(Kind::Language)?;
        let language = self.expect(Kind::Ident)?;
        let language = self.as_name(language);
        self.expect(Kind::As)?;
        let body = self.expect_text(Kind::String)?;
        Ok(CreateFunction {
            or_replace,
            if_not_exists,
            name,
            arguments,
            called_on_null,
            returns,
            language,
            body,
        })
    }

    fn argument(&mut self) -> Parse<Argument> {
        let name = self.name()?;
        Ok(Argument { name, argument_type: self.cql_type()? })
    }

    /// Parses types with commas between, or nothing.
    fn argument_types(&mut self) -> Parse<Vec<Type>> {
        self.expect(Kind::LeftParen)?;
        let types = if self.now() == Kind::RightParen {
            Vec::new()
        } else if starts_type(self.now()) {
            self.list(Self::cql_type)?
        } else {
            Vec::new()
        };
        self.expect(Kind::RightParen)?;
        Ok(types)
    }

    /// Parses `CREATE [OR REPLACE] AGGREGATE`, from behind `AGGREGATE`.
    pub(super) fn create_aggregate(&mut self, or_replace: bool) -> Parse<CreateAggregate> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.function_name()?;
        let arguments = self.argument_types()?;
        self.expect(Kind::Sfunc)?;
        let state_function = self.bare_function_name()?;
        self.expect(Kind::Stype)?;
        let state_type = self.cql_type()?;
        let final_function =
            if self.eat(Kind::Finalfunc) { Some(self.bare_function_name()?) } else { None };
        let initial = if self.eat(Kind::Initcond) { Some(self.term()?) } else { None };
        Ok(CreateAggregate {
            or_replace,
            if_not_exists,
            name,
            arguments,
            state_function,
            state_type,
            final_function,
            initial,
        })
    }

    /// Parses `DROP FUNCTION` and `DROP AGGREGATE`, from behind the second word.
    pub(super) fn drop_function(&mut self) -> Parse<DropFunction> {
        let if_exists = self.if_exists()?;
        let name = self.function_name()?;
        let given = self.now() == Kind::LeftParen;
        let arguments = if given { Some(self.argument_types()?) } else { None };
        Ok(DropFunction { if_exists, name, arguments })
    }

    /// Parses the argument types of a function that permissions are on.
    pub(super) fn resource_arguments(&mut self) -> Parse<Vec<Type>> {
        self.argument_types()
    }
}

fn starts_type(kind: Kind) -> bool {
    kind.is_name() || matches!(kind, Kind::Set | Kind::String)
}
