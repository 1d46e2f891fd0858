//! Checks texts: formatting, recovery, hostile input, the JSON form.

use proptest::prelude::*;

use crate::document::Document;
use shelfmark_design_language::syntax::parser::parse;

const SEEDS: [&str; 8] = [
    include_str!("starter.shelf"),
    include_str!("../../../models/seeds/blog.shelf"),
    include_str!("../../../models/seeds/followers.shelf"),
    include_str!("../../../models/seeds/openchat.shelf"),
    include_str!("../../../models/seeds/phonebook.shelf"),
    include_str!("../../../models/seeds/publication.shelf"),
    include_str!("../../../models/seeds/reddit.shelf"),
    include_str!("../../../models/seeds/twissandra.shelf"),
];

#[test]
fn formatting_twice_changes_nothing_and_keeps_comments() {
    for seed in SEEDS {
        let once = Document::format("seed", seed).expect("parses");
        let twice = Document::format("seed", &once).expect("parses");
        assert_eq!(once, twice);
        assert_eq!(parse(seed).comments.len(), parse(&once).comments.len());
    }
}

#[test]
fn models_are_formatted() {
    for seed in SEEDS {
        assert_eq!(
            Document::format("seed", seed).expect("parses"),
            seed,
            "run `shelfmark design fmt`"
        );
    }
}

#[test]
fn the_json_form_is_the_same_model() {
    for seed in SEEDS {
        let document = Document::parse("seed", seed).expect("resolves");
        let json = document.to_json().expect("writes");
        let text = Document::text_of_json("json", &json.to_string()).expect("reads");
        let again =
            Document::parse("again", &text).unwrap_or_else(|report| panic!("{report}\n{text}"));
        assert_eq!(json, again.to_json().expect("writes"));
    }
}

#[test]
fn one_run_reports_every_error() {
    let text = "entty A { key id: uuid }\nentity B {\n  key id: uuidd\n  nmae text\n  x: int(9..1)\n}\nread r(a) = B where idd = a\nread s() = C\n";
    let report = Document::parse("bad", text).expect_err("is wrong");
    for said in ["did you mean `entity`?", "expected an attribute or a fact"] {
        assert!(report.text.contains(said), "{said} is not in\n{report}");
    }
    let text = "entity B {\n  key id: uuidd\n  x: int(9..1)\n}\nread r(a) = B where idd = a\nread s() = C\n";
    let report = Document::parse("bad", text).expect_err("is wrong");
    for said in ["did you mean `uuid`?", "this range is empty", "there is no entity or link `C`"] {
        assert!(report.text.contains(said), "{said} is not in\n{report}");
    }
}

#[test]
fn deep_nesting_is_refused_not_followed() {
    let types = format!("type t = {}int", "list of ".repeat(100_000));
    assert!(parse(&types).diagnostics.iter().any(|one| one.message.contains("nested deeper")));
    let calls = format!(
        "entity A {{ key id: uuid }}\nread r(a) = A where id = {}a{}",
        "f(".repeat(50_000),
        ")".repeat(50_000)
    );
    assert!(!parse(&calls).diagnostics.is_empty());
    let holes = format!(
        "schema s target candb {{ table t {{ row A from A pk \"<{}x{}>\" }} }}",
        "f(".repeat(5_000),
        ")".repeat(5_000)
    );
    assert!(!parse(&holes).diagnostics.is_empty());
}

#[test]
fn every_target_file_is_read() {
    assert_eq!(
        shelfmark_design_language::target::names(),
        ["shelfmark", "dynamodb", "cql", "candb", "ordered"]
    );
}

#[test]
fn every_lint_has_words() {
    let mut ids: Vec<&str> = crate::document::lints();
    ids.sort_unstable();
    let count = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), count, "an id is used twice");
    for id in ids {
        assert!(crate::document::explain(id).is_some_and(|text| text.len() > 80), "{id}");
    }
}

proptest! {
    #[test]
    fn any_text_is_parsed_without_a_panic(text in "[a-z{}()<>\"#:;,.=~ \n0-9%/é-]{0,300}") {
        let _ = Document::parse("any", &text);
        let _ = Document::format("any", &text);
    }

    /// Seeds with a piece cut out: errors, never a panic, and what is still a model is proven.
    #[test]
    fn damaged_models_are_answered(seed in 0..SEEDS.len(), from in 0_usize..10_000, length in 0_usize..40) {
        let text = SEEDS[seed];
        let mut start = text.len() * from / 10_000;
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let mut end = (start + length).min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let cut = format!("{}{}", &text[..start], &text[end.max(start)..]);
        let _ = Document::parse("cut", &cut);
        if let Ok(once) = Document::format("cut", &cut) {
            prop_assert_eq!(Document::format("cut", &once).expect("formatted text parses"), once);
        }
    }
}
