//! Scripts on real tables: what comes back, and what CQL sees of it.

use std::sync::Arc;

use shelfmark_cql::{Face, FaceOptions, Inline};
use shelfmark_engine::{Engine, Environment, SeededRandom};
use shelfmark_store::clock::ManualClock;
use shelfmark_store::memory::MemoryStore;

use super::tests::seed_document;
use super::{Backend, Client, Local, Mode, Script, document, parse, script};

fn client(mode: Mode) -> Client<Local> {
    let clock = Arc::new(ManualClock::at_micros(1_577_836_800_000_000));
    let environment = Environment { clock: clock.clone(), random: Arc::new(SeededRandom::new(1)) };
    let engine = Engine::open(Arc::new(MemoryStore::new(clock)), environment.clone()).unwrap();
    let options = FaceOptions::default();
    let face = Face::open(engine, environment, options, None, Arc::new(Inline)).unwrap();
    Client::new(Local::new(&face), mode)
}

fn run(client: &mut Client<Local>, script: &Script) -> Vec<String> {
    let mut lines = Vec::new();
    for piece in &script.pieces {
        let command = parse(piece, client.mode, &mut Vec::new()).unwrap();
        match client.run(&command) {
            Ok(reply) => lines.extend(reply.lines),
            Err(error) => panic!("{}: {error}", piece.text),
        }
    }
    lines
}

/// Runs commands; returns what they print but times and timestamps.
fn said(client: &mut Client<Local>, text: &str) -> Vec<String> {
    let lines = run(client, &script(text, client.mode));
    let plain = |line: String| match line.split_once(", timestamp=") {
        Some((before, _)) => format!("{before})"),
        None => line,
    };
    lines.into_iter().filter(|line| !line.starts_with("Elapsed")).map(plain).collect()
}

const WALL: &str = "create keyspace Pinboard;
use pinboard;
create column family Wall with comparator = LongType
  and key_validation_class = UTF8Type and default_validation_class = UTF8Type;
set wall['ann']['20'] = 'second';
set Wall['ann']['9'] = 'first';
set Wall['bob']['1'] = 'only';
";

#[test]
fn a_family_without_declared_columns_is_a_wide_row() {
    let mut client = client(Mode::Strict);
    said(&mut client, WALL);
    assert_eq!(
        said(&mut client, "get Wall['ann'];"),
        ["=> (column=9, value=first)", "=> (column=20, value=second)", "Returned 2 results."]
    );
    assert_eq!(said(&mut client, "get Wall['ann']['9'];"), ["=> (column=9, value=first)"]);
    assert_eq!(said(&mut client, "count Wall['ann'];"), ["2 columns"]);
    assert_eq!(said(&mut client, "list Wall;").last().unwrap(), "2 Rows Returned.");
    assert_eq!(said(&mut client, "del Wall['ann']['9'];"), ["column removed."]);
    assert_eq!(said(&mut client, "get Wall['ann']['9'];"), ["Value was not found"]);
    assert_eq!(said(&mut client, "del Wall['ann'];"), ["row removed."]);
    assert_eq!(said(&mut client, "get Wall['ann'];"), ["Returned 0 results."]);
    let seen = client.backend.run("SELECT key, column1, value FROM \"Pinboard\".\"Wall\"").unwrap();
    assert_eq!(seen.rows.len(), 1);
    assert_eq!(said(&mut client, "truncate Wall;"), ["Wall truncated."]);
    assert_eq!(said(&mut client, "list Wall;").last().unwrap(), "0 Row Returned.");
}

