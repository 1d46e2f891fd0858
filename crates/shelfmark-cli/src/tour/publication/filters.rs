//! Answers questions by filters over the document's hierarchy: right, at the price of all that is
//! read.

use serde_json::json;
use shelfmark_dynamo::Face;

use super::data::{EXAMPLE_PUBLICATION, Index};
use super::face::{begins_with, query};
use super::load::{CORRECTED, HIERARCHICAL, PUBLICATIONS, ROOT, SHELF};
use super::{add, with_prefix};
use crate::tour::asker::{Asker, Question};
use crate::tour::outcome::Plan;

/// Asks both questions, each by a filter and by a range.
pub(super) fn ask(asker: &mut Asker, face: &Face, index: &Index) -> anyhow::Result<()> {
    tags(asker, face, index)?;
    publications(asker, face, index)
}

fn tags(asker: &mut Asker, face: &Face, index: &Index) -> anyhow::Result<()> {
    let titles = index.example();
    let prefix = format!("PublicationName#{EXAMPLE_PUBLICATION}#Title#");
    let question = |plan, range, note| Question {
        pattern: "tags by hierarchy",
        plan,
        question: format!("All tags of {EXAMPLE_PUBLICATION}, where they lie below its titles"),
        range,
        note,
    };
    let mut expected: Vec<String> = titles
        .iter()
        .flat_map(|(title, tags)| tags.iter().map(move |tag| format!("{title}#Tag#{tag}")))
        .map(|rest| format!("{prefix}{rest}"))
        .collect();
    expected.sort();
    let mut body = begins_with(HIERARCHICAL, SHELF, &prefix);
    add(&mut body, "FilterExpression", json!("attribute_exists(tag)"));
    asker.ask(
        question(
            Plan::Published,
            format!("PK = (UUID), SK begins with {prefix}, filter: it has a tag"),
            "were the UUID known: right, with every title read for nothing and each tag as often as \
             titles have it",
        ),
        &expected,
        || query(face, body),
    )?;
    let pk = format!("PublicationName#{EXAMPLE_PUBLICATION}");
    asker.ask(
        question(
            Plan::Right,
            format!("PK = {pk}, SK begins with Tag#"),
            "one item for each tag, in a range of its own",
        ),
        &with_prefix("Tag#", Index::tags_of(&titles).into_iter()),
        || query(face, begins_with(ROOT, &pk, "Tag#")),
    )
}

fn publications(asker: &mut Asker, face: &Face, index: &Index) -> anyhow::Result<()> {
    let question = |plan, range: &str, note| Question {
        pattern: "publications alone",
        plan,
        question: "All publications without their titles and tags".to_owned(),
        range: range.to_owned(),
        note,
    };
    let names: Vec<&String> = index.publications.keys().collect();
    let by_hierarchy = names.iter().map(|name| format!("PublicationName#{name}#Metadata#1"));
    let mut body = begins_with(HIERARCHICAL, SHELF, "PublicationName#");
    add(&mut body, "FilterExpression", json!("attribute_exists(followers)"));
    let mut expected: Vec<String> = by_hierarchy.collect();
    expected.sort();
    asker.ask(
        question(
            Plan::Published,
            "PK = (UUID), SK begins with PublicationName#, filter: it has followers",
            "were the UUID known: the filter reads every title and every tag of every publication",
        ),
        &expected,
        || query(face, body),
    )?;
    asker.ask(
        question(
            Plan::Right,
            "PK = Publications, SK begins with PublicationName#",
            "a partition of publications alone",
        ),
        &names.iter().map(|name| format!("PublicationName#{name}")).collect::<Vec<_>>(),
        || query(face, begins_with(CORRECTED, PUBLICATIONS, "PublicationName#")),
    )
}
