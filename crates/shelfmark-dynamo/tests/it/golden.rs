//! Runs the scripts under `tests/it/scripts`. `UPDATE_GOLDENFILES=1` rewrites their output, which is
//! read before it is committed.

use crate::runner::Server;

macro_rules! scripts {
    ($($name:ident),* $(,)?) => {
        $(
            #[test]
            fn $name() {
                goldenscript::run(&mut Server::new(), concat!("tests/it/scripts/", stringify!($name)))
                    .unwrap();
            }
        )*

        const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

scripts!(
    backups,
    backups_continuous,
    backups_features,
    batches,
    capacity,
    conditions,
    create_table,
    errors,
    exactness,
    exports,
    exports_checked,
    exports_incremental,
    expressions,
    imports,
    imports_checked,
    index_local,
    index_multi_attribute,
    index_sparse,
    items,
    key_types,
    layers,
    legacy,
    paging,
    partiql_batch,
    partiql_grammar,
    partiql_paging,
    partiql_select,
    partiql_transaction,
    partiql_write,
    publication_composite,
    publication_gsi,
    publication_hierarchy,
    segments,
    streams,
    streams_at_timestamp,
    tables,
    tools,
    transactions,
    updates,
    values,
    vectors,
    vectors_attributes,
    vectors_restored,
);

#[test]
fn every_script_is_run() {
    let folder = std::path::Path::new("tests/it/scripts");
    let mut found: Vec<String> = shelfmark_store::vfs::list(folder)
        .unwrap()
        .into_iter()
        .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()))
        .collect();
    found.sort();
    assert_eq!(found, NAMES);
}
