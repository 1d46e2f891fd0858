use super::*;
use crate::item::Item;
use crate::path::Step;

fn path(attribute: &str, steps: &[Step]) -> Path {
    Path { attribute: attribute.to_owned(), steps: steps.to_vec() }
}

fn list(values: &[i64]) -> Value {
    Value::List(values.iter().copied().map(Value::number).collect())
}

fn before() -> Item {
    Item::new()
        .with("n", Value::number(5))
        .with("l", list(&[10, 11, 12]))
        .with("t", Value::set(vec!["a".into(), "b".into()]))
}

fn check(operations: Vec<PatchOperation>, attribute: &str, expected: Option<Value>) {
    let after = Patch { operations }.apply(&before()).unwrap();
    assert_eq!(after.get(attribute), expected.as_ref());
}

fn check_problem(operation: PatchOperation, expected: PatchProblem) {
    assert_eq!(Patch { operations: vec![operation] }.apply(&before()), Err(expected));
}

#[test]
fn right_hand_sides_read_the_item_as_it_was() {
    let n = || Operand::Path(Path::attribute("n"));
    let operations = vec![
        PatchOperation::Set(Path::attribute("n"), PatchValue::value(Value::number(9))),
        PatchOperation::Set(Path::attribute("m"), PatchValue::Operand(n())),
    ];
    check(operations, "m", Some(Value::number(5)));
}

#[test]
fn numbers_add_and_subtract() {
    let plus = PatchValue::Plus(
        Box::new(PatchValue::Operand(Operand::Path(Path::attribute("n")))),
        Box::new(PatchValue::value(Value::number(2))),
    );
    check(vec![PatchOperation::Set(Path::attribute("n"), plus)], "n", Some(Value::number(7)));
    check(
        vec![PatchOperation::Add(Path::attribute("new"), Value::number(-1))],
        "new",
        Some(Value::number(-1)),
    );
    check_problem(
        PatchOperation::Add(Path::attribute("l"), Value::number(1)),
        PatchProblem::WrongKind(Path::attribute("l")),
    );
}

#[test]
fn lists_append_past_the_end_and_close_gaps() {
    let operations = vec![
        PatchOperation::Set(path("l", &[Step::Index(99)]), PatchValue::value(Value::number(14))),
        PatchOperation::Set(path("l", &[Step::Index(50)]), PatchValue::value(Value::number(13))),
        PatchOperation::Remove(path("l", &[Step::Index(0)])),
        PatchOperation::Remove(path("l", &[Step::Index(1)])),
    ];
    check(operations, "l", Some(list(&[12, 13, 14])));
}

#[test]
fn sets_join_shrink_and_vanish() {
    let set =
        |members: &[&str]| Value::set(members.iter().map(|member| (*member).into()).collect());
    check(
        vec![PatchOperation::Add(Path::attribute("t"), set(&["b", "c"]))],
        "t",
        Some(set(&["a", "b", "c"])),
    );
    check(
        vec![PatchOperation::Subtract(Path::attribute("t"), set(&["a", "z"]))],
        "t",
        Some(set(&["b"])),
    );
    check(vec![PatchOperation::Subtract(Path::attribute("t"), set(&["a", "b"]))], "t", None);
}

#[test]
fn a_path_through_nothing_is_refused() {
    check_problem(
        PatchOperation::Set(
            path("none", &[Step::Name("a".to_owned())]),
            PatchValue::value(Value::Null),
        ),
        PatchProblem::PathInvalid(path("none", &[Step::Name("a".to_owned())])),
    );
    check_problem(
        PatchOperation::Set(
            Path::attribute("x"),
            PatchValue::Operand(Operand::Path(Path::attribute("none"))),
        ),
        PatchProblem::MissingOperand(Path::attribute("none")),
    );
}

#[test]
fn members_are_taken_out_of_a_set_in_whichever_order_they_come() {
    let less = |members: &[&str]| {
        let members = members.iter().map(|member| Value::from(*member)).collect();
        PatchOperation::Subtract(Path::attribute("t"), Value::Set(members))
    };
    let left = |members: &[&str]| {
        Some(Value::set(members.iter().map(|member| Value::from(*member)).collect()))
    };
    check(vec![less(&["x", "b", "0"])], "t", left(&["a"]));
    check(vec![less(&["x", "c", "aa"])], "t", left(&["a", "b"]));
    check(vec![less(&["b", "a"])], "t", None);
}
