//! Prints rows for people and pipes.
//!
//! Invariant: what a value holds never steers the terminal: control characters are written out.

use std::io::{self, Write};

use anstyle::Style;
use comfy_table::{Attribute, Cell, CellAlignment, Color, ContentArrangement, Table};
use shelfmark_cql_protocol::client::Page;
use shelfmark_cql_types::{CqlType, Native, to_json_into, to_literal, to_text};

use crate::table::terminal_width;

/// The line characters: between head and rows and between columns, none around, as cqlsh draws
/// them.
const PRESET: &str = "     -+ |          ";
/// Least width of a readable column.
const COLUMN_WIDTH_MIN: usize = 8;

/// The form in which rows are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// As a table, or one below the other when the terminal is too narrow.
    Table,
    /// One below the other.
    Expanded,
    /// A JSON object a line.
    Json,
}

/// Prints a page of rows, after `before` rows that were printed already.
pub(super) fn rows(page: &Page, look: Look, before: usize, out: &mut dyn Write) -> io::Result<()> {
    match look {
        Look::Json => json(page, out),
        Look::Expanded => expanded(page, before, out),
        Look::Table => {
            let mut table = table(page);
            if let Some(width) = terminal_width() {
                if usize::from(width) / COLUMN_WIDTH_MIN < page.columns.len() {
                    return expanded(page, before, out);
                }
                table.set_width(width);
            }
            writeln!(out)?;
            for line in table.lines() {
                writeln!(out, "{}", line.trim_end())?;
            }
            Ok(())
        }
    }
}

fn table(page: &Page) -> Table {
    let mut table = Table::new();
    table.load_preset(PRESET).set_content_arrangement(ContentArrangement::Dynamic);
    let head = |name: &str| Cell::new(plain(name)).add_attribute(Attribute::Bold);
    table.set_header(page.columns.iter().map(|column| head(&column.name)));
    for (index, column) in page.columns.iter().enumerate() {
        if is_number(&column.kind)
            && let Some(column) = table.column_mut(index)
        {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for row in &page.rows {
        let cells = page.columns.iter().zip(row).map(|(column, cell)| match cell {
            Some(bytes) => Cell::new(value(&column.kind, bytes)),
            None => Cell::new("null").fg(Color::DarkGrey),
        });
        table.add_row(cells);
    }
    table
}

fn expanded(page: &Page, before: usize, out: &mut dyn Write) -> io::Result<()> {
    let names: Vec<String> = page.columns.iter().map(|column| plain(&column.name)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let (bold, dim) = if colours() {
        (Style::new().bold(), Style::new().dimmed())
    } else {
        (Style::new(), Style::new())
    };
    for (number, row) in (before + 1..).zip(&page.rows) {
        writeln!(out, "\n@ Row {number}\n{}+{}", "-".repeat(width + 2), "-".repeat(width.max(20)))?;
        for ((name, column), cell) in names.iter().zip(&page.columns).zip(row) {
            let space = " ".repeat(width - name.chars().count());
            match cell {
                Some(bytes) => {
                    let value = value(&column.kind, bytes);
                    writeln!(out, " {bold}{name}{bold:#}{space} | {value}")?;
                }
                None => writeln!(out, " {bold}{name}{bold:#}{space} | {dim}null{dim:#}")?,
            }
        }
    }
    Ok(())
}

fn json(page: &Page, out: &mut dyn Write) -> io::Result<()> {
    let names: Vec<String> = page
        .columns
        .iter()
        .map(|column| serde_json::Value::from(&*column.name).to_string())
        .collect();
    let mut line = String::new();
    for row in &page.rows {
        line.clear();
        for ((name, column), cell) in names.iter().zip(&page.columns).zip(row) {
            line.push_str(if line.is_empty() { "{" } else { ", " });
            line.push_str(name);
            line.push_str(": ");
            to_json_into(&column.kind, cell.as_deref(), &mut line);
        }
        line.push('}');
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// Returns each row of a page as a JSON object.
pub(crate) fn json_rows(page: &Page) -> Vec<String> {
    let mut out = Vec::new();
    // A buffer in memory takes all that is written.
    if json(page, &mut out).is_err() {
        return Vec::new();
    }
    String::from_utf8_lossy(&out).lines().map(str::to_owned).collect()
}

/// Formats a value: texts as they are, composed ones as CQL does.
fn value(kind: &CqlType, bytes: &[u8]) -> String {
    match kind {
        CqlType::Native(Native::Blob | Native::Empty) => to_literal(kind, Some(bytes)),
        CqlType::Native(_) => plain(&to_text(kind, bytes)),
        _ => plain(&to_literal(kind, Some(bytes))),
    }
}

/// Returns a text with its control characters escaped.
pub(super) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            plain.extend(character.escape_default());
        } else {
            plain.push(character);
        }
    }
    plain
}

fn is_number(kind: &CqlType) -> bool {
    matches!(
        kind,
        CqlType::Native(
            Native::Bigint
                | Native::Counter
                | Native::Decimal
                | Native::Double
                | Native::Float
                | Native::Int
                | Native::Smallint
                | Native::Tinyint
                | Native::Varint
        )
    )
}

/// Returns true if standard output supports colours.
fn colours() -> bool {
    anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use shelfmark_cql::ColumnSpec;
    use shelfmark_cql_types::from_text;

    use super::*;

    fn page(rows: &[&[Option<&str>]]) -> Page {
        let columns = [("k", CqlType::Int), ("Name", CqlType::Text)];
        let columns: Vec<ColumnSpec> = columns
            .into_iter()
            .map(|(name, kind)| {
                let (keyspace, table) = ("ks".into(), "t".into());
                ColumnSpec { keyspace, table, name: name.into(), kind }
            })
            .collect();
        let cell = |(column, text): (&ColumnSpec, &Option<&str>)| {
            text.map(|text| Bytes::from(from_text(&column.kind, text).unwrap()))
        };
        let rows = rows.iter().map(|row| columns.iter().zip(*row).map(cell).collect()).collect();
        Page { columns, rows, paging: None }
    }

    fn shown(look: Look, rows: &[&[Option<&str>]]) -> String {
        let mut out = Vec::new();
        super::rows(&page(rows), look, 0, &mut out).unwrap();
        // The tests may run on a terminal.
        anstream::adapter::strip_str(std::str::from_utf8(&out).unwrap()).to_string()
    }

    const ROWS: &[&[Option<&str>]] =
        &[&[Some("1"), Some("ann")], &[Some("20"), None], &[Some("3"), Some("a\u{1b}[31m\nb")]];

    #[test]
    fn tables_are_as_wide_as_their_values() {
        assert_eq!(
            shown(Look::Table, ROWS),
            "\n  k | Name\n----+----------------\n  1 | ann\n 20 | null\n  3 | a\\u{1b}[31m\\nb\n"
        );
    }

    #[test]
    fn rows_stand_below_each_other_when_expanded() {
        let text = shown(Look::Expanded, &ROWS[..1]);
        assert_eq!(text, "\n@ Row 1\n------+--------------------\n k    | 1\n Name | ann\n");
    }

    #[test]
    fn json_is_a_row_a_line() {
        let text = shown(Look::Json, ROWS);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[..2], ["{\"k\": 1, \"Name\": \"ann\"}", "{\"k\": 20, \"Name\": null}"]);
        let json: serde_json::Value = serde_json::from_str(lines[2]).unwrap();
        assert_eq!(json["Name"], "a\u{1b}[31m\nb");
    }
}
