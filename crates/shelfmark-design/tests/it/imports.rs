//! Importers: real shapes, damaged ones, and what is asked instead of guessed.

use shelfmark_design::Document;
use shelfmark_design::import::{Source, import};

use crate::root;

fn file(name: &str) -> String {
    std::fs::read_to_string(root().join("tests/import").join(name)).unwrap_or_default()
}

/// The output is compared with what was read over once.
fn golden(name: &str, text: &str) {
    let path = root().join("tests/import").join(name);
    if std::env::var_os("SHELFMARK_BLESS").is_some() {
        assert!(std::fs::write(&path, text).is_ok(), "{name} cannot be written");
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap_or_default(), text, "{name} differs");
}

#[test]
fn a_cql_schema_becomes_a_model() {
    let text = file("hotel.cql");
    assert_eq!(Source::of(&text), Source::Cql);
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

#[test]
fn a_workbench_model_becomes_a_model() {
    let text = file("music.json");
    assert_eq!(Source::of(&text), Source::Workbench);
    let model =
        import("music.json", &text, Source::Workbench).unwrap_or_else(|error| panic!("{error}"));
    golden("music.shelf", &model);
    Document::parse("music", &model).expect("it parses");
    assert!(model.contains("\"SONG#<song>\""), "an alias with holes is a template");
    assert!(model.contains("# ? Meta data is called"), "one without is asked for");
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
        ("{\"DataModel\": []}", "the model", "ModelMetadata"),
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
        let from = Source::of(text);
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
        let from = Source::of(&text);
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
