//! Values of user types and tuples.
//!
//! What it is not: a conversion between types: what is read and written has the field's own.
//!
//! Invariant: a field holds null or a value of its type.

use std::rc::Rc;

use super::super::{Machine, Run, fields as fields_of, show};
use super::string;
use crate::data_type::DataType;
use crate::value::{FieldsValue, Object, Thrown, Value};

/// Returns what a primitive type is where there is no value.
fn zero(name: &str) -> Value {
    match name {
        "Bool" => Value::Boolean(false),
        "Byte" => Value::Byte(0),
        "Short" => Value::Short(0),
        "Int" => Value::Int(0),
        "Long" | "Time" => Value::Long(0),
        "Float" => Value::Float(0.0),
        "Double" => Value::Double(0.0),
        _ => Value::Null,
    }
}

/// Returns true if a method reads and writes fields of a type, and the class it does so by.
fn takes(name: &str, ty: &DataType) -> (bool, &'static str) {
    match name {
        "Bool" => (*ty == DataType::Boolean, "java.lang.Boolean"),
        "Byte" => (*ty == DataType::Tinyint, "java.lang.Byte"),
        "Short" => (*ty == DataType::Smallint, "java.lang.Short"),
        "Int" => (*ty == DataType::Int, "java.lang.Integer"),
        "Long" => (*ty == DataType::Bigint, "java.lang.Long"),
        "Time" => (*ty == DataType::Time, "java.lang.Long"),
        "Float" => (*ty == DataType::Float, "java.lang.Float"),
        "Double" => (*ty == DataType::Double, "java.lang.Double"),
        "String" => (*ty == DataType::Text, "java.lang.String"),
        "Bytes" | "BytesUnsafe" => (*ty == DataType::Blob, "java.nio.ByteBuffer"),
        "Varint" => (*ty == DataType::Varint, "java.math.BigInteger"),
        "Decimal" => (*ty == DataType::Decimal, "java.math.BigDecimal"),
        "UUID" => (*ty == DataType::Uuid, "java.util.UUID"),
        "Inet" => (*ty == DataType::Inet, "java.net.InetAddress"),
        "Timestamp" => (*ty == DataType::Timestamp, "java.util.Date"),
        "Date" => (*ty == DataType::Date, "org.apache.cassandra.cql3.functions.types.LocalDate"),
        "List" => (matches!(ty, DataType::List(_)), "java.util.List<?>"),
        "Set" => (matches!(ty, DataType::Set(_)), "java.util.Set<?>"),
        "Map" => (matches!(ty, DataType::Map(..)), "java.util.Map<?, ?>"),
        "UDTValue" => {
            (matches!(ty, DataType::User(_)), "org.apache.cassandra.cql3.functions.types.UDTValue")
        }
        "TupleValue" => (
            matches!(ty, DataType::Tuple(_)),
            "org.apache.cassandra.cql3.functions.types.TupleValue",
        ),
        _ => (true, "java.lang.Object"),
    }
}

/// Returns true if a value is one of a type, as deep as it goes.
pub(super) fn is_of_type(own: &Value, ty: &DataType, depth: usize) -> bool {
    if depth > 64 {
        return false;
    }
    let all =
        |items: &[Value], ty: &DataType| items.iter().all(|own| is_of_type(own, ty, depth + 1));
    match (own, ty) {
        (Value::Null, _)
        | (Value::Boolean(_), DataType::Boolean)
        | (Value::Byte(_), DataType::Tinyint)
        | (Value::Short(_), DataType::Smallint)
        | (Value::Int(_), DataType::Int)
        | (Value::Long(_), DataType::Bigint | DataType::Time)
        | (Value::Float(_), DataType::Float)
        | (Value::Double(_), DataType::Double)
        | (Value::Text(_), DataType::Text)
        | (Value::BigInteger(_), DataType::Varint)
        | (Value::BigDecimal(..), DataType::Decimal)
        | (Value::Uuid(_), DataType::Uuid)
        | (Value::Timestamp(_), DataType::Timestamp)
        | (Value::Date(_), DataType::Date)
        | (Value::Duration(..), DataType::Duration)
        | (Value::Inet(_), DataType::Inet)
        | (Value::Buffer(_), DataType::Blob) => true,
        (Value::List(list), DataType::List(of)) => all(&list.borrow().items, of),
        (Value::Set(set), DataType::Set(of)) => {
            set.borrow().pairs().iter().all(|(own, _)| is_of_type(own, of, depth + 1))
        }
        (Value::Map(map), DataType::Map(key, value)) => {
            map.borrow().pairs().iter().all(|own| {
                is_of_type(&own.0, key, depth + 1) && is_of_type(&own.1, value, depth + 1)
            })
        }
        (Value::Fields(own), DataType::User(shape)) => own.is_user && own.shape.name == shape.name,
        (Value::Fields(own), DataType::Tuple(shape)) => {
            !own.is_user && own.shape.fields.len() == shape.fields.len()
        }
        _ => false,
    }
}

