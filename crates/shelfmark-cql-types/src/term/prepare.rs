//! Terms prepared for what receives them, with Cassandra's words where they do not fit.

use std::sync::Arc;

use bytes::Bytes;
use shelfmark_cql_protocol::{CqlError, Result};
use shelfmark_cql_syntax::ast::{FunctionName, Literal, LiteralKind, Name, Term};

use super::assign::{arguments_of, misplaced_list};
use super::assign::{known_type, operand, test};
use super::expression::{Expr, UnsetField};
use super::scope::{KeyedTable, Receiver, Scope, spelled_argument};
use super::text::term_text;
use crate::function::{
    Argument, Assignability, Resolved, ambiguous_cast, cast, negate, no_cast, no_negative, operate,
    resolve_call,
};
use crate::resolve::resolve_type;
use crate::value::{CqlType, Native, from_text, native_by_name};

/// Prepares a term.
///
/// # Errors
///
/// * `Invalid`: it does not fit what receives it.
pub fn prepare(term: &Term, to: Receiver<'_>, scope: &mut Scope<'_>) -> Result<Expr> {
    match term {
        Term::Null if to.ty.is_counter() => {
            Err(CqlError::invalid("Invalid null value for counter increment/decrement"))
        }
        Term::Null => Ok(Expr::Constant(None)),
        Term::Marker(marker) => Ok(prepare_marker(marker.index, to, scope)),
        // The one text of a timestamp that says another time whenever it is asked.
        Term::Literal(Literal { kind: LiteralKind::String, text, .. })
            if *to.ty == CqlType::Timestamp && text.eq_ignore_ascii_case("now") =>
        {
            let now = FunctionName { keyspace: None, name: Name::new("current_timestamp") };
            prepare_call(&now, &[], Some(to.ty), scope).map(|(call, ..)| call)
        }
        Term::Literal(literal) => {
            prepare_literal(literal, to).map(|value| Expr::Constant(Some(value)))
        }
        Term::List(items) => prepare_list(items, to, scope),
        Term::Set(items) => prepare_set(items, to, scope),
        Term::Map(items) => prepare_map(items, to, scope),
        Term::UserType(items) => prepare_udt(items, to, scope),
        Term::Tuple(items) => prepare_tuple(items, to, scope),
        Term::Function { name, arguments } => {
            let (expr, returns, shown) = prepare_call(name, arguments, Some(to.ty), scope)?;
            if returns != *to.ty && !to.ty.is_value_compatible_with(&returns) {
                return Err(CqlError::invalid(format!(
                    "Type error: cannot assign result of function {shown} (type {returns}) to {} (type {})",
                    to.name, to.ty
                )));
            }
            Ok(expr)
        }
        Term::TypeHint { target, term: inner } => {
            let ty = resolve_type(target, scope.keyspace, scope.schema)?;
            if ty.freeze() != to.ty.freeze() && !to.ty.is_value_compatible_with(&ty) {
                return Err(CqlError::invalid(format!(
                    "Cannot assign value {} to {} of type {}",
                    shown_hint(&ty, inner),
                    to.name,
                    to.ty
                )));
            }
            // A hint says what may be assigned; what is behind it is read for what receives it.
            prepare(inner, to, scope)
        }
        Term::Cast { term: inner, target } => prepare_cast(inner, target.name(), to, scope),
        Term::Negate(inner) => {
            let own = known_type(operand(inner), scope).filter(|own| negate(own).is_some());
            let ty = own.unwrap_or_else(|| to.ty.clone());
            if ty == CqlType::Duration {
                return Err(no_negative());
            }
            let Some(function) = negate(&ty) else {
                return Err(CqlError::invalid(format!(
                    "Invalid operation (-{}) for {}: types are incompatible",
                    term_text(inner),
                    to.name
                )));
            };
            let name = "arg0(system._negate)";
            let argument = prepare(inner, Receiver { name, ty: &ty }, scope)?;
            convert(Expr::Call { function, arguments: vec![argument] }, &ty, to.ty)
        }
        Term::Arithmetic { operator, left, right } => {
            prepare_arithmetic(operator.symbol(), left, right, to, scope)
        }
    }
}

fn shown_hint(ty: &CqlType, term: &Term) -> String {
    format!("({ty}){}", term_text(term))
}

