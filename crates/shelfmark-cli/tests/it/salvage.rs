//! A store that lost part of a table file: what is lost is told in the terms of its tables, and what is
//! kept belongs together again.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use shelfmark_engine::{CellScan, Engine, Environment, Scan, SeededRandom, Write};
use shelfmark_keycode::KeyType;
use shelfmark_model::{
    IndexKind, IndexSchema, IndexState, Item, KeyColumn, Projected, RowKind, TableName,
    TableSchema, TtlSource,
};
use shelfmark_store::clock::{Clock as _, SystemClock};
use shelfmark_store::embedded::{self, EmbeddedStore, Options};

use crate::process::{shelfmark, stderr, stdout};

fn files(store: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(store.join("tree").join("tables")).unwrap();
    files.map(|file| file.unwrap().path()).collect()
}

/// The largest table file of a store.
fn table_file(store: &Path) -> PathBuf {
    files(store).into_iter().max_by_key(|path| std::fs::metadata(path).unwrap().len()).unwrap()
}

fn flip(file: &Path, place: usize) {
    let mut bytes = std::fs::read(file).unwrap();
    bytes[place] ^= 1;
    std::fs::write(file, bytes).unwrap();
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let own = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &own);
        } else {
            std::fs::copy(entry.path(), own).unwrap();
        }
    }
}

/// Runs `f` over a store that is opened for it and closed again: each call is a restart.
pub(crate) fn with_engine<T>(store: &Path, f: impl FnOnce(&Engine) -> T) -> T {
    let clock = Arc::new(SystemClock::new());
    let opened = EmbeddedStore::open(store, Options::default(), clock.clone()).unwrap();
    let random = Arc::new(SeededRandom::new(7));
    let engine = Engine::open(Arc::new(opened), Environment { clock, random }).unwrap();
    let value = f(&engine);
    engine.store().close().unwrap();
    value
}

/// Text that does not get shorter when it is packed.
fn noise(seed: usize, characters: usize) -> String {
    let mut state = (seed as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(b'!' + u8::try_from(state % 90).unwrap())
    };
    (0..characters).map(|_| next()).collect()
}

fn index(name: &str, kind: IndexKind, column: &str) -> IndexSchema {
    IndexSchema {
        name: name.to_owned(),
        kind,
        partition: vec![KeyColumn::new(column, KeyType::Text)],
        sort: Vec::new(),
        projected: Projected::All,
        state: IndexState::Public,
    }
}

/// Items that expire, are counted, lie in shards and are cut into chunks, with indexes and a change
/// log; and a table of CQL with an index and a view.
fn fill(store: &Path) {
    let mut schema =
        TableSchema::new(TableName::new("dynamodb", "full"), KeyColumn::new("pk", KeyType::Text))
            .with_sort("sk", KeyType::Text)
            .with_index(index("by_tag", IndexKind::Secondary, "tag"))
            .with_index(index("by_code", IndexKind::Unique, "code"));
    schema.options.exact_counts = true;
    schema.options.change_log = true;
    schema.options.shard_items_max = Some(8);
    schema.options.shard_bytes_max = Some(4_000);
    schema.options.ttl = Some(TtlSource::PerItem);
    with_engine(store, |engine| {
        let table = engine.create_table(schema).unwrap();
        let now = SystemClock::new().now_seconds();
        for n in 0..60 {
            let large = if n % 25 == 5 { 150_000 } else { 60 };
            let item = Item::new()
                .with("pk", format!("p{}", n / 20))
                .with("sk", format!("{n:02}"))
                .with("tag", format!("t{}", n % 3))
                .with("code", format!("c{n}"))
                .with("text", noise(n, large));
            let mut write = Write::put(&table, item);
            write.expires_at = (n % 4 == 0).then_some(now + 100_000 + n as u64);
            engine.write(write).unwrap();
        }
        for _ in 0..6 {
            engine.split_all_due().unwrap();
        }
    });
    let mut script = "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', \
                      'replication_factor': 1};
        CREATE TABLE k.t (p int, c int, a text, s text static, m map<text, text>, \
                      PRIMARY KEY (p, c));
        CREATE INDEX by_a ON k.t (a);
        CREATE MATERIALIZED VIEW k.by_c AS SELECT p, c, a, m FROM k.t WHERE p IS NOT NULL AND c IS NOT NULL \
                      PRIMARY KEY (c, p);\n"
        .to_owned();
    for n in 0..90 {
        let (p, c, text) = (n / 30, n % 30, noise(n, 90).replace('\'', " "));
        let ttl = if n % 5 == 0 { "USING TTL 100000" } else { "" };
        script.push_str(&format!(
            "INSERT INTO k.t (p, c, a, m) VALUES ({p}, {c}, 'a{}', {{'k': '{text}'}}) {ttl};\n",
            n % 7
        ));
    }
    script.push_str("INSERT INTO k.t (p, s) VALUES (1, 'static');\n");
    script.push_str(
        "DELETE FROM k.t WHERE p = 2 AND c > 20;\nDELETE FROM k.t WHERE p = 0 AND c = 3;\n",
    );
    let data = store.to_str().unwrap();
    let output = shelfmark(&["cql", "--data", data, "-e", &script]);
    assert!(output.status.success(), "{}{}", stdout(&output), stderr(&output));
}

