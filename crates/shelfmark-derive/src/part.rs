//! Implements `#[derive(KeyPart)]` for structs of one field and enums without fields.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned as _;
use syn::{Data, DataEnum, DeriveInput, Error, Fields, Index, Member, Path, Result};

use crate::attributes::{crate_path, no_generics, none_of};

const NO_FIELD_ATTRIBUTES: &str =
    "a part has no attributes of its own: say `descending` where it is used in a key";

pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let krate = crate_path(input)?;
    no_generics(input)?;
    match &input.data {
        Data::Struct(data) => of_newtype(&krate, input, &data.fields),
        Data::Enum(data) => of_enum(&krate, input, data),
        Data::Union(data) => Err(Error::new(data.union_token.span(), "a union is no key part")),
    }
}

fn of_newtype(krate: &Path, input: &DeriveInput, fields: &Fields) -> Result<TokenStream> {
    let mut each = fields.iter();
    let (Some(field), None) = (each.next(), each.next()) else {
        let message = "a key part is a struct with exactly one field; for several, \
                       `#[derive(OrderedKey)]` makes the struct a key, alone or within another";
        return Err(Error::new(input.ident.span(), message));
    };
    none_of(&field.attrs, NO_FIELD_ATTRIBUTES)?;
    let member = match &field.ident {
        Some(ident) => Member::Named(ident.clone()),
        None => Member::Unnamed(Index::from(0)),
    };
    let (name, inner) = (&input.ident, &field.ty);
    let bound = quote::quote_spanned!(inner.span()=> <#inner as #krate::KeyPart>);
    Ok(quote! {
        #[automatically_derived]
        impl #krate::KeyPart for #name {
            const DIRECTION: #krate::Direction = #bound::DIRECTION;

            fn key_type() -> #krate::KeyType {
                <#inner as #krate::KeyPart>::key_type()
            }

            fn to_value(&self) -> #krate::Value {
                <#inner as #krate::KeyPart>::to_value(&self.#member)
            }

            fn from_value(value: #krate::Value) -> #krate::Result<Self> {
                ::std::result::Result::Ok(Self {
                    #member: <#inner as #krate::KeyPart>::from_value(value)?,
                })
            }
        }
    })
}

fn of_enum(krate: &Path, input: &DeriveInput, data: &DataEnum) -> Result<TokenStream> {
    if data.variants.is_empty() {
        return Err(Error::new(input.ident.span(), "an enum without variants has no values"));
    }
    for variant in &data.variants {
        if !matches!(variant.fields, Fields::Unit) {
            let message = "a key part's enum has no fields: their order would be unclear";
            return Err(Error::new_spanned(&variant.fields, message));
        }
        none_of(&variant.attrs, NO_FIELD_ATTRIBUTES)?;
    }
    let name = &input.ident;
    let variants: Vec<_> = data.variants.iter().map(|variant| &variant.ident).collect();
    let message = format!("the numbers of the variants of `{name}` must fit into an i32");
    Ok(quote! {
        const _: () = {
            #(::std::assert!(
                #name::#variants as i128 == #name::#variants as i32 as i128,
                #message
            );)*
        };

        #[automatically_derived]
        impl #krate::KeyPart for #name {
            fn key_type() -> #krate::KeyType {
                <i32 as #krate::KeyPart>::key_type()
            }

            fn to_value(&self) -> #krate::Value {
                let number = match self {
                    #(Self::#variants => Self::#variants as i32,)*
                };
                <i32 as #krate::KeyPart>::to_value(&number)
            }

            fn from_value(value: #krate::Value) -> #krate::Result<Self> {
                let number = <i32 as #krate::KeyPart>::from_value(value)?;
                #(if number == Self::#variants as i32 {
                    return ::std::result::Result::Ok(Self::#variants);
                })*
                ::std::result::Result::Err(#krate::Error::mismatch(::std::format!(
                    "{} has no variant of the number {}", ::std::stringify!(#name), number
                )))
            }
        }
    })
}
