//! Reads that were decided wrongly once: certified and wrong, refused and right, or called impossible.
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
fn what_equalities_settle_needs_no_order() {
    let found = statuses(
        r#"
entity U { key id: uuid  name: text(max 9) }
entity E { key id: uuid  u: U  k: text(max 3)  at: timestamp  n: int }
read z(u, a) = E where u = u and at >= a order by u, at
read y(u, a) = E where u = u and at >= a order by u.name, at
read x(i, a) = E where id = i and at >= a order by n
read w(u, b) = E where u >= u and u.id <= b
read v(u, a) = E where u = u and at >= a order by n
read t(u, a, m) = E where u = u and at >= a and n >= m
schema s target shelfmark { table t from E key (u; at, id) store all  table i from E key (id;) store all
  table o from E key ("o"; u, id) store all
  serve z(u, a) by query t (u) from a
  serve y(u, a) by query t (u) from a
  serve w(u, b) by query o ("o") from u through b }
"#,
    );
    assert_eq!(
        found,
        [
            "s.z certified",
            "s.y certified",
            "s.x refused",
            "s.w certified",
            "s.v unservable",
            "s.t unservable"
        ]
    );
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
fn a_key_that_can_be_told_from_the_right_is_one() {
    let found = statuses(
        r#"
entity E { key id: uuid  d: text(max 5)  e: text(max 5)  f: text(max 5, without "\#") }
entity N { key id: uuid  a: int(-9..9)  d: text(max 5) }
read ends(i) = E where id = i
read nums(a) = N where a = a
write put_one(i, d, e, f) = insert E(id i, d d, e e, f f)
schema id_last target candb { table t { row R from E pk "X" sk "<d><e>\#<id>" store all } }
schema no_id target candb { table t { row R from E pk "X" sk "<d><e>\#" store all } }
schema marked target candb { table t { row R from E pk "X" sk "A<e>\#<f>~<id>" store all } }
schema numbers target candb { table t { row R from N pk "P" sk "A<a>:<id>" store all }
  serve nums(a) by query t pk "P" sk begins "A<a>:" }
"#,
    );
    let of = |name: &str| found.iter().find(|line| line.starts_with(name)).cloned();
    assert_eq!(of("id_last.put_one").as_deref(), Some("id_last.put_one certified"), "{found:?}");
    assert_eq!(of("no_id.put_one").as_deref(), Some("no_id.put_one refused"));
    assert_eq!(of("marked.put_one").as_deref(), Some("marked.put_one certified"));
    assert_eq!(of("numbers.nums").as_deref(), Some("numbers.nums certified"));
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
fn row_types_follow_one_another_by_their_tags() {
    let model = r#"
entity P { key id: uuid  u: uuid  n: int }
entity Q { key id: uuid  u: uuid  n: int }
read both(u) = P + Q where u = u order by kind, n
schema typed target shelfmark { table t {
  row A from P key (u; "A", n, id) store {}
  row B from Q key (u; "AB", n, id) store {} } }
schema digits target candb { table t { pk text sk text
  row C from P pk "<u>" sk "A<id>" store { n }
  row D from Q pk "<u>" sk "Ag<id>" store { n } }
  serve both(u) by query t pk "<u>" sk begins "A" }
schema wrong target shelfmark { table t {
  row E from P key (u; "AB", n, id) store {}
  row F from Q key (u; "A", n, id) store {} } }
"#;
    let found = statuses(model);
    assert_eq!(found.first().map(String::as_str), Some("typed.both certified"), "{found:?}");
    assert_eq!(found.get(1).map(String::as_str), Some("digits.both refused"), "{found:?}");
    assert_eq!(found.get(2).map(String::as_str), Some("wrong.both refused"), "{found:?}");
}

#[test]
fn a_loop_goes_up_its_list() {
    let found = statuses(
        r#"
entity A { key id: uuid  u: uuid  n: int }
read up(us: list of uuid(max 5)) = A where u in us order by u, n
read down(us: list of uuid(max 5)) = A where u in us order by u desc, n
read by_n(us: list of uuid(max 5)) = A where u in us order by n
schema s target shelfmark { table t from A key (u; n, id)
  serve up(us) by each x in us query t (x)
  serve down(us) by each x in us query t (x)
  serve by_n(us) by each x in us query t (x) }
"#,
    );
    assert_eq!(found, ["s.up multi", "s.down refused", "s.by_n refused"]);
}

#[test]
fn a_prefix_settles_first_letters() {
    let found = statuses(
        r#"
entity Tag { key id: uuid  tag: text(min 1, max 9) }
read long(p: text(min 1, max 5)) = Tag where tag begins p
read short(p: text(max 5)) = Tag where tag begins p
schema s target shelfmark { table t from Tag key (first(tag, 1); tag, id)
  serve long(p) by query t (first(p, 1)) begins p
  serve short(p) by query t (first(p, 1)) begins p }
"#,
    );
    assert_eq!(found, ["s.long certified", "s.short refused"]);
}

#[test]
fn narrow_texts_buckets_and_moments_are_searched() {
    // Each is refused rightly; `statuses` asks that a state shows it.
    let found = statuses(
        r#"
entity A { key id: ulid  s: uuid  c: text(min 1, max 4, only "xyz") }
read all(s) = A where s = s
read span(s, a, b) = A where s = s and id between a and b
read pre(s, c) = A where s = s and c = c
read begun(s, x) = A where s = s and c begins x
schema buckets target shelfmark { table t from A key (bucket(hash(id), 4); s, id) store all
  serve all(s) by each k in 0..2 query t (k, s) }
schema weeks target shelfmark { table t from A key (s; week(id), c, id)
  serve span(s, a, b) by query t (s) from week(a) to week(b) }
schema glued target candb { table t { pk text sk text
   row G from A pk "<s>" sk "<c>\#<id>" store all }
  serve begun(s, x) by query t pk "<s>" sk begins "<x>" }
schema narrow target candb { table t { pk text sk text
   row R from A pk "<s>" sk "<c>|<id>" store all }
  serve pre(s, c) by query t pk "<s>" sk begins "<c>" }
"#,
    );
    let of = |name: &str| found.iter().find(|line| line.starts_with(name)).cloned();
    assert_eq!(of("buckets.all").as_deref(), Some("buckets.all refused"), "{found:?}");
    assert_eq!(of("weeks.span").as_deref(), Some("weeks.span refused"), "{found:?}");
    assert_eq!(of("glued.begun").as_deref(), Some("glued.begun refused"), "{found:?}");
    assert_eq!(of("narrow.pre").as_deref(), Some("narrow.pre refused"), "{found:?}");
}

#[test]
fn decimals_sort_in_no_text() {
    let model = |ty: &str, hole: &str| {
        format!(
            r#"
entity E {{ key id: uuid  u: uuid  z: {ty} }}
read by_z(u) = E where u = u order by z
schema s target candb {{ table t {{ row R from E pk "<u>" sk "{hole}\#<id>" store all }}
  serve by_z(u) by query t pk "<u>" }}"#
        )
    };
    assert_eq!(statuses(&model("int(0..999)", "<z:pad(3)>")), ["s.by_z certified"]);
    assert_eq!(statuses(&model("decimal(0..999)", "<z>")), ["s.by_z refused"]);
    let text = model("decimal(0..999)", "<z:pad(3)>").replace("\\#", "#");
    let report = Document::parse("decimal", &text).expect_err("9.5 has no such text");
    assert!(report.text.contains("whole numbers only"), "{report}");
    let typed = r#"
entity E { key id: uuid  u: uuid  z: decimal(0..999) }
read by_z(u) = E where u = u and z >= 5 order by z
schema s target shelfmark { table t from E key (u; z, id) store all }"#;
    assert_eq!(statuses(typed), ["s.by_z certified"]);
}

#[test]
fn a_later_sort_keeps_what_an_earlier_one_did() {
    let found = statuses(
        r#"
entity A { key id: uuid  u: uuid  k: int  at: timestamp }
read all(u) = A where u = u order by k, at
schema right target shelfmark { table t from A key (u; id) store all
  serve all(u) by query t (u) then sort by at then sort by k }
schema wrong target shelfmark { table t from A key (u; id) store all
  serve all(u) by query t (u) then sort by k then sort by at }
"#,
    );
    assert_eq!(found, ["right.all multi", "wrong.all refused"]);
}

#[test]
fn an_input_is_not_bound_to_the_domain_it_is_compared_with() {
    let found = statuses(
        r##"
entity A { key id: uuid  s: uuid  c: text(min 1, max 4, only "xyz") }
read begun(s, x) = A where s = s and c begins x
read same(s, x) = A where s = s and c = x
schema s target candb { table t { pk text sk text
   row R from A pk "<s>" sk "<c>#<id>" store all } }
schema typed target shelfmark { table t from A key (s; c, id) store all }
"##,
    );
    assert_eq!(
        found,
        ["s.begun refused", "s.same certified", "typed.begun certified", "typed.same certified"]
    );
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

#[test]
fn an_answer_of_equal_items_is_in_every_order() {
    let found = statuses(
        r#"
entity A { key id: uuid  s: uuid  c: text(min 1, max 4)  at: timestamp }
read owners(s) = A select s where s = s order by at
read ones(s, c) = A select c where s = s and c = c order by at desc limit 3
read names(s) = A select c where s = s order by at
schema s target shelfmark { table t from A key (s; c, id)
  serve ones(s, c) by query t (s, c) limit 3 }
"#,
    );
    assert_eq!(found, ["s.owners certified", "s.ones certified", "s.names refused"]);
}

#[test]
fn a_kind_that_is_an_attribute_is_the_attribute() {
    let found = statuses(
        r#"
entity A { key id: uuid  u: uuid  kind: enum("x", "y")  n: int }
entity B { key id: uuid  u: uuid  m: int }
read some(u, k) = A where u = u and kind = k
read sorted(u) = A where u = u order by kind
read bees(u) = B where u = u
schema s target shelfmark {
  table t from A key (u; n, id) store all
  table ab { row RA from A key (u; "A", id) store all  row RB from B key (u; "B", id) store all }
  serve some(u, k) by query t (u) filter kind = k
  serve sorted(u) by query t (u) then sort kind
  serve bees(u) by query ab (u) filter kind = "b" }
"#,
    );
    assert_eq!(found, ["s.some refused", "s.sorted multi", "s.bees refused"]);
    let both = "entity A { key id: uuid  u: uuid  kind: int }\nentity B { key id: uuid  u: uuid }\n\
                read all(u) = A + B where u = u\nschema s target shelfmark {\n  table t {\n    \
                row RA from A key (u; \"A\", id) store all  row RB from B key (u; \"B\", id) store all }\n  \
                serve all(u) by query t (u) filter kind = \"a\" }";
    let report = Document::parse("both", both).expect_err("it may mean either");
    assert!(report.text.contains("`kind` is the row type here"), "{report}");
}

#[test]
fn row_types_are_sorted_as_they_are_named() {
    let found = statuses(
        r#"
entity A { key id: uuid  u: uuid  n: int }
entity B { key id: uuid  u: uuid  n: int }
read all(u) = A + B where u = u order by kind, n
read back(u) = A + B where u = u order by kind desc, n
schema s target shelfmark {
  table ab { row RA from A key (u; "B", id) store all  row RB from B key (u; "A", id) store all }
  serve all(u) by query ab (u) then sort kind, n
  serve back(u) by query ab (u) then sort kind, n }
"#,
    );
    assert_eq!(found, ["s.all multi", "s.back refused"]);
}

#[test]
fn an_input_may_be_longer_than_what_it_is_compared_with() {
    let found = statuses(
        r##"
entity A { key id: uuid  s: uuid  c: text(min 1, max 4, only "xyz")  n: int(0..99) }
read same(s, x: text) = A where s = s and c = x
read tail(s, x: text) = A where s = s and c = x
read upto(s, x: int) = A where s = s and n <= x
read below(s, x: int(0..9)) = A where s = s and n <= x
schema ids target candb { table t { pk text sk text  row R from A pk "<s>" sk "<c>#<id>" store all }
  serve same(s, x) by query t pk "<s>" sk begins "<x>#" }
schema tags target candb { table t { pk text sk text  row R from A pk "<s>" sk "<c>#at#<id>" store all }
  serve tail(s, x) by query t pk "<s>" sk begins "<x>#" }
schema lex target candb { table t { pk text sk text  row R from A pk "<s>" sk "<n:lexint>#<id>" store all }
  serve upto(s, x) by query t pk "<s>" sk through "<x:lexint>#"
  serve below(s, x) by query t pk "<s>" sk through "<x:lexint>#" }
"##,
    );
    let of = |name: &str| found.iter().find(|line| line.starts_with(name)).cloned();
    // "xy#at" begins what stands behind "xy".
    for (name, status) in [
        ("ids.same", "certified"),
        ("tags.tail", "refused"),
        ("lex.upto", "refused"),
        ("lex.below", "certified"),
    ] {
        assert_eq!(of(name), Some(format!("{name} {status}")), "{found:?}");
    }
}

/// Each of two types may end itself, or keep its order, among its own texts only.
#[test]
fn an_input_of_another_type_may_go_on_behind_a_value() {
    let found = statuses(
        r##"
entity T {
  key id: uuid  g: uuid  s: enum("a", "b")  t: enum("x", "cx")  n: int(10..99)  m: int(0..9)
  w: text(min 2, max 2, only "a-z")  v: text(min 1, max 2, only "a-z")
}
read variant(g, p: enum("ac", "b")) = T where g = g and s = p
read begun(g, p: enum("ac", "b")) = T where g = g and s begins p
read letters(g, p: text(min 3, max 3, only "a-z")) = T where g = g and w = p
read digits(g, p: int(100..999)) = T where g = g and n = p
read upto(g, p: int(100..999)) = T where g = g and n <= p
read from_one(g, p: int(0..9)) = T where g = g and n >= p
schema glued target candb {
  table a { row A from T pk "<g>" sk "<s><t><id>" store all }
  table b { row B from T pk "<g>" sk "<w><v>#<id>" store all }
  table c { row C from T pk "<g>" sk "<n><m><id>" store all }
  table d { row D from T pk "<g>" sk "<n:pad(2)>#<id>" store all }
  serve variant(g, p) by query a pk "<g>" sk begins "<p>"
  serve begun(g, p) by query a pk "<g>" sk begins "<p>"
  serve letters(g, p) by query b pk "<g>" sk begins "<p>"
  serve digits(g, p) by query c pk "<g>" sk begins "<p>"
  serve upto(g, p) by query d pk "<g>" sk through "<p:pad(2)>#"
  serve from_one(g, p) by query c pk "<g>" sk from "<p>"
}
schema apart target candb {
  table a { row A from T pk "<g>" sk "<s>#<t><id>" store all }
  table b { row B from T pk "<g>" sk "<w>#<v>#<id>" store all }
  table d { row D from T pk "<g>" sk "<n:pad(3)>#<id>" store all }
  serve variant(g, p) by query a pk "<g>" sk begins "<p>#"
  serve begun(g, p) by query a pk "<g>" sk begins "<p>"
  serve letters(g, p) by query b pk "<g>" sk begins "<p>#"
  serve digits(g, p) by query d pk "<g>" sk begins "<p:pad(3)>"
  serve upto(g, p) by query d pk "<g>" sk through "<p:pad(3)>#"
  serve from_one(g, p) by query d pk "<g>" sk from "<p:pad(3)>"
}
"##,
    );
    let patterns = ["variant", "begun", "letters", "digits", "upto", "from_one"];
    let all = |schema: &str, status: &str| -> Vec<String> {
        patterns.iter().map(|pattern| format!("{schema}.{pattern} {status}")).collect()
    };
    assert_eq!(found, [all("glued", "refused"), all("apart", "certified")].concat());
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

#[test]
fn texts_that_come_out_alike_are_one_form() {
    let model = |row: &str, plan: &str| {
        statuses(&format!(
            r#"
entity O {{ key id: uuid }}
entity D {{ key id: uuid  o: O immutable  title: text(max 9, only "a-z")  at: int(1000..9999) }}
read times(o, a, b) = D where o = o and at between a and b order by at
read starts(o, t: text(max 9, only "a-z")) = D where o = o and title begins t order by title
read begun(o, t) = D where o = o and title begins t order by title
schema s target candb {{
  table t {{ pk text sk text  row T from D pk "o#<o>" sk "t#{row}#<id>" store all }}
  table d {{ pk text sk text  row N from D pk "o#<o>" sk "d#<title>#<id>" store all }}
  {plan}
}}
"#
        ))
    };
    let times =
        |plan: &str| format!(r##"serve times(o, a, b) by query t pk "o#<o>" sk from {plan}"##);
    let starts = |plan: &str| format!(r##"serve starts(o, t) by query d pk "o#<o>" sk {plan}"##);
    // Four digits are four digits, filled up or not; six are not.
    let plain = times(r##""t#<a>" through "t#<b>#""##);
    assert_eq!(model("<at:pad(2)>", &plain).first().map(String::as_str), Some("s.times certified"));
    assert_eq!(model("<at:pad(4)>", &plain).first().map(String::as_str), Some("s.times certified"));
    assert_eq!(model("<at:pad(6)>", &plain).first().map(String::as_str), Some("s.times refused"));
    // Letters need no escape, and none of them lies above `~`; some do above `m`.
    for (plan, status) in [
        (r##"begins "d#<t:esc>""##, "s.starts certified"),
        (r##"from "d#<t>" to "d#<t>~""##, "s.starts certified"),
        (r##"from "d#<t>" to "d#<t>m""##, "s.starts refused"),
        (r##"after "d#<t>" to "d#<t>~""##, "s.starts refused"),
    ] {
        let found = model("<at>", &starts(plan));
        assert_eq!(found.get(1).map(String::as_str), Some(status), "{plan}");
    }
    // What is escaped is in no word; what is not may be what follows the word.
    for (plan, status) in [("<t:esc>", "s.begun certified"), ("<t>", "s.begun refused")] {
        let plan = format!(r##"serve begun(o, t) by query d pk "o#<o>" sk begins "d#{plan}""##);
        let found = model("<at>", &plan);
        assert_eq!(found.get(2).map(String::as_str), Some(status), "{plan}");
    }
}

#[test]
fn a_sentinel_is_as_good_as_what_it_stands_above() {
    let status = |ty: &str, codec: &str, ends: &str| {
        let found = statuses(&format!(
            r#"
entity O {{ key id: uuid }}
entity D {{ key o: O  key c: {ty} }}
read all(o) = D where o = o
schema s target candb {{
  table d {{ pk text sk text  row N from D pk "o#<o>" sk "d#<c{codec}>" store all }}
  serve all(o) by query d pk "o#<o>" sk {ends}
}}
"#
        ));
        found.first().cloned().unwrap_or_default()
    };
    for (ty, codec, end, right) in [
        ("text", "", r#"to "d#~""#, false),
        ("text", "", "to \"d#\u{ffff}\"", false),
        (r#"text(only "a-z")"#, "", r#"to "d#~""#, true),
        (r#"text(only "a-z")"#, "", r#"to "d#z""#, false),
        (r#"text(max 3, only "a-z")"#, "", r#"to "d#zz""#, false),
        (r#"text(max 3, only "a-z")"#, "", r#"to "d#zzz""#, true),
        (r#"text(max 3, only "a-z")"#, "", r#"before "d#zzz""#, false),
        ("uuid", "", r#"to "d#g""#, true),
        ("uuid", "", r#"to "d#f""#, false),
        ("int(0..99)", ":pad(2)", r#"to "d#99""#, true),
        ("int(0..99)", ":pad(2)", r#"before "d#99""#, false),
        ("timestamp", ":iso", r#"to "d#9999""#, false),
        ("date", "", r#"to "d#9999-12-31""#, true),
        ("date", "", r#"before "d#9999-12-31""#, false),
        (r#"text(max 1, only "a-z")"#, "", r#"to "d#m""#, false),
        (r#"text(max 1, only "a-z")"#, "", r#"to "d#z""#, true),
    ] {
        let wanted = if right { "s.all certified" } else { "s.all refused" };
        assert_eq!(status(ty, codec, &format!("from \"d#\" {end}")), wanted, "{ty} {end}");
    }
    // The lower end, below all texts or not.
    for (ty, codec, begin, right) in [
        (r#"text(min 1, only "a-z")"#, "", "d#a", true),
        (r#"text(min 1, only "a-z")"#, "", "d#aa", false),
        (r#"text(only "a-z")"#, "", "d#a", false),
        (r#"text(min 1, only "a-z")"#, "", "d#b", false),
        ("int(10..99)", ":pad(2)", "d#10", true),
        ("int(9..99)", ":pad(2)", "d#10", false),
        ("date", "", "d#0", true),
        ("date", "", "d#1970-01-02", false),
    ] {
        let wanted = if right { "s.all certified" } else { "s.all refused" };
        let ends = format!("from \"{begin}\" to \"d$\"");
        assert_eq!(status(ty, codec, &ends), wanted, "{ty} {begin}");
    }
}

#[test]
fn a_text_in_a_typed_column_is_how_its_value_is_written() {
    let model = r#"
entity U { key id: uuid  born: date  at: timestamp }
read since() = U where born >= "2021-01-01" order by born
read before(b) = U where born = b and at < "2021-09-15T02:00:00Z"
schema s target shelfmark {
  table us from U key ("all"; born, id) store all  table ts from U key (born; at, id) store all
  serve since() by query us ("all") from "2021-01-01"
  serve before(b) by query ts (b) before "2021-09-15T02:00:00Z"
}
schema late target shelfmark {
  table us from U key ("all"; born, id) store all  table ts from U key (born; at, id) store all
  serve since() by query us ("all") from "2021-01-02"
  serve before(b) by query ts (b) before "2021-09-15T03:00:00Z"
}
"#;
    let of = |name: &str| statuses(model).into_iter().find(|line| line.starts_with(name));
    assert_eq!(of("s.since").as_deref(), Some("s.since certified"));
    assert_eq!(of("s.before").as_deref(), Some("s.before certified"));
    let no_date = model.replace("from \"2021-01-02\"", "from \"2021-13-02\"");
    let report = Document::parse("month", &no_date).expect_err("no such month");
    assert!(report.text.contains("is no date"), "{report}");
}

#[test]
fn of_one_row_and_of_a_range_that_is_cut_nothing_is_left_to_sort() {
    let found = statuses(
        r#"
entity A { key id: uuid  u: uuid  at: timestamp }
read one(i, n) = A where id = i order by at limit n
read first(u, n) = A where u = u order by at limit n
read last(u, n) = A where u = u order by at limit n
schema s target shelfmark { table t from A key (id;) store all  table o from A key (u; at, id) store all
  serve one(i, n) by get t (i) then sort by at then take n
  serve first(u, n) by query o (u) limit n then sort by at
  serve last(u, n) by query o (u) then sort by at then take n
}
"#,
    );
    assert_eq!(found, ["s.one multi", "s.first multi", "s.last refused"]);
}

/// What is sorted by the key of what a row refers to is sorted by the reference.
#[test]
fn a_reference_and_its_key_are_one_name() {
    let found = statuses(
        r#"
entity U { key id: uuid }
link L from U as a to U as b { v: int }
read pairs(v) = L where v = v order by a.id, b desc
read other(v) = L where v = v order by a.id, b desc
schema s target shelfmark {
  table ls from L key (v; b, a) store all
  serve pairs(v) by query ls (v) then sort by a.id, b desc
  serve other(v) by query ls (v) then sort by b desc, a.id
}
"#,
    );
    assert_eq!(found, ["s.pairs multi", "s.other refused"]);
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

#[test]
fn a_page_goes_on_where_one_range_ended() {
    let model = |plan: &str| {
        format!(
            "entity Post {{ key id: uuid  author: uuid  at: timestamp  tag: enum(\"x\", \"y\") }}\n\
             read newest(a) = Post where author = a order by at desc page 10\n\
             schema s target shelfmark {{\n  \
             table posts from Post key (author; at desc, id) store all\n  \
             table spread from Post key (author, bucket(hash(id), 4); at desc, id) store all\n  \
             serve newest(a) by {plan}\n}}\n"
        )
    };
    assert_eq!(statuses(&model("query posts (a) limit 10")), ["s.newest certified"]);
    let merged = "each b in 0..3 query spread (a, b) limit 10 sort at desc take 10";
    assert_eq!(statuses(&model(merged)), ["s.newest refused"]);
    // The same list without pages is one.
    let list = model(merged).replace("page 10", "limit 10");
    assert_eq!(statuses(&list), ["s.newest multi"]);
}

#[test]
fn the_next_page_is_a_request_of_the_target() {
    for (target, told) in
        [("dynamodb", "LastEvaluatedKey"), ("cql", "paging_state"), ("shelfmark", "last_key")]
    {
        let text = format!(
            "entity Post {{ key id: ulid  author: uuid  at: timestamp }}\n\
             read newest(a, n) = Post where author = a order by at, id page n\n\
             schema s target {target} {{ table posts from Post key (author; at{}) store all }}\n",
            if target == "dynamodb" { "" } else { ", id" }
        );
        let text = match target {
            "dynamodb" => text
                .replace("order by at, id", "order by at")
                .replace(
                    "key (author; at)",
                    "key (author; id) store all index by_at key (author; at)",
                )
                .replace("store all }", "store {} }"),
            _ => text,
        };
        let document = shelfmark_design::Document::parse("m", &text);
        let document = document.unwrap_or_else(|report| panic!("{report}\n{text}"));
        let calls = format!("{:?}", document.calls("s", None));
        assert!(calls.contains(told), "{target}: {calls}");
    }
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
