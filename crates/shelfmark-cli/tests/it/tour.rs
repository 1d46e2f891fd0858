//! The tour, as a person and as a program see it.

use std::collections::BTreeMap;
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
        "proof",
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
                && (other["pattern"] == row["pattern"] || is_proven(other, row))
                && other["plan"] == "right"
                && other["correct"] == true
        });
        assert!(mended, "{row}");
    }
}

/// Whether a row of the proofs shows how the plan that `row` stands for is mended.
fn is_proven(proof: &Value, row: &Value) -> bool {
    let asked = row["proof"].as_str().and_then(|proof| proof.rsplit_once('.'));
    asked.is_some_and(|(_, pattern)| text(proof, "pattern") == format!("proof.{pattern}"))
}

/// The tour, the models and the proofs say the same of the same plan.
#[test]
fn one_plan_has_one_verdict() {
    let rows = &*TOUR;
    let mut asked = 0;
    for row in rows.iter().filter(|row| !text(row, "pattern").starts_with("proof.")) {
        let Some(proof) = row["proof"].as_str() else { continue };
        asked += 1;
        let same = rows.iter().filter(|other| {
            other["model"] == row["model"] && other["proof"] == proof && *other != row
        });
        for other in same {
            assert_eq!(other["correct"], row["correct"], "{row}\n{other}");
        }
        // And as the modeller says it, asked by itself.
        let model = format!(
            "{}/../../models/seeds/{}.shelf",
            env!("CARGO_MANIFEST_DIR"),
            text(row, "model")
        );
        let status = PROVEN.get(&(model, proof.to_owned())).map(String::as_str);
        let proven = matches!(status, Some("certified" | "multi"));
        assert_eq!(row["correct"], proven, "{status:?}: {row}");
    }
    assert!(asked >= 30, "{asked} plans stand in the models too");
    // What the documents publish and the models refuse is told as wrong, not left out.
    for (model, pattern, published) in [
        ("reddit", "comments of a post", true),
        ("publication", "metadata", false),
        ("publication", "titles", true),
        ("publication", "tags", true),
        ("blog", "posts of an author", true),
        ("blog", "newest of an author", false),
        ("openchat", "getChatsForUser", true),
        ("twissandra", "friends of a user", false),
    ] {
        let own = rows.iter().find(|row| {
            text(row, "model") == model
                && text(row, "pattern") == pattern
                && text(row, "plan") == "published"
        });
        let own = own.unwrap_or_else(|| panic!("{model}: {pattern}"));
        assert_eq!(own["correct"], published, "{own}");
        assert!(own["proof"].is_string(), "{own}");
    }
}

/// The status of each plan of the models: by the model's file and `schema.pattern`.
static PROVEN: LazyLock<BTreeMap<(String, String), String>> = LazyLock::new(|| {
    let mut statuses = BTreeMap::new();
    for name in
        ["openchat", "reddit", "publication", "blog", "twissandra", "followers", "phonebook"]
    {
        let path = format!("{}/../../models/seeds/{name}.shelf", env!("CARGO_MANIFEST_DIR"));
        let output = shelfmark(&["design", "prove", &path, "--format", "json"]);
        let proofs: Value = serde_json::from_str(&stdout(&output)).unwrap();
        for proof in proofs.as_array().unwrap() {
            let plan = format!("{}.{}", text(proof, "schema"), text(proof, "pattern"));
            statuses.insert((path.clone(), plan), text(proof, "status").to_owned());
        }
    }
    statuses
});

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
    // The right plans come first, whatever the order they are written in below.
    let lines = lines
        .iter()
        .filter(|line| line.0 == "right")
        .chain(lines.iter().filter(|line| line.0 != "right"));
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
    shows("followers", "followers by name", &[("right", Right, 10, 10)]);
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
    let bearers = phone.first().unwrap()["rows_returned"].as_u64().unwrap();
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
    let of_an_instant = "right on this data, not on all: the key of FRIEND (user, at) does not \
                         determine the Follow, so two of them are one row";
    shows("twissandra", "friends of a user", &[("published", Wrong(of_an_instant), 8, 8)]);
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
fn what_is_printed_fits_names_its_source_and_adds_up() {
    let output = shelfmark(&["tour"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let printed = stdout(&output);
    for line in printed.lines() {
        // A word that is longer than a line stays whole.
        let words = line.split_whitespace().map(|word| word.chars().count()).max().unwrap_or(0);
        assert!(line.chars().count() <= 100 || words > 60, "{line}");
    }
    for who in ["arkMeta", "Edward Huang", "Unison Cloud", "Bright Zheng, 2012", "Persian"] {
        assert!(printed.contains(who), "{who}");
    }
    // Within a question the right plan is first.
    let mut published = false;
    for line in printed.lines() {
        if line.starts_with("  ") && !line.starts_with("   ") {
            published = false;
        }
        published |= line.contains("as published") && line.starts_with("    ");
        let right = line.starts_with("    ✓ right ");
        assert!(!(right && published), "{line}");
    }
    let totals = printed.split(" questions were answered by ").nth(1).unwrap();
    let numbers: Vec<usize> = totals
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|word| word.parse().ok())
        .take(5)
        .collect();
    let [plans, published, right, wrong, ours] = numbers[..] else { panic!("{totals}") };
    assert_eq!((plans, published), (published + ours, right + wrong), "{totals}");
    assert_eq!(plans, TOUR.len());
}

#[test]
fn each_proof_has_its_own_time() {
    let proofs = TOUR.iter().filter(|row| text(row, "pattern").starts_with("proof."));
    let mut times = BTreeMap::<&str, Vec<f64>>::new();
    for row in proofs {
        times.entry(text(row, "model")).or_default().push(row["ms"].as_f64().unwrap());
    }
    for (model, times) in times {
        let first = times[0];
        assert!(times.iter().any(|time| (time - first).abs() > 1e-6), "{model}: {times:?}");
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
