//! Importers: real shapes, damaged ones, and what is asked instead of guessed.

use shelfmark_design::{Document, Status};
use shelfmark_design_import::{Source, import};

use crate::{file, golden};

#[test]
fn a_cql_schema_becomes_a_model() {
    let text = file("hotel.cql");
    assert_eq!(Source::of("", &text), Source::Cql);
    let model = import("hotel.cql", &text, Source::Cql).unwrap_or_else(|error| panic!("{error}"));
    golden("hotel.shelf", &model);
    let document = Document::parse("hotel", &model).expect("it parses");
    let proofs = document.prove();
    let by_date = proofs.iter().find(|one| one.pattern == "read_available_rooms").expect("a read");
    assert_eq!(by_date.status.word(), "certified", "{}", by_date.reason);
    assert!(model.contains("# ? Not imported"), "a token range is said to be left out");
    assert!(
        model.contains("# ? What is hotels_by_poi read for?")
            || model.contains("count of HotelsByPoi")
    );
}

/// The tutorial's example of an import gives what the tutorial prints.
#[test]
fn the_tutorial_prints_what_is_imported() {
    let path = crate::root().join("../../docs/modelling.md");
    let text = std::fs::read_to_string(&path).expect("the tutorial");
    let block = |word: &str| -> String {
        let fence = format!("```{word}\n");
        let (_, rest) = text.split_once(&fence).expect("a block");
        rest.split_once("```").map(|(inside, _)| inside.to_owned()).unwrap_or_default()
    };
    let model = import("example.cql", &block("import"), Source::Cql).expect("it is imported");
    assert_eq!(model, block("imported"));
}

#[test]
fn a_workbench_model_becomes_a_model() {
    let text = file("music.json");
    assert_eq!(Source::of("", &text), Source::Workbench);
    let model =
        import("music.json", &text, Source::Workbench).unwrap_or_else(|error| panic!("{error}"));
    golden("music.shelf", &model);
    Document::parse("music", &model).expect("it parses");
    assert!(model.contains("\"SONG#<song>\""), "an alias with holes is a template");
    assert!(model.contains("\"#DL#<when>\""), "one without is read as tags and names");
    assert!(model.contains("row Details \"SONG#1\" \"DETAILS#1\""), "sample rows are kept");
}

#[test]
fn damaged_texts_are_refused_with_their_place() {
    let cases = [
        ("CREATE TABLE t (a text);", "1:1", "primary key"),
        ("CREATE TABLE t (a text, PRIMARY KEY (b));", "1:1", "no column"),
        (
            "CREATE TABLE t (a text PRIMARY KEY);\nCREATE TABLE t (a text PRIMARY KEY);",
            "2:1",
            "twice",
        ),
        ("CREATE TABLE t (a text PRIMARY KEY);\nCREATE INDEX ON u (a);", "2:1", "no table u"),
        ("CREATE TABLE t (\n  a tex t PRIMARY KEY);", "2:", ""),
        ("CREATE TABLE t (a text PRIMARY KEY", "1:", ""),
        ("-- nothing", "1:1", "CREATE TABLE"),
        ("{", "1:1", "JSON"),
        ("{\"DataModel\": []}", "DataModel", "no table"),
        ("{\"ModelMetadata\": {\"Version\": \"9.0\"}}", "ModelMetadata.Version", "1 to 3"),
        ("{\"ModelMetadata\": {\"Version\": 3}}", "ModelMetadata.Version", "no text"),
        ("{\"ModelMetadata\": {\"Version\": \"3.0\"}, \"DataModel\": []}", "DataModel", "no table"),
        (
            "{\"ModelMetadata\": {\"Version\": \"1.0\"}, \"DataModel\": [{\"TableName\": \"t\", \"KeyAttributes\": {}}]}",
            "DataModel[0].KeyAttributes",
            "PartitionKey",
        ),
        (
            "{\"ModelMetadata\": {\"Version\": \"1.0\"}, \"DataModel\": [{\"TableName\": \"t\", \"KeyAttributes\": {\"PartitionKey\": {\"AttributeName\": \"p\", \"AttributeType\": \"X\"}}}]}",
            "DataModel[0].KeyAttributes.PartitionKey",
            "no type",
        ),
    ];
    for (text, place, message) in cases {
        let from = Source::of("", text);
        let error = import("t", text, from).expect_err(text);
        assert!(error.place.starts_with(place), "{text}: {error}");
        assert!(error.message.contains(message), "{text}: {error}");
    }
}

