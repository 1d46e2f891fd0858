//! Expressions, run.
//!
//! What it is not: a choice of methods; the check chose them.
//!
//! Invariant: a value that is not of the type that the check found, which generic collections allow,
//! ends in an exception.

use super::{Machine, Run, SLOT_BYTES, arithmetic, show};
use crate::library::Library;
use crate::program::{Asked, Code, Constant, Place};
use crate::value::{Object, Thrown, Value};

impl Machine<'_> {
    /// Computes an expression.
    pub(super) fn code(&mut self, code: &Code) -> Run<Value> {
        self.spend(1)?;
        match code {
            Code::Constant(Constant::Text(own)) => self.constant_text(own),
            Code::Constant(own) => Ok(Value::constant(own)),
            Code::Local(local) => Ok(self.locals.get(*local).cloned().unwrap_or(Value::Null)),
            Code::Old => Ok(self.old.last().cloned().unwrap_or(Value::Null)),
            Code::Element(array, at) => {
                let (array, at) = (self.code(array)?, self.code(at)?);
                element(&array, &at)
            }
            Code::Set(place, value) => self.set(place, value),
            Code::Update(place, value, gives_old) => self.update(place, value, *gives_old),
            Code::Negate(kind, of) => arithmetic::negate(*kind, &self.code(of)?),
            Code::Invert(kind, of) => arithmetic::invert(*kind, &self.code(of)?),
            Code::Not(of) => Ok(Value::Boolean(!self.truth(of)?)),
            Code::Arithmetic(operator, kind, left, right) => {
                let (left, right) = (self.code(left)?, self.code(right)?);
                arithmetic::compute(operator, *kind, &left, &right)
            }
            Code::Compare(operator, kind, left, right) => {
                let (left, right) = (self.code(left)?, self.code(right)?);
                arithmetic::compare(operator, *kind, &left, &right).map(Value::Boolean)
            }
            Code::Same(asks_same, left, right) => {
                let (left, right) = (self.code(left)?, self.code(right)?);
                Ok(Value::Boolean(show::same(&left, &right) == *asks_same))
            }
            Code::And(left, right) => Ok(Value::Boolean(self.truth(left)? && self.truth(right)?)),
            Code::Or(left, right) => Ok(Value::Boolean(self.truth(left)? || self.truth(right)?)),
            Code::Conditional(condition, yes, no) => {
                let chosen = if self.truth(condition)? { yes } else { no };
                self.code(chosen)
            }
            Code::Concat(parts) => {
                let mut units = Vec::new();
                for part in parts {
                    let part = self.code(part)?;
                    self.show(&part, &mut units)?;
                }
                self.text(units)
            }
            Code::Convert(to, of) => {
                let own = self.code(of)?;
                arithmetic::convert(*to, &own)
            }
            Code::Unbox(of, text) => match self.code(of)? {
                Value::Null => Err(Thrown::null(text)),
                other => Ok(other),
            },
            Code::Cast(asked, of) => {
                let own = self.code(of)?;
                cast(asked, own)
            }
            Code::InstanceOf(of, asked) => {
                let own = self.code(of)?;
                Ok(Value::Boolean(!matches!(own, Value::Null) && is_of(&own, asked)))
            }
            other => self.object_code(other),
        }
    }

    /// Computes an expression that makes or asks an object.
    fn object_code(&mut self, code: &Code) -> Run<Value> {
        match code {
            Code::Call(call) => self.call(call),
            Code::New(class, arguments) => {
                let arguments = self.codes(arguments)?;
                self.construct(*class, arguments)
            }
            Code::NewArray(first, size) => self.new_array(first, size),
            Code::ArrayOf(items) => {
                let items = self.codes(items)?;
                self.array(items)
            }
            Code::Length(of, text) => match self.code(of)? {
                Value::Null => Err(Thrown::null(text)),
                own => {
                    let length = show::array(&own).map_or(0, |own| own.borrow().len());
                    Ok(Value::Int(i32::try_from(length).unwrap_or(i32::MAX)))
                }
            },
            Code::Class(id) => Ok(Value::object(Object::Class(id.get().name.clone()))),
            Code::Context => Ok(Value::object(Object::Context)),
            _ => Ok(Value::Null),
        }
    }

    pub(super) fn codes(&mut self, all: &[Code]) -> Run<Vec<Value>> {
        all.iter().map(|own| self.code(own)).collect()
    }

    /// Computes a condition.
    pub(super) fn truth(&mut self, code: &Code) -> Run<bool> {
        match self.code(code)? {
            Value::Boolean(own) => Ok(own),
            other => Err(Thrown::class_cast(&show::class_of(&other), "java.lang.Boolean")),
        }
    }

    fn new_array(&mut self, first: &Constant, size: &Code) -> Run<Value> {
        let Value::Int(size) = self.code(size)? else { return Err(Thrown::null("")) };
        let Ok(size) = usize::try_from(size) else {
            let message = Some(size.to_string());
            return Err(Thrown::known("java.lang.NegativeArraySizeException", message));
        };
        self.check_room(size.saturating_mul(SLOT_BYTES))?;
        self.array(vec![Value::constant(first); size])
    }

    fn set(&mut self, place: &Place, value: &Code) -> Run<Value> {
        match place {
            Place::Local(local) => {
                let value = self.code(value)?;
                self.set_local(*local, value.clone());
                Ok(value)
            }
            Place::Element(array, at) => {
                let (array, at) = (self.code(array)?, self.code(at)?);
                let value = self.code(value)?;
                element(&array, &at)?;
                set_element(&array, &at, value.clone());
                Ok(value)
            }
        }
    }

    fn update(&mut self, place: &Place, value: &Code, gives_old: bool) -> Run<Value> {
        let target = match place {
            Place::Local(_) => None,
            Place::Element(array, at) => Some((self.code(array)?, self.code(at)?)),
        };
        let old = match (place, &target) {
            (Place::Local(local), _) => self.locals.get(*local).cloned().unwrap_or(Value::Null),
            (_, Some((array, at))) => element(array, at)?,
            _ => Value::Null,
        };
        self.old.push(old.clone());
        let new = self.code(value);
        self.old.pop();
        let new = new?;
        match (place, &target) {
            (Place::Local(local), _) => self.set_local(*local, new.clone()),
            (_, Some((array, at))) => set_element(array, at, new.clone()),
            _ => {}
        }
        Ok(if gives_old { old } else { new })
    }
}

