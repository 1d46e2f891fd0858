//! The check whether a term fits a type, before it is prepared for it.

use shelfmark_cql_syntax::ast::{FunctionName, Literal, LiteralKind, Term};

use super::scope::Scope;
use super::text::term_text;
use crate::function::{Argument, Assignability, Resolved, cast, negate, operate, resolve_call};
use crate::resolve::resolve_type;
use crate::value::{CqlType, Native, native_by_name, parse_decimal};

/// A term as the argument of a function.
pub(super) struct TermArgument<'a> {
    pub(super) term: &'a Term,
    pub(super) known: Option<CqlType>,
}

impl Argument for TermArgument<'_> {
    fn known_type(&self) -> Option<CqlType> {
        self.known.clone()
    }

    fn test(&self, ty: &CqlType) -> Assignability {
        test_known(self.term, self.known.as_ref(), ty)
    }

    fn misplaced_list(&self, ty: &CqlType) -> Option<CqlType> {
        misplaced_list(self.term, ty)
    }

    fn text(&self) -> String {
        term_text(self.term)
    }
}

/// Returns the type that a term has of its own, if any.
pub fn known_type(term: &Term, scope: &Scope<'_>) -> Option<CqlType> {
    match term {
        Term::Literal(literal) => Some(preferred(literal)),
        Term::TypeHint { target, .. } => resolve_type(target, scope.keyspace, scope.schema).ok(),
        Term::Cast { target, .. } => native_by_name(target.name()).map(CqlType::Native),
        Term::Negate(inner) => known_type(operand(inner), scope),
        Term::Arithmetic { operator, left, right } => {
            let own = |term| known_type(operand(term), scope);
            let (left, right) = (own(left), own(right));
            let (left, right) = (left.clone().or_else(|| right.clone())?, right.or(left)?);
            operate(operator.symbol(), &left, &right).map(|scalar| scalar.returns)
        }
        Term::Function { name, arguments } => {
            if name.name.as_str() == "token" && name.keyspace.is_none() {
                return Some(CqlType::Bigint);
            }
            let arguments = arguments_of(arguments, scope);
            let arguments: Vec<&dyn Argument> =
                arguments.iter().map(|own| own as &dyn Argument).collect();
            match resolve_call(name, scope.schema, scope.keyspace, &arguments, None) {
                Ok(Some(Resolved::Scalar(scalar))) => Some(scalar.returns),
                _ => None,
            }
        }
        Term::List(items) => {
            let element = items.iter().find_map(|item| known_type(item, scope))?;
            Some(CqlType::list(element).freeze())
        }
        Term::Set(items) => {
            let element = items.iter().find_map(|item| known_type(item, scope))?;
            Some(CqlType::set(element).freeze())
        }
        Term::Map(items) => {
            let key = items.iter().find_map(|(key, _)| known_type(key, scope))?;
            let value = items.iter().find_map(|(_, value)| known_type(value, scope))?;
            Some(CqlType::map(key, value).freeze())
        }
        Term::Tuple(items) => {
            let fields: Option<Vec<CqlType>> =
                items.iter().map(|item| known_type(item, scope)).collect();
            fields.map(CqlType::tuple)
        }
        Term::Null | Term::Marker(_) | Term::UserType(_) => None,
    }
}

/// Returns the operand that a term is: parentheses around it make no tuple of one, for nothing is
/// computed of tuples.
pub(super) fn operand(term: &Term) -> &Term {
    match term {
        Term::Tuple(items) => match items.as_slice() {
            [only] => operand(only),
            _ => term,
        },
        _ => term,
    }
}

/// Wraps terms as arguments.
pub(super) fn arguments_of<'t>(terms: &'t [Term], scope: &Scope<'_>) -> Vec<TermArgument<'t>> {
    terms.iter().map(|term| TermArgument { term, known: known_type(term, scope) }).collect()
}

