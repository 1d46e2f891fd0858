#[derive(shelfmark::OrderedKey)]
struct Key {
    id: u32,
    #[key(name = "id")]
    other: u32,
}

#[derive(shelfmark::OrderedKey)]
struct Hidden {
    #[key(name = "_id")]
    id: u32,
}

fn main() {}
