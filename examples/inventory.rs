//! An inventory, as a program that used redb has it: a table of bytes by key, a second one kept equal
//! by hand. Here the second is an index, keys are tuples, and ranges follow their parts.
//!
//! Run it with `cargo run -p shelfmark --example inventory`.

#![expect(clippy::print_stdout, reason = "it shows what it does")]

use std::error::Error;

use serde::{Deserialize, Serialize};
use shelfmark::{OrderedTable, Shelfmark};

/// What is stored of an article; where it stands is its key.
#[derive(Clone, Serialize, Deserialize)]
struct Article {
    name: String,
    pieces: u32,
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    // `TableDefinition::new("articles")` and `Database::create(path)` become:
    let store = Shelfmark::open(folder.path())?;
    let database = store.database("inventory")?;
    // By aisle and shelf: an aisle is one range, in the order of its shelves.
    let articles: OrderedTable<(String, u32), Article> =
        OrderedTable::named(&database, "articles")?;

    // `begin_write`, `open_table`, `insert`, `commit` become one closure. It is run again when another
    // transaction came between, so it touches nothing outside.
    let article = |name: &str, pieces| Article { name: name.to_owned(), pieces };
    database.transact(|tx| {
        let articles = tx.table(&articles)?;
        articles.insert(("a", 1), &article("lamp", 4))?;
        articles.insert(("a", 2), &article("chair", 12))?;
        articles.insert(("b", 1), &article("desk", 3))
    })?;

    // `table.range(..)` of one table becomes a range by the first parts of its key.
    for entry in articles.prefix("a")?.iter() {
        let ((_, shelf), article) = entry?;
        println!("a{shelf}: {} {}", article.pieces, article.name);
    }

    // A second table with the same rows under another key becomes an index, which follows in the same
    // commit and is built in the background where there are rows already.
    let by_name = articles.index::<String>("by_name", ["name"])?;
    for entry in articles.by(&by_name).get("desk").iter() {
        let ((aisle, shelf), article) = entry?;
        println!("{} stands at {aisle}{shelf}", article.name);
    }

    // Two transactions that take the last piece do not both get it.
    let left = database.transact(|tx| {
        let articles = tx.table(&articles)?;
        let Some(mut desk) = articles.get(("b", 1))? else { return Ok(None) };
        desk.pieces = desk.pieces.saturating_sub(1);
        articles.insert(("b", 1), &desk)?;
        Ok(Some(desk.pieces))
    })?;
    println!("desks left: {left:?}");

    // A snapshot is what `begin_read` was: one moment, whatever is written meanwhile.
    let moment = articles.snapshot()?;
    articles.remove(("a", 2))?;
    println!("then {} articles, now {}", moment.iter().count()?, articles.iter().count()?);

    store.close()?;
    Ok(())
}
