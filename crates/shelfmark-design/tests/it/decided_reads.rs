//! Reads that were decided wrongly once: certified and wrong, refused and right, or called impossible.
//! Each model stands beside its nearest neighbour, which is decided the other way.

use super::together::statuses;
use shelfmark_design::Document;

#[test]
fn rows_of_the_first_read_stay_the_rows() {
    let model = r#"
entity U { key id: uuid  name: text(max 9) }
entity P { key id: uuid  of: U  w: U }
read d(u) = P with w.name where of = u limit 5
schema s target dynamodb {
  table users { pk text sk text
    row UU from U pk "U#<id>" sk "U" store all
    row PP from P pk "U#<of>" sk "P#<id>" store { w } }
  serve d(u) by query users pk "U#<u>" sk begins "P#" limit 5 then get users pk "U#<row.w>" sk "U"
}
"#;
    assert_eq!(statuses(model), ["s.d multi"]);
    let second =
        model.replace("sk \"U\"\n}", "sk \"U\" then get users pk \"U#<row.name>\" sk \"U\"\n}");
    let report = Document::parse("second", &second).expect_err("a name of the second row");
    assert!(report.text.contains("`P`"), "{report}");
}

#[test]
fn keys_that_lead_back_are_none() {
    for text in [
        "entity A { key b: B } entity B { key a: A }",
        "entity C { key c: C }",
        "entity X { key a: A } entity A { key b: B } entity B { key a: A }",
    ] {
        let report = Document::parse("circle", text).expect_err("no such entity can be made");
        assert!(report.text.contains("leads back"), "{report}");
    }
    let fine = "entity A { key id: uuid  b: B } entity B { key a: A  c: B optional }";
    assert!(Document::parse("fine", fine).is_ok());
}

#[test]
fn both_ends_at_one_value_are_that_value() {
    let found = statuses(
        r#"
entity E { key id: uuid  u: uuid  d: date }
read span(u, d) = E where u = u and d >= d and d <= d
read one(u, d) = E where u = u and d = d
read off(u, d, e) = E where u = u and d = d and d <= e
schema eq target shelfmark { table t from E key (u, d; id)
  serve span(u, d) by query t (u, d) }
schema ends target shelfmark { table t from E key (u; d, id)
  serve span(u, d) by query t (u) from d through d
  serve one(u, d) by query t (u) from d through d
  serve off(u, d, e) by query t (u) from d through e }
"#,
    );
    assert_eq!(
        found,
        [
            "eq.span certified",
            "eq.one certified",
            "eq.off refused",
            "ends.span certified",
            "ends.one certified",
            "ends.off refused"
        ]
    );
}

#[test]
fn a_unique_answer_is_distinct() {
    let found = statuses(
        r#"
entity E { key id: uuid  u: uuid  j: text(max 3)  b: text(max 3)  m: text(max 3) optional unique  unique (u, j) }
read pairs(u) = E select distinct b, j where u = u
read bees(u) = E select distinct b where u = u
read marks(u) = E select distinct m where u = u
schema s target shelfmark { table t from E key (u; id) store all }
"#,
    );
    assert_eq!(found, ["s.pairs certified", "s.bees refused", "s.marks refused"]);
}

#[test]
fn a_guard_is_part_of_the_key() {
    let found = statuses(
        r#"
entity E { key id: uuid  u: uuid  h: enum("x", "y")  unique (u, h) }
read hot(u) = E where u = u and h = "x"
read any(u) = E where u = u
schema s target shelfmark { table t from E when h = "x" key (u;) store all  serve hot(u) by get t (u) }
schema o target shelfmark { table t from E key (u;) store all }
"#,
    );
    assert_eq!(found, ["s.hot certified", "s.any refused", "o.hot refused", "o.any refused"]);
}

#[test]
fn any_key_finds_the_tuple() {
    let found = statuses(
        r#"
entity U { key id: uuid  email: text(min 1, max 9) unique  name: text(max 9) }
write ren(e, n) = update U(email e) set name = n
write drop(e) = delete U(email e)
write put_new(i, e, n) = insert U(id i, email e, name n) unless exists
schema rows target shelfmark { table users from U key (id;) store all  table mails from U key (email;) store all }
schema index target shelfmark { table users from U key (id;) store all  index mails key (email;) }
schema none target shelfmark { table users from U key (id;) store all }
schema named target shelfmark { table users from U key (id;) store all  table mails from U key (email;) store all
  write ren { transaction { read mails where email = e ; patch users ; patch mails } }
  write put_new { transaction { read mails where email = e ; put users ; put mails } } }
"#,
    );
    assert_eq!(
        found,
        [
            "rows.ren certified",
            "rows.drop certified",
            "rows.put_new certified",
            "index.ren certified",
            "index.drop certified",
            "index.put_new certified",
            "none.ren refused",
            "none.drop refused",
            "none.put_new certified",
            "named.ren certified",
            "named.drop certified",
            "named.put_new refused",
        ]
    );
}

#[test]
fn a_key_that_is_a_reference_leads_on() {
    let found = statuses(
        r#"
entity User { key id: uuid  name: text(max 9) }
entity Profile { key user: User  bio: text(max 9) }
link Tag from Post to Profile as who
entity Post { key id: uuid }
read tags(p) = Tag with who.user.name where post = p limit 9
read bios(p) = Tag with who.bio where post = p limit 9
schema s target shelfmark {
  table users from User key (id;) store all
  table tagt from Tag key (post; who)
  serve tags(p) by query tagt (p) limit 9 then get users (row.who)
  serve bios(p) by query tagt (p) limit 9 then get users (row.who)
}
"#,
    );
    assert_eq!(found, ["s.tags multi", "s.bios refused"]);
}

#[test]
fn a_sparse_family_is_read_by_what_all_of_it_is() {
    let found = statuses(
        r#"
entity U { key id: uuid }
entity E { key id: uuid  u: U  c: enum("x", "y")  n: int }
write turn(u, c) = update E(id e.id) set c = c for each E as e where u = u and c = "x"
write other(u, c) = update E(id e.id) set c = c for each E as e where u = u and c = "y"
schema s target shelfmark {
  table es from E key (id;) store all
  table xs from E when c = "x" key (u; id) store { n } }
"#,
    );
    assert_eq!(found, ["s.turn certified", "s.other refused"]);
}
