//! Keyspaces, indexes, triggers, functions, properties.

use std::fmt::{self, Display, Formatter};

use super::names::{function, quoted_string};
use super::terms::{braced, bracketed};
use super::{list, word};
use crate::ast::{
    AlterKeyspace, Argument, CreateAggregate, CreateFunction, CreateIndex, CreateKeyspace,
    CreateTrigger, DropFunction, DropTrigger, Dropped, IndexTarget, IndexTargetKind, Property,
    PropertyValue,
};

pub(super) fn if_exists(exists: bool) -> &'static str {
    if exists { "IF EXISTS " } else { "" }
}

pub(super) fn if_not_exists(exists: bool) -> &'static str {
    if exists { "IF NOT EXISTS " } else { "" }
}

/// Writes a word and properties behind it, or nothing.
pub(super) fn properties(
    f: &mut Formatter<'_>,
    with: &str,
    properties: &[Property],
) -> fmt::Result {
    word(f, !properties.is_empty(), with)?;
    list(f, properties, " AND ")
}

impl Display for Property {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}", self.name, self.value)
    }
}

impl Display for PropertyValue {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            PropertyValue::Literal(literal) => literal.fmt(f),
            PropertyValue::Word(word) => f.write_str(word),
            PropertyValue::Map(entries) => braced(f, entries),
        }
    }
}

impl Display for CreateKeyspace {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "CREATE KEYSPACE {}{}", if_not_exists(self.if_not_exists), self.name)?;
        properties(f, " WITH ", &self.properties)
    }
}

impl Display for AlterKeyspace {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "ALTER KEYSPACE {}{}", if_exists(self.if_exists), self.name)?;
        properties(f, " WITH ", &self.properties)
    }
}

impl Display for Dropped {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if_exists(self.if_exists), self.name)
    }
}

impl Display for CreateIndex {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("CREATE ")?;
        word(f, self.custom, "CUSTOM ")?;
        write!(f, "INDEX {}", if_not_exists(self.if_not_exists))?;
        if let Some(name) = &self.name {
            write!(f, "{name} ")?;
        }
        write!(f, "ON {} ", self.table)?;
        bracketed(f, '(', &self.targets, ')')?;
        if let Some(class) = &self.using {
            write!(f, " USING {}", quoted_string(class))?;
        }
        properties(f, " WITH ", &self.properties)
    }
}

impl Display for IndexTarget {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let column = &self.column;
        match self.kind {
            IndexTargetKind::Simple => column.fmt(f),
            IndexTargetKind::Values => write!(f, "VALUES({column})"),
            IndexTargetKind::Keys => write!(f, "KEYS({column})"),
            IndexTargetKind::Entries => write!(f, "ENTRIES({column})"),
            IndexTargetKind::Full => write!(f, "FULL({column})"),
        }
    }
}

impl Display for CreateTrigger {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let exists = if_not_exists(self.if_not_exists);
        let class = quoted_string(&self.class);
        write!(f, "CREATE TRIGGER {exists}{} ON {} USING {class}", self.name, self.table)
    }
}

impl Display for DropTrigger {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let exists = if_exists(self.if_exists);
        write!(f, "DROP TRIGGER {exists}{} ON {}", self.name, self.table)
    }
}

impl Display for Argument {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.argument_type)
    }
}

impl Display for CreateFunction {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let replace = if self.or_replace { "OR REPLACE " } else { "" };
        let exists = if_not_exists(self.if_not_exists);
        write!(f, "CREATE {replace}FUNCTION {exists}{} ", self.name)?;
        bracketed(f, '(', &self.arguments, ')')?;
        let null = if self.called_on_null { "CALLED" } else { "RETURNS NULL" };
        let body = quoted_string(&self.body);
        let language = self.language.as_str();
        write!(f, " {null} ON NULL INPUT RETURNS {} LANGUAGE {language} AS {body}", self.returns)
    }
}

impl Display for CreateAggregate {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let replace = if self.or_replace { "OR REPLACE " } else { "" };
        let exists = if_not_exists(self.if_not_exists);
        write!(f, "CREATE {replace}AGGREGATE {exists}{} ", self.name)?;
        bracketed(f, '(', &self.arguments, ')')?;
        write!(f, " SFUNC {} STYPE {}", function(&self.state_function), self.state_type)?;
        if let Some(last) = &self.final_function {
            write!(f, " FINALFUNC {}", function(last))?;
        }
        match &self.initial {
            Some(initial) => write!(f, " INITCOND {initial}"),
            None => Ok(()),
        }
    }
}

impl Display for DropFunction {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if_exists(self.if_exists), self.name)?;
        match &self.arguments {
            Some(arguments) => bracketed(f, '(', arguments, ')'),
            None => Ok(()),
        }
    }
}
