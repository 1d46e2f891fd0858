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
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use crate::data_type::DataType;
use crate::library::ClassId;
use crate::limits::{MEMORY_BYTES_MAX, STEPS_MAX};
use crate::program::{Code, Program};
use crate::value::{FieldsValue, List, Object, Thrown, Value};
pub(crate) use arithmetic::convert_constant;
use entries::Entries;
use step::Flow;

/// Offers what a body may ask for.
pub trait Host {
    /// Returns a type by its name or by its text in CQL.
    fn find_type(&self, text: &str) -> Option<DataType>;

    /// Returns the time in milliseconds since 1970.
    fn now_milliseconds(&self) -> i64;

    /// Returns random bits.
    fn random(&self) -> u128;

    /// Returns the steps that are left for calls; a call takes at most [`STEPS_MAX`] of them.
    fn steps_left(&self) -> u64 {
        STEPS_MAX
    }

    /// Accounts for the steps of a call that has ended.
    fn took(&self, _steps: u64) {}

    /// Reserves memory for the call that runs: so many bytes in all. Returns false if there is no room.
    fn has_room(&self, _bytes: usize) -> bool {
        true
    }
}

/// The failure of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The exception and its message, as Java shows them.
    pub text: String,
    /// True if the call took too many steps.
    pub is_too_long: bool,
    /// True if the [`Host`] had no room for what the call needed.
    pub is_refused: bool,
}

/// Memory is asked of the [`Host`] in steps of so many bytes.
const ROOM_BYTES: usize = 1024 * 1024;

/// The memory that a value in a list or an array takes.
const SLOT_BYTES: usize = 32;

/// The memory that an object takes beside its parts, with its place among those that are emptied at the
/// end.
const OBJECT_BYTES: usize = 128;

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
    /// The memory that the host has reserved.
    reserved: usize,
    is_refused: bool,
    owned: Vec<Value>,
    /// The texts of the body that were made, by the place of their characters.
    constants: HashMap<*const u16, Rc<[u16]>>,
}

type Run<T> = Result<T, Box<Thrown>>;

