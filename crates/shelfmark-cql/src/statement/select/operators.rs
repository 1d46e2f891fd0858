//! Operators in a select clause: `-x` and `x + y`.
//!
//! What it is not: what they compute, which is `shelfmark_cql_types::function`'s.

use shelfmark_cql_protocol::{CqlError, Result, invalid};
use shelfmark_cql_syntax::ast::{LiteralKind, Selector};
use shelfmark_cql_types::CqlType;
use shelfmark_cql_types::function::{negate, no_negative, operate};
use shelfmark_cql_types::term::{Expr, Scope, ambiguous};

use super::names::column_name;
use super::selection::{Builder, within_parentheses};

impl Builder<'_> {
    /// Prepares the negation of a selector.
    pub(super) fn negated(
        &mut self,
        inner: &Selector,
        receiver: Option<&CqlType>,
        scope: &mut Scope<'_>,
    ) -> Result<(Expr, CqlType)> {
        if matches!(*inner, Selector::Marker(_)) {
            return invalid("Ambiguous negation: use type casts to disambiguate");
        }
        let inner = within_parentheses(inner);
        let known = self.known(inner, scope)?;
        let (expr, ty) = self.item(inner, known.as_ref().or(receiver), scope)?;
        match negate(&ty) {
            Some(function) => Ok((Expr::Call { function, arguments: vec![expr] }, ty)),
            None => Err(no_negative()),
        }
    }

    pub(super) fn arithmetic(
        &mut self,
        symbol: char,
        left: &Selector,
        right: &Selector,
        receiver: Option<&CqlType>,
        scope: &mut Scope<'_>,
    ) -> Result<(Expr, CqlType)> {
        let (left, right) = (within_parentheses(left), within_parentheses(right));
        let open = |own: &Selector| matches!(own, Selector::Marker(_) | Selector::Null);
        let moves_date = self.moves_date(symbol, left, right, scope)?;
        let unsupported = || {
            CqlError::invalid(format!(
                "the '{symbol}' operation is not supported between {} and {}",
                column_name(left),
                column_name(right)
            ))
        };
        if (open(left) || open(right)) && !moves_date {
            let other = if open(left) { right } else { left };
            let is_left = open(right);
            let known = if open(other) { None } else { self.known(other, scope)? };
            return Err(match known {
                Some(ty) if !is_computed_with(symbol, &ty, is_left) => unsupported(),
                _ => ambiguous(symbol, &column_name(left), &column_name(right)),
            });
        }
        self.check_names_of_fields(left)?;
        if matches!(right, Selector::MapOrUserType(_)) {
            let known = self.known(left, scope)?;
            if known.is_some_and(|ty| !is_computed_with(symbol, &ty, true)) {
                return Err(unsupported());
            }
            self.check_names_of_fields(right)?;
        }
        // These have no type of their own, and none that could be computed with.
        let is_compound = |own: &Selector| {
            matches!(own, Selector::Set(_) | Selector::Tuple(_) | Selector::MapOrUserType(_))
        };
        if is_compound(left) || is_compound(right) {
            return Err(unsupported());
        }
        let mut operand = |own: &Selector| match self.known(own, scope) {
            // A part that there is not has no type.
            Err(_) if is_part(own) => Err(unsupported()),
            known => known,
        };
        let left_known = operand(left)?;
        let right_known = if moves_date { Some(CqlType::Duration) } else { operand(right)? };
        let left_type =
            left_known.clone().or_else(|| right_known.clone()).or_else(|| receiver.cloned());
        let right_type = right_known.or(left_known).or_else(|| receiver.cloned());
        let (left_expr, left_type) = self.item(left, left_type.as_ref(), scope)?;
        let (right_expr, right_type) = self.item(right, right_type.as_ref(), scope)?;
        match operate(symbol, &left_type, &right_type) {
            Some(function) => {
                let returns = function.returns.clone();
                Ok((Expr::Call { function, arguments: vec![left_expr, right_expr] }, returns))
            }
            // A timestamp may stand for a bigint, and that for several numbers.
            None if left_type == CqlType::Timestamp && stands_for_number(&right_type)
                || right_type == CqlType::Timestamp && stands_for_number(&left_type) =>
            {
                Err(ambiguous(symbol, &column_name(left), &column_name(right)))
            }
            None => Err(unsupported()),
        }
    }

    /// Returns true if null, a marker or a number is added to, or taken from, a date: nothing but a duration can
    /// be, so that is what is asked of it.
    fn moves_date(
        &mut self,
        symbol: char,
        left: &Selector,
        right: &Selector,
        scope: &mut Scope<'_>,
    ) -> Result<bool> {
        let is_open = match right {
            Selector::Null | Selector::Marker(_) => true,
            Selector::Literal(literal) => literal.kind == LiteralKind::Integer,
            _ => false,
        };
        let moves = is_open && matches!(symbol, '+' | '-') && matches!(left, Selector::Column(_));
        Ok(moves && self.known(left, scope)? == Some(CqlType::Date))
    }
}

/// Returns true if values of a type are numbers, or are taken for numbers.
fn stands_for_number(ty: &CqlType) -> bool {
    *ty == CqlType::Timestamp || negate(ty).is_some()
}

/// Returns true if an operator has a meaning where a value of a type stands on one side of it.
fn is_computed_with(symbol: char, ty: &CqlType, is_left: bool) -> bool {
    let adds = matches!(symbol, '+' | '-');
    stands_for_number(ty)
        || (symbol == '+' && ty.is_string())
        || (adds && *ty == if is_left { CqlType::Date } else { CqlType::Duration })
}

/// Returns true if it is an element, a slice or a field of a value.
const fn is_part(selector: &Selector) -> bool {
    matches!(selector, Selector::Element { .. } | Selector::Slice { .. } | Selector::Field { .. })
}
