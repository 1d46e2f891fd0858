//! The rows: about 200 bytes each, from a seed.

use shelfmark_load_measure::Random;

/// A row of the table of single rows: `id, a, b, n, d`.
pub type Single = (String, String, String, i64, Vec<u8>);

/// A row of the table of partitions: `p, c, a, b, n, d`.
pub type Wide = (String, i32, String, String, i64, Vec<u8>);

/// A row of the table with an index: `id, tag, a, b, n, d`.
pub type Indexed = (String, String, String, String, i64, Vec<u8>);

/// Values of the indexed column.
const TAGS: u64 = 1_000;

pub fn single(random: &mut Random, number: u64) -> Single {
    (id(number), random.text(40), random.text(40), random.number().cast_signed(), random.bytes(96))
}

pub fn indexed(random: &mut Random, number: u64) -> Indexed {
    let (id, a, b, n, d) = single(random, number);
    (id, format!("t{:04}", random.below(TAGS)), a, b, n, d)
}

pub fn wide(random: &mut Random, of: u64, clustering: i32) -> Wide {
    let (a, b) = (random.text(40), random.text(40));
    (partition(of), clustering, a, b, random.number().cast_signed(), random.bytes(96))
}

/// The key of a single row.
pub fn id(number: u64) -> String {
    format!("u{number:09}")
}

/// The key of a partition.
pub fn partition(number: u64) -> String {
    format!("p{number:08}")
}
