//! `WRITETIME`, `MAXWRITETIME` and `TTL`: which column they are of, and which of its cells.
//!
//! Invariant: what lies inside of a frozen value is as old as the cell that it is in.

use shelfmark_cql_protocol::{Result, invalid};
use shelfmark_cql_syntax::ast::{Name, Selector, WriteMetadata};
use shelfmark_cql_types::CqlType;
use shelfmark_cql_types::term::{MetadataPath, Receiver, Scope, prepare};

use super::names::{column_name, key_name};
use super::selection::{element_types, slice_bound};

/// Names the column and the cells that `WRITETIME` and the like are asked of.
pub(super) struct Asked<'s> {
    pub(super) column: &'s Name,
    /// The part of the column whose cells have the property.
    pub(super) part: &'s Selector,
    /// True if what is asked of lies deeper than that.
    pub(super) is_inside: bool,
}

/// Finds what a property is asked of.
pub(super) fn asked(kind: WriteMetadata, of: &Selector) -> Result<Asked<'_>> {
    // What lies deeper is frozen, and as old as the part of the column that it is in.
    let (mut part, mut outer): (&Selector, Option<&Selector>) = (of, None);
    loop {
        let inner = match part {
            Selector::Element { of, .. }
            | Selector::Slice { of, .. }
            | Selector::Field { of, .. } => &**of,
            Selector::Column(column) => {
                return Ok(Asked { column, part, is_inside: false });
            }
            _ => break,
        };
        if let Selector::Column(column) = inner {
            // An element of a slice is that element.
            if let (Selector::Slice { .. }, Some(element @ Selector::Element { .. })) =
                (part, outer)
            {
                part = element;
            }
            return Ok(Asked { column, part, is_inside: outer.is_some() });
        }
        (part, outer) = (inner, Some(part));
    }
    invalid(format!("Cannot use selection function {} on {}", kind.name(), column_name(part)))
}

/// Returns the cells of a column whose property is selected, and whether they are several.
pub(super) fn metadata_path(
    of: &Selector,
    column: &Name,
    ty: &CqlType,
    scope: &mut Scope<'_>,
) -> Result<(MetadataPath, bool)> {
    Ok(match of {
        Selector::Element { key, .. } => {
            if matches!(ty, CqlType::List { .. }) {
                return invalid(format!(
                    "Element selection is only allowed on sets and maps, but {} is a list",
                    column.as_str()
                ));
            }
            let (key_type, _) = element_types(ty, "element", column.as_str())?;
            let name = key_name(ty, column.as_str());
            let key = prepare(key, Receiver { name: &name, ty: &key_type }, scope)?;
            (MetadataPath::Element(Box::new(key)), false)
        }
        Selector::Slice { from, to, .. } => {
            let (key_type, _) = element_types(ty, "slice", column.as_str())?;
            let name = key_name(ty, column.as_str());
            let to_key = Receiver { name: &name, ty: &key_type };
            let from = slice_bound(from.as_ref(), to_key, scope)?;
            let to = slice_bound(to.as_ref(), to_key, scope)?;
            (MetadataPath::Slice(from, to), true)
        }
        Selector::Field { field, .. } => {
            let CqlType::User { definition, .. } = ty else {
                return invalid(format!(
                    "Invalid field selection: {} of type {ty} is not a user type",
                    column.as_str()
                ));
            };
            let Some((at, _)) = definition.field(field.as_str()) else {
                return invalid(format!(
                    "{} of type {ty} has no field {}",
                    column.as_str(),
                    field.as_str()
                ));
            };
            (MetadataPath::Field(at), false)
        }
        _ => (MetadataPath::Whole, ty.is_multi_cell()),
    })
}
