//! States and inputs that are drawn: each has what a lie could hide behind, and obeys what is declared.

use super::{Dice, Words, World, draw_inputs, words};
use crate::tests::model;
use shelfmark_design_language::model::{Model, Value};

const TEXT: &str = "
entity U { key id: uuid  name: text(max 9) }
entity E {
  key id: uuid  u: U  v: U optional  n: int(0..9999)  o: int optional  p: int optional
  fanout u max 2  together (o, p)
}
read some(t, us: list of uuid (max 3)) = U where id in us and name begins t
schema s target shelfmark { table rows { pk text sk text
  row RU from U pk \"u#<id>\" sk \"own\" store all  row RE from E pk \"e#<id>\" sk \"own\" store all } }
";

/// Draws states, with the words and the dice that they are drawn by.
fn drawn(model: &Model) -> (Words, Dice, Vec<World<'_>>) {
    let words = words(model, model.schemas.first().expect("a schema"));
    let mut dice = Dice::new("model", "schema", "pattern");
    let worlds = (0..200).map(|at| World::draw(model, &words, &mut dice, 1 + at % 5)).collect();
    (words, dice, worlds)
}

/// The states that a certificate is run on are the same wherever it is verified.
#[test]
fn a_certificate_is_run_on_the_same_states() {
    let mut dice = Dice::new("model", "schema", "pattern");
    let first: Vec<usize> = (0..12).map(|_| dice.below(10)).collect();
    assert_eq!(first, [8, 0, 4, 4, 5, 2, 7, 6, 8, 6, 1, 3]);
}

/// Texts at which keys are cut are drawn, alone and within others.
#[test]
fn words_of_keys_are_drawn() {
    let model = model(TEXT);
    let (words, ..) = drawn(&model);
    for word in ["u#", "au#", "au#b", "e#", "own", "aown"] {
        assert!(words.texts.iter().any(|one| one == word), "{word}");
    }
}

/// Holds that what may be absent is absent in some states and there in others, alone and with what refers to it.
#[test]
fn what_is_optional_is_drawn_both_ways() {
    let model = model(TEXT);
    let (.., worlds) = drawn(&model);
    let all: Vec<_> = worlds.iter().flat_map(|world| world.of(1)).collect();
    for column in [2, 4] {
        let absent = all.iter().filter(|one| one.get(column) == Some(&Value::Null)).count();
        assert!(absent > 20 && all.len() - absent > 20, "{absent} of {}", all.len());
    }
}

/// Some tuples differ in one attribute alone: two rows of them are one where a key lacks it.
#[test]
fn neighbours_are_drawn() {
    let model = model(
        "entity E { key id: uuid  a: int  b: int  c: int  d: int  e: int }
schema s target shelfmark { table rows from E key (id;) store all }",
    );
    let (.., worlds) = drawn(&model);
    let near = |world: &&World<'_>| {
        let all = world.of(0);
        all.iter().enumerate().any(|(at, a)| {
            let same = |b: &Vec<Value>| a.iter().zip(b).filter(|(a, b)| a == b).count();
            all.iter().skip(at + 1).any(|b| same(b) == 5)
        })
    };
    let found = worlds.iter().filter(near).count();
    assert!(found > 5, "{found} of {} states", worlds.len());
}

/// Inputs are beginnings of what is there, and lists of it, as well as all of it.
#[test]
fn inputs_are_parts_of_what_is_there() {
    let model = model(TEXT);
    let (words, mut dice, worlds) = drawn(&model);
    let read = model.reads.first().expect("a read");
    let uses: Vec<_> = read.sources.iter().map(|one| (one.relation, &one.predicates)).collect();
    let (mut shorter, mut several) = (0, 0);
    for world in &worlds {
        let inputs = draw_inputs(world, &read.params, &uses, &[], &words, &mut dice);
        let names = || world.of(0).iter().filter_map(|one| one.get(1));
        if let Some(Value::Text(text)) = inputs.first() {
            let within = |name: &Value| matches!(name, Value::Text(name) if name.len() > text.len() && name.starts_with(text));
            let whole = names().any(|name| *name == Value::Text(text.clone()));
            shorter += usize::from(!text.is_empty() && !whole && names().any(within));
        }
        if let Some(Value::List(items)) = inputs.get(1) {
            let own = |item: &&Value| world.of(0).iter().any(|one| one.first() == Some(*item));
            several += usize::from(items.iter().filter(own).count() > 1);
        }
    }
    assert!(shorter > 5 && several > 20, "{shorter} beginnings, {several} lists");
}

/// A state obeys what is declared: each break of it stands beside a state that does not break it.
#[test]
fn a_state_obeys_what_is_declared() {
    let model = model(
        "entity U { key id: int }
entity E { key id: int  u: U  v: U optional  o: int optional  p: int optional
  fanout u max 2  together (o, p) }",
    );
    let (none, one) = (Value::Null, |n: i64| Value::Int(n));
    let own = |id, u: Value, v: Value, o: Value, p: Value| vec![one(id), u, v, o, p];
    let is_state = |rows: Vec<Vec<Value>>| {
        World { model: &model, tuples: vec![vec![vec![one(1)], vec![one(2)]], rows] }.is_state()
    };
    let bare = |id, u| own(id, one(u), none.clone(), none.clone(), none.clone());
    assert!(is_state(vec![bare(1, 1)]), "what may be absent is");
    assert!(is_state(vec![own(1, one(1), one(2), one(3), one(4))]));
    assert!(
        !is_state(vec![own(1, none.clone(), one(2), one(3), one(4))]),
        "what must be there is not"
    );
    assert!(!is_state(vec![own(1, one(3), none.clone(), none.clone(), none.clone())]));
    assert!(!is_state(vec![own(1, one(1), one(3), none.clone(), none.clone())]));
    assert!(!is_state(vec![own(1, one(1), none.clone(), one(3), none.clone())]), "together");
    assert!(!is_state(vec![own(1, one(1), none.clone(), none.clone(), one(3))]), "together");
    assert!(is_state(vec![bare(1, 1), bare(2, 1), bare(3, 2)]));
    assert!(!is_state(vec![bare(1, 1), bare(2, 1), bare(3, 1)]), "more than the fan-out");
    assert!(!is_state(vec![vec![one(1), one(1)]]), "a tuple of two attributes");
}
