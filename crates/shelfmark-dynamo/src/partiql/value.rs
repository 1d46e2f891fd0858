//! Values of a statement: literals and parameters, to the model's values.
//!
//! Source of the texts, which name the place inside the value (`root.a[1]`): a public suite that
//! records the service's answers, read 2026-11.

use std::collections::BTreeMap;

use shelfmark_model::{Item, Value};

use super::ast::{Expr, ExprKind, Step};
use super::malformed;
use crate::errors::{Error, Result, texts, type_name};
use crate::json::{NumberFault, parameter_number, plain};
use crate::limits::VALUE_DEPTH_MAX;

/// Returns true if the expression is a literal or a parameter.
pub(super) fn is_value(expr: &Expr) -> bool {
    matches!(
        expr.kind,
        ExprKind::Text(_)
            | ExprKind::Number(_)
            | ExprKind::Bool(_)
            | ExprKind::Null
            | ExprKind::Parameter(_)
            | ExprKind::List(_)
            | ExprKind::Bag(_)
            | ExprKind::Struct(_)
    )
}

/// Computes the value of a literal or a parameter.
///
/// # Errors
///
/// * ValidationException: it is none, or breaks a rule of values.
pub(super) fn value(expr: &Expr, parameters: &[Value]) -> Result<Value> {
    Places { parameters, path: "root".to_owned(), depth: 0 }.value(expr)
}

/// Computes the item that an INSERT puts.
///
/// # Errors
///
/// * ValidationException: the value is no struct, or breaks a rule of values.
pub(crate) fn item(expr: &Expr, parameters: &[Value]) -> Result<Item> {
    let pairs = match &expr.kind {
        ExprKind::Struct(pairs) => pairs,
        _ => return Err(Error::validation(texts::insert_value(&expr.place))),
    };
    let mut attributes = BTreeMap::new();
    for (name, of) in pairs {
        let place = name.place;
        let name = member_name(name, "root")?;
        if attributes.insert(name.clone(), value(of, parameters)?).is_some() {
            return Err(Error::validation(texts::member_twice(&name, "root", &place)));
        }
    }
    Ok(attributes.into_iter().collect())
}

fn member_name(expr: &Expr, path: &str) -> Result<String> {
    match &expr.kind {
        ExprKind::Text(name) if name.is_empty() => {
            Err(Error::validation(texts::EMPTY_PATH_COMPONENT))
        }
        ExprKind::Text(name) => Ok(name.clone()),
        kind => Err(Error::validation(texts::member_name(node_name(kind), path, &expr.place))),
    }
}

/// Returns the name that the service has for a kind of expression.
fn node_name(kind: &ExprKind) -> &'static str {
    match kind {
        ExprKind::Path(steps) if steps.len() > 1 => "Path",
        ExprKind::Path(_) => "VariableReference",
        ExprKind::Parameter(_) => "Parameter",
        ExprKind::List(_) | ExprKind::Bag(_) => "Seq",
        ExprKind::Struct(_) => "Struct",
        ExprKind::Number(_) | ExprKind::Bool(_) | ExprKind::Null => "Literal",
        _ => "NAry",
    }
}

/// Values on the way down, and where they are.
struct Places<'p> {
    parameters: &'p [Value],
    path: String,
    depth: usize,
}

