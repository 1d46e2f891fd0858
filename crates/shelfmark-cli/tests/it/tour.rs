//! The tour, as a person and as a program see it.

use std::sync::LazyLock;

use serde_json::Value;

use crate::process::{shelfmark, stderr, stdout};

/// The whole tour, run once for all tests.
static TOUR: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let output = shelfmark(&["tour", "--json"]);
    assert!(output.status.success(), "{}", stderr(&output));
    serde_json::from_str(&stdout(&output)).unwrap()
});

fn text<'r>(row: &'r Value, name: &str) -> &'r str {
    row[name].as_str().unwrap()
}

#[test]
fn every_right_plan_is_right_and_some_published_ones_are_wrong() {
    let rows = &*TOUR;
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
    for row in rows {
        let names: Vec<&String> = row.as_object().unwrap().keys().collect();
        assert_eq!(names, members, "{row}");
        if text(row, "plan") == "right" {
            assert_eq!(row["correct"], true, "{row}");
        }
    }
    for model in ["openchat", "reddit", "publication", "blog", "twissandra"] {
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
            other["model"] == row["model"]
                && other["pattern"] == row["pattern"]
                && other["plan"] == "right"
                && other["correct"] == true
        });
        assert!(mended, "{row}");
    }
}

/// How a plan answers: right, or a part of what its note says.
enum Told {
    Right,
    Wrong(&'static str),
}
use Told::{Right, Wrong};

/// Plan, what it says of itself, rows read and rows returned.
type Line = (&'static str, Told, u64, u64);

/// What a model shows of a pattern, in order.
#[track_caller]
fn shows(model: &str, pattern: &str, lines: &[Line]) {
    let found: Vec<&Value> = TOUR
        .iter()
        .filter(|row| text(row, "model") == model && text(row, "pattern") == pattern)
        .collect();
    assert_eq!(found.len(), lines.len(), "{model}: {pattern}: {found:#?}");
    for (row, (plan, told, read, returned)) in found.iter().zip(lines) {
        assert_eq!(text(row, "plan"), *plan, "{row}");
        match told {
            Right => assert_eq!(row["correct"], true, "{row}"),
            Wrong(note) => {
                assert_eq!(row["correct"], false, "{row}");
                assert!(text(row, "note").contains(note), "{row}");
            }
        }
        let rows = (row["rows_read"].as_u64().unwrap(), row["rows_returned"].as_u64().unwrap());
        assert_eq!(rows, (*read, *returned), "{row}");
    }
}

#[test]
fn tweets_come_newest_first_and_none_is_lost() {
    let face = |row: &&Value| text(row, "model") == "twissandra";
    assert!(TOUR.iter().filter(face).all(|row| row["face"] == "cassandra-cli"));
    shows("twissandra", "friends of a user", &[("published", Right, 8, 8)]);
    let refused = "refused: No indexed columns present in index clause with operator EQ";
    for pattern in ["users of a day", "tweets of a user"] {
        let right = TOUR.iter().find(|row| row["pattern"] == pattern && row["plan"] == "right");
        let rows = right.unwrap()["rows_returned"].as_u64().unwrap();
        assert!(rows > 5, "{right:?}");
        shows(
            "twissandra",
            pattern,
            &[("published", Wrong(refused), 0, 0), ("right", Right, rows, rows)],
        );
    }
    shows(
        "twissandra",
        "newest of the timeline",
        &[("published", Wrong("10 of 10 rows are missing"), 10, 10), ("right", Right, 10, 10)],
    );
    shows(
        "twissandra",
        "two tweets in one instant",
        &[("published", Wrong("1 of 2 rows are missing"), 1, 1), ("right", Right, 2, 2)],
    );
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
