//! Schemas of libraries: what their literals say, what they leave to functions, and damaged ones.

use shelfmark_design::{Document, Severity, Status};
use shelfmark_design_import::{Source, import};

use crate::{columns_as_told, created, file};

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
    assert_eq!(columns_as_told(&model), 2, "{model}");
    let told = "? The attribute __edb_e__ tells the type of a row there: requests of `design calls` say kind.";
    assert!(model.contains(told), "{model}");
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
        "# ? The attribute _type tells the type of a row there: requests of `design calls` say kind.\n",
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
    assert_eq!(columns_as_told(&model), 3, "{model}");
    let created = created(&model);
    assert!(created.contains("LocalSecondaryIndexes"), "{created}");
    let document = Document::parse("model", &model).unwrap_or_else(|report| panic!("{report}"));
    let read = document.calls("imported", Some("get_Account"));
    let read = read.unwrap_or_else(|error| panic!("{error}")).text();
    assert!(read.contains("my_shop_v1"), "{read}");
    assert!(certified(&model).iter().any(|one| one == "Account_by_name"), "{model}");
}

/// Entities lie in the tables that their options or their service name, also where they are made
/// within other literals and where no semicolon ends a constant.
#[test]
fn entities_of_several_tables_keep_their_names() {
    let text = r#"
        const table = "shop_live"
        const of = (entity) => ({ entity, version: "1", service: "s" })
        const keys = { pk: { field: "pk", composite: ["user"] }, sk: { field: "sk", composite: ["id"] } } as const
        export const all = {
          order: new Entity({
            model: { entity: "order", version: "1", service: "s" },
            attributes: {
              user: { type: "string" }, id: { type: "string" }, at: { type: "string", required: true },
              kinds: { type: "list", items: { type: "map", properties: { kind: { type: "string" } } } },
            },
            indexes: {
              main: keys,
              byAt: { index: "lsi1", pk: { field: "pk", composite: ["user"] }, sk: { field: "lsi1sk", composite: ["at"] } },
              odd: { index: "lsi2", collection: "odds", pk: { field: "pk", composite: ["id"] }, sk: { field: "lsi2sk", composite: ["at"] } },
            },
          }, { table }),
        }
        export const log = new Entity({
          model: { entity: "log", version: "1", service: "s" },
          attributes: { user: { type: "string" }, id: { type: "string" } },
          indexes: { main: keys, odd: { index: "lsi2", collection: "odds", pk: { field: "pk", composite: ["id"] }, sk: { field: "lsi2sk", composite: ["user"] } }, byId: { index: "lsi1", pk: { field: "lsi1pk", composite: ["id"] } } },
        }, { table: "logs", client })
    "#;
    let model = import("all.ts", text, Source::of("all.ts", text));
    let model = model.unwrap_or_else(|error| panic!("{error}"));
    let flat = model.split_whitespace().collect::<Vec<_>>().join(" ");
    for line in [
        "table shop_live { row order from Order key (\"$s#user_<user>\"; \"$order_1#id_<id>\")",
        "index lsi1 local key (\"$s#user_<user>\"; \"$order_1#at_<at>\")",
        "# ? lsi2 is a local index, and its key is not the table's partition key with one column more",
        "table logs { row log from Log key (\"$s#user_<user>\"; \"$log_1#id_<id>\")",
        "# ? The index logs_lsi1 is called \"lsi1\" there: requests of `design calls` say logs_lsi1.",
        "kinds: bytes optional # ? a list of maps (kind): an entity that refers to its owner",
    ] {
        assert!(flat.contains(line), "{line}\n{model}");
    }
    assert!(!model.contains("What is the table called"), "{model}");
    assert_eq!(columns_as_told(&model), 2, "{model}");
}

/// What a field is called in the table, what an index shows, and saved queries are kept or asked about.
#[test]
fn fields_projections_and_queries_are_not_lost() {
    let electro = r#"{"model": {"entity": "a", "version": "1", "service": "s"},
        "attributes": {"id": {"type": "string"}, "name": {"type": "string", "field": "nm"},
            "at": {"type": "string", "required": true}},
        "indexes": {"one": {"pk": {"field": "pk", "composite": ["id"]}},
            "two": {"index": "two", "project": ["name"], "pk": {"field": "pk2", "composite": ["at"]}},
            "three": {"index": "three", "project": "keys_only", "pk": {"field": "pk3", "composite": ["at"]}}}}"#;
    let onetable = r#"{"indexes": {"primary": {"hash": "pk"}}, "queries": {"Old ones": {"limit": 1}},
        "models": {"A": {"pk": {"type": "string", "value": "a#${id}"},
        "id": {"type": "string", "uuid": "uuid"}, "name": {"type": "string", "map": "nm"}}}}"#;
    for (text, from, lines) in [
        (
            electro,
            Source::ElectroDb,
            [
                "name: text optional  # ? called \"nm\" in the table\n",
                "index two key (\"$s$a_1#at_<at>\";) store { name }",
                "index three key (\"$s$a_1#at_<at>\";) store { }",
            ],
        ),
        (
            onetable,
            Source::OneTable,
            [
                "name: text optional  # ? called \"nm\" in the table\n",
                "# ? Queries that are not read: Old ones.\n",
                "id: uuid\n",
            ],
        ),
    ] {
        let model = import("a.json", text, from).unwrap_or_else(|error| panic!("{error}"));
        for line in lines {
            assert!(model.contains(line), "{line}\n{model}");
        }
        assert!(!certified(&model).is_empty(), "{model}");
    }
}

