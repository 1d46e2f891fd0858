//! Indexes that were decided wrongly once: whose they are, what they are asked by, how fresh they are.
//! Each model stands beside its nearest neighbour, which is decided the other way.

use super::together::statuses;
use shelfmark_design::Document;

#[test]
fn an_index_is_asked_by_its_own_columns() {
    let of = |target: &str| {
        statuses(&format!(
            r#"
entity A {{ key id: uuid  u: uuid  at: timestamp }}
read newest(u) = A where u = u order by at desc
read one(u, i) = A where u = u and id = i
schema s target {target} {{
  table tab from A key (id;) store all  index by_u key (u; at)
  serve newest(u) by query by_u (u) desc
}}
schema named target {target} {{
  table tab from A key (id;) store all  index by_u key (u;)
  serve one(u, i) by query by_u (u, i)
}}
"#
        ))
    };
    let shelfmark = of("shelfmark");
    assert_eq!(shelfmark.get(3).map(String::as_str), Some("named.one certified"), "{shelfmark:?}");
    let dynamodb = of("dynamodb");
    assert_eq!(dynamodb.first().map(String::as_str), Some("s.newest certified"), "{dynamodb:?}");
    assert_eq!(dynamodb.get(3).map(String::as_str), Some("named.one refused"), "{dynamodb:?}");
}

/// What two tables share is no index: no query of a store goes through both.
#[test]
fn an_index_is_of_one_table() {
    let model = |tables: &str| {
        format!(
            "entity A {{ key id: uuid  g: uuid  n: int }}\n\
             entity B {{ key id: uuid  g: uuid  n: int }}\n\
             read both(g) = A + B where g = g order by n\n\
             schema s target dynamodb {{ {tables} serve both(g) by query GSI1 (g) }}"
        )
    };
    let of_two = model(
        "table ta from A key (id;) store all index GSI1 key (g; n)\n\
         table tb from B key (id;) store all index GSI1 key (g; n)\n",
    );
    let report = Document::parse("two", &of_two).expect_err("an index over two tables");
    assert!(report.text.contains("`GSI1` is the name of another table or index"), "{report}");
    let of_one = model(
        "table t { row RA from A key (id;) store all index GSI1 key (g; n)\n\
         row RB from B key (id;) store all index GSI1 key (g; n) }\n",
    );
    assert!(Document::parse("one", &of_one).is_ok());
}

/// An index has one entry for a row: where rows collapse by less than its key, entries are missing.
#[test]
fn what_collapses_in_a_table_is_missing_in_its_index() {
    let of = |table: &str, index: &str| {
        statuses(&format!(
            "
entity L {{ key id: uuid  a: int  v: int }}
read r(x) = L select distinct a where v = x order by a
schema s target shelfmark {{
  table t from L key ({table}) index i key ({index})
  serve r(x) by query i (x)
}}
"
        ))
    };
    assert_eq!(of("v; ", "v; a"), ["s.r refused"]);
    assert_eq!(of("a; v", "v; a"), ["s.r certified"]);
}

/// An index beside its rows shows a write at once, and bounds what lies in their partition; others do
/// neither.
#[test]
fn a_local_index_is_as_fresh_as_its_rows() {
    let model = |local: &str| {
        format!(
            r#"
entity Order {{
  key (user, id)
  user: text(min 1, max 20)  id: ulid  total: int(0..99999)  body: text(max 100000) avg 50k
  count 1G  fanout user avg 1k max 1M
}}
entity Note {{ key (user, at)  user: text(min 1, max 20)  at: timestamp  total: int(0..99999) }}
read largest(u) = Order where user = u order by total desc limit 10 strong
write order(u, i, t, b) = insert Order(user u, id i, total t, body b)
schema s target dynamodb {{
  table shop {{
    pk text sk text
    row OrderRow from Order pk "USER#<user>" sk "ORDER#<id>" store all
      index by_total {local} pk "USER#<user>" sk "<total:pad(5)>"
    row NoteRow from Note pk "USER#<user>" sk "NOTE#<at:iso>" store all
  }}
}}
"#
        )
    };
    assert_eq!(statuses(&model("local")), ["s.largest certified", "s.order certified"]);
    assert_eq!(statuses(&model("")), ["s.largest refused", "s.order certified"]);
    let document = |text: &str| {
        let found = shelfmark_design::Document::parse("m", text);
        found.unwrap_or_else(|report| panic!("{report}"))
    };
    let found = |text: &str| {
        let found = document(text).check();
        found.iter().filter(|one| one.id == "P1").map(|one| one.schema.clone()).collect::<Vec<_>>()
    };
    assert!(!found(&model("local")).is_empty(), "10 GB are a limit beside a local index");
    assert!(found(&model("")).is_empty(), "and none without one");
    let calls = document(&model("local")).calls("s", None).expect("requests");
    let create = format!("{:?}", calls.create);
    assert!(create.contains("LocalSecondaryIndexes") && create.contains("by_total_sk"), "{create}");
    assert!(format!("{:?}", calls.calls).contains("ConsistentRead"), "{:?}", calls.calls);
    // Under another partition key, or on another target, there is none.
    for (text, told) in [
        (
            model("local").replace("by_total local pk \"USER#", "by_total local pk \"U#"),
            "partition key of its table",
        ),
        (model("local").replace("target dynamodb", "target candb"), "no local indexes"),
    ] {
        let report = shelfmark_design::Document::parse("m", &text).err();
        let report = report.map(|report| report.to_string()).unwrap_or_default();
        assert!(report.contains(told), "{told}: {report}");
    }
}
