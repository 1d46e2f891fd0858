//! Methods, constructors and constants of the classes in `classes.txt`: what they do.
//!
//! What it is not: their types.
//!
//! Invariant: a method takes as many steps as it looks at values.

mod big;
mod buffer;
mod collection;
mod fields;
mod numbers;
mod object;
mod text;
pub(super) mod time;

use std::cell::RefCell;
use std::rc::Rc;

use num_bigint::BigInt;

use super::{Machine, OBJECT_BYTES, Run, show, size_bytes};
use crate::library::{ClassId, Library};
use crate::program::{Call, Code, Constant};
use crate::value::{Class, Object, Thrown, Value};

/// Returns a constant of a class.
pub(super) fn constant(class: ClassId, name: &str) -> Option<Code> {
    let plain = |own| Some(Code::Constant(own));
    match (class.get().simple(), name) {
        ("Boolean", "TRUE") => plain(Constant::Boolean(true)),
        ("Boolean", "FALSE") => plain(Constant::Boolean(false)),
        ("Byte", "MAX_VALUE") => plain(Constant::Byte(i8::MAX)),
        ("Byte", "MIN_VALUE") => plain(Constant::Byte(i8::MIN)),
        ("Short", "MAX_VALUE") => plain(Constant::Short(i16::MAX)),
        ("Short", "MIN_VALUE") => plain(Constant::Short(i16::MIN)),
        ("Integer", "MAX_VALUE") => plain(Constant::Int(i32::MAX)),
        ("Integer", "MIN_VALUE") => plain(Constant::Int(i32::MIN)),
        ("Long", "MAX_VALUE") => plain(Constant::Long(i64::MAX)),
        ("Long", "MIN_VALUE") => plain(Constant::Long(i64::MIN)),
        ("Float", "MAX_VALUE") => plain(Constant::Float(f32::MAX)),
        ("Float", "MIN_VALUE") => plain(Constant::Float(f32::from_bits(1))),
        ("Float", "NaN") => plain(Constant::Float(f32::NAN)),
        ("Float", "POSITIVE_INFINITY") => plain(Constant::Float(f32::INFINITY)),
        ("Float", "NEGATIVE_INFINITY") => plain(Constant::Float(f32::NEG_INFINITY)),
        ("Double", "MAX_VALUE") => plain(Constant::Double(f64::MAX)),
        ("Double", "MIN_VALUE") => plain(Constant::Double(f64::from_bits(1))),
        ("Double", "NaN") => plain(Constant::Double(f64::NAN)),
        ("Double", "POSITIVE_INFINITY") => plain(Constant::Double(f64::INFINITY)),
        ("Double", "NEGATIVE_INFINITY") => plain(Constant::Double(f64::NEG_INFINITY)),
        ("Math", "PI") => plain(Constant::Double(std::f64::consts::PI)),
        ("Math", "E") => plain(Constant::Double(std::f64::consts::E)),
        ("BigInteger" | "BigDecimal" | "RoundingMode", name) => Some(Code::New(
            class,
            vec![Code::Constant(Constant::Text(format!("\u{1}{name}").encode_utf16().collect()))],
        )),
        _ => None,
    }
}

