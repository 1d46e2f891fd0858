//! The rows: about 200 bytes each, from a seed.

/// A row of the table of single rows: `id, a, b, n, d`.
pub type Single = (String, String, String, i64, Vec<u8>);

/// A row of the table of partitions: `p, c, a, b, n, d`.
pub type Wide = (String, i32, String, String, i64, Vec<u8>);

/// A small generator of numbers (splitmix64), the same for a seed everywhere.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x00C0_FFEE)
    }

    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.number() % end.max(1)
    }

    pub fn text(&mut self, length: usize) -> String {
        (0..length).map(|_| char::from(b'a' + (self.number() % 26) as u8)).collect()
    }

    fn bytes(&mut self, length: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(length + 8);
        while bytes.len() < length {
            bytes.extend_from_slice(&self.number().to_le_bytes());
        }
        bytes.truncate(length);
        bytes
    }

    pub fn single(&mut self, number: u64) -> Single {
        (id(number), self.text(40), self.text(40), self.number().cast_signed(), self.bytes(96))
    }

    pub fn wide(&mut self, of: u64, clustering: i32) -> Wide {
        let (a, b) = (self.text(40), self.text(40));
        (partition(of), clustering, a, b, self.number().cast_signed(), self.bytes(96))
    }
}

/// The key of a single row.
pub fn id(number: u64) -> String {
    format!("u{number:09}")
}

/// The key of a partition.
pub fn partition(number: u64) -> String {
    format!("p{number:08}")
}
