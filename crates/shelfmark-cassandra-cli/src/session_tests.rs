//! Commands over a backend that answers from a list: what CQL they become, and what they print.

use shelfmark_cql_types::{CqlType, Native, from_text};

use super::{Backend, Client, Mode, Reply, Table, parse, script};

/// Answers by the first entry whose text the statement contains, and remembers every statement.
struct Listed {
    answers: Vec<(&'static str, Table)>,
    said: Vec<String>,
    clock: u64,
}

impl Backend for Listed {
    fn run(&mut self, cql: &str) -> Result<Table, String> {
        if let Err(error) = shelfmark_cql_syntax::parse(cql) {
            panic!("{cql}: {error}");
        }
        self.said.push(cql.to_owned());
        let answer = self.answers.iter().find(|(part, _)| cql.contains(part));
        Ok(answer.map(|(_, table)| table.clone()).unwrap_or_default())
    }

    fn now_ms(&mut self) -> u64 {
        self.clock += 7;
        self.clock
    }
}

const TEXT: CqlType = CqlType::Native(Native::Text);
const LONG: CqlType = CqlType::Native(Native::Bigint);
const INT: CqlType = CqlType::Native(Native::Int);

/// A table of values written as text; a dash stands for nothing.
fn table(types: &[CqlType], rows: &[&[&str]]) -> Table {
    let value = |(cql_type, text): (&CqlType, &&str)| {
        (*text != "-").then(|| from_text(cql_type, text).unwrap())
    };
    let rows = rows.iter().map(|row| types.iter().zip(*row).map(value).collect()).collect();
    Table { types: types.to_vec(), rows }
}

fn columns(rows: &[&[&str]]) -> (&'static str, Table) {
    let types = [TEXT, TEXT, INT, TEXT, TEXT];
    ("FROM system_schema.columns", table(&types, rows))
}

fn client(mode: Mode, more: Vec<(&'static str, Table)>) -> Client<Listed> {
    let mut answers = more;
    answers.push(("FROM system_schema.keyspaces", table(&[TEXT], &[&["Pinboard"], &["system"]])));
    answers.push(("FROM system_schema.tables", table(&[TEXT], &[&["Wall"], &["Hits"]])));
    answers.push(("cluster_name", table(&[TEXT], &[&["Test Cluster"]])));
    answers.push(("schema_version", table(&[TEXT], &[&["0af6"]])));
    Client::new(Listed { answers, said: Vec::new(), clock: 0 }, mode)
}

fn run(client: &mut Client<Listed>, text: &str) -> Result<Reply, String> {
    let script = script(text, client.mode);
    let mut last = Ok(Reply::default());
    for piece in &script.pieces {
        let command = parse(piece, client.mode, &mut Vec::new()).unwrap();
        last = client.run(&command);
    }
    last
}

/// Runs a command in the keyspace Pinboard; returns its lines and what it said to the backend
/// beside looking at the schema.
#[track_caller]
fn answered(client: &mut Client<Listed>, text: &str) -> (Vec<String>, Vec<String>) {
    client.keyspace = Some("Pinboard".to_owned());
    client.backend.said.clear();
    let reply = run(client, text).unwrap();
    let said = client.backend.said.drain(..);
    (reply.lines, said.filter(|cql| !cql.contains("FROM system")).collect())
}

const WALL: &[&[&str]] = &[
    &["key", "partition_key", "0", "none", "text"],
    &["column1", "clustering", "0", "asc", "bigint"],
    &["value", "regular", "-1", "none", "text"],
];

const USERS: &[&[&str]] = &[
    &["key", "partition_key", "0", "none", "text"],
    &["column1", "clustering", "0", "asc", "text"],
    &["value", "regular", "-1", "none", "text"],
    &["name", "static", "-1", "none", "text"],
    &["born", "static", "-1", "none", "bigint"],
];

#[test]
fn keyspaces_and_families_become_tables() {
    let mut client = client(Mode::Strict, Vec::new());
    let (lines, said) = answered(
        &mut client,
        "create keyspace P with placement_strategy = 'org.apache.cassandra.locator.SimpleStrategy'\n\
         and strategy_options = [{replication_factor:1}];",
    );
    assert_eq!(
        said,
        [
            "CREATE KEYSPACE \"P\" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': '1'}"
        ]
    );
    assert_eq!(
        lines,
        ["0af6", "Waiting for schema agreement...", "... schemas agree across the cluster"]
    );
    let (_, said) = answered(
        &mut client,
        "create column family FRIEND with comparator = LongType\n\
         and key_validation_class = UTF8Type and default_validation_class = UTF8Type\n\
         and gc_grace = 60 and comment = 'it' and rows_cached = 5;",
    );
    assert_eq!(
        said,
        [
            "CREATE TABLE \"Pinboard\".\"FRIEND\" (key text, column1 bigint, value text, PRIMARY KEY (key, column1)) WITH COMPACT STORAGE AND gc_grace_seconds = 60 AND comment = 'it'"
        ]
    );
    let (_, said) = answered(
        &mut client,
        "create column family Users with comparator = UTF8Type and column_metadata = [\n\
         {column_name: name, validation_class: UTF8Type, index_name: by_name, index_type: KEYS}\n\
         {column_name: Born, validation_class: LongType, index_type: KEYS}];",
    );
    assert_eq!(
        said,
        [
            "CREATE TABLE \"Pinboard\".\"Users\" (key blob, column1 text, value blob, name text STATIC, \"Born\" bigint STATIC, PRIMARY KEY (key, column1))",
            "CREATE INDEX by_name ON \"Pinboard\".\"Users\" (name)",
            "CREATE INDEX ON \"Pinboard\".\"Users\" (\"Born\")",
        ]
    );
    let (_, said) = answered(
        &mut client,
        "create column family S with column_type = Super and comparator = 'ReversedType(LongType)' and subcomparator = UTF8Type;",
    );
    assert_eq!(
        said,
        [
            "CREATE TABLE \"Pinboard\".\"S\" (key blob, column1 bigint, column2 text, value blob, PRIMARY KEY (key, column1, column2)) WITH COMPACT STORAGE AND CLUSTERING ORDER BY (column1 DESC, column2 ASC)"
        ]
    );
    let (_, said) = answered(
        &mut client,
        "create column family C with comparator = 'CompositeType(LongType,UTF8Type)';",
    );
    assert!(said[0].contains(
        "component1 bigint, component2 text, value blob, PRIMARY KEY (key, component1, component2)"
    ));
    assert!(run(&mut client, "create column family X with comparator = NoType;").is_err());
    assert!(run(&mut client, "create column family X with nonsense = 5;").is_err());
}

#[test]
fn names_match_whatever_their_case_and_errors_are_the_originals() {
    let mut client = client(Mode::Strict, vec![columns(WALL)]);
    assert_eq!(
        run(&mut client, "get wall['k'];").unwrap_err(),
        "Not authenticated to a working keyspace."
    );
    assert_eq!(run(&mut client, "use nothing;").unwrap_err(), "Keyspace 'nothing' not found.");
    assert_eq!(client.prompt(), "[default@unknown] ");
    let reply = run(&mut client, "use pinBOARD;").unwrap();
    assert_eq!(reply.lines, ["Authenticated to keyspace: Pinboard"]);
    assert_eq!(client.prompt(), "[default@Pinboard] ");
    assert_eq!(
        run(&mut client, "get nowhere['k'];").unwrap_err(),
        "nowhere not found in current keyspace."
    );
    let (_, said) = answered(&mut client, "truncate WALL;");
    assert_eq!(said, ["TRUNCATE \"Pinboard\".\"Wall\""]);
}

#[test]
fn writes_take_the_types_of_the_family() {
    let mut client = client(Mode::Strict, vec![columns(WALL)]);
    let (lines, said) = answered(&mut client, "set Wall['ann']['5'] = 'it\\'s' with ttl = 60;");
    assert_eq!(
        said,
        [
            "UPDATE \"Pinboard\".\"Wall\" USING TTL 60 SET value = 'it''s' WHERE key = 'ann' AND column1 = 5"
        ]
    );
    assert_eq!(lines, ["Value inserted.", "Elapsed time: 7 msec(s)."]);
    let (lines, said) = answered(&mut client, "del Wall['ann'][long(5)];");
    assert_eq!(said, ["DELETE FROM \"Pinboard\".\"Wall\" WHERE key = 'ann' AND column1 = 5"]);
    assert_eq!(lines[0], "column removed.");
    assert_eq!(answered(&mut client, "del Wall['ann'];").0[0], "row removed.");
    assert!(run(&mut client, "set Wall['ann'][five] = 'v';").is_err());
    assert!(run(&mut client, "set Wall['ann'][5][6] = 'v';").is_err());
}

#[test]
fn declared_columns_are_written_in_their_own_column() {
    let mut client = client(Mode::Forgiving, vec![columns(USERS)]);
    let (_, said) = answered(&mut client, "set Wall['ann']['born'] = 1815;");
    assert_eq!(said, ["INSERT INTO \"Pinboard\".\"Wall\" (key, born) VALUES ('ann', 1815)"]);
    client.backend.said.clear();
    let reply = run(&mut client, "set Wall['ann']['password'] = '111';").unwrap();
    assert!(reply.hints[0].starts_with("password is not among the declared columns"));
    let (_, said) = answered(&mut client, "del Wall['ann']['born'];");
    assert_eq!(said, ["DELETE born FROM \"Pinboard\".\"Wall\" WHERE key = 'ann'"]);
}

#[test]
fn rows_come_back_in_the_comparators_order() {
    let rows = table(
        &[TEXT, TEXT, LONG, INT],
        &[&["color", "red", "9", "-"], &["zeal", "much", "8", "50"], &["-", "-", "-", "-"]],
    );
    let answers = vec![
        columns(USERS),
        ("SELECT name,", table(&[TEXT, LONG, INT], &[&["Ann", "7", "-"]])),
        ("SELECT born,", table(&[LONG, LONG, INT], &[&["-", "-", "-"]])),
        ("SELECT column1, value", rows),
    ];
    let mut client = client(Mode::Strict, answers);
    let (lines, _) = answered(&mut client, "get Wall['ann'];");
    assert_eq!(
        lines,
        [
            "=> (column=color, value=red, timestamp=9)",
            "=> (column=name, value=Ann, timestamp=7)",
            "=> (column=zeal, value=much, timestamp=8, ttl=50)",
            "Returned 3 results.",
            "Elapsed time: 7 msec(s).",
        ]
    );
    let (lines, said) = answered(&mut client, "get Wall['ann'] limit 1;");
    assert_eq!(lines[1], "Returned 1 results.");
    assert!(said[0].ends_with("WHERE key = 'ann' LIMIT 1"), "{said:?}");
    assert_eq!(answered(&mut client, "get Wall['ann']['born'];").0[0], "Value was not found");
    assert_eq!(
        answered(&mut client, "get Wall['ann']['name'] as ascii;").0[0],
        "=> (column=name, value=Ann, timestamp=7)"
    );
    assert_eq!(answered(&mut client, "count Wall['ann'];").0, ["3 columns"]);
}

#[test]
fn an_index_is_needed_to_search_by_value() {
    let map = CqlType::map(TEXT, TEXT);
    let entry = shelfmark_cql_types::put_collection(
        1,
        [b"target".as_slice(), b"name".as_slice()].into_iter(),
    );
    let options = vec![vec![Some(b"by_name".to_vec()), Some(entry)]];
    let answers = vec![
        columns(USERS),
        ("system_schema.indexes", Table { types: vec![TEXT, map], rows: options }),
        ("SELECT key FROM", table(&[TEXT], &[&["ann"]])),
    ];
    let mut client = client(Mode::Strict, answers);
    let (lines, said) = answered(&mut client, "get Wall where name = 'Ann' and born > 1800;");
    assert_eq!(
        said[0],
        "SELECT key FROM \"Pinboard\".\"Wall\" WHERE name = 'Ann' AND born > 1800 PER PARTITION LIMIT 1 LIMIT 100 ALLOW FILTERING"
    );
    assert_eq!(lines[..2], ["-------------------", "RowKey: ann"]);
    assert_eq!(lines[2..], ["", "1 Row Returned.", "Elapsed time: 7 msec(s)."]);
    assert_eq!(
        run(&mut client, "get Wall where born = 1800;").unwrap_err(),
        "No indexed columns present in index clause with operator EQ"
    );
}

#[test]
fn counters_count() {
    const HITS: &[&[&str]] = &[
        &["key", "partition_key", "0", "none", "text"],
        &["column1", "clustering", "0", "asc", "text"],
        &["value", "regular", "-1", "none", "counter"],
    ];
    let counter = CqlType::Native(Native::Counter);
    let answers =
        vec![columns(HITS), ("SELECT column1", table(&[TEXT, counter], &[&["page", "5"]]))];
    let mut client = client(Mode::Strict, answers);
    let (lines, said) = answered(&mut client, "incr hits['x']['page'] by 5;");
    assert_eq!(
        said,
        ["UPDATE \"Pinboard\".\"Hits\" SET value = value + 5 WHERE key = 'x' AND column1 = 'page'"]
    );
    assert_eq!(lines, ["Value incremented."]);
    let (lines, said) = answered(&mut client, "decr hits['x']['page'];");
    assert!(said[0].contains("value = value - 1"));
    assert_eq!(lines, ["Value decremented."]);
    assert_eq!(answered(&mut client, "get hits['x'];").0[0], "=> (counter=page, value=5)");
    assert!(run(&mut client, "set hits['x']['page'] = 5;").is_err());
}

#[test]
fn super_columns_are_shown_in_groups() {
    const SUPER: &[&[&str]] = &[
        &["key", "partition_key", "0", "none", "text"],
        &["column1", "clustering", "0", "asc", "text"],
        &["column2", "clustering", "1", "asc", "text"],
        &["value", "regular", "-1", "none", "text"],
    ];
    let rows = table(
        &[TEXT, TEXT, TEXT, LONG, INT],
        &[&["a", "x", "1", "9", "-"], &["a", "y", "2", "9", "-"], &["b", "x", "3", "9", "-"]],
    );
    let mut client = client(Mode::Strict, vec![columns(SUPER), ("SELECT column1, column2", rows)]);
    let (lines, _) = answered(&mut client, "get Wall['k'];");
    assert_eq!(
        lines[..5],
        [
            "=> (super_column=a,",
            "     (column=x, value=1, timestamp=9)",
            "     (column=y, value=2, timestamp=9))",
            "=> (super_column=b,",
            "     (column=x, value=3, timestamp=9))",
        ]
    );
    let (_, said) = answered(&mut client, "set Wall['k']['a']['x'] = 'v';");
    assert!(said[0].ends_with("WHERE key = 'k' AND column1 = 'a' AND column2 = 'x'"));
}

#[test]
fn what_is_assumed_changes_how_bytes_are_read_and_shown() {
    const RAW: &[&[&str]] = &[
        &["key", "partition_key", "0", "none", "blob"],
        &["column1", "clustering", "0", "asc", "blob"],
        &["value", "regular", "-1", "none", "blob"],
    ];
    let blob = CqlType::Native(Native::Blob);
    let rows = table(&[blob.clone(), blob, LONG, INT], &[&["61", "7878", "9", "-"]]);
    let mut client = client(Mode::Strict, vec![columns(RAW), ("SELECT column1", rows)]);
    let (lines, said) = answered(&mut client, "get Wall['6b'];");
    assert!(said[0].ends_with("WHERE key = 0x6b"));
    assert_eq!(lines[0], "=> (column=61, value=7878, timestamp=9)");
    assert!(run(&mut client, "get Wall['key'];").is_err());
    let (lines, _) = answered(&mut client, "assume Wall keys as utf8;");
    assert_eq!(lines, ["Assumption for column family 'Wall' added successfully."]);
    answered(&mut client, "assume Wall comparator as utf8;");
    answered(&mut client, "assume Wall validator as ascii;");
    let (lines, said) = answered(&mut client, "get Wall['k'];");
    assert!(said[0].ends_with("WHERE key = 0x6b"));
    assert_eq!(lines[0], "=> (column=a, value=xx, timestamp=9)");
}

#[test]
fn forgiving_mode_uses_the_keyspace_it_made() {
    let mut forgiving = client(Mode::Forgiving, Vec::new());
    assert_eq!(run(&mut forgiving, "create keyspace P;").unwrap().hints.len(), 1);
    assert_eq!(forgiving.keyspace.as_deref(), Some("P"));
    let mut strict = client(Mode::Strict, Vec::new());
    run(&mut strict, "create keyspace P;").unwrap();
    assert_eq!(strict.keyspace, None);
}

#[test]
fn the_rest_answers_or_says_that_it_does_not() {
    let mut client = client(Mode::Strict, vec![columns(WALL)]);
    let (lines, _) = answered(&mut client, "connect localhost/9160;");
    assert_eq!(lines, ["Connected to: \"Test Cluster\" on localhost/9160"]);
    assert_eq!(
        answered(&mut client, "consistencylevel as quorum;").0,
        ["Consistency level is set to 'QUORUM'."]
    );
    assert!(run(&mut client, "consistencylevel as most;").is_err());
    assert_eq!(answered(&mut client, "describe ring;").0[0], "TOKEN RANGES:");
    assert!(run(&mut client, "describe ring nowhere;").is_err());
    assert_eq!(answered(&mut client, "show api version;").0, ["19.20.0"]);
    assert!(!run(&mut client, "help;").unwrap().lines.is_empty());
    assert!(run(&mut client, "quit;").unwrap().exit);
    let (lines, _) = answered(&mut client, "describe Wall;");
    assert_eq!(lines[3], "      Columns sorted by: org.apache.cassandra.db.marshal.LongType");
    let (lines, said) = answered(&mut client, "list Wall['a':] limit 5;");
    assert_eq!(
        said[0],
        "SELECT DISTINCT key FROM \"Pinboard\".\"Wall\" WHERE token(key) >= token('a') LIMIT 5"
    );
    assert_eq!(lines[..2], ["", "0 Row Returned."]);
}

#[test]
fn describe_tells_the_indexes_of_declared_columns() {
    let people: Vec<&[&str]> = [WALL, &[&["born", "static", "-1", "none", "bigint"]]].concat();
    let indexes = table(&[TEXT, TEXT], &[&["Wall_born_idx", "born"]]);
    let more = vec![columns(&people), ("FROM system_schema.indexes", indexes)];
    let mut client = client(Mode::Strict, more);
    let (lines, _) = answered(&mut client, "describe Wall;");
    let expected = [
        "      Column Metadata:",
        "        Column Name: born",
        "          Validation Class: org.apache.cassandra.db.marshal.LongType",
        "          Index Name: Wall_born_idx",
        "          Index Type: KEYS",
    ];
    assert_eq!(lines[4..], expected);
}
