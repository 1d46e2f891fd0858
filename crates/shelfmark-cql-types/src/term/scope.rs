//! The surroundings in which terms are prepared: receivers, bind markers, table and user types.

use std::sync::Arc;

use shelfmark_cql_syntax::ast::BindMarker;

use super::expression::Expr;
use crate::function::Resolved;
use crate::resolve::UserTypes;
use crate::value::CqlType;

/// The receiver of a term: the column, argument or limit that it is prepared for.
#[derive(Debug, Clone, Copy)]
pub struct Receiver<'a> {
    /// The name that messages and the metadata of a marker show.
    pub name: &'a str,
    /// The type that the value must have.
    pub ty: &'a CqlType,
}

/// A table as terms see it.
pub trait KeyedTable {
    /// Returns the keyspace of the table.
    fn keyspace(&self) -> &Arc<str>;

    /// Returns the name of the table.
    fn name(&self) -> &Arc<str>;

    /// Returns names and types of the columns of the partition key, in key order.
    fn partition_key(&self) -> Vec<(&str, &CqlType)>;

    /// Returns true if decimals of the key are kept without zeros at their end.
    fn has_plain_numbers(&self) -> bool {
        false
    }
}

/// Returns an argument of `token` in the spelling that the table's keys have.
#[must_use]
pub fn spelled_argument(argument: Expr, ty: &CqlType, has_plain_numbers: bool) -> Expr {
    match has_plain_numbers && *ty == CqlType::Decimal {
        true => Expr::Plain(Box::new(argument)),
        false => argument,
    }
}

/// Collects the receivers of the bind markers of a statement, by their places.
#[derive(Debug, Default)]
pub struct BindMarkers {
    /// The names of `:name` markers.
    pub names: Vec<Option<String>>,
    /// Names and types of their receivers.
    pub types: Vec<Option<(String, CqlType)>>,
    /// Keyspace and table of what receives them, where it is part of one.
    pub tables: Vec<Option<(Arc<str>, Arc<str>)>>,
    /// The functions of users that the statement calls: keyspace, name, types of arguments.
    pub functions: Vec<(Arc<str>, String, Vec<CqlType>)>,
}

impl BindMarkers {
    /// Creates the list of the markers that were parsed, none with a receiver yet.
    #[must_use]
    pub fn of(parsed: &[BindMarker]) -> Self {
        let names: Vec<Option<String>> = parsed
            .iter()
            .map(|marker| marker.name.as_ref().map(|name| name.as_str().to_owned()))
            .collect();
        let types = vec![None; names.len()];
        let tables = vec![None; names.len()];
        Self { names, types, tables, functions: Vec::new() }
    }

    /// Notes a call, if it is of a function of a user's.
    pub fn note_call(&mut self, function: &Resolved) {
        let (keyspace, name) = match function {
            Resolved::Scalar(own) => (&own.keyspace, &own.name),
            Resolved::Aggregate(own) => (&own.keyspace, &own.name),
        };
        let call = (Arc::clone(keyspace), name.clone(), function.arguments().to_vec());
        if &**keyspace != "system" && !self.functions.contains(&call) {
            self.functions.push(call);
        }
        if let Resolved::Aggregate(own) = function
            && let Some(functions) = own.user_functions()
        {
            let parts = std::iter::once(&functions.state).chain(&functions.last);
            parts.for_each(|own| self.note_call(&Resolved::Scalar(own.clone())));
        }
    }

    /// Notes the receiver of a marker.
    pub fn set(&mut self, index: usize, name: &str, ty: &CqlType, table: Option<&dyn KeyedTable>) {
        if let (Some(place), Some(table)) = (self.tables.get_mut(index), table) {
            *place = Some((Arc::clone(table.keyspace()), Arc::clone(table.name())));
        }
        let own = self.names.get(index).cloned().flatten();
        if let Some(place) = self.types.get_mut(index) {
            *place = Some((own.unwrap_or_else(|| name.to_owned()), ty.clone()));
        }
    }
}

/// Holds the surroundings in which terms are prepared.
pub struct Scope<'a> {
    /// The user types that there are.
    pub schema: &'a dyn UserTypes,
    /// The keyspace that types without one are looked up in.
    pub keyspace: &'a str,
    /// The table, for `token()`.
    pub table: Option<&'a dyn KeyedTable>,
    /// The bind markers of the statement.
    pub markers: &'a mut BindMarkers,
}
