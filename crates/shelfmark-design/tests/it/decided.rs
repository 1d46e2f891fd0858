//! What was decided wrongly once: certified and wrong, refused and right, or called impossible.
//! Each model stands beside its nearest neighbour, which is decided the other way.

use super::together::statuses;
use shelfmark_design::Document;

#[test]
fn a_replaced_row_is_deleted_under_its_old_key() {
    let found = statuses(
        r#"
entity U { key id: uuid }
entity E { key id: uuid  u: U  o: text(min 1, max 4, without "\#") }
write w(i, u, o) = insert E(id i, u u, o o) or replace
schema named target shelfmark {
  table f0 from E key (id;) store all
  table f1 from E key (o; id) store all
  write w { transaction { read f0 where id = i ; delete f1 ; put f1 ; put f0 } }
}
schema kept target shelfmark {
  table f0 from E key (id;) store all
  table f1 from E key (o; id) store all
  write w { transaction { read f0 where id = i ; put f1 ; put f0 } }
}
schema derived target shelfmark {
  table f0 from E key (id;) store all
  table f1 from E key (o; id) store all
}
schema own target shelfmark { table f0 from E key (id;) store all  index g key (o; id) }
"#,
    );
    assert_eq!(
        found,
        ["named.w certified", "kept.w refused", "derived.w certified", "own.w certified"]
    );
}

#[test]
fn copies_of_what_is_replaced_change_too() {
    let found = statuses(
        r#"
entity U { key id: uuid  name: text(max 5) }
entity P { key id: uuid  u: U }
write w(i, n) = insert U(id i, name n) or replace
write v(i, n) = insert U(id i, name n)
schema one target shelfmark {
  table us from U key (id;) store all
  table ps from P key (u; id) store { u.name }
}
"#,
    );
    assert_eq!(found, ["one.w refused", "one.v certified"]);
}

