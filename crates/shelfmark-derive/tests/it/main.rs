//! What the derive macros accept and refuse. The refusals are golden files: the compiler's words,
//! read before they were accepted.

mod keys;

#[test]
fn types_that_are_no_keys_are_refused_where_they_are_wrong() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/it/refused/*.rs");
}