impl Program {
    /// Calls the function. An argument that the function cannot be called with null must not be.
    ///
    /// Cost: at most [`STEPS_MAX`] steps and [`MEMORY_BYTES_MAX`] bytes, and what the host has left.
    ///
    /// # Errors
    ///
    /// * [`Failure`]: the body threw an exception, or needed more than it may have.
    pub fn call(&self, arguments: Vec<Value>, host: &dyn Host) -> Result<Value, Failure> {
        let steps = host.steps_left().min(STEPS_MAX);
        let mut machine = Machine {
            program: self,
            host,
            locals: arguments,
            old: Vec::new(),
            steps_left: steps,
            memory_left: MEMORY_BYTES_MAX,
            reserved: 0,
            is_refused: false,
            owned: Vec::new(),
            constants: HashMap::new(),
        };
        machine.locals.resize(self.locals, Value::Null);
        for at in 0..self.parameters.len() {
            let own = machine.locals.get(at).cloned().unwrap_or(Value::Null);
            machine.adopt(&own, 0);
        }
        let flow = machine.steps(&self.body);
        let result = match flow {
            Ok(Flow::Return(value)) => machine.result(&value),
            Ok(_) => Ok(Value::Null),
            Err(thrown) => Err(thrown),
        };
        machine.release();
        host.took(steps - machine.steps_left);
        let is_refused = machine.is_refused;
        result.map_err(|thrown| Failure { is_refused, ..thrown.failure() })
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
            None => {
                self.steps_left = 0;
                Err(Thrown::too_long())
            }
        }
    }

    /// Takes memory, and the steps that it takes to fill it.
    fn take(&mut self, bytes: usize) -> Run<()> {
        self.spend(u64::try_from(bytes / 64).unwrap_or(u64::MAX))?;
        self.check_room(bytes)?;
        self.memory_left -= bytes;
        let taken = MEMORY_BYTES_MAX - self.memory_left;
        if taken > self.reserved {
            let wanted = taken.next_multiple_of(ROOM_BYTES);
            if !self.host.has_room(wanted) {
                self.is_refused = true;
                return Err(Thrown::no_memory());
            }
            self.reserved = wanted;
        }
        Ok(())
    }

    /// Refuses what there is no memory for, before it is made; it is taken when it is there.
    fn check_room(&self, bytes: usize) -> Run<()> {
        if bytes > self.memory_left { Err(Thrown::no_memory()) } else { Ok(()) }
    }

    /// Returns a text.
    fn text(&mut self, units: Vec<u16>) -> Run<Value> {
        self.take(units.len() * 2 + 32)?;
        Ok(Value::units(units))
    }

    /// Keeps what can hold other values, to be emptied at the end.
    fn keep(&mut self, own: Value) -> Run<Value> {
        self.take(OBJECT_BYTES)?;
        self.owned.push(own.clone());
        Ok(own)
    }

    /// Returns a text of the body, which is made once.
    fn constant_text(&mut self, own: &Arc<[u16]>) -> Run<Value> {
        let place = own.as_ptr();
        if let Some(made) = self.constants.get(&place) {
            return Ok(Value::Text(Rc::clone(made)));
        }
        self.take(own.len() * 2 + OBJECT_BYTES)?;
        let made: Rc<[u16]> = own.iter().copied().collect();
        self.constants.insert(place, Rc::clone(&made));
        Ok(Value::Text(made))
    }

    /// Returns the entries of a set or map in their order, and takes the steps of sorting them.
    fn pairs(&mut self, all: &RefCell<Entries>) -> Run<Vec<(Value, Value)>> {
        let (length, is_sorted) = (all.borrow().len(), all.borrow().is_sorted);
        self.take(length * 2 * SLOT_BYTES)?;
        if is_sorted {
            let sizes = all.borrow().unordered().map(|(key, _)| size_bytes(key)).sum();
            self.spend_sorting(length, sizes)?;
        }
        Ok(all.borrow().pairs())
    }

    /// Takes the steps of sorting so many values of so many bytes together.
    fn spend_sorting(&mut self, values: usize, bytes: usize) -> Run<()> {
        let rounds = u64::from(values.checked_ilog2().unwrap_or(0)) + 1;
        let each = u64::try_from(values + bytes / 32).unwrap_or(u64::MAX);
        self.spend(each.saturating_mul(rounds))
    }

    fn list(&mut self, items: Vec<Value>, is_fixed: bool) -> Run<Value> {
        self.take(items.len() * SLOT_BYTES)?;
        self.keep(Value::List(Rc::new(RefCell::new(List { items, is_fixed }))))
    }

    fn array(&mut self, items: Vec<Value>) -> Run<Value> {
        self.take(items.len() * SLOT_BYTES)?;
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

    /// Returns a copy of what the function gives back. Texts in it that are one here are many there.
    fn result(&mut self, own: &Value) -> Run<Value> {
        let copy = self.detached(own, 0)?;
        self.take(deep_size_bytes(&copy))?;
        Ok(copy)
    }

    /// Copies a value, so that what the machine holds can be emptied.
    fn detached(&mut self, own: &Value, depth: usize) -> Run<Value> {
        if depth > VALUE_DEPTH_MAX {
            return Err(Thrown::known("java.lang.StackOverflowError", None));
        }
        self.spend(1)?;
        if matches!(own, Value::List(_) | Value::Set(_) | Value::Map(_) | Value::Fields(_)) {
            self.take(OBJECT_BYTES)?;
        }
        Ok(match own {
            Value::List(list) => {
                self.take(list.borrow().items.len() * SLOT_BYTES)?;
                let items = list.borrow().items.clone();
                Value::list(self.all_detached(&items, depth)?)
            }
            Value::Set(all) => {
                let items: Vec<Value> = self.pairs(all)?.into_iter().map(|(key, _)| key).collect();
                self.take(items.len() * 64)?;
                Value::set(self.all_detached(&items, depth)?)
            }
            Value::Map(all) => {
                let pairs = self.pairs(all)?;
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

/// Returns how many bytes a value has that holds no others.
fn size_bytes(own: &Value) -> usize {
    let of_bits = |bits: u64| usize::try_from(bits / 8).unwrap_or(usize::MAX);
    match own {
        Value::Text(own) => own.len() * 2,
        Value::BigInteger(own) | Value::BigDecimal(own, _) => of_bits(own.bits()),
        Value::Buffer(own) => own.borrow().bytes.len(),
        Value::Object(own) => match &**own {
            Object::Builder(own) => own.borrow().len() * 2,
            Object::Exception(own) => own.size_bytes(),
            _ => 0,
        },
        _ => 0,
    }
}

/// Returns how many bytes all is that a result holds; it holds nothing twice.
fn deep_size_bytes(own: &Value) -> usize {
    match own {
        Value::List(list) => list.borrow().items.iter().map(deep_size_bytes).sum(),
        Value::Set(all) | Value::Map(all) => {
            let of = |(key, value): (&Value, &Value)| deep_size_bytes(key) + deep_size_bytes(value);
            all.borrow().unordered().map(of).sum()
        }
        Value::Fields(own) => own.values.borrow().iter().map(deep_size_bytes).sum(),
        other => size_bytes(other),
    }
}

/// Returns the fields of a value that has some.
fn fields(own: &Value) -> Option<&Rc<FieldsValue>> {
    match own {
        Value::Fields(own) => Some(own),
        _ => None,
    }
}
