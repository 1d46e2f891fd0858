//! Counts of rows and a checksum that does not depend on their order.
//!
//! A row's bytes in one fixed form are hashed, and the hashes are added up. What it is not: a proof
//! against forgery.
//!
//! Invariant: the sums of the same rows are equal, in whatever order and parts they were added.

use std::fmt;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

/// A count of rows with their checksum.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sums {
    /// The number of rows.
    pub rows: u64,
    /// The sum of the rows' hashes, modulo 2^128.
    #[serde(with = "digits")]
    pub checksum: u128,
}

impl Sums {
    /// Adds a row, given in its fixed form.
    pub fn add(&mut self, row: &[u8]) {
        self.merge(Self { rows: 1, checksum: xxh3_128(row) });
    }

    /// Adds the rows of another part.
    pub fn merge(&mut self, other: Self) {
        self.rows += other.rows;
        self.checksum = self.checksum.wrapping_add(other.checksum);
    }
}

impl fmt::Display for Sums {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} rows, checksum {:032x}", self.rows, self.checksum)
    }
}

/// A checksum as hexadecimal digits.
mod digits {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(sum: &u128, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&format!("{sum:032x}"))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<u128, D::Error> {
        u128::from_str_radix(&String::deserialize(input)?, 16).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_parts_do_not_matter_and_rows_do() {
        let of = |rows: &[&str]| {
            let mut sums = Sums::default();
            rows.iter().for_each(|row| sums.add(row.as_bytes()));
            sums
        };
        let mut parts = of(&["c"]);
        parts.merge(of(&["b", "a"]));
        assert_eq!(parts, of(&["a", "b", "c"]));
        assert_ne!(of(&["a", "b"]), of(&["a", "a"]));
        assert_ne!(of(&["ab"]), of(&["a", "b"]));
        let text = serde_json::to_string(&parts).unwrap();
        assert_eq!(serde_json::from_str::<Sums>(&text).unwrap(), parts);
    }
}