fn prepare_cast(
    inner: &Term,
    target: &str,
    to: Receiver<'_>,
    scope: &mut Scope<'_>,
) -> Result<Expr> {
    let target = native_by_name(target).map_or(CqlType::Text, CqlType::Native);
    if matches!(inner, Term::Marker(_)) {
        return Err(ambiguous_cast(&target));
    }
    let from = known_type(inner, scope).unwrap_or_else(|| target.clone());
    let call =
        convert(prepare(inner, Receiver { name: to.name, ty: &from }, scope)?, &from, &target)?;
    if target != *to.ty && !to.ty.is_value_compatible_with(&target) {
        return Err(no_cast(&term_text(inner), &target));
    }
    Ok(call)
}

/// Adds a cast unless the types are the same.
fn convert(expr: Expr, from: &CqlType, to: &CqlType) -> Result<Expr> {
    if from == to {
        return Ok(expr);
    }
    match cast(from, to) {
        Some(function) => Ok(Expr::Call { function, arguments: vec![expr] }),
        None => Err(CqlError::invalid(format!("{from} cannot be cast to {to}"))),
    }
}

/// Prepares a bind marker and notes its receiver.
pub fn prepare_marker(index: usize, to: Receiver<'_>, scope: &mut Scope<'_>) -> Expr {
    scope.markers.set(index, to.name, to.ty, scope.table);
    Expr::Marker { index, ty: to.ty.clone() }
}

fn kind_name(kind: LiteralKind) -> &'static str {
    match kind {
        LiteralKind::String => "STRING",
        LiteralKind::Integer => "INTEGER",
        LiteralKind::Float => "FLOAT",
        LiteralKind::Boolean => "BOOLEAN",
        LiteralKind::Duration => "DURATION",
        LiteralKind::Uuid => "UUID",
        LiteralKind::Hex => "HEX",
    }
}

/// Reads a constant that stands for a tuple: the texts of its fields with colons between them.
fn tuple_from_text(literal: &Literal, types: &[CqlType], ty: &CqlType) -> Result<Bytes> {
    if literal.kind == LiteralKind::Hex {
        let bytes = prepare_raw_text(literal, ty)?;
        crate::value::validate(ty, &bytes)?;
        return Ok(bytes);
    }
    tuple_of_text(&literal.text, types, ty)
}

/// Reads the text of a tuple: the texts of its fields, in which `\:` and `\@` stand for `:` and `@`.
fn tuple_of_text(text: &str, types: &[CqlType], ty: &CqlType) -> Result<Bytes> {
    if text.is_empty() {
        return Ok(Bytes::new());
    }
    let texts = split_fields(text);
    if texts.len() > types.len() {
        return Err(CqlError::invalid(format!(
            "Invalid tuple literal: too many elements. Type {ty} expects {} but got {}",
            types.len(),
            texts.len()
        )));
    }
    let parts = texts.iter().zip(types).map(|(text, ty)| match *text {
        "@" => Ok(None),
        text => {
            let text = text.replace("\\:", ":").replace("\\@", "@");
            match ty {
                CqlType::Tuple(types) => {
                    tuple_of_text(&text, types, ty).map(|own| Some(own.to_vec()))
                }
                ty => Ok(Some(from_text(ty, &text)?)),
            }
        }
    });
    let parts = parts.collect::<Result<Vec<_>>>()?;
    Ok(crate::value::put_tuple(parts.iter().map(Option::as_deref)).into())
}

/// Splits at colons that have no backslash before them.
fn split_fields(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut before) = (0, None);
    for (at, c) in text.char_indices() {
        if c == ':' && before != Some('\\') {
            parts.push(text.get(start..at).unwrap_or_default());
            start = at + 1;
        }
        before = Some(c);
    }
    parts.push(text.get(start..).unwrap_or_default());
    parts
}

/// Serialises a literal for its receiver.
///
/// # Errors
///
/// * `Invalid`: it does not fit the type of the receiver.
pub fn prepare_literal(literal: &Literal, to: Receiver<'_>) -> Result<Bytes> {
    if let CqlType::Tuple(types) = to.ty {
        return tuple_from_text(literal, types, to.ty);
    }
    if super::assign::test_literal(literal, to.ty) == Assignability::No {
        return Err(CqlError::invalid(format!(
            "Invalid {} constant ({}) for \"{}\" of type {}",
            kind_name(literal.kind),
            literal.text,
            to.name,
            to.ty
        )));
    }
    prepare_raw_text(literal, to.ty)
}

