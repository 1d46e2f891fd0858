//! Formats witnesses for people: a line each for the state, the call, the right result and the
//! found one.
//!
//! What it is not: the machine form, which keeps every value whole.
//!
//! Invariant: whatever shows a harm (a proof, a finding, a run on the engine) is written by this,
//! so that one state looks the same wherever it is met.

use serde_json::{Map, Value as Json, json};

/// Longest value on one line, in characters: not more than fits a screen.
const CHARACTERS_MAX: usize = 400;

/// Returns a row in the form of witnesses and confirmations: its table, its key and its values.
#[must_use]
pub fn row(table: &str, key: Vec<Json>, values: Map<String, Json>) -> Json {
    json!({ "table": table, "key": key, "values": values })
}

/// Returns a number with its noun: `1 row`, `2 rows`.
#[must_use]
pub fn counted(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// Returns the content of a witness or a reproducer, as lines of a name and a value.
///
/// `reason` is what was said before: it is not said again.
#[must_use]
pub fn lines(witness: &Json, reason: &str) -> Vec<(String, String)> {
    let mut lines = Vec::new();
    let Some(fields) = witness.as_object() else { return lines };
    if fields.get("found") == Some(&Json::Bool(false)) {
        let tries = fields.get("tries").unwrap_or(&Json::Null);
        let text = match tries.as_u64() {
            Some(0) => "not looked for: in so large a model only the first refusals are".to_owned(),
            _ => format!("by no state, after {tries} tries"),
        };
        return vec![("shown".to_owned(), text)];
    }
    let mut push = |name: &str, text: String| {
        if text.is_empty() || !reason.ends_with(&text) {
            lines.push((name.to_owned(), text));
        }
    };
    if let Some(state) = fields.get("state") {
        let mut name = "state";
        for (relation, tuples) in state.as_object().into_iter().flatten() {
            push(name, format!("{relation} {}", cut(&items(tuples))));
            name = "";
        }
        if name == "state" {
            push(name, "nothing".to_owned());
        }
    }
    let [right, plan] = sides(fields.get("right"), fields.get("plan"));
    let mut numbers = Vec::new();
    for (name, value) in fields {
        match (name.as_str(), value) {
            ("kind" | "state", _) | (_, Json::Null) => {}
            ("right", _) => push("right", side(&right)),
            ("plan", _) => push("plan", side(&plan)),
            ("rows_read", _) => numbers.push(format!("{value} rows read")),
            ("rows_returned", _) => numbers.push(format!("{value} returned")),
            (_, Json::Number(_)) => numbers.push(format!("{name} {value}")),
            (_, Json::String(text)) if name == "elements" => numbers.push(format!("{name} {text}")),
            ("missing" | "error" | "excess", Json::String(text)) => push("why", short_ids(text)),
            ("steps" | "keys", Json::Array(list)) => push(name, cut(&words(list))),
            (_, Json::String(text)) => push(name, short_ids(text)),
            _ => push(name, brief(value, CHARACTERS_MAX)),
        }
    }
    if !numbers.is_empty() {
        push("count", numbers.join(", "));
    }
    lines
}

/// Returns the lines of [`lines`] as text, each indented by so many blanks.
#[must_use]
pub fn text(witness: &Json, reason: &str, indent: usize) -> String {
    let line = |(name, text): &(String, String)| format!("{:indent$}{name:<6} {text}\n", "");
    lines(witness, reason).iter().map(line).collect()
}

/// Formats a value on one line of at most so many characters: names without quotes, identifiers
/// short.
#[must_use]
pub fn brief(value: &Json, most: usize) -> String {
    shortened(&plain(value), most)
}

fn cut(text: &str) -> String {
    shortened(text, CHARACTERS_MAX)
}

fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let head: String = text.chars().take(most).collect();
    format!("{head} …")
}

/// Returns both answers; of rows only those in which they differ, if there are any.
fn sides(right: Option<&Json>, plan: Option<&Json>) -> [Json; 2] {
    let [right, plan] = [right, plan].map(|side| side.unwrap_or(&Json::Null));
    let (Some(these), Some(those)) = (right.as_array(), plan.as_array()) else {
        return [right.clone(), plan.clone()];
    };
    if !these.iter().chain(those).all(|one| row_text(one).is_some()) || these == those {
        return [right.clone(), plan.clone()];
    }
    let only = |these: &[Json], those: &[Json]| -> Json {
        these.iter().filter(|one| !those.contains(one)).cloned().collect()
    };
    [only(these, those), only(those, these)]
}

/// Formats an answer; the reason for a missing one stands without quotes.
fn side(value: &Json) -> String {
    match value {
        Json::String(text) => cut(&short_ids(text)),
        value => brief(value, CHARACTERS_MAX),
    }
}

fn words(list: &[Json]) -> String {
    let word = |one: &Json| one.as_str().map_or_else(|| plain(one), short_ids);
    list.iter().map(word).collect::<Vec<_>>().join("; ")
}

