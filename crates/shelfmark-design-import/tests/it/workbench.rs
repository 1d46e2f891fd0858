//! Row types of data models: each design has its row types beside it, and they are found.
//!
//! A line of `NAME.types` is table, row type, number of sample rows, and the form of its keys with
//! `<>` for each value; behind `|` stand the indexes in which it lies.

use std::collections::BTreeMap;

use serde_json::Value as Json;
use shelfmark_design::{Document, Severity, Status};
use shelfmark_design_import::{Source, import};
use shelfmark_design_language::syntax::parser::parse;
use shelfmark_design_language::syntax::tree::{
    Component, ExprKind, Index, Item, Key, Row, Segment,
};

use crate::{columns_as_told, created, file, root};

fn designs() -> Vec<String> {
    let folder = std::fs::read_dir(root().join("tests/files/workbench"));
    let mut names: Vec<String> = folder
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.strip_suffix(".json").map(str::to_owned))
        .collect();
    names.sort();
    names
}

fn imported(name: &str) -> String {
    let text = file(&format!("workbench/{name}.json"));
    import(name, &text, Source::of("", &text)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Returns the form of a key cell: its constant parts, and `<>` for each value.
fn form(component: &Component) -> String {
    let ExprKind::Template(template) = &component.expr.kind else { return "<>".to_owned() };
    let part = |segment: &Segment| match segment {
        Segment::Literal(text) => text.clone(),
        Segment::Hole { .. } => "<>".to_owned(),
    };
    template.segments.iter().map(part).collect()
}

fn key(key: &Key) -> String {
    let Key::Tuple { partition, sort } = key else { return String::new() };
    let cells = partition.iter().flatten().chain(sort).map(form);
    cells.collect::<Vec<_>>().join(" ; ")
}

/// Returns the row types of a model as lines of the expected form.
fn row_types(model: &str) -> Vec<String> {
    let parsed = parse(model);
    let mut samples: BTreeMap<&str, usize> = BTreeMap::new();
    let schemas = || {
        parsed.file.items.iter().filter_map(|item| match item {
            Item::Schema(schema) => Some(schema),
            _ => None,
        })
    };
    for sample in schemas().flat_map(|schema| &schema.samples) {
        *samples.entry(sample.row.text.as_str()).or_default() += 1;
    }
    let mut found = Vec::new();
    for table in schemas().flat_map(|schema| &schema.tables) {
        let line = |row: &Row| {
            let name = &row.name.text;
            let count = samples.get(name.as_str()).copied().unwrap_or(0);
            let head = format!("{} {name} {count} {}", table.name.text, key(&row.key));
            let index = |index: &Index| {
                let own = index.name.text.strip_prefix(&format!("{}_", table.name.text));
                format!(" | {} {}", own.unwrap_or(&index.name.text), key(&index.key))
            };
            head + &row.indexes.iter().map(index).collect::<String>()
        };
        found.extend(table.rows.iter().map(line));
    }
    found
}

#[test]
fn nine_of_ten_row_types_are_found() {
    let (mut wanted, mut found) = (0, 0);
    let mut missed = Vec::new();
    for name in designs() {
        let own = row_types(&imported(&name));
        for line in file(&format!("workbench/{name}.types")).lines() {
            wanted += 1;
            if own.iter().any(|one| one == line) {
                found += 1;
            } else {
                missed.push(format!("{name}: {line}"));
            }
        }
    }
    assert!(wanted > 40, "there are designs to look at");
    assert!(found * 10 >= wanted * 9, "{found} of {wanted}; missed: {missed:#?}");
}

#[test]
fn no_row_type_is_invented() {
    for name in designs() {
        let own = row_types(&imported(&name));
        let wanted = file(&format!("workbench/{name}.types")).lines().count();
        assert!(own.len() <= wanted, "{name}: {own:#?}");
    }
}

#[test]
fn imported_designs_have_no_error_and_prove_something() {
    for name in designs() {
        let model = imported(&name);
        let document = Document::parse(&name, &model).unwrap_or_else(|report| panic!("{report}"));
        let errors: Vec<String> = document
            .check()
            .iter()
            .filter(|one| one.severity == Severity::Error || one.id == "K9")
            .map(|one| format!("{} {}", one.id, one.message))
            .collect();
        assert!(errors.is_empty(), "{name}: {errors:?}\n{model}");
        let proofs = document.prove();
        let certified = proofs.iter().filter(|one| one.status == Status::Certified).count();
        assert!(certified > 0, "{name} proves nothing");
        assert!(certified * 10 >= proofs.len() * 6, "{name}: {certified} of {}", proofs.len());
        assert!(model.contains("# ?"), "{name} asks nothing");
    }
}

/// Returns a text behind a way of members.
fn text_at<'j>(json: &'j Json, way: &str) -> &'j str {
    json.pointer(way).and_then(Json::as_str).unwrap_or_default()
}

