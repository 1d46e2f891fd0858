//! Schema statements of every face on one store, and restarts: everything that was accepted is there
//! afterwards, whichever face is asked.
//!
//! Input: one byte for what is done, then its choices. Names are few, so that faces collide.
//!
//! What it is not: a check of what a face accepts; refusing is never a find. What a start cannot read
//! is one, and so is a listing that differs after it.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::mpsc;

use shelfmark_cql as cql;
use shelfmark_dynamo as dynamo;
use shelfmark_engine::Engine;
use shelfmark_model::{KeyColumn, KeyType, TableName, TableSchema};
use shelfmark_store::Store;
use shelfmark_store::clock::ManualClock;
use shelfmark_typed::{OrderedTable, Registry};

use crate::bed;
use crate::input::Input;

/// Most steps of one input.
const STEPS_MAX: usize = 40;

/// Types are nested at most this deep: what is deeper is the CQL face's to refuse or to take.
const TYPE_DEPTH_MAX: usize = 23;

const NAMESPACES: [&str; 6] = ["a", "b", "dynamodb", "shelfmark", "default", "system_x"];
const TABLES: [&str; 3] = ["tab", "uno", "vex"];
const PLAIN: [&str; 12] = [
    "int",
    "text",
    "blob",
    "boolean",
    "uuid",
    "timeuuid",
    "timestamp",
    "decimal",
    "varint",
    "inet",
    "double",
    "duration",
];

/// All faces over one store.
struct Faces {
    engine: Engine,
    cql: cql::Face,
    dynamodb: dynamo::Face,
    typed: Registry,
}

impl Faces {
    fn open(store: &Arc<dyn Store>, clock: &Arc<ManualClock>) -> Self {
        let environment = bed::environment(clock);
        let engine = Engine::open(Arc::clone(store), environment.clone()).expect("it opens");
        let options = cql::FaceOptions::default();
        let background = Arc::new(cql::Inline);
        let cql = cql::Face::open(engine.clone(), environment.clone(), options, None, background)
            .expect("the CQL face starts");
        let options = dynamo::FaceOptions::default();
        let dynamodb = dynamo::Face::new(engine.clone(), environment, options);
        let typed = Registry::open(&engine).expect("the typed layer starts");
        Self { engine, cql, dynamodb, typed }
    }

    /// Runs a statement; what is refused changes nothing.
    fn statement(&self, text: &str) {
        let executor = self.cql.executor();
        let Ok(prepared) = executor.prepare(text, None) else { return };
        let (sender, receiver) = mpsc::channel();
        let answer = move |answered| {
            let _ = sender.send(Result::is_ok(&answered));
        };
        executor.execute(&prepared, cql::RequestOptions::default(), Box::new(answer));
        let _: bool = receiver.recv().expect("it is answered");
    }

    fn call(&self, operation: &str, body: &str) -> String {
        let reply = self.dynamodb.call(&dynamo::RequestHead::operation(operation), body.as_bytes());
        String::from_utf8_lossy(&reply.body).into_owned()
    }

