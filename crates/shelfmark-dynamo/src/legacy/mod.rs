//! The parameters that expressions replaced: Expected, AttributeUpdates, KeyConditions,
//! QueryFilter, ScanFilter and AttributesToGet.
//!
//! Old applications and mapper libraries still send them. They are translated into the same
//! conditions, patches and projections that expressions become, so nothing below knows them.
//!
//! Invariant: a request has expressions or these, never both.

pub(crate) mod conditions;
pub(crate) mod updates;

pub(crate) use conditions::{Conditions, Expected};
pub(crate) use updates::Updates;

use shelfmark_model::{Path, Projection};

use crate::errors::{Error, Result, texts};
use crate::expression::Kind;
use crate::table::check_attribute_name;

/// Refuses a request that has both kinds of parameters; each comes with true if it was given.
pub(crate) fn not_mixed(legacy: &[(&str, bool)], expressions: &[(Kind, bool)]) -> Result<()> {
    let legacy: Vec<&str> =
        legacy.iter().filter(|(_, given)| *given).map(|(name, _)| *name).collect();
    let expressions: Vec<&str> =
        expressions.iter().filter(|(_, given)| *given).map(|(kind, _)| kind.member()).collect();
    if legacy.is_empty() || expressions.is_empty() {
        return Ok(());
    }
    Err(Error::enveloped(texts::mixed_parameters(&legacy, &expressions)))
}

/// Refuses a ConditionalOperator without conditions to join.
pub(crate) fn operator_fits(operator: Option<&str>, conditions: Option<&Conditions>) -> Result<()> {
    let text = match (operator, conditions.map_or(0, Conditions::len)) {
        (Some(_), 0) => texts::OPERATOR_WITHOUT_CONDITIONS,
        (Some(_), 1) => texts::OPERATOR_WITHOUT_NEED,
        (Some(_) | None, _) => return Ok(()),
    };
    Err(Error::validation(text))
}

/// Translates AttributesToGet.
pub(crate) fn attributes_to_get(names: &[String]) -> Result<Projection> {
    for (position, name) in names.iter().enumerate() {
        check_attribute_name(name)?;
        if names.iter().take(position).any(|other| other == name) {
            return Err(Error::validation(texts::attribute_twice(name)));
        }
    }
    Ok(Projection::Paths(names.iter().map(Path::attribute).collect()))
}
