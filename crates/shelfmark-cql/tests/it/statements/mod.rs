//! Scripts of CQL statements, run on an engine in memory; their answers are committed and compared.
//!
//! A line `> STATEMENT` is a statement. `page size=2 "SELECT …"` reads page by page, `bind "…" a b`
//! binds values given as constants of the markers' types, `metadata "…"` shows what PREPARE says,
//! `clock seconds=5` moves the clock, `user NAME` logs in (`user ""` does not), `reopen` opens the executor anew,
//! `authorizer NAME` does so with another authorizer.
//!
//! After a change run with `UPDATE_GOLDENFILES=1` and read the difference.

mod runner;
mod shown;

pub(crate) use runner::World;
pub(crate) use shown::literals;

macro_rules! scripts {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                let path = concat!("tests/it/statements/scripts/", stringify!($name));
                goldenscript::run(&mut World::new(), path).unwrap();
            }
        )*
    };
}

scripts! {
    answers
    collections
    compact
    conditions
    counters
    ddl
    describe
    edges
    edges_of_reads
    first
    folded
    functions
    indexes
    modifications
    nearest
    options
    permissions
    products
    refusals
    refused_reads
    refused_schemas
    refused_writes
    returning
    select
    views
}
