//! Names of users' functions and types in a selection get their keyspace: the answer's columns show it.
//!
//! What it is not: a choice between functions of one name; that looks at the types.
//!
//! Invariant: a name that no function of a user's has stays as it is.

use shelfmark_cql_syntax::ast::{FunctionName, Name, QualifiedName, Selector, Type};
use shelfmark_cql_types::term::Scope;

/// Returns a selector with the keyspaces of users' functions before their names.
pub(super) fn qualified(selector: &Selector, scope: &Scope<'_>) -> Selector {
    let inner = |own: &Selector| Box::new(qualified(own, scope));
    let all = |own: &[Selector]| own.iter().map(|own| qualified(own, scope)).collect::<Vec<_>>();
    match selector {
        Selector::Function { name, arguments } => Selector::Function {
            name: function_name(name, arguments.len(), scope),
            arguments: all(arguments),
        },
        Selector::Cast { selector, target } => {
            Selector::Cast { selector: inner(selector), target: *target }
        }
        Selector::TypeHint { target, selector } => {
            Selector::TypeHint { target: type_name(target, scope), selector: inner(selector) }
        }
        Selector::Negate(own) => Selector::Negate(inner(own)),
        Selector::Arithmetic { operator, left, right } => {
            Selector::Arithmetic { operator: *operator, left: inner(left), right: inner(right) }
        }
        Selector::Element { of, key } => Selector::Element { of: inner(of), key: key.clone() },
        Selector::Slice { of, from, to } => {
            Selector::Slice { of: inner(of), from: from.clone(), to: to.clone() }
        }
        Selector::Field { of, field } => Selector::Field { of: inner(of), field: field.clone() },
        Selector::List(own) => Selector::List(all(own)),
        Selector::Set(own) => Selector::Set(all(own)),
        Selector::Tuple(own) => Selector::Tuple(all(own)),
        Selector::MapOrUserType(own) => Selector::MapOrUserType(
            own.iter().map(|(k, v)| (qualified(k, scope), qualified(v, scope))).collect(),
        ),
        other => other.clone(),
    }
}

fn type_name(ty: &Type, scope: &Scope<'_>) -> Type {
    let inner = |own: &Type| Box::new(type_name(own, scope));
    match ty {
        Type::User(name) => Type::User(QualifiedName {
            keyspace: Some(name.keyspace.clone().unwrap_or_else(|| Name::new(scope.keyspace))),
            name: name.name.clone(),
        }),
        Type::List(own) => Type::List(inner(own)),
        Type::Set(own) => Type::Set(inner(own)),
        Type::Map(key, value) => Type::Map(inner(key), inner(value)),
        Type::Tuple(own) => Type::Tuple(own.iter().map(|own| type_name(own, scope)).collect()),
        Type::Vector { element, dimension } => {
            Type::Vector { element: inner(element), dimension: *dimension }
        }
        Type::Frozen(own) => Type::Frozen(inner(own)),
        Type::Native(_) | Type::Custom(_) => ty.clone(),
    }
}

fn function_name(name: &FunctionName, arguments: usize, scope: &Scope<'_>) -> FunctionName {
    let is_meant = name.keyspace.is_none()
        && name.name.as_str() != "token"
        && scope
            .schema
            .user_functions(scope.keyspace, name.name.as_str())
            .iter()
            .any(|own| own.arguments().len() == arguments);
    match is_meant {
        true => FunctionName { keyspace: Some(Name::new(scope.keyspace)), name: name.name.clone() },
        false => name.clone(),
    }
}
