//! Tables on the terminal.

use comfy_table::{ContentArrangement, Table, presets};

/// Creates a table with these column heads, as wide as the terminal allows.
pub(crate) fn table<const N: usize>(heads: [&str; N]) -> Table {
    let mut table = Table::new();
    table
        .load_preset(presets::UTF8_HORIZONTAL_ONLY)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(heads);
    table
}
