//! Keys that were judged wrongly once: tags that descend, row types of which one's key begins
//! another's, texts that can be told from the end, numbers of any width.
//! Each model stands beside its nearest neighbour, which is decided the other way.

use super::together::statuses;

#[test]
fn a_tag_descends_with_its_column() {
    let model = |desc: &str| {
        statuses(&format!(
            r#"
entity P {{ key id: uuid  u: uuid  n: int }}
entity Q {{ key id: uuid  u: uuid  n: int }}
read both(u) = P + Q where u = u order by kind, n
read back(u) = P + Q where u = u order by kind desc, n
schema s target shelfmark {{ table t {{
  row A from P key (u; "A"{desc}, n, id) store {{}}
  row B from Q key (u; "B"{desc}, n, id) store {{}} }}
  serve both(u) by query t (u)
  serve back(u) by query t (u) }}
"#
        ))
    };
    assert_eq!(model(""), ["s.both certified", "s.back refused"]);
    assert_eq!(model(" desc"), ["s.both refused", "s.back certified"]);
}

/// The item of a parent and those of its children, whose keys begin with the parent's.
#[test]
fn a_key_that_ends_comes_before_what_goes_on() {
    let model = |head: &str, parent: &str, child: &str| {
        statuses(&format!(
            r##"
entity Org {{ key id: text(min 1, max 9, without "#")  name: text(max 9) }}
entity User {{ org: Org  id: text(min 1, max 9, without "#")  name: text(max 9)  key (org, id) }}
read page(o) = Org + User where org = o order by kind
read users_first(o) = User + Org where org = o order by kind
schema s target dynamodb {{ table tab {{ pk text sk text
  row O from Org pk "{head}" sk "{parent}" store {{ name }}
  row U from User pk "ORG#<org>" sk "{child}" store {{ name }} }}
  serve page(o) by query tab pk "ORG#<o>"
  serve users_first(o) by query tab pk "ORG#<o>" desc }}
"##
        ))
    };
    let right = ["s.page certified", "s.users_first certified"];
    assert_eq!(model("ORG#<id>", "ORG#<id>", "ORG#<org>#USER#<id>"), right);
    assert_eq!(model("ORG#<id>", "A", "A#<id>"), right);
    // What stands in the place of the parent's id is of the user: it may be any text.
    let mixed = ["s.page refused", "s.users_first refused"];
    assert_eq!(model("ORG#<id>", "ORG#<id>", "ORG#<id>#USER#<org>"), mixed);
    assert_eq!(model("ORG#<id>", "ORG#<id>#Z", "ORG#<org>#USER#<id>"), mixed);
}

#[test]
fn what_the_end_of_a_key_tells_is_enough() {
    let found = statuses(
        r##"
entity S {
  key id: text(min 1, max 9, without "#")  a: text(min 1, max 9)  b: text(min 1, max 9)
  c: text(min 1, max 9, without "#/")
}
entity D { a: text(min 1, max 9)  b: text(min 1, max 9)  key (a, b) }
read all() = S
read both() = D select a, b
schema last target candb { table t { row R from S pk "x" sk "<a>#<b>#<id>" store all }
  serve all() by query t pk "x" }
schema parts target candb { table t { row R from S pk "x" sk "<a>#<b>#<id>/<c>" store all }
  serve all() by query t pk "x" }
schema pairs target candb { table t { row R from D pk "x" sk "<a>#<b>" }
  serve both() by query t pk "x" }
"##,
    );
    let of = |name: &str| found.iter().find(|line| line.starts_with(name)).cloned();
    for (name, status) in [
        ("last.all", "certified"),
        // An id may hold a slash, what follows it may not.
        ("parts.all", "certified"),
        ("pairs.both", "refused"),
    ] {
        assert_eq!(of(name), Some(format!("{name} {status}")), "{found:?}");
    }
}

#[test]
fn numbers_have_no_zeros_before_them() {
    let model = |low: i64, tag: &str| {
        statuses(&format!(
            r##"
entity Doc {{ key id: uuid  title: text(max 9) }}
entity Revision {{ doc: Doc  version: int({low}..9999)  body: text(max 9)  key (doc, version) }}
read doc(d) = Doc where id = d
read revision(d, v) = Revision where doc = d and version = v
schema s target dynamodb {{ table tab {{ pk text sk text
  row D from Doc pk "<id>" sk "{tag}" store {{ title }}
  row R from Revision pk "<doc>" sk "v<version>" store {{ body }} }}
  serve doc(d) by get tab pk "<d>" sk "{tag}"
  serve revision(d, v) by get tab pk "<d>" sk "v<v>" }}
"##
        ))
    };
    let (right, wrong) = (["s.doc certified", "s.revision certified"], ["s.doc refused"]);
    assert_eq!(model(1, "v0"), right);
    assert_eq!(model(0, "v00"), right);
    assert_eq!(model(-5, "v-0"), right);
    assert_eq!(model(1, "v10000"), right);
    assert_eq!(model(0, "v0").get(..1), Some(&wrong.map(String::from)[..]));
    assert_eq!(model(-500, "v-10").get(..1), Some(&wrong.map(String::from)[..]));
}

