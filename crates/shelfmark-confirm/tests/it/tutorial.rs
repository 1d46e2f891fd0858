//! The confirmations that the tutorial prints, whole or in part.

use shelfmark_confirm::{Options, confirm};
use shelfmark_design::Document;

use crate::read;

#[test]
fn what_the_tutorial_prints_is_what_is_seen() {
    let text = read("docs/modelling.md");
    let blocks: Vec<(&str, &str)> =
        text.split("```").skip(1).step_by(2).filter_map(|block| block.split_once('\n')).collect();
    let shelf = |wanted: &str| {
        let mut texts = blocks.iter().filter(|(kind, _)| *kind == "shelf").map(|(_, text)| *text);
        texts.find(|text| text.contains(wanted)).unwrap_or_else(|| panic!("no {wanted}"))
    };
    let mut checked = 0;
    for (_, wanted) in blocks.iter().filter(|(kind, _)| *kind == "confirm") {
        let name = wanted.split(' ').next().expect("a schema");
        let model = format!("{}\n{}", shelf("entity User"), shelf(&format!("schema {name}")));
        let document =
            Document::parse("tutorial", &model).unwrap_or_else(|report| panic!("{report}"));
        let report = confirm(&document, &Options::default()).expect("runs");
        let text = report.text();
        assert!(text.contains(wanted.trim_end()), "printed is\n{wanted}\nseen is\n{text}");
        checked += 1;
    }
    assert_eq!(checked, 2, "a schema that holds, and one that does not");
}
