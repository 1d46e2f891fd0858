#[derive(shelfmark::KeyPart)]
enum Kind {
    A,
    B(u32),
}

#[derive(shelfmark::KeyPart)]
enum Never {}

fn main() {}
