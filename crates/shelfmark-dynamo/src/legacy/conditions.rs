//! Conditions attribute by attribute: Expected, QueryFilter, ScanFilter, KeyConditions.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use shelfmark_model::{Comparison, Condition, Operand, Path, Value};

use crate::errors::{Error, Result, texts, type_name};
use crate::expression::{KeyCondition, KeyRelation};
use crate::json::{Checked, Reader, Writer, put_value};
use crate::shape::Shape;
use crate::table::check_attribute_name;

/// Conditions by attribute, as in a request.
pub(crate) type Conditions = BTreeMap<String, LegacyCondition>;

/// The conditions of a write, and the operator that joins them.
#[derive(Debug, Default)]
pub(crate) struct Expected {
    pub(crate) conditions: Option<Conditions>,
    pub(crate) operator: Option<String>,
}

/// The condition on one attribute.
#[derive(Debug, Default)]
pub(crate) struct LegacyCondition {
    operator: Option<String>,
    list: Option<Checked<Vec<Value>>>,
    value: Option<Checked<Value>>,
    exists: Option<bool>,
}

const OPERATORS: &[&str] = &[
    "IN",
    "NULL",
    "BETWEEN",
    "LT",
    "NOT_CONTAINS",
    "EQ",
    "GT",
    "NOT_NULL",
    "NE",
    "LE",
    "BEGINS_WITH",
    "GE",
    "CONTAINS",
];

/// Reads conditions by attribute.
pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Option<Conditions>> {
    reader.map(|reader, _| {
        let mut condition = LegacyCondition::default();
        let present = reader.structure(|reader, name| {
            match name {
                "ComparisonOperator" => condition.operator = reader.text()?,
                "AttributeValueList" => condition.list = reader.checked_values()?,
                "Value" => condition.value = Some(reader.checked_value()?),
                "Exists" => condition.exists = reader.boolean()?,
                _ => reader.skip()?,
            }
            Ok(())
        })?;
        Ok(present.then_some(condition))
    })
}

/// Writes conditions back as they were given.
pub(crate) fn put(out: &mut Writer, conditions: &Conditions) {
    for (name, condition) in conditions {
        out.name(name).object(|out| {
            if let Some(operator) = &condition.operator {
                out.name("ComparisonOperator").text(operator);
            }
            if let Some(list) = &condition.list {
                out.name("AttributeValueList").list(|out| {
                    list.unchecked().iter().for_each(|value| put_value(out, value));
                });
            }
            if let Some(value) = &condition.value {
                put_value(out.name("Value"), value.unchecked());
            }
            if let Some(exists) = condition.exists {
                out.name("Exists").boolean(exists);
            }
        });
    }
}

/// Checks the shape of the conditions in this member.
pub(crate) fn shape(
    conditions: Option<&Conditions>,
    member: &str,
    filter: bool,
    shape: &mut Shape,
) {
    for (name, condition) in conditions.into_iter().flatten() {
        let path = format!("{member}.{name}.member.comparisonOperator");
        if filter {
            shape.required(&path, condition.operator.is_some());
        }
        shape.one_of(&path, condition.operator.as_deref(), OPERATORS);
    }
}

impl Expected {
    /// Translates the conditions of a write.
    pub(crate) fn condition(self) -> Result<Option<Condition>> {
        let joined = joined(self.operator.as_deref());
        let Some(conditions) = self.conditions else { return Ok(None) };
        let conditions = conditions
            .into_iter()
            .map(|(name, condition)| expected(name, condition))
            .collect::<Result<Vec<_>>>()?;
        Ok((!conditions.is_empty()).then(|| joined(conditions)))
    }
}

/// Translates a filter.
pub(crate) fn filter(
    conditions: Option<Conditions>,
    operator: Option<&str>,
) -> Result<Option<Condition>> {
    let Some(conditions) = conditions else { return Ok(None) };
    let conditions = conditions
        .into_iter()
        .map(|(name, condition)| {
            let (operator, values) = operator_and_values(condition)?;
            comparison(Path::attribute(name), &operator, values)
        })
        .collect::<Result<Vec<_>>>()?;
    Ok((!conditions.is_empty()).then(|| joined(operator)(conditions)))
}

/// Translates the conditions on a key.
pub(crate) fn key_conditions(conditions: Conditions) -> Result<Vec<KeyCondition>> {
    conditions
        .into_iter()
        .map(|(attribute, condition)| {
            let (operator, values) = operator_and_values(condition)?;
            let mut values = values.into_iter();
            let mut next = || values.next().unwrap_or(Value::Null);
            let relation = match operator.as_str() {
                "EQ" => KeyRelation::Equal(next()),
                "LT" => KeyRelation::Less(next()),
                "LE" => KeyRelation::LessOrEqual(next()),
                "GT" => KeyRelation::Greater(next()),
                "GE" => KeyRelation::GreaterOrEqual(next()),
                "BEGINS_WITH" => KeyRelation::BeginsWith(next()),
                "BETWEEN" => {
                    let lower = next();
                    KeyRelation::Between(lower, next())
                }
                _ => return Err(Error::validation(texts::NOT_INDEXABLE)),
            };
            Ok(KeyCondition { attribute, relation })
        })
        .collect()
}