/// Everything that reads of whole tables and indexes show.
fn shown(engine: &Engine) -> BTreeSet<String> {
    let mut shown = BTreeSet::new();
    for name in engine.table_names(None, None, usize::MAX).unwrap() {
        let table = engine.table(&name).unwrap();
        if table.schema.rows == RowKind::Cells {
            let page = engine.scan_cells(&table, &CellScan::default()).unwrap();
            shown.extend(page.rows.iter().map(|row| format!("{name} {row:?}")));
            continue;
        }
        let indexes = table.indexes().iter().map(|index| Some(index.schema.name.clone()));
        for index in indexes.chain([None]) {
            let mut scan = Scan { index: index.clone(), ..Scan::default() };
            loop {
                let page = engine.scan(&table, &scan).unwrap();
                shown.extend(page.items.iter().map(|item| format!("{name} {index:?} {item:?}")));
                match page.cursor {
                    Some(next) => scan.start = Some(next),
                    None => break,
                }
            }
        }
    }
    shown
}

/// The data blocks of all table files: a file begins with them, and each says how long it is.
fn data_blocks(store: &Path) -> Vec<(PathBuf, usize)> {
    let mut blocks = Vec::new();
    for path in files(store) {
        let bytes = std::fs::read(&path).unwrap();
        let mut place = 0;
        while bytes[place..].starts_with(&[0x4c, 0x53, 0x4d, 3, 0]) {
            blocks.push((path.clone(), place));
            // Its length is little-endian.
            let length = &bytes[place + 21..place + 25];
            place += 33 + length.iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
        }
    }
    blocks
}