/// Serialises a constant that fits the type.
fn prepare_raw_text(literal: &Literal, ty: &CqlType) -> Result<Bytes> {
    if literal.kind == LiteralKind::Hex {
        let digits = literal.text.get(2..).unwrap_or_default();
        return Ok(from_text(&CqlType::Blob, digits)?.into());
    }
    // Cassandra's message leaves the sign out.
    let text = match ty {
        CqlType::Native(Native::Duration) if literal.kind == LiteralKind::Integer => {
            literal.text.trim_start_matches('-')
        }
        _ => &literal.text,
    };
    Ok(from_text(ty, text)?.into())
}

fn no_markers(expr: &Expr, kind: &str, to: Receiver<'_>) -> Result<()> {
    if expr.has_marker() {
        return Err(CqlError::invalid(format!(
            "Invalid {kind} literal for {}: bind variables are not supported inside collection literals",
            to.name
        )));
    }
    Ok(())
}

/// Computes a collection of constants once.
fn fold(expr: Expr) -> Result<Expr> {
    if expr.is_constant_deep() {
        let value = super::eval::evaluate_constant(&expr)?;
        return Ok(Expr::Constant(value));
    }
    Ok(expr)
}

/// Returns true if a term fits a type.
fn fits(term: &Term, ty: &CqlType, scope: &Scope<'_>) -> Result<bool> {
    match misplaced_list(term, ty) {
        Some(other) => Err(CqlError::invalid(format!(
            "Unexpected receiver type '{other}'; only list and vector are expected"
        ))),
        None => Ok(test(term, ty, scope) != Assignability::No),
    }
}

fn prepare_list(items: &[Term], to: Receiver<'_>, scope: &mut Scope<'_>) -> Result<Expr> {
    let element = match to.ty {
        CqlType::List { element, .. } => element,
        CqlType::Vector { element, dimension } => {
            if u32::try_from(items.len()) != Ok(*dimension) {
                return Err(CqlError::invalid(format!(
                    "Invalid vector literal for {} of type {}; expected {dimension} elements, but given {}",
                    to.name,
                    to.ty,
                    items.len()
                )));
            }
            element
        }
        _ => {
            return Err(CqlError::invalid(format!(
                "Unexpected receiver type '{}'; only list and vector are expected",
                to.ty
            )));
        }
    };
    let is_vector = matches!(to.ty, CqlType::Vector { .. });
    let what = if is_vector { "vector" } else { "list" };
    let name = format!("value({})", to.name);
    let mut parts = Vec::with_capacity(items.len());
    for item in items {
        if !fits(item, element, scope)? {
            return Err(CqlError::invalid(format!(
                "Invalid {what} literal for {}: value {} is not of type {element}",
                to.name,
                term_text(item)
            )));
        }
        let part = prepare(item, Receiver { name: &name, ty: element }, scope)?;
        if !is_vector {
            no_markers(&part, what, to)?;
        }
        parts.push(part);
    }
    fold(Expr::Elements { items: parts, ty: to.ty.clone() })
}

fn prepare_set(items: &[Term], to: Receiver<'_>, scope: &mut Scope<'_>) -> Result<Expr> {
    let element = match to.ty {
        CqlType::Set { element, .. } => element,
        CqlType::Map { .. } if items.is_empty() => {
            return fold(Expr::Entries { items: Vec::new(), ty: to.ty.clone() });
        }
        _ => {
            return Err(CqlError::invalid(format!(
                "Invalid set literal for {} of type {}",
                to.name, to.ty
            )));
        }
    };
    let name = format!("value({})", to.name);
    let mut parts = Vec::with_capacity(items.len());
    for item in items {
        if !fits(item, element, scope)? {
            return Err(CqlError::invalid(format!(
                "Invalid set literal for {}: value {} is not of type {element}",
                to.name,
                term_text(item)
            )));
        }
        let part = prepare(item, Receiver { name: &name, ty: element }, scope)?;
        no_markers(&part, "set", to)?;
        parts.push(part);
    }
    fold(Expr::Elements { items: parts, ty: to.ty.clone() })
}

