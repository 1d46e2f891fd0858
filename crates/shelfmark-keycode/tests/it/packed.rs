//! Long values in fewer bits: order, round trip, sizes, and what is refused.

use proptest::prelude::*;
use shelfmark_keycode::{
    Direction, PACKED_FROM_BYTES, put_bytes, put_packed_bytes, put_shorter_bytes, take_packed_bytes,
};

const BOTH: [Direction; 2] = [Direction::Ascending, Direction::Descending];

fn packed(direction: Direction, value: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    put_packed_bytes(&mut out, direction, value);
    out
}

/// A value of which all that counts stands around the place where packing begins.
fn value(before: &[u8], tail: &[u8]) -> Vec<u8> {
    let mut out = vec![b'a'; PACKED_FROM_BYTES - before.len()];
    out.extend_from_slice(before);
    out.extend_from_slice(tail);
    out
}

fn read_back(direction: Direction, value: &[u8]) {
    let mut bytes = packed(direction, value);
    bytes.extend_from_slice(b"\xFFnext");
    let mut rest = &bytes[..];
    assert_eq!(take_packed_bytes(&mut rest, direction).expect("own bytes").as_ref(), value);
    assert_eq!(rest, b"\xFFnext");
}

/// Bytes of every class, single ones and whole characters.
fn tails() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![any::<u8>(), Just(0), Just(0x7F), Just(0x80), Just(0xBF), Just(0xFF)];
    prop_oneof![prop::collection::vec(byte, 0..6), "\\PC{0,6}".prop_map(String::into_bytes)]
}

proptest! {
    #[test]
    fn order_is_that_of_the_values(a in tails(), b in tails(), ends in prop::collection::vec(any::<u8>(), 2)) {
        let (a, b) = (value(&ends[..1], &a), value(&ends[..1], &b));
        let with = |direction, own: &[u8], next: u8| {
            let mut bytes = packed(direction, own);
            bytes.push(next);
            bytes
        };
        // What stands behind plays no part unless the values are equal.
        let (up, down) = (Direction::Ascending, Direction::Descending);
        if a != b {
            prop_assert_eq!(with(up, &a, ends[0]).cmp(&with(up, &b, ends[1])), a.cmp(&b));
            prop_assert_eq!(with(down, &a, ends[0]).cmp(&with(down, &b, ends[1])), b.cmp(&a));
        }
    }

    #[test]
    fn what_is_packed_is_read_back(tail in tails()) {
        for direction in BOTH {
            read_back(direction, &value(b"\0", &tail));
            read_back(direction, &tail);
        }
    }

    #[test]
    fn cut_or_changed_bytes_are_refused_or_another_value(tail in tails(), at in any::<prop::sample::Index>(), bit in 0..8_u8) {
        let own = value(b"", &[&tail[..], b"x"].concat());
        let bytes = packed(Direction::Ascending, &own);
        let cut = at.index(bytes.len());
        prop_assert!(take_packed_bytes(&mut &bytes[..cut], Direction::Ascending).is_err());
        let mut changed = bytes.clone();
        changed[cut] ^= 1_u8 << bit;
        let mut rest = &changed[..];
        if let Ok(read) = take_packed_bytes(&mut rest, Direction::Ascending) {
            prop_assert_ne!(read.as_ref(), &own[..]);
        }
    }
}

#[test]
fn texts_shrink() {
    for (text, bytes_max) in
        [("aZ9~ ", 57_475), ("日本語", 60_164), ("Ключ", 61_506), ("🦀", 64_520)]
    {
        let own = text.repeat(65_535 / text.len());
        let bytes = packed(Direction::Ascending, own.as_bytes());
        assert!(bytes.len() <= bytes_max, "{text}: {}", bytes.len());
        read_back(Direction::Descending, own.as_bytes());
    }
}

#[test]
fn what_would_grow_is_written_as_it_is() {
    let random: Vec<u8> =
        (0..4_096_u32).map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()[0]).collect();
    let (mut shorter, mut plain) = (Vec::new(), Vec::new());
    put_shorter_bytes(&mut shorter, Direction::Ascending, &random);
    put_bytes(&mut plain, Direction::Ascending, &random);
    assert_eq!(shorter, plain);
    let mut text = Vec::new();
    put_shorter_bytes(&mut text, Direction::Ascending, &[b'a'; 4_096]);
    assert_eq!(text, packed(Direction::Ascending, &[b'a'; 4_096]));
}

#[test]
fn short_values_are_written_as_they_are() {
    for length in [0, 1, PACKED_FROM_BYTES] {
        let mut plain = Vec::new();
        put_bytes(&mut plain, Direction::Ascending, &vec![7; length]);
        assert_eq!(packed(Direction::Ascending, &vec![7; length]), plain);
    }
}