/// Where items of another type have the attribute that an index is by, a column of its own tells which
/// items are in the index.
#[test]
fn a_column_that_other_items_have_is_told() {
    let entity = |name: &str, key: &str, index: &str| {
        format!(
            r#"new Entity({{
              model: {{ entity: "{name}", version: "1", service: "s" }},
              attributes: {{ mail: {{ type: "string" }}, id: {{ type: "string" }} }},
              indexes: {{
                main: {{ pk: {{ field: "pk", template: "{key}" }}, sk: {{ field: "sk", template: "-" }} }},
                {index}
              }},
            }}, {{ table: "all" }});"#
        )
    };
    let by = r#"byMail: { index: "byMail", pk: { field: "mail", template: "${mail}" } }"#;
    for (other, column) in [("B#${mail}", "byMail_pk"), ("B#${id}", "mail")] {
        let text = format!("{}{}", entity("a", "A#${id}", by), entity("b", other, ""));
        let model = import("all.ts", &text, Source::ElectroDb);
        let model = model.unwrap_or_else(|error| panic!("{error}"));
        let created = created(&model);
        assert!(created.contains(&format!("[{{\"AttributeName\":\"{column}\"")), "{created}");
        let told = "? The key of the index byMail is called mail there: requests of `design calls` say byMail_pk.";
        assert_eq!(model.contains(told), column == "byMail_pk", "{model}");
        columns_as_told(&model);
    }
}

/// Maps nest as deep as records may, and have as many values; others are asked about.
#[test]
fn maps_that_are_no_records_are_asked_about() {
    let nested = |depth: usize| {
        let open = r#"{"type": "Object", "required": true, "schema": {"m": "#;
        let leaf = r#"{"type": "string", "required": true}"#;
        format!("{}{leaf}{}", open.repeat(depth), "}}".repeat(depth))
    };
    let wide = |count: usize| {
        let fields: Vec<String> =
            (0..count).map(|at| format!(r#""f{at}": {{"type": "string"}}"#)).collect();
        format!(r#"{{"type": "Object", "schema": {{{}}}}}"#, fields.join(","))
    };
    for (map, wanted) in [
        (nested(8), "m: record { m: record { m: text } }"),
        (nested(9), "# ? m: m: m: m: m: m: m: m: a map (m) in more than 8 others: is it an entity"),
        (wide(64), "f63: text optional }  # an empty one and an absent one are the same here"),
        (wide(65), "f11, …) of more than 64 values: is it an entity"),
        (r#"{"type": "Object"}"#.to_owned(), "map: bytes optional  # ? a map: of what?"),
    ] {
        let text = format!(
            r#"{{"indexes": {{"primary": {{"hash": "pk"}}}}, "models": {{"A": {{
            "pk": {{"type": "string", "value": "a#${{id}}"}}, "id": {{"type": "string"}}, "map": {map}}}}}}}"#
        );
        let model =
            import("a.json", &text, Source::OneTable).unwrap_or_else(|error| panic!("{error}"));
        assert!(model.contains(wanted), "{wanted}\n{model}");
    }
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

/// A projection of OneTable names the columns of its key, and fields that another model has: both are no
/// attributes of this one. A constant that the library puts is there in each row, and asked about.
#[test]
fn projections_and_defaults_are_of_the_model() {
    let text = r#"{"indexes": {"primary": {"hash": "pk", "sort": "sk"},
        "gs1": {"hash": "gs1pk", "sort": "gs1sk", "project": ["gs1pk", "gs1sk", "data", "name"]}},
        "models": {"A": {
        "pk": {"type": "string", "value": "a#${id}"}, "sk": {"type": "string", "value": "a"},
        "gs1pk": {"type": "string", "value": "a"}, "gs1sk": {"type": "string", "value": "a#${id}"},
        "id": {"type": "string"}, "name": {"type": "string"},
        "state": {"type": "string", "default": "open"}, "age": {"type": "number"}}}}"#;
    let model = import("a.json", text, Source::OneTable).unwrap_or_else(|error| panic!("{error}"));
    assert!(model.contains("index gs1 key (\"a\"; \"a#<id>\") store { name }"), "{model}");
    assert!(
        model.contains("state: text  # ? in each row, since the library puts a default"),
        "{model}"
    );
    assert!(model.contains("age: decimal optional"), "{model}");
    let text = r#"{"model": {"entity": "a", "version": "1", "service": "s"},
        "attributes": {"id": {"type": "string"}, "state": {"type": "string", "default": "open"},
        "note": {"type": "string"}},
        "indexes": {"one": {"pk": {"field": "pk", "composite": ["id"]}}}}"#;
    let model = import("a.json", text, Source::ElectroDb).unwrap_or_else(|error| panic!("{error}"));
    assert!(
        model.contains("state: text  # ? in each row, since the library puts a default"),
        "{model}"
    );
    assert!(model.contains("note: text optional"), "{model}");
}
