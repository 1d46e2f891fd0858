//! Conditions beside what follows from them, and beside their nearest neighbours, from which it does
//! not.

use super::follows;
use shelfmark_design_language::model::resolve::resolve;
use shelfmark_design_language::syntax::parser::parse;

/// Returns whether the condition of a sparse table follows from what a read asks.
fn of(asked: &str, condition: &str) -> bool {
    let text = format!(
        r#"
entity A {{
  key id: uuid
  n: int(0..100)  free: int  d: decimal  at: timestamp  day: date  t: text(max 9)
  o: int optional  p: int optional  q: int optional  b: bool  together (o, p)
}}
read r(x, x2: int) = A where id = x and {asked}
schema s target shelfmark {{ table t from A when {condition} key (id;) store all }}
"#
    );
    let (model, diagnostics) = resolve(&parse(&text).file);
    assert!(diagnostics.is_empty(), "{diagnostics:?}\n{text}");
    let asked = &model.reads[0].sources[0].predicates;
    model.schemas[0].families[0].when.iter().all(|one| follows(&model, 0, one, asked))
}

#[test]
fn constants_are_compared_in_the_order_of_their_type() {
    for (asked, condition, wanted) in [
        ("n >= 7", "n >= 5", true),
        ("n >= 5", "n >= 5", true),
        ("n >= 4", "n >= 5", false),
        ("n > 4", "n >= 5", true),
        ("n > 3", "n >= 5", false),
        ("n >= 5", "n > 4", true),
        ("n >= 5", "n > 5", false),
        ("n = 3", "n < 10", true),
        ("n = 10", "n < 10", false),
        ("n < 0", "n <= 0", true),
        ("n <= 9", "n < 10", true),
        ("d <= 9", "d < 10", true),
        ("d > 4", "d >= 5", false),
        ("d < 10", "d <= 9", false),
        ("n between 3 and 3", "n = 3", true),
        ("n between 3 and 4", "n = 3", false),
        ("n > 2 and n < 4", "n = 3", true),
        ("d > 2 and d < 4", "d = 3", false),
        ("n >= 1", "n <= 100", true),
        ("n >= 1", "n <= 99", false),
        ("free >= 1", "free <= 100", false),
        ("t >= \"m\"", "t > \"k\"", true),
        ("t >= \"k\"", "t > \"k\"", false),
        ("t > \"k\"", "t >= \"k\"", true),
        ("t = \"ka\"", "t > \"k\"", true),
        ("b = true", "b = true", true),
        ("b = true", "b = false", false),
        ("day >= \"2024-02-02\"", "day > \"2024-02-01\"", true),
        ("day > \"2024-02-01\"", "day > \"2024-02-02\"", false),
        ("day > \"2024-02-01\" and day < \"2024-02-03\"", "day = \"2024-02-02\"", true),
        ("day > \"2024-02-01\" and day < \"2024-02-04\"", "day = \"2024-02-02\"", false),
        ("n > 90 and n < 3", "n = 50", true),
    ] {
        assert_eq!(of(asked, condition), wanted, "{asked} implies {condition}");
    }
}

#[test]
fn an_input_may_be_any_value() {
    assert!(!of("n >= x2", "n >= 5"));
    assert!(!of("n = x2", "n <= 5"));
    assert!(of("o = x2", "o is present"));
    assert!(of("o = x2", "p is present"));
    assert!(!of("n = x2", "o is present"));
    assert!(of("o is absent", "o is absent"));
    assert!(of("o is absent", "p is absent"));
    assert!(!of("q is absent", "o is absent"));
    assert!(!of("o is absent", "o >= 1"));
    assert!(!of("o is present", "o >= 1"));
    assert!(of("o >= 3", "o >= 1"));
}
