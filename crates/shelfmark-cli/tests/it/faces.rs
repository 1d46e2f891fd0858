//! Every face beside every other one on one store: names collide in either order and after restarts,
//! and nobody loses or changes what is another's.

use std::path::Path;

use bytes::Bytes;
use shelfmark_dynamo as dynamo;
use shelfmark_engine::{CatalogueChange, ErrorKind, Owner, Share};
use shelfmark_keycode::KeyType;
use shelfmark_model::{KeyColumn, TableName, TableSchema};
use shelfmark_store::{Commit, Direction, KeyRange, ScanLimits, Write};
use shelfmark_typed::{EntityTable, ErrorKind as TypedKind, OrderedTable, Registry};

use crate::process::{Server, shelfmark, stderr, stdout};
use crate::salvage::with_engine;

fn dynamodb(store: &Path, operation: &str, body: &str) -> (u16, String) {
    with_engine(store, |engine| {
        let environment = engine.environment().clone();
        let face = dynamo::Face::new(engine.clone(), environment, dynamo::FaceOptions::default());
        let reply = face.call(&dynamo::RequestHead::operation(operation), body.as_bytes());
        (reply.status, String::from_utf8(reply.body.to_vec()).unwrap())
    })
}

fn create_body(name: &str) -> String {
    format!(
        r#"{{"TableName":"{name}","BillingMode":"PAY_PER_REQUEST",
        "AttributeDefinitions":[{{"AttributeName":"pk","AttributeType":"S"}}],
        "KeySchema":[{{"AttributeName":"pk","KeyType":"HASH"}}]}}"#
    )
}

/// Runs CQL and returns what was printed, if it was not refused.
fn cql(store: &Path, text: &str) -> Result<String, String> {
    let output = shelfmark(&["cql", "--data", store.to_str().unwrap(), "-e", text]);
    match output.status.success() {
        true => Ok(stdout(&output)),
        false => Err(stderr(&output)),
    }
}

fn keyspace(name: &str) -> String {
    format!(
        "CREATE KEYSPACE {name} WITH replication = {{'class': 'SimpleStrategy', \
         'replication_factor': 1}}"
    )
}

fn items(namespace: &str, name: &str) -> TableSchema {
    TableSchema::new(TableName::new(namespace, name), KeyColumn::new("pk", KeyType::Text))
}

fn cells(namespace: &str, name: &str) -> TableSchema {
    let name = TableName::new(namespace, name);
    TableSchema::of_cells(name, vec![KeyColumn::new("pk", KeyType::Text)])
}

/// What a refused name says, whichever face asked.
#[track_caller]
fn check_refused(refused: Result<String, String>, owner: &str) {
    let said = refused.unwrap_err();
    assert!(said.contains(&format!("belongs to {owner}")), "{said}");
}

#[test]
fn names_of_faces_cannot_be_taken_by_another() {
    for table_comes_first in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("store");
        if table_comes_first {
            assert_eq!(dynamodb(&store, "CreateTable", &create_body("ttt")).0, 200);
            with_engine(&store, |engine| drop(Registry::open(engine).unwrap()));
        }
        // On a store that has nothing yet as well.
        check_refused(cql(&store, &keyspace("dynamodb")), "DynamoDB");
        check_refused(cql(&store, &keyspace("shelfmark")), "typed tables");
        let again = keyspace("dynamodb").replace("KEYSPACE", "KEYSPACE IF NOT EXISTS");
        check_refused(cql(&store, &again), "DynamoDB");
        // Nothing of it was committed; DynamoDB's own is shown while it has a table.
        let shown = cql(&store, "DESCRIBE KEYSPACES").unwrap();
        assert!(!shown.contains("shelfmark"), "{shown}");
        assert_eq!(shown.contains("dynamodb"), table_comes_first, "{shown}");
        let read = cql(&store, "SELECT pk, other_attributes FROM dynamodb.ttt");
        assert_eq!(read.is_ok(), table_comes_first, "{read:?}");
        // The folder's owner reads; who may write is said by the table's own grant.
        let written = cql(&store, "INSERT INTO dynamodb.ttt (pk) VALUES ('a')");
        assert!(written.is_err(), "{written:?}");
        cql(&store, &format!("{}; CREATE TABLE k.t (p int PRIMARY KEY)", keyspace("k"))).unwrap();
        with_engine(&store, |engine| {
            let registry = Registry::open(engine).unwrap();
            for name in ["dynamodb", "shelfmark", "system", "k"] {
                let refused = registry.create_database(name).unwrap_err();
                assert_eq!(refused.kind(), TypedKind::Invalid, "{name}");
            }
            let refused = |schema| engine.create_table(schema).unwrap_err();
            // The plain engine goes by the owner's kind of row.
            for schema in [cells("dynamodb", "x"), cells("shelfmark", "x"), items("k", "x")] {
                assert_eq!(refused(schema).kind(), ErrorKind::Invalid);
            }
        });
        if !table_comes_first {
            assert_eq!(dynamodb(&store, "CreateTable", &create_body("ttt")).0, 200);
        }
        let (_, tables) = dynamodb(&store, "ListTables", "{}");
        assert_eq!(tables, r#"{"TableNames":["ttt"]}"#);
        let server = Server::start_cql(folder.path(), &[]);
        assert!(!server.cql.is_empty());
        assert!(server.stop("-TERM").status.success());
    }
}

