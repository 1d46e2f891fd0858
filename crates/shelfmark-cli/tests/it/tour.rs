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
    let seven =
        ["openchat", "reddit", "publication", "blog", "twissandra", "followers", "phonebook"];
    for model in seven {
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
fn followers_are_listed_and_leave() {
    let face = |row: &&Value| text(row, "model") == "followers";
    assert!(TOUR.iter().filter(face).all(|row| row["face"] == "cql"));
    shows("followers", "followers of a user", &[("published", Right, 2000, 2000)]);
    shows("followers", "does one follow another", &[("published", Right, 1, 1)]);
    shows("followers", "newest followers", &[("published", Right, 10, 10)]);
    shows("followers", "followers of a time", &[("published", Right, 200, 200)]);
    shows("followers", "followers by name", &[("published", Right, 10, 10)]);
    let refused = "PRIMARY KEY column \"f_user_id\" cannot be restricted as preceding column \
                   \"f_time\" is not restricted";
    shows(
        "followers",
        "unfollow",
        &[
            ("published", Wrong(refused), 1, 1),
            // Every follower but the one that has left, and the two rows deleted.
            ("published", Right, 2002, 3),
            // The time, and the two rows deleted.
            ("right", Right, 3, 3),
            ("right", Right, 1, 1),
            // An entry of the index, its row, and the row deleted.
            ("right", Right, 3, 3),
        ],
    );
    shows(
        "followers",
        "two followers in one instant",
        &[("published", Wrong("1 of 2 rows are missing"), 1, 1), ("right", Right, 2, 2)],
    );
    shows(
        "followers",
        "one of two leaves",
        &[("published", Wrong("1 of 1 rows are missing"), 2, 2), ("right", Right, 1, 1)],
    );
}

#[test]
fn the_phonebook_finds_everybody() {
    let filtering = "refused: Cannot execute this query as it might involve data filtering and \
                     thus may have unpredictable performance. If you want to execute this query \
                     despite the performance unpredictability, use ALLOW FILTERING";
    let phone: Vec<&Value> =
        TOUR.iter().filter(|row| text(row, "pattern") == "phone of a name").collect();
    let bearers = phone.last().unwrap()["rows_returned"].as_u64().unwrap();
    assert!(bearers >= 2, "{phone:#?}");
    shows(
        "phonebook",
        "phone of a name",
        &[
            ("published", Wrong(filtering), 0, 0),
            ("published", Right, 4000, bearers),
            ("published", Wrong("are missing"), 1, 1),
            ("right", Right, bearers, bearers),
        ],
    );
    shows("phonebook", "by one part of the key", &[("published", Right, 80, 80)]);
    shows("phonebook", "by two parts of the key", &[("published", Right, 20, 20)]);
    shows("phonebook", "by three parts of the key", &[("published", Right, 2, 2)]);
    shows(
        "phonebook",
        "by half of the partition key",
        &[("published", Wrong(filtering), 0, 0), ("right", Right, 800, 800)],
    );
    shows(
        "phonebook",
        "by the second without the first",
        &[
            (
                "published",
                Wrong(
                    "refused: PRIMARY KEY column \"k_clust_two\" cannot be restricted as \
                     preceding column \"k_clust_one\" is not restricted",
                ),
                0,
                0,
            ),
            ("right", Right, 8, 8),
        ],
    );
    shows(
        "phonebook",
        "behind a range",
        &[
            (
                "published",
                Wrong(
                    "refused: Clustering column \"k_clust_two\" cannot be restricted (preceding \
                     column \"k_clust_one\" is restricted by a non-EQ relation)",
                ),
                0,
                0,
            ),
            ("right", Right, 4, 4),
        ],
    );
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
fn what_is_refused_stands_beside_what_is_proven() {
    let proofs: Vec<&Value> =
        TOUR.iter().filter(|row| text(row, "pattern").starts_with("proof.")).collect();
    for (model, pattern) in [("followers", "by_time"), ("phonebook", "by_name"), ("blog", "newest")]
    {
        let pattern = format!("proof.{pattern}");
        let of = |plan| {
            let own = |row: &&&Value| {
                text(row, "model") == model
                    && text(row, "pattern") == pattern
                    && text(row, "plan") == plan
            };
            proofs.iter().filter(own).collect::<Vec<_>>()
        };
        let (wrong, right) = (of("published"), of("right"));
        assert!(!wrong.is_empty() && right.len() == 1, "{pattern}");
        for row in wrong {
            assert_eq!(row["correct"], false, "{row}");
            assert!(text(row, "note").contains("the plan gave: "), "{row}");
        }
        assert_eq!(right[0]["correct"], true, "{}", right[0]);
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
