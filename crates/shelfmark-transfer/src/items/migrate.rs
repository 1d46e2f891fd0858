//! Takes over the tables of a live endpoint of DynamoDB: definitions, indexes, tags and items.

use serde::Deserialize;
use serde_json::json;
use shelfmark_model::Item;

use super::client::{Client, Connect, parse};
use super::definition::Definition;
use super::put::ItemPutter;
use super::scan::ItemSource;
use super::text::text_of;
use crate::control::Control;
use crate::error::{Error, ErrorKind, Result};
use crate::migration::{MigratedTable, Migration, Told};
use crate::position::PositionFile;
use crate::sums::Sums;
use crate::walk::Work;

/// A migration from one endpoint to another.
pub struct ItemMigration<'m> {
    /// The side that is read.
    pub from: &'m Connect<'m>,
    /// The side that is written.
    pub to: &'m Connect<'m>,
    /// The tables; none stands for all.
    pub tables: Vec<String>,
    /// Segments of a table that are read at once.
    pub segments: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Names {
    #[serde(default)]
    table_names: Vec<String>,
    #[serde(default)]
    last_evaluated_table_name: Option<String>,
}

/// Copies the tables and compares both sides.
///
/// # Errors
///
/// * [`ErrorKind::Differs`]: a table was written to meanwhile, or the other side has more.
/// * Those of the endpoints; call again to go on where it ended.
pub fn migrate_items<'m>(
    what: &'m ItemMigration<'m>,
    file: &'m PositionFile,
    control: &'m Control<'m>,
    told: &'m Told<'m>,
) -> Result<Vec<MigratedTable>> {
    let (from, to) = (Client::new(what.from, control)?, Client::new(what.to, control)?);
    let tables = if what.tables.is_empty() { names(&from)? } else { what.tables.clone() };
    let mut migration = Migration::new(control, file, told, what.segments)?;
    for table in tables {
        if migration.position.done.contains_key(&table) {
            continue;
        }
        Definition::read(&from, &table)?.create(&to)?;
        let side = |connect| ItemSource {
            connect,
            control,
            table: table.clone(),
            segments: what.segments,
        };
        let put = |_: usize| -> Result<Work<'_, Item, u64>> {
            let putter = ItemPutter::new(Client::new(what.to, control)?, &table);
            Ok(Box::new(move |items: Vec<Item>| {
                let put = putter.put(&items)?;
                match put.refused.into_iter().next() {
                    Some((_, why)) => Err(Error::new(ErrorKind::Refused, why)),
                    None => Ok(put.sums.rows),
                }
            }))
        };
        let sum = |item: &Item, sums: &mut Sums| sums.add(text_of(item).as_bytes());
        migration.table(&table, (&side(what.from), &side(what.to)), &put, &sum)?;
    }
    migration.end()
}

/// Lists all tables of an endpoint.
fn names(client: &Client<'_>) -> Result<Vec<String>> {
    let (mut all, mut request) = (Vec::new(), json!({}));
    loop {
        let body = client.call("ListTables", &request.to_string())?;
        let page: Names = parse("ListTables", &body)?;
        all.extend(page.table_names);
        match page.last_evaluated_table_name {
            Some(last) => request = json!({ "ExclusiveStartTableName": last }),
            None => return Ok(all),
        }
    }
}
