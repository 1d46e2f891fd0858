//! The list of tools: names, words, the form of their arguments, and what each runs.

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value as Json, json};

use crate::arguments::Arguments;
use crate::server::Settings;
use crate::{data, model};

/// A tool, before it is worded for the protocol.
struct Spec {
    name: &'static str,
    words: &'static str,
    /// The properties of its arguments, and those that must be there.
    arguments: fn() -> (Json, &'static [&'static str]),
    /// True if it needs a store.
    on_store: bool,
    /// True if it may change the store where that is allowed.
    writes: bool,
}

fn text(description: &str) -> Json {
    json!({ "type": "string", "description": description })
}

fn of_model() -> Json {
    text("The whole text of the model (.shelf).")
}

const SPECS: [Spec; 12] = [
    Spec {
        name: "language",
        words: "Describes the language of models in one page, with an example. Read it before you write a model.",
        arguments: || (json!({}), &[]),
        on_store: false,
        writes: false,
    },
    Spec {
        name: "check",
        words: "Looks for defects in a model: each finding names a lint, the place and what to do. A text that does not parse is answered with the errors and their places.",
        arguments: || (json!({ "model": of_model() }), &["model"]),
        on_store: false,
        writes: false,
    },
    Spec {
        name: "prove",
        words: "Proves each access pattern of a model in each of its schemas: certified (one complete, ordered key range, or the calls stated), or refused with the obligation that fails, the reason, and a witness: a state of the data on which the schema answers wrongly.",
        arguments: || {
            (json!({ "model": of_model(), "schema": text("Only this schema.") }), &["model"])
        },
        on_store: false,
        writes: false,
    },
    Spec {
        name: "plan",
        words: "Derives a schema from the patterns of a model, chosen by cost from rates, counts and sizes, says what each choice costs, and proves it. Append the schema to the model to keep it.",
        arguments: || {
            let target = json!({
                "type": "string",
                "enum": ["shelfmark", "dynamodb", "cql", "candb", "ordered"],
            });
            let properties = json!({
                "model": of_model(), "target": target, "name": text("The name of the new schema."),
            });
            (properties, &["model", "target"])
        },
        on_store: false,
        writes: false,
    },
    Spec {
        name: "compare",
        words: "Compares a schema of a DynamoDB model with the one that would be planned, pattern by pattern, in cost.",
        arguments: || {
            let properties =
                json!({ "model": of_model(), "schema": text("The schema to compare.") });
            (properties, &["model", "schema"])
        },
        on_store: false,
        writes: false,
    },
    Spec {
        name: "calls",
        words: "Returns what creates the tables of a schema, and for each certified pattern the requests that an application sends: JSON bodies for DynamoDB, statements with markers for CQL.",
        arguments: || {
            let properties = json!({
                "model": of_model(),
                "schema": text("The schema; needed where the model has several."),
                "pattern": text("Only this pattern."),
            });
            (properties, &["model"])
        },
        on_store: false,
        writes: false,
    },
    Spec {
        name: "explain",
        words: "Explains a lint by its id (such as W1): why it matters and what to do; or, with a model, how one of its patterns is served.",
        arguments: || {
            let properties =
                json!({ "what": text("A lint's id or a pattern's name."), "model": of_model() });
            (properties, &["what"])
        },
        on_store: false,
        writes: false,
    },
    Spec {
        name: "confirm",
        words: "Runs the plans of a model on an engine in memory, over random consistent data, against brute force: answers, rows read and key ranges. With through = dynamodb it sends the printed requests through that API.",
        arguments: || {
            let properties = json!({
                "model": of_model(),
                "schema": text("Only this schema."),
                "through": { "type": "string", "enum": ["dynamodb"] },
                "seed": { "type": "integer", "minimum": 0 },
                "calls": { "type": "integer", "minimum": 1, "maximum": 50 },
            });
            (properties, &["model"])
        },
        on_store: false,
        writes: false,
    },
    Spec {
        name: "size",
        words: "Says how large the tables and partitions of a model become, from its counts and fan-outs, and which grow without bound.",
        arguments: || {
            (json!({ "model": of_model(), "schema": text("Only this schema.") }), &["model"])
        },
        on_store: false,
        writes: false,
    },
    Spec {
        name: "tables",
        words: "Lists the tables of the store, of every API, with partition key, sort key and indexes.",
        arguments: || (json!({}), &[]),
        on_store: true,
        writes: false,
    },
    Spec {
        name: "dynamodb",
        words: "Runs an operation of DynamoDB (GetItem, Query, Scan, DescribeTable, ExecuteStatement with SELECT, …) on the store, and says which key ranges were read and how many rows.",
        arguments: || {
            let request =
                json!({ "type": "object", "description": "The request as DynamoDB's JSON." });
            (
                json!({ "operation": text("Such as Query."), "request": request }),
                &["operation", "request"],
            )
        },
        on_store: true,
        writes: true,
    },
    Spec {
        name: "cql",
        words: "Runs a statement of CQL (SELECT, DESCRIBE) on the store.",
        arguments: || (json!({ "statement": text("One statement.") }), &["statement"]),
        on_store: true,
        writes: true,
    },
];

/// Returns the tools that a server with these settings offers.
pub(crate) fn list(settings: &Settings) -> Vec<Tool> {
    let offered = SPECS.iter().filter(|spec| settings.store.is_some() || !spec.on_store);
    offered.map(|spec| tool(spec, settings)).collect()
}

fn tool(spec: &Spec, settings: &Settings) -> Tool {
    let (properties, required) = (spec.arguments)();
    let schema = json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    let Json::Object(schema) = schema else {
        return Tool::new(spec.name, spec.words, JsonObject::new());
    };
    let reads = !(spec.writes && settings.allow_writes);
    let annotations = ToolAnnotations::new().read_only(reads).open_world(false);
    Tool::new(spec.name, spec.words, schema).with_annotations(annotations)
}

/// Runs a tool. `None` if there is none of this name; an error is for the model to read.
pub(crate) fn run(
    settings: &Settings,
    name: &str,
    arguments: &Arguments,
) -> Option<Result<Json, String>> {
    let store = settings.store.as_deref();
    let allow_writes = settings.allow_writes;
    Some(match (name, store) {
        ("language", _) => Ok(model::language()),
        ("check", _) => model::check(arguments),
        ("prove", _) => model::prove(arguments),
        ("plan", _) => model::plan(arguments),
        ("compare", _) => model::compare(arguments),
        ("calls", _) => model::calls(arguments),
        ("explain", _) => model::explain(arguments),
        ("confirm", _) => model::run(arguments),
        ("size", _) => model::size(arguments),
        ("tables", Some(store)) => data::tables(store),
        ("dynamodb", Some(store)) => data::dynamodb(store, arguments, allow_writes),
        ("cql", Some(store)) => data::cql(store, arguments, allow_writes),
        _ => return None,
    })
}
