#[derive(shelfmark::KeyPart)]
struct Pair(u32, u32);

fn main() {}