/// Returns the elements of a member.
fn each<'j>(json: &'j Json, member: &str) -> impl Iterator<Item = &'j Json> {
    json.get(member).and_then(Json::as_array).into_iter().flatten()
}

/// Returns the tables and indexes of a design, each with the columns of its key.
fn places(design: &str) -> Vec<(String, String)> {
    let json: Json = serde_json::from_str(&file(&format!("workbench/{design}.json")))
        .unwrap_or_else(|error| panic!("{design}: {error}"));
    let place = |at: &Json, name: &str| {
        let sides = ["PartitionKey", "SortKey"]
            .map(|side| text_at(at, &format!("/KeyAttributes/{side}/AttributeName")));
        let columns: Vec<&str> = sides.into_iter().filter(|name| !name.is_empty()).collect();
        (text_at(at, &format!("/{name}")).to_owned(), columns.join(", "))
    };
    let mut found = Vec::new();
    for table in each(&json, "DataModel") {
        found.push(place(table, "TableName"));
        found.extend(each(table, "GlobalSecondaryIndexes").map(|index| place(index, "IndexName")));
    }
    found
}

/// Requests of an import say the names of the design's tables, indexes and key columns, or the model
/// tells which they do not.
#[test]
fn requests_address_the_tables_of_the_design() {
    let (mut kept, mut told) = (0, 0);
    for design in designs() {
        let (model, places) = (imported(&design), places(&design));
        told += columns_as_told(&model);
        let created: Json = serde_json::from_str(&created(&model)).unwrap_or_default();
        let mut check = |what: &str, name: &str, at: &Json| {
            let named = places.iter().any(|(own, _)| own == name);
            assert!(named || model.contains(&format!("? The {what} {name} is called ")), "{name}");
            let columns = each(at, "KeySchema").map(|one| text_at(one, "/AttributeName"));
            let columns = columns.collect::<Vec<&str>>().join(", ");
            let same = places.contains(&(name.to_owned(), columns));
            let other = model.contains(&format!("? The key of the {what} {name} is called "));
            assert!(same != other || !named, "{design} {name}\n{model}");
            kept += usize::from(same);
        };
        for table in created.as_array().into_iter().flatten() {
            check("table", text_at(table, "/TableName"), table);
            for index in each(table, "GlobalSecondaryIndexes") {
                check("index", text_at(index, "/IndexName"), index);
            }
        }
    }
    assert!(kept > 10 && told > 10, "{kept} {told}");
}

