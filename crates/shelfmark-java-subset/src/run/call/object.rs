//! Objects that only exist while a function runs: iterators, entries, exceptions, classes.
//!
//! What it is not: texts that are built, which are with the texts.
//!
//! Invariant: an iterator walks over what was there when it was made.

use std::rc::Rc;

use super::super::{Machine, Run};
use crate::value::{Object, Thrown, Value};

impl Machine<'_> {
    /// Calls a method of an object.
    pub(super) fn object_method(
        &mut self,
        own: &Value,
        object: &Rc<Object>,
        name: &str,
        arguments: &[Value],
    ) -> Run<Option<Value>> {
        match (&**object, name) {
            (Object::Builder(units), _) => self.builder_method(own, units, name, arguments),
            (Object::Iterator(left), "hasNext") => {
                Ok(Some(Value::Boolean(!left.borrow().is_empty())))
            }
            (Object::Iterator(left), "next") => {
                let next = left.borrow_mut().pop();
                next.map(Some).ok_or_else(|| Thrown::no_element(None))
            }
            (Object::Entry(pair), "getKey") => Ok(Some(pair.borrow().0.clone())),
            (Object::Entry(pair), "getValue") => Ok(Some(pair.borrow().1.clone())),
            (Object::Exception(thrown), "getMessage") => match thrown.message() {
                Some(message) => self.text(message.encode_utf16().collect()).map(Some),
                None => Ok(Some(Value::Null)),
            },
            (Object::Exception(thrown), "getCause") => match &thrown.cause {
                Some(cause) => {
                    self.take(cause.size_bytes())?;
                    self.object(Object::Exception((**cause).clone())).map(Some)
                }
                None => Ok(Some(Value::Null)),
            },
            (Object::Class(class), "getName") => {
                self.text(class.encode_utf16().collect()).map(Some)
            }
            (Object::Class(class), "getSimpleName") => {
                let simple = class.rsplit(['.', '$']).next().unwrap_or(class);
                self.text(simple.encode_utf16().collect()).map(Some)
            }
            (Object::Context, _) => self.context_method(name, arguments),
            _ => Ok(None),
        }
    }

    /// Calls a method of `Objects`.
    pub(super) fn objects_static(&mut self, name: &str, arguments: &[Value]) -> Run<Option<Value>> {
        let is_null = |own: &Value| matches!(own, Value::Null);
        Ok(Some(match (name, arguments) {
            ("equals", [one, other]) => Value::Boolean(self.equal(one, other)?),
            ("hashCode", [own]) => Value::Int(if is_null(own) { 0 } else { self.hash(own)? }),
            ("isNull", [own]) => Value::Boolean(is_null(own)),
            ("nonNull", [own]) => Value::Boolean(!is_null(own)),
            ("requireNonNull", [own]) if is_null(own) => return Err(Thrown::null("")),
            ("requireNonNull", [own]) => own.clone(),
            ("toString", [own, other]) if is_null(own) => other.clone(),
            ("toString", [own, ..]) => {
                let mut units = Vec::new();
                self.show(own, &mut units)?;
                self.text(units)?
            }
            _ => return Ok(None),
        }))
    }
}
