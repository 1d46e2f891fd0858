#[derive(shelfmark::OrderedKey)]
struct Tagged {
    id: u32,
    tags: Vec<String>,
}

fn main() {}