#[test]
fn named_queries_become_reads() {
    let films = imported("films");
    for line in [
        "read roles_of_a_film(film) = Role where film = film order by role\n",
        "read films_of_a_director(director) = Director where director = director order by film\n",
        "read one_film(film) = Film where film = film unique\n",
        "where genre = genre and year < year\n",
        "read everything_of_a_film(film) = Film + Role + Director where film = film\n",
        "serve everything_of_a_film(film) by query data (\"FILM#<film>\")\n",
        "# ? Not imported: All films: it scans the whole table.\n",
    ] {
        assert!(films.contains(line), "{line}{films}");
    }
    let clinic = imported("clinic");
    for line in [
        "read one_patient(p) = Patient where p = p unique\n",
        "read what_a_doctor_did(d) = Treatment where d = d order by timestamp\n",
        "# ? Not imported: Admit (writes a stay): it is no query but putitem.\n",
    ] {
        assert!(clinic.contains(line), "{line}{clinic}");
    }
}

#[test]
fn values_keep_their_types() {
    let shop = imported("shop");
    for line in [
        "Price: text optional  # a number kept as text",
        "Detail: bytes optional  # ? a map (Title text, Text text): a record, if all rows have these",
        "at: text(min 1, only \"0-9TZ:.+-\") optional",
    ] {
        assert!(shop.contains(line), "{line}\n{shop}");
    }
    let series = imported("series");
    for line in [
        "reading: timestamp\n",
        "day: date\n",
        "ok: bool optional\n",
        "value: decimal optional\n",
        "expires: int optional  # ? the second at which rows expire? then: int ttl",
        "\"READING#<reading:iso>\"",
    ] {
        assert!(series.contains(line), "{line}\n{series}");
    }
    assert!(imported("videos").contains("video: uuid\n"));
    assert!(imported("tenants").contains("\"TASK#<task:pad(5)>\""));
}

/// Letters before digits are so in a few sample rows: whether in all, is asked.
#[test]
fn alphabets_of_samples_are_asked_about() {
    let mut count = 0;
    for name in designs() {
        for line in imported(&name).lines() {
            let Some((_, rest)) = line.split_once("only \"") else { continue };
            let Some((letters, _)) = rest.split_once("0-9\"") else { continue };
            count += usize::from(!letters.is_empty());
            assert!(letters.is_empty() || line.contains("and digits"), "{name}: {line}");
        }
    }
    assert!(count > 0, "no design has such ids");
}

/// A facet shows some attributes of a row, and the table has all of them: what the row has is found, and its
/// values are those of the table. Binary keys are bytes.
#[test]
fn a_facets_row_hides_nothing_of_the_tables_row() {
    let text = r#"{"ModelName": "Clinic", "ModelMetadata": {"Version": "3.0"}, "DataModel": [{
        "TableName": "clinic",
        "KeyAttributes": {"PartitionKey": {"AttributeName": "id", "AttributeType": "S"}},
        "NonKeyAttributes": [
            {"AttributeName": "name", "AttributeType": "S"},
            {"AttributeName": "fee", "AttributeType": "N"},
            {"AttributeName": "addr", "AttributeType": "M"}],
        "TableFacets": [{"FacetName": "Doctor", "KeyAttributeAlias": {"PartitionKeyAlias": "id"},
            "TableData": [{"id": {"S": "dr1"}, "name": {"S": "A"}, "fee": {"N": "12"}}],
            "NonKeyAttributes": ["name", "fee"]}],
        "TableData": [{"id": {"S": "dr1"}, "name": {"S": "Ann"}, "fee": {"N": "12.5"},
            "addr": {"M": {"city": {"S": "X"}}}}]}]}"#;
    let model = import("clinic", text, Source::Workbench).unwrap_or_else(|error| panic!("{error}"));
    assert!(model.contains("fee: decimal"), "{model}");
    assert!(model.contains("addr:"), "{model}");
    let binary = text.replace(
        "\"AttributeName\": \"id\", \"AttributeType\": \"S\"",
        "\"AttributeName\": \"id\", \"AttributeType\": \"B\"",
    );
    let bytes =
        import("clinic", &binary, Source::Workbench).unwrap_or_else(|error| panic!("{error}"));
    assert!(bytes.contains("id: bytes(min 1)\n"), "{bytes}");
    Document::parse("model", &model).unwrap_or_else(|report| panic!("{report}"));
}
