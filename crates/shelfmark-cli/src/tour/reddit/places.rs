//! Places at three levels, and versions of a document.

use shelfmark_keycode::lexint;
use shelfmark_typed::Attributes;

use crate::tour::asker::{Asker, Question};
use crate::tour::entities::Entities;
use crate::tour::outcome::Plan;
use crate::tour::words::WORDS;

const VERSIONS: u64 = 12;

pub(super) fn run(asker: &mut Asker, entities: &Entities) -> anyhow::Result<()> {
    let keys: Vec<String> = WORDS
        .cities
        .iter()
        .map(|(country, region, city)| format!("{country}#{region}#{city}"))
        .collect();
    entities.put_keys("places", &keys, attributes)?;
    let levels = [
        ("cities of a country", "FR#", "All cities in France"),
        ("cities of a region", "US#WA#", "All cities in Washington state"),
        ("a city", "NO#Troms#Tromsø", "One city"),
    ];
    for (pattern, prefix, question) in levels {
        let expected: Vec<String> =
            keys.iter().filter(|key| key.starts_with(prefix)).cloned().collect();
        let upper = format!("{prefix}~");
        asker.ask(
            Question {
                pattern,
                plan: Plan::Published,
                question: question.to_owned(),
                range: format!("PK = places, SK from {prefix} to {upper}"),
                note: "",
            },
            &expected,
            || entities.scan("places", prefix, &upper, true, 1_000),
        )?;
        asker.ask(
            Question {
                pattern,
                plan: Plan::Right,
                question: question.to_owned(),
                range: format!("PK = places, SK begins with {prefix}"),
                note: "each level of the hierarchy is one range",
            },
            &expected,
            || entities.prefix("places", prefix, true, 1_000),
        )?;
    }
    versions(asker, entities)
}

fn versions(asker: &mut Asker, entities: &Entities) -> anyhow::Result<()> {
    let plain: Vec<String> = (1..=VERSIONS).map(|version| format!("report#v{version}")).collect();
    let encoded = (1..=VERSIONS)
        .map(|version| format!("report#v{}", lexint::to_hex(version)))
        .collect::<Vec<String>>();
    entities.put_keys("documents", &plain, attributes)?;
    entities.put_keys("documents-encoded", &encoded, attributes)?;
    let last = |keys: &[String]| keys.last().cloned().into_iter().collect::<Vec<_>>();
    let question = |plan, partition: &str, note| Question {
        pattern: "latest version",
        plan,
        question: format!("The latest of {VERSIONS} versions of a report"),
        range: format!("PK = {partition}, SK begins with report#v, descending, limit 1"),
        note,
    };
    asker.ask(
        question(Plan::Published, "documents", "as text, v9 comes after v12"),
        &last(&plain),
        || entities.prefix("documents", "report#v", false, 1),
    )?;
    asker.ask(
        question(
            Plan::Right,
            "documents-encoded",
            "numbers encoded, so the last key is the latest",
        ),
        &last(&encoded),
        || entities.prefix("documents-encoded", "report#v", false, 1),
    )?;
    asker.ask(
        Question {
            pattern: "version history",
            plan: Plan::Right,
            question: "All versions of the report, oldest first".to_owned(),
            range: "PK = documents-encoded, SK begins with report#v".to_owned(),
            note: "one contiguous range",
        },
        &encoded,
        || entities.prefix("documents-encoded", "report#v", true, 100),
    )
}

/// Returns the attributes of a place or a document.
fn attributes(pk: &str, sk: &str) -> Attributes {
    let (_, last) = sk.rsplit_once('#').unwrap_or(("", sk));
    Attributes::new().with("name", last).with("text", format!("What {pk} tell of {last}"))
}
