//! Runs a program.
//!
//! What it is not: able to reach anything but its arguments and what [`Host`] offers.
//!
//! Invariant: everything that can hold other values is known to the machine, which empties all of it
//! at the end: so neither a cycle nor a long chain outlives the call, and no drop goes deep.

mod arithmetic;
mod call;
mod code;
pub(crate) mod entries;
mod number;
mod show;
mod step;
mod thrown;

use std::cell::RefCell;
use std::rc::Rc;

use crate::data_type::DataType;
use crate::library::ClassId;
use crate::limits::{MEMORY_BYTES_MAX, STEPS_MAX};
use crate::program::{Code, Program};
use crate::value::{FieldsValue, List, Object, Thrown, Value};
pub(crate) use arithmetic::convert_constant;
use step::Flow;

/// Offers what a body may ask for.
pub trait Host {
    /// Returns a type by its name or by its text in CQL.
    fn find_type(&self, text: &str) -> Option<DataType>;

    /// Returns the time in milliseconds since 1970.
    fn now_milliseconds(&self) -> i64;

    /// Returns random bits.
    fn random(&self) -> u128;
}

/// The failure of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The exception and its message, as Java shows them.
    pub text: String,
    /// True if the call took too many steps.
    pub is_too_long: bool,
}

/// The depth to which values inside each other are shown, compared and given back.
const VALUE_DEPTH_MAX: usize = 64;

/// Holds what one call has left and what it made.
pub(crate) struct Machine<'m> {
    program: &'m Program,
    host: &'m dyn Host,
    locals: Vec<Value>,
    /// The old values of updates that are under way.
    old: Vec<Value>,
    steps_left: u64,
    memory_left: usize,
    owned: Vec<Value>,
}

type Run<T> = Result<T, Box<Thrown>>;

impl Program {
    /// Calls the function. An argument that the function cannot be called with null must not be.
    ///
    /// Cost: at most [`STEPS_MAX`] steps and [`MEMORY_BYTES_MAX`] bytes.
    ///
    /// # Errors
    ///
    /// * [`Failure`]: the body threw an exception, or needed more than it may have.
    pub fn call(&self, arguments: Vec<Value>, host: &dyn Host) -> Result<Value, Failure> {
        let mut machine = Machine {
            program: self,
            host,
            locals: arguments,
            old: Vec::new(),
            steps_left: STEPS_MAX,
            memory_left: MEMORY_BYTES_MAX,
            owned: Vec::new(),
        };
        machine.locals.resize(self.locals, Value::Null);
        for at in 0..self.parameters.len() {
            let own = machine.locals.get(at).cloned().unwrap_or(Value::Null);
            machine.adopt(&own, 0);
        }
        let flow = machine.steps(&self.body);
        let result = match flow {
            Ok(Flow::Return(value)) => machine.detached(&value, 0),
            Ok(_) => Ok(Value::Null),
            Err(thrown) => Err(thrown),
        };
        machine.release();
        result.map_err(|thrown| thrown.failure())
    }
}