#[test]
fn whatever_block_is_lost_the_store_is_whole_again() {
    let folder = tempfile::tempdir().unwrap();
    let filled = folder.path().join("filled");
    fill(&filled);
    let before = with_engine(&filled, shown);
    let blocks = data_blocks(&filled);
    assert!(blocks.len() > 20, "{}", blocks.len());
    let mut all_said = String::new();
    for (number, (file, place)) in blocks.iter().enumerate() {
        let store = folder.path().join("store");
        copy(&filled, &store);
        let file = store.join(file.strip_prefix(&filled).unwrap());
        flip(&file, place + 40);
        let data = store.to_str().unwrap();
        let output = shelfmark(&["verify", "--data", data, "--salvage"]);
        let said = stdout(&output);
        assert!(output.status.success(), "block {number}: {said}{}", stderr(&output));
        let lost = format!("lost: {} at byte {place}: ", file.display());
        assert!(said.contains(&lost), "block {number}: {lost}: {said}");
        assert!(said.contains(" bytes, of "), "block {number}: {said}");
        assert!(said.contains("every record belongs where it is"), "block {number}: {said}");
        assert!(embedded::verify(&store).unwrap().is_clean());
        let is_catalogue = said.contains("of the catalogue of tables");
        let (found, after) =
            with_engine(&store, |engine| (engine.verify().unwrap(), shown(engine)));
        assert!(found.is_clean(), "block {number}: {:?}\n{said}", found.findings);
        let new = after.difference(&before).count();
        assert_eq!(new, 0, "block {number}: rows that nobody wrote: {said}");
        // The catalogue stands twice: what is lost of one side comes from the other.
        assert!(after.len() > before.len() / 2, "block {number}: {said}");
        let of_catalogue_alone =
            said.lines().filter(|line| line.starts_with("lost: ")).all(|line| {
                line.ends_with("of the catalogue of tables")
                    || line.ends_with("of the second copy of the catalogue")
            });
        if of_catalogue_alone {
            assert_eq!(after, before, "block {number}: {said}");
        }
        if !is_catalogue && number % 6 == 0 {
            let select = "SELECT count(*) FROM k.t WHERE a = 'a1'; SELECT count(*) FROM k.by_c;";
            let output = shelfmark(&["cql", "--data", data, "-e", select]);
            assert!(output.status.success(), "block {number}: {}", stderr(&output));
        }
        all_said.push_str(&said);
        std::fs::remove_dir_all(&store).unwrap();
    }
    for part in [
        "of rows of dynamodb.full, between (pk = \"p",
        "rows of k.t",
        "rows of view k.by_c",
        "entries of index by_tag of dynamodb.full",
        "the change log of dynamodb.full",
        "view k.by_c was built anew from k.t",
        "indexes of k.t were built anew: 1",
        "counts of dynamodb.full were corrected: ",
        "lost: the row (pk = \"p",
    ] {
        assert!(all_said.contains(part), "{part}: {all_said}");
    }
}

/// A store of one table file, in which each side of the catalogue has blocks of its own: a keyspace
/// with an indexed table of 300 rows and a view of it, and a table of items.
fn with_one_file(store: &Path) {
    let mut script = CQL_SCHEMA.to_owned();
    for n in 0..300 {
        let text = noise(n, 60).replace('\'', " ");
        script.push_str(&format!("INSERT INTO k.t (p, c, a) VALUES ({}, {n}, '{text}');", n % 7));
    }
    let data = store.to_str().unwrap();
    let output = shelfmark(&["cql", "--data", data, "-e", &script]);
    assert!(output.status.success(), "{}", stderr(&output));
    with_engine(store, |engine| {
        let environment = engine.environment().clone();
        let options = shelfmark_dynamo::FaceOptions::default();
        let face = shelfmark_dynamo::Face::new(engine.clone(), environment, options);
        let call = |operation: &str, body: &str| {
            let head = shelfmark_dynamo::RequestHead::operation(operation);
            assert_eq!(face.call(&head, body.as_bytes()).status, 200, "{operation}");
        };
        call("CreateTable", JSON_SCHEMA);
        for n in 0..50 {
            let text = noise(n, 200).replace(['"', '\\'], " ");
            let item = format!(
                r#"{{"TableName":"books","Item":{{"isbn":{{"S":"b{n}"}},"tag":{{"S":"t{}"}},
                "text":{{"S":"{text}"}}}}}}"#,
                n % 3
            );
            call("PutItem", &item);
        }
        engine.store().maintain().unwrap();
    });
}

const CQL_SCHEMA: &str = "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', \
    'replication_factor': 1};
    CREATE TABLE k.t (p int, c int, a text, PRIMARY KEY (p, c)) WITH CLUSTERING ORDER BY (c DESC);
    CREATE INDEX by_a ON k.t (a);
    CREATE MATERIALIZED VIEW k.by_c AS SELECT p, c, a FROM k.t WHERE p IS NOT NULL AND c IS NOT NULL \
    PRIMARY KEY (c, p);\n";

