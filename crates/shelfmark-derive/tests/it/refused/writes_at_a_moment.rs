use shelfmark::{OrderedTable, Result};

fn write(table: &OrderedTable<u32, u32>) -> Result<()> {
    table.snapshot()?.write(&1, &1)
}

fn main() {}