#[test]
fn an_index_is_asked_by_its_own_columns() {
    let of = |target: &str| {
        statuses(&format!(
            r#"
entity A {{ key id: uuid  u: uuid  at: timestamp }}
read newest(u) = A where u = u order by at desc
read one(u, i) = A where u = u and id = i
schema s target {target} {{
  table t from A key (id;) store all  index g key (u; at)
  serve newest(u) by query g (u) desc
}}
schema named target {target} {{
  table t from A key (id;) store all  index g key (u;)
  serve one(u, i) by query g (u, i)
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
fn one_transaction_changes_an_item_once() {
    let found = statuses(
        r#"
entity U { key id: uuid  nick: text(min 1, max 5) }
entity P { key id: uuid }
link Likes from U to P
write nick(i, n) = update U(id i) set nick = n
write both(u, p) = insert P(id p) and link Likes(u u, p p)
schema d target dynamodb {
  table t { pk text sk text
    row N from U pk "N\#<nick:esc>" sk "<id>" store {}
    row R from U pk "U\#<id>" sk "U" store { nick }
    row Q from P pk "P\#<id>" sk "P" store { count Likes as likes }
    row L from Likes pk "L\#<u>" sk "<p>" store {} }
}
schema s target shelfmark {
  table n from U key (nick; id) store {}
  table u from U key (id;) store { nick }
  table p from P key (id;) store { count Likes as likes }
  table l from Likes key (u; p)
}
"#,
    );
    assert_eq!(
        found,
        ["d.nick certified", "d.both refused", "s.nick certified", "s.both certified"]
    );
}

#[test]
fn rows_of_the_first_read_stay_the_rows() {
    let model = r#"
entity U { key id: uuid  name: text(max 9) }
entity P { key id: uuid  of: U  w: U }
read d(u) = P with w.name where of = u limit 5
schema s target dynamodb {
  table us { pk text sk text
    row UU from U pk "U#<id>" sk "U" store all
    row PP from P pk "U#<of>" sk "P#<id>" store { w } }
  serve d(u) by query us pk "U#<u>" sk begins "P#" limit 5 then get us pk "U#<row.w>" sk "U"
}
"#;
    assert_eq!(statuses(model), ["s.d multi"]);
    let second =
        model.replace("sk \"U\"\n}", "sk \"U\" then get us pk \"U#<row.name>\" sk \"U\"\n}");
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
fn steps_that_change_nothing_do_no_harm() {
    let found = statuses(
        r#"
entity A { key id: uuid  x: int  y: int  q: text(max 3) optional }
write setx(i, n) = update A(id i) set x = n
write add(i, a, b) = insert A(id i, x a, y b)
schema patch target shelfmark {
  table f0 from A key (id;) store { x }  table f1 from A key (id;) store { y }
  write setx { transaction { patch f0 ; patch f1 } } }
schema put target shelfmark {
  table f0 from A key (id;) store all
  write setx { transaction { read f0 where id = i ; put f0 } } }
schema put_again target shelfmark {
  table f0 from A key (id;) store all
  write setx { transaction { read f0 where id = i ; delete f0 ; put f0 } } }
schema blind target shelfmark {
  table f0 from A key (id;) store all
  write setx { put f0 } }
schema harm target shelfmark {
  table f0 from A key (id;) store { x }  table f1 from A key (id;) store { y }
  write setx { transaction { patch f0 ; delete f1 } } }
schema sparse target shelfmark {
  table f0 from A key (id;) store all  table f1 from A when q is present key (q; id) store all
  write add { put f0 } }
schema also target shelfmark {
  table f0 from A key (id;) store all  table f1 from A key (q; id) store all
  write add { transaction { put f0 ; put f1 } } }
"#,
    );
    let of = |name: &str| found.iter().find(|line| line.starts_with(name)).cloned();
    for fine in ["patch.setx", "put.setx", "put_again.setx", "sparse.add", "also.add"] {
        assert_eq!(of(fine), Some(format!("{fine} certified")), "{found:?}");
    }
    for bad in ["blind.setx", "harm.setx"] {
        assert_eq!(of(bad), Some(format!("{bad} refused")), "{found:?}");
    }
}

#[test]
fn what_was_there_is_not_counted_twice() {
    let found = statuses(
        r#"
entity U { key id: uuid }
entity P { key id: uuid }
link Likes from P to U
write like(p, u) = link Likes(p p, u u) unless exists
schema looked target shelfmark {
  table posts from P key (id;) store { count Likes as likes }
  table likes from Likes key (p; u)
  write like { transaction { read likes where p = p and u = u ; patch posts ; put likes } } }
schema blind target shelfmark {
  table posts from P key (id;) store { count Likes as likes }
  table likes from Likes key (p; u)
  write like { transaction { patch posts ; put likes } } }
schema derived target shelfmark {
  table posts from P key (id;) store { count Likes as likes }
  table likes from Likes key (p; u) }
"#,
    );
    assert_eq!(found, ["looked.like certified", "blind.like refused", "derived.like certified"]);
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
fn copies_in_a_sparse_family_are_found_by_itself() {
    let found = statuses(
        r#"
entity U { key id: uuid  name: text(max 5)  lvl: enum("a", "b") }
entity P { key id: uuid  u: U  state: enum("open", "shut") }
write rename(i, n) = update U(id i) set name = n
write level(i, l) = update U(id i) set lvl = l
schema s target shelfmark {
  table us from U key (id;) store all
  table opens from P when state = "open" key (u; id) store { u.name } }
schema l target shelfmark {
  table us from U key (id;) store all
  table tops from P when u.lvl = "a" key (u; id) store { u.name } }
"#,
    );
    assert_eq!(
        found,
        ["s.rename certified", "s.level certified", "l.rename certified", "l.level refused"]
    );
}

#[test]
fn loops_read_what_shows_what_they_need() {
    let found = statuses(
        r#"
entity U { key id: uuid }
link L from U as e to U as w { r: int  n: int }
link M from U as f to U as w { r: int  n: int }
write copy(e, f) = link M(f f, w l.w) set r = l.r, n = l.n for each L as l where e = e
schema s target shelfmark {
  table lean from L key (e; w)
  table full from L key (e; r, w) store all
  table ms from M key (f; w) store all }
schema none target shelfmark {
  table lean from L key (e; w)
  table ms from M key (f; w) store all }
"#,
    );
    assert_eq!(found, ["s.copy certified", "none.copy refused"]);
    let found = statuses(
        r#"
entity E { key id: uuid  o: text(max 3)  c: text(max 3) }
link L from E as e to E as w { r: int  n: int }
write up(e, t) = update L(e l.e, w l.w) set r = t for each L as l where e = e
write same(e) = update L(e l.e, w l.w) set r = l.n for each L as l where e = e
write other(i) = update E(id i) set c = "x"
schema s target shelfmark {
  table es from E key (id;) store all  table os from E key (o; id)
  table ls from L key (e; w) store all  table rs from L key (e; r, w) store { n }
  write other { transaction { read es where id = i ; patch es ; delete os ; put os ; patch ls } } }
schema lean target shelfmark {
  table es from E key (id;) store all  table os from E key (o; id)
  table ls from L key (e; w) store { r }
  write other { transaction { patch es ; delete os } } }
"#,
    );
    assert_eq!(
        found,
        [
            "s.up certified",
            "s.same certified",
            "s.other certified",
            "lean.up certified",
            "lean.same refused",
            "lean.other refused"
        ]
    );
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
fn what_was_read_leads_on() {
    let found = statuses(
        r#"
entity U { key id: uuid  lvl: enum("a", "b")  name: text(max 5) }
entity A { key id: uuid  u: U  n: int }
write setn(i, n) = update A(id i) set n = n
write drop(i) = delete A(id i)
write move(i, u) = update A(id i) set u = u
schema derived target shelfmark {
  table us from U key (id;) store all  table as from A key (id;) store all
  table lv from A when u.lvl = "a" key (u.name; id) store { n } }
schema named target shelfmark {
  table us from U key (id;) store all  table as from A key (id;) store all
  table lv from A key (u.name; id) store {}
  write drop { transaction { read as where id = i ; read us where id = row.u ; delete as ; delete lv } } }
schema late target shelfmark {
  table us from U key (id;) store all  table as from A key (id;) store all
  table lv from A key (u.name; id) store {}
  write drop { transaction { read us where id = row.u ; read as where id = i ; delete as ; delete lv } } }
schema lean target shelfmark {
  table us from U key (id;) store all  table as from A key (id;) store { n }
  table lv from A key (u.name; id) store {} }
"#,
    );
    let of = |name: &str| found.iter().find(|line| line.starts_with(name)).cloned();
    for fine in ["derived.setn", "derived.drop", "derived.move", "named.drop"] {
        assert_eq!(of(fine), Some(format!("{fine} certified")), "{found:?}");
    }
    for bad in ["late.drop", "lean.drop"] {
        assert_eq!(of(bad), Some(format!("{bad} refused")), "{found:?}");
    }
}

#[test]
fn what_is_changed_is_read_before() {
    let found = statuses(
        r#"
entity E { key id: uuid  o: text(max 3)  q: text(max 3) optional }
write drop(i) = delete E(id i)
write add(i, o) = insert E(id i, o o) unless exists
schema late target shelfmark {
  table f0 from E key (id;) store all  table f1 from E key (o; id)
  write drop { transaction { delete f0 ; read f0 where id = i ; delete f1 } } }
schema soon target shelfmark {
  table f0 from E key (id;) store all  table f1 from E key (o; id)
  write drop { transaction { read f0 where id = i ; delete f0 ; delete f1 } } }
schema sparse target shelfmark {
  table f0 from E key (id;) store all  table f1 from E key (q; id)
  write add { put f0 } }
"#,
    );
    let of = |name: &str| found.iter().find(|line| line.starts_with(name)).cloned();
    assert_eq!(of("late.drop").as_deref(), Some("late.drop refused"));
    assert_eq!(of("soon.drop").as_deref(), Some("soon.drop certified"));
    assert_eq!(of("sparse.add").as_deref(), Some("sparse.add certified"));
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
fn a_sparse_row_is_deleted_only_where_it_is_the_tuples_own() {
    // The guard is what tells tuples apart: under the key of one that the family does not hold lies
    // another's row.
    let found = statuses(
        r#"
entity U { key id: uuid  name: text(max 3) optional }
entity E { key id: uuid  u: U  h: enum("x", "y")  n: int  unique (u, h) }
write drop(i) = delete E(id i)
write setn(i, n) = update E(id i) set n = n
write swap(i, h) = update E(id i) set h = h
schema looked target shelfmark {
  table es from E key (id;) store all
  table xs from E when h = "x" key (u;) store { n } }
schema blind target shelfmark {
  table us from E key (id;) store { u, n }  table hs from E key (id;) store { h }
  table xs from E when h = "x" key (u;) store { n }
  write drop { transaction { read us where id = i ; delete us ; delete hs ; delete xs } }
  write setn { transaction { read us where id = i ; patch us ; patch xs } } }
schema own target shelfmark {
  table us from E key (id;) store { u, n }  table hs from E key (id;) store { h }
  table xs from E when h = "x" key (u; id) store { n }
  write drop { transaction { read us where id = i ; delete us ; delete hs ; delete xs } }
  write setn { transaction { read us where id = i ; patch us ; patch xs } } }
"#,
    );
    let of = |name: &str| found.iter().find(|line| line.starts_with(name)).cloned();
    for fine in ["looked.drop", "looked.setn", "looked.swap", "own.drop", "own.setn"] {
        assert_eq!(of(fine), Some(format!("{fine} certified")), "{found:?}");
    }
    for bad in ["blind.drop", "blind.setn"] {
        assert_eq!(of(bad), Some(format!("{bad} refused")), "{found:?}");
    }
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
fn what_never_changes_is_not_replaced() {
    let model = |lasting: &str| {
        format!(
            r#"
entity U {{ key id: uuid  name: text(max 5) {lasting}  bio: text(max 5) }}
entity P {{ key id: uuid  u: U }}
write w(i, n, b) = insert U(id i, name n, bio b) or replace
schema one target shelfmark {{
  table us from U key (id;) store all
  table ps from P key (u; id) store {{ u.name }} }}
schema moved target shelfmark {{
  table us from U key (name; id) store all
  write w {{ put us }} }}
"#
        )
    };
    assert_eq!(statuses(&model("immutable")), ["one.w certified", "moved.w certified"]);
    assert_eq!(statuses(&model("")), ["one.w refused", "moved.w refused"]);
    let set = "entity U { key id: uuid  name: text(max 5) immutable }\n\
               write s(i, n) = update U(id i) set name = n";
    let report = Document::parse("set", set).expect_err("it says that it never changes");
    assert!(report.text.contains("`name` is immutable, and is changed here"), "{report}");
}

#[test]
fn what_is_read_once_more_does_no_harm() {
    let found = statuses(
        r#"
entity A { key id: uuid  n: text(max 3) }
write drop(i) = delete A(id i)
write make(i, n) = insert A(id i, n n) unless exists
schema again target shelfmark {
  table us from A key (id;) store all  table ns from A key (n; id) store all
  write drop { transaction { read us where id = i ; delete us ; read us where id = i ; delete ns } }
  write make { transaction { read us where id = i ; put us ; read us where id = i ; put ns } } }
schema after target shelfmark {
  table us from A key (id;) store all  table ns from A key (n; id) store all
  write drop { transaction { read us where id = i ; delete us ; delete ns ; read us where id = i } } }
"#,
    );
    let of = |name: &str| found.iter().find(|line| line.starts_with(name)).cloned();
    assert_eq!(of("again.drop").as_deref(), Some("again.drop certified"));
    assert_eq!(of("again.make").as_deref(), Some("again.make refused"));
    assert_eq!(of("after.drop").as_deref(), Some("after.drop certified"));
}

#[test]
fn two_items_of_one_transaction_may_be_told_by_constants() {
    let found = statuses(
        r#"
entity A { key id: int  n: text(max 3)  m: int }
write apart(n) = update A(id 1) set n = n and insert A(id 2, n n, m 4)
write same(n) = update A(id 1) set n = n and insert A(id 1, n n, m 4)
write any(i, n) = update A(id i) set n = n and insert A(id 2, n n, m 4)
schema s target dynamodb { table us from A key (id) store all }
"#,
    );
    assert_eq!(found, ["s.apart certified", "s.same refused", "s.any refused"]);
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

#[test]
fn all_that_a_write_selects_by_is_looked_at() {
    // Who owns a thing tells it apart; so a row found by the thing alone may be another's.
    let found = statuses(
        r#"
entity E { key id: uuid }
entity U { key id: uuid }
link L from E as e to U as w { r: int  unique (w) }
write set(e, w, r) = update L(e e, w w) set r = r
write drop(e, w) = unlink L(e e, w w)
schema derived target shelfmark { table l from L key (w;) store all }
schema blind target shelfmark { table l from L key (w;) store all
  write set { patch l }  write drop { delete l } }
schema half target shelfmark { table l from L key (w;) store { r }  table o from L key (e; w)
  write set { transaction { read l where w = w ; patch l } }
  write drop { transaction { read l where w = w ; delete l ; delete o } } }
schema looked target shelfmark { table l from L key (w;) store { r }  table o from L key (e; w)
  write set { transaction { read o where e = e and w = w ; patch l } }
  write drop { transaction { read o where e = e and w = w ; delete l ; delete o } } }
schema own target shelfmark { table l from L key (e; w) store all }
"#,
    );
    let of = |name: &str| found.iter().find(|line| line.starts_with(name)).cloned();
    for fine in ["looked", "own"] {
        for write in ["set", "drop"] {
            let line = format!("{fine}.{write}");
            assert_eq!(of(&line), Some(format!("{line} certified")), "{found:?}");
        }
    }
    for bad in ["derived", "blind", "half"] {
        for write in ["set", "drop"] {
            let line = format!("{bad}.{write}");
            assert_eq!(of(&line), Some(format!("{line} refused")), "{found:?}");
        }
    }
}

#[test]
fn copies_change_only_where_all_that_selects_fits() {
    let found = statuses(
        r#"
entity U { key id: uuid  name: text(max 4)  lvl: enum("a", "b") }
entity P { key id: uuid  u: U }
write ren(i, l, n) = update U(id i, lvl l) set name = n
schema derived target shelfmark {
  table us from U key (id;) store all  table ps from P key (u; id) store { u.name } }
schema blind target shelfmark {
  table us from U key (id; lvl) store all  table ps from P key (u; id) store { u.name }
  write ren { transaction { read ps where u = i as p ; patch us ; patch ps for each p } } }
"#,
    );
    assert_eq!(found, ["derived.ren certified", "blind.ren refused"]);
}
