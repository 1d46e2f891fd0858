//! Ranges of whole values, amounts that are taken away, and what never changes: each refused or certified
//! wrongly once, beside its neighbour that is decided the other way.

use super::together::{proven, statuses};
use shelfmark_design::Document;

/// Returns the requests of a schema as text.
fn calls(text: &str, schema: &str) -> String {
    let document = Document::parse("t", text).unwrap_or_else(|report| panic!("{report}"));
    match document.calls(schema, None) {
        Ok(calls) => calls.json().to_string(),
        Err(error) => panic!("{error}"),
    }
}

/// BETWEEN includes both of its ends: of whole values it says ranges that do not, too.
#[test]
fn a_range_of_whole_values_may_leave_out_its_ends() {
    let text = r##"
entity E { key (g, at)  g: text(min 1, max 20)  at: timestamp  n: int  d: decimal  on: date }
read at_(g, f, t) = E where g = g and at >= f and at < t order by at
read after_(g, f, t) = E where g = g and at > f and at <= t order by at
read n_(g, f, t) = E where g = g and n > f and n < t order by n
read on_(g, f, t) = E where g = g and on >= f and on < t order by on
read d_(g, f, t) = E where g = g and d >= f and d < t order by d
schema typed target dynamodb {
  table rows from E key (g; at) store all
    index by_n key (g; n) store all
    index by_d key (g; d) store all
    index by_on key (g; on) store all
}
schema texts target dynamodb {
  table rows { pk text sk text
    row R from E pk "G#<g>" sk "AT#<at:iso>" store all
      index by_on pk "<g>" sk "<on>" store all }
}
"##;
    assert_eq!(
        statuses(text),
        [
            "typed.at_ certified",
            "typed.after_ certified",
            "typed.n_ certified",
            "typed.on_ certified",
            "typed.d_ refused",
            "texts.at_ certified",
            "texts.after_ certified",
            "texts.n_ refused",
            "texts.on_ certified",
            "texts.d_ refused",
        ]
    );
    let calls = calls(text, "typed");
    assert!(calls.contains(r#"{"$call":"minus","of":[{"$input":"t"},1]}"#), "{calls}");
    assert!(calls.contains(r#"[{"$input":"f"},"<",{"$input":"t"}]"#), "{calls}");
}

/// The events behind a version: texts of one width, in a table that has other rows before and behind.
#[test]
fn a_range_goes_on_behind_a_padded_number() {
    let text = r##"
type sid = text(min 1, max 80, without "#")
entity Stream { key id: sid  n: int }
entity Event { key (stream, version)  stream: Stream  version: int(1..1000000000)  body: text(max 100) }
entity Snapshot { key (stream, version)  stream: Stream  version: int(1..1000000000) }
read replay(s, v) = Event where stream = s and version > v order by version
schema s target dynamodb { table events { pk text sk text
  row S from Stream pk "S#<id>" sk "#" store all
  row E from Event pk "S#<stream>" sk "E#<version:PAD>" store all
  row N from Snapshot pk "S#<stream>" sk "N#<version:PAD>" store all } }
"##;
    assert_eq!(statuses(&text.replace(":PAD", ":pad(10)")), ["s.replay certified"]);
    assert_eq!(statuses(&text.replace(":PAD", "")), ["s.replay refused"]);
}

/// An amount that is an input is taken away where it is there.
#[test]
fn an_input_is_taken_away() {
    let text = r#"
entity Account { key id: uuid  balance: int  owner: text(max 9) }
write withdraw(a, n) = increment Account(id a) set balance by -n if balance >= n
schema d target dynamodb { table accounts from Account key (id;) store all }
schema s target shelfmark { table accounts from Account key (id;) store all }
schema c target cql { table accounts from Account key (id;) store all }
"#;
    assert_eq!(
        statuses(text),
        ["d.withdraw certified", "s.withdraw certified", "c.withdraw refused"]
    );
    assert!(calls(text, "d").contains(r#"{"N":{"$call":"minus","of":[{"$input":"n"}]}}"#));
    let written = Document::format("t", text).expect("a text");
    assert!(written.contains("set balance by -n if balance >= n"), "{written}");
    let elsewhere = text
        .replace("increment Account(id a) set balance by", "update Account(id a) set balance =");
    assert!(Document::parse("t", &elsewhere).is_err());
}

/// What is replaced has the same values of what never changes, or the write is none: a read tells.
#[test]
fn what_never_changes_is_looked_at_before_it_is_replaced() {
    let text = |lasts: &str| {
        format!(
            r##"
entity Event {{
  key id: text(min 1, max 9)  at: timestamp {lasts}  who: text(min 1, max 9) {lasts}  body: text(max 9)
}}
write rep(i, at, b, w) = insert Event(id i, at at, body b, who w) or replace
schema dynamo target dynamodb {{
  table events from Event key (id;) store all
  table by_who from Event key (who; "<at:iso>#<id>") store {{ id }}
}}
schema blind target cql {{
  table events from Event key (id;) store all
  write rep {{ put events }}
}}
schema looks target cql {{
  table events from Event key (id;) store all
  table by_who from Event key (who; at, id) store all
}}
schema own target shelfmark {{
  table events from Event key (id;) store all
  table by_who from Event key (who; at, id) store all
}}
schema lean target cql {{ table events from Event key (id;) store {{ body }} }}
"##
        )
    };
    let of = |blind: &str| {
        ["dynamo.rep certified", blind, "looks.rep certified", "own.rep certified"]
            .map(str::to_owned)
            .into_iter()
            .chain(["lean.rep certified".to_owned()])
            .collect::<Vec<_>>()
    };
    assert_eq!(statuses(&text("immutable")), of("blind.rep refused"));
    assert_eq!(statuses(&text("")), of("blind.rep certified"));
}

/// What refers to a tuple that is deleted is the caller's word, which the certificate says.
#[test]
fn nothing_is_taken_to_refer_to_what_is_deleted() {
    let text = |rest: &str| {
        format!(
            r#"
entity Folder {{ key id: uuid  name: text(max 9) }}
entity Mail {{ key id: uuid  folder: Folder }}
write close(f) = delete Folder(id f){rest}
schema s target shelfmark {{
  table folders from Folder key (id;) store all
  table mails from Mail key (id;) store all
    index by_folder key (folder; id)
}}
"#
        )
    };
    let said = |rest: &str| {
        let (_, certificates) = proven(&text(rest));
        certificates.iter().map(|one| one.text()).collect::<String>()
    };
    let alone = said("");
    let wanted = "assumed: no Mail refers to the Folder that is deleted (folder)";
    assert!(alone.contains(wanted), "{alone}");
    let both = said(" and delete Mail(id m.id) for each Mail as m where folder = f");
    assert!(both.contains("certified") && !both.contains("assumed"), "{both}");
}

/// A loop that names its tuples by what it asks for knows of each what its rows show.
#[test]
fn a_loop_may_name_its_tuples_by_what_it_asks_for() {
    let text = |named: &str| {
        format!(
            r#"
entity Post {{ key id: text(min 1, max 20) }}
entity Tag {{
  key (post, tag)
  post: Post
  tag: text(min 1, max 20)
  at: timestamp immutable
}}
write drop(p, q: text(min 1, max 20)) =
    delete Tag(post {named}, tag t.tag) for each Tag as t where post = p
schema s target cql {{
  table tags from Tag key (post; tag) store all
  table by_tag from Tag key (tag; at desc, post) store {{ }}
}}
"#
        )
    };
    for own in ["p", "t.post"] {
        let of = text(own).replace(", q: text(min 1, max 20)", "");
        assert_eq!(statuses(&of), ["s.drop certified"]);
    }
    assert_eq!(statuses(&text("q")), ["s.drop refused"]);
}
