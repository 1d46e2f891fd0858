use super::*;
use crate::item::Item;

fn item() -> Item {
    Item::new()
        .with("n", Value::number(5))
        .with("s", "chat#1")
        .with("l", Value::List(vec![Value::number(1), "x".into()]))
        .with("t", Value::set(vec!["a".into(), "b".into()]))
}

fn at(name: &str) -> Operand {
    Operand::Path(Path::attribute(name))
}

fn is(value: impl Into<Value>) -> Operand {
    Operand::Value(value.into())
}

fn check(condition: Condition, expected: bool) {
    assert_eq!(condition.holds(&item()), expected, "{condition:?}");
}

#[test]
fn comparisons() {
    use Comparison::*;
    check(Condition::Compare(Equal, at("n"), is(Value::number(5))), true);
    check(Condition::Compare(Less, at("n"), is(Value::number(6))), true);
    check(Condition::Compare(Less, at("n"), is("6")), false);
    check(Condition::Compare(NotEqual, at("n"), is("6")), true);
    check(Condition::Compare(Equal, at("none"), is("6")), false);
    check(Condition::Compare(NotEqual, at("none"), is("6")), true);
    check(Condition::Between(at("n"), is(Value::number(5)), is(Value::number(5))), true);
    check(Condition::In(at("s"), vec![is("x"), is("chat#1")]), true);
}

#[test]
fn functions() {
    check(Condition::BeginsWith(at("s"), is("chat#")), true);
    check(Condition::BeginsWith(at("s"), is("chats#")), false);
    check(Condition::Contains(at("t"), is("a")), true);
    check(
        Condition::Contains(
            at("l"),
            is(Value::Number(shelfmark_keycode::Decimal::new(10.into(), 1).unwrap())),
        ),
        true,
    );
    check(Condition::Contains(at("s"), is("at#")), true);
    check(Condition::Exists(Path::attribute("n")), true);
    check(Condition::NotExists(Path::attribute("n")), false);
    check(Condition::KindIn(Path::attribute("n"), vec![ValueKind::Number]), true);
    check(Condition::SetOf(Path::attribute("t"), ValueKind::Text), true);
    check(
        Condition::Compare(
            Comparison::Equal,
            Operand::Size(Path::attribute("l")),
            is(Value::number(2)),
        ),
        true,
    );
    let item = Item::new().with("t", "aé😀");
    let size = Operand::Size(Path::attribute("t"));
    let equal = |count: i64| {
        let condition =
            Condition::Compare(Comparison::Equal, size.clone(), is(Value::number(count)));
        condition.holds(&item)
    };
    assert!(equal(4), "a letter beyond the first plane is two units");
    assert!(!equal(3) && !equal(7));
}

#[test]
fn a_condition_nested_too_deep_does_not_hold_and_does_not_crash() {
    let mut condition = Condition::Exists(Path::attribute("n"));
    for _ in 0..5_000 {
        condition = Condition::And(vec![condition]);
    }
    assert!(!condition.holds(&item()));
    std::mem::forget(condition);
}
