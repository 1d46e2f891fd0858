//! Prints tables on the terminal.

use comfy_table::{ContentArrangement, Table};

/// The line characters: a line below the column heads and nothing else.
const PRESET: &str = "     ──            ";

/// Creates a table with these column heads, at most as wide as the terminal.
pub(crate) fn table<const N: usize>(heads: [&str; N]) -> Table {
    let mut table = Table::new();
    table
        .load_preset(PRESET)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(heads);
    table
}

/// Returns the width of standard output in columns; `None` if it is no terminal.
pub(crate) fn terminal_width() -> Option<u16> {
    #[cfg(unix)]
    {
        let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
        Some(size.ws_col).filter(|columns| *columns > 0)
    }
    #[cfg(not(unix))]
    {
        Table::new().width()
    }
}
