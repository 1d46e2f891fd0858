//! Schemas of libraries: what their literals say, what they leave to functions, and damaged ones.

use shelfmark_design::{Document, Severity, Status};
use shelfmark_design_import::{Source, import};

use crate::file;

fn imported(name: &str) -> String {
    let text = file(&format!("libraries/{name}"));
    import(name, &text, Source::of(name, &text)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Returns the patterns that are certified, after a check without errors.
fn certified(model: &str) -> Vec<String> {
    let document = Document::parse("model", model).unwrap_or_else(|report| panic!("{report}"));
    let errors = document.check().iter().filter(|one| one.severity == Severity::Error).count();
    assert_eq!(errors, 0, "{model}");
    let proofs = document.prove();
    let good = proofs.iter().filter(|one| one.status == Status::Certified);
    good.map(|one| one.pattern.clone()).collect()
}

#[test]
fn entities_of_electrodb_keep_keys_and_collections() {
    let model = imported("tasks.ts");
    for line in [
        "(\"$work#person_<person>\"; \"$person_1\")",
        "(\"$work#office_<office>\"; \"$workplaces#person_1#team_<team>#person_<person>\")",
        "(\"COUNTRY#<country>\"; \"FLOOR#<floor:pad(3)>\")",
        "read workplaces(office) = Person + Office where office = office\n",
        "team: enum(\"build\", \"sell\", \"help\")\n",
        "first: text\n",
        "address: record { street: text optional, zip: text optional }",
        "# ? floors has a condition, a function: which rows are in it?\n",
        "# ? default is a function: what does it say\n",
    ] {
        assert!(model.contains(line), "{line}\n{model}");
    }
    let patterns = certified(&model);
    for name in ["get_person", "workplaces", "office_floors", "person_places"] {
        assert!(patterns.iter().any(|one| one == name), "{name}: {patterns:?}\n{model}");
    }
}

#[test]
fn schemas_of_onetable_keep_templates() {
    let model = imported("accounts.js");
    for line in [
        "(\"account#<accountId>\"; \"invoice#<number:pad(6)>\")",
        "number: int(0..999999)\n",
        "plan: enum(\"free\", \"paid\")\n",
        "index gs1 key (\"user#<email>\"; \"User#\") store { email }",
        "# ? email is unique",
        "total: decimal optional  # ? a function: what does it say\n",
    ] {
        assert!(model.contains(line), "{line}\n{model}");
    }
    assert_eq!(certified(&model).len(), 6, "{model}");
}

/// Returns what makes the tables of an imported schema.
fn created(model: &str) -> String {
    let document = Document::parse("model", model).unwrap_or_else(|report| panic!("{report}"));
    let calls = document.calls("imported", None).unwrap_or_else(|error| panic!("{error}"));
    calls.json()["create"].to_string()
}

/// Says that requests call a key's columns as the remark on it tells.
fn columns_are_as_told(model: &str) {
    let created = created(model);
    let told: Vec<&str> = model.lines().filter(|line| line.contains("? The key of ")).collect();
    assert!(!told.is_empty(), "{model}");
    for line in told {
        let (_, here) = line.rsplit_once("say ").unwrap_or_default();
        let columns = here.trim_end_matches('.').split(", ").enumerate().map(|(at, name)| {
            let kind = if at == 0 { "HASH" } else { "RANGE" };
            format!("{{\"AttributeName\":\"{name}\",\"KeyType\":\"{kind}\"}}")
        });
        let columns = columns.collect::<Vec<String>>().join(",");
        assert!(created.contains(&columns), "{line}\n{columns}\n{created}");
    }
}

#[test]
fn an_exported_schema_keeps_local_indexes_maps_and_names() {
    let model = imported("exported.ts");
    for line in [
        "  table my_shop_v1 {\n",
        "# ? The table my_shop_v1 is called \"my-shop.v1\" there: requests of `design calls` say my_shop_v1.\n",
        "# ? The index by_name is called \"by-name\" there: requests of `design calls` say by_name.\n",
        "# ? The key of the table my_shop_v1 is called PK, SK there: requests of `design calls` say pk, sk.\n",
        "# ? The key of the index gs1 is called GS1PK, GS1SK there: requests of `design calls` say gs1_pk, gs1_sk.\n",
        "# ? The key of the index by_name is called PK, name there: requests of `design calls` say pk, name.\n",
        "index gs1 key (\"account#\"; \"account#<name>\") store { }\n",
        "index by_name local key (\"account#<id>\"; \"<name>\")\n",
        "read Account_by_name(id) = Account where id = id order by name\n",
        "address: record { street: text optional, zip: text, at: record { lat: decimal, lon: decimal optional } } optional",
        "labels: list of decimal(max 100) optional  # ? how many at most? 100 is assumed\n",
        "parts: bytes optional  # ? a list of maps (part): an entity that refers to its owner\n",
    ] {
        let flat = model.split_whitespace().collect::<Vec<_>>().join(" ");
        let wanted = line.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(&wanted), "{line}\n{model}");
    }
    columns_are_as_told(&model);
    let created = created(&model);
    assert!(created.contains("LocalSecondaryIndexes"), "{created}");
    assert!(certified(&model).iter().any(|one| one == "Account_by_name"), "{model}");
}

/// The JSON forms say the same.
#[test]
fn json_is_told_by_its_members() {
    let onetable = r#"{"indexes": {"primary": {"hash": "pk", "sort": "sk"}}, "models": {"A": {
        "pk": {"type": "string", "value": "a#${id}"}, "sk": {"type": "string", "value": "a"},
        "id": {"type": "string"}}}}"#;
    assert_eq!(Source::of("schema.json", onetable), Source::OneTable);
    let electro = r#"{"model": {"entity": "a", "version": "1", "service": "s"},
        "attributes": {"id": {"type": "string"}},
        "indexes": {"one": {"pk": {"field": "pk", "composite": ["id"]}}}}"#;
    assert_eq!(Source::of("schema.json", electro), Source::ElectroDb);
    for text in [onetable, electro] {
        let from = Source::of("schema.json", text);
        let model = import("schema.json", text, from).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(
            certified(&model),
            ["get_a"].map(|name| if from == Source::OneTable {
                "get_A".to_owned()
            } else {
                name.to_owned()
            })
        );
    }
}

#[test]
fn damaged_literals_are_refused_with_their_place() {
    let deep = format!("const x = {}1{}", "[".repeat(10_000), "]".repeat(10_000));
    for (text, place, message) in [
        ("const a = {", "1:12", "closes"),
        ("const a = { b: 'c }", "1:16", "quote"),
        ("const a = [1, 2;", "1:16", "`]`"),
        (deep.as_str(), "1:", "deeper than 64"),
        ("export const a = 1", "1:1", "no entity"),
    ] {
        let error = import("a.ts", text, Source::ElectroDb).expect_err(message);
        assert!(error.place.starts_with(place), "{error}");
        assert!(error.message.contains(message), "{error}");
    }
}

#[test]
fn no_damage_makes_it_panic() {
    for name in ["tasks.ts", "accounts.js"] {
        let text = file(&format!("libraries/{name}"));
        for (at, _) in text.char_indices().step_by(3) {
            for from in [Source::ElectroDb, Source::OneTable] {
                let _ = import(name, &text[..at], from);
                let changed = format!("{}{{{}", &text[..at], &text[at..]);
                let _ = import(name, &changed, from);
            }
        }
    }
}
