//! Implements `#[derive(OrderedKey)]`: columns, values, and the prefixes of a struct.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{Data, DeriveInput, Error, Field, Fields, Index, Member, Path, Result, Type};

use crate::attributes::{crate_path, no_generics, of_field};

/// The most columns of a key, as in the engine's schemas.
const PARTS_MAX: usize = 32;

/// A field as a part of the key.
struct Part<'f> {
    member: Member,
    of_type: &'f Type,
    name: String,
    descending: bool,
}

pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let krate = crate_path(input)?;
    no_generics(input)?;
    let parts = parts(input)?;
    let name = &input.ident;
    let columns = parts.iter().map(|part| columns(&krate, part));
    let values = parts.iter().map(|part| {
        let (member, of_type) = (&part.member, part.of_type);
        quote_spanned!(of_type.span()=>
            <#of_type as #krate::OrderedKey>::put_values(&self.#member, values)
        )
    });
    let members = parts.iter().map(|part| &part.member);
    let takes = parts.iter().map(|part| {
        let of_type = part.of_type;
        quote_spanned!(of_type.span()=> parts.take::<#of_type>()?)
    });
    let prefixes = prefixes(&krate, input, &parts);
    Ok(quote! {
        #[automatically_derived]
        impl #krate::OrderedKey for #name {
            fn columns() -> ::std::vec::Vec<#krate::SortColumn> {
                let mut columns = ::std::vec::Vec::new();
                #(columns.extend(#columns);)*
                columns
            }

            fn put_values(&self, values: &mut ::std::vec::Vec<#krate::Value>) {
                #(#values;)*
            }

            fn take_values(parts: &mut #krate::Parts) -> #krate::Result<Self> {
                ::std::result::Result::Ok(Self { #(#members: #takes),* })
            }
        }

        #[automatically_derived]
        impl #krate::KeyRef<#name> for #name {
            fn put_key_values(&self, values: &mut ::std::vec::Vec<#krate::Value>) {
                #krate::OrderedKey::put_values(self, values);
            }
        }

        #[automatically_derived]
        impl #krate::KeyPrefix<#name> for #name {
            fn to_prefix(&self) -> ::std::vec::Vec<#krate::Value> {
                #krate::OrderedKey::to_values(self)
            }
        }

        #prefixes
    })
}

fn parts(input: &DeriveInput) -> Result<Vec<Part<'_>>> {
    let fields = match &input.data {
        Data::Struct(data) => &data.fields,
        Data::Enum(data) => {
            let message = "an enum is no key of several parts: for one without fields, \
                           `#[derive(KeyPart)]`";
            return Err(Error::new(data.enum_token.span(), message));
        }
        Data::Union(data) => {
            return Err(Error::new(data.union_token.span(), "a union is no key"));
        }
    };
    let list: Vec<&Field> = match fields {
        Fields::Named(fields) => fields.named.iter().collect(),
        Fields::Unnamed(fields) => fields.unnamed.iter().collect(),
        Fields::Unit => Vec::new(),
    };
    if list.is_empty() {
        let message = "a key needs at least one field: without any, a table has one entry";
        return Err(Error::new(input.ident.span(), message));
    }
    if list.len() > PARTS_MAX {
        let message = format!("a key has at most {PARTS_MAX} parts");
        return Err(Error::new(input.ident.span(), message));
    }
    let mut parts: Vec<Part<'_>> = Vec::with_capacity(list.len());
    for (place, field) in list.into_iter().enumerate() {
        let attributes = of_field(&field.attrs)?;
        let (member, own) = match &field.ident {
            Some(ident) => (Member::Named(ident.clone()), ident.unraw().to_string()),
            None => (Member::Unnamed(Index::from(place)), format!("key{}", place + 1)),
        };
        let name = attributes.name.as_ref().map_or(own, syn::LitStr::value);
        if parts.iter().any(|part| part.name == name) {
            let message = format!("two parts have the column name `{name}`");
            return Err(Error::new_spanned(field, message));
        }
        let descending = attributes.descending;
        parts.push(Part { member, of_type: &field.ty, name, descending });
    }
    Ok(parts)
}

fn columns(krate: &Path, part: &Part<'_>) -> TokenStream {
    let (of_type, name) = (part.of_type, &part.name);
    // At the field's type, so that the compiler points there when it is no key.
    match part.descending {
        true => quote_spanned!(of_type.span()=> #krate::descending_columns::<#of_type>(#name)),
        false => quote_spanned!(of_type.span()=>
            <#of_type as #krate::OrderedKey>::columns_within(#name)
        ),
    }
}

/// Generates the prefixes: the first part alone, and every number of leading parts as a tuple.
fn prefixes(krate: &Path, input: &DeriveInput, parts: &[Part<'_>]) -> TokenStream {
    let name = &input.ident;
    let tuples = (1..=parts.len()).map(|length| {
        let types: Vec<&Type> = parts.iter().take(length).map(|part| part.of_type).collect();
        let places = (0..length).map(Index::from);
        let given: Vec<_> = (0..length).map(|place| format_ident!("Part{place}")).collect();
        quote! {
            #[automatically_derived]
            impl<#(#given: #krate::KeyRef<#types>),*> #krate::KeyPrefix<#name> for (#(#given,)*) {
                fn to_prefix(&self) -> ::std::vec::Vec<#krate::Value> {
                    let mut values = ::std::vec::Vec::new();
                    #(#krate::KeyRef::<#types>::put_key_values(&self.#places, &mut values);)*
                    values
                }
            }
        }
    });
    // A tuple by itself would be a tuple of leading parts as well.
    let is_tuple = |part: &&Part<'_>| matches!(part.of_type, Type::Tuple(_));
    let first = parts.first().filter(|part| !is_tuple(part)).map(|part| {
        let of_type = part.of_type;
        let borrowed = is_string(of_type).then(|| {
            quote! {
                #[automatically_derived]
                impl #krate::KeyPrefix<#name> for &str {
                    fn to_prefix(&self) -> ::std::vec::Vec<#krate::Value> {
                        ::std::vec![#krate::Value::text(*self)]
                    }
                }
            }
        });
        quote! {
            #[automatically_derived]
            impl #krate::KeyPrefix<#name> for #of_type {
                fn to_prefix(&self) -> ::std::vec::Vec<#krate::Value> {
                    #krate::OrderedKey::to_values(self)
                }
            }

            #borrowed
        }
    });
    quote!(#(#tuples)* #first)
}

/// Returns true if the type is written as `String`; a macro sees no more of it.
fn is_string(of_type: &Type) -> bool {
    match of_type {
        Type::Path(path) => path.path.segments.last().is_some_and(|last| last.ident == "String"),
        _ => false,
    }
}