impl Machine<'_> {
    /// Calls a method.
    pub(super) fn call(&mut self, call: &Call) -> Run<Value> {
        let receiver = match &call.receiver {
            Some(code) => Some(self.code(code)?),
            None => None,
        };
        let arguments = self.codes(&call.arguments)?;
        let name = call.method.name.as_str();
        // Long values are looked at, compared and copied.
        let bytes: usize = arguments.iter().map(size_bytes).sum();
        self.spend(u64::try_from(bytes / 32).unwrap_or(u64::MAX))?;
        match receiver {
            None => self.call_static(call.class.get().simple(), name, &arguments),
            Some(Value::Null) => Err(Thrown::null(&call.null)),
            Some(own) => {
                let found = self.call_virtual(&own, name, &arguments)?;
                match found {
                    Some(value) => Ok(value),
                    None => Err(Thrown::class_cast(&show::class_of(&own), &call.class.get().name)),
                }
            }
        }
    }

    /// Calls a method of a value; `None` if values of its class have none of the name.
    fn call_virtual(&mut self, own: &Value, name: &str, arguments: &[Value]) -> Run<Option<Value>> {
        let found = match own {
            Value::Text(own) => self.text_method(own, name, arguments)?,
            Value::List(list) => self.list_method(list, name, arguments)?,
            Value::Set(all) => self.set_method(all, name, arguments)?,
            Value::Map(all) => self.map_method(all, name, arguments)?,
            Value::Fields(fields) => self.fields_method(own, fields, name, arguments)?,
            Value::Buffer(buffer) => self.buffer_method(own, buffer, name, arguments)?,
            Value::BigInteger(number) => self.integer_method(number, name, arguments)?,
            Value::BigDecimal(number, scale) => {
                self.decimal_method(&((**number).clone(), *scale), name, arguments)?
            }
            Value::Uuid(_)
            | Value::Timestamp(_)
            | Value::Date(_)
            | Value::Duration(..)
            | Value::Inet(_) => self.time_method(own, name, arguments)?,
            Value::Object(object) => self.object_method(own, object, name, arguments)?,
            _ => None,
        };
        if found.is_some() {
            return Ok(found);
        }
        if let Some(found) = numbers::number_method(own, name, arguments)? {
            return Ok(Some(found));
        }
        self.common_method(own, name, arguments)
    }

    /// Calls a method that all values have.
    fn common_method(
        &mut self,
        own: &Value,
        name: &str,
        arguments: &[Value],
    ) -> Run<Option<Value>> {
        self.spend(u64::try_from(size_bytes(own) / 32).unwrap_or(u64::MAX))?;
        Ok(Some(match (name, arguments) {
            ("equals", [other]) => Value::Boolean(self.equal(own, other)?),
            ("hashCode", []) => Value::Int(self.hash(own)?),
            ("toString", []) => {
                let mut units = Vec::new();
                self.show(own, &mut units)?;
                self.text(units)?
            }
            ("getClass", []) => self.object(Object::Class(show::class_of(own)))?,
            ("compareTo", [other]) => {
                if matches!(other, Value::Null) {
                    return Err(Thrown::null(""));
                }
                match show::order(own, other) {
                    Some(order) => Value::Int(order as i32),
                    None => {
                        return Err(Thrown::class_cast(
                            &show::class_of(other),
                            &show::class_of(own),
                        ));
                    }
                }
            }
            _ => return Ok(None),
        }))
    }

    /// Calls a method of a class.
    fn call_static(&mut self, class: &str, name: &str, arguments: &[Value]) -> Run<Value> {
        if matches!(class, "BigInteger" | "BigDecimal") {
            self.take(OBJECT_BYTES)?;
        }
        let found = match class {
            "String" => self.text_static(name, arguments)?,
            "Math" => numbers::math(self, name, arguments)?,
            "Boolean" | "Byte" | "Short" | "Integer" | "Long" | "Float" | "Double"
            | "Character" => self.box_static(class, name, arguments)?,
            "BigInteger" | "BigDecimal" => big::static_method(class, name, arguments)?,
            "List" | "Arrays" | "Collections" => self.collection_static(name, arguments)?,
            "Objects" => self.objects_static(name, arguments)?,
            "System" => Some(match name {
                "nanoTime" => Value::Long(self.host.now_milliseconds().wrapping_mul(1_000_000)),
                _ => Value::Long(self.host.now_milliseconds()),
            }),
            "UUID" | "LocalDate" | "Duration" => self.time_static(class, name, arguments)?,
            "ByteBuffer" => self.buffer_static(name, arguments)?,
            _ => None,
        };
        found.ok_or_else(Thrown::unsupported)
    }

    /// Makes an object.
    pub(super) fn construct(&mut self, class: ClassId, arguments: Vec<Value>) -> Run<Value> {
        let is_exception = |name: &str| {
            let library = Library::get();
            library.find(name).is_some_and(|own| library.is_below(class, own))
        };
        if is_exception("Throwable") {
            return self.exception(class, &arguments);
        }
        match class.get().simple() {
            "String" => self.new_text(&arguments),
            "StringBuilder" => {
                let mut units = Vec::new();
                if let Some(own) = arguments.first().filter(|own| !matches!(own, Value::Int(_))) {
                    self.show(own, &mut units)?;
                }
                self.object(Object::Builder(RefCell::new(units)))
            }
            "ArrayList" | "LinkedList" => {
                let items = match arguments.first() {
                    Some(Value::Int(_)) | None => Vec::new(),
                    Some(own) => self.items_of(own)?,
                };
                self.list(items, false)
            }
            "HashSet" | "LinkedHashSet" | "TreeSet" | "HashMap" | "LinkedHashMap" | "TreeMap" => {
                self.new_entries(class.get().simple(), &arguments)
            }
            "Integer" | "Long" | "Float" | "Double" => {
                Ok(arguments.into_iter().next().unwrap_or(Value::Null))
            }
            "BigInteger" => {
                self.spend_reading(&arguments)?;
                big::new_integer(&arguments)
            }
            "BigDecimal" => {
                self.spend_reading(&arguments)?;
                big::new_decimal(&arguments)
            }
            "RoundingMode" => Ok(rounding(&arguments)),
            "UUID" => {
                let half = |at: usize| match arguments.get(at) {
                    Some(Value::Long(own)) => u128::from(own.cast_unsigned()),
                    _ => 0,
                };
                Ok(Value::Uuid(half(0) << 64 | half(1)))
            }
            "Date" => {
                self.take(OBJECT_BYTES / 2)?;
                Ok(Value::timestamp(match arguments.first() {
                    Some(Value::Long(own)) => *own,
                    _ => self.host.now_milliseconds(),
                }))
            }
            _ => self.object(Object::Plain),
        }
    }

    /// Takes the steps of reading a long number, and the memory that it takes.
    fn spend_reading(&mut self, arguments: &[Value]) -> Run<()> {
        let digits = arguments.first().map_or(0, |own| size_bytes(own) / 2);
        let words = u64::try_from(digits / 16).unwrap_or(u64::MAX);
        self.spend(words.saturating_mul(words) / 32)?;
        self.take(digits + OBJECT_BYTES)
    }

    fn exception(&mut self, class: ClassId, arguments: &[Value]) -> Run<Value> {
        self.take(arguments.iter().map(size_bytes).sum::<usize>().saturating_mul(2))?;
        let mut message = None;
        let mut cause = None;
        for own in arguments {
            match own {
                Value::Text(own) => message = Some(String::from_utf16_lossy(own)),
                Value::Object(own) => {
                    if let Object::Exception(own) = &**own {
                        // Causes are not followed further down.
                        cause = Some(Box::new(Thrown { cause: None, ..own.clone() }));
                    }
                }
                _ => {}
            }
        }
        if arguments.len() == 1 && message.is_none() {
            message = cause.as_ref().map(|own| own.shown());
        }
        self.object(Object::Exception(Thrown { class: Class::Known(class), message, cause }))
    }
}