/// Returns the type that a constant has when nothing else decides.
pub fn preferred(literal: &Literal) -> CqlType {
    match literal.kind {
        LiteralKind::String if literal.text.is_ascii() => CqlType::Ascii,
        LiteralKind::String => CqlType::Text,
        LiteralKind::Integer => {
            if literal.text.parse::<i32>().is_ok() {
                CqlType::Int
            } else if literal.text.parse::<i64>().is_ok() {
                CqlType::Bigint
            } else {
                CqlType::Varint
            }
        }
        LiteralKind::Float => {
            let exact = match (parse_decimal(&literal.text), literal.text.parse::<f64>()) {
                (Ok(decimal), Ok(double)) => {
                    let text = crate::value::to_text(&CqlType::Double, &double.to_be_bytes());
                    parse_decimal(&text).is_ok_and(|shown| shown == decimal)
                }
                // NaN and the infinities.
                _ => true,
            };
            if exact { CqlType::Double } else { CqlType::Decimal }
        }
        LiteralKind::Boolean => CqlType::Boolean,
        LiteralKind::Duration => CqlType::Duration,
        LiteralKind::Uuid => CqlType::Uuid,
        LiteralKind::Hex => CqlType::Blob,
    }
}

/// Returns the type, other than of a list or vector, that a list is written for; the original
/// refuses that where it looks whether the list fits.
pub(super) fn misplaced_list(term: &Term, ty: &CqlType) -> Option<CqlType> {
    match (term, ty) {
        (Term::List(items), CqlType::List { element, .. } | CqlType::Vector { element, .. })
        | (Term::Set(items), CqlType::Set { element, .. }) => {
            items.iter().find_map(|item| misplaced_list(item, element))
        }
        (Term::List(_), ty) => Some(ty.clone()),
        (Term::Map(items), CqlType::Map { key, value, .. }) => items
            .iter()
            .find_map(|(k, v)| misplaced_list(k, key).or_else(|| misplaced_list(v, value))),
        (Term::Tuple(items), CqlType::Tuple(types)) => {
            items.iter().zip(types.iter()).find_map(|(item, ty)| misplaced_list(item, ty))
        }
        (Term::UserType(items), CqlType::User { definition, .. }) => {
            items.iter().find_map(|(name, item)| {
                definition.field(name.as_str()).and_then(|(_, ty)| misplaced_list(item, ty))
            })
        }
        _ => None,
    }
}

/// Returns how well a term fits a type.
pub fn test(term: &Term, ty: &CqlType, scope: &Scope<'_>) -> Assignability {
    let known = match term {
        Term::Literal(_) | Term::List(_) | Term::Set(_) | Term::Map(_) | Term::Tuple(_) => None,
        _ => known_type(term, scope),
    };
    test_known(term, known.as_ref(), ty)
}