const JSON_SCHEMA: &str = r#"{"TableName":"books","BillingMode":"PAY_PER_REQUEST",
    "AttributeDefinitions":[{"AttributeName":"isbn","AttributeType":"S"},
    {"AttributeName":"tag","AttributeType":"S"}],
    "KeySchema":[{"AttributeName":"isbn","KeyType":"HASH"}],
    "GlobalSecondaryIndexes":[{"IndexName":"by_tag","KeySchema":[{"AttributeName":"tag",
    "KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}]}"#;

/// Flips a bit in every block that tells what a table is: those of the catalogue, or of its copy, or
/// of both.
fn flip_catalogue(store: &Path, sides: &[u8]) -> usize {
    let mut flipped = 0;
    let mut blocks = data_blocks(store);
    blocks.sort();
    for (at, (file, place)) in blocks.iter().enumerate() {
        let bytes = std::fs::read(file).unwrap();
        let next = blocks.get(at + 1).filter(|(own, _)| own == file);
        let block = &bytes[*place..next.map_or(bytes.len(), |(_, next)| *next)];
        // A word of every record of a table. The catalogue is the beginning of each file.
        let tells = block.windows(9).any(|part| part == b"placement");
        let side = if *place == 0 { 1 } else { 10 };
        if tells && sides.contains(&side) {
            flip(file, place + 40);
            flipped += 1;
        }
    }
    flipped
}

#[test]
fn either_side_of_the_catalogue_brings_the_other_back() {
    let folder = tempfile::tempdir().unwrap();
    let filled = folder.path().join("filled");
    with_one_file(&filled);
    let before = with_engine(&filled, shown);
    assert!(before.len() > 600, "{}", before.len());
    for side in [1, 10] {
        let store = folder.path().join(format!("store-{side}"));
        copy(&filled, &store);
        assert!(flip_catalogue(&store, &[side]) > 0, "side {side}");
        let data = store.to_str().unwrap();
        assert!(!shelfmark(&["verify", "--data", data]).status.success());
        let output = shelfmark(&["verify", "--data", data, "--salvage"]);
        let said = stdout(&output);
        assert!(output.status.success(), "{said}{}", stderr(&output));
        assert!(said.find("will be lost: ") < said.find("\ndamage: "), "{said}");
        assert_eq!(with_engine(&store, shown), before, "side {side}: {said}");
        assert!(shelfmark(&["verify", "--data", data]).status.success());
    }
}

#[test]
fn without_the_catalogue_a_schema_that_is_given_brings_the_rows_back() {
    let folder = tempfile::tempdir().unwrap();
    let filled = folder.path().join("filled");
    with_one_file(&filled);
    let before = with_engine(&filled, shown);
    assert!(flip_catalogue(&filled, &[1, 10]) > 1);
    let (cql, json) = (folder.path().join("k.cql"), folder.path().join("books.json"));
    std::fs::write(&cql, CQL_SCHEMA).unwrap();
    std::fs::write(&json, JSON_SCHEMA).unwrap();
    let contents = |store: &Path| {
        let all = files(store).into_iter().map(|path| std::fs::read(path).unwrap());
        let names = std::fs::read_dir(store).unwrap().map(|entry| entry.unwrap().file_name());
        (all.collect::<Vec<_>>(), names.collect::<BTreeSet<_>>())
    };
    // Nothing is done unless it is known what becomes of the tables.
    let untouched = contents(&filled);
    let data = filled.to_str().unwrap();
    for flags in [&[][..], &["--schema", cql.to_str().unwrap()]] {
        let output = shelfmark(&[&["verify", "--data", data, "--salvage"], flags].concat());
        assert!(!output.status.success(), "{}", stdout(&output));
        assert!(stdout(&output).contains("will be lost: table number "), "{}", stdout(&output));
        let said = stderr(&output);
        assert!(said.contains("nothing was changed"), "{said}");
        assert!(said.contains("--schema FILE") && said.contains("--accept-loss"), "{said}");
        assert_eq!(contents(&filled), untouched);
    }
    let given = folder.path().join("given");
    copy(&filled, &given);
    let data = given.to_str().unwrap();
    let schemas = ["--schema", cql.to_str().unwrap(), "--schema", json.to_str().unwrap()];
    let output = shelfmark(&[&["verify", "--data", data, "--salvage"], &schemas[..]].concat());
    let said = stdout(&output);
    assert!(output.status.success(), "{said}{}", stderr(&output));
    assert!(said.contains("are those of k.t by the schema given"), "{said}");
    assert!(said.contains("are those of dynamodb.books by the schema given"), "{said}");
    assert_eq!(with_engine(&given, shown), before, "{said}");
    let select = "SELECT count(*) FROM k.t; SELECT p FROM k.by_c WHERE c = 8;";
    let output = shelfmark(&["cql", "--data", data, "-e", select]);
    assert!(stdout(&output).contains("300"), "{}{}", stdout(&output), stderr(&output));
    let accepted = folder.path().join("accepted");
    copy(&filled, &accepted);
    let data = accepted.to_str().unwrap();
    let output = shelfmark(&["verify", "--data", data, "--salvage", "--accept-loss"]);
    assert!(output.status.success(), "{}{}", stdout(&output), stderr(&output));
    assert_eq!(with_engine(&accepted, shown), BTreeSet::new());
    assert!(shelfmark(&["verify", "--data", data]).status.success());
}

/// Calls the salvage, which must refuse, say these words and change nothing; then accepts the loss.
fn check_accepted(store: &Path, words: &[&str]) {
    let data = store.to_str().unwrap();
    let output = shelfmark(&["verify", "--data", data, "--salvage"]);
    let said = format!("{}{}", stdout(&output), stderr(&output));
    assert!(!output.status.success(), "{said}");
    for word in words.iter().chain(&["nothing was changed", "--accept-loss"]) {
        assert!(said.contains(word), "{word}: {said}");
    }
    assert!(!store.join("salvage-1").exists());
    let output = shelfmark(&["verify", "--data", data, "--salvage", "--accept-loss"]);
    assert!(output.status.success(), "{}{}", stdout(&output), stderr(&output));
    assert!(shelfmark(&["verify", "--data", data]).status.success());
}

#[test]
fn tables_that_leave_no_trace_are_lost_only_if_that_is_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let filled = folder.path().join("filled");
    with_one_file(&filled);
    let words = ["the whole file", "will be lost: tables as a whole, if there were any"];
    let missing = folder.path().join("missing");
    copy(&filled, &missing);
    for file in files(&missing) {
        std::fs::remove_file(file).unwrap();
    }
    check_accepted(&missing, &words);
    assert!(with_engine(&missing, shown).is_empty());
    let garbage = folder.path().join("garbage");
    copy(&filled, &garbage);
    for file in files(&garbage) {
        let length = std::fs::metadata(&file).unwrap().len();
        std::fs::write(file, noise(1, usize::try_from(length).unwrap())).unwrap();
    }
    check_accepted(&garbage, &words[1..]);
}

#[test]
fn a_table_file_of_another_store_is_not_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let (own, other) = (folder.path().join("own"), folder.path().join("other"));
    with_one_file(&own);
    let create = r#"CREATE KEYSPACE z WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
        CREATE TABLE z.foreign (p int PRIMARY KEY, a text); INSERT INTO z.foreign (p, a) VALUES (1, 'a');"#;
    let output = shelfmark(&["cql", "--data", other.to_str().unwrap(), "-e", create]);
    assert!(output.status.success(), "{}", stderr(&output));
    with_engine(&other, |engine| engine.store().maintain().unwrap());
    for file in files(&own) {
        std::fs::copy(table_file(&other), file).unwrap();
    }
    let words = ["the whole file", "will be lost: tables as a whole, if there were any"];
    check_accepted(&own, &words);
    assert!(with_engine(&own, shown).is_empty());
}

/// Its rows and their deletions lie in files that were not merged yet.
#[test]
fn a_table_that_was_dropped_is_not_lost() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let data = store.to_str().unwrap();
    let mut script = r#"CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
        CREATE TABLE k.gone (p int PRIMARY KEY, a text); CREATE TABLE k.stays (p int PRIMARY KEY, a text);"#
        .to_owned();
    for n in 0..40 {
        let text = noise(n, 200).replace('\'', " ");
        for table in ["gone", "stays"] {
            script.push_str(&format!("INSERT INTO k.{table} (p, a) VALUES ({n}, '{text}');"));
        }
    }
    let output = shelfmark(&["cql", "--data", data, "-e", &script]);
    assert!(output.status.success(), "{}", stderr(&output));
    with_engine(&store, |engine| {
        engine.drop_table(&TableName::new("k", "gone")).unwrap();
        assert_eq!(engine.purge().unwrap(), 0);
    });
    // One of rows alone.
    let mut blocks = data_blocks(&store);
    blocks.retain(|(file, _)| *file == table_file(&store));
    let (file, place) = blocks.swap_remove(blocks.len() / 2);
    flip(&file, place + 40);
    let output = shelfmark(&["verify", "--data", data, "--salvage"]);
    let said = format!("{}{}", stdout(&output), stderr(&output));
    assert!(output.status.success(), "{said}");
    assert!(said.contains("will be lost: ") && !said.contains("table number"), "{said}");
}

/// A store of the tour with a wrong byte in its table file, behind so many hundredths of it: in the
/// middle lie rows, behind them entries of indexes.
fn damaged_tour(part: usize) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let data = store.to_str().unwrap();
    let output = shelfmark(&["tour", "--model", "publication", "--data", data]);
    assert!(output.status.success(), "{}", stderr(&output));
    let file = table_file(&store);
    let length = std::fs::metadata(&file).unwrap().len();
    flip(&file, usize::try_from(length).unwrap() * part / 100);
    (folder, store)
}