impl Machine<'_> {
    /// Calls a method of a value with fields.
    pub(super) fn fields_method(
        &mut self,
        own: &Value,
        held: &Rc<FieldsValue>,
        name: &str,
        arguments: &[Value],
    ) -> Run<Option<Value>> {
        let Some(key) = arguments.first().filter(|_| !matches!(name, "equals" | "hashCode")) else {
            return Ok(None);
        };
        let at = self.field(held, key)?;
        let Some((_, ty)) = held.shape.fields.get(at) else { return Ok(None) };
        let value = held.values.borrow().get(at).cloned().unwrap_or(Value::Null);
        if name == "isNull" {
            return Ok(Some(Value::Boolean(matches!(value, Value::Null))));
        }
        if name == "getObject" {
            return Ok(Some(value));
        }
        let write = |new: Value| {
            if let Some(place) = held.values.borrow_mut().get_mut(at) {
                *place = new;
            }
        };
        if let Some(kind) = name.strip_prefix("get") {
            let (fits, class) = takes(kind, ty);
            if let (true, Some(Value::Object(wanted))) = (kind.is_empty(), arguments.get(1))
                && let Object::Class(wanted) = &**wanted
                && !matches!(value, Value::Null)
                && show::class_of(&value) != *wanted
                && !show::class_of(&value).ends_with("List")
            {
                return Err(Thrown::no_codec(ty, wanted));
            }
            if !fits {
                return Err(Thrown::no_codec(ty, class));
            }
            return Ok(Some(match value {
                Value::Null => zero(kind),
                // What is read of a field is a value of its own.
                value => {
                    let copy = self.detached(&value, 0)?;
                    self.adopt(&copy, 0);
                    copy
                }
            }));
        }
        if name == "setToNull" {
            write(Value::Null);
            return Ok(Some(own.clone()));
        }
        let Some(kind) = name.strip_prefix("set") else { return Ok(None) };
        let (fits, class) = takes(kind, ty);
        let new = arguments.get(1).cloned().unwrap_or(Value::Null);
        let new = self.detached(&new, 0)?;
        if !fits || !is_of_type(&new, ty, 0) {
            let class = if kind.is_empty() { show::class_of(&new) } else { class.to_owned() };
            return Err(Thrown::no_codec(ty, &class));
        }
        self.adopt(&new, 0);
        write(new);
        Ok(Some(own.clone()))
    }

    /// Returns the place of a field.
    fn field(&mut self, held: &FieldsValue, key: &Value) -> Run<usize> {
        match key {
            Value::Int(at) => {
                let length = held.shape.fields.len();
                let found = super::place(*at, length);
                found.ok_or_else(|| Thrown::array_index(i64::from(*at), length))
            }
            Value::Text(_) => {
                let name = string(std::slice::from_ref(key), 0)?;
                let quoted = name.strip_prefix('"').and_then(|own| own.strip_suffix('"'));
                let folded = name.to_lowercase();
                let wanted = quoted.unwrap_or(&folded);
                let found = held.shape.fields.iter().position(|(own, _)| own == wanted);
                let found =
                    found.or_else(|| held.shape.fields.iter().position(|(own, _)| *own == name));
                found.ok_or_else(|| {
                    Thrown::illegal(format!("{name} is not a field defined in this UDT"))
                })
            }
            _ => Err(Thrown::null("")),
        }
    }

    /// Calls a method of what makes such values.
    pub(super) fn context_method(&mut self, name: &str, arguments: &[Value]) -> Run<Option<Value>> {
        let wanted = match (name, arguments) {
            ("newReturnUDTValue" | "newReturnTupleValue", []) => Some(self.program.returns.clone()),
            ("newArgUDTValue" | "newArgTupleValue", [Value::Int(at)]) => {
                let found =
                    usize::try_from(*at).ok().and_then(|at| self.program.parameters.get(at));
                Some(found.map(|(_, ty)| ty.clone()).ok_or_else(|| {
                    Thrown::illegal(format!(
                        "Function does not declare an argument with index {at}"
                    ))
                })?)
            }
            ("newArgUDTValue" | "newArgTupleValue", [_]) => {
                let wanted = string(arguments, 0)?;
                let found = self.program.parameters.iter().find(|(own, _)| *own == wanted);
                Some(found.map(|(_, ty)| ty.clone()).ok_or_else(|| {
                    Thrown::illegal(format!("Function does not declare an argument '{wanted}'"))
                })?)
            }
            ("newUDTValue" | "newTupleValue", [_]) => {
                let wanted = string(arguments, 0)?;
                Some(
                    self.host
                        .find_type(&wanted)
                        .ok_or_else(|| Thrown::illegal(format!("No UDT named {wanted}")))?,
                )
            }
            _ => None,
        };
        let wants_user = name.ends_with("UDTValue");
        let made = match wanted {
            Some(DataType::User(shape)) if wants_user => Value::fields(&shape, true, Vec::new()),
            Some(DataType::Tuple(shape)) if !wants_user => Value::fields(&shape, false, Vec::new()),
            Some(other) => {
                let what = if wants_user { "UDT" } else { "tuple" };
                return Err(Thrown::illegal(format!("Type {} is not a {what}", other.name())));
            }
            None => return Ok(None),
        };
        let count = fields_of(&made).map_or(0, |own| own.shape.fields.len());
        self.take(count * 32)?;
        self.keep(made).map(Some)
    }
}
