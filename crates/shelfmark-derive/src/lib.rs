//! Derive macros for keys of ordered tables: `#[derive(OrderedKey)]` and `#[derive(KeyPart)]`.
//!
//! What it is not: no runtime. The traits and what the generated code calls are in
//! `shelfmark-typed`; the generated code finds them in `::shelfmark`, or where
//! `#[key(crate = …)]` says.
//!
//! Invariant: a type that cannot be a key is refused while compiling, at the place that is wrong.

mod attributes;
mod ordered_key;
mod part;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Derives a key of ordered tables for a struct: its fields, in order, are the parts.
///
/// Every field is a `KeyPart`, or a key of several parts itself, which then lies flat in this one.
/// Columns are named after the fields (`key1`, `key2`, … in a tuple struct; `author.id` for a part
/// `id` of a field `author`). `#[key(descending)]` on a field turns its order round; `#[key(name = "…")]` gives its
/// column another name, so that the field can be renamed without touching stored tables.
///
/// The leading fields, alone or as tuples, become prefixes of the key.
///
/// # Examples
///
/// ```
/// use shelfmark::{OrderedKey, OrderedTable, Shelfmark, Timestamp};
///
/// #[derive(Debug, PartialEq, OrderedKey)]
/// struct PostKey {
///     author: String,
///     #[key(descending)]
///     written: Timestamp,
/// }
///
/// let shelfmark = Shelfmark::memory()?;
/// let posts: OrderedTable<PostKey, String> =
///     OrderedTable::named(&shelfmark.database("blog")?, "posts")?;
/// let key = |n| PostKey { author: "Alice".into(), written: Timestamp(n) };
/// posts.write(&key(1), &"Hello".into())?;
/// posts.write(&key(2), &"Again".into())?;
/// // The newest comes first.
/// let newest = posts.prefix("Alice")?.keys().next().transpose()?;
/// assert_eq!(newest, Some(key(2)));
/// # Ok::<(), shelfmark::Error>(())
/// ```
///
/// A field that is no part is refused, at the field. A plain float has no total order:
///
/// ```compile_fail,E0277
/// #[derive(shelfmark::OrderedKey)]
/// struct Score {
///     player: String,
///     points: f64,
/// }
/// ```
///
/// ```
/// #[derive(shelfmark::OrderedKey)]
/// struct Score {
///     player: String,
///     points: shelfmark::TotalF64,
/// }
/// ```
///
/// And a list is no part; its elements go under keys of their own:
///
/// ```compile_fail,E0277
/// #[derive(shelfmark::OrderedKey)]
/// struct Tagged {
///     id: u32,
///     tags: Vec<String>,
/// }
/// ```
///
/// ```
/// #[derive(shelfmark::OrderedKey)]
/// struct Tagged {
///     id: u32,
///     tags: String,
/// }
/// ```
#[proc_macro_derive(OrderedKey, attributes(key))]
pub fn derive_ordered_key(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    ordered_key::expand(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Derives one part of a key: for a struct with one field, which is stored as that field, or an
/// enum without fields.
///
/// An enum is stored as the numbers of its variants and ordered by them: by their place, unless
/// they are given (`Low = 10`). Add variants at the end, or give numbers, so that stored keys keep
/// their meaning.
///
/// # Examples
///
/// ```
/// use shelfmark::{KeyPart, OrderedTable, Shelfmark};
///
/// #[derive(Debug, Clone, PartialEq, KeyPart)]
/// struct Author(String);
///
/// #[derive(Debug, Clone, PartialEq, KeyPart)]
/// enum Priority {
///     Low,
///     High,
/// }
///
/// let shelfmark = Shelfmark::memory()?;
/// let tasks: OrderedTable<(Priority, Author), u32> =
///     OrderedTable::named(&shelfmark.database("tasks")?, "tasks")?;
/// tasks.write(&(Priority::High, Author("a".into())), &1)?;
/// tasks.write(&(Priority::Low, Author("z".into())), &2)?;
/// assert_eq!(tasks.max()?.map(|(_, n)| n), Some(1));
/// # Ok::<(), shelfmark::Error>(())
/// ```
///
/// The numbers are `i32`s; a larger one is refused:
///
/// ```compile_fail,E0080
/// #[derive(shelfmark::KeyPart)]
/// #[repr(u64)]
/// enum Large {
///     A = 1,
///     B = 3_000_000_000,
/// }
/// ```
///
/// ```
/// #[derive(shelfmark::KeyPart)]
/// #[repr(u64)]
/// enum Large {
///     A = 1,
///     B = 2_000_000_000,
/// }
/// ```
#[proc_macro_derive(KeyPart, attributes(key))]
pub fn derive_key_part(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    part::expand(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}
