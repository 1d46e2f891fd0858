//! The state after a write, effect by effect, on two tuples: that of its key changes, its neighbour does
//! not.

use super::{after, answer};
use crate::world::World;
use shelfmark_design_language::model::resolve::resolve;
use shelfmark_design_language::model::{Model, Value};
use shelfmark_design_language::syntax::parser::parse;

const TEXT: &str = "
entity S { key id: int  n: int(0..99)  by: int immutable }
write add(i, n, b) = insert S(id i, n n, by b)
write keep(i, n, b) = insert S(id i, n n, by b) unless exists
write put(i, n, b) = insert S(id i, n n, by b) or replace
write set(i, n) = update S(id i) set n = n
write more(i, k) = increment S(id i) set n by k
write drop(i) = delete S(id i)
write take(i, k) = increment S(id i) set n by -1 if n >= k
write both(i, j) = update S(id i) set n = 1 and update S(id j) set n = 2
write clear(b) = update S(id e.id) set n = 0 for each S as e where by = b
schema s target shelfmark { table rows from S key (id;) store all }
";

type Rows<'a> = &'a [[i64; 3]];

/// The state before each write.
const BEFORE: Rows<'static> = &[[1, 5, 7], [2, 6, 8]];

fn model() -> Model {
    let (model, diagnostics) = resolve(&parse(TEXT).file);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    model
}

fn tuples(rows: Rows<'_>) -> Vec<Vec<Value>> {
    rows.iter().map(|row| row.iter().copied().map(Value::Int).collect()).collect()
}

/// Checks the state after a write: nothing where the write is not defined.
fn check(name: &str, inputs: &[i64], expected: Option<Rows<'_>>) {
    let model = model();
    let world = World { model: &model, tuples: vec![tuples(BEFORE)] };
    let write = model.writes.iter().find(|write| write.name.text == name).expect("a write");
    let given: Vec<Value> = inputs.iter().copied().map(Value::Int).collect();
    let found = after(&world, write, &given).map(|world| world.tuples);
    assert_eq!(found, expected.map(|rows| vec![tuples(rows)]), "{name} {inputs:?}");
}

#[test]
fn an_insert_meets_what_is_there_as_it_says() {
    let added: Rows<'_> = &[[1, 5, 7], [2, 6, 8], [3, 4, 9]];
    for name in ["add", "keep", "put"] {
        check(name, &[3, 4, 9], Some(added));
    }
    check("add", &[1, 4, 9], None);
    check("keep", &[1, 4, 9], Some(BEFORE));
    check("put", &[1, 4, 7], Some(&[[1, 4, 7], [2, 6, 8]]));
    // What does not change is not replaced by another.
    check("put", &[1, 4, 9], None);
}

#[test]
fn a_change_is_of_the_tuple_that_it_names() {
    check("set", &[2, 3], Some(&[[1, 5, 7], [2, 3, 8]]));
    check("set", &[3, 3], Some(BEFORE));
    check("more", &[1, 2], Some(&[[1, 7, 7], [2, 6, 8]]));
    check("drop", &[1], Some(&[[2, 6, 8]]));
    check("drop", &[3], Some(BEFORE));
    check("clear", &[8], Some(&[[1, 5, 7], [2, 0, 8]]));
    check("clear", &[9], Some(BEFORE));
    // Beyond its type there is no such state.
    check("more", &[1, 95], None);
}

/// A change of two tuples, of which one is not there, is none.
#[test]
fn tuples_that_change_together_are_all_there() {
    check("both", &[1, 2], Some(&[[1, 1, 7], [2, 2, 8]]));
    check("both", &[1, 3], None);
    check("both", &[3, 2], None);
}

/// A condition compares the tuple that is changed, not its neighbour.
#[test]
fn a_condition_is_of_the_tuple_that_changes() {
    check("take", &[2, 6], Some(&[[1, 5, 7], [2, 5, 8]]));
    check("take", &[1, 6], Some(BEFORE));
    check("take", &[3, 0], Some(BEFORE));
}

/// A state has one tuple for a key, and values of their types.
#[test]
fn a_state_obeys_keys_and_types() {
    let model = model();
    let is_state = |rows: Rows<'_>| World { model: &model, tuples: vec![tuples(rows)] }.is_state();
    assert!(is_state(BEFORE) && is_state(&[]));
    assert!(!is_state(&[[1, 5, 7], [1, 6, 8]]));
    assert!(!is_state(&[[1, 100, 7]]));
}

/// Of a row type with a limit of its own so many are asked for, of the others all.
#[test]
fn a_row_type_has_a_limit_of_its_own() {
    let text = "entity P { key id: int }
entity C { key (p, n)  p: P  n: int(0..9) }
read some(x) = P + C where p = x order by kind, n desc limit 2 of C";
    let (model, diagnostics) = resolve(&parse(text).file);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let world = World {
        model: &model,
        tuples: vec![tuples_of(&[&[1], &[2]]), tuples_of(&[&[1, 4], &[1, 7], &[1, 5], &[2, 9]])],
    };
    let answer = answer(&world, model.reads.first().expect("a read"), &[Value::Int(1)]);
    let kinds: Vec<usize> = answer.items().map(|(of, _)| *of).collect();
    assert_eq!((kinds, answer.length()), (vec![0, 1, 1], 3));
    let found: Vec<_> = answer.items().cloned().collect();
    assert!(answer.accepts(&found));
    let [parent, last, next] = found.as_slice() else { panic!("three items") };
    assert!(!answer.accepts(&[parent.clone(), last.clone()]));
    assert!(!answer.accepts(&[parent.clone(), next.clone(), last.clone()]));
}

fn tuples_of(rows: &[&[i64]]) -> Vec<Vec<Value>> {
    rows.iter().map(|row| row.iter().copied().map(Value::Int).collect()).collect()
}
