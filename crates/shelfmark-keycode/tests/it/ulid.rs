//! ULIDs: their text, their limits, and generators that never go back.

use std::str::FromStr;

use proptest::collection::vec;
use proptest::prelude::*;
use shelfmark_keycode::{KeyErrorKind, Overflow, ULID_TEXT_BYTES, Ulid, UlidGenerator};

const LARGEST: &str = "7ZZZZZZZZZZZZZZZZZZZZZZZZZ";

/// A source that hands out one byte over and over and counts how often it was asked.
fn constant(byte: u8, calls: &mut u32) -> impl FnMut(&mut [u8]) {
    move |bytes| {
        *calls += 1;
        bytes.fill(byte);
    }
}

#[test]
fn text_and_parts() {
    let ulid = Ulid::new(1_469_918_176_385, [0; 10]).expect("48 bits");
    assert_eq!(ulid.to_string(), "01ARYZ6S410000000000000000");
    assert_eq!(ulid.timestamp_ms(), 1_469_918_176_385);
    assert_eq!(format!("{ulid:?}"), "Ulid(01ARYZ6S410000000000000000)");
    assert_eq!(ulid.to_string().len(), ULID_TEXT_BYTES);

    let random = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE];
    let ulid = Ulid::new(1, random).expect("48 bits");
    assert_eq!(ulid.to_string(), "0000000001ZZZZZZZZZZZZZZZY");
    assert_eq!(ulid.to_bytes()[..6], [0, 0, 0, 0, 0, 1]);
    assert_eq!(ulid.to_bytes()[6..], random);

    let largest = Ulid::from_bytes([0xFF; 16]);
    assert_eq!(largest.to_string(), LARGEST);
    assert_eq!(largest.timestamp_ms(), (1 << 48) - 1);
    assert_eq!(Ulid::from_bytes([0; 16]).to_string(), "0".repeat(26));
}

#[test]
fn parses_in_either_case() {
    let upper = Ulid::from_str("01ARYZ6S41TSV4RRFFQ69G5FAV").expect("a ULID");
    assert_eq!("01aryz6s41tsv4rrffq69g5fav".parse(), Ok(upper));
    assert_eq!(upper.to_string(), "01ARYZ6S41TSV4RRFFQ69G5FAV");
    assert_eq!(upper.timestamp_ms(), 1_469_918_176_385);
    assert_eq!(LARGEST.parse(), Ok(Ulid::from_bytes([0xFF; 16])));
}

#[test]
fn refuses_other_text() {
    use KeyErrorKind::{NonCanonical, OutOfRange, TooLong, Truncated};
    for (text, kind, position) in [
        ("", Truncated, 0),
        ("01ARYZ6S41TSV4RRFFQ69G5FA", Truncated, 25),
        ("01ARYZ6S41TSV4RRFFQ69G5FAV0", TooLong, 26),
        ("8ZZZZZZZZZZZZZZZZZZZZZZZZZ", OutOfRange, 0),
        ("80000000000000000000000000", OutOfRange, 0),
        ("ZZZZZZZZZZZZZZZZZZZZZZZZZZ", OutOfRange, 0),
        ("01ARYZ6S41TSV4RRFFQ69G5FAI", NonCanonical, 25),
        ("01ARYZ6S41TSV4RRFFQ69G5FAl", NonCanonical, 25),
        ("01ARYZ6S41TSV4RRFFQ69G5FAO", NonCanonical, 25),
        ("01ARYZ6S41TSV4RRFFQ69G5FAu", NonCanonical, 25),
        ("01ARYZ6S41-SV4RRFFQ69G5FAV", NonCanonical, 10),
        ("01ARYZ6S41TSV4RRFFQ69G5Fé", NonCanonical, 24),
    ] {
        let error = Ulid::from_str(text).expect_err(text);
        assert_eq!((error.kind(), error.position()), (kind, Some(position)), "{text}");
    }
    let error = Ulid::new(1 << 48, [0; 10]).expect_err("49 bits");
    assert_eq!(error.kind(), OutOfRange);
}

#[test]
fn counts_up_within_a_millisecond_and_when_the_clock_steps_back() {
    let mut calls = 0;
    let mut random = constant(0x11, &mut calls);
    let mut generator = UlidGenerator::new(Overflow::Refuse);
    let mut next = |now| generator.next(now, &mut random).expect("room").to_string();
    assert_eq!(next(1_000), "00000000Z8248H248H248H248H");
    assert_eq!(next(1_000), "00000000Z8248H248H248H248J");
    assert_eq!(next(999), "00000000Z8248H248H248H248K");
    assert_eq!(next(0), "00000000Z8248H248H248H248M");
    assert_eq!(next(1_001), "00000000Z9248H248H248H248H");
    drop(random);
    assert_eq!(calls, 2, "drawn once for each new millisecond");
}

