//! `shelfmark design`: exit codes, machine forms, certificates that are forged.

use serde_json::Value as Json;

use crate::process::{shelfmark, stderr, stdout};

fn model(name: &str) -> String {
    format!("{}/../../models/seeds/{name}.shelf", env!("CARGO_MANIFEST_DIR"))
}

fn json(arguments: &[&str]) -> Vec<Json> {
    let output = shelfmark(arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    serde_json::from_str::<Json>(&stdout(&output)).unwrap().as_array().unwrap().clone()
}

fn fields(value: &Json) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn findings_have_the_fixed_form() {
    let findings = json(&["design", "check", &model("openchat"), "--format", "json"]);
    let known = ["id", "severity", "schema", "file", "line", "message", "reproducer"];
    assert!(findings.iter().all(|finding| fields(finding) == known));
    assert!(
        findings.iter().any(|finding| finding["id"] == "K3" && !finding["reproducer"].is_null())
    );
}

#[test]
fn certificates_have_the_fixed_form() {
    let list = json(&["design", "prove", &model("phonebook"), "--format", "json"]);
    let known =
        ["schema", "pattern", "status", "obligation", "ranges", "steps", "witness", "reason"];
    assert!(list.iter().all(|one| fields(one) == known));
    let refused: Vec<&Json> = list.iter().filter(|one| one["status"] == "refused").collect();
    assert!(!refused.is_empty());
    assert!(refused.iter().all(|one| one["witness"]["kind"].is_string()));
}

#[test]
fn exit_codes_say_what_was_denied() {
    let file = model("reddit");
    assert_eq!(shelfmark(&["design", "check", &file]).status.code(), Some(0));
    assert_eq!(shelfmark(&["design", "check", &file, "--deny", "error"]).status.code(), Some(1));
    let corrected = ["design", "check", &file, "--schema", "corrected", "--deny", "error"];
    assert_eq!(shelfmark(&corrected).status.code(), Some(0));
    assert_eq!(shelfmark(&["design", "prove", &file, "--deny", "refused"]).status.code(), Some(1));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.shelf");
    std::fs::write(&path, "entity A { key id: uuidd }\n").unwrap();
    let bad = shelfmark(&["design", "check", path.to_str().unwrap()]);
    assert_eq!(bad.status.code(), Some(2));
    assert!(stderr(&bad).contains("did you mean `uuid`?"), "{}", stderr(&bad));
}

#[test]
fn a_forged_certificate_is_not_believed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("certificates.json");
    let save = path.to_str().unwrap();
    let proved = shelfmark(&["design", "prove", &model("phonebook"), "--save", save]);
    assert!(proved.status.success(), "{}", stderr(&proved));
    assert!(shelfmark(&["design", "verify", save]).status.success());
    let text = std::fs::read_to_string(&path).unwrap();
    let mut bundle: Json = serde_json::from_str(&text).unwrap();
    for one in bundle["certificates"].as_array_mut().unwrap() {
        one["status"] = Json::from("certified");
        for obligation in one["obligations"].as_array_mut().unwrap() {
            obligation["holds"] = Json::from(true);
        }
    }
    std::fs::write(&path, bundle.to_string()).unwrap();
    let verified = shelfmark(&["design", "verify", save]);
    assert!(!verified.status.success());
    assert!(stdout(&verified).contains("WRONG published.by_unit"), "{}", stdout(&verified));
}

#[test]
fn the_starter_is_clean_and_lints_are_explained() {
    let starter = stdout(&shelfmark(&["design", "new"]));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new.shelf");
    std::fs::write(&path, starter).unwrap();
    let path = path.to_str().unwrap();
    assert!(shelfmark(&["design", "check", path, "--deny", "error"]).status.success());
    assert!(shelfmark(&["design", "prove", path, "--deny", "refused"]).status.success());
    assert!(shelfmark(&["design", "fmt", path, "--check"]).status.success());
    assert!(stdout(&shelfmark(&["design", "explain", "K3"])).contains("empty for every input"));
    assert!(!shelfmark(&["design", "explain", "Z9"]).status.success());
}

#[test]
fn pictures_go_where_they_are_sent() {
    let file = model("phonebook");
    let picture = shelfmark(&["design", "draw", &file, "--view", "chebotko"]);
    assert!(picture.status.success(), "{}", stderr(&picture));
    assert!(stdout(&picture).starts_with("<svg xmlns="), "{}", stdout(&picture));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.html");
    let page = shelfmark(&["design", "draw", &file, "--page", "-o", path.to_str().unwrap()]);
    assert!(page.status.success() && stdout(&page).is_empty(), "{}", stderr(&page));
    assert!(std::fs::read_to_string(&path).unwrap().starts_with("<!DOCTYPE html>"));
    let unknown = shelfmark(&["design", "draw", &file, "--schema", "nothing"]);
    assert_eq!(unknown.status.code(), Some(1));
    assert!(stderr(&unknown).contains("known: published, corrected"), "{}", stderr(&unknown));
}

#[test]
fn confirming_says_by_its_exit_code_how_it_went() {
    let file = model("followers");
    let small = ["design", "confirm", &file, "--scale", "3", "--calls", "2"];
    let confirmed = shelfmark(&small);
    assert_eq!(confirmed.status.code(), Some(0), "{}", stdout(&confirmed));
    assert!(stdout(&confirmed).contains("the engine did what the proofs say"));
    let list = json(&[&small[..], &["--schema", "corrected", "--format", "json"]].concat());
    let known = [
        "schema",
        "pattern",
        "write",
        "status",
        "ok",
        "calls",
        "rows_read",
        "rows_returned",
        "ranges",
        "note",
        "shown",
    ];
    assert!(list.iter().all(|one| fields(one) == known && one["schema"] == "corrected"));
    assert!(list.iter().all(|one| one["ok"] == true && one["calls"].as_u64() > Some(0)));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.shelf");
    std::fs::write(&path, "entity A { key id: uuidd }\n").unwrap();
    let bad = shelfmark(&["design", "confirm", path.to_str().unwrap()]);
    assert_eq!(bad.status.code(), Some(2));
    let unknown = shelfmark(&["design", "confirm", &file, "--schema", "nowhere"]);
    assert_eq!(unknown.status.code(), Some(1));
    assert!(stderr(&unknown).contains("known: asked, answered"), "{}", stderr(&unknown));
}
