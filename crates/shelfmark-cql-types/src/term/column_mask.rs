//! The mask of a column: a masking function whose first argument is the column's value.
//!
//! What it is not: the decision who sees masked values, which is the face's.
//!
//! Invariant: the function gives a value of the column's own type, as it is when the mask is used.
//!
//! Source: Apache Cassandra 5.0, package `cql3.functions.masking`, and its answers, read 2026-11.

use std::sync::Arc;

use bytes::Bytes;
use shelfmark_cql_protocol::{BoundValue, CqlError, Result};
use shelfmark_cql_syntax::ast;

use super::assign::arguments_of;
use super::eval::EvalContext;
use super::expression::Expr;
use super::prepare::prepare;
use super::scope::{Receiver, Scope};
use super::text::term_text;
use crate::function::{
    Argument, Assignability, FunctionContext, Resolved, Scalar, is_masking, resolve, resolve_call,
};
use crate::resolve::UserTypes;
use crate::value::{CqlType, class_name, maybe_quote, to_literal};

/// The mask of a column.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnMask {
    /// The keyspace of a function of a user's; none of a function that is always there.
    pub keyspace: Option<Arc<str>>,
    /// The name of the function.
    pub function: Arc<str>,
    /// Its arguments behind the value of the column.
    pub arguments: Vec<MaskArgument>,
}

/// A constant argument of a mask.
#[derive(Debug, Clone, PartialEq)]
pub struct MaskArgument {
    /// The type that the function takes it as.
    pub ty: CqlType,
    /// The value; `None` for null.
    pub value: Option<Bytes>,
}

/// A value of a type as an argument.
struct Typed {
    ty: CqlType,
}

impl Argument for Typed {
    fn known_type(&self) -> Option<CqlType> {
        Some(self.ty.clone())
    }

    fn test(&self, ty: &CqlType) -> Assignability {
        if self.ty == *ty || self.ty.freeze() == ty.freeze() {
            Assignability::Exact
        } else if ty.is_value_compatible_with(&self.ty) {
            Assignability::Weak
        } else {
            Assignability::No
        }
    }

    fn text(&self) -> String {
        class_name(&self.ty)
    }
}

impl ColumnMask {
    /// Prepares the mask of a column of a type, in a table of the scope's keyspace.
    ///
    /// # Errors
    ///
    /// * `Invalid`: there is no such masking function of the column's type, or an argument does not fit.
    pub fn prepare(
        own: &ast::ColumnMask,
        (table, column): (&str, &str),
        ty: &CqlType,
        scope: &mut Scope<'_>,
    ) -> Result<Self> {
        let (keyspace, name, terms) = match own {
            ast::ColumnMask::Default => (None, "mask_default", [].as_slice()),
            ast::ColumnMask::Function { name, arguments } => {
                let keyspace = name.keyspace.as_ref().map(ast::Name::as_str);
                (keyspace, name.name.as_str(), arguments.as_slice())
            }
        };
        let texts: Vec<String> = terms.iter().map(term_text).collect();
        let qualified = keyspace.map_or_else(|| name.to_owned(), |own| format!("{own}.{name}"));
        let shown = format!("{qualified}({})", texts.join(", "));
        let function = match function_of((keyspace, name), ty, terms, scope)? {
            None => {
                return Err(CqlError::invalid(format!(
                    "Unable to find masking function for {column}, no declared function matches the signature {shown}"
                )));
            }
            Some(Resolved::Aggregate(_)) => {
                return Err(CqlError::invalid(format!(
                    "Aggregate function {shown} cannot be used for masking table columns"
                )));
            }
            Some(Resolved::Scalar(function)) => function,
        };
        let is_native = &*function.keyspace == "system";
        if is_native && !is_masking(&function.name) {
            return Err(CqlError::invalid(format!(
                "Not-masking function {shown} cannot be used for masking table columns"
            )));
        }
        if !is_native && &*function.keyspace != scope.keyspace {
            return Err(CqlError::invalid(format!(
                "Masking function {shown} doesn't belong to the same keyspace as the table {}.{table}",
                scope.keyspace
            )));
        }
        // Native ones are of any form of the type, those of users of the one that is declared.
        let is_same = function.returns == *ty;
        if !is_same && (!is_native || function.returns.freeze() != ty.freeze()) {
            return Err(CqlError::invalid(format!(
                "Masking function {shown} return type is {}. This is different to the type of the masked column {column} of type {ty}. Masking functions can only be attached to table columns if they return the same data type as the masked column.",
                function.returns
            )));
        }
        let types = function.arguments.iter().skip(1);
        let arguments = terms
            .iter()
            .zip(types)
            .map(|(term, ty)| argument(term, ty, scope))
            .collect::<Result<_>>()?;
        let keyspace = (!is_native).then(|| Arc::clone(&function.keyspace));
        Ok(Self { keyspace, function: function.name.into(), arguments })
    }

