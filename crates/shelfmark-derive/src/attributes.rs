//! Parses the `#[key(…)]` attributes of types and fields.

use syn::punctuated::Punctuated;
use syn::{Attribute, DeriveInput, Error, LitStr, Path, Result, parse_quote};

/// The attributes of a field.
#[derive(Default)]
pub(crate) struct FieldAttributes {
    pub(crate) descending: bool,
    pub(crate) name: Option<LitStr>,
}

/// Returns the path under which the generated code finds the traits.
pub(crate) fn crate_path(input: &DeriveInput) -> Result<Path> {
    let mut path: Path = parse_quote!(::shelfmark);
    for attribute in key_attributes(&input.attrs) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("crate") {
                path = meta.value()?.parse()?;
                return Ok(());
            }
            Err(meta
                .error("a type takes `crate = path` only; `descending` and `name` are for fields"))
        })?;
    }
    Ok(path)
}

/// Parses the attributes of a field.
pub(crate) fn of_field(attributes: &[Attribute]) -> Result<FieldAttributes> {
    let mut found = FieldAttributes::default();
    for attribute in key_attributes(attributes) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("descending") {
                found.descending = true;
                return Ok(());
            }
            if meta.path.is_ident("name") {
                let name: LitStr = meta.value()?.parse()?;
                if name.value().is_empty() || name.value().starts_with('_') {
                    let message = "a column's name is not empty and begins with no underscore";
                    return Err(Error::new(name.span(), message));
                }
                found.name = Some(name);
                return Ok(());
            }
            Err(meta.error("a field takes `descending` and `name = \"…\"` only"))
        })?;
    }
    Ok(found)
}

/// Refuses `#[key(…)]` where it has no meaning.
pub(crate) fn none_of(attributes: &[Attribute], message: &str) -> Result<()> {
    match key_attributes(attributes).next() {
        None => Ok(()),
        Some(attribute) => Err(Error::new_spanned(attribute, message)),
    }
}

/// Refuses type parameters: a key's columns must be known for the type alone.
pub(crate) fn no_generics(input: &DeriveInput) -> Result<()> {
    let parameters: &Punctuated<_, _> = &input.generics.params;
    if parameters.is_empty() {
        return Ok(());
    }
    let message = "a key has no type, lifetime or const parameters: write the types out";
    Err(Error::new_spanned(parameters, message))
}

fn key_attributes(attributes: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    attributes.iter().filter(|attribute| attribute.path().is_ident("key"))
}
