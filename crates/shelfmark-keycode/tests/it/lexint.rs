//! Lexicographic integers against the published vectors.

use proptest::prelude::*;
use shelfmark_keycode::KeyErrorKind;
use shelfmark_keycode::lexint::{LIBRARY_MAX, from_hex, put, take, to_hex};

/// Up to [`LIBRARY_MAX`] those of the npm library (`reference/ordered-tables-and-entities.md`, 1.9);
/// above, the ends of each longer form.
const VECTORS: [(u64, &str); 33] = [
    (0, "00"),
    (5, "05"),
    (20, "14"),
    (250, "fa"),
    (251, "fb00"),
    (256, "fb05"),
    (307, "fb38"),
    (506, "fbff"),
    (507, "fc0100"),
    (5_000, "fc128d"),
    (12_345, "fc2f3e"),
    (65_786, "fcffff"),
    (65_787, "fd010000"),
    (16_777_466, "fdffffff"),
    (16_777_467, "fe01000000"),
    (21_378_213, "fe014633aa"),
    (4_294_967_546, "feffffffff"),
    (4_294_967_547, "ff00080000000000"),
    (1_700_000_000_000, "ff080c5e7f2b3828"),
    (8_796_093_022_458, "ff0a0ffffffffffe"),
    (8_796_093_022_459, "ff0b080000000000"),
    (8_796_093_022_460, "ff0b080000000001"),
    (17_592_186_044_665, "ff0b0ffffffffffe"),
    (17_592_186_044_666, "ff0b0fffffffffff"),
    (17_592_186_044_667, "ff0c080000000000"),
    (17_592_186_044_668, "fff6100000000001"),
    (281_474_976_710_906, "fff6ffffffffffff"),
    (281_474_976_710_907, "fff701000000000000"),
    (1_790_000_000_000_000, "fff7065bfeda25df05"),
    (72_057_594_037_928_186, "fff7ffffffffffffff"),
    (72_057_594_037_928_187, "fff80100000000000000"),
    (9_223_372_036_854_775_807, "fff87fffffffffffff04"),
    (u64::MAX, "fff8ffffffffffffff04"),
];

#[test]
fn vectors() {
    for (number, hex) in VECTORS {
        assert_eq!(to_hex(number), hex, "{number}");
        assert_eq!(from_hex(hex), Ok(number), "{hex}");
    }
    assert!(VECTORS.is_sorted_by(|a, b| a.0 < b.0 && a.1 < b.1));
    assert_eq!(VECTORS[24].0, LIBRARY_MAX);
}

/// What the npm library writes above its exact range, and more than 64 bits.
#[test]
fn forms_of_several_numbers_are_refused() {
    for (hex, position) in [
        ("ff0c080000000001", 2),
        ("ff0d080000000000", 2),
        ("ffff0fffffffffff", 2),
        ("fff50fffffffffff", 2),
        ("fff90fffffffffff", 2),
        ("fff8ffffffffffffff05", 4),
    ] {
        let error = from_hex(hex).expect_err("too large");
        let found = (error.kind(), error.position());
        assert_eq!(found, (KeyErrorKind::OutOfRange, Some(position)), "{hex}");
    }
}

#[test]
fn other_forms_are_refused() {
    use KeyErrorKind::{NonCanonical, Truncated};
    for (hex, kind, position) in [
        ("", Truncated, 0),
        ("f", NonCanonical, 1),
        ("fb0", NonCanonical, 3),
        ("fb", Truncated, 2),
        ("fc01", Truncated, 4),
        ("ff0008000000", Truncated, 12),
        ("fc0000", NonCanonical, 2), // 251 again
        ("fd00ffff", NonCanonical, 2),
        ("fe00ffffff", NonCanonical, 2),
        ("ff00000000000000", NonCanonical, 4), // no leading bit
        ("ff00100000000000", NonCanonical, 4), // 45 bits
        ("ff00080000000001", NonCanonical, 4), // a fraction
        ("0g", NonCanonical, 0),
        ("05FA", NonCanonical, 2),
        ("FA", NonCanonical, 0),
        ("0x", NonCanonical, 0),
        (" 5", NonCanonical, 0),
        ("0505", NonCanonical, 2),
        ("ff0008000000000005", NonCanonical, 16),
        ("fff60fffffffffff", NonCanonical, 4), // less than the library's largest
        ("fff6100000000000", NonCanonical, 4), // the library's largest again
        ("fff700ffffffffffff", NonCanonical, 4),
        ("fff800ffffffffffffff", NonCanonical, 4),
        ("fff8ffffffffffffff", Truncated, 18),
        ("fff8ffffffffffffff0400", NonCanonical, 20),
        ("é", NonCanonical, 0),
    ] {
        let error = from_hex(hex).expect_err(hex);
        assert_eq!((error.kind(), error.position()), (kind, Some(position)), "{hex}: {error}");
    }
}

/// A number in or near each form.
fn number() -> impl Strategy<Value = u64> {
    let edges = VECTORS.map(|(number, _)| number);
    let near = (prop::sample::select(edges.to_vec()), -3_i64..=3)
        .prop_map(|(edge, step)| edge.saturating_add_signed(step));
    prop_oneof![near, 0..=LIBRARY_MAX, (0..64_u32, any::<u64>()).prop_map(|(s, n)| n >> s)]
}

proptest! {

    #![proptest_config(crate::values::many_cases())]

    #[test]
    fn bytes_and_hex_order_as_numbers(left in number(), right in number()) {
        let bytes = |number| {
            let mut out = Vec::new();
            put(&mut out, number);
            out
        };
        let (a, b) = (bytes(left), bytes(right));
        prop_assert_eq!(a.cmp(&b), left.cmp(&right));
        prop_assert_eq!(to_hex(left).cmp(&to_hex(right)), left.cmp(&right));
        prop_assert_eq!(from_hex(&to_hex(left)), Ok(left));
        let key = [&a[..], &b].concat();
        let mut rest = &key[..];
        prop_assert_eq!(take(&mut rest), Ok(left));
        prop_assert_eq!(take(&mut rest), Ok(right));
        prop_assert!(rest.is_empty());
    }

    #[test]
    fn what_is_read_is_what_is_written(text in "[0-9a-f]{0,22}|ff(0[0-9a-f]|f[5-9])[0-9a-f]{12,16}") {
        if let Ok(number) = from_hex(&text) {
            prop_assert_eq!(to_hex(number), text);
        }
    }
}
