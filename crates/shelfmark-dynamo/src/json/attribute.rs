//! Parses attribute values: `{"S": …}`, `{"N": "…"}` and the rest, straight into [`Value`]s.
//!
//! A value that is wrong in itself (a number of 39 digits, an empty set) does not end the reading:
//! the first one is kept, and the operation raises it when its turn in the order of validation
//! comes. A value of the wrong JSON type does end it.

use std::collections::BTreeMap;

use shelfmark_model::{Item, Value};

use super::reader::Reader;
use super::wording::SetKind;
use super::{Wording, blob};
use crate::errors::{Error, Result, texts};
use crate::limits::{ATTRIBUTE_NAME_BYTES_MAX, VALUE_DEPTH_MAX};

/// A parsed value, and the first attribute value in it that is invalid by itself.
#[derive(Debug, Clone, Default)]
pub(crate) struct Checked<T> {
    value: T,
    /// The attribute's name, and the error.
    problem: Option<Box<(String, Error)>>,
}

/// An item or a key as a request gives it.
pub(crate) type Attributes = Checked<Item>;

impl<T> Checked<T> {
    /// Returns the value, or the error of an invalid attribute value.
    pub(crate) fn checked(self) -> Result<T> {
        match self.problem {
            None => Ok(self.value),
            Some(problem) => Err(problem.1),
        }
    }

    /// Returns the value without checking it, for messages about it.
    pub(crate) const fn unchecked(&self) -> &T {
        &self.value
    }

    /// Works as [`Checked::checked`], and names the invalid attribute.
    pub(crate) fn checked_by_name(self) -> std::result::Result<T, Box<(String, Error)>> {
        match self.problem {
            None => Ok(self.value),
            Some(problem) => Err(problem),
        }
    }
}