fn joined(operator: Option<&str>) -> fn(Vec<Condition>) -> Condition {
    if operator == Some("OR") { Condition::Or } else { Condition::And }
}

fn expected(name: String, condition: LegacyCondition) -> Result<Condition> {
    let invalid = |text: String| Err(Error::validation(text));
    check_attribute_name(&name)?;
    if condition.operator.is_some() {
        if condition.exists.is_some() {
            return invalid(texts::exists_with_operator(&name));
        }
        if condition.list.is_some() && condition.value.is_some() {
            return invalid(texts::value_with_list(&name));
        }
        let operator = condition.operator.as_deref().unwrap_or_default();
        if condition.list.is_none()
            && condition.value.is_none()
            && !matches!(operator, "NULL" | "NOT_NULL")
        {
            return invalid(texts::operator_without_value(operator, &name));
        }
        let (operator, values) = operator_and_values(condition)?;
        return comparison(Path::attribute(name), &operator, values);
    }
    if condition.list.is_some() {
        return invalid(texts::list_without_operator(&name));
    }
    let path = Path::attribute(&name);
    match (condition.exists, condition.value) {
        (Some(false), Some(_)) => invalid(texts::value_without_existence(&name)),
        (Some(false), None) => Ok(Condition::NotExists(path)),
        (exists, None) => {
            let shown = if exists.is_some() { "true" } else { "null" };
            invalid(texts::value_required(shown, &name))
        }
        (_, Some(value)) => Ok(Condition::Compare(
            Comparison::Equal,
            Operand::Path(path),
            Operand::Value(value.checked()?),
        )),
    }
}

/// Returns the operator and its operands, checked for number and type.
fn operator_and_values(condition: LegacyCondition) -> Result<(String, Vec<Value>)> {
    let operator = condition.operator.unwrap_or_default();
    let mut values = condition.list.map(Checked::checked).transpose()?.unwrap_or_default();
    values.extend(condition.value.map(Checked::checked).transpose()?);
    let fits = match operator.as_str() {
        "NULL" | "NOT_NULL" => values.is_empty(),
        "BETWEEN" => values.len() == 2,
        "IN" => !values.is_empty(),
        _ => values.len() == 1,
    };
    if !fits {
        return Err(Error::validation(texts::argument_count(&operator)));
    }
    let mut types = values.iter().map(type_name);
    if let Some(first) = types.next() {
        if types.any(|other| other != first) {
            return Err(Error::validation(texts::LIST_OF_TWO_TYPES));
        }
        let allowed: &[&str] = match operator.as_str() {
            "EQ" | "NE" => &["S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M"],
            "BEGINS_WITH" => &["S", "B"],
            "CONTAINS" | "NOT_CONTAINS" => &["S", "N", "B", "BOOL", "NULL"],
            _ => &["S", "N", "B"],
        };
        if !allowed.contains(&first) {
            return Err(Error::validation(texts::operator_type(&operator, first)));
        }
    }
    if let ("BETWEEN", [lower, upper]) = (operator.as_str(), values.as_slice())
        && lower.compare(upper) == Some(Ordering::Greater)
    {
        return Err(Error::validation(texts::LEGACY_BOUNDS));
    }
    Ok((operator, values))
}

fn comparison(path: Path, operator: &str, values: Vec<Value>) -> Result<Condition> {
    let mut values = values.into_iter().map(Operand::Value);
    let own = Operand::Path(path.clone());
    let compare = |comparison, value: Option<Operand>| {
        Condition::Compare(comparison, own.clone(), value.unwrap_or(Operand::Value(Value::Null)))
    };
    let contains = |value: Option<Operand>| {
        Condition::Contains(own.clone(), value.unwrap_or(Operand::Value(Value::Null)))
    };
    Ok(match operator {
        "EQ" => compare(Comparison::Equal, values.next()),
        "NE" => compare(Comparison::NotEqual, values.next()),
        "LT" => compare(Comparison::Less, values.next()),
        "LE" => compare(Comparison::LessOrEqual, values.next()),
        "GT" => compare(Comparison::Greater, values.next()),
        "GE" => compare(Comparison::GreaterOrEqual, values.next()),
        "NOT_NULL" => Condition::Exists(path),
        "NULL" => Condition::NotExists(path),
        "CONTAINS" => contains(values.next()),
        "NOT_CONTAINS" => Condition::And(vec![
            Condition::Exists(path),
            Condition::Not(Box::new(contains(values.next()))),
        ]),
        "BEGINS_WITH" => {
            let prefix = values.next().unwrap_or(Operand::Value(Value::Null));
            Condition::BeginsWith(own, prefix)
        }
        "BETWEEN" => match (values.next(), values.next()) {
            (Some(lower), Some(upper)) => Condition::Between(own, lower, upper),
            _ => return Err(Error::validation(texts::argument_count(operator))),
        },
        "IN" => Condition::In(own, values.collect()),
        _ => return Err(Error::validation(texts::argument_count(operator))),
    })
}