#[test]
fn databases_and_keyspaces_and_namespaces_of_programs_do_not_share_a_name() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    cql(&store, &keyspace("ours")).unwrap();
    with_engine(&store, |engine| {
        let registry = Registry::open(engine).unwrap();
        let refused = registry.create_database("ours").unwrap_err();
        assert!(refused.to_string().contains("belongs to CQL"), "{refused}");
        assert!(registry.databases().unwrap().iter().all(|own| own.name != "ours"));
        let home = registry.environment("default").unwrap();
        let posts = home.create_database("posts").unwrap();
        let ordered: OrderedTable<u32, u32> = OrderedTable::named(&posts, "numbers").unwrap();
        ordered.write(&1, &2).unwrap();
        let entities = EntityTable::named(&posts, "people").unwrap();
        drop(entities);
        engine.create_table(items("app", "t")).unwrap();
    });
    check_refused(cql(&store, &keyspace("posts")), "typed tables");
    check_refused(cql(&store, &keyspace("app")), "programs that use the engine itself");
    with_engine(&store, |engine| {
        let registry = Registry::open(engine).unwrap();
        let refused = registry.create_database("app").unwrap_err();
        assert!(refused.to_string().contains("the engine itself"), "{refused}");
        // A name without a table is anybody's again.
        engine.drop_table(&TableName::new("app", "t")).unwrap();
        registry.delete_database("posts").unwrap();
        let names: Vec<_> =
            engine.namespaces().unwrap().into_iter().map(|own| (own.name, own.owner)).collect();
        assert!(names.contains(&("ours".to_owned(), Owner::Cql)), "{names:?}");
        assert!(names.iter().all(|(name, _)| name != "posts"), "{names:?}");
    });
    cql(&store, &format!("{}; {}", keyspace("app"), keyspace("posts"))).unwrap();
    // A dropped keyspace gives its name up as well.
    cql(&store, "DROP KEYSPACE ours").unwrap();
    with_engine(&store, |engine| {
        let registry = Registry::open(engine).unwrap();
        registry.create_database("ours").unwrap();
        registry.create_database("ours").unwrap();
    });
    check_refused(cql(&store, &keyspace("ours")), "typed tables");
}