fn items(list: &Json) -> String {
    let list = list.as_array().map_or(&[][..], Vec::as_slice);
    list.iter().map(plain).collect::<Vec<_>>().join(", ")
}

fn plain(value: &Json) -> String {
    match value {
        Json::Object(fields) => row_text(value).unwrap_or_else(|| {
            let pairs = fields.iter().map(|(name, value)| format!("{name}: {}", plain(value)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
        }),
        Json::Array(list) if list.is_empty() => "nothing".to_owned(),
        Json::Array(_) => format!("[{}]", items(value)),
        Json::String(text) => short_id(text).unwrap_or_else(|| format!("{:?}", short_ids(text))),
        other => other.to_string(),
    }
}

/// Formats the output of [`row`]: `table (key ; key) {name: value}`.
fn row_text(value: &Json) -> Option<String> {
    let (table, key) = (value.get("table")?.as_str()?, value.get("key")?.as_array()?);
    let values = value.get("values").filter(|values| values.is_object())?;
    let key: Vec<String> =
        key.iter().map(|part| part.as_str().map_or_else(|| plain(part), short_ids)).collect();
    Some(format!("{table} ({}) {}", key.join(" ; "), plain(values)))
}

/// Shortens every identifier in a text.
fn short_ids(text: &str) -> String {
    let part = |char: char| char.is_ascii_alphanumeric() || char == '-';
    let pieces = text.split_inclusive(|char| !part(char)).map(|piece| {
        let word = piece.trim_end_matches(|char| !part(char));
        let behind = piece.get(word.len()..).unwrap_or("");
        short_id(word).map_or_else(|| piece.to_owned(), |id| format!("{id}{behind}"))
    });
    pieces.collect()
}

/// Shortens an identifier: those of states are small numbers, so their last digits suffice.
fn short_id(text: &str) -> Option<String> {
    let zeros = |text: &str| text.bytes().filter(|byte| *byte == b'0').count();
    let tail = match text.len() {
        36 if zeros(text) > 20 => text.rsplit('-').next()?,
        26 if zeros(text) > 18 => text.get(16..)?,
        _ => return None,
    };
    let digits = tail.trim_start_matches('0');
    Some(format!("id {}", if digits.is_empty() { "0" } else { digits }))
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::{brief, lines, row};

    const ID: &str = "00020000-0000-0000-0000-000000000002";

    #[test]
    fn a_state_takes_a_line_for_each_relation() {
        let witness = json!({
            "kind": "state",
            "state": { "User": [{ "id": ID }], "Post": [{ "id": 1, "name": "a" }, { "id": 2 }] },
            "call": { "u": ID },
            "right": [{ "id": 1 }],
            "plan": [],
        });
        let wanted = [
            ("state", "User {id: id 2}"),
            ("", "Post {id: 1, name: \"a\"}, {id: 2}"),
            ("call", "{u: id 2}"),
            ("right", "[{id: 1}]"),
            ("plan", "nothing"),
        ];
        let found = lines(&witness, "");
        let found: Vec<(&str, &str)> =
            found.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        assert_eq!(found, wanted);
    }

    #[test]
    fn of_rows_only_those_that_differ_are_shown() {
        let values = |text: &str| Map::from_iter([("body".to_owned(), json!(text))]);
        let same = row("data", vec![json!(format!("user#{ID}")), json!("a")], values("x"));
        let old = row("data", vec![json!("b"), json!(7)], values("old"));
        let new = row("data", vec![json!("b"), json!(7)], values("new"));
        let witness = json!({ "kind": "state", "right": [same, new], "plan": [same, old] });
        let found = lines(&witness, "");
        assert_eq!(found[0].1, "[data (b ; 7) {body: \"new\"}]");
        assert_eq!(found[1].1, "[data (b ; 7) {body: \"old\"}]");
        // Where nothing differs, all of them are the harm.
        let lost = json!({ "right": [same], "plan": [same] });
        assert_eq!(lines(&lost, "")[0].1, "[data (user#id 2 ; a) {body: \"x\"}]");
    }

    #[test]
    fn what_was_said_is_not_said_again() {
        let call = json!({ "kind": "call", "call": "drop(p)", "missing": "a is not known" });
        assert_eq!(lines(&call, "a is not known"), [("call".to_owned(), "drop(p)".to_owned())]);
        assert_eq!(lines(&call, "").len(), 2);
        let count = json!({ "kind": "count", "bytes": 9, "limit": 3 });
        assert_eq!(lines(&count, ""), [("count".to_owned(), "bytes 9, limit 3".to_owned())]);
        let none = json!({ "kind": "state", "found": false, "tries": 1_000 });
        assert_eq!(lines(&none, "")[0].1, "by no state, after 1000 tries");
    }

    #[test]
    fn a_long_value_is_cut() {
        let text = brief(&json!(["a".repeat(90)]), 20);
        assert_eq!(text.chars().count(), 22);
        assert!(text.ends_with(" …"));
        assert_eq!(brief(&json!("00000000000000000000000000"), 20), "id 0");
    }
}
