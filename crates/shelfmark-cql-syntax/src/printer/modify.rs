//! `INSERT`, `UPDATE`, `DELETE`, batches, transactions.

use std::fmt::{self, Display, Formatter};

use super::list;
use super::names::quoted_string;
use super::terms::{bracketed, relations};
use crate::ast::{
    Assignment, Attributes, Batch, BatchKind, Delete, Deletion, Insert, InsertValues, JsonDefault,
    JsonValue, Modification, Operation, Reference, Returned, Transaction, Update,
};

impl Display for Modification {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Modification::Insert(insert) => insert.fmt(f),
            Modification::Update(update) => update.fmt(f),
            Modification::Delete(delete) => delete.fmt(f),
        }
    }
}

impl Display for Attributes {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut word = " USING";
        if let Some(timestamp) = &self.timestamp {
            write!(f, "{word} TIMESTAMP {timestamp}")?;
            word = " AND";
        }
        match &self.ttl {
            Some(ttl) => write!(f, "{word} TTL {ttl}"),
            None => Ok(()),
        }
    }
}

impl Display for Insert {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "INSERT INTO {} ", self.table)?;
        match &self.values {
            InsertValues::Columns { columns, values } => {
                bracketed(f, '(', columns, ')')?;
                f.write_str(" VALUES ")?;
                bracketed(f, '(', values, ')')?;
            }
            InsertValues::Json { value, default } => {
                match value {
                    JsonValue::Text(text) => write!(f, "JSON {}", quoted_string(text))?,
                    JsonValue::Marker(marker) => write!(f, "JSON {marker}")?,
                }
                super::word(f, *default == JsonDefault::Unset, " DEFAULT UNSET")?;
            }
        }
        super::word(f, self.if_not_exists, " IF NOT EXISTS")?;
        self.attributes.fmt(f)
    }
}

impl Display for Update {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "UPDATE {}{} SET ", self.table, self.attributes)?;
        list(f, &self.assignments, ", ")?;
        relations(f, &self.relations)?;
        self.conditions.fmt(f)
    }
}

impl Display for Assignment {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let column = &self.column;
        match &self.operation {
            Operation::Set(value) => write!(f, "{column} = {value}"),
            Operation::Add(value) => write!(f, "{column} += {value}"),
            Operation::Subtract(value) => write!(f, "{column} -= {value}"),
            Operation::Prepend(value) => write!(f, "{column} = {value} + {column}"),
            Operation::SetElement { key, value } => write!(f, "{column}[{key}] = {value}"),
            Operation::SetField { field, value } => write!(f, "{column}.{field} = {value}"),
        }
    }
}

impl Display for Delete {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("DELETE ")?;
        if !self.deletions.is_empty() {
            list(f, &self.deletions, ", ")?;
            f.write_str(" ")?;
        }
        write!(f, "FROM {}{}", self.table, self.attributes)?;
        relations(f, &self.relations)?;
        self.conditions.fmt(f)
    }
}

impl Display for Deletion {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Deletion::Column(column) => column.fmt(f),
            Deletion::Element { column, key } => write!(f, "{column}[{key}]"),
            Deletion::Field { column, field } => write!(f, "{column}.{field}"),
        }
    }
}

impl Display for Batch {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            BatchKind::Logged => "",
            BatchKind::Unlogged => "UNLOGGED ",
            BatchKind::Counter => "COUNTER ",
        };
        write!(f, "BEGIN {kind}BATCH{}", self.attributes)?;
        for statement in &self.statements {
            write!(f, " {statement};")?;
        }
        f.write_str(" APPLY BATCH")
    }
}

impl Display for Transaction {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("BEGIN TRANSACTION")?;
        for (name, select) in &self.lets {
            write!(f, " LET {name} = ({select});")?;
        }
        match &self.returned {
            Some(Returned::Select(select)) => write!(f, " {select};")?,
            Some(Returned::References(references)) => {
                f.write_str(" SELECT ")?;
                list(f, references, ", ")?;
                f.write_str(";")?;
            }
            None => {}
        }
        let conditional = self.conditions != crate::ast::Conditions::None;
        self.conditions.fmt(f)?;
        super::word(f, conditional, " THEN")?;
        for modification in &self.modifications {
            write!(f, " {modification};")?;
        }
        super::word(f, conditional, " END IF")?;
        f.write_str(" COMMIT TRANSACTION")
    }
}

impl Display for Reference {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.row.fmt(f)?;
        match &self.column {
            Some(column) => write!(f, ".{column}"),
            None => Ok(()),
        }
    }
}