    /// Shows everything that is declared, as each face shows it.
    fn shown(&self) -> String {
        let mut out = String::new();
        let mut line = |text: String| writeln!(out, "{text}").expect("a string takes all");
        for name in self.engine.table_names(None, None, usize::MAX).expect("names are listed") {
            let table = self.engine.table(&name).expect("every table can be read");
            line(format!("{} {} {:?}", table.id, table.version, table.schema));
        }
        for own in self.engine.namespaces().expect("namespaces are listed") {
            line(format!("{own:?}"));
        }
        let schema = self.cql.executor().schema();
        line(format!("{:02x?}", schema.version));
        for keyspace in schema.keyspaces.values() {
            line(format!("{} {:?}", keyspace.name, keyspace.types));
            for table in keyspace.tables.values().filter(|own| own.stored.is_some()) {
                line(format!("{} {:?} {:?}", table.full_name(), table.columns, table.indexes));
            }
        }
        line(self.call("ListTables", "{}"));
        for name in TABLES {
            line(self.call("DescribeTable", &format!(r#"{{"TableName":"{name}"}}"#)));
        }
        line(format!("{:?}", self.typed.databases().expect("databases are listed")));
        out
    }
}

/// Runs one input.
pub fn run(data: &[u8]) {
    let clock = bed::clock();
    let store = bed::store(&clock);
    let mut faces = Faces::open(&store, &clock);
    let mut input = Input::new(data);
    for _ in 0..STEPS_MAX {
        if input.is_empty() {
            break;
        }
        if !step(&faces, &mut input) {
            faces = restarted(faces, &store, &clock);
        }
    }
    let faces = restarted(faces, &store, &clock);
    let found = faces.engine.verify().expect("memory can be read");
    assert!(found.is_clean(), "{:#?}", found.findings);
}

fn restarted(faces: Faces, store: &Arc<dyn Store>, clock: &Arc<ManualClock>) -> Faces {
    let before = faces.shown();
    drop(faces);
    let faces = Faces::open(store, clock);
    assert_eq!(faces.shown(), before, "a restart changes what is declared");
    faces
}

/// Does one thing; false if that is a restart.
fn step(faces: &Faces, input: &mut Input<'_>) -> bool {
    let kind = input.below(20);
    let namespace = *input.one_of(&NAMESPACES);
    let table = *input.one_of(&TABLES);
    let replication = "{'class': 'SimpleStrategy', 'replication_factor': 1}";
    let cql = |text: String| faces.statement(&text);
    match kind {
        0 => cql(format!("CREATE KEYSPACE {namespace} WITH replication = {replication}")),
        1 => cql(format!("DROP KEYSPACE {namespace}")),
        2 => cql(format!("ALTER KEYSPACE {namespace} WITH durable_writes = {}", input.flag())),
        3 | 4 => {
            let (p, c, v) = (key(input), key(input), ty(input, TYPE_DEPTH_MAX));
            let order = if input.flag() { " WITH CLUSTERING ORDER BY (c DESC)" } else { "" };
            let columns = format!("p {p}, c {c}, v {v}, s int static, PRIMARY KEY (p, c)");
            cql(format!("CREATE TABLE {namespace}.{table} ({columns}){order}"));
        }
        5 => {
            let (name, ty) = (input.byte(), ty(input, TYPE_DEPTH_MAX));
            cql(format!("ALTER TABLE {namespace}.{table} ADD w{} {ty}", name % 4));
        }
        6 => cql(format!("ALTER TABLE {namespace}.{table} DROP w{}", input.byte() % 4)),
        7 => cql(format!("DROP TABLE {namespace}.{table}")),
        8 => {
            let (name, ty) = (input.byte(), ty(input, TYPE_DEPTH_MAX / 2));
            cql(format!("CREATE TYPE {namespace}.y{} (f {ty}, g int)", name % 2));
        }
        9 => cql(format!("CREATE INDEX i{} ON {namespace}.{table} (v)", input.byte() % 2)),
        10 => cql(format!(
            "CREATE MATERIALIZED VIEW {namespace}.by_{table} AS SELECT * FROM {namespace}.{table} \
             WHERE p IS NOT NULL AND c IS NOT NULL PRIMARY KEY (c, p)"
        )),
        11 => cql(format!("DROP MATERIALIZED VIEW {namespace}.by_{table}")),
        12 => drop(faces.call("CreateTable", &create_body(table, input.flag()))),
        13 => drop(faces.call("DeleteTable", &format!(r#"{{"TableName":"{table}"}}"#))),
        14 => drop(faces.call("UpdateTable", &update_body(table, input.flag()))),
        15 => drop(faces.typed.create_database(namespace)),
        16 => drop(faces.typed.delete_database(namespace)),
        17 => typed(faces, namespace, table),
        18 => {
            let name = TableName::new(namespace, table);
            if input.flag() {
                drop(faces.engine.drop_table(&name));
            } else {
                let schema = TableSchema::new(name, KeyColumn::new("pk", KeyType::Text));
                drop(faces.engine.create_table(schema));
            }
        }
        _ => return false,
    }
    true
}

fn typed(faces: &Faces, database: &str, table: &str) {
    let Ok(home) = faces.typed.environment("default") else { return };
    if let Ok(database) = home.create_database(database) {
        drop(OrderedTable::<u32, String>::named(&database, table));
    }
}

/// A type that a key column may have.
fn key(input: &mut Input<'_>) -> String {
    let plain = (*input.one_of(&PLAIN)).replace("duration", "bigint");
    match input.below(6) {
        0 => format!("frozen<tuple<{plain}, int>>"),
        1 => format!("frozen<list<{plain}>>"),
        2 => format!("frozen<map<int, {plain}>>"),
        _ => plain,
    }
}

/// Any type, nested as deep as the input says.
fn ty(input: &mut Input<'_>, depth: usize) -> String {
    let mut ty = (*input.one_of(&PLAIN)).to_owned();
    for _ in 0..input.below(depth) {
        ty = match input.below(6) {
            0 => format!("frozen<set<{}>>", ty.replace("duration", "int")),
            1 => format!("frozen<map<int, {ty}>>"),
            2 => format!("frozen<tuple<{ty}, text>>"),
            3 => format!("vector<{ty}, 2>"),
            _ => format!("frozen<list<{ty}>>"),
        };
    }
    if input.flag() { format!("list<{ty}>") } else { ty }
}

fn create_body(name: &str, has_sort: bool) -> String {
    let (definition, key) = match has_sort {
        true => (
            r#",{"AttributeName":"sk","AttributeType":"N"}"#,
            r#",{"AttributeName":"sk","KeyType":"RANGE"}"#,
        ),
        false => ("", ""),
    };
    format!(
        r#"{{"TableName":"{name}","BillingMode":"PAY_PER_REQUEST",
        "AttributeDefinitions":[{{"AttributeName":"pk","AttributeType":"S"}}{definition}],
        "KeySchema":[{{"AttributeName":"pk","KeyType":"HASH"}}{key}]}}"#
    )
}

fn update_body(name: &str, adds: bool) -> String {
    let change = match adds {
        true => {
            r#""Create":{"IndexName":"by_tag","KeySchema":[{"AttributeName":"tag","KeyType":"HASH"}],
            "Projection":{"ProjectionType":"ALL"}}"#
        }
        false => r#""Delete":{"IndexName":"by_tag"}"#,
    };
    format!(
        r#"{{"TableName":"{name}","AttributeDefinitions":[{{"AttributeName":"tag",
        "AttributeType":"S"}}],"GlobalSecondaryIndexUpdates":[{{{change}}}]}}"#
    )
}