impl Reader<'_> {
    /// Parses attributes by name.
    pub(crate) fn attributes(&mut self) -> Result<Option<Attributes>> {
        let read = self.checked_map()?;
        Ok(read.map(|Checked { value, problem }| Checked {
            value: value.into_iter().collect(),
            problem,
        }))
    }

    /// Parses attribute values by name.
    pub(crate) fn checked_map(&mut self) -> Result<Option<Checked<BTreeMap<String, Value>>>> {
        let mut problem: Option<Box<(String, Error)>> = None;
        let value = self.map(|reader, name| {
            let value = reader.value(1)?;
            if let Some(error) = reader.problem.take() {
                let is_earlier = problem.as_ref().is_none_or(|before| {
                    before.1.message == texts::EMPTY_ATTRIBUTE_NAME
                        && error.message == texts::NESTED_TOO_DEEP
                });
                if is_earlier {
                    problem = Some(Box::new((name.to_owned(), error)));
                }
            }
            Ok(Some(value))
        })?;
        Ok(value.map(|value| Checked { value, problem }))
    }

    /// Parses one attribute value.
    pub(crate) fn checked_value(&mut self) -> Result<Checked<Value>> {
        let value = self.value(1)?;
        let problem = self.problem.take().map(|error| Box::new((String::new(), error)));
        Ok(Checked { value, problem })
    }

    /// Parses a list of attribute values.
    pub(crate) fn checked_values(&mut self) -> Result<Option<Checked<Vec<Value>>>> {
        let value = self.list(|reader| reader.value(1).map(Some))?;
        let problem = self.problem.take().map(|error| Box::new((String::new(), error)));
        Ok(value.map(|value| Checked { value, problem }))
    }

    /// Parses the parameters of a statement, whose numbers are read as PartiQL's.
    pub(crate) fn parameters(&mut self) -> Result<Option<Checked<Vec<Value>>>> {
        self.wording = Wording::Parameters;
        let read = self.checked_values();
        self.wording = Wording::default();
        read
    }

    /// Parses an attribute value at this level of nesting, or remembers its error and returns a
    /// substitute.
    fn value(&mut self, level: usize) -> Result<Value> {
        if level > VALUE_DEPTH_MAX {
            self.refuse_depth();
            self.skip_deep()?;
            return Ok(Value::Null);
        }
        let mut found: Option<(DataType, Value)> = None;
        let mut several = false;
        self.structure(|reader, name| {
            let Some(data_type) = DataType::named(name) else { return reader.skip() };
            if found.as_ref().is_some_and(|(before, _)| *before == data_type) {
                reader.repeated(name)?;
            }
            if let Some(value) = reader.typed(data_type, level)? {
                several |= found.as_ref().is_some_and(|(before, _)| *before != data_type);
                found = Some((data_type, value));
            }
            Ok(())
        })?;
        if several {
            self.refuse(Error::validation(texts::VALUE_HAS_SEVERAL_TYPES));
        }
        let Some((_, value)) = found else {
            self.refuse(Error::validation(texts::VALUE_IS_EMPTY));
            return Ok(Value::Null);
        };
        Ok(value)
    }

    fn refuse(&mut self, error: Error) {
        self.problem.get_or_insert(error);
    }

    /// Refuses a value that is nested too deep, before an empty name inside another one.
    fn refuse_depth(&mut self) {
        let is_later = |before: &Error| before.message == texts::EMPTY_ATTRIBUTE_NAME;
        if self.problem.as_ref().is_none_or(is_later) {
            self.problem = Some(Error::enveloped(texts::NESTED_TOO_DEEP));
        }
    }

    fn typed(&mut self, data_type: DataType, level: usize) -> Result<Option<Value>> {
        match data_type {
            DataType::S => Ok(self.text()?.map(Value::from)),
            DataType::N => {
                let Some(text) = self.borrowed_text()? else { return Ok(None) };
                Ok(Some(self.number_value(&text)))
            }
            DataType::B => match self.borrowed_text()? {
                None => Ok(None),
                Some(text) => blob::read(&text).map(Value::Bytes).map(Some),
            },
            DataType::Bool => Ok(self.boolean()?.map(Value::Bool)),
            DataType::Null => match self.boolean()? {
                None => Ok(None),
                Some(true) => Ok(Some(Value::Null)),
                Some(false) => {
                    self.refuse(Error::validation(texts::NULL_MUST_BE_TRUE));
                    Ok(Some(Value::Null))
                }
            },
            DataType::L => {
                Ok(self.list(|reader| reader.value(level + 1).map(Some))?.map(Value::List))
            }
            DataType::M => {
                let map = self.map(|reader, name| {
                    if name.is_empty() {
                        reader.refuse(Error::validation(texts::EMPTY_ATTRIBUTE_NAME));
                    } else if name.len() > ATTRIBUTE_NAME_BYTES_MAX {
                        reader.refuse(Error::enveloped(texts::ATTRIBUTE_NAME_TOO_LONG));
                    }
                    reader.value(level + 1).map(Some)
                })?;
                Ok(map.map(Value::Map))
            }
            DataType::Ss => self.set(SetKind::Text, |_, text| Ok(Value::text(text))),
            DataType::Ns => self.set(SetKind::Number, |reader, text| Ok(reader.number_value(text))),
            DataType::Bs => self.set(SetKind::Binary, |_, text| blob::read(text).map(Value::Bytes)),
        }
    }

    fn number_value(&mut self, text: &str) -> Value {
        match self.wording.number(text) {
            Ok(number) => Value::Number(number),
            Err(error) => {
                self.refuse(error);
                Value::Null
            }
        }
    }

    /// Parses a set, each member by `member`.
    fn set(
        &mut self,
        kind: SetKind,
        mut member: impl FnMut(&mut Self, &str) -> Result<Value>,
    ) -> Result<Option<Value>> {
        let mut spelled = Vec::new();
        let members = self.list(|reader| {
            let Some(text) = reader.borrowed_text()? else { return Ok(None) };
            let member = member(reader, &text)?;
            spelled.push(text);
            Ok(Some(member))
        })?;
        let Some(members) = members else { return Ok(None) };
        let count = members.len();
        let set = Value::set(members);
        let distinct = if let Value::Set(distinct) = &set { distinct.len() } else { 0 };
        if count == 0 {
            self.refuse(Error::validation(kind.is_empty()));
        } else if distinct < count {
            self.refuse(Error::validation(self.wording.duplicates(kind, &spelled)));
        }
        Ok(Some(set))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DataType {
    S,
    N,
    B,
    Bool,
    Null,
    L,
    M,
    Ss,
    Ns,
    Bs,
}

impl DataType {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "S" => Self::S,
            "N" => Self::N,
            "B" => Self::B,
            "BOOL" => Self::Bool,
            "NULL" => Self::Null,
            "L" => Self::L,
            "M" => Self::M,
            "SS" => Self::Ss,
            "NS" => Self::Ns,
            "BS" => Self::Bs,
            _ => return None,
        })
    }
}
