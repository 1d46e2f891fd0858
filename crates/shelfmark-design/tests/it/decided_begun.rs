//! Counters that begin to be when they are added to (`increment … or insert`): each model stands beside its
//! nearest neighbour.

use shelfmark_design::{Document, Status};

use super::together::statuses;

fn document(text: &str) -> Document {
    Document::parse("begun", text).unwrap_or_else(|report| panic!("{report}"))
}

const VIEWS: &str = r#"
entity Views { page: text(min 1, max 50)  day: date  n: int  key (page, day) }
read day_(p, d) = Views where page = p and day = d unique
read days(p) = Views where page = p order by day desc limit 30
write view(p, d) = increment Views(page p, day d) set n by 1 or insert
write views(p, d, k) = increment Views(page p, day d) set n by k or insert
"#;

/// Returns the requests of one pattern, as text.
fn requests(text: &str, schema: &str, pattern: &str) -> Vec<String> {
    let said = document(text).calls(schema, Some(pattern)).unwrap_or_else(|why| panic!("{why}"));
    let all = said.create.iter().map(ToString::to_string);
    let calls = said.calls.iter().map(|call| call.json().to_string());
    all.chain(calls).collect()
}

#[test]
fn a_counter_begins_to_be_on_every_target() {
    for target in ["cql", "dynamodb", "shelfmark", "ordered", "candb"] {
        let plan = document(VIEWS).plan(target, "planned").unwrap_or_else(|why| panic!("{why}"));
        assert!(!plan.schema.contains("has no plan"), "{target}: {}", plan.schema);
        let whole = document(VIEWS).with_only(&plan.schema);
        let proofs = document(&whole).prove();
        for one in &proofs {
            let held = matches!(one.status, Status::Certified | Status::Multi);
            assert!(held, "{target} {}: {}\n{}", one.pattern, one.reason, plan.schema);
            let checked = document(&whole).verify(one);
            assert!(checked.is_ok(), "{target} {}: {checked:?}", one.pattern);
        }
    }
}

/// In CQL it is a table of counters, whose UPDATE makes the row; in DynamoDB an ADD without a condition.
#[test]
fn the_request_has_no_condition() {
    let text = format!(
        "{VIEWS}schema c target cql {{ table views from Views key (page; day desc) store all }}
schema d target dynamodb {{ table views from Views key (page; day) store all }}
schema t target dynamodb {{ table views {{ pk text sk text
  row V from Views pk \"V#<page>\" sk \"<day:iso>\" store all }} }}
"
    );
    let found = requests(&text, "c", "view").join("\n");
    assert!(found.contains("n counter"), "{found}");
    assert!(found.contains("UPDATE views SET n = n + 1 WHERE page = :p AND day = :d\""), "{found}");
    for schema in ["d", "t"] {
        let found = requests(&text, schema, "view").join("\n");
        assert!(found.contains("ADD") && !found.contains("ConditionExpression"), "{found}");
    }
    // What else the item shows is set with it.
    let found = requests(&text, "t", "view").join("\n");
    assert!(found.contains("SET"), "{found}");
}

/// Rows that would have to be told of what begins to be are refused, as is an entity that other writes set.
#[test]
fn what_begins_to_be_is_told_to_no_other_row() {
    let text = |with: &str| {
        format!(
            r#"
entity Page {{ key id: text(min 1, max 50) }}
entity Views {{ page: Page  day: date  n: int  key (page, day) }}
write view(p, d) = increment Views(page p, day d) set n by 1 or insert
{with}
"#
        )
    };
    let kept = "schema k target shelfmark { table pages from Page key (id;) store { count Views }
  table views from Views key (page; day) store all }
schema n target shelfmark { table pages from Page key (id;) store { id }
  table views from Views key (page; n, day) store all }
schema c target cql { table pages from Page key (id;) store { id }
  table views from Views key (page; day) store all }
";
    let found = statuses_unshown(&text(kept));
    assert_eq!(found, ["k.view refused", "n.view refused", "c.view certified"]);
    let set = "write reset(p, d) = update Views(page p, day d) set n = 0
schema c target cql { table views from Views key (page; day) store all }";
    let found = statuses_unshown(&text(set));
    assert_eq!(found, ["c.view refused", "c.reset certified"]);
}

fn statuses_unshown(text: &str) -> Vec<String> {
    let proofs = document(text).prove();
    proofs
        .iter()
        .map(|one| format!("{}.{} {}", one.schema, one.pattern, one.status.word()))
        .collect()
}

#[test]
fn only_whole_tuples_begin_to_be() {
    let wrong = [
        ("increment Views(page p, day d) set m by 1 or insert", "would not be whole"),
        ("increment Views(page p, day d, n 1) set n by 1, m by 1 or insert", "named by its key"),
        (
            "increment Views(page p, day d) set n by 1, m by 1 or insert if n < 5",
            "nothing to compare",
        ),
        (
            "increment Views(page v.page, day v.day) set n by 1, m by 1 or insert for each Views as v",
            "a loop goes over",
        ),
        (
            "increment Views(page p, day d) set n by 1, m by 1 or insert and increment Views(page q, day d) set n by 1",
            "the only change of its entity",
        ),
    ];
    for (effect, message) in wrong {
        let text = format!(
            "entity Views {{ page: text(min 1, max 9)  day: date  n: int  m: int  key (page, day) }}
write view(p, d) = {effect}\n"
        );
        let text =
            if effect.contains("page q") { text.replace("(p, d)", "(p, d, q)") } else { text };
        let text = if effect.contains("each") { text.replace("(p, d)", "()") } else { text };
        match Document::parse("wrong", &text) {
            Ok(_) => panic!("{effect}: taken"),
            Err(report) => assert!(report.to_string().contains(message), "{effect}: {report}"),
        }
    }
    let found = statuses(&format!(
        "{VIEWS}schema own target shelfmark {{ table views from Views key (page; day desc) store all }}"
    ));
    assert!(found.iter().all(|one| one.ends_with("certified")), "{found:?}");
}
