//! Requests of every certified plan of the seeds and the reference models, as golden output: read
//! what changed before it is committed. Beside it, what a target cannot be asked and its neighbour.

#![expect(
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "the models and the golden file are there, or the test fails"
)]

use shelfmark_design::Document;

use crate::root;

/// One line for what makes the tables and for each request.
fn lines(name: &str, out: &mut String) {
    let path = root().join("../../models").join(format!("{name}.shelf"));
    let text = std::fs::read_to_string(path).expect("the model is there");
    let document = Document::parse(name, &text).unwrap_or_else(|report| panic!("{report}"));
    for schema in document.schemas() {
        out.push_str(&format!("## {name} {schema}\n"));
        let said = match document.calls(&schema, None) {
            Ok(said) => said,
            Err(why) => {
                out.push_str(&format!("no tables: {why}\n"));
                continue;
            }
        };
        for one in &said.create {
            out.push_str(&format!(
                "{}\n",
                one.as_str().map_or_else(|| one.to_string(), str::to_owned)
            ));
        }
        for call in &said.calls {
            let json = call.json();
            let body = json.pointer("/request/statement").and_then(|one| one.as_str());
            let body = body.map_or_else(|| call.request.to_string(), str::to_owned);
            let inputs = call.inputs.join(", ");
            let (pattern, step, operation) = (&call.pattern, call.step, &call.operation);
            out.push_str(&format!("{pattern}.{step} ({inputs}) {operation} {body}"));
            for (name, value) in &call.beside {
                out.push_str(&format!(" | {name} {value}"));
            }
            if let Some(values) = call.request.get("values") {
                out.push_str(&format!(" | values {values}"));
            }
            out.push('\n');
        }
        for (pattern, why) in &said.left_out {
            out.push_str(&format!("{pattern} is left out: {why}\n"));
        }
    }
}

#[test]
fn requests_of_the_models() {
    let mut out = String::new();
    for folder in ["seeds", "reference"] {
        let files = std::fs::read_dir(root().join("../../models").join(folder)).expect("models");
        let mut names: Vec<String> = files
            .flatten()
            .filter_map(|file| Some(file.path().file_stem()?.to_str()?.to_owned()))
            .collect();
        names.sort();
        names.iter().for_each(|name| lines(&format!("{folder}/{name}"), &mut out));
    }
    let path = root().join("tests/golden/calls.txt");
    if std::env::var_os("SHELFMARK_BLESS").is_some() {
        std::fs::write(&path, &out).expect("the golden file can be written");
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(golden, out, "the golden requests differ");
}
