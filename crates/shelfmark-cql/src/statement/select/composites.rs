//! Values of several parts in a select clause: lists, sets, vectors, maps, tuples, values of user types.
//!
//! What it is not: terms elsewhere, whose type the place where they stand gives them. Here the parts say
//! what they are, or a hint does.

use std::sync::Arc;

use shelfmark_cql_protocol::{Result, invalid};
use shelfmark_cql_syntax::ast::Selector;
use shelfmark_cql_types::term::{Expr, Scope, UnsetField, preferred};
use shelfmark_cql_types::{CqlType, UserType};

use super::names::column_name;
use super::selection::{Builder, is_untyped, untyped};

impl Builder<'_> {
    pub(super) fn elements(
        &mut self,
        items: &[Selector],
        receiver: Option<&CqlType>,
        is_set: bool,
        scope: &mut Scope<'_>,
    ) -> Result<(Expr, CqlType)> {
        let mut element = match receiver {
            Some(
                CqlType::List { element, .. }
                | CqlType::Set { element, .. }
                | CqlType::Vector { element, .. },
            ) => Some((**element).clone()),
            _ => None,
        };
        let mut literals = items.iter().filter_map(|item| match item {
            Selector::Literal(literal) => Some(preferred(literal)),
            _ => None,
        });
        let differ = literals.next().is_some_and(|first| literals.any(|other| other != first));
        // A marker has no type of its own, whatever stands beside it.
        let is_open = |own: &Selector| is_untyped(own) && !matches!(own, Selector::Literal(_));
        // An empty collection takes the type of the others.
        let typed = items.iter().filter(|own| !is_untyped(own));
        let typed = typed.clone().find(|own| !is_empty(own)).or_else(|| typed.clone().next());
        if element.is_none() && typed.is_none() && (differ || items.iter().any(is_open)) {
            let all = items.to_vec();
            let shown = if is_set { Selector::Set(all) } else { Selector::List(all) };
            return Err(untyped(&column_name(&shown)));
        }
        if element.is_none()
            && let Some(item) = typed.or_else(|| items.first())
        {
            element = self.known(item, scope)?;
        }
        let Some(element) = element else {
            let shown = if is_set { "{}" } else { "[]" };
            return Err(untyped(shown));
        };
        if is_set && element == CqlType::Duration {
            return invalid(format!(
                "Durations are not allowed inside sets: {}",
                CqlType::set(element).freeze()
            ));
        }
        if let Some(ty @ CqlType::Vector { dimension, .. }) = receiver
            && u32::try_from(items.len()) != Ok(*dimension)
        {
            return invalid(format!(
                "Unable to create a vector selector of type {ty} from {} elements",
                items.len()
            ));
        }
        let parts: Result<Vec<Expr>> = items
            .iter()
            .map(|item| self.item(item, Some(&element), scope).map(|(expr, _)| expr))
            .collect();
        let ty = match receiver {
            Some(ty @ CqlType::Vector { .. }) => ty.clone(),
            _ if is_set => CqlType::set(element).freeze(),
            _ => CqlType::list(element).freeze(),
        };
        Ok((Expr::Elements { items: parts?, ty: ty.clone() }, ty))
    }

    pub(super) fn map(
        &mut self,
        items: &[(Selector, Selector)],
        receiver: Option<&CqlType>,
        scope: &mut Scope<'_>,
    ) -> Result<(Expr, CqlType)> {
        if let Some(CqlType::User { definition, .. }) = receiver {
            return self.user_type(items, definition, scope);
        }
        // Of its own it may be a user type as well.
        let Some(CqlType::Map { key, value, .. }) = receiver else {
            return Err(untyped(&column_name(&Selector::MapOrUserType(items.to_vec()))));
        };
        let (key, value) = ((**key).clone(), (**value).clone());
        let mut parts = Vec::with_capacity(items.len());
        for (k, v) in items {
            parts.push((self.item(k, Some(&key), scope)?.0, self.item(v, Some(&value), scope)?.0));
        }
        let ty = CqlType::map(key, value).freeze();
        Ok((Expr::Entries { items: parts, ty: ty.clone() }, ty))
    }

    /// Prepares a value of a user type, written as its fields.
    fn user_type(
        &mut self,
        items: &[(Selector, Selector)],
        definition: &Arc<UserType>,
        scope: &mut Scope<'_>,
    ) -> Result<(Expr, CqlType)> {
        let mut parts = vec![None; definition.fields.len()];
        for (name, value) in items {
            let found = field_name(name).and_then(|name| definition.field(name));
            let Some((at, ty)) = found else {
                return invalid(format!(
                    "Unknown field '{}' in value of user defined type {}",
                    column_name(name),
                    definition.name
                ));
            };
            let part = self.item(value, Some(ty), scope)?.0;
            // Of a field that is named twice the last counts.
            parts.get_mut(at).into_iter().for_each(|own| *own = Some(part.clone()));
        }
        let unset = UnsetField::OfUserType(Arc::clone(definition));
        let ty = CqlType::User { definition: Arc::clone(definition), frozen: true };
        Ok((Expr::Fields { items: parts, unset }, ty))
    }

    pub(super) fn tuple(
        &mut self,
        items: &[Selector],
        receiver: Option<&CqlType>,
        scope: &mut Scope<'_>,
    ) -> Result<(Expr, CqlType)> {
        let mut types = Vec::with_capacity(items.len());
        let mut parts = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            let known = match receiver {
                Some(CqlType::Tuple(fields)) => fields.get(at).cloned(),
                Some(CqlType::User { definition, .. }) => {
                    definition.fields.get(at).map(|(_, ty)| ty.clone())
                }
                _ => self.known(item, scope)?,
            };
            let (expr, ty) = self.item(item, known.as_ref(), scope)?;
            parts.push(Some(expr));
            types.push(ty);
        }
        let ty = match receiver {
            Some(ty @ CqlType::User { .. }) => ty.freeze(),
            _ => CqlType::tuple(types),
        };
        Ok((Expr::Fields { items: parts, unset: UnsetField::OfTuple }, ty))
    }
}

/// Returns true if a selector is a list or a set without elements, or of such.
fn is_empty(selector: &Selector) -> bool {
    matches!(selector, Selector::List(items) | Selector::Set(items) if items.iter().all(is_empty))
}

/// Returns the name of a field in a value of a user type.
pub(super) fn field_name(selector: &Selector) -> Option<&str> {
    match selector {
        Selector::Column(name) => Some(name.as_str()),
        _ => None,
    }
}
