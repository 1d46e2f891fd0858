//! `shelfmark get`: one item by its key.

use std::io::Write as _;

use crate::arguments::Get;
use crate::pretty::pretty;

pub(crate) fn run(get: &Get) -> anyhow::Result<()> {
    let request = shelfmark_admin::Get { table: get.table.clone(), key: get.key.clone() };
    let got = get.place.ask(|asked| asked.run(request))?;
    writeln!(std::io::stdout(), "{}", pretty(got.item.get()))?;
    Ok(())
}
