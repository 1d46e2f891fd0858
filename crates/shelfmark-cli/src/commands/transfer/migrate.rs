//! `shelfmark migrate --from dynamodb://…` and `--from cql://…`: the tables of a live server into a store.
//!
//! What it is not: the copy of a store key by key, which `shelfmark migrate` makes of folders and clusters.

use std::io::Write as _;
use std::path::Path;

use anyhow::bail;
use indicatif::HumanCount;
use serde_json::json;
use shelfmark_store::embedded::Options;
use shelfmark_transfer::items::{ItemMigration, migrate_items};
use shelfmark_transfer::rows::{RowMigration, migrate_rows};
use shelfmark_transfer::{MigratedTable, PositionFile, Step};

use super::{Opened, Shown, SystemControl, with_hint};
use crate::arguments::Migrate;
use crate::store::open;

/// Returns true if a place is a live server.
pub(crate) fn is_server(place: &str) -> bool {
    let schemes = ["dynamodb://", "http://", "https://", "cql://"];
    schemes.iter().any(|scheme| place.starts_with(scheme))
}

/// Takes over the tables of a server.
pub(crate) fn run(migrate: &Migrate) -> anyhow::Result<()> {
    if is_server(&migrate.to) || migrate.to.contains("://") {
        bail!("--to takes the folder of a store where --from is a server");
    }
    let from = Opened::at(&migrate.from, &migrate.login)?;
    let folder = Path::new(&migrate.to);
    let to = Opened::here(open(folder, Options::default(), true)?)?;
    let place = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
    let of = format!("migration of {:?} from {}", migrate.only, migrate.from);
    let position = PositionFile::beside(&place, of);
    let outcome = copy(migrate, &from, &to, &position);
    to.close()?;
    tell(migrate, &outcome?)
}

/// The tables that were taken over, and what was left behind.
struct Outcome {
    tables: Vec<MigratedTable>,
    left_behind: Vec<String>,
}

fn copy(
    migrate: &Migrate,
    from: &Opened,
    to: &Opened,
    position: &PositionFile,
) -> anyhow::Result<Outcome> {
    let shown = Shown::begin(format!("from {}", migrate.from));
    let told = |step: Step, table: &str| {
        shown.set_verb(match step {
            Step::Copying => format!("copying {table}"),
            Step::Comparing => format!("comparing {table}"),
        });
    };
    let system = SystemControl::start()?;
    if let Opened::Cql(_) = from {
        let (from, to) = (|| from.cql(), || to.cql());
        let what = RowMigration {
            from: &from,
            to: &to,
            keyspaces: migrate.only.clone(),
            ranges: migrate.segments,
        };
        let migrated = system.run(migrate.rate, &shown, |control| {
            let migrated = migrate_rows(&what, position, control, &told);
            migrated.map_err(|error| with_hint(error, position))
        })?;
        return Ok(Outcome { tables: migrated.tables, left_behind: migrated.left_behind });
    }
    let (from, to) = (|| from.dynamodb(), || to.dynamodb());
    let what = ItemMigration {
        from: &from,
        to: &to,
        tables: migrate.only.clone(),
        segments: migrate.segments,
    };
    let tables = system.run(migrate.rate, &shown, |control| {
        let migrated = migrate_items(&what, position, control, &told);
        migrated.map_err(|error| with_hint(error, position))
    })?;
    Ok(Outcome { tables, left_behind: Vec::new() })
}

fn tell(migrate: &Migrate, outcome: &Outcome) -> anyhow::Result<()> {
    let mut out = std::io::stdout();
    for what in &outcome.left_behind {
        anstream::eprintln!("left behind: {what}");
    }
    if migrate.json {
        let tables: Vec<_> = outcome
            .tables
            .iter()
            .map(|own| {
                let checksum = format!("{:032x}", own.sums.checksum);
                json!({ "table": own.table, "rows": own.sums.rows, "checksum": checksum })
            })
            .collect();
        writeln!(out, "{:#}", json!({ "tables": tables, "left_behind": outcome.left_behind }))?;
        return Ok(());
    }
    for own in &outcome.tables {
        let (rows, checksum) = (HumanCount(own.sums.rows), own.sums.checksum);
        writeln!(out, "{}: both sides have {rows} rows, checksum {checksum:032x}", own.table)?;
    }
    let (count, folder) = (outcome.tables.len(), &migrate.to);
    let noun = if count == 1 { "table" } else { "tables" };
    writeln!(out, "{count} {noun}; go on with: shelfmark serve --data {folder}")?;
    Ok(())
}