#[test]
fn no_face_lists_changes_or_drops_what_is_anothers() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    assert_eq!(dynamodb(&store, "CreateTable", &create_body("ddd")).0, 200);
    cql(&store, &format!("{}; CREATE TABLE k.c (p int PRIMARY KEY, v text)", keyspace("k")))
        .unwrap();
    with_engine(&store, |engine| {
        let registry = Registry::open(engine).unwrap();
        let home = registry.environment("default").unwrap();
        let database = home.database("default").unwrap();
        OrderedTable::<u32, u32>::named(&database, "t").unwrap().write(&1, &1).unwrap();
        engine.create_table(items("app", "e")).unwrap();
    });
    let names = ["dynamodb.ddd", "k.c", "default.t", "app.e"];
    let owners = [Owner::DynamoDb, Owner::Cql, Owner::Typed, Owner::Engine];
    with_engine(&store, |engine| {
        for (owner, own) in owners.into_iter().zip(names).filter(|(who, _)| *who != Owner::Engine) {
            let face = engine.of_owner(owner);
            for name in names {
                let (namespace, table) = name.split_once('.').unwrap();
                let name_of = TableName::new(namespace, table);
                let listed = face.table_names(Some(namespace), None, 100).unwrap();
                assert_eq!(listed.contains(&name_of), name == own, "{owner} lists {name}");
                if name == own {
                    assert!(face.table(&name_of).is_ok(), "{owner} uses {name}");
                    continue;
                }
                let index = shelfmark_model::IndexSchema {
                    name: "i".to_owned(),
                    kind: shelfmark_model::IndexKind::Secondary,
                    partition: vec![KeyColumn::new("x", KeyType::Text)],
                    sort: Vec::new(),
                    projected: shelfmark_model::Projected::All,
                    state: shelfmark_model::IndexState::Public,
                };
                let all = [
                    face.table(&name_of).map(drop),
                    face.drop_table(&name_of),
                    face.alter_options(&name_of, |own| own.change_log = true).map(drop),
                    face.add_index(&name_of, index).map(drop),
                    face.drop_index(&name_of, "i").map(drop),
                    face.change_catalogue(vec![CatalogueChange::TruncateTable(name_of.clone())]),
                    face.change_catalogue(vec![CatalogueChange::DropNamespace {
                        name: namespace.to_owned(),
                    }]),
                ];
                for (at, refused) in all.into_iter().enumerate() {
                    let kind = refused.unwrap_err().kind();
                    let is_absent = at == 6 && kind == ErrorKind::NotFound;
                    assert!(is_absent || kind == ErrorKind::Invalid, "{owner} {at} {name}");
                }
                let new = match owner {
                    Owner::Cql => cells(namespace, "new"),
                    _ => items(namespace, "new"),
                };
                let refused = face.create_table(new).unwrap_err();
                assert_eq!(refused.kind(), ErrorKind::Invalid, "{owner} creates beside {name}");
            }
        }
    });
    // All is as it was.
    let output = shelfmark(&["tables", "--data", store.to_str().unwrap()]);
    let shown = stdout(&output);
    for (name, owner) in names.into_iter().zip(owners) {
        let line = shown.lines().find(|line| line.contains(name)).unwrap();
        assert!(line.contains(owner.word()), "{line}");
    }
    let output = shelfmark(&["verify", "--data", store.to_str().unwrap()]);
    assert!(output.status.success(), "{}{}", stdout(&output), stderr(&output));
}

/// Makes the keyspace `dynamodx` one that is called `dynamodb`, as a build without owners left it.
fn collide(store: &Path) {
    with_engine(store, |engine| {
        let replaced = |bytes: &Bytes| {
            let mut bytes = bytes.to_vec();
            while let Some(at) = bytes.windows(8).position(|part| part == b"dynamodx") {
                bytes[at + 7] = b'b';
            }
            Bytes::from(bytes)
        };
        let view = engine.store().snapshot().unwrap();
        let mut writes = Vec::new();
        for tree in [1, 6, 10] {
            let range = KeyRange::prefix(vec![tree]);
            let page = view.scan(&range, Direction::Ascending, ScanLimits::default()).unwrap();
            for row in page.rows {
                let (key, value) = (replaced(&row.key), replaced(&row.value));
                if (&key, &value) != (&row.key, &row.value) {
                    writes.push(Write::Delete { key: row.key.clone() });
                    writes.retain(
                        |write| !matches!(write, Write::Delete { key: own } if *own == key),
                    );
                    writes.push(Write::Put { key, value });
                }
            }
        }
        assert!(writes.len() > 4);
        engine.store().commit(Commit::of(writes)).unwrap();
    });
}

