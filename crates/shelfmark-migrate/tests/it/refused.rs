//! Sides between which nothing can be moved.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use shelfmark_migrate::{Side, migrate};
use shelfmark_store::Store;

use crate::places::{content, engine, filled, memory, moved, shared};

fn refused(from: &Arc<dyn Store>, to: &Arc<dyn Store>) -> String {
    moved(from, to, |_| {}).unwrap_err().to_string()
}

#[test]
fn a_target_that_holds_something_is_left_alone() {
    let (from, to) = (memory(), memory());
    drop(filled(&from, 3, 0));
    drop(engine(&to).unwrap());
    let before = content(&to);
    assert_eq!(refused(&from, &to), "there already holds a store; give an empty place");
    assert_eq!(content(&to), before);
}

#[test]
fn a_source_without_a_store_is_refused() {
    assert_eq!(refused(&memory(), &memory()), "there is no store in here");
}

#[test]
fn an_unfinished_target_belongs_to_its_source_and_is_none_itself() {
    let (from, to, other) = (memory(), memory(), memory());
    drop(filled(&from, 3000, 0));
    drop(filled(&other, 3, 0));
    let stopped = catch_unwind(AssertUnwindSafe(|| moved(&from, &to, |_| panic!("stopped"))));
    assert!(stopped.is_err());
    let side = |store, name: &str| Side { store, name: name.to_owned() };
    let from_other = migrate(&side(&*other, "elsewhere"), &side(&*to, "there"), &mut |_| {});
    assert_eq!(
        from_other.unwrap_err().to_string(),
        "there is the unfinished target of a migration from here; finish that one, or empty it"
    );
    assert_eq!(
        refused(&to, &memory()),
        "here is itself the unfinished target of a migration; finish that one first"
    );
}

#[test]
fn a_key_that_is_too_long_is_named_and_the_source_stays_as_it_was() {
    let (from, to) = (memory(), shared(300));
    drop(filled(&from, 3, 400));
    let before = content(&from);
    let text = refused(&from, &to);
    assert!(text.starts_with("a key of table number "), "{text}");
    assert!(text.contains("takes 300 at most; delete the row"), "{text}");
    assert_eq!(content(&from), before);
    assert!(engine(&to).is_err(), "half a store was opened");
}