/// Every prefix of a good text and every text with a byte changed ends in a model or an error.
#[test]
fn no_damage_makes_it_panic() {
    for (name, step) in [("hotel.cql", 7), ("music.json", 5)] {
        let text = file(name);
        let from = Source::of("", &text);
        for end in (0..text.len()).step_by(step).filter(|end| text.is_char_boundary(*end)) {
            let _ = import(name, &text[..end], from);
        }
        for (at, c) in text.char_indices().step_by(step * 3) {
            for other in ["", "\"", "{", "(", "<", ";", "#", "\\", "\u{0}", "é"] {
                let changed = format!("{}{other}{}", &text[..at], &text[at + c.len_utf8()..]);
                if let Ok(model) = import(name, &changed, from) {
                    Document::parse(name, &model).expect("what is imported is a model");
                }
            }
        }
    }
}

#[test]
fn depth_and_size_are_limited() {
    let deep = format!("{{\"a\": {}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(import("deep", &deep, Source::Workbench).is_err());
    let frozen = format!(
        "CREATE TABLE t (a {}int{} PRIMARY KEY)",
        "frozen<list<".repeat(5_000),
        ">>".repeat(5_000)
    );
    assert!(import("deep", &frozen, Source::Cql).is_err());
    let large = " ".repeat(shelfmark_design::limits::SOURCE_BYTES_MAX + 1);
    let error = import("large", &large, Source::Cql).expect_err("too large");
    assert!(error.message.contains("bytes"), "{error}");
}

/// A Workbench model of one table, with what is given as members of it.
fn workbench(members: &str) -> String {
    let text = format!(
        r#"{{"ModelName": "Small", "ModelMetadata": {{"Version": "3.0"}}, "DataModel": [{{
            "TableName": "data",
            "KeyAttributes": {{"PartitionKey": {{"AttributeName": "PK", "AttributeType": "S"}},
                "SortKey": {{"AttributeName": "SK", "AttributeType": "S"}}}},
            "NonKeyAttributes": [
                {{"AttributeName": "year", "AttributeType": "N"}},
                {{"AttributeName": "friends", "AttributeType": "L"}},
                {{"AttributeName": "roles", "AttributeType": "SS"}},
                {{"AttributeName": "address", "AttributeType": "M"}},
                {{"AttributeName": "seen", "AttributeType": "BOOL"}},
                {{"AttributeName": "name", "AttributeType": "S"}}],
            {members}}}]}}"#
    );
    import("small.json", &text, Source::Workbench).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn sample_rows_keep_their_values_and_what_is_not_taken_is_said() {
    let model = workbench(
        r#""TableData": [
            {"PK": {"S": "a"}, "SK": {"S": "b"}, "year": {"N": "1988"}, "name": {"S": "A"}, "seen": {"BOOL": true}},
            {"pk": {"S": "c"}, "sk": {"S": "d"}, "year": {"N": "19.5"}, "friends": {"L": []}, "name": {}},
            {"name": {"S": "nobody"}}]"#,
    );
    assert!(
        model.contains(r#"row data "a" "b" { year = 1988, seen = true, name = "A" }"#),
        "{model}"
    );
    assert!(model.contains(r#"row data "c" "d""#), "{model}");
    assert!(model.contains("write its key in another case: 1."), "{model}");
    assert!(model.contains("were not taken, because they lack its key"), "{model}");
    assert!(model.contains("that have no form here: year, friends."), "{model}");
}

/// An index of several attributes on a side, and one that no facet belongs to.
#[test]
fn indexes_of_several_attributes_and_of_no_facet() {
    let model = workbench(
        r#""GlobalSecondaryIndexes": [{"IndexName": "by_name", "KeyAttributes": {
            "PartitionKey": [{"AttributeName": "name", "AttributeType": "S"},
                {"AttributeName": "year", "AttributeType": "N"}],
            "SortKey": [{"AttributeName": "SK", "AttributeType": "S"},
                {"AttributeName": "PK", "AttributeType": "S"}]}}],
           "TableData": []"#,
    );
    assert!(model.contains("index by_name key (name, year; SK, PK)"), "{model}");
    let model = workbench(
        r#""GlobalSecondaryIndexes": [{"IndexName": "GSI1", "KeyAttributes": {
            "PartitionKey": {"AttributeName": "GSI1PK", "AttributeType": "S"}}}],
           "TableFacets": [{"FacetName": "A", "NonKeyAttributes": ["name"], "TableData": []},
               {"FacetName": "B", "NonKeyAttributes": ["year"], "TableData": []}]"#,
    );
    assert!(model.contains("# ? The index GSI1 of data is not imported"), "{model}");
    let none = r#"{"DataModel": [{"TableName": "t", "KeyAttributes": {"PartitionKey": {"AttributeName": "p"}}}]}"#;
    let model = import("none.json", none, Source::Workbench).unwrap();
    assert!(model.contains("# ? It does not say its version"), "{model}");
}

