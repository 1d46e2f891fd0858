//! `shelfmark get`: one item by its key.

use std::io::Write as _;

use crate::arguments::Get;
use crate::items_csv::csv_lines;
use crate::pretty::pretty;

pub(crate) fn run(get: &Get) -> anyhow::Result<()> {
    let request = shelfmark_admin::Get { table: get.table.clone(), key: get.key.clone() };
    let got = get.place.ask(|asked| asked.run(request))?;
    let mut out = std::io::stdout();
    if get.form.csv {
        for line in csv_lines(&got.keys, &[got.item])? {
            writeln!(out, "{line}")?;
        }
        return Ok(());
    }
    let item = got.item.get();
    let shown = if get.form.json { item.to_owned() } else { pretty(item) };
    writeln!(out, "{shown}")?;
    Ok(())
}
