//! `shelfmark design`: exit codes, machine forms, certificates that are forged.

use serde_json::Value as Json;

use crate::process::{Server, shelfmark, stderr, stdout};

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
    // What a certified write claims beside others stands behind what every certificate has.
    let of_write = [&known[..], &["concurrency"]].concat();
    let (writes, others): (Vec<&Json>, Vec<&Json>) =
        list.iter().partition(|one| one.get("concurrency").is_some());
    assert!(!writes.is_empty() && writes.iter().all(|one| fields(one) == of_write));
    assert!(writes.iter().all(|one| one["concurrency"]["claim"].is_string()));
    assert!(others.iter().all(|one| fields(one) == known));
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

/// Words of `--deny` in any case, several of them, obligations; several models at once.
#[test]
fn what_is_denied_may_be_said_in_several_ways() {
    let (chat, blog) = (model("openchat"), model("blog"));
    let codes: [(&[&str], i32); 8] = [
        (&["check", &chat, "--deny", "k3"], 1),
        (&["check", &chat, "--deny", "x4,K8"], 0),
        (&["check", &chat, "--deny", "X4", "--deny", "Error"], 1),
        (&["check", &chat, &blog, "--deny", "A4"], 1),
        (&["check", &blog, &chat, "--schema", "heading", "--deny", "A4"], 0),
        (&["prove", &chat, "--deny", "O4"], 1),
        (&["prove", &chat, "--schema", "corrected", "--deny", "O4,refused"], 0),
        (&["check", &chat, "no.shelf", "--deny", "K3"], 2),
    ];
    for (arguments, code) in codes {
        let output = shelfmark(&[&["design"], arguments].concat());
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", stderr(&output));
    }
    let both = json(&["design", "check", &chat, &blog, "--format", "json"]);
    for file in [&chat, &blog] {
        assert!(both.iter().any(|finding| finding["file"] == **file), "{file}");
    }
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
    assert_eq!(unknown.status.code(), Some(2));
    assert!(stderr(&unknown).contains("known: published, corrected"), "{}", stderr(&unknown));
}

#[test]
fn calls_are_printed_for_people_and_machines() {
    let file = format!("{}/../../models/reference/battle.shelf", env!("CARGO_MANIFEST_DIR"));
    let text = shelfmark(&["design", "calls", &file, "games_of", "--schema", "corrected"]);
    assert!(stdout(&text).contains("games_of, step 1: Query"), "{}", stderr(&text));
    let list = shelfmark(&["design", "calls", &file, "--schema", "corrected", "--format", "json"]);
    let list: serde_json::Value = serde_json::from_str(&stdout(&list)).unwrap();
    assert_eq!(list["create"][0]["TableName"], "battle");
    let first = &list["calls"][0];
    for field in ["pattern", "step", "kind", "operation", "request", "inputs"] {
        assert!(first.get(field).is_some(), "{field}");
    }
    assert_eq!(first["request"]["Key"]["pk"]["S"]["$text"][1]["$input"], "u");
    for wrong in [
        &["design", "calls", &file, "--format", "json"][..],
        &["design", "calls", &file, "nothing"],
        &["design", "calls", &file, "--schema", "nothing"],
    ] {
        let answer = shelfmark(wrong);
        assert_eq!(answer.status.code(), Some(2), "{wrong:?}");
        assert!(stdout(&answer).is_empty(), "{wrong:?}");
    }
    let sent = ["--through", "dynamodb", "--scale", "3", "--calls", "2"];
    let sent = shelfmark(&[&["design", "confirm", &file][..], &sent].concat());
    assert_eq!(sent.status.code(), Some(0), "{}", stdout(&sent));
    assert!(stdout(&sent).contains("through the DynamoDB face"), "{}", stdout(&sent));
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
        "unshown",
        "calls",
        "calls_not_defined",
        "calls_left_out",
        "races",
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
    assert_eq!(unknown.status.code(), Some(2));
    assert!(stderr(&unknown).contains("known: asked, answered"), "{}", stderr(&unknown));
}

/// What a newcomer mistypes: a short message that names it and what was meant, and never a panic.
#[test]
fn mistakes_are_answered_with_what_was_meant() {
    let file = model("openchat");
    let asked: [(&[&str], &str); 9] = [
        (&["check", &file, "--schema", "headnig"], "did you mean heading?"),
        (&["prove", &file, "--schema", "corected"], "did you mean corrected?"),
        (&["size", &file, "--schema", "nowhere"], "known: heading, prose, corrected"),
        (&["check", &file, "--deny", "eror"], "did you mean error?"),
        (&["prove", &file, "--deny", "refusd"], "did you mean refused?"),
        (&["explain", "K33"], "did you mean K3?"),
        (&["explain", "send_mesage", "--file", &file], "did you mean send_message?"),
        (&["plan", &file, "--target", "dynamo"], "known: shelfmark, dynamodb"),
        (&["prove", &file, "--deny", "certified,O19"], "did you mean O1?"),
    ];
    for (arguments, wanted) in asked {
        let output = shelfmark(&[&["design"], arguments].concat());
        let said = stderr(&output);
        // What is mistyped is not what was denied: a script must be able to tell.
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
        assert!(said.contains(wanted), "{arguments:?}: {said}");
    }
    assert!(shelfmark(&["design", "explain", "k3"]).status.success());
    assert!(shelfmark(&["design", "explain", "O5"]).status.success());
    let refused = [["check", "--save"], ["confirm", "--calls"]];
    for [verb, option] in refused {
        let output = shelfmark(&["design", verb, &file, option, "0"]);
        assert_eq!(output.status.code(), Some(2), "{verb} {option}");
    }
}