#[test]
fn declared_columns_can_be_searched_by_their_index() {
    let mut client = client(Mode::Strict);
    said(
        &mut client,
        "create keyspace P;\nuse P;\ncreate column family Users with comparator = UTF8Type
         and key_validation_class = UTF8Type and default_validation_class = UTF8Type
         and column_metadata = [
         {column_name: name, validation_class: UTF8Type, index_name: by_name, index_type: KEYS}
         {column_name: born, validation_class: LongType}];
         set Users['1']['name'] = 'ann';\nset Users['1']['born'] = 1815;
         set Users['1']['color'] = 'red';\nset Users['2']['name'] = 'bob';",
    );
    assert_eq!(
        said(&mut client, "get Users where name = 'ann' and born > 1800;"),
        [
            "-------------------",
            "RowKey: 1",
            "=> (column=born, value=1815)",
            "=> (column=color, value=red)",
            "=> (column=name, value=ann)",
            "",
            "1 Row Returned.",
        ]
    );
    said(&mut client, "drop index on Users.name;");
    let command = script("get Users where name = 'ann';", Mode::Strict);
    let command = parse(&command.pieces[0], Mode::Strict, &mut Vec::new()).unwrap();
    assert!(client.run(&command).unwrap_err().starts_with("No indexed columns"));
}

#[test]
fn super_columns_and_counters_work_on_tables() {
    let mut client = client(Mode::Strict);
    said(
        &mut client,
        "create keyspace P;\nuse P;\ncreate column family S with column_type = Super
         and comparator = UTF8Type and subcomparator = UTF8Type
         and key_validation_class = UTF8Type and default_validation_class = UTF8Type;
         create column family H with comparator = UTF8Type and key_validation_class = UTF8Type
         and default_validation_class = CounterColumnType;
         set S['k']['a']['x'] = '1';\nset S['k']['a']['y'] = '2';\nset S['k']['b']['x'] = '3';
         incr H['k']['c'] by 5;\ndecr H['k']['c'];",
    );
    assert_eq!(said(&mut client, "get S['k']['a'];").len(), 3);
    assert_eq!(said(&mut client, "count S['k'];"), ["2 columns"]);
    said(&mut client, "del S['k']['a'];");
    assert_eq!(said(&mut client, "get S['k'];")[0], "=> (super_column=b,");
    assert_eq!(said(&mut client, "get H['k']['c'];"), ["=> (counter=c, value=4)"]);
}

/// The scripts of the document that the forgiving mode was made for.
#[test]
fn the_document_runs() {
    let Some(text) = seed_document() else {
        eprintln!("../shared/seeds/002* is not there: its scripts were not run");
        return;
    };
    let mut client = client(Mode::Forgiving);
    run(&mut client, &document(&text));
    let mut shape = |family: &str| {
        let lines = said(&mut client, &format!("list {family};"));
        let count = |start: &str| lines.iter().filter(|line| line.starts_with(start)).count();
        (count("RowKey: "), count("=> "))
    };
    assert_eq!(shape("USER"), (2, 6));
    assert_eq!(shape("FRIEND"), (2, 2));
    assert_eq!(shape("FOLLOWER"), (2, 2));
    assert_eq!(shape("TWEET"), (4, 8));
    assert_eq!(shape("TIMELINE"), (2, 8));
    let found = said(&mut client, "get USER where user_name = 'itstarting';");
    assert_eq!(found[1], "RowKey: 550e8400-e29b-41d4-a716-446655440000");
    let line = said(&mut client, "get TIMELINE['550e8400-e29b-41d4-a716-446655440000'] limit 1;");
    assert!(line[0].starts_with("=> (column=1329883039824000"), "{line:?}");
}

/// Commands of the original's own test script that were answered otherwise.
#[test]
fn rows_of_super_columns_and_parts_of_rows() {
    let mut client = client(Mode::Strict);
    said(
        &mut client,
        "create keyspace P;\nuse P;\ncreate column family Sup with column_type = Super
         and comparator = UTF8Type and subcomparator = UTF8Type and key_validation_class = UTF8Type
         and default_validation_class = UTF8Type;
         set Sup['k']['s']['a'] = '1';\nset Sup['k']['s']['b'] = '2';",
    );
    assert_eq!(
        said(&mut client, "get Sup['k']['s'];"),
        ["=> (column=a, value=1)", "=> (column=b, value=2)", "Returned 2 results."]
    );
    assert_eq!(said(&mut client, "get Sup['k'];").first().unwrap(), "=> (super_column=s,");
    said(&mut client, WALL);
    let shown = |client: &mut Client<Local>, text: &str| -> Vec<String> {
        let lines = said(client, text).into_iter();
        lines.filter(|line| line.starts_with("=>")).collect()
    };
    assert_eq!(
        shown(&mut client, "list Wall limit 5 columns 1;"),
        ["=> (column=1, value=only)", "=> (column=9, value=first)"]
    );
    assert_eq!(
        shown(&mut client, "list Wall limit 5 columns 1 reversed;"),
        ["=> (column=1, value=only)", "=> (column=20, value=second)"]
    );
}