/// Returns the name of a constant that is made when it is used.
fn constant_name(arguments: &[Value]) -> Option<String> {
    match arguments {
        [Value::Text(own)] if own.first() == Some(&1) => {
            Some(String::from_utf16_lossy(own.get(1..).unwrap_or_default()))
        }
        _ => None,
    }
}

fn rounding(arguments: &[Value]) -> Value {
    const MODES: [&str; 7] =
        ["UP", "DOWN", "CEILING", "FLOOR", "HALF_UP", "HALF_DOWN", "HALF_EVEN"];
    let name = constant_name(arguments);
    let found = MODES.iter().find(|own| Some(**own) == name.as_deref());
    Value::object(Object::Rounding(found.copied().unwrap_or("HALF_UP")))
}

/// Returns an argument that is an `int`.
fn int(arguments: &[Value], at: usize) -> Run<i32> {
    match arguments.get(at) {
        Some(Value::Int(own)) => Ok(*own),
        Some(Value::Char(own)) => Ok(i32::from(*own)),
        Some(other) => Err(Thrown::class_cast(&show::class_of(other), "java.lang.Integer")),
        None => Err(Thrown::null("")),
    }
}

fn long(arguments: &[Value], at: usize) -> Run<i64> {
    match arguments.get(at) {
        Some(Value::Long(own)) => Ok(*own),
        Some(Value::Int(own)) => Ok(i64::from(*own)),
        Some(other) => Err(Thrown::class_cast(&show::class_of(other), "java.lang.Long")),
        None => Err(Thrown::null("")),
    }
}

/// Returns an argument that is a text.
fn text(arguments: &[Value], at: usize) -> Run<Rc<[u16]>> {
    match arguments.get(at) {
        Some(Value::Text(own)) => Ok(Rc::clone(own)),
        Some(Value::Object(own)) => match &**own {
            Object::Builder(own) => Ok(own.borrow().as_slice().into()),
            _ => Err(Thrown::null("")),
        },
        Some(Value::Null) | None => Err(Thrown::null("")),
        Some(other) => Err(Thrown::class_cast(&show::class_of(other), "java.lang.String")),
    }
}

fn string(arguments: &[Value], at: usize) -> Run<String> {
    text(arguments, at).map(|own| String::from_utf16_lossy(&own))
}

/// Returns an argument that is an integer of any size.
fn big(arguments: &[Value], at: usize) -> Run<Rc<BigInt>> {
    match arguments.get(at) {
        Some(Value::BigInteger(own)) => Ok(Rc::clone(own)),
        _ => Err(Thrown::null("")),
    }
}

/// Returns a place inside something of a length; `None` if it is outside.
fn place(at: i32, length: usize) -> Option<usize> {
    usize::try_from(at).ok().filter(|at| *at < length)
}

fn size(length: usize) -> Value {
    Value::Int(i32::try_from(length).unwrap_or(i32::MAX))
}
