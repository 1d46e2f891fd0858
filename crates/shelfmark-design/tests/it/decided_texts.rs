//! Texts of keys and inputs that were taken for others once: prefixes, sentinels, codecs, lengths.
//! Each model stands beside its nearest neighbour, which is decided the other way.

use super::together::statuses;
use shelfmark_design::Document;

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

/// What stands behind a free part holds its delimiter as often in each text: counted from the end it
/// begins at one place. Where a second part is free too, texts run into one another, as a state shows.
#[test]
fn one_free_part_of_three_is_what_is_left() {
    let text = |y: &str, z: &str| {
        format!(
            r#"
entity U {{ x: text(min 1, max 20)  y: text(min 1, max 10{y})  z: text(min 1, max 10{z})  v: int
  key (x, y, z) }}
read one(a, b, c) = U where x = a and y = b and z = c unique
write add(a, b, c, v) = insert U(x a, y b, z c, v v)
schema s target dynamodb {{ table uuu {{ pk text sk text
  row R from U pk "T" sk "<x>\#<y>\#<z>" store all }}
  serve one(a, b, c) by get uuu pk "T" sk "<a>\#<b>\#<c>" }}
"#
        )
    };
    let bare = r#", without "\#""#;
    assert_eq!(statuses(&text(bare, bare)), ["s.one certified", "s.add certified"]);
    for (y, z) in [("", bare), ("", "")] {
        assert_eq!(statuses(&text(y, z)), ["s.one refused", "s.add refused"], "{y} {z}");
    }
}

/// Two free parts are refused, and a state shows it, whatever parts them.
#[test]
fn texts_that_run_into_one_another_are_shown() {
    for between in ["/", "--", "|", "\\#"] {
        let text = format!(
            r#"
entity T {{ x: text(min 1, max 20)  y: text(min 1, max 10)  v: int key (x, y) }}
read one(a, b) = T where x = a and y = b unique
write add(a, b, v) = insert T(x a, y b, v v)
schema s target dynamodb {{ table ttt {{ pk text sk text
  row R from T pk "T" sk "<x>{between}<y>" store all }} }}
"#
        );
        assert_eq!(statuses(&text), ["s.one refused", "s.add refused"], "{between}");
    }
}

/// The end of a range at the key of a parent whose partition tells it holds nothing else that begins so.
#[test]
fn a_range_may_go_through_the_parent_of_its_partition() {
    let text = |pk: &str| {
        format!(
            r#"
type nm = text(min 1, max 20, without "\#")
entity Repo {{ key repo: nm  stars: int }}
entity Issue {{ repo: Repo number: int(1..999999) key (repo, number) fanout repo max 1000 }}
read both(r) = Repo + Issue where repo = r order by kind, number desc limit 26
schema s target dynamodb {{ table coll {{ pk text sk text
    row IssueRow from Issue pk "{pk}" sk "ISSUE\#<number:pad(6)>" store all
    row RepoRow from Repo pk "{pk}" sk "REPO\#<repo>" store all }}
  serve both(r) by query coll pk "{}" sk through "REPO\#<r>" desc limit 26 }}
"#,
            pk.replace("repo", "r")
        )
    };
    assert_eq!(statuses(&text(r"REPO\#<repo>")), ["s.both certified"]);
    // Of one partition for all: there are repositories whose names begin so.
    assert_eq!(statuses(&text("ALL")), ["s.both refused"]);
}

/// A limit of the plan that is one less, or one more, is shown by as many rows.
#[test]
fn limits_that_are_not_the_patterns_are_shown() {
    for (limit, plan) in [(5, 4), (9, 8), (25, 26), (100, 99)] {
        let text = |plan: u32| {
            format!(
                "type nm = text(min 1, max 20)
entity L {{ id: nm g: nm score: int(0..1000) key (id) fanout g max 200 }}
read top(g) = L where g = g order by score desc limit {limit}
schema s target dynamodb {{ table lll from L key (id;) store all index byg key (g; score)
  serve top by query byg (g) desc limit {plan} }}
"
            )
        };
        assert_eq!(statuses(&text(plan)), ["s.top refused"], "{limit} by {plan}");
        assert_eq!(statuses(&text(limit)), ["s.top certified"], "{limit}");
    }
}
