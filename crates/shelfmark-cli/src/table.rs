//! Tables on the terminal.

use comfy_table::{ContentArrangement, Table};

/// A line below the column heads and nothing else: rows stand as close as a list's.
const PRESET: &str = "     ──            ";

/// Creates a table with these column heads, as wide as the terminal allows.
pub(crate) fn table<const N: usize>(heads: [&str; N]) -> Table {
    let mut table = Table::new();
    table
        .load_preset(PRESET)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(heads);
    table
}

/// Returns how many columns standard output has; none if it is no terminal.
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
