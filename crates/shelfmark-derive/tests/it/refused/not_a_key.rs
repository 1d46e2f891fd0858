struct Plain(u32);

fn open(database: &shelfmark::Database) {
    let _ = shelfmark::OrderedTable::<Plain, u32>::named(database, "t");
    let _ = shelfmark::OrderedTable::<(u32, f32), u32>::named(database, "t");
}

fn main() {}