fn prepare_map(items: &[(Term, Term)], to: Receiver<'_>, scope: &mut Scope<'_>) -> Result<Expr> {
    let CqlType::Map { key, value, .. } = to.ty else {
        return Err(CqlError::invalid(format!(
            "Invalid map literal for {} of type {}",
            to.name, to.ty
        )));
    };
    let (key_name, value_name) = (format!("key({})", to.name), format!("value({})", to.name));
    let mut parts = Vec::with_capacity(items.len());
    for (k, v) in items {
        for (what, term, ty) in [("key", k, key), ("value", v, value)] {
            if !fits(term, ty, scope)? {
                return Err(CqlError::invalid(format!(
                    "Invalid map literal for {}: {what} {} is not of type {ty}",
                    to.name,
                    term_text(term)
                )));
            }
        }
        let k = prepare(k, Receiver { name: &key_name, ty: key }, scope)?;
        let v = prepare(v, Receiver { name: &value_name, ty: value }, scope)?;
        no_markers(&k, "map", to)?;
        no_markers(&v, "map", to)?;
        parts.push((k, v));
    }
    fold(Expr::Entries { items: parts, ty: to.ty.clone() })
}

fn prepare_udt(items: &[(Name, Term)], to: Receiver<'_>, scope: &mut Scope<'_>) -> Result<Expr> {
    let CqlType::User { definition, frozen } = to.ty else {
        return Err(CqlError::invalid(format!(
            "Invalid user type literal for {} of type {}",
            to.name, to.ty
        )));
    };
    if let Some((name, _)) =
        items.iter().find(|(name, _)| definition.field(name.as_str()).is_none())
    {
        return Err(CqlError::invalid(format!(
            "Unknown field '{}' in value of user defined type {}",
            name.as_str(),
            definition.name
        )));
    }
    let mut parts = Vec::with_capacity(definition.fields.len());
    for (field, ty) in &definition.fields {
        // Of a field that is named twice the last counts.
        let of_field = items.iter().rev().find(|(name, _)| name.as_str() == &**field);
        let Some((_, term)) = of_field else {
            parts.push(None);
            continue;
        };
        if !fits(term, ty, scope)? {
            return Err(CqlError::invalid(format!(
                "Invalid user type literal for {}: field {field} is not of type {ty}",
                to.name
            )));
        }
        let name = format!("{}.{field}", to.name);
        parts.push(Some(prepare(term, Receiver { name: &name, ty }, scope)?));
    }
    let unset = match frozen {
        true => UnsetField::OfUserType(Arc::clone(definition)),
        false => UnsetField::Null,
    };
    fold(Expr::Fields { items: parts, unset })
}

fn prepare_tuple(items: &[Term], to: Receiver<'_>, scope: &mut Scope<'_>) -> Result<Expr> {
    let of_user_type: Vec<CqlType>;
    let types: &[CqlType] = if let CqlType::Tuple(types) = to.ty {
        types
    } else if let CqlType::User { definition, .. } = to.ty {
        of_user_type = definition.fields.iter().map(|(_, ty)| ty.clone()).collect();
        &of_user_type
    } else {
        if let [only] = items {
            return prepare(only, to, scope);
        }
        return Err(CqlError::invalid(format!(
            "Invalid tuple type literal for {} of type {}",
            to.name, to.ty
        )));
    };
    let mut parts = Vec::with_capacity(types.len());
    for (at, item) in items.iter().enumerate() {
        let Some(ty) = types.get(at) else {
            return Err(CqlError::invalid(format!(
                "Invalid tuple literal for {}: too many elements. Type {} expects {} but got {}",
                to.name,
                to.ty,
                types.len(),
                items.len()
            )));
        };
        if !fits(item, ty, scope)? {
            return Err(CqlError::invalid(format!(
                "Invalid tuple literal for {}: component {at} is not of type {ty}",
                to.name
            )));
        }
        let name = format!("{}[{at}]", to.name);
        parts.push(Some(prepare(item, Receiver { name: &name, ty }, scope)?));
    }
    fold(Expr::Fields { items: parts, unset: UnsetField::OfTuple })
}

