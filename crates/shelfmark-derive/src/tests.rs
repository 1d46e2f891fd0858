//! Checks the messages of what the macros refuse. What the compiler refuses in what they generate
//! is said, each beside a type that is accepted, in the examples of the two macros.

use syn::{DeriveInput, parse_str};

type Expand = fn(&DeriveInput) -> syn::Result<proc_macro2::TokenStream>;
const KEY: Expand = super::ordered_key::expand;
const PART: Expand = super::part::expand;

fn check(expand: Expand, source: &str, expected: Result<(), &str>) {
    let input: DeriveInput = parse_str(source).unwrap();
    let answer = expand(&input).map(drop).map_err(|error| error.to_string());
    assert_eq!(answer, expected.map_err(str::to_owned), "{source}");
}

#[test]
fn a_key_is_a_struct_of_one_to_32_fields() {
    let empty = "a key needs at least one field: without any, a table has one entry";
    check(KEY, "struct Nothing {}", Err(empty));
    check(KEY, "struct Unit;", Err(empty));
    check(KEY, "struct Tuple();", Err(empty));
    check(KEY, "struct One { id: u32 }", Ok(()));
    let fields = |count: usize| format!("struct Wide({});", "u8, ".repeat(count));
    check(KEY, &fields(32), Ok(()));
    check(KEY, &fields(33), Err("a key has at most 32 parts"));
    check(
        KEY,
        "enum Kind { A }",
        Err("an enum is no key of several parts: for one without fields, `#[derive(KeyPart)]`"),
    );
    check(KEY, "union Both { a: u32, b: i32 }", Err("a union is no key"));
}

#[test]
fn a_part_is_a_struct_of_one_field_or_an_enum_without_fields() {
    let two = "a key part is a struct with exactly one field; for several, \
               `#[derive(OrderedKey)]` makes the struct a key, alone or within another";
    check(PART, "struct Pair(u32, u32);", Err(two));
    check(PART, "struct None;", Err(two));
    check(PART, "struct Author(String);", Ok(()));
    check(PART, "struct Author { name: String }", Ok(()));
    check(
        PART,
        "enum Kind { A, B(u32) }",
        Err("a key part's enum has no fields: their order would be unclear"),
    );
    check(PART, "enum Never {}", Err("an enum without variants has no values"));
    check(PART, "enum Kind { A, B = 7 }", Ok(()));
    check(PART, "union Both { a: u32, b: i32 }", Err("a union is no key part"));
}

#[test]
fn column_names_are_different_and_not_hidden() {
    check(
        KEY,
        r#"struct Key { id: u32, #[key(name = "id")] other: u32 }"#,
        Err("two parts have the column name `id`"),
    );
    check(
        KEY,
        r#"struct Key(#[key(name = "key2")] u32, u32);"#,
        Err("two parts have the column name `key2`"),
    );
    let hidden = "a column's name is not empty and begins with no underscore";
    check(KEY, r#"struct Key { #[key(name = "_id")] id: u32 }"#, Err(hidden));
    check(KEY, r#"struct Key { #[key(name = "")] id: u32 }"#, Err(hidden));
    check(KEY, r#"struct Key { #[key(name = "i_d", descending)] id: u32 }"#, Ok(()));
}

#[test]
fn attributes_stand_where_they_have_a_meaning() {
    check(
        KEY,
        "struct Key { #[key(backwards)] id: u32 }",
        Err("a field takes `descending` and `name = \"…\"` only"),
    );
    check(
        KEY,
        "#[key(descending)] struct Key { id: u32 }",
        Err("a type takes `crate = path` only; `descending` and `name` are for fields"),
    );
    let own = "a part has no attributes of its own: say `descending` where it is used in a key";
    check(PART, "struct Part(#[key(descending)] u32);", Err(own));
    check(PART, "enum Part { #[key(descending)] A }", Err(own));
    check(KEY, "#[key(crate = ::other)] struct Key { #[doc = \"\"] id: u32 }", Ok(()));
}

#[test]
fn keys_and_parts_have_no_parameters() {
    let message = "a key has no type, lifetime or const parameters: write the types out";
    check(KEY, "struct Generic<T> { inner: T }", Err(message));
    check(KEY, "struct Sized<const N: usize> { inner: u8 }", Err(message));
    check(PART, "struct Borrowed<'a>(&'a str);", Err(message));
}
