#[derive(shelfmark::OrderedKey)]
enum Kind {
    A,
}

fn main() {}
