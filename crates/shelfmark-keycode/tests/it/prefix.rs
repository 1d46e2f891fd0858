//! Ranges over prefixes hold exactly what begins with the prefix.

use proptest::prelude::*;
use shelfmark_keycode::{
    Direction, bytes_prefix_range, prefix_successor, put_bytes, put_bytes_prefix, put_text,
    put_text_prefix, put_u32, text_prefix_range,
};

use crate::values;

#[test]
fn successors() {
    let check = |prefix: &[u8], expected: Option<&[u8]>| {
        assert_eq!(prefix_successor(prefix).as_deref(), expected, "{prefix:02x?}");
    };
    check(&[], None);
    check(&[0x00], Some(&[0x01]));
    check(&[0x61], Some(&[0x62]));
    check(&[0x61, 0xFF], Some(&[0x62]));
    check(&[0x61, 0xFF, 0x00], Some(&[0x61, 0xFF, 0x01]));
    check(&[0xFE, 0xFF, 0xFF], Some(&[0xFF]));
    check(&[0xFF], None);
    check(&[0xFF, 0xFF], None);
}

/// Whether `key` lies in the range that begins and ends relative to `before`.
fn in_range(before: &[u8], range: &(Vec<u8>, Option<Vec<u8>>), key: &[u8]) -> bool {
    let start = [before, &range.0].concat();
    let end = match &range.1 {
        Some(end) => Some([before, end].concat()),
        None => prefix_successor(before),
    };
    key >= &start[..] && end.is_none_or(|end| key < &end[..])
}

proptest! {

    #![proptest_config(values::many_cases())]

    #[test]
    fn successor_bounds_the_prefix(prefix in values::bytes(), key in values::bytes()) {
        let below = prefix_successor(&prefix).is_none_or(|end| key < end);
        prop_assert_eq!(key >= prefix && below, key.starts_with(&prefix));
    }

    #[test]
    fn bytes_range_is_begins_with(
        value in values::bytes(), prefix in values::bytes(), direction in values::direction(),
        before in values::bytes(), next in any::<u32>(),
    ) {
        let mut key = before.clone();
        put_bytes(&mut key, direction, &value);
        put_u32(&mut key, Direction::Ascending, next);
        let range = bytes_prefix_range(direction, &prefix);
        prop_assert_eq!(in_range(&before, &range, &key), value.starts_with(&prefix));

        let mut start = before;
        put_bytes_prefix(&mut start, direction, &prefix);
        let below = prefix_successor(&start).is_none_or(|end| key < end);
        prop_assert_eq!(key >= start && below, value.starts_with(&prefix));
    }

    #[test]
    fn text_range_is_begins_with(
        value in values::text(), prefix in values::text(), direction in values::direction(),
        before in values::bytes(), next in any::<u32>(),
    ) {
        let mut key = before.clone();
        put_text(&mut key, direction, &value);
        put_u32(&mut key, direction, next);
        let range = text_prefix_range(direction, &prefix);
        prop_assert_eq!(in_range(&before, &range, &key), value.starts_with(prefix.as_str()));

        let mut start = before;
        put_text_prefix(&mut start, direction, &prefix);
        prop_assert_eq!(key.starts_with(&start), value.starts_with(prefix.as_str()));
    }

    /// The first `n` components of a tuple are a prefix too.
    #[test]
    fn component_prefix_is_tuple_prefix(
        first in values::text(), second in values::text(), wanted in values::text(),
        direction in values::direction(),
    ) {
        let mut key = Vec::new();
        put_text(&mut key, direction, &first);
        put_text(&mut key, direction, &second);
        let mut start = Vec::new();
        put_text(&mut start, direction, &wanted);
        let below = prefix_successor(&start).is_none_or(|end| key < end);
        prop_assert_eq!(key >= start && below, first == wanted);
    }
}

/// A sentinel such as `~` would lose these.
#[test]
fn suffixes_beyond_ascii_are_found_and_siblings_are_not() {
    let range = text_prefix_range(Direction::Ascending, "chat#");
    let key = |text: &str| {
        let mut key = Vec::new();
        put_text(&mut key, Direction::Ascending, text);
        key
    };
    for found in ["chat#", "chat#a", "chat#~", "chat#~~", "chat#é", "chat#\u{10FFFF}", "chat#\0"] {
        assert!(in_range(&[], &range, &key(found)), "{found:?}");
    }
    for other in ["chat", "chats#", "chat$", "chat\"", "", "chbt#"] {
        assert!(!in_range(&[], &range, &key(other)), "{other:?}");
    }
}

/// Acceptance case 7: pairs grouped by their first number.
#[test]
fn groups_of_pairs() {
    let key = |number: u32, letter: &str| {
        let mut key = Vec::new();
        put_u32(&mut key, Direction::Ascending, number);
        put_text(&mut key, Direction::Ascending, letter);
        key
    };
    let mut keys = [(1, "e"), (2, "a"), (2, "d"), (3, "c"), (4, "b")];
    keys.sort_by_key(|(number, letter)| key(*number, letter));
    let groups = |low: u32, high: u32| {
        let (mut start, mut last) = (Vec::new(), Vec::new());
        put_u32(&mut start, Direction::Ascending, low);
        put_u32(&mut last, Direction::Ascending, high);
        let end = prefix_successor(&last);
        keys.iter()
            .filter(|(number, letter)| {
                let key = key(*number, letter);
                key >= start && end.as_ref().is_none_or(|end| key < *end)
            })
            .map(|(number, letter)| format!("{number}{letter}"))
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(groups(2, 4), "2a 2d 3c 4b");
    assert_eq!(groups(2, 2), "2a 2d");
}
