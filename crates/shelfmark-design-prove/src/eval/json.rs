//! Parses states and inputs from the JSON of witnesses.

use serde_json::Value as Json;

use super::state::{State, Tuple};
use shelfmark_design_language::model::pattern::Param;
use shelfmark_design_language::model::{Model, Value};

/// Parses a state; attributes that are left out are absent.
///
/// # Errors
///
/// What does not fit the model, as a message. Mend the JSON.
pub fn state_of_json(model: &Model, json: &Json) -> Result<State, String> {
    let mut state = State::empty(model);
    let fields = json.as_object().ok_or("a state is an object")?;
    for (name, list) in fields {
        let id = model.relations.iter().position(|relation| relation.name.text == *name);
        let id = id.ok_or_else(|| format!("there is no {name}"))?;
        let relation = model.relation(id);
        let list = list.as_array().ok_or_else(|| format!("{name} is no list"))?;
        for one in list {
            let tuple: Result<Tuple, String> = relation
                .columns
                .iter()
                .map(|column| {
                    let value = one.get(&column.name).unwrap_or(&Json::Null);
                    Value::of_json(value, &column.ty)
                        .ok_or_else(|| format!("{name}.{} is no {}", column.name, column.ty.name()))
                })
                .collect();
            if let Some(tuples) = state.relations.get_mut(id) {
                tuples.push(tuple?);
            }
        }
    }
    Ok(state)
}

/// Parses the inputs of a call; those that are left out are absent.
///
/// # Errors
///
/// What does not fit the model, as a message. Mend the JSON.
pub fn inputs_of_json(params: &[Param], json: &Json) -> Result<Vec<Value>, String> {
    params
        .iter()
        .map(|param| {
            let value = json.get(&param.name).unwrap_or(&Json::Null);
            Value::of_json(value, &param.ty)
                .ok_or_else(|| format!("{} is no {}", param.name, param.ty.name()))
        })
        .collect()
}
