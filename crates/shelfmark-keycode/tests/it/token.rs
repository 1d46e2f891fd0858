//! Tokens against values that Cassandra's own drivers test with.

use shelfmark_keycode::{token, token_bytes, token_from_bytes};

fn check(key: &[u8], expected: i64) {
    assert_eq!(token(key), expected, "token of {key:02x?}");
}

/// `count` bytes counting up from `first`.
fn counting(first: u8, count: u8) -> Vec<u8> {
    (first..first + count).collect()
}

#[test]
fn agrees_with_the_drivers_on_ascii() {
    check(b"", i64::MIN);
    check(b"123", -7_468_325_962_851_647_638);
    check(b"key", -6_847_573_755_651_342_660);
    check(b"9223372036854775807", 7_162_290_910_810_015_547);
    check(&[0x10; 8], 1_446_172_840_243_228_796);
    check(&[0, 0, 0, 1], -4_069_959_284_402_364_209);
    check(&[0, 0, 0, 0], -3_485_513_579_396_041_028);
    check(&[0, 1, 0x7F, 0x7F], 6_573_459_401_642_635_627);
    // The composite key ("a", int 1).
    let composite = [0, 1, 0x61, 0, 0, 4, 0, 0, 0, 1, 0];
    check(&composite, 8_247_712_171_917_364_652);
}

#[test]
fn sign_extends_the_bytes_behind_the_last_block() {
    check(&[0xFE; 8], -8_927_430_733_708_461_935);
    check(&[0xFE; 4], 4_566_408_979_886_474_012);
    check(&[0xFE; 17], -1_672_437_813_826_982_685);
    check(&[0, 0xFF, 0xFF, 0xFF], 123_573_637_386_978_882);
    check(&[0xFF, 1, 2, 3], -2_839_127_690_952_877_842);
    check(&[0xE2, 0xE7], -8_582_699_461_035_929_883);
    check(&[0xE2, 0xE7, 0xE2, 0xE7, 0xE2, 0xE7, 1], 2_222_373_981_930_033_306);
    check(&[0x00, 0xFF, 0x10, 0xFA, 0x99].repeat(10), 5_837_342_703_291_459_765);
}

#[test]
fn does_not_sign_extend_inside_blocks() {
    check(&counting(1, 16), -5_563_837_382_979_743_776);
    check(&counting(2, 16), -1_513_403_162_740_402_161);
    check(&counting(3, 16), -495_360_443_712_684_655);
    check(&counting(4, 16), 1_734_091_135_765_407_943);
    check(&counting(5, 16), -3_199_412_112_042_527_988);
    check(&counting(6, 16), -6_316_563_938_475_080_831);
    check(&counting(7, 16), 8_228_893_370_679_682_632);
    check(&[0; 16], 5_457_549_051_747_178_710);
    check(&[0xFF; 16], -2_824_192_546_314_762_522);
    check(&[0xFE; 16], -833_317_529_301_936_754);
    let mut mixed = vec![0, 1, 2, 3];
    mixed.resize(16, 0xFF);
    check(&mixed, 6_463_632_673_159_404_390);
    // uuid 550e8400-e29b-41d4-a716-446655440000
    let uuid = 0x550e_8400_e29b_41d4_a716_4466_5544_0000_u128;
    check(&uuid.to_be_bytes(), 4_277_286_421_682_315_655);
}

/// Computed with a second implementation, in another language, that agrees with the drivers too.
#[test]
fn every_length_of_tail() {
    let key =
        |length: u8| -> Vec<u8> { (0..length).map(|at| 0x80_u8.wrapping_add(at * 7)).collect() };
    check(&key(1), -5_284_281_814_142_962_636);
    check(&key(7), -5_968_304_505_574_019_857);
    check(&key(8), 512_842_628_024_960_352);
    check(&key(9), 683_171_345_539_645_642);
    check(&key(15), 3_052_317_648_445_578_018);
    check(&key(16), -2_954_592_189_485_143_609);
    check(&key(17), 5_211_886_051_089_384_206);
    check(&key(23), -8_925_955_735_606_023_974);
    check(&key(24), 860_463_995_639_002_433);
    check(&key(25), 7_870_898_320_421_091_931);
    check(&key(31), 1_870_246_301_362_292_004);
    check(&key(33), -5_068_544_799_612_549_991);
}

/// Keys found by running the hash backwards.
#[test]
fn the_least_number_is_no_token() {
    let least = 0x0407_747C_8AE7_0B7F_542C_82E6_FDA3_7A5A_u128;
    check(&least.to_be_bytes(), i64::MAX); // The hash alone is i64::MIN.
    let greatest = 0xB90F_EDA4_53AE_8BF0_1AF5_99AF_DD85_2C18_u128;
    check(&greatest.to_be_bytes(), i64::MAX);
}

#[test]
fn token_bytes_order_as_tokens_do() {
    let tokens = [i64::MIN, i64::MIN + 1, -2, -1, 0, 1, 2, i64::MAX - 1, i64::MAX];
    for pair in tokens.windows(2) {
        assert!(token_bytes(pair[0]) < token_bytes(pair[1]), "{pair:?}");
    }
    for token in tokens {
        assert_eq!(token_from_bytes(token_bytes(token)), token);
    }
    assert_eq!(token_bytes(-1), [0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]);
}