impl Machine<'_> {
    /// Takes steps.
    fn spend(&mut self, steps: u64) -> Run<()> {
        match self.steps_left.checked_sub(steps) {
            Some(left) => {
                self.steps_left = left;
                Ok(())
            }
            None => Err(Thrown::too_long()),
        }
    }

    /// Takes memory, and the steps that it takes to fill it.
    fn take(&mut self, bytes: usize) -> Run<()> {
        self.spend(u64::try_from(bytes / 64).unwrap_or(u64::MAX))?;
        match self.memory_left.checked_sub(bytes) {
            Some(left) => {
                self.memory_left = left;
                Ok(())
            }
            None => Err(Thrown::no_memory()),
        }
    }

    /// Returns a text.
    fn text(&mut self, units: Vec<u16>) -> Run<Value> {
        self.take(units.len() * 2 + 32)?;
        Ok(Value::units(units))
    }

    /// Keeps what can hold other values, to be emptied at the end.
    fn keep(&mut self, own: Value) -> Run<Value> {
        self.take(96)?;
        self.owned.push(own.clone());
        Ok(own)
    }

    fn list(&mut self, items: Vec<Value>, is_fixed: bool) -> Run<Value> {
        self.take(items.len() * 32)?;
        self.keep(Value::List(Rc::new(RefCell::new(List { items, is_fixed }))))
    }

    fn array(&mut self, items: Vec<Value>) -> Run<Value> {
        self.take(items.len() * 32)?;
        self.keep(Value::array(items))
    }

    fn object(&mut self, own: Object) -> Run<Value> {
        self.keep(Value::object(own))
    }

    /// Keeps a value that came from outside, and all in it.
    fn adopt(&mut self, own: &Value, depth: usize) {
        if depth > VALUE_DEPTH_MAX {
            return;
        }
        let parts: Vec<Value> = match own {
            Value::List(list) => list.borrow().items.clone(),
            Value::Set(all) | Value::Map(all) => {
                all.borrow().pairs().into_iter().flat_map(|(key, value)| [key, value]).collect()
            }
            Value::Fields(own) => own.values.borrow().clone(),
            _ => return,
        };
        self.owned.push(own.clone());
        parts.iter().for_each(|own| self.adopt(own, depth + 1));
    }

    /// Copies a result, so that what the machine holds can be emptied.
    fn detached(&mut self, own: &Value, depth: usize) -> Run<Value> {
        if depth > VALUE_DEPTH_MAX {
            return Err(Thrown::known("java.lang.StackOverflowError", None));
        }
        self.spend(1)?;
        Ok(match own {
            Value::List(list) => {
                let items = list.borrow().items.clone();
                self.take(items.len() * 32)?;
                Value::list(self.all_detached(&items, depth)?)
            }
            Value::Set(all) => {
                let items: Vec<Value> =
                    all.borrow().pairs().into_iter().map(|(key, _)| key).collect();
                self.take(items.len() * 64)?;
                Value::set(self.all_detached(&items, depth)?)
            }
            Value::Map(all) => {
                let pairs = all.borrow().pairs();
                self.take(pairs.len() * 96)?;
                let mut copied = Vec::with_capacity(pairs.len());
                for (key, value) in &pairs {
                    copied.push((self.detached(key, depth + 1)?, self.detached(value, depth + 1)?));
                }
                Value::map(copied)
            }
            Value::Fields(own) => {
                let values = own.values.borrow().clone();
                let values = self.all_detached(&values, depth)?;
                Value::fields(&own.shape, own.is_user, values)
            }
            Value::Object(_) => Value::Null,
            other => other.clone(),
        })
    }

    fn all_detached(&mut self, items: &[Value], depth: usize) -> Run<Vec<Value>> {
        items.iter().map(|own| self.detached(own, depth + 1)).collect()
    }

    /// Empties all that can hold other values.
    fn release(&mut self) {
        for own in &self.owned {
            match own {
                Value::List(list) => drop(std::mem::take(&mut list.borrow_mut().items)),
                Value::Set(all) | Value::Map(all) => all.borrow_mut().clear(),
                Value::Fields(own) => drop(std::mem::take(&mut *own.values.borrow_mut())),
                Value::Object(own) => match &**own {
                    Object::Array(items) | Object::Iterator(items) => {
                        drop(std::mem::take(&mut *items.borrow_mut()));
                    }
                    Object::Entry(pair) => *pair.borrow_mut() = (Value::Null, Value::Null),
                    _ => {}
                },
                _ => {}
            }
        }
        self.locals.clear();
        self.old.clear();
    }
}

/// Returns a constant of a class.
pub(crate) fn constant(class: ClassId, name: &str) -> Option<Code> {
    call::constant(class, name)
}

/// Returns the fields of a value that has some.
fn fields(own: &Value) -> Option<&Rc<FieldsValue>> {
    match own {
        Value::Fields(own) => Some(own),
        _ => None,
    }
}