#[test]
fn new_uuids_short_bytes_and_numbers_by_any_function() {
    let mut client = client(Mode::Strict);
    said(
        &mut client,
        "create keyspace P;\nuse P;\ncreate column family Raw;
         create column family Times with comparator = UUIDType and key_validation_class = UTF8Type
         and default_validation_class = LongType;
         set Raw[1][timeuuid()] = 'ff';\nset Raw[01][lexicaluuid()] = '0';
         set Times['k'][lexicaluuid()] = integer(7);\nset Times['k'][timeuuid()] = int(-7);",
    );
    assert_eq!(said(&mut client, "count Raw[1];"), ["2 columns"], "`1` and `01` are one key");
    let values: Vec<String> = said(&mut client, "get Times['k'];");
    assert!(values.iter().any(|line| line.ends_with("value=7)")), "{values:?}");
    assert!(values.iter().any(|line| line.ends_with("value=-7)")), "{values:?}");
}

#[test]
fn what_is_not_declared_is_compared_beside_the_index() {
    let mut client = client(Mode::Strict);
    said(
        &mut client,
        "create keyspace P;\nuse P;\ncreate column family U with comparator = UTF8Type
         and key_validation_class = UTF8Type and default_validation_class = UTF8Type
         and column_metadata = [
         {column_name: name, validation_class: UTF8Type, index_type: KEYS}];
         set U['1']['name'] = 'ann';\nset U['1']['color'] = 'red';
         set U['2']['name'] = 'ann';\nset U['2']['color'] = 'blue';\nset U['3']['name'] = 'ann';",
    );
    let keys = |client: &mut Client<Local>, text: &str| -> Vec<String> {
        let lines = said(client, text).into_iter();
        lines.filter_map(|line| line.strip_prefix("RowKey: ").map(str::to_owned)).collect()
    };
    assert_eq!(keys(&mut client, "get U where name = 'ann' and color = 'red';"), ["1"]);
    assert_eq!(keys(&mut client, "get U where name = 'ann' and color < 'green';"), ["2"]);
    assert_eq!(keys(&mut client, "get U where name = 'ann' limit 5;").len(), 3);
    assert_eq!(keys(&mut client, "get U where name = 'bob' and color = 'red';").len(), 0);
}

#[test]
fn a_keyspace_keeps_its_strategy_and_the_ring_is_one_range() {
    let mut client = client(Mode::Strict);
    said(
        &mut client,
        "create keyspace P with placement_strategy = NetworkTopologyStrategy
         and strategy_options = {datacenter1: 1};
         update keyspace P with strategy_options = {datacenter1: 2};\nuse P;",
    );
    let shown = said(&mut client, "describe P;");
    assert!(shown.iter().any(|line| line.contains("NetworkTopologyStrategy")), "{shown:?}");
    assert!(shown.iter().any(|line| line.contains("'datacenter1': '2'")), "{shown:?}");
    assert_eq!(said(&mut client, "show api version;"), ["19.20.0"]);
    let ring = said(&mut client, "describe ring P;");
    assert_eq!(ring.first().unwrap(), "TOKEN RANGES:");
    assert!(ring.get(1).unwrap().contains("endpoints:[127.0.0.1]"), "{ring:?}");
}

