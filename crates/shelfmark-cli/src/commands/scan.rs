//! `shelfmark scan` and `shelfmark query`: items in key order, one JSON object a line, or as CSV.

use std::io::{BufWriter, Write as _};

use shelfmark_admin::PAGE_ITEMS_MAX;

use crate::arguments::{Query, Scan, ScanOptions};
use crate::items_csv::csv_lines;
use crate::place::{Asked, Place};

pub(crate) fn run(scan: &Scan) -> anyhow::Result<()> {
    let request = request(&scan.table, &scan.partition, &scan.options);
    read(&scan.place, &scan.options, request, |asked, page| asked.run(page))
}

pub(crate) fn query(query: &Query) -> anyhow::Result<()> {
    let request = request(&query.table, &query.partition, &query.options);
    read(&query.place, &query.options, request, |asked, page| {
        asked.run(shelfmark_admin::Query(page))
    })
}

fn request(table: &str, partition: &[String], options: &ScanOptions) -> shelfmark_admin::Scan {
    shelfmark_admin::Scan {
        table: table.to_owned(),
        partition: partition.to_vec(),
        prefix: options.prefix.clone(),
        from: options.from.clone(),
        to: options.to.clone(),
        index: options.index.clone(),
        descending: options.desc,
        limit: None,
        cursor: None,
    }
}

/// Prints page by page, which bounds the memory of a long scan; CSV needs all items to know its columns.
fn read(
    place: &Place,
    options: &ScanOptions,
    mut request: shelfmark_admin::Scan,
    page: impl Fn(&Asked, shelfmark_admin::Scan) -> anyhow::Result<shelfmark_admin::ScanAnswer>,
) -> anyhow::Result<()> {
    place.ask(|asked| {
        let mut out = BufWriter::new(std::io::stdout().lock());
        let mut left = options.limit;
        let (mut read, mut returned, mut range) = (0, 0, String::new());
        let (mut keys, mut held) = (Vec::new(), Vec::new());
        while left > 0 {
            request.limit = Some(left.min(PAGE_ITEMS_MAX));
            let answer = page(asked, request.clone())?;
            left -= answer.items.len().min(left);
            read += answer.report.rows_read;
            returned += answer.report.rows_returned;
            (request.cursor, range) = (answer.cursor, answer.range);
            if options.form.csv {
                keys = answer.keys;
                held.extend(answer.items);
            } else {
                for item in &answer.items {
                    writeln!(out, "{}", item.get())?;
                }
            }
            if request.cursor.is_none() {
                break;
            }
        }
        if options.form.csv {
            for line in csv_lines(&keys, &held)? {
                writeln!(out, "{line}")?;
            }
        }
        out.flush()?;
        if request.cursor.is_some() {
            anstream::eprintln!("there is more: --limit {} was reached", options.limit);
        }
        if options.explain {
            anstream::eprintln!("range: {range}");
            anstream::eprintln!("rows read: {read}, rows returned: {returned}");
        }
        Ok(())
    })
}
