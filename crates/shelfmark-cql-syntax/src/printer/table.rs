//! Tables, types, views.

use std::fmt::{self, Display, Formatter};

use super::names::user_type;
use super::schema::{if_exists, if_not_exists, properties};
use super::terms::bracketed;
use super::{list, word};
use crate::ast::{
    AlterTable, AlterTableAction, AlterType, AlterTypeAction, AlterView, ColumnDefinition,
    ColumnMask, CreateTable, CreateType, CreateView, Direction, Field, PrimaryKey, Rename,
    TableOptions,
};

impl Display for CreateTable {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "CREATE TABLE {}{} (", if_not_exists(self.if_not_exists), self.name)?;
        list(f, &self.columns, ", ")?;
        for (number, key) in self.primary_keys.iter().enumerate() {
            word(f, number > 0 || !self.columns.is_empty(), ", ")?;
            key.fmt(f)?;
        }
        write!(f, "){}", self.options)
    }
}

impl Display for ColumnDefinition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.column_type)?;
        word(f, self.is_static, " STATIC")?;
        match &self.mask {
            Some(mask) => write!(f, " {mask}"),
            None => Ok(()),
        }
    }
}

impl Display for ColumnMask {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            ColumnMask::Default => f.write_str("MASKED WITH DEFAULT"),
            ColumnMask::Function { name, arguments } => {
                write!(f, "MASKED WITH {name}")?;
                bracketed(f, '(', arguments, ')')
            }
        }
    }
}

impl Display for PrimaryKey {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("PRIMARY KEY (")?;
        match self.partition.as_slice() {
            [one] => one.fmt(f)?,
            several => bracketed(f, '(', several, ')')?,
        }
        for column in &self.clustering {
            write!(f, ", {column}")?;
        }
        f.write_str(")")
    }
}

impl Display for TableOptions {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut before = " WITH ";
        if self.compact_storage {
            write!(f, "{before}COMPACT STORAGE")?;
            before = " AND ";
        }
        if !self.clustering_order.is_empty() {
            write!(f, "{before}CLUSTERING ORDER BY (")?;
            before = " AND ";
            for (number, (column, direction)) in self.clustering_order.iter().enumerate() {
                word(f, number > 0, ", ")?;
                let direction = if *direction == Direction::Ascending { "ASC" } else { "DESC" };
                write!(f, "{column} {direction}")?;
            }
            f.write_str(")")?;
        }
        for property in &self.properties {
            write!(f, "{before}{property}")?;
            before = " AND ";
        }
        Ok(())
    }
}

impl Display for AlterTable {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "ALTER TABLE {}{} {}", if_exists(self.if_exists), self.name, self.action)
    }
}

impl Display for AlterTableAction {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            AlterTableAction::AlterType { column, column_type } => {
                write!(f, "ALTER {column} TYPE {column_type}")
            }
            AlterTableAction::Mask { if_exists: exists, column, mask } => {
                write!(f, "ALTER {}{column} ", if_exists(*exists))?;
                match mask {
                    Some(mask) => mask.fmt(f),
                    None => f.write_str("DROP MASKED"),
                }
            }
            AlterTableAction::Add { if_not_exists: exists, columns } => {
                write!(f, "ADD {}", if_not_exists(*exists))?;
                one_or_several(f, columns)
            }
            AlterTableAction::Drop { if_exists: exists, columns, timestamp } => {
                write!(f, "DROP {}", if_exists(*exists))?;
                one_or_several(f, columns)?;
                match timestamp {
                    Some(timestamp) => write!(f, " USING TIMESTAMP {timestamp}"),
                    None => Ok(()),
                }
            }
            AlterTableAction::Rename { if_exists: exists, renames } => {
                write!(f, "RENAME {}", if_exists(*exists))?;
                list(f, renames, " AND ")
            }
            AlterTableAction::DropCompactStorage => f.write_str("DROP COMPACT STORAGE"),
            AlterTableAction::With(with) => properties(f, "WITH ", with),
        }
    }
}

fn one_or_several<T: Display>(f: &mut Formatter<'_>, items: &[T]) -> fmt::Result {
    match items {
        [one] => one.fmt(f),
        several => bracketed(f, '(', several, ')'),
    }
}

impl Display for Rename {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} TO {}", self.from, self.to)
    }
}

impl Display for CreateType {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "CREATE TYPE {}", if_not_exists(self.if_not_exists))?;
        user_type(f, &self.name)?;
        f.write_str(" ")?;
        bracketed(f, '(', &self.fields, ')')
    }
}

impl Display for Field {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.field_type)
    }
}

impl Display for AlterType {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "ALTER TYPE {}", if_exists(self.if_exists))?;
        user_type(f, &self.name)?;
        match &self.action {
            AlterTypeAction::Alter(field) => {
                write!(f, " ALTER {} TYPE {}", field.name, field.field_type)
            }
            AlterTypeAction::Add { if_not_exists: exists, field } => {
                write!(f, " ADD {}{field}", if_not_exists(*exists))
            }
            AlterTypeAction::Rename { if_exists: exists, renames } => {
                write!(f, " RENAME {}", if_exists(*exists))?;
                list(f, renames, " AND ")
            }
        }
    }
}

impl Display for CreateView {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let exists = if_not_exists(self.if_not_exists);
        write!(f, "CREATE MATERIALIZED VIEW {exists}{} AS SELECT ", self.name)?;
        write!(f, "{} FROM {}", self.selection, self.base)?;
        super::terms::relations(f, &self.relations)?;
        write!(f, " {}{}", self.primary_key, self.options)
    }
}

impl Display for AlterView {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "ALTER MATERIALIZED VIEW {}{}", if_exists(self.if_exists), self.name)?;
        properties(f, " WITH ", &self.properties)
    }
}
