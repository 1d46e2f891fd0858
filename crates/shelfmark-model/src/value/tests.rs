use super::*;

#[test]
fn a_set_is_sorted_and_has_no_duplicates() {
    let set = Value::set(vec![Value::number(3), Value::number(1), Value::number(3)]);
    assert_eq!(set, Value::Set(vec![Value::number(1), Value::number(3)]));
}

#[test]
fn conditions_have_no_order_across_kinds() {
    assert_eq!(Value::text("1").compare(&Value::number(1)), None);
    assert!(Value::text("a").compare(&Value::text("b")).is_some_and(std::cmp::Ordering::is_lt));
    assert_eq!(Value::Bool(true).compare(&Value::Bool(false)), None);
}

#[test]
fn equality_ignores_nothing_but_spelling() {
    assert!(
        Value::number(1)
            .equals(&Value::Number(shelfmark_keycode::Decimal::new(10.into(), 1).unwrap()))
    );
    assert!(!Value::number(1).equals(&Value::Int(1)));
    assert!(
        Value::set(vec!["b".into(), "a".into()]).equals(&Value::set(vec!["a".into(), "b".into()]))
    );
}

#[test]
fn depth_is_bounded_on_hostile_data() {
    let mut value = Value::Null;
    for _ in 0..10_000 {
        value = Value::List(vec![value]);
    }
    assert_eq!(value.depth(32), 33);
    assert_eq!(Value::List(vec![Value::Null]).depth(32), 2);
    // Dropping it recurses as well; the faces refuse such values before they are built.
    std::mem::forget(value);
}
