//! Models: findings, proofs, pictures, plans, requests that run, and tables that are created from them.

use serde_json::{Value, json};

use crate::stage::{Stage, text};

fn starter(stage: &Stage) -> String {
    let answer = stage.done("/models/starter", &json!({}));
    answer["text"].as_str().unwrap().to_owned()
}

/// Returns the starter with a schema derived for a target in place of its own.
fn planned(stage: &Stage, target: &str) -> String {
    let plan = stage.done("/models/plan", &json!({ "text": starter(stage), "target": target }));
    plan["whole"].as_str().unwrap().to_owned()
}

fn html(answer: &Value) -> &str {
    answer["html"].as_str().unwrap()
}

#[test]
fn a_model_is_checked_while_it_is_typed() {
    let stage = Stage::new();
    let model = starter(&stage);
    let told = stage.done("/models/check", &json!({ "text": model }));
    assert_eq!(told["ok"], true, "{told}");
    assert_eq!(told["schemas"], json!(["first"]));
    let broken = model.replace("entity Author {", "entity Author\nkey {");
    let told = stage.done("/models/check", &json!({ "text": broken }));
    assert_eq!(told["ok"], false);
    assert!(told["line"].as_u64().unwrap() > 3, "{told}");
    let hostile = stage.done("/models/check", &json!({ "text": "<script>alert(1)</script>" }));
    assert!(
        html(&hostile).contains("&lt;script&gt;") && !html(&hostile).contains("<script>"),
        "{hostile}"
    );
    assert_eq!(stage.post("/models/proofs", &json!({ "text": broken })).status, 400);
    assert_eq!(stage.post("/models/nothing", &json!({ "text": model })).status, 404);
    assert_eq!(stage.get("/models").status, 200);
}

#[test]
fn a_model_is_proven_drawn_and_formatted() {
    let stage = Stage::new();
    let model = starter(&stage);
    let proofs = stage.done("/models/proofs", &json!({ "text": model }));
    assert!(html(&proofs).contains("certified"), "{proofs}");
    let drawn = stage.done("/models/pictures", &json!({ "text": model }));
    let pictures = drawn["pictures"].as_array().unwrap();
    assert_eq!(pictures.len(), 4);
    for picture in pictures {
        roxmltree::Document::parse(picture["svg"].as_str().unwrap()).unwrap();
    }
    let formatted = stage.done("/models/format", &json!({ "text": model }));
    assert_eq!(formatted["text"].as_str().unwrap(), model);
}

#[test]
fn a_plan_becomes_tables_and_its_requests_run() {
    for (target, keyspace) in [("dynamodb", "dynamodb"), ("cql", "model")] {
        let stage = Stage::new();
        let model = planned(&stage, target);
        let body = json!({ "text": model, "scale": 12 });
        let applied = stage.done("/models/apply", &body);
        assert!(html(&applied).contains(&format!("/tables/{keyspace}/")), "{target}: {applied}");
        assert!(!html(&applied).contains("The sample ended"), "{target}: {applied}");
        let again = stage.post("/models/apply", &body);
        assert_eq!(again.status, 409, "{target}: {}", text(&again));
        let calls = stage.done("/models/calls", &json!({ "text": model }));
        let links: Vec<String> = html(&calls)
            .split("data-ask=\"\" href=\"")
            .skip(1)
            .map(|rest| rest.split('"').next().unwrap().replace("&amp;", "&"))
            .collect();
        assert!(links.len() >= 3, "{target}: {calls}");
        for link in links {
            let page = stage.page(&link);
            let body = page.split("data-focus=\"filter\">").nth(1).unwrap();
            let request = body.split("</textarea>").next().unwrap();
            let request = request
                .replace("&quot;", "\"")
                .replace("&gt;", ">")
                .replace("&lt;", "<")
                .replace("&amp;", "&");
            let operation =
                link.split("operation=").nth(1).map(|rest| rest.split('&').next().unwrap());
            let answer = stage.done("/ask/run", &json!({
                "language": target, "operation": operation, "text": request.trim_start(), "keyspace": "model",
            }));
            // A condition may not hold for the drawn values; everything else must.
            let is_fine = answer["ok"] == true || html(&answer).contains("Conditional");
            assert!(is_fine, "{target}: {request}: {}", html(&answer));
        }
    }
}
