#[derive(shelfmark::OrderedKey)]
struct Score {
    player: String,
    points: f64,
}

fn main() {}
