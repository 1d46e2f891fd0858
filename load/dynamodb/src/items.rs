//! The items: about 200 bytes each, from a seed.

use shelfmark_load_measure::Random;

/// The sort key of single items.
pub const ALONE: u64 = 0;

/// An item as JSON: two keys, two texts and two numbers.
pub fn item(random: &mut Random, partition: &str, sort: u64) -> String {
    let (name, note) = (random.text(64), random.text(80));
    let (count, score) = (random.below(1_000_000), random.below(10_000));
    format!(
        r#"{{"pk":{{"S":"{partition}"}},"sk":{{"S":"{sort:06}"}},"name":{{"S":"{name}"}},"note":{{"S":"{note}"}},"n":{{"N":"{count}"}},"score":{{"N":"{score}.25"}}}}"#
    )
}

/// The key of a single item.
pub fn key(number: u64) -> String {
    format!(r#"{{"pk":{{"S":"{}"}},"sk":{{"S":"{ALONE:06}"}}}}"#, single(number))
}

/// The partition key of a single item.
pub fn single(number: u64) -> String {
    format!("u{number:08}")
}

/// The key of a partition of many items.
pub fn partition(number: u64) -> String {
    format!("q{number:06}")
}

/// Numbers below `end`, each once.
pub fn distinct(random: &mut Random, count: usize, end: u64) -> Vec<u64> {
    let mut numbers = Vec::with_capacity(count);
    while numbers.len() < count {
        let number = random.below(end);
        if !numbers.contains(&number) {
            numbers.push(number);
        }
    }
    numbers
}
