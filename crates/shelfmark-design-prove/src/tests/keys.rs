//! Checks the foundations of proofs: languages of holes, delimiters, orders.

use crate::key::facts::{ambiguous_hole, is_delimited, keeps_order};
use crate::key::language::{Language, may_meet};
use shelfmark_design_language::codec::{escape, text};
use shelfmark_design_language::model::schema::{Codec, Part};
use shelfmark_design_language::model::types::{TextDomain, Type};
use shelfmark_design_language::model::{Term, Value};

fn hole(ty: Type, codec: Codec) -> Part {
    Part::Hole { term: Term::Param(0), ty, codec }
}

fn plain(without: &str) -> Part {
    hole(
        Type::Text(TextDomain { without: without.to_owned(), ..TextDomain::default() }),
        Codec::Plain,
    )
}

fn literal(text: &str) -> Part {
    Part::Literal(text.to_owned())
}

fn accepts(language: &Language, text: &str) -> bool {
    let mut at = 0;
    for byte in text.bytes() {
        let edge = language.states[at].edges.iter().find(|(set, _)| set.contains(byte));
        let Some((_, to)) = edge else { return false };
        at = *to;
    }
    language.states[at].accepts
}

/// Every text that a codec writes is in the language that proofs assume.
#[test]
fn languages_hold_what_codecs_write() {
    let numbers =
        [0, 5, 20, 250, 251, 307, 65_786, 65_787, 16_777_466, 4_294_967_547, 17_592_186_044_667];
    let range = Type::Int(Some((0, 17_592_186_044_667)));
    for number in numbers {
        let value = Value::Int(number);
        let made = text(&value, &range, Codec::Lexint).expect("in range");
        assert!(
            accepts(&Language::of(&hole(range.clone(), Codec::Lexint)), &made),
            "{number} {made}"
        );
        for ty in [Type::Int(None), range.clone(), Type::Timestamp] {
            let made = text(&value, &ty, Codec::Plain).expect("plain");
            assert!(accepts(&Language::of(&hole(ty, Codec::Plain)), &made), "{number}");
        }
    }
    for ty in [Type::Uuid, Type::Ulid] {
        let made = text(&Value::Id(u128::MAX), &ty, Codec::Plain).expect("plain");
        assert!(accepts(&Language::of(&hole(ty, Codec::Plain)), &made), "{made}");
    }
    let iso = text(&Value::Int(1_329_836_819_859), &Type::Timestamp, Codec::Iso).expect("iso");
    assert_eq!(iso, "2012-02-21T15:06:59.859Z");
    assert!(accepts(&Language::of(&hole(Type::Timestamp, Codec::Iso)), &iso));
    let free = Type::Text(TextDomain::default());
    for sample in ["", "a#b", "~", "é", "$", " !\"#$%"] {
        let made = text(&Value::Text(sample.to_owned()), &free, Codec::Esc).expect("esc");
        assert!(
            accepts(&Language::of(&hole(free.clone(), Codec::Esc)), &made),
            "{sample:?} {made:?}"
        );
    }
}

#[test]
fn escaped_texts_keep_their_order_and_hold_no_delimiter() {
    let samples = ["", " ", "!", "#", "$", "%", "a", "a ", "a#", "aa", "é", "~"];
    for left in samples {
        assert!(!escape(left).bytes().any(|byte| byte < b'$'), "{left:?}");
        for right in samples {
            let with = |text: &str| format!("{}#", escape(text));
            assert_eq!(left.cmp(right), with(left).cmp(&with(right)), "{left:?} {right:?}");
        }
    }
}

#[test]
fn a_delimiter_in_the_alphabet_does_not_delimit() {
    assert!(!is_delimited(&plain(""), &[literal("#"), Part::End]));
    assert!(is_delimited(&plain("#"), &[literal("#"), Part::End]));
    assert!(is_delimited(&plain(""), &[Part::End]));
    // "a!" sorts before "a" once "#" follows, although the delimiter is never inside.
    assert!(!keeps_order(&plain("#"), &[literal("#"), Part::End]));
    assert!(keeps_order(&plain(""), &[Part::End]));
    let ulid = hole(Type::Ulid, Codec::Plain);
    assert!(keeps_order(&ulid, &[literal("#")]));
    assert!(!keeps_order(&hole(Type::Timestamp, Codec::Plain), &[Part::End]));
    assert!(!keeps_order(&hole(Type::Int(None), Codec::Pad(4)), &[Part::End]));
    assert!(keeps_order(&hole(Type::Int(Some((0, 9_999))), Codec::Pad(4)), &[Part::End]));
}

#[test]
fn fixed_lengths_on_the_right_make_a_key_clear() {
    let message = hole(Type::Ulid, Codec::Plain);
    assert!(ambiguous_hole(&[plain(""), literal("#"), message, Part::End]).is_none());
    assert!(ambiguous_hole(&[plain(""), literal("#"), plain(""), Part::End]).is_some());
}

#[test]
fn prefixes_meet_what_begins_so() {
    let chats = [literal("chats#"), plain(""), Part::End];
    assert!(!may_meet(&[literal("chat#")], &chats, true));
    assert!(may_meet(&[literal("chat")], &chats, true));
    assert!(!may_meet(&[literal("chat")], &chats, false));
    assert!(may_meet(&[literal("chats#"), plain("")], &[literal("chats#x"), Part::End], false));
}