/// What CQL says without words: the order of a partition's rows, and what rows of a view hold.
#[test]
fn selects_say_their_order_and_what_their_view_holds() {
    let text = "CREATE TABLE t (a text, b int, c int, d int, PRIMARY KEY (a, b, c)) \
         WITH CLUSTERING ORDER BY (b DESC, c ASC);\n\
         CREATE MATERIALIZED VIEW v AS SELECT a, b, c FROM t WHERE d IS NOT NULL AND a IS NOT NULL \
         AND b IS NOT NULL AND c IS NOT NULL PRIMARY KEY (a, d, b, c);\n\
         SELECT * FROM t WHERE a = ? LIMIT 10;\n\
         SELECT * FROM t WHERE a = ? AND b = ?;\n\
         SELECT d FROM t WHERE a = ? AND b = ? AND c = ?;\n\
         SELECT b FROM v WHERE a = ?;\n\
         SELECT b FROM v WHERE a = ? AND d > ?;\n";
    let model = import("t.cql", text, Source::Cql).unwrap_or_else(|error| panic!("{error}"));
    // Of which the view does not say the order, it keeps that of its table.
    for line in [
        "read read_t(a) = T where a = a order by b desc, c limit 10\n",
        "read read_t_2(a, b) = T where a = a and b = b order by c\n",
        "read read_t_3(a, b, c) = T select d where a = a and b = b and c = c unique\n",
        "index v key (a; d, b desc, c)",
        "read read_v(a) = T select b where a = a and d is present order by d, b desc, c\n",
        "read read_v_2(a, d) = T select b where a = a and d > d order by d, b desc, c\n",
    ] {
        assert!(model.contains(line), "{line}{model}");
    }
    let proofs = Document::parse("t", &model).unwrap_or_else(|error| panic!("{error}")).prove();
    assert!(proofs.iter().all(|one| one.status == Status::Certified), "{proofs:#?}");
}