#[test]
fn a_store_in_which_two_faces_share_a_name_opens_and_is_mended() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let data = store.to_str().unwrap();
    let make = "CREATE TYPE dynamodx.u (a int, b text);
        CREATE TABLE dynamodx.ccc (p int, c int, v text, w frozen<u>, PRIMARY KEY (p, c));
        CREATE INDEX ON dynamodx.ccc (v);
        CREATE MATERIALIZED VIEW dynamodx.by_c AS SELECT * FROM dynamodx.ccc WHERE p IS NOT NULL AND \
        c IS NOT NULL PRIMARY KEY (c, p);
        INSERT INTO dynamodx.ccc (p, c, v, w) VALUES (1, 2, 'x', {a: 1, b: 'y'}) USING TTL 100000;
        INSERT INTO dynamodx.ccc (p, c, v) VALUES (1, 3, 'x');";
    cql(&store, &format!("{}; {make}", keyspace("dynamodx"))).unwrap();
    collide(&store);
    assert_eq!(dynamodb(&store, "CreateTable", &create_body("ddd")).0, 200);
    // Both faces start, and each serves its own.
    let server = Server::start_cql(folder.path(), &[]);
    let (status, _) = server.call("PutItem", r#"{"TableName":"ddd","Item":{"pk":{"S":"a"}}}"#);
    assert_eq!(status, 200);
    assert_eq!(server.call("ListTables", "{}").1, r#"{"TableNames":["ddd"]}"#);
    for (operation, body) in [
        ("GetItem", r#"{"TableName":"ccc","Key":{"p":{"N":"1"}}}"#),
        ("DeleteTable", r#"{"TableName":"ccc"}"#),
        ("UpdateTable", r#"{"TableName":"ccc","BillingMode":"PAY_PER_REQUEST"}"#),
        ("DescribeTable", r#"{"TableName":"ccc"}"#),
    ] {
        let (status, said) = server.call(operation, body);
        assert_eq!(status, 400, "{operation}: {said}");
        assert!(said.contains("table dynamodb.ccc belongs to CQL"), "{operation}: {said}");
    }
    let (status, said) = server.call("CreateTable", &create_body("ccc"));
    assert_eq!(status, 400, "{said}");
    assert!(server.stop("-TERM").status.success());
    let count = |keyspace: &str| cql(&store, &format!("SELECT count(*) FROM {keyspace}.ccc"));
    assert!(count("dynamodb").unwrap().contains('2'));
    check_refused(cql(&store, "CREATE TABLE dynamodb.new (p int PRIMARY KEY)"), "DynamoDB");
    let output = shelfmark(&["verify", "--data", data]);
    assert!(!output.status.success());
    assert!(stdout(&output).contains("lies in a namespace of DynamoDB"), "{}", stdout(&output));
    let output = shelfmark(&["verify", "--data", data, "--salvage"]);
    let said = stdout(&output);
    assert!(output.status.success(), "{said}{}", stderr(&output));
    assert!(said.contains("keyspace dynamodb is now dynamodb_cql, with 2 tables"), "{said}");
    assert!(count("dynamodb_cql").unwrap().contains('2'));
    let shown = cql(
        &store,
        "SELECT w.b FROM dynamodb_cql.ccc WHERE v = 'x'; SELECT p FROM dynamodb_cql.by_c WHERE c = 3;
        ALTER TABLE dynamodb_cql.ccc ADD more dynamodb_cql.u;
        INSERT INTO dynamodb_cql.ccc (p, c, v) VALUES (5, 5, 'x');",
    );
    assert!(shown.as_ref().is_ok_and(|shown| shown.contains('y')), "{shown:?}");
    assert!(count("dynamodb").is_err());
    assert_eq!(dynamodb(&store, "CreateTable", &create_body("ccc")).0, 200);
    let (_, item) = dynamodb(&store, "GetItem", r#"{"TableName":"ddd","Key":{"pk":{"S":"a"}}}"#);
    assert!(item.contains("\"a\""), "{item}");
    let output = shelfmark(&["verify", "--data", data]);
    assert!(output.status.success(), "{}{}", stdout(&output), stderr(&output));
}

#[test]
fn entities_are_read_by_dynamodb_and_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    with_engine(&store, |engine| {
        let registry = Registry::open(engine).unwrap();
        let home = registry.environment("home").unwrap();
        let database = home.create_database("chats").unwrap();
        let people = EntityTable::named(&database, "people").unwrap();
        for (sk, age) in [("ada", 36_i64), ("bob", 41)] {
            let attributes =
                shelfmark_typed::Attributes::new().with("age", age).with("city", "Ulm");
            people.partition("users").put(sk, attributes).unwrap();
        }
    });
    let call = |share, operation: &str, body: &str| {
        with_engine(&store, |engine| {
            let environment = engine.environment().clone();
            let options = dynamo::FaceOptions { share, ..dynamo::FaceOptions::default() };
            let face = dynamo::Face::new(engine.clone(), environment, options);
            let reply = face.call(&dynamo::RequestHead::operation(operation), body.as_bytes());
            (reply.status, String::from_utf8(reply.body.to_vec()).unwrap())
        })
    };
    let get = r#"{"TableName":"chats.people","Key":{"pk":{"S":"users"},"sk":{"S":"ada"}}}"#;
    let (status, body) = call(Share::Read, "GetItem", get);
    assert_eq!(status, 200, "{body}");
    assert!(
        body.contains(r#""age":{"N":"36"}"#) && body.contains(r#""city":{"S":"Ulm"}"#),
        "{body}"
    );
    let query = r#"{"TableName":"chats.people","KeyConditionExpression":"pk = :p AND sk > :s",
        "ExpressionAttributeValues":{":p":{"S":"users"},":s":{"S":"ada"}}}"#;
    let (status, body) = call(Share::Read, "Query", query);
    assert!(status == 200 && body.contains(r#""Count":1"#), "{body}");
    let (status, body) = call(Share::Read, "Scan", r#"{"TableName":"chats.people"}"#);
    assert!(status == 200 && body.contains(r#""Count":2"#), "{body}");
    // Whatever is granted, by every way of writing.
    let item = r#"{"pk":{"S":"users"},"sk":{"S":"ada"}}"#;
    for (operation, body) in [
        ("PutItem", format!(r#"{{"TableName":"chats.people","Item":{item}}}"#)),
        ("DeleteItem", format!(r#"{{"TableName":"chats.people","Key":{item}}}"#)),
        (
            "TransactWriteItems",
            format!(
                r#"{{"TransactItems":[{{"Put":{{"TableName":"chats.people","Item":{item}}}}}]}}"#
            ),
        ),
    ] {
        let (status, said) = call(Share::All, operation, &body);
        assert!(status == 400 && said.contains("read here"), "{operation}: {said}");
    }
    assert_eq!(call(Share::None, "GetItem", get).0, 400);
    assert_eq!(call(Share::All, "DeleteTable", r#"{"TableName":"chats.people"}"#).0, 400);
    assert!(call(Share::Read, "GetItem", get).1.contains("Ulm"));
    // By hand, too; and the lists of databases are listed with the others, the store's own are not.
    let data = store.to_str().unwrap();
    for arguments in [
        &["put", "chats.people", item, "--data", data][..],
        &["delete", "chats.people", "users", "ada", "--data", data],
    ] {
        let refused = shelfmark(arguments);
        assert!(
            !refused.status.success() && stderr(&refused).contains("read here"),
            "{arguments:?}"
        );
    }
    assert!(call(Share::Read, "GetItem", get).1.contains("Ulm"));
}

#[test]
fn the_stores_own_tables_are_listed_where_that_is_asked_for_and_never_written() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let data = store.to_str().unwrap();
    let with_stream = create_body("streamed").replacen(
        '{',
        r#"{"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"},"#,
        1,
    );
    assert_eq!(dynamodb(&store, "CreateTable", &with_stream).0, 200);
    let listed = |more: &[&str]| stdout(&shelfmark(&[&["tables", "--data", data], more].concat()));
    assert!(listed(&[]).contains("dynamodb.streamed"));
    assert!(!listed(&[]).contains("/streams"), "{}", listed(&[]));
    let all = listed(&["--all", "--csv"]);
    let own = all.lines().find(|line| line.contains("/streams")).expect(&all);
    let name = own.split(',').next().unwrap();
    let refused = shelfmark(&["put", name, r#"{"pk":"a","sk":1}"#, "--data", data]);
    assert!(stderr(&refused).contains("is the store's own"), "{}", stderr(&refused));
    let absent = shelfmark(&["get", "absent", "a", "--data", data]);
    assert!(!stderr(&absent).contains("/streams"), "{}", stderr(&absent));
}

#[test]
fn tables_of_programs_are_read_by_what_their_types_declare() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let write = |likes: u32| {
        with_engine(&store, |engine| {
            let registry = Registry::open(engine).unwrap();
            let blog = registry.environment("home").unwrap().create_database("blog").unwrap();
            let posts: OrderedTable<(String, u32), Post> =
                OrderedTable::named(&blog, "posts").unwrap();
            posts.write(&("ada".into(), 7), &Post { title: "Hello".into(), likes }).unwrap();
        });
    };
    write(3);
    let select = "SELECT title, likes FROM blog.posts WHERE key1 = 'ada' AND key2 > 6";
    let shown = cql(&store, select).unwrap();
    assert!(shown.contains("Hello") && shown.contains('3'), "{shown}");
    let query = r#"{"TableName":"blog.posts","KeyConditionExpression":"shelf = :s AND key1 = :k",
        "ExpressionAttributeValues":{":s":{"N":"0"},":k":{"S":"ada"}}}"#;
    let (status, body) = dynamodb(&store, "Query", query);
    assert_eq!(status, 200, "{body}");
    assert!(body.contains(r#""title":{"S":"Hello"}"#), "{body}");
    // What CQL declares over an attribute, and what the program writes then, stand side by side.
    cql(&store, "ALTER TABLE blog.posts ADD note text").unwrap();
    write(4);
    let shown = cql(&store, "SELECT * FROM blog.posts").unwrap();
    assert!(shown.contains("note") && shown.contains('4'), "{shown}");
    assert!(cql(&store, "DELETE FROM blog.posts WHERE shelf = 0").is_err());
    let output = shelfmark(&["verify", "--data", store.to_str().unwrap()]);
    assert!(output.status.success(), "{}{}", stdout(&output), stderr(&output));
}

/// A value of a program's table.
#[derive(serde::Serialize, serde::Deserialize)]
struct Post {
    title: String,
    likes: u32,
}
