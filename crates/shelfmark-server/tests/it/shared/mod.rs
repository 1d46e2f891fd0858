//! One table, two faces: scripts of DynamoDB's requests and CQL's statements on one store in memory.
//!
//! A line `> STATEMENT` is a statement of CQL, `dynamodb OPERATION BODY` a request. `page size=2
//! "SELECT …"` reads page by page, `bind "…" a b` binds values given as constants, `steps STATEMENT`
//! says what it read, `typed` has a Rust program write its tables, `walk TABLE` scans item by item, `wait seconds=N` lets time pass, `reopen` opens
//! store and faces anew, `share GRANT` does so with another grant.
//!
//! After a change run with `UPDATE_GOLDENFILES=1` and read the difference.

mod history;
mod limits;
mod permissions;
mod runner;
#[path = "../../../../shelfmark-cql/tests/it/statements/shown.rs"]
mod shown;
mod typed;

use runner::World;

macro_rules! scripts {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                let path = concat!("tests/it/shared/scripts/", stringify!($name));
                goldenscript::run(&mut World::new(), path).unwrap();
            }
        )*
    };
}

scripts! {
    columns
    corners_of_items
    corners_of_rows
    grants
    indexes
    reads
    refusals
    schema
    statements
    typed_tables
    vector_indexes
    writes
}
