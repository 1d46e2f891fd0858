//! Functions of collections: `map_keys`, `map_values`, `collection_count`, `…_min`, `…_max`,
//! `…_sum`, `…_avg`.

use shelfmark_cql_protocol::CqlError;

use super::aggregate::Aggregate;
use super::resolve::untyped_argument;
use super::scalar::{Scalar, refused};
use crate::value::{CqlType, compare, elements, entries, put_collection};

/// Returns the functions of this module by name.
pub(super) fn candidates(
    name: &str,
    arguments: &[Option<CqlType>],
    texts: &[String],
) -> Result<Option<Vec<Scalar>>, CqlError> {
    let text = texts.first().map(String::as_str).unwrap_or_default();
    if !name.starts_with("collection_") && !matches!(name, "map_keys" | "map_values") {
        return Ok(None);
    }
    let parameter = match name {
        "map_keys" | "map_values" => "map",
        "collection_count" => "collection",
        _ => "numeric_set_or_list",
    };
    let [argument] = arguments else {
        return Err(CqlError::invalid(format!(
            "Invalid number of arguments for function system.{name}({parameter})"
        )));
    };
    let Some(ty) = argument else {
        return Err(untyped_argument(text, &format!("{name}({parameter})")));
    };
    let mismatch = |wanted: &str| {
        Err(CqlError::invalid(format!(
            "Function system.{name} requires a {wanted} argument, but found argument {text} of type {ty}"
        )))
    };
    if name.starts_with("map_") {
        let CqlType::Map { key, value, .. } = ty else { return mismatch("map") };
        let keys = name == "map_keys";
        let returns =
            if keys { CqlType::set((**key).clone()) } else { CqlType::list((**value).clone()) };
        return Ok(Some(vec![Scalar::strict(
            name,
            vec![ty.clone()],
            returns.freeze(),
            move |values| {
                let found = values.first().map(|value| entries(value)).transpose();
                let found = found.map_err(|error| CqlError::invalid(error.0))?;
                let parts: Vec<&[u8]> = found
                    .into_iter()
                    .flatten()
                    .flatten()
                    .filter_map(|(k, v)| if keys { k } else { v })
                    .collect();
                Ok(Some(put_collection(parts.len(), parts.iter().copied())))
            },
        )]));
    }
    if name == "collection_count" {
        if !ty.is_collection() {
            return mismatch("collection");
        }
        return Ok(Some(vec![Scalar::strict(name, vec![ty.clone()], CqlType::Int, |values| {
            let count = values.first().and_then(|value| value.first_chunk::<4>());
            Ok(count.map(|count| count.to_vec()))
        })]));
    }
    let (CqlType::List { element, .. } | CqlType::Set { element, .. }) = ty else {
        return mismatch(if matches!(name, "collection_min" | "collection_max") {
            "set or list"
        } else {
            "numeric set/list"
        });
    };
    fold(name, ty, element, text).map(|found| Some(vec![found]))
}

fn fold(name: &str, ty: &CqlType, element: &CqlType, text: &str) -> Result<Scalar, CqlError> {
    let own = element.clone();
    if matches!(name, "collection_min" | "collection_max") {
        let greatest = name == "collection_max";
        return Ok(Scalar::strict(name, vec![ty.clone()], element.clone(), move |values| {
            let found = values.first().map(|value| elements(value)).transpose();
            let found = found.map_err(|error| CqlError::invalid(error.0))?;
            let all = found.into_iter().flatten().flatten().flatten();
            let best = if greatest {
                all.max_by(|a, b| compare(&own, a, b))
            } else {
                all.min_by(|a, b| compare(&own, a, b))
            };
            Ok(best.map(<[u8]>::to_vec))
        }));
    }
    let aggregate = match name {
        "collection_sum" => Aggregate::sum(element),
        "collection_avg" => Aggregate::average(element),
        _ => return Err(CqlError::invalid(format!("Unknown function '{name}'"))),
    };
    let Some(aggregate) = aggregate else {
        return Err(refused(
            &format!("system.{name}"),
            &format!(
                "requires a numeric set/list argument, but found argument {text} of type {ty}"
            ),
        ));
    };
    let returns = aggregate.returns.clone();
    Ok(Scalar::strict(name, vec![ty.clone()], returns, move |values| {
        let found = values.first().map(|value| elements(value)).transpose();
        let found = found.map_err(|error| CqlError::invalid(error.0))?;
        let mut accumulator = aggregate.start();
        for value in found.into_iter().flatten().flatten() {
            accumulator.add_values(&[value])?;
        }
        Ok(accumulator.value())
    }))
}
