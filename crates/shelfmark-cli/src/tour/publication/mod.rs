//! The publication index through the DynamoDB face: the document's three key designs.

mod data;
mod face;
mod filters;
mod load;

use serde_json::{Value, json};
use shelfmark_dynamo::{Face, FaceOptions};

use super::asker::{Asker, Question};
use super::{Outcome, Plan, Stage};
use data::{EXAMPLE_PUBLICATION, EXAMPLE_TAG, EXAMPLE_TITLE, Index};
use face::{begins_with, get, query, sort_key_only, try_query};
use load::{CORRECTED, GSI, HIERARCHICAL, ROOT, SHELF};

/// Returns a command that reads the tags of the example title.
pub(super) fn further() -> String {
    format!(
        "AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local aws dynamodb query --region local \\\n    \
         --endpoint-url http://127.0.0.1:8000 --table-name {CORRECTED} \\\n    \
         --index-name by_title --key-condition-expression 'GSIPK = :t' \\\n    \
         --expression-attribute-values '{{\":t\": {{\"S\": \"Title#{EXAMPLE_PUBLICATION}#{EXAMPLE_TITLE}\"}}}}'"
    )
}

/// Loads the variants and asks their questions.
pub(super) fn run(stage: &Stage<'_>) -> anyhow::Result<Vec<Outcome>> {
    let environment = stage.engine.environment().clone();
    let clock = environment.clock.clone();
    let face = Face::new(stage.engine.clone(), environment, FaceOptions::default());
    let index = Index::generate(stage.seed);
    (stage.progress)("loading three key designs");
    load::all(&face, &index)?;
    (stage.progress)("asking");
    let mut asker = Asker::new("publication", "dynamodb", clock);
    root(&mut asker, &face, &index)?;
    hierarchical(&mut asker, &face, &index)?;
    tags_of_a_title(&mut asker, &face, &index)?;
    Ok(asker.outcomes)
}

fn with_prefix(prefix: &str, names: impl Iterator<Item = String>) -> Vec<String> {
    names.map(|name| format!("{prefix}{name}")).collect()
}

fn root(asker: &mut Asker, face: &Face, index: &Index) -> anyhow::Result<()> {
    let pk = format!("PublicationName#{EXAMPLE_PUBLICATION}");
    let titles = index.example();
    let metadata = |plan, range, note| Question {
        pattern: "metadata",
        plan,
        question: format!("The metadata of {EXAMPLE_PUBLICATION}, of which just the name is known"),
        range,
        note,
    };
    let expected = ["Metadata#1".to_owned()];
    asker.ask(
        metadata(
            Plan::Published,
            format!("GetItem PK = {pk}, SK = #Metadata#[PublicationId]"),
            "the sort key holds the publication's id, which the caller does not know",
        ),
        &expected,
        || get(face, ROOT, &pk, "#Metadata#"),
    )?;
    asker.ask(
        metadata(
            Plan::Right,
            format!("PK = {pk}, SK begins with Metadata#"),
            "a query takes the beginning of the sort key for it",
        ),
        &expected,
        || query(face, begins_with(ROOT, &pk, "Metadata#")),
    )?;
    asker.ask(
        Question {
            pattern: "titles",
            plan: Plan::Published,
            question: format!("All titles of {EXAMPLE_PUBLICATION}"),
            range: format!("PK = {pk}, SK begins with Title#"),
            note: "one contiguous range",
        },
        &with_prefix("Title#", titles.keys().cloned()),
        || query(face, begins_with(ROOT, &pk, "Title#")),
    )?;
    asker.ask(
        Question {
            pattern: "tags",
            plan: Plan::Published,
            question: format!("All tags of {EXAMPLE_PUBLICATION}"),
            range: format!("PK = {pk}, SK begins with Tag#"),
            note: "one contiguous range",
        },
        &with_prefix("Tag#", Index::tags_of(&titles).into_iter()),
        || query(face, begins_with(ROOT, &pk, "Tag#")),
    )
}

fn hierarchical(asker: &mut Asker, face: &Face, index: &Index) -> anyhow::Result<()> {
    let publication = format!("PublicationName#{EXAMPLE_PUBLICATION}");
    let titles = index.example();
    metadata_by_hierarchy(asker, face, &format!("{publication}#Metadata"))?;
    let prefix = format!("{publication}#Title#");
    let expected = with_prefix(&prefix, titles.keys().cloned());
    let titles_question = |plan, range, note| Question {
        pattern: "titles by hierarchy",
        plan,
        question: format!("All titles of {EXAMPLE_PUBLICATION}, where tags lie below their title"),
        range,
        note,
    };
    asker.ask(
        titles_question(Plan::Published, format!("SK begins with {prefix}"), NO_PARTITION),
        &expected,
        || try_query(face, sort_key_only(HIERARCHICAL, &prefix)),
    )?;
    asker.ask(
        titles_question(
            Plan::Published,
            format!("PK = (UUID), SK begins with {prefix}"),
            "were the UUID known: titles and their tags lie between each other in one range",
        ),
        &expected,
        || query(face, begins_with(HIERARCHICAL, SHELF, &prefix)),
    )?;
    asker.ask(
        titles_question(
            Plan::Right,
            format!("PK = PublicationName#{EXAMPLE_PUBLICATION}, SK begins with Title#"),
            "each kind of row in a range of its own",
        ),
        &with_prefix("Title#", titles.keys().cloned()),
        || {
            let pk = format!("PublicationName#{EXAMPLE_PUBLICATION}");
            query(face, begins_with(CORRECTED, &pk, "Title#"))
        },
    )?;
    titles_with_a_tag(asker, face, index, &prefix)?;
    filters::ask(asker, face, index)
}

