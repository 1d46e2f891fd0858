//! Orders by uuids for a target that compares them by version and time. Each model stands beside its
//! nearest neighbour, which is decided the other way.

use super::together::statuses;
use shelfmark_design::Document;

/// What the order has before it tells the uuid, or it does not.
#[test]
fn a_uuid_that_is_told_decides_no_order() {
    let of = |declared: &str| {
        statuses(&format!(
            "entity A {{ key id: uuid  u: uuid  name: text(min 1, max 9)  {declared} }}
read all(u) = A where u = u order by name, id limit 3
schema s target cql {{
  table rows from A key (u; name, id) store all
  serve all(u) by query rows (u) limit 3
}}
"
        ))
    };
    assert_eq!(of("unique (u, name)"), ["s.all certified"]);
    assert_eq!(of(""), ["s.all refused"]);
}

/// A derived key holds the text of such a uuid; where only equal values are asked for, itself.
#[test]
fn a_derived_key_holds_the_text_of_a_uuid_in_an_order() {
    let text = "entity U { key id: uuid }\n\
                entity A { key id: uuid  u: U immutable  name: text(min 1, max 9) immutable }\n\
                read all(u) = A where u = u order by name, id limit 3\n\
                read after(u, a) = A where u = u and id > a order by id limit 3\n\
                write add(i, u, n) = insert A(id i, u u, name n)\n\
                write drop(i) = delete A(id i)\n";
    let document = Document::parse("uuids", text).unwrap_or_else(|report| panic!("{report}"));
    let plan = document.plan("cql", "planned").unwrap_or_else(|why| panic!("{why}"));
    assert!(plan.schema.contains("key (u; name, \"<id>\")"), "{}", plan.schema);
    assert!(plan.schema.contains("after \"<a>\""), "{}", plan.schema);
    assert!(plan.schema.contains("table a from A key (id;)"), "{}", plan.schema);
    let found = statuses(&document.with_only(&plan.schema));
    assert!(found.len() == 4 && found.iter().all(|one| one.ends_with("certified")), "{found:?}");
    let other = document.plan("shelfmark", "planned").unwrap_or_else(|why| panic!("{why}"));
    assert!(!other.schema.contains("<id>"), "{}", other.schema);
}
