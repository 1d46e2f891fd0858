//! Buffers of bytes.
//!
//! What it is not: a view of others' bytes; a slice and a duplicate are copies.
//!
//! Invariant: the position is never behind the limit, nor the limit behind the bytes.

use std::cell::RefCell;
use std::rc::Rc;

use super::super::{Machine, Run, SLOT_BYTES, show};
use super::{int, place, size};
use crate::value::{Buffer, Thrown, Value};

fn underflow() -> Box<Thrown> {
    Thrown::known("java.nio.BufferUnderflowException", None)
}

fn overflow() -> Box<Thrown> {
    Thrown::known("java.nio.BufferOverflowException", None)
}

/// Reads bytes at a place, or at the position, which moves on.
fn read<const N: usize>(buffer: &mut Buffer, at: Option<i32>) -> Run<[u8; N]> {
    let from = match at {
        Some(at) => place(at, buffer.limit)
            .ok_or_else(|| Thrown::known("java.lang.IndexOutOfBoundsException", None))?,
        None => buffer.position,
    };
    let found = buffer.bytes.get(from..from + N).filter(|_| from + N <= buffer.limit);
    let found: [u8; N] = found.and_then(|own| own.try_into().ok()).ok_or_else(underflow)?;
    if at.is_none() {
        buffer.position += N;
    }
    Ok(found)
}

fn write(buffer: &mut Buffer, at: Option<i32>, bytes: &[u8]) -> Run<()> {
    let from = match at {
        Some(at) => place(at, buffer.limit)
            .ok_or_else(|| Thrown::known("java.lang.IndexOutOfBoundsException", None))?,
        None => buffer.position,
    };
    let to = from + bytes.len();
    if to > buffer.limit {
        return Err(overflow());
    }
    let place = buffer.bytes.get_mut(from..to).ok_or_else(overflow)?;
    place.copy_from_slice(bytes);
    if at.is_none() {
        buffer.position = to;
    }
    Ok(())
}

fn bytes_of(own: &Value) -> Vec<u8> {
    let items = show::array(own).map(|own| own.borrow().clone()).unwrap_or_default();
    let byte = |own: &Value| match own {
        Value::Byte(own) => own.cast_unsigned(),
        _ => 0,
    };
    items.iter().map(byte).collect()
}