/// The note on the document's calls with a condition on the sort key alone.
const NO_PARTITION: &str = "as printed: the partition key is a UUID, and the call names none";

fn metadata_by_hierarchy(asker: &mut Asker, face: &Face, prefix: &str) -> anyhow::Result<()> {
    let question = |plan, range, note| Question {
        pattern: "metadata by hierarchy",
        plan,
        question: format!("The metadata of {EXAMPLE_PUBLICATION}, from one partition for all"),
        range,
        note,
    };
    let expected = [format!("{prefix}#1")];
    asker.ask(
        question(Plan::Published, format!("SK begins with {prefix}"), NO_PARTITION),
        &expected,
        || try_query(face, sort_key_only(HIERARCHICAL, prefix)),
    )?;
    asker.ask(
        question(
            Plan::Right,
            format!("PK = (UUID), SK begins with {prefix}"),
            "the partition's UUID must be known, and every publication is in that partition",
        ),
        &expected,
        || query(face, begins_with(HIERARCHICAL, SHELF, prefix)),
    )
}

fn titles_with_a_tag(
    asker: &mut Asker,
    face: &Face,
    index: &Index,
    prefix: &str,
) -> anyhow::Result<()> {
    let with_tag = |tags: &Vec<String>| tags.iter().any(|tag| tag == EXAMPLE_TAG);
    let titles: Vec<String> = index
        .example()
        .into_iter()
        .filter(|(_, tags)| with_tag(tags))
        .map(|(title, _)| title)
        .collect();
    let question = |plan, range, note| Question {
        pattern: "titles with a tag",
        plan,
        question: format!("The titles of {EXAMPLE_PUBLICATION} with {EXAMPLE_TAG}"),
        range,
        note,
    };
    let below = |title: &String| format!("{prefix}{title}#Tag#{EXAMPLE_TAG}");
    let mut body = begins_with(HIERARCHICAL, SHELF, prefix);
    add(&mut body, "FilterExpression", json!("tag = :tag"));
    add_value(&mut body, ":tag", EXAMPLE_TAG);
    asker.ask(
        question(
            Plan::Published,
            format!("PK = (UUID), SK begins with {prefix}, filter tag = {EXAMPLE_TAG}"),
            "right, but the filter reads all and throws most away",
        ),
        &titles.iter().map(below).collect::<Vec<_>>(),
        || query(face, body),
    )?;
    let pk = format!("PublicationName#{EXAMPLE_PUBLICATION}");
    let start = format!("Tag#{EXAMPLE_TAG}#");
    asker.ask(
        question(
            Plan::Right,
            format!("PK = {pk}, SK begins with {start}"),
            "the tag comes before the title in the key",
        ),
        &with_prefix(&start, titles.into_iter()),
        || query(face, begins_with(CORRECTED, &pk, &start)),
    )
}

fn add(body: &mut Value, name: &str, value: Value) {
    if let Some(body) = body.as_object_mut() {
        body.insert(name.to_owned(), value);
    }
}

fn add_value(body: &mut Value, name: &str, text: &str) {
    if let Some(values) = body.get_mut("ExpressionAttributeValues") {
        add(values, name, json!({"S": text}));
    }
}

fn tags_of_a_title(asker: &mut Asker, face: &Face, index: &Index) -> anyhow::Result<()> {
    let tags = index.example().remove(EXAMPLE_TITLE).unwrap_or_default();
    let key = format!("Title#{EXAMPLE_PUBLICATION}#{EXAMPLE_TITLE}");
    let by_title = |table: &str| {
        json!({
            "TableName": table,
            "IndexName": "by_title",
            "KeyConditionExpression": "GSIPK = :title",
            "ExpressionAttributeValues": {":title": {"S": key}},
        })
    };
    let question = |plan, note| Question {
        pattern: "tags of a title",
        plan,
        question: format!("The tags of \"{EXAMPLE_TITLE}\" in {EXAMPLE_PUBLICATION}"),
        range: format!("index by_title, GSIPK = {key}"),
        note,
    };
    asker.ask(
        question(
            Plan::Published,
            "the key is Tag#(tag): two titles with one tag share one item, and the later one keeps it",
        ),
        &with_prefix("Tag#", tags.iter().cloned()),
        || query(face, by_title(GSI)),
    )?;
    asker.ask(
        question(Plan::Right, "the key is Tag#(tag)#(title): one item for each"),
        &tags.iter().map(|tag| format!("Tag#{tag}#{EXAMPLE_TITLE}")).collect::<Vec<_>>(),
        || query(face, by_title(CORRECTED)),
    )
}
