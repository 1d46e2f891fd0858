//! `mask_null` and `mask_replace`: the masks that need no knowledge of texts.

use std::sync::Arc;

use super::{Body, Scalar};
use crate::types::CqlType;

/// The functions of this module by name.
pub(super) fn candidates(name: &str, arguments: &[Option<CqlType>]) -> Option<Vec<Scalar>> {
    let ty = arguments.first().cloned().flatten()?;
    let (count, body): (usize, Body) = match name {
        "mask_null" => (1, Arc::new(|_, _| Ok(None))),
        "mask_replace" => {
            (2, Arc::new(|_, values| Ok(values.get(1).copied().flatten().map(<[u8]>::to_vec))))
        }
        _ => return None,
    };
    let arguments = vec![ty.clone(); count];
    Some(vec![Scalar { name: name.to_owned(), arguments, returns: ty, body }])
}
