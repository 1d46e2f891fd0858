//! Prints tables: on the terminal, or as CSV.

use std::io::Write as _;

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

/// Prints rows below their column heads, as CSV (RFC 4180) if asked.
pub(crate) fn print<const N: usize>(
    heads: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
    as_csv: bool,
) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    if !as_csv {
        let mut shown = table(heads);
        shown.add_rows(rows);
        return writeln!(out, "{shown}");
    }
    writeln!(out, "{}", csv_line(&heads))?;
    for row in rows {
        writeln!(out, "{}", csv_line(&row))?;
    }
    Ok(())
}

/// Returns fields as a line of CSV (RFC 4180), without its end.
pub(crate) fn csv_line<T: AsRef<str>>(fields: &[T]) -> String {
    fields.iter().map(|own| field(own.as_ref())).collect::<Vec<_>>().join(",")
}

/// Quotes a field of CSV where it has to be.
fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
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

#[cfg(test)]
mod tests {
    use super::field;

    #[test]
    fn fields_of_csv_are_quoted_where_they_must_be() {
        for (text, written) in [("a b", "a b"), ("a,b", "\"a,b\""), ("\"", "\"\"\"\""), ("", "")] {
            assert_eq!(field(text), written);
        }
    }
}
