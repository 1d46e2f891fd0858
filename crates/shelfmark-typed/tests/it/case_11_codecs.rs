//! Case 11: the codecs for people who build text keys by hand. Their own vectors are tested beside
//! them (`shelfmark-keycode`); here: they keep their promises as keys.

use shelfmark_keycode::{Overflow, UlidGenerator, lexint};
use shelfmark_typed::{OrderedTable, Result, Ulid};

use crate::drivers::{n, on_every_driver};

#[test]
fn lexicographic_integers_sort_as_numbers_in_sort_keys() {
    on_every_driver(|bed| {
        let partition = bed.entities("t").partition("p");
        // The last three: the largest of the npm library, the next, and a moment in microseconds.
        let numbers: [u64; 13] = [
            0,
            5,
            20,
            250,
            251,
            307,
            506,
            507,
            65_786,
            65_787,
            17_592_186_044_667,
            17_592_186_044_668,
            1_790_000_000_000_000,
        ];
        for number in numbers.iter().rev() {
            let text = lexint::to_hex(*number);
            partition.put(&format!("user#{text}"), n(i64::try_from(*number).unwrap())).unwrap();
        }
        let found: Vec<u64> = partition
            .begins_with("user#")
            .map(|entity| lexint::from_hex(&entity.unwrap().sk["user#".len()..]).unwrap())
            .collect();
        assert_eq!(found, numbers);
        assert_eq!(lexint::to_hex(307), "fb38");
        assert!(lexint::from_hex("fc0000").is_err(), "not minimal");
    });
}

#[test]
fn ulids_of_one_generator_are_keys_in_the_order_they_were_made() {
    on_every_driver(|bed| {
        let table: OrderedTable<Ulid, u32> = OrderedTable::named(&bed.database, "t").unwrap();
        let mut generator = UlidGenerator::new(Overflow::Refuse);
        let mut random = |bytes: &mut [u8]| bytes.fill(0xFE);
        // The same millisecond, the next, and the clock stepping back.
        for (number, time) in (0..).zip([5_000, 5_000, 5_001, 4_000, 5_001]) {
            let ulid = generator.next(time, &mut random).unwrap();
            table.write(&ulid, &number).unwrap();
        }
        let values = table.to_stream().values().collect::<Result<Vec<_>>>().unwrap();
        assert_eq!(values, [0, 1, 2, 3, 4]);
        let keys = table.to_stream().keys().collect::<Result<Vec<_>>>().unwrap();
        assert_eq!(keys[1].to_bytes()[15], keys[0].to_bytes()[15] + 1);
        assert!("8ZZZZZZZZZZZZZZZZZZZZZZZZZ".parse::<Ulid>().is_err());
    });
}

#[test]
fn a_used_up_millisecond_is_an_error() {
    let mut generator = UlidGenerator::new(Overflow::Refuse);
    let mut random = |bytes: &mut [u8]| bytes.fill(0xFF);
    generator.next(1, &mut random).unwrap();
    assert!(generator.next(1, &mut random).is_err());
    assert!(generator.next(2, &mut random).is_ok());
}