/// Prepares a call; returns it with the type of its value and the function's full name.
fn prepare_call(
    function: &FunctionName,
    arguments: &[Term],
    receiver: Option<&CqlType>,
    scope: &mut Scope<'_>,
) -> Result<(Expr, CqlType, String)> {
    let name = function.name.as_str();
    if name == "token" && function.keyspace.as_ref().is_none_or(|own| own.as_str() == "system") {
        let (expr, ty) = prepare_token(arguments, scope)?;
        return Ok((expr, ty, "system.token".to_owned()));
    }
    let tested = arguments_of(arguments, scope);
    let refs: Vec<&dyn Argument> = tested.iter().map(|own| own as &dyn Argument).collect();
    let found = resolve_call(function, scope.schema, scope.keyspace, &refs, receiver)?;
    found.iter().for_each(|own| scope.markers.note_call(own));
    let function = match found {
        Some(Resolved::Scalar(function)) => function,
        Some(Resolved::Aggregate(_)) => {
            if let [only] = arguments
                && name.eq_ignore_ascii_case("count")
                && test(only, &CqlType::Blob, scope) == Assignability::No
            {
                return Err(CqlError::invalid(format!(
                    "Type error: {} cannot be passed as argument 0 of function system.count of type blob",
                    term_text(only)
                )));
            }
            return Err(CqlError::invalid(
                "Aggregation function are not supported in the where clause",
            ));
        }
        None => {
            let shown = match &function.keyspace {
                Some(keyspace) => format!("{}.{name}", keyspace.as_str()),
                None => name.to_owned(),
            };
            return Err(CqlError::invalid(format!("Unknown function {shown} called")));
        }
    };
    let mut parts = Vec::with_capacity(arguments.len());
    for (at, (term, ty)) in arguments.iter().zip(function.arguments.clone()).enumerate() {
        let name = format!("arg{at}({})", function.full_name());
        parts.push(prepare(term, Receiver { name: &name, ty: &ty }, scope)?);
    }
    let (returns, shown) = (function.returns.clone(), function.full_name());
    Ok((Expr::Call { function, arguments: parts }, returns, shown))
}

fn prepare_token(arguments: &[Term], scope: &mut Scope<'_>) -> Result<(Expr, CqlType)> {
    let columns = scope.table.map(KeyedTable::partition_key).unwrap_or_default();
    let is_plain = scope.table.is_some_and(KeyedTable::has_plain_numbers);
    if columns.len() != arguments.len() {
        return Err(CqlError::invalid(format!(
            "Invalid number of arguments in call to function system.token: {} required but {} provided",
            columns.len(),
            arguments.len()
        )));
    }
    let columns: Vec<CqlType> = columns.iter().map(|(_, ty)| (*ty).clone()).collect();
    let mut parts = Vec::with_capacity(arguments.len());
    for (at, (term, ty)) in arguments.iter().zip(&columns).enumerate() {
        if !fits(term, ty, scope)? {
            return Err(CqlError::invalid(format!(
                "Type error: {} cannot be passed as argument {at} of function system.token of type {ty}",
                term_text(term)
            )));
        }
        let name = format!("arg{at}(system.token)");
        let part = prepare(term, Receiver { name: &name, ty }, scope)?;
        parts.push(spelled_argument(part, ty, is_plain));
    }
    Ok((Expr::Token(parts), CqlType::Bigint))
}

/// Returns the error for an operation of which a marker or null leaves the types open.
pub fn ambiguous(symbol: char, left: &str, right: &str) -> CqlError {
    CqlError::invalid(format!(
        "Ambiguous '{symbol}' operation with args {left} and {right}: use type hint to disambiguate, example '(int) ?'"
    ))
}

fn unsupported(symbol: char, left: &Term, right: &Term) -> CqlError {
    CqlError::invalid(format!(
        "the '{symbol}' operation is not supported between {} and {}",
        term_text(left),
        term_text(right)
    ))
}

/// Returns true if a term is made of numbers that are written down, so that it is of no type of its
/// own.
fn are_numbers(term: &Term) -> bool {
    match operand(term) {
        Term::Literal(own) => matches!(own.kind, LiteralKind::Integer | LiteralKind::Float),
        Term::Negate(inner) => are_numbers(inner),
        Term::Arithmetic { left, right, .. } => are_numbers(left) && are_numbers(right),
        _ => false,
    }
}

/// Returns true if constants, and what is computed of them alone, can be of this type.
fn takes(term: &Term, ty: &CqlType) -> bool {
    match operand(term) {
        Term::Literal(own) => {
            !ty.is_counter() && super::assign::test_literal(own, ty) != Assignability::No
        }
        Term::Negate(inner) if are_numbers(term) => takes(inner, ty),
        Term::Arithmetic { left, right, .. } if are_numbers(term) => {
            takes(left, ty) && takes(right, ty)
        }
        _ => false,
    }
}

