//! Functions and aggregates.

use crate::ast::{FunctionName, Name, Term, Type};

/// `CREATE FUNCTION …`
#[derive(Clone, Debug, PartialEq)]
pub struct CreateFunction {
    /// `OR REPLACE`
    pub or_replace: bool,
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
    /// The function.
    pub name: FunctionName,
    /// Its arguments.
    pub arguments: Vec<Argument>,
    /// `CALLED ON NULL INPUT`; otherwise `RETURNS NULL ON NULL INPUT`.
    pub called_on_null: bool,
    /// `RETURNS t`
    pub returns: Type,
    /// `LANGUAGE l`, in lower case.
    pub language: Name,
    /// `AS '…'`
    pub body: Box<str>,
}

/// A named argument.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// Its name.
    pub name: Name,
    /// Its type.
    pub argument_type: Type,
}

/// `CREATE AGGREGATE …`
#[derive(Clone, Debug, PartialEq)]
pub struct CreateAggregate {
    /// `OR REPLACE`
    pub or_replace: bool,
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
    /// The aggregate.
    pub name: FunctionName,
    /// The types of its arguments.
    pub arguments: Vec<Type>,
    /// `SFUNC f`
    pub state_function: Name,
    /// `STYPE t`
    pub state_type: Type,
    /// `FINALFUNC f`
    pub final_function: Option<Name>,
    /// `INITCOND t`
    pub initial: Option<Term>,
}

/// `DROP FUNCTION …` and `DROP AGGREGATE …`
#[derive(Clone, Debug, PartialEq)]
pub struct DropFunction {
    /// `IF EXISTS`
    pub if_exists: bool,
    /// Its name.
    pub name: FunctionName,
    /// Its argument types, where the text gives them.
    pub arguments: Option<Vec<Type>>,
}