/// Whatever a file holds: a message of a few lines, and exit code 2 where a model was wanted.
#[test]
fn files_that_are_no_models_are_refused_in_few_words() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let long = format!("entity A {{ key id: uuid {} }}", "x".repeat(1_000_000));
    let deep =
        format!("read r(a) = A where id = {}a{}", "hash(".repeat(10_000), ")".repeat(10_000));
    let files = [
        folder.path().join("missing.shelf").to_str().unwrap().to_owned(),
        folder.path().to_str().unwrap().to_owned(),
        write("binary.shelf", &[0xFF, 0xFE, 0, 1, 0x80, b'{']),
        write("long.shelf", long.as_bytes()),
        write("deep.shelf", deep.as_bytes()),
        write("brackets.shelf", "[".repeat(10_000).as_bytes()),
        write("braces.shelf", format!("entity A {}", "{".repeat(10_000)).as_bytes()),
        write("large.shelf", &b"# x\n".repeat(2 * 1024 * 1024)),
    ];
    for file in &files {
        for verb in ["check", "prove", "confirm", "plan", "size", "draw"] {
            let output = shelfmark(&["design", verb, file]);
            let said = stderr(&output);
            assert_eq!(output.status.code(), Some(2), "{verb} {file}: {said}");
            assert!(stdout(&output).is_empty(), "{verb} {file}");
            assert!(said.len() < 100_000 && said.contains("error"), "{verb} {file}: {said}");
            let widest = said.lines().map(|line| line.chars().count()).max().unwrap_or(0);
            assert!(widest < 1_000, "{verb} {file}: a line of {widest} characters");
        }
        for arguments in [["import", file], ["verify", file]] {
            let output = shelfmark(&[&["design"], &arguments[..]].concat());
            assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
            assert!(stderr(&output).len() < 2_000, "{arguments:?}");
        }
    }
    let empty = write("empty.shelf", b"");
    for verb in ["check", "prove", "confirm", "size"] {
        let output = shelfmark(&["design", verb, &empty]);
        assert!(output.status.success(), "{verb}: {}", stderr(&output));
        assert!(stderr(&output).contains("has no schema"), "{verb}: {}", stderr(&output));
    }
    assert_eq!(shelfmark(&["design", "plan", &empty]).status.code(), Some(2));
}

#[test]
fn requests_are_sent_to_a_server_and_leave_nothing_there() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_cql(folder.path(), &[]);
    let battle = model("../reference/battle");
    let url = format!("http://{}", server.address);
    let sent = |file: &str, face: &str, endpoint: &str| {
        let small = ["--scale", "3", "--calls", "2", "--through", face, "--endpoint", endpoint];
        shelfmark(&[&["design", "confirm", file][..], &small].concat())
    };
    // Twice: what the first made is gone.
    for _ in 0..2 {
        for (file, face, endpoint) in
            [(&battle, "dynamodb", &url), (&model("followers"), "cql", &server.cql)]
        {
            let output = sent(file, face, endpoint);
            assert_eq!(output.status.code(), Some(0), "{}{}", stdout(&output), stderr(&output));
            assert!(stdout(&output).contains("sent to the server"), "{}", stdout(&output));
        }
    }
    let (_, tables) = server.call("ListTables", "{}");
    assert_eq!(tables, r#"{"TableNames":[]}"#);
    // A table of that name that is somebody else's stays as it is.
    server.create_table("battle");
    let output = sent(&battle, "dynamodb", &url);
    assert_ne!(output.status.code(), Some(0));
    assert!(stderr(&output).contains("ResourceInUseException"), "{}", stderr(&output));
    let (_, tables) = server.call("ListTables", "{}");
    assert_eq!(tables, r#"{"TableNames":["battle"]}"#);
    for (face, endpoint, said) in [
        ("dynamodb", "https://localhost:1", "--tls-ca"),
        ("dynamodb", "ftp://localhost", "http://"),
        ("dynamodb", "http://localhost/path", "without a path"),
        ("dynamodb", "http://127.0.0.1:1", "127.0.0.1:1"),
        ("cql", "http://127.0.0.1:1", "cql://"),
    ] {
        let output = sent(&battle, face, endpoint);
        assert_ne!(output.status.code(), Some(0), "{endpoint}");
        assert!(stderr(&output).contains(said), "{endpoint}: {}", stderr(&output));
    }
}