fn prepare_arithmetic(
    symbol: char,
    left: &Term,
    right: &Term,
    to: Receiver<'_>,
    scope: &mut Scope<'_>,
) -> Result<Expr> {
    let (left_shown, right_shown) = (left, right);
    let (left, right) = (operand(left), operand(right));
    let is_duration = |term: &Term| {
        matches!(term, Term::Literal(own) if own.kind == LiteralKind::Duration)
            || known_type(term, scope) == Some(CqlType::Duration)
    };
    let open = |term: &Term| matches!(term, Term::Marker(_));
    // What is taken from, or added to, a moment that is written down is a duration.
    let moves = is_moment(to.ty)
        && matches!(left, Term::Literal(own) if own.kind == LiteralKind::String)
        && matches!(symbol, '+' | '-');
    // Nothing but two tinyints makes a tinyint; and a marker in parentheses is asked for its type.
    let is_told = *to.ty == CqlType::Tinyint;
    let is_untold = open(left_shown) && !is_duration(right)
        || open(right_shown) && !is_duration(left) && !moves;
    if is_untold && !is_told {
        return Err(ambiguous(symbol, &term_text(left_shown), &term_text(right_shown)));
    }
    let unsupported = || unsupported(symbol, left_shown, right_shown);
    let are_constants = are_numbers(left) && are_numbers(right);
    let is_number = negate(to.ty).is_some();
    if are_constants && is_number && !(takes(left, to.ty) && takes(right, to.ty)) {
        return Err(unsupported());
    }
    let (left_own, right_own) = operand_types(left, right, to.ty, scope);
    let Some(function) = operate(symbol, &left_own, &right_own) else {
        return Err(unsupported());
    };
    let (left_name, right_name) =
        (format!("arg0(system.{})", function.name), format!("arg1(system.{})", function.name));
    let left = prepare(left, Receiver { name: &left_name, ty: &left_own }, scope)?;
    let right = prepare(right, Receiver { name: &right_name, ty: &right_own }, scope)?;
    let returns = function.returns.clone();
    let call = Expr::Call { function, arguments: vec![left, right] };
    if returns == *to.ty || to.ty.is_value_compatible_with(&returns) {
        return Ok(call);
    }
    // Numbers are shown as texts where that is asked for, and not else.
    let refusal = || no_operation(symbol, (left_shown, right_shown), are_constants, to.ty);
    match are_constants && !is_number {
        true => Err(refusal()),
        false => convert(call, &returns, to.ty).map_err(|_| refusal()),
    }
}

const fn is_moment(ty: &CqlType) -> bool {
    matches!(ty, CqlType::Native(Native::Timestamp | Native::Date))
}

/// Returns the types that the operands of an operation are prepared for.
fn operand_types(left: &Term, right: &Term, to: &CqlType, scope: &Scope<'_>) -> (CqlType, CqlType) {
    let are_constants = are_numbers(left) && are_numbers(right);
    let is_number = negate(to).is_some();
    let side = |term: &Term| {
        // Constants take the type that is asked for, where they can; of a moment or bytes, whose
        // values can be numbers, they are the numbers that they are by themselves.
        if takes(term, to) && (is_number || !are_constants) {
            Some(to.clone())
        } else {
            known_type(term, scope)
        }
    };
    let (left_type, right_type) = (side(left), side(right));
    let fallback = |own: Option<CqlType>, other: &Option<CqlType>| {
        own.or_else(|| other.clone()).unwrap_or_else(|| to.clone())
    };
    let left_own = match (&left_type, &right_type) {
        // A moment and a duration make a moment.
        (None, Some(CqlType::Native(Native::Duration))) if is_moment(to) => to.clone(),
        _ => fallback(left_type.clone(), &right_type),
    };
    let right_own = match right_type {
        None if is_moment(&left_own) => CqlType::Duration,
        own => fallback(own, &left_type),
    };
    (left_own, right_own)
}

/// Returns the refusal of an operation whose result is not what is asked for.
fn no_operation(
    symbol: char,
    (left, right): (&Term, &Term),
    are_constants: bool,
    ty: &CqlType,
) -> CqlError {
    // A bigint is taken as a moment, and several types of numbers make one.
    if are_constants && ty.is_value_compatible_with(&CqlType::Bigint) {
        return ambiguous(symbol, &term_text(left), &term_text(right));
    }
    unsupported(symbol, left, right)
}