impl Machine<'_> {
    pub(super) fn buffer_static(&mut self, name: &str, arguments: &[Value]) -> Run<Option<Value>> {
        let bytes = match (name, arguments) {
            ("allocate", [_]) => {
                let wanted = int(arguments, 0)?;
                let length = usize::try_from(wanted)
                    .map_err(|_| Thrown::illegal(format!("capacity < 0: ({wanted} < 0)")))?;
                self.check_room(length)?;
                vec![0; length]
            }
            ("wrap", [Value::Null]) => return Err(Thrown::null("")),
            ("wrap", [own]) => bytes_of(own),
            _ => return Ok(None),
        };
        self.take(bytes.len() + 64)?;
        Ok(Some(Value::bytes(bytes)))
    }

    /// Calls a method of a buffer.
    pub(super) fn buffer_method(
        &mut self,
        own: &Value,
        buffer: &Rc<RefCell<Buffer>>,
        name: &str,
        arguments: &[Value],
    ) -> Run<Option<Value>> {
        if name.starts_with("get") && !matches!(name, "getClass") {
            return self.buffer_get(own, buffer, name, arguments);
        }
        if name.starts_with("put") {
            let array = arguments.last().and_then(show::array);
            let length = array.map_or(0, |own| own.borrow().len());
            self.spend(u64::try_from(length / 16).unwrap_or(u64::MAX))?;
            put(buffer, arguments)?;
            return Ok(Some(own.clone()));
        }
        let mut held = buffer.borrow_mut();
        match (name, arguments) {
            ("remaining", []) => return Ok(Some(size(held.remaining().len()))),
            ("hasRemaining", []) => return Ok(Some(Value::Boolean(!held.remaining().is_empty()))),
            ("position", []) => return Ok(Some(size(held.position))),
            ("limit", []) => return Ok(Some(size(held.limit))),
            ("capacity", []) => return Ok(Some(size(held.bytes.len()))),
            ("position", [_]) => {
                let wanted = int(arguments, 0)?;
                held.position = place(wanted, held.limit + 1).ok_or_else(|| {
                    Thrown::illegal(format!("newPosition > limit: ({wanted} > {})", held.limit))
                })?;
            }
            ("limit", [_]) => {
                let wanted = int(arguments, 0)?;
                held.limit = place(wanted, held.bytes.len() + 1).ok_or_else(|| {
                    Thrown::illegal(format!(
                        "newLimit > capacity: ({wanted} > {})",
                        held.bytes.len()
                    ))
                })?;
                held.position = held.position.min(held.limit);
            }
            ("flip", []) => {
                held.limit = held.position;
                held.position = 0;
            }
            ("rewind", []) => held.position = 0,
            ("clear", []) => {
                held.position = 0;
                held.limit = held.bytes.len();
            }
            ("duplicate", []) => {
                self.take(held.bytes.len() + 64)?;
                let copy = held.clone();
                return Ok(Some(Value::Buffer(Rc::new(RefCell::new(copy)))));
            }
            ("slice", []) => {
                let copy = held.remaining().to_vec();
                self.take(copy.len() + 64)?;
                return Ok(Some(Value::bytes(copy)));
            }
            ("array", []) => {
                self.check_room(held.bytes.len() * SLOT_BYTES)?;
                let bytes = held.bytes.clone();
                drop(held);
                let all = bytes.into_iter().map(|own| Value::Byte(own.cast_signed())).collect();
                return self.array(all).map(Some);
            }
            _ => return Ok(None),
        }
        Ok(Some(own.clone()))
    }

    fn buffer_get(
        &mut self,
        own: &Value,
        buffer: &Rc<RefCell<Buffer>>,
        name: &str,
        arguments: &[Value],
    ) -> Run<Option<Value>> {
        if let Some(array) = arguments.first().and_then(show::array) {
            let length = array.borrow().len();
            self.spend(u64::try_from(length / 16).unwrap_or(u64::MAX))?;
            let found = buffer.borrow().remaining().get(..length).map(<[u8]>::to_vec);
            let found = found.ok_or_else(underflow)?;
            *array.borrow_mut() =
                found.into_iter().map(|own| Value::Byte(own.cast_signed())).collect();
            buffer.borrow_mut().position += length;
            return Ok(Some(own.clone()));
        }
        let at = match arguments {
            [] => None,
            _ => Some(int(arguments, 0)?),
        };
        let mut held = buffer.borrow_mut();
        Ok(Some(match name {
            "get" => Value::Byte(i8::from_be_bytes(read(&mut held, at)?)),
            "getShort" => Value::Short(i16::from_be_bytes(read(&mut held, at)?)),
            "getInt" => Value::Int(i32::from_be_bytes(read(&mut held, at)?)),
            "getLong" => Value::Long(i64::from_be_bytes(read(&mut held, at)?)),
            "getFloat" => Value::Float(f32::from_be_bytes(read(&mut held, at)?)),
            "getDouble" => Value::Double(f64::from_be_bytes(read(&mut held, at)?)),
            _ => return Ok(None),
        }))
    }
}

fn put(buffer: &Rc<RefCell<Buffer>>, arguments: &[Value]) -> Run<()> {
    let at = match arguments {
        [_, _] => Some(int(arguments, 0)?),
        _ => None,
    };
    let bytes = match arguments.last() {
        Some(Value::Byte(own)) => own.to_be_bytes().to_vec(),
        Some(Value::Short(own)) => own.to_be_bytes().to_vec(),
        Some(Value::Int(own)) => own.to_be_bytes().to_vec(),
        Some(Value::Long(own)) => own.to_be_bytes().to_vec(),
        Some(Value::Float(own)) => own.to_be_bytes().to_vec(),
        Some(Value::Double(own)) => own.to_be_bytes().to_vec(),
        Some(Value::Buffer(other)) if Rc::ptr_eq(buffer, other) => {
            return Err(Thrown::illegal("The source buffer is this buffer"));
        }
        Some(Value::Buffer(other)) => {
            let bytes = other.borrow().remaining().to_vec();
            let limit = other.borrow().limit;
            write(&mut buffer.borrow_mut(), None, &bytes)?;
            other.borrow_mut().position = limit;
            return Ok(());
        }
        Some(own) if show::array(own).is_some() => bytes_of(own),
        _ => return Err(Thrown::null("")),
    };
    write(&mut buffer.borrow_mut(), at, &bytes)
}
