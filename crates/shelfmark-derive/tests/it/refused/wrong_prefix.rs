use shelfmark::OrderedTable;

fn read(table: &OrderedTable<(String, u32), u32>) {
    // The second part is no prefix.
    let _ = table.prefix(7_u32);
}

fn main() {}
