//! Updates attribute by attribute: AttributeUpdates.

use std::collections::BTreeMap;

use shelfmark_model::{Operand, Patch, PatchOperation, PatchValue, Path, Value};

use crate::errors::{Error, Result, texts, type_name};
use crate::json::{Checked, Reader, Writer, put_value};
use crate::shape::Shape;
use crate::table::check_attribute_name;

/// Updates by attribute, as in a request.
pub(crate) type Updates = BTreeMap<String, Update>;

/// The update of one attribute.
#[derive(Debug, Default)]
pub(crate) struct Update {
    action: Option<String>,
    value: Option<Checked<Value>>,
}

const ACTIONS: &[&str] = &["ADD", "DELETE", "PUT"];

/// Reads updates by attribute.
pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Option<Updates>> {
    reader.map(|reader, _| {
        let mut update = Update::default();
        let present = reader.structure(|reader, name| {
            match name {
                "Action" => update.action = reader.text()?,
                "Value" => update.value = Some(reader.checked_value()?),
                _ => reader.skip()?,
            }
            Ok(())
        })?;
        Ok(present.then_some(update))
    })
}

/// Writes the updates as they were given.
pub(crate) fn put(out: &mut Writer, updates: &Updates) {
    for (name, update) in updates {
        out.name(name).object(|out| {
            if let Some(action) = &update.action {
                out.name("Action").text(action);
            }
            if let Some(value) = &update.value {
                put_value(out.name("Value"), value.unchecked());
            }
        });
    }
}

/// Checks the shape of AttributeUpdates.
pub(crate) fn shape(updates: Option<&Updates>, shape: &mut Shape) {
    for (name, update) in updates.into_iter().flatten() {
        let path = format!("AttributeUpdates.{name}.member.action");
        shape.one_of(&path, update.action.as_deref(), ACTIONS);
    }
}

/// Translates the updates.
pub(crate) fn patch(updates: Updates) -> Result<Patch> {
    let operations = updates
        .into_iter()
        .map(|(name, update)| {
            check_attribute_name(&name)?;
            let value = update.value.map(Checked::checked).transpose()?;
            operation(Path::attribute(&name), &name, update.action.as_deref(), value)
        })
        .collect::<Result<_>>()?;
    Ok(Patch { operations })
}

fn operation(
    path: Path,
    name: &str,
    action: Option<&str>,
    value: Option<Value>,
) -> Result<PatchOperation> {
    let action = action.unwrap_or("PUT");
    let Some(value) = value else {
        if action == "DELETE" {
            return Ok(PatchOperation::Remove(path));
        }
        return Err(Error::validation(texts::update_without_value(action, name)));
    };
    let wrong = |value: &Value| Error::validation(texts::update_type(action, type_name(value)));
    match action {
        "ADD" => match type_name(&value) {
            "N" | "SS" | "NS" | "BS" => Ok(PatchOperation::Add(path, value)),
            "L" => {
                let before = PatchValue::IfNotExists(
                    path.clone(),
                    Box::new(PatchValue::Operand(Operand::Value(Value::List(Vec::new())))),
                );
                let more = PatchValue::Operand(Operand::Value(value));
                let appended = PatchValue::ListAppend(Box::new(before), Box::new(more));
                Ok(PatchOperation::Set(path, appended))
            }
            _ => Err(wrong(&value)),
        },
        "DELETE" => match type_name(&value) {
            "SS" | "NS" | "BS" => Ok(PatchOperation::Subtract(path, value)),
            _ => Err(wrong(&value)),
        },
        _ => Ok(PatchOperation::Set(path, PatchValue::Operand(Operand::Value(value)))),
    }
}