#[test]
fn overflow_is_an_error_until_the_clock_moves_on() {
    let mut calls = 0;
    let mut random = constant(0xFF, &mut calls);
    let mut generator = UlidGenerator::new(Overflow::Refuse);
    let first = generator.next(5, &mut random).expect("fresh");
    for now in [5, 4, 5] {
        let error = generator.next(now, &mut random).expect_err("used up");
        assert_eq!(error.kind(), KeyErrorKind::OutOfRange);
    }
    let next = generator.next(6, &mut random).expect("fresh");
    assert!(next > first);
    assert_eq!(next.timestamp_ms(), 6);
}

#[test]
fn overflow_may_carry_into_the_time() {
    let mut calls = 0;
    let mut random = constant(0xFF, &mut calls);
    let mut generator = UlidGenerator::new(Overflow::CarryIntoTime);
    let first = generator.next(5, &mut random).expect("fresh");
    let second = generator.next(5, &mut random).expect("carried");
    assert_eq!((first.timestamp_ms(), second.timestamp_ms()), (5, 6));
    assert_eq!(second.to_bytes()[6..], [0; 10]);
    let third = generator.next(6, &mut random).expect("counted up, for 6 is not new");
    assert_eq!(third.to_bytes()[6..], [0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);

    let mut last = UlidGenerator::after(Ulid::from_bytes([0xFF; 16]), Overflow::CarryIntoTime);
    let error = last.next(0, &mut random).expect_err("nothing above");
    assert_eq!(error.kind(), KeyErrorKind::OutOfRange);
}

#[test]
fn a_refused_time_changes_nothing() {
    let mut calls = 0;
    let mut random = constant(0x22, &mut calls);
    let mut generator = UlidGenerator::new(Overflow::Refuse);
    let first = generator.next(7, &mut random).expect("fresh");
    // Microseconds since 1970 do not fit into 48 bits.
    let error = generator.next(1_700_000_000_000_000, &mut random).expect_err("too late");
    assert_eq!(error.kind(), KeyErrorKind::OutOfRange);
    let second = generator.next(7, &mut random).expect("room");
    assert!(second > first && second.timestamp_ms() == 7);
    drop(random);
    assert_eq!(calls, 1, "nothing was drawn for the refused time");
}

#[test]
fn goes_on_after_a_stored_ulid() {
    let stored = Ulid::new(50, [9; 10]).expect("48 bits");
    let mut generator = UlidGenerator::after(stored, Overflow::Refuse);
    let mut calls = 0;
    let next = generator.next(3, &mut constant(0, &mut calls)).expect("room");
    assert!(next > stored);
}

proptest! {

    #![proptest_config(crate::values::many_cases())]

    #[test]
    fn text_and_bytes_order_alike(a in any::<[u8; 16]>(), b in any::<[u8; 16]>()) {
        let (left, right) = (Ulid::from_bytes(a), Ulid::from_bytes(b));
        prop_assert_eq!(left.cmp(&right), a.cmp(&b));
        prop_assert_eq!(left.to_string().cmp(&right.to_string()), a.cmp(&b));
        prop_assert_eq!(left.to_string().parse(), Ok(left));
        prop_assert_eq!(left.to_string().to_lowercase().parse(), Ok(left));
        prop_assert_eq!(left.to_bytes(), a);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[0-9A-Za-z~é]{0,28}") {
        if let Ok(ulid) = text.parse::<Ulid>() {
            prop_assert_eq!(ulid.to_string(), text.to_ascii_uppercase());
        }
    }

    /// Whatever the clock does and whatever is drawn.
    #[test]
    fn generators_strictly_ascend(
        clock in vec((0_u64..4, any::<bool>()), 1..60),
        overflow in prop::sample::select(vec![Overflow::Refuse, Overflow::CarryIntoTime]),
    ) {
        let mut generator = UlidGenerator::new(overflow);
        let mut last: Option<Ulid> = None;
        for (now, full) in clock {
            let mut random = |bytes: &mut [u8]| bytes.fill(if full { 0xFF } else { 0x33 });
            match generator.next(now, &mut random) {
                Ok(next) => {
                    prop_assert!(last.is_none_or(|last| next > last));
                    last = Some(next);
                }
                Err(error) => {
                    prop_assert_eq!(error.kind(), KeyErrorKind::OutOfRange);
                    prop_assert_eq!(overflow, Overflow::Refuse);
                }
            }
        }
    }
}