/// Returns an element of an array.
fn element(array: &Value, at: &Value) -> Run<Value> {
    let Some(items) = show::array(array) else {
        return Err(Thrown::null("Cannot load from array because it is null"));
    };
    let items = items.borrow();
    let Value::Int(at) = at else { return Err(Thrown::null("")) };
    let found = usize::try_from(*at).ok().and_then(|at| items.get(at));
    found.cloned().ok_or_else(|| Thrown::array_index(i64::from(*at), items.len()))
}

fn set_element(array: &Value, at: &Value, value: Value) {
    let (Some(items), Value::Int(at)) = (show::array(array), at) else { return };
    let mut items = items.borrow_mut();
    if let Some(place) = usize::try_from(*at).ok().and_then(|at| items.get_mut(at)) {
        *place = value;
    }
}

fn is_of(own: &Value, asked: &Asked) -> bool {
    match asked {
        Asked::Array => show::array(own).is_some(),
        Asked::Class(wanted) if wanted.is("Object") => true,
        Asked::Class(wanted) => {
            let found = match own {
                Value::Object(own) => match &**own {
                    Object::Exception(own) => return own.is_of(*wanted),
                    _ => None,
                },
                _ => None,
            };
            let library = Library::get();
            let found = found.or_else(|| library.find(&show::class_of(own)));
            found.is_some_and(|own| library.is_below(own, *wanted))
        }
    }
}

fn cast(asked: &Asked, own: Value) -> Run<Value> {
    if matches!(own, Value::Null) || is_of(&own, asked) {
        return Ok(own);
    }
    let to = match asked {
        Asked::Class(id) => id.get().name.clone(),
        Asked::Array => "[Ljava.lang.Object;".to_owned(),
    };
    Err(Thrown::class_cast(&show::class_of(&own), &to))
}
