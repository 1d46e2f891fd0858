#[derive(shelfmark::KeyPart)]
#[repr(u64)]
enum Large {
    A = 1,
    B = 3_000_000_000,
}

fn main() {}
