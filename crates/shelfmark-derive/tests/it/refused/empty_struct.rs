#[derive(shelfmark::OrderedKey)]
struct Nothing {}

#[derive(shelfmark::OrderedKey)]
struct Unit;

fn main() {}
