#[derive(shelfmark::OrderedKey)]
struct Generic<T> {
    inner: T,
}

#[derive(shelfmark::KeyPart)]
struct Borrowed<'a>(&'a str);

fn main() {}