    /// Returns what shows the value of an expression of type `ty` masked.
    ///
    /// # Errors
    ///
    /// * `Invalid`: the function does not take the type, which no column has that was given the mask; or
    ///   it is a user's that cannot be read.
    pub fn apply(&self, value: Expr, ty: &CqlType, schema: &dyn UserTypes) -> Result<Expr> {
        let function = match &self.keyspace {
            None => self.scalar(ty)?,
            Some(keyspace) => self.scalar_of_user(keyspace, ty, schema)?,
        };
        let constants = self.arguments.iter().map(|own| Expr::Constant(own.value.clone()));
        Ok(Expr::Call { function, arguments: std::iter::once(value).chain(constants).collect() })
    }

    /// Returns what is shown of a value of type `ty`; nothing through a function of a user's, which is
    /// not called where a partition is locked.
    ///
    /// # Errors
    ///
    /// * `Invalid`: as [`ColumnMask::apply`], or the function refuses its arguments.
    pub fn show(
        &self,
        ty: &CqlType,
        value: Option<&[u8]>,
        context: &dyn FunctionContext,
    ) -> Result<Option<Vec<u8>>> {
        if self.keyspace.is_some() {
            return Ok(None);
        }
        let rest = self.arguments.iter().map(|own| own.value.as_deref());
        let values: Vec<Option<&[u8]>> = std::iter::once(value).chain(rest).collect();
        self.scalar(ty)?.call(context, &values)
    }

    /// Returns true if it calls a function of this name, whatever its arguments: as long as it does,
    /// Cassandra drops none of them.
    #[must_use]
    pub fn calls(&self, keyspace: &str, name: &str) -> bool {
        self.keyspace.as_deref() == Some(keyspace) && *self.function == *name
    }

    fn takes(&self, types: &[CqlType], ty: &CqlType) -> bool {
        let own = std::iter::once(ty).chain(self.arguments.iter().map(|own| &own.ty));
        types.iter().map(CqlType::freeze).eq(own.map(CqlType::freeze))
    }

    fn scalar_of_user(
        &self,
        keyspace: &str,
        ty: &CqlType,
        schema: &dyn UserTypes,
    ) -> Result<Scalar> {
        let found = schema.user_functions(keyspace, &self.function).into_iter();
        let mut scalars = found.filter_map(|own| match own {
            Resolved::Scalar(own) => Some(own),
            Resolved::Aggregate(_) => None,
        });
        let own = scalars.find(|own| self.takes(&own.arguments, ty));
        own.ok_or_else(|| CqlError::invalid(format!("{self} does not mask values of type {ty}")))
    }

    fn scalar(&self, ty: &CqlType) -> Result<Scalar> {
        let types = std::iter::once(ty).chain(self.arguments.iter().map(|own| &own.ty));
        let all: Vec<Typed> = types.map(|ty| Typed { ty: ty.clone() }).collect();
        let arguments: Vec<&dyn Argument> = all.iter().map(|own| own as &dyn Argument).collect();
        match resolve(&self.function, &arguments, Some(ty))? {
            Some(Resolved::Scalar(function)) => Ok(function),
            _ => Err(CqlError::invalid(format!("{self} does not mask values of type {ty}"))),
        }
    }
}

/// Writes the mask as Cassandra describes it: `system.mask_inner(1, null)`.
impl std::fmt::Display for ColumnMask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let arguments: Vec<String> =
            self.arguments.iter().map(|own| to_literal(&own.ty, own.value.as_deref())).collect();
        let keyspace = self.keyspace.as_deref().unwrap_or("system");
        write!(
            f,
            "{}.{}({})",
            maybe_quote(keyspace),
            maybe_quote(&self.function),
            arguments.join(", ")
        )
    }
}

fn function_of(
    (keyspace, name): (Option<&str>, &str),
    ty: &CqlType,
    terms: &[ast::Term],
    scope: &Scope<'_>,
) -> Result<Option<Resolved>> {
    let column = Typed { ty: ty.clone() };
    let rest = arguments_of(terms, scope);
    let rest = rest.iter().map(|own| own as &dyn Argument);
    let arguments: Vec<&dyn Argument> =
        std::iter::once(&column as &dyn Argument).chain(rest).collect();
    let name =
        ast::FunctionName { keyspace: keyspace.map(ast::Name::new), name: ast::Name::new(name) };
    resolve_call(&name, scope.schema, scope.keyspace, &arguments, Some(ty))
}

fn argument(term: &ast::Term, ty: &CqlType, scope: &mut Scope<'_>) -> Result<MaskArgument> {
    let expr = prepare(term, Receiver { name: &term_text(term), ty }, scope)?;
    let value = match expr.eval(EvalContext { context: None, values: &[], row: None })? {
        BoundValue::Bytes(bytes) => Some(bytes),
        BoundValue::Null | BoundValue::Unset => None,
    };
    Ok(MaskArgument { ty: ty.clone(), value })
}
