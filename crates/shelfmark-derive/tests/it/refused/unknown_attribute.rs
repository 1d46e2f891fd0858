#[derive(shelfmark::OrderedKey)]
struct Key {
    #[key(backwards)]
    id: u32,
}

#[derive(shelfmark::OrderedKey)]
#[key(descending)]
struct Whole {
    id: u32,
}

#[derive(shelfmark::KeyPart)]
struct Part(#[key(descending)] u32);

fn main() {}