fn test_known(term: &Term, known: Option<&CqlType>, ty: &CqlType) -> Assignability {
    match term {
        Term::Literal(literal) => test_literal(literal, ty),
        Term::Null if ty.is_counter() => Assignability::No,
        Term::Null | Term::Marker(_) => Assignability::Weak,
        Term::List(items) => match ty {
            CqlType::List { element, .. } => test_all(items.iter().map(|item| (item, &**element))),
            CqlType::Vector { element, dimension }
                if u32::try_from(items.len()) == Ok(*dimension) =>
            {
                test_all(items.iter().map(|item| (item, &**element)))
            }
            _ => Assignability::No,
        },
        Term::Set(items) => match ty {
            CqlType::Set { element, .. } => test_all(items.iter().map(|item| (item, &**element))),
            CqlType::Map { .. } if items.is_empty() => Assignability::Weak,
            _ => Assignability::No,
        },
        Term::Map(items) => match ty {
            CqlType::Map { key, value, .. } => {
                test_all(items.iter().flat_map(|(k, v)| [(k, &**key), (v, &**value)]))
            }
            _ => Assignability::No,
        },
        Term::UserType(items) => match ty {
            // Fields that are not there are refused where it is prepared.
            CqlType::User { definition, .. } => {
                test_all(items.iter().filter_map(|(name, item)| {
                    definition.field(name.as_str()).map(|(_, field)| (item, field))
                }))
            }
            _ => Assignability::No,
        },
        Term::Tuple(items) => match (ty, items.as_slice()) {
            (CqlType::Tuple(fields), _) if items.len() <= fields.len() => {
                test_all(items.iter().zip(fields.iter()))
            }
            (CqlType::User { definition, .. }, _) if items.len() <= definition.fields.len() => {
                test_all(items.iter().zip(definition.fields.iter().map(|(_, field)| field)))
            }
            (CqlType::Tuple(_) | CqlType::User { .. }, _) => Assignability::No,
            (_, [only]) => test_known(only, None, ty),
            _ => Assignability::No,
        },
        Term::Negate(inner) if known.is_none() => test_known(inner, None, ty),
        _ => match known {
            Some(own) if own == ty || own.freeze() == ty.freeze() => Assignability::Exact,
            Some(own) if ty.is_value_compatible_with(own) => Assignability::Weak,
            Some(own) if fits_number(term, own, ty) => Assignability::Weak,
            Some(_) => Assignability::No,
            None => Assignability::Weak,
        },
    }
}

/// Returns true if arithmetic of constants, or a function that keeps the type of its number, can take
/// the type that is asked for.
fn fits_number(term: &Term, own: &CqlType, ty: &CqlType) -> bool {
    let keeps_type = |name: &FunctionName, arguments: &[Term]| {
        name.keyspace.is_none()
            && matches!(name.name.as_str(), "abs" | "exp" | "log" | "log10" | "round")
            && matches!(arguments, [only] if test_known(only, None, ty) != Assignability::No)
    };
    let follows = match term {
        Term::Arithmetic { .. } | Term::Negate(_) => true,
        Term::Function { name, arguments } => keeps_type(name, arguments),
        _ => false,
    };
    follows && negate(own).is_some() && negate(ty).is_some() && cast(own, ty).is_some()
}

fn test_all<'t>(parts: impl Iterator<Item = (&'t Term, &'t CqlType)>) -> Assignability {
    let tests: Vec<Assignability> = parts.map(|(term, ty)| test_known(term, None, ty)).collect();
    tests.into_iter().max().unwrap_or(Assignability::Weak)
}

/// Returns how well a literal fits a type.
pub fn test_literal(literal: &Literal, ty: &CqlType) -> Assignability {
    let native = match ty {
        CqlType::Native(native) => *native,
        CqlType::Custom(_) | CqlType::Tuple(_) => return Assignability::Weak,
        _ => return Assignability::No,
    };
    if *ty == preferred(literal) {
        return Assignability::Exact;
    }
    let fits = match literal.kind {
        LiteralKind::String => matches!(
            native,
            Native::Ascii
                | Native::Text
                | Native::Inet
                | Native::Date
                | Native::Time
                | Native::Timestamp
        ),
        LiteralKind::Integer => matches!(
            native,
            Native::Bigint
                | Native::Counter
                | Native::Date
                | Native::Decimal
                | Native::Double
                | Native::Duration
                | Native::Float
                | Native::Int
                | Native::Smallint
                | Native::Time
                | Native::Timestamp
                | Native::Tinyint
                | Native::Varint
        ),
        LiteralKind::Float => matches!(native, Native::Decimal | Native::Double | Native::Float),
        LiteralKind::Boolean => native == Native::Boolean,
        LiteralKind::Duration => native == Native::Duration,
        LiteralKind::Uuid => matches!(native, Native::Uuid | Native::Timeuuid),
        LiteralKind::Hex => native == Native::Blob,
    };
    if fits { Assignability::Weak } else { Assignability::No }
}
