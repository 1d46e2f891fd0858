//! The tour, as a person and as a program see it.

use crate::process::{shelfmark, stderr, stdout};

#[test]
fn every_right_plan_is_right_and_some_published_ones_are_wrong() {
    let output = shelfmark(&["tour", "--json"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let rows: Vec<serde_json::Value> = serde_json::from_str(&stdout(&output)).unwrap();
    let text = |row: &serde_json::Value, name: &str| row[name].as_str().unwrap().to_owned();
    let members = [
        "model",
        "face",
        "pattern",
        "plan",
        "question",
        "range",
        "rows_read",
        "rows_returned",
        "ms",
        "correct",
        "note",
    ];
    for row in &rows {
        let names: Vec<&String> = row.as_object().unwrap().keys().collect();
        assert_eq!(names, members, "{row}");
        if text(row, "plan") == "right" {
            assert_eq!(row["correct"], true, "{row}");
        }
    }
    for model in ["openchat", "reddit", "publication", "blog"] {
        let wrong = rows.iter().any(|row| {
            text(row, "model") == model
                && text(row, "plan") == "published"
                && row["correct"] == false
        });
        assert!(wrong, "{model}: no published plan is wrong");
    }
    // What is wrong has a right plan beside it.
    for row in rows.iter().filter(|row| row["correct"] == false) {
        let mended = rows.iter().any(|other| {
            other["pattern"] == row["pattern"]
                && other["plan"] == "right"
                && other["correct"] == true
        });
        assert!(mended, "{row}");
    }
}

#[test]
fn a_kept_tour_says_how_to_look_further() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("kept");
    let data = data.to_str().unwrap();
    let output = shelfmark(&["tour", "--model", "publication", "--data", data]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(!text.contains('\u{1b}'), "a pipe gets plain text");
    assert!(text.contains(&format!("shelfmark serve --data {data}")), "{text}");
    assert!(text.contains("aws dynamodb query"), "{text}");
    let tables = stdout(&shelfmark(&["tables", "--data", data]));
    assert!(tables.contains("publication_gsi"), "{tables}");
    let again = shelfmark(&["tour", "--data", data]);
    assert!(stderr(&again).contains("not empty"), "{}", stderr(&again));
}