/// The process ends between the salvage and what follows it: both `verify` say so.
#[test]
fn a_salvage_that_was_interrupted_goes_on() {
    let (_folder, store) = damaged_tour(50);
    let data = store.to_str().unwrap();
    assert!(!shelfmark(&["verify", "--data", data]).status.success());
    embedded::salvage(&store).unwrap();
    let output = shelfmark(&["verify", "--data", data]);
    assert!(!output.status.success());
    assert!(stderr(&output).contains("was not seen to yet"), "{}", stderr(&output));
    let output = shelfmark(&["verify", "--data", data, "--salvage"]);
    assert!(output.status.success(), "{}{}", stdout(&output), stderr(&output));
    assert!(stdout(&output).contains(" bytes, of "), "{}", stdout(&output));
    assert!(stdout(&output).contains("every record belongs"), "{}", stdout(&output));
    let output = shelfmark(&["verify", "--data", data]);
    assert!(output.status.success(), "{}{}", stdout(&output), stderr(&output));
    let output = shelfmark(&["verify", "--data", data, "--salvage"]);
    assert_eq!(stdout(&output), "nothing was damaged; nothing was changed\n");
}

/// As a salvage of an earlier build left it: all bytes are right, and entries lack.
#[test]
fn records_that_do_not_belong_together_are_made_anew() {
    let (_folder, store) = damaged_tour(80);
    let data = store.to_str().unwrap();
    embedded::salvage(&store).unwrap();
    embedded::end_salvage(&store).unwrap();
    let output = shelfmark(&["verify", "--data", data]);
    assert!(!output.status.success());
    assert!(stdout(&output).contains("wrong: "), "{}", stdout(&output));
    let output = shelfmark(&["verify", "--data", data, "--salvage"]);
    assert!(output.status.success(), "{}{}", stdout(&output), stderr(&output));
    assert!(stdout(&output).contains("were built anew: "), "{}", stdout(&output));
    assert!(shelfmark(&["verify", "--data", data]).status.success());
}
