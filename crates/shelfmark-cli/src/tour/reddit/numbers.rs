//! Numbers and times in text keys.

use shelfmark_keycode::{Overflow, UlidGenerator, lexint};
use shelfmark_store::random::SplitMix;
use shelfmark_typed::Attributes;

use crate::tour::asker::{Asker, Question};
use crate::tour::entities::Entities;
use crate::tour::outcome::Plan;

/// The scores of the guide.
const SCORES: [u64; 3] = [5, 20, 307];
const PURCHASES: u64 = 5_000;
const NEWEST: usize = 5;
const STARTED_MS: u64 = 1_700_000_000_000;

pub(super) fn run(asker: &mut Asker, entities: &Entities, seed: u64) -> anyhow::Result<()> {
    scores(asker, entities)?;
    newest(asker, entities, seed)
}

fn scores(asker: &mut Asker, entities: &Entities) -> anyhow::Result<()> {
    let plain = SCORES.map(|score| format!("user#{score}"));
    let encoded = SCORES
        .iter()
        .map(|score| format!("user#{}", lexint::to_hex(*score)))
        .collect::<Vec<String>>();
    entities.put_keys("scores", &plain, attributes)?;
    entities.put_keys("scores-encoded", &encoded, attributes)?;
    let question = |plan, range: &str, note| Question {
        pattern: "scores in order",
        plan,
        question: "Scores 5, 20 and 307, smallest first".to_owned(),
        range: range.to_owned(),
        note,
    };
    asker.ask(
        question(
            Plan::Published,
            "PK = scores, SK begins with user#",
            "as text: user#20, user#307, user#5",
        ),
        &plain,
        || entities.prefix("scores", "user#", true, 10),
    )?;
    asker.ask(
        question(
            Plan::Right,
            "PK = scores-encoded, SK begins with user#",
            "lexicographic integers: user#05, user#14, user#fb38",
        ),
        &encoded,
        || entities.prefix("scores-encoded", "user#", true, 10),
    )
}

fn newest(asker: &mut Asker, entities: &Entities, seed: u64) -> anyhow::Result<()> {
    let mut random = SplitMix::new(seed);
    let mut ulids = UlidGenerator::new(Overflow::CarryIntoTime);
    let (mut by_time, mut by_ulid) = (Vec::new(), Vec::new());
    for number in 0..PURCHASES {
        // Several purchases share a millisecond.
        let at = STARTED_MS + number / 3;
        let mut fill = |bytes: &mut [u8]| {
            for byte in bytes {
                *byte = u8::try_from(random.below(256)).unwrap_or(0);
            }
        };
        by_time.push(format!("purchaseTimestamp#{at}#purchase#{number}"));
        by_ulid.push(format!("purchase#{}", ulids.next(at, &mut fill)?));
    }
    entities.put_keys("purchases", &by_time, attributes)?;
    entities.put_keys("purchases-by-ulid", &by_ulid, attributes)?;
    let newest = |keys: &[String]| keys.iter().rev().take(NEWEST).cloned().collect::<Vec<_>>();
    let question = |plan, range: String, note| Question {
        pattern: "latest n",
        plan,
        question: format!("The latest {NEWEST} of {PURCHASES} purchases, newest first"),
        range,
        note,
    };
    asker.ask(
        question(
            Plan::Published,
            format!("PK = purchases, SK begins with purchaseTimestamp#, limit {NEWEST}"),
            "an ascending scan gives the oldest, and ids decide within one millisecond",
        ),
        &newest(&by_time),
        || entities.prefix("purchases", "purchaseTimestamp#", true, NEWEST),
    )?;
    asker.ask(
        question(
            Plan::Right,
            format!("PK = purchases-by-ulid, SK begins with purchase#, descending, limit {NEWEST}"),
            "a ULID is time and tie-break in one; rows read are the rows returned",
        ),
        &newest(&by_ulid),
        || entities.prefix("purchases-by-ulid", "purchase#", false, NEWEST),
    )
}

/// Returns the attributes of an order or a score.
fn attributes(pk: &str, sk: &str) -> Attributes {
    let (who, _) = sk.split_once('#').unwrap_or((sk, ""));
    Attributes::new().with("of", who).with("item", format!("one of {pk}"))
}