#[test]
fn what_a_type_letter_does_not_say_is_asked() {
    let model = workbench(r#""TableData": []"#);
    for (line, asked) in [
        ("friends: list of text(max 200)(max 100) optional", "of what? how many at most?"),
        ("roles: set of text(max 200)(max 100) optional", "how many at most?"),
        ("address: bytes optional", "a map: of what?"),
    ] {
        let found = model.lines().find(|one| one.contains(line)).unwrap_or_default();
        assert!(found.contains("# ? ") && found.contains(asked), "{model}");
    }
    assert!(!model.contains("not taken"), "{model}");
}

#[test]
fn an_alias_that_no_row_fits_is_read_from_the_rows() {
    let model = workbench(
        r##""TableFacets": [
            {"FacetName": "Metadata", "KeyAttributeAlias": {"PartitionKeyAlias": "playerID", "SortKeyAlias": "#METEADATA#playerID"},
             "TableData": [{"PK": {"S": "p1"}, "SK": {"S": "#METADATA#p1"}}, {"PK": {"S": "p2"}, "SK": {"S": "#METADATA#p2"}}]},
            {"FacetName": "Friends", "KeyAttributeAlias": {"PartitionKeyAlias": "playerID", "SortKeyAlias": "FRIENDS#playerID"},
             "TableData": [{"PK": {"S": "p1"}, "SK": {"S": "FRIENDS#p1"}}]}]"##,
    );
    assert!(model.contains(r##""#METADATA#<playerID>""##), "{model}");
    assert!(
        model.contains(r##"and its rows begin with "#METADATA#": which is right?"##),
        "{model}"
    );
    let findings = Document::parse("small", &model).expect("it parses").check();
    assert!(!findings.iter().any(|one| one.id == "U1"), "its facets do not meet: {model}");
}

#[test]
fn a_model_schema_is_not_passed_over_in_silence() {
    let model = workbench(
        r#""ModelSchema": {"models": {"movie": {}, "actor": {}}, "queries": {"Actors of a movie": {}}}"#,
    );
    for line in [
        "# ? The row type movie of data has neither a sample row nor a template: what is its key?",
        "# ? Not imported: Actors of a movie: it names no partition.",
    ] {
        assert!(model.contains(line), "{line}{model}");
    }
}

fn cql(text: &str) -> String {
    import("small.cql", text, Source::Cql).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn options_and_comments_of_cql_are_kept_as_comments() {
    let model = cql("CREATE TABLE t (a int, b int, c text, PRIMARY KEY (a, b)) WITH comment = 'Q3: all of an a' AND default_time_to_live = 86400 AND cdc = true AND gc_grace_seconds = 1;
ALTER TABLE t WITH gc_grace_seconds = 10 AND read_repair = 'NONE';");
    assert!(model.contains("# t: its comment in CQL: Q3: all of an a"), "{model}");
    assert!(
        model.contains("options of CQL that are not kept: cdc, gc_grace_seconds, read_repair"),
        "{model}"
    );
    assert!(model.contains("# ? Rows live 86400 s in CQL"), "{model}");
    assert!(model.contains("# ? What is t read for? It says: Q3: all of an a."), "{model}");
    let none = cql("CREATE TABLE t (a int PRIMARY KEY) WITH default_time_to_live = 0;");
    assert!(!none.contains("Rows live") && !none.contains("not kept"), "{none}");
}

#[test]
fn a_select_from_a_view_is_a_read_of_its_table() {
    let base = "CREATE TABLE t (a int, b int, c text, PRIMARY KEY (a, b));
CREATE MATERIALIZED VIEW by_c AS SELECT * FROM t WHERE a IS NOT NULL AND b IS NOT NULL AND c IS NOT NULL PRIMARY KEY (c, a, b);\n";
    let model = cql(&format!("{base}SELECT * FROM by_c WHERE c = ?;"));
    assert!(model.contains("read read_by_c(c) = T where c = c order by a, b\n"), "{model}");
    let some = base
        .replace("c IS NOT NULL", "c = 'x'")
        .replace("PRIMARY KEY (c, a, b)", "PRIMARY KEY (b, a)");
    let model = cql(&format!("{some}SELECT * FROM by_c WHERE b = ?;"));
    assert!(
        model.contains("# ? Not imported (its view holds fewer rows than the table)"),
        "{model}"
    );
}

#[test]
fn every_statement_that_is_wrong_is_told() {
    let text = "CREATE TABLE a (x int, PRIMARY KEY (x, y));
CREATE TABEL b (x int PRIMARY KEY);
CREATE INDEX ON b (x);
CREATE TABLE d (x int);
CREATE TABLE e (x int PRIMARY KEY);";
    let error = import("small.cql", text, Source::Cql).expect_err("four are wrong");
    let said = error.to_string();
    let places: Vec<&str> = said.lines().filter_map(|line| line.split(": ").next()).collect();
    // The index of a table that could not be read is not told beside it.
    assert_eq!(places, ["1:1", "2:8", "4:1"], "{said}");
}

/// An index of which no key here can be made is asked about; the rest of the schema is read.
#[test]
fn indexes_of_what_has_no_type_here_are_asked_about() {
    let model = cql("CREATE TYPE money (currency text, amount decimal);
CREATE TABLE t (a int PRIMARY KEY, v vector<float, 5>, m frozen<money>, c text, d text MASKED WITH DEFAULT);
CREATE CUSTOM INDEX ann ON t (v) USING 'StorageAttachedIndex' WITH OPTIONS = {'similarity_function': 'cosine'};
CREATE INDEX by_m ON t (m);
CREATE CUSTOM INDEX folded ON t (c) USING 'StorageAttachedIndex' WITH OPTIONS = {'case_sensitive': 'false'};
CREATE INDEX plain ON t (d);");
    for line in [
        "# ? ann is an index on v (USING StorageAttachedIndex WITH similarity_function = cosine): no key here says that.",
        "# ? by_m is an index on m: no key here says that.",
        "# ? folded: USING StorageAttachedIndex WITH case_sensitive = false; here it finds equal values: does that do?",
        "index plain key (d;)",
        "# masked in CQL",
    ] {
        assert!(model.contains(line), "{line}\n{model}");
    }
}

/// A static column has one value for a partition; another column has one for a row.
#[test]
fn static_columns_depend_on_the_partition_key() {
    let model = cql("CREATE TABLE t (a int, s int static, b int, c int, PRIMARY KEY (a, b));");
    assert!(model.contains("fd a -> s  # static in CQL"), "{model}");
    assert!(!cql("CREATE TABLE t (a int, b int, c int, PRIMARY KEY (a, b));").contains("fd"));
}

/// Tables of two keyspaces may have one name; two of one keyspace may not.
#[test]
fn tables_of_two_keyspaces_are_two() {
    let model = cql("CREATE TABLE old.t (a int PRIMARY KEY);
USE new;
CREATE TABLE t (a int PRIMARY KEY, b int);
CREATE INDEX ON t (b);
SELECT * FROM old.t WHERE a = ?;
SELECT * FROM t WHERE b = ?;");
    assert!(model.contains("# ? t_2: called \"new.t\" in CQL"), "{model}");
    assert!(model.contains("read read_t(a) = T where a = a unique"), "{model}");
    assert!(model.contains("read read_t_2(b) = T_2 where b = b"), "{model}");
    let twice = "CREATE TABLE k.t (a int PRIMARY KEY); CREATE TABLE k.t (a int PRIMARY KEY);";
    assert!(import("t.cql", twice, Source::Cql).is_err());
}

/// What a data model holds and this does not read is named, not dropped.
#[test]
fn members_and_rows_that_are_not_read_are_told() {
    let model = workbench(
        r#""BillingMode": "PROVISIONED", "SortedSets": [1], "Streams": {"on": true}, "Notes": [],
           "TableFacets": [{"FacetName": "A", "NonKeyAttributes": ["name", "nobody"]},
               {"FacetName": "B", "NonKeyAttributes": ["year"]}],
           "TableData": [{"PK": {"S": "a"}, "SK": {"S": "b"}}]"#,
    );
    for line in [
        "# ? Members of data that are not read: SortedSets, Streams. Do they matter?",
        "# ? Attributes of data that a facet or an index names and the table does not: nobody.",
    ] {
        assert!(model.contains(line), "{line}\n{model}");
    }
    let known = workbench(r#""TableData": [], "DataAccess": {"MySql": {}}"#);
    assert!(!known.contains("not read") && !known.contains("does not:"), "{known}");
}

/// A constant becomes an input, and a list has no length: both are said.
#[test]
fn what_a_select_fixes_or_leaves_open_is_said() {
    let model = cql("CREATE TABLE t (a text, b int, PRIMARY KEY (a, b));
SELECT * FROM t WHERE a = 'x' AND b = 5;
SELECT * FROM t WHERE a IN ? ALLOW FILTERING;");
    for line in [
        "read read_t(a) = T where a = a and b = 5 unique  # a is 'x' in CQL\n",
        "read read_t_2(a_list) = T where a in a_list  # ALLOW FILTERING in CQL; ? how many at most: a in a_list max 10\n",
    ] {
        assert!(model.contains(line), "{line}{model}");
    }
}

/// A local index lies beside its rows, whether its key repeats the table's partition key or not.
#[test]
fn local_indexes_of_data_models_stay_local() {
    for key in [
        r#"{"SortKey": {"AttributeName": "at", "AttributeType": "S"}}"#,
        r#"{"PartitionKey": {"AttributeName": "user", "AttributeType": "S"},
            "SortKey": {"AttributeName": "at", "AttributeType": "S"}}"#,
    ] {
        let text = format!(
            r#"{{"ModelName": "Small", "DataModel": [{{"TableName": "my-data",
            "KeyAttributes": {{"PartitionKey": {{"AttributeName": "user", "AttributeType": "S"}},
                "SortKey": {{"AttributeName": "id", "AttributeType": "S"}}}},
            "NonKeyAttributes": [{{"AttributeName": "at", "AttributeType": "S"}}],
            "LocalSecondaryIndexes": [{{"IndexName": "by_at", "KeyAttributes": {key},
                "Projection": {{"ProjectionType": "ALL"}}}}]}}]}}"#
        );
        let model = import("small.json", &text, Source::Workbench)
            .unwrap_or_else(|error| panic!("{error}"));
        assert!(model.contains("index by_at local key (user; at)"), "{model}");
        let told = "# ? The table my_data is called \"my-data\" there: requests of `design calls` say my_data.";
        assert!(model.contains(told), "{model}");
        assert!(!model.contains("The key of"), "{model}");
    }
}

/// A table of counters has a write for each: its row begins to be when it is added to.
#[test]
fn counters_of_cql_are_added_to() {
    let model = cql("CREATE TABLE views (page text, day date, n counter, PRIMARY KEY (page, day));
         CREATE TABLE votes (post text PRIMARY KEY, ups counter, downs counter);");
    let one = "write add_to_views(page, day, n) = increment Views(page page, day day) set n by n or insert\n";
    assert!(model.contains(one), "{model}");
    assert!(
        model.contains("write add_to_votes_ups(post, ups) = increment Votes(post post)"),
        "{model}"
    );
    let document = Document::parse("counters", &model).unwrap_or_else(|report| panic!("{report}"));
    for proof in document.prove().iter().filter(|one| one.write) {
        assert_eq!(proof.status, Status::Certified, "{}: {}\n{model}", proof.pattern, proof.reason);
    }
}