#[test]
fn columns_within_super_columns_have_declared_types() {
    let mut client = client(Mode::Strict);
    said(
        &mut client,
        "create keyspace P;\nuse P;
         create column family S with column_type=Super and comparator=IntegerType
         and subcomparator=LongType and key_validation_class=UTF8Type
         and column_metadata=[{column_name:9999, validation_class:LongType}];
         set S['hello'][1][9999] = 1234;\nset S['hello'][-1][-12] = 5678;
         set S['hello'][-1][9999] = -340897;",
    );
    let value = |client: &mut Client<Local>, text: &str| {
        let lines = said(client, text);
        let of =
            |line: &String| Some(line.split_once("value=")?.1.trim_end_matches(')').to_owned());
        lines.iter().find_map(of).unwrap_or_default()
    };
    assert_eq!(value(&mut client, "get S['hello'][1][9999];"), "1234");
    assert_eq!(value(&mut client, "get S['hello'][-1][9999];"), "-340897");
    // What is not declared is of bytes, and keeps its name in the comparator's form.
    assert_eq!(value(&mut client, "get S['hello'][-1][-12];"), "5678");
    let shown = said(&mut client, "get S['hello'];");
    assert!(shown.iter().any(|line| line.contains("(column=9999, value=1234)")), "{shown:?}");
    assert!(shown.iter().any(|line| line.contains("(column=-12, value=5678)")), "{shown:?}");
    assert_eq!(said(&mut client, "count S['hello'];"), ["2 columns"]);
    let listed = said(&mut client, "list S;");
    assert!(listed.iter().any(|line| line.contains("value=-340897)")), "{listed:?}");
    let told = said(&mut client, "describe P;");
    assert!(told.iter().any(|line| line.trim() == "Column Name: 9999"), "{told:?}");
    said(
        &mut client,
        "update column family S with column_metadata=[
         {column_name:9999, validation_class:LongType}, {column_name:7, validation_class:UTF8Type}];
         set S['hello'][1][7] = 'seven';",
    );
    assert_eq!(value(&mut client, "get S['hello'][1][7];"), "seven");
    said(&mut client, "del S['hello'][1][7];");
    said(&mut client, "del S['hello'][1][9999];");
    assert_eq!(said(&mut client, "count S['hello'][1];"), ["0 columns"]);
    for (wrong, text) in [
        ("{column_name:1, validation_class:LongType, index_type:KEYS}", "have no index"),
        (
            "{column_name:1, validation_class:LongType}] and default_validation_class=UTF8Type and \
          column_metadata=[{column_name:1, validation_class:LongType}",
            "BytesType",
        ),
    ] {
        let create =
            format!("create column family T with column_type=Super and column_metadata=[{wrong}];");
        let update = format!("update column family S with column_metadata=[{wrong}];");
        let create = if wrong.contains("KEYS") { update } else { create };
        let pieces = script(&create, client.mode).pieces;
        let command = parse(pieces.first().unwrap(), client.mode, &mut Vec::new()).unwrap();
        let refused = client.run(&command).unwrap_err();
        assert!(refused.contains(text), "{create}: {refused}");
    }
}

#[test]
fn an_update_makes_and_drops_indexes_and_says_what_stays() {
    let mut client = client(Mode::Strict);
    said(
        &mut client,
        "create keyspace K;
         use K;
         create column family U with comparator=UTF8Type and key_validation_class=UTF8Type
           and column_metadata=[{column_name:age, validation_class:LongType, index_type:KEYS},
                                {column_name:n, validation_class:UTF8Type}];
         create column family V with comparator=UTF8Type;
         set U['a']['age'] = long(7);
         set U['a']['n'] = 'nn';",
    );
    let hints = |client: &mut Client<Local>, text: &str| {
        let pieces = script(text, client.mode).pieces;
        let command = parse(pieces.first().unwrap(), client.mode, &mut Vec::new()).unwrap();
        client.run(&command).map(|reply| reply.hints)
    };
    let told = hints(
        &mut client,
        "update column family U with column_metadata=[
           {column_name:n, validation_class:LongType, index_type:KEYS}];",
    );
    let wanted = ["age stays a declared column of bigint", "the validation_class of n stays text"];
    assert_eq!(told.unwrap(), wanted);
    let found = said(&mut client, "get U where n = 'nn';");
    assert!(found.iter().any(|line| line.contains("value=nn")), "{found:?}");
    let refused = hints(&mut client, "get U where age = 7;").unwrap_err();
    assert!(refused.contains("No indexed columns"), "{refused}");
    let refused = hints(
        &mut client,
        "update column family V with column_metadata=[{column_name:n, validation_class:UTF8Type}];",
    );
    let refused = refused.unwrap_err();
    assert!(refused.contains("was created without column_metadata"), "{refused}");
}
