//! The JSON form as a front door, and what is said when a text is no model.

use shelfmark_design::Document;

const MODEL: &str = r##"
type name = text(max 20, without "#")
entity User { key id: uuid  name: name  count 1k }
read user(u: User) = User where id = u unique
read names(p) = User where name begins p limit 10
write rename(u, n) = update User(id u) set name = n
target shelfmark { partition.max 64MiB }
schema s target shelfmark "one" {
  table users from User key (id;) store all
    index by_name key (first(name, 1); name, id)
  serve user(u) by get users (u)
  sample { row users { name = "x" } }
}
allow A7 in s because "few"
"##;

fn json() -> String {
    let document = Document::parse("text", MODEL).unwrap_or_else(|report| panic!("{report}"));
    format!("{:#}", document.to_json().unwrap_or_else(|error| panic!("{error}")))
}

fn said(name: &str, source: &str) -> String {
    match Document::parse(name, source) {
        Ok(_) => panic!("{name} is a model"),
        Err(report) => report.text,
    }
}

#[test]
fn json_is_taken_wherever_a_model_is() {
    let text = Document::parse("text", MODEL).expect("resolves");
    let made = Document::parse("made.json", &json()).unwrap_or_else(|report| panic!("{report}"));
    let marked = Document::parse("made.json", &format!("\u{feff}{}", json())).expect("resolves");
    assert_eq!(text.to_json(), made.to_json());
    assert_eq!(text.to_json(), marked.to_json());
    let ids = |document: &Document| -> Vec<String> {
        document.check().into_iter().map(|one| format!("{} {}", one.id, one.message)).collect()
    };
    let sorted = |document: &Document| {
        let mut ids = ids(document);
        ids.sort();
        ids
    };
    assert_eq!(sorted(&text), sorted(&made));
    let statuses = |document: &Document| -> Vec<String> {
        document.prove().into_iter().map(|one| format!("{} {}", one.pattern, one.reason)).collect()
    };
    assert_eq!(statuses(&text), statuses(&made));
    // What is formatted stays JSON.
    let formatted = Document::format("made.json", &json()).expect("formats");
    assert_eq!(formatted, format!("{}\n", json()));
}

#[test]
fn json_that_is_no_model_is_refused_with_its_place() {
    let unknown = json().replacen("\"key\": true", "\"colour\": 1, \"key\": true", 1);
    let text = said("bad.json", &unknown);
    assert!(text.contains("unknown field `colour`") && text.contains("bad.json:"), "{text}");
    for name in ["A b; drop", "", "9a"] {
        let bad = json().replacen("\"User\"", &format!("{name:?}"), 1);
        let text = said("bad.json", &bad);
        assert!(text.contains("is no name"), "{text}");
    }
    // A text that says more than the JSON did is not made.
    let bad = json().replacen("\"1k\"", "\"1k growth 3\"", 1);
    let text = said("bad.json", &bad);
    assert!(text.contains("no text says") || text.contains("error"), "{text}");
    assert!(said("bad.json", "{").contains("bad.json:1"));
    let schema = Document::json_schema().to_string();
    assert!(schema.contains("\"additionalProperties\":false") && schema.contains("\"pattern\""));
}

#[test]
fn one_run_tells_what_is_wrong_with_names_too() {
    let text = "entity V { key id: uuid  name: tex }\n\
                entity X { key id: uuid }\n\
                read a(i) = V where id = i ordr by name\n\
                read b(i) = W where id = i\n\
                read c(i) = V where nme = i\n\
                read x(i) = V where name =\n\
                schema s target cqll { table t from V key (id;) }\n\
                schema r target cql { table t from V key (id;) store all\n\
                  serve a(i) by qery t (i)\n\
                  serve zz(i) by get t (i)\n\
                }\n\
                write w(i) = inser V(id i)\n\
                allow K99 in r because \"x\"\n";
    let text = said("broken", text);
    for wanted in [
        "no type `tex`",
        "no entity or link `W`",
        "called `nme`",
        "no target `cqll`",
        "no read `zz`",
        "no lint `K99`",
        "did you mean `order`?",
        "did you mean `query`?",
        "did you mean `insert`?",
        "expected a name, found `schema`",
    ] {
        assert!(text.contains(wanted), "{wanted} is not in\n{text}");
    }
    // What was named in a line that could not be read is not missed.
    assert!(!text.contains("no read `a`") && !text.contains("no read `x`"), "{text}");
    let text = said("broken", "entity V { key id: uuid  body: text avg 3 mx 4 }\n");
    assert!(text.contains("did you mean `max`?"), "{text}");
    let text = said("broken", "schema s traget cql { }\n");
    assert!(text.contains("did you mean `target`?"), "{text}");
}

#[test]
fn a_byte_order_mark_counts_for_nothing() {
    let text = said("marked", "\u{feff}entty A { key id: uuid }\n");
    assert!(text.contains("marked:1:1"), "{text}");
}

#[test]
fn comments_go_before_what_they_are_in() {
    let text = "entity A { key id: uuid }\n\n# about r\nread r(i) = A\n  # the key\n  where id = i # one\n\nschema s target cql {\n  sample {\n    # first\n    row t { id = \"a\" }\n  }\n}\n";
    let once = Document::format("text", text).expect("parses");
    let at = |what: &str| once.find(what).unwrap_or_else(|| panic!("{what} is not in\n{once}"));
    assert!(at("# about r") < at("# the key") && at("# the key") < at("read r"), "{once}");
    assert!(at("sample {") < at("# first") && at("# first") < at("row t"), "{once}");
    assert!(once.contains("where id = i  # one\n"), "{once}");
    assert_eq!(Document::format("text", &once).expect("parses"), once);
}