#[test]
fn what_lies_behind_a_reference_tells_that_it_is_there() {
    let found = statuses(
        r#"
entity U { key id: uuid  name: text(min 1, max 5)  boss: U optional }
read under(n) = U select id where boss.name = n
read all() = U select id
schema s target shelfmark {
  table us from U key (id;) store all
  table ub from U when boss is present key (boss.name; id)
  table ua from U when boss is present key ("all"; id)
  serve under(n) by query ub (n)
  serve all() by query ua ("all") }
"#,
    );
    assert_eq!(found, ["s.under certified", "s.all refused"]);
}

/// Each is refused rightly, and `statuses` asks that a state shows it.
#[test]
fn what_is_glued_or_below_zero_is_searched() {
    let found = statuses(
        r##"
entity Tenant { key id: text(min 1, max 20) }
entity Project { tenant: Tenant  id: text(min 1, max 20)  name: text(max 9)  key (tenant, id) }
entity T { key id: uuid  g: uuid  n: int(-50..50)  hash: text(min 8, max 8, only "0-9a-z") }
read project(t, p) = Project where tenant = t and id = p
read by_n(g) = T where g = g order by n
read box(h: text(min 4, max 8, only "0-9a-z")) = T where hash begins h
write create(t, p, n) = insert Project(tenant t, id p, name n)
schema s target dynamodb {
  table ps { pk text sk text row P from Project pk "T#<tenant>#P#<id>" sk "A" store { name }
    index all pk "T" sk "<tenant>#<id>" }
  table ts { pk text sk text row R from T pk "T#<g>" sk "<n:pad(3)>#<id>" store all }
  table hs from T key (first(hash, 5); "<hash><id>") store all
  serve project(t, p) by get ps pk "T#<t>#P#<p>" sk "A"
  serve by_n(g) by query ts pk "T#<g>"
  serve box(h) by query hs (first(h, 5)) begins h }
"##,
    );
    let wanted = ["s.project refused", "s.by_n refused", "s.box refused", "s.create refused"];
    assert_eq!(found, wanted);
}

#[test]
fn an_input_as_long_as_what_is_kept_is_all_of_it() {
    let found = statuses(
        r#"
entity Place { key id: uuid  hash: text(min 8, max 8, only "0-9a-z") }
read cell(h: text(min 4, max 4, only "0-9a-z")) = Place where hash begins h
read box(h: text(min 4, max 5, only "0-9a-z")) = Place where hash begins h
schema s target dynamodb {
  table places from Place key (id;) store all index cells key (first(hash, 4); hash)
  serve cell(h) by query cells (h)
  serve box(h) by query cells (h) }
"#,
    );
    assert_eq!(found, ["s.cell certified", "s.box refused"]);
}

#[test]
fn binary_keys_sort_as_bytes_do() {
    let model = |ty: &str, target: &str, key: &str, from: &str| {
        format!(
            "entity File {{ key digest: {ty}  owner: uuid immutable  size: int(0..999) }}\n\
             read after(o, d) = File where owner = o and digest > d order by digest\n\
             read one(d) = File where digest = d\n\
             write add(d, o, s) = insert File(digest d, owner o, size s)\n\
             schema s target {target} {{\n  table files from File key (digest;) store all\n  \
             {key}\n  {from} }}\n"
        )
    };
    let typed = "table owned from File key (owner; digest) store all";
    let text = "table owned { pk text sk text row Owned from File pk \"<owner>\" sk \"F\\#<digest>\" \
                store all }";
    let serve = "serve after(o, d) by query owned pk \"<o>\" sk after \"F\\#<d>\"";
    let fine = ["s.after certified", "s.one certified", "s.add certified"];
    for (target, key, from) in [
        ("shelfmark", typed, ""),
        ("cql", typed, ""),
        ("dynamodb", typed, ""),
        ("dynamodb", text, serve),
    ] {
        let found = statuses(&model("bytes(min 2, max 2)", target, key, from));
        assert_eq!(found, fine, "{target} {key}");
    }
    // DynamoDB takes no empty value in a key, and a digest of any length may be one.
    let empty = statuses(&model("bytes", "dynamodb", typed, ""));
    assert_eq!(empty, ["s.after refused", "s.one refused", "s.add refused"]);
    // A text that goes on behind a digest of any length is met by the prefix of another.
    let open = text.replace("F\\#<digest>", "<digest><size:pad(3)>");
    let from = serve.replace("F\\#", "");
    let found = statuses(&model("bytes(min 1)", "dynamodb", &open, &from));
    assert_eq!(found[0], "s.after refused");
}
