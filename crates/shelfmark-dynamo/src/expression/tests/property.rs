//! Properties of the expression parsers: they never panic, and what is printed reads back.

use proptest::prelude::*;
use shelfmark_model::{Comparison, Condition, Item, Operand, Value};

use super::{at, placeholders};
use crate::expression::{Kind, ast};

/// Pieces that expressions are made of, so that random sequences of them are often nearly right.
fn expression_like() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a1",
        "b1",
        "#n",
        "#s",
        "#q",
        ":n",
        ":s",
        ":t",
        ":q",
        "name",
        "=",
        "<>",
        "<",
        ">=",
        "(",
        ")",
        "[",
        "]",
        "0",
        ".",
        ",",
        "+",
        "-",
        "AND",
        "OR",
        "NOT",
        "BETWEEN",
        "IN",
        "SET",
        "REMOVE",
        "ADD",
        "DELETE",
        "size",
        "contains",
        "begins_with",
        "attribute_exists",
        "attribute_type",
        "if_not_exists",
        "list_append",
        "!",
        "ä",
    ]);
    prop::collection::vec(piece, 0..16).prop_map(|pieces| pieces.join(" "))
}

/// Conditions of the form that the parser builds: no list of one, none directly in one of its own.
fn conditions() -> impl Strategy<Value = Condition> {
    let path = prop::sample::select(vec!["a1", "b1", "c1"]).prop_map(at);
    let operand = prop_oneof![
        path.clone().prop_map(Operand::Path),
        path.clone().prop_map(Operand::Size),
        Just(Operand::Value(Value::number(1))),
    ];
    let comparison = prop::sample::select(vec![
        Comparison::Equal,
        Comparison::NotEqual,
        Comparison::Less,
        Comparison::LessOrEqual,
        Comparison::Greater,
        Comparison::GreaterOrEqual,
    ]);
    let leaf = prop_oneof![
        path.clone().prop_map(Condition::Exists),
        path.clone().prop_map(Condition::NotExists),
        (comparison, path.clone().prop_map(Operand::Size), Just(Operand::Value(Value::number(1))))
            .prop_map(|(comparison, a, b)| Condition::Compare(comparison, a, b)),
        (path.prop_map(Operand::Path), prop::collection::vec(operand, 1..4))
            .prop_map(|(value, among)| Condition::In(value, among)),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..4).prop_map(Condition::And),
            prop::collection::vec(inner.clone(), 2..4).prop_map(Condition::Or),
            inner.prop_map(|inner| Condition::Not(Box::new(inner))),
        ]
    })
}

fn shown_operand(operand: &Operand) -> String {
    match operand {
        Operand::Path(path) => path.to_string(),
        Operand::Size(path) => format!("size({path})"),
        Operand::Value(_) => ":n".to_owned(),
    }
}

fn shown(condition: &Condition) -> String {
    let joined = |all: &[Condition], word: &str| {
        all.iter().map(|one| format!("({})", shown(one))).collect::<Vec<_>>().join(word)
    };
    match condition {
        Condition::And(all) => joined(all, " AND "),
        Condition::Or(all) => joined(all, " OR "),
        Condition::Not(one) => format!("NOT ({})", shown(one)),
        Condition::Exists(path) => format!("attribute_exists({path})"),
        Condition::NotExists(path) => format!("attribute_not_exists({path})"),
        Condition::Compare(comparison, a, b) => {
            let symbol = ast::Operator::Compare(*comparison);
            format!("{} {} {}", shown_operand(a), symbol.name(), shown_operand(b))
        }
        Condition::In(value, among) => {
            let among: Vec<String> = among.iter().map(shown_operand).collect();
            format!("{} IN ({})", shown_operand(value), among.join(", "))
        }
        Condition::Between(..)
        | Condition::KindIn(..)
        | Condition::SetOf(..)
        | Condition::BeginsWith(..)
        | Condition::Contains(..) => unreachable!("not generated"),
    }
}

fn read_all(source: &str) {
    let placeholders = placeholders();
    let _ = placeholders.condition(Kind::Condition, Some(source));
    let _ = placeholders.key_condition(Some(source));
    let _ = placeholders.update(Some(source));
    let _ = placeholders.projection(Some(source));
}

proptest! {
    #[test]
    fn parsers_never_panic_on_any_text(source in ".{0,80}") {
        read_all(&source);
    }

    #[test]
    fn parsers_never_panic_on_nearly_right_text(source in expression_like()) {
        read_all(&source);
    }

    #[test]
    fn what_is_accepted_can_be_evaluated(source in expression_like()) {
        let item = Item::new().with("a1", "s").with("b1", Value::set(vec!["s".into()]));
        let placeholders = placeholders();
        if let Ok(Some(condition)) = placeholders.condition(Kind::Filter, Some(&source)) {
            let _ = condition.holds(&item);
        }
        if let Ok(Some(patch)) = placeholders.update(Some(&source)) {
            let _ = patch.apply(&item);
        }
    }

    #[test]
    fn a_condition_reads_back_from_its_text(expected in conditions()) {
        // With two alternatives a size compared with itself is refused, so only values are.
        let source = shown(&expected);
        let found = placeholders().condition(Kind::Condition, Some(&source));
        if source.len() <= 4_096 {
            match found {
                Ok(found) => prop_assert_eq!(found, Some(expected)),
                Err(error) => {
                    let distinct = error.message.contains("must be distinct");
                    prop_assert!(distinct, "{}: {}", error.message, source);
                }
            }
        }
    }
}