impl Places<'_> {
    fn value(&mut self, expr: &Expr) -> Result<Value> {
        match &expr.kind {
            ExprKind::Text(text) => Ok(Value::text(text)),
            ExprKind::Number(text) => self.number(text, expr),
            ExprKind::Bool(value) => Ok(Value::Bool(*value)),
            ExprKind::Null => Ok(Value::Null),
            ExprKind::Parameter(position) => {
                let found = self.parameters.get(*position).cloned();
                found.ok_or_else(|| Error::validation(texts::PARAMETER_COUNT))
            }
            ExprKind::List(list) => self.list(list),
            ExprKind::Struct(pairs) => self.map(pairs, expr),
            ExprKind::Bag(members) => self.set(members),
            kind => Err(self.unsupported(kind, expr)),
        }
    }

    fn number(&self, text: &str, expr: &Expr) -> Result<Value> {
        let is_zero = text.chars().all(|letter| "-.0".contains(letter));
        if is_zero && text.starts_with('-') && text.contains('.') {
            return Err(Error::validation(texts::negative_zero(&self.path, &expr.place)));
        }
        match parameter_number(text) {
            Ok(number) => Ok(Value::Number(number)),
            Err(NumberFault::NoNumber(_)) => Err(malformed("")),
            Err(NumberFault::Rule(text)) => {
                Err(Error::validation(texts::value_under(text, &self.path)))
            }
        }
    }

    /// Goes one level deeper into a value.
    fn inside(&mut self, step: &str, expr: &Expr) -> Result<Value> {
        if self.depth + 1 >= VALUE_DEPTH_MAX {
            return Err(Error::validation(texts::NESTED_TOO_DEEP));
        }
        let length = self.path.len();
        self.path.push_str(step);
        self.depth += 1;
        let value = self.value(expr)?;
        self.depth -= 1;
        self.path.truncate(length);
        Ok(value)
    }

    fn list(&mut self, list: &[Expr]) -> Result<Value> {
        let elements = list.iter().enumerate();
        let elements = elements.map(|(at, element)| self.inside(&format!("[{at}]"), element));
        elements.collect::<Result<_>>().map(Value::List)
    }

    fn map(&mut self, pairs: &[(Expr, Expr)], expr: &Expr) -> Result<Value> {
        let mut map = BTreeMap::new();
        for (name, of) in pairs {
            let name = member_name(name, &self.path)?;
            let value = self.inside(&format!(".{name}"), of)?;
            if map.insert(name.clone(), value).is_some() {
                let text = texts::member_twice(&name, "root", &expr.place);
                return Err(Error::validation(text));
            }
        }
        Ok(Value::Map(map))
    }

    fn set(&mut self, members: &[Expr]) -> Result<Value> {
        if members.is_empty() {
            return Err(Error::validation(texts::EMPTY_BAG));
        }
        let mut values = Vec::with_capacity(members.len());
        for member in members {
            match member.kind {
                ExprKind::Text(_) | ExprKind::Number(_) => values.push(self.value(member)?),
                _ => return Err(Error::validation(texts::bag_member(&member.place))),
            }
        }
        if values.iter().any(|value| type_name(value) != values.first().map_or("", type_name)) {
            return Err(Error::validation(texts::BAG_OF_TWO_TYPES));
        }
        let shown: Vec<String> = values.iter().map(shown).collect();
        let count = values.len();
        let is_of_texts = matches!(values.first(), Some(Value::Text(_)));
        let set = Value::set(values);
        match &set {
            Value::Set(distinct) if distinct.len() == count => Ok(set),
            _ if is_of_texts => {
                Err(Error::validation(texts::string_set_has_duplicates(&shown.join(", "))))
            }
            _ => Err(Error::validation(texts::OLDER_NUMBER_SET_HAS_DUPLICATES)),
        }
    }

    fn unsupported(&self, kind: &ExprKind, expr: &Expr) -> Error {
        let name = match kind {
            ExprKind::Call(name, _) => name.as_str(),
            ExprKind::Missing => "MISSING",
            ExprKind::Path(steps) => match steps.as_slice() {
                [Step::Name(name)] => name,
                _ => "UNKNOWN",
            },
            ExprKind::Binary(binary, ..) => binary.symbol(),
            ExprKind::Signed('-', _) => "-",
            ExprKind::Signed(..) => "+",
            ExprKind::And(_) => "and",
            ExprKind::Or(_) => "or",
            ExprKind::Not(_) => "not",
            ExprKind::Like => "like",
            _ => "UNKNOWN",
        };
        Error::validation(texts::unsupported_value(name, &self.path, &expr.place))
    }
}

fn shown(value: &Value) -> String {
    match (value.as_text(), value.as_number()) {
        (Some(text), _) => text.to_owned(),
        (None, Some(number)) => plain(number),
        (None, None) => String::new(),
    }
}
