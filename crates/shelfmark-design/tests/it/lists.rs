//! Reads that look in a list: what the list may hold, how long it is, what shows them wrong.

use super::together::statuses;
use shelfmark_design::Document;

const READINGS: &str = "
entity R { sensor: uuid  at: timestamp  day: date  note: text(max 9)  key (sensor, at) }
";

/// A list that leaves out some of what is there shows that a range holds more.
#[test]
fn a_list_may_leave_out_what_is_there() {
    let model = format!(
        "{READINGS}read some(s, ds: list of date(max 7)) = R where sensor = s and day in ds
schema whole target cql {{
  table t from R key (sensor; at) store all
  serve some(s, ds) by query t (s)
}}
schema looped target cql {{
  table t from R key (sensor, day; at) store all
  serve some(s, ds) by each d in ds query t (s, d)
}}
"
    );
    assert_eq!(statuses(&model), ["whole.some refused", "looped.some multi"]);
    let document = Document::parse("lists", &model).unwrap_or_else(|report| panic!("{report}"));
    let proofs = document.prove();
    let shown = serde_json::to_value(&proofs[0].witness).unwrap_or_default();
    assert!(shown.get("state").is_some(), "it is shown by a state: {shown}");
}

/// `max` behind `in` bounds a list whose own type says nothing of its length.
#[test]
fn the_length_of_a_list_is_told_by_its_type_or_where_it_is_used() {
    let of = |ty: &str, max: &str| {
        statuses(&format!(
            "{READINGS}read some(s, xs{ty}) = R where sensor = s and note in xs{max}
schema a target cql {{
  table t from R key (sensor; note, at) store all
  serve some(s, xs) by each x in xs query t (s, x)
}}
"
        ))
    };
    assert_eq!(of("", " max 3"), ["a.some multi"]);
    assert_eq!(of(": list of text(max 9)", " max 3"), ["a.some multi"]);
    assert_eq!(of(": list of text(max 9)(max 3)", ""), ["a.some multi"]);
    // The one `max` is of the text.
    assert_eq!(of(": list of text(max 9)", ""), ["a.some refused"]);
}

/// Two lists that differ in what they are of are told apart in words.
#[test]
fn a_list_of_another_type_is_named() {
    let model =
        format!("{READINGS}read some(s, xs: list of text) = R where sensor = s and day in xs");
    let report = Document::parse("lists", &model).expect_err("no dates");
    assert!(report.text.contains("expected list of date, found list of text"), "{report}");
}
