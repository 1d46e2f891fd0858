//! Types of attributes and of values in keys, as rows show them.
//!
//! What it is not: proof. What samples suggest and nobody said is a question beside the type.

use std::collections::BTreeSet;

use serde_json::Value as Json;
use shelfmark_design_language::syntax::print::quote;

use super::keys::Hole;
use super::words::{is_time, prefix};
use super::{Row, Table};
use crate::names::comment;

/// Most members of a map that a remark names.
const MEMBERS_MAX: usize = 12;

/// The question that every list leaves open: without a largest number no row of it is bounded.
const ASSUMED: &str = "how many at most? 100 is assumed";

const LIST_OF_TEXT: &str = "list of text(max 200)(max 100)";

const SET_OF_TEXT: &str = "set of text(max 200)(max 100)";

/// A type, its codec in text keys, and remarks.
pub(super) struct Domain {
    pub(super) ty: String,
    pub(super) codec: &'static str,
    pub(super) remarks: Vec<String>,
    /// True if its texts in a key sort as its values do before `#`.
    pub(super) sorts: bool,
}

impl Domain {
    fn new(ty: impl Into<String>) -> Self {
        Self { ty: ty.into(), codec: "", remarks: Vec::new(), sorts: false }
    }

    fn sorted(self) -> Self {
        Self { sorts: true, ..self }
    }

    fn codec(self, codec: &'static str) -> Self {
        Self { codec, ..self }
    }

    fn remark(mut self, remark: impl Into<String>) -> Self {
        self.remarks.push(remark.into());
        self
    }
}

/// Returns the type of a value in a key; `delimiters` are those of the keys that it stands in.
pub(super) fn of_hole(hole: &Hole, delimiters: &BTreeSet<char>) -> Domain {
    let values: BTreeSet<&str> = hole.values.iter().flatten().map(String::as_str).collect();
    let all = |test: fn(&str) -> bool| !values.is_empty() && values.iter().all(|one| test(one));
    match hole.letter.as_str() {
        "N" if all(is_whole) => return Domain::new("int"),
        "N" => return Domain::new("decimal"),
        "B" => return Domain::new("bytes(min 1)"),
        _ => {}
    }
    if all(is_uuid) {
        return Domain::new("uuid").sorted();
    }
    if all(is_ulid) {
        return Domain::new("ulid").codec(":ulid").sorted();
    }
    if all(is_moment) {
        return Domain::new("timestamp").codec(":iso").sorted();
    }
    if all(is_day) {
        return Domain::new("date").codec(":iso").sorted();
    }
    if all(is_digits) {
        return digits(&values);
    }
    if all(is_time) && values.iter().all(|one| one.chars().all(is_of_time)) {
        let ask = "? a time: `timestamp` and `:iso` in keys, if it has milliseconds and a Z";
        return Domain::new("text(min 1, only \"0-9TZ:.+-\")").remark(ask).sorted();
    }
    if let Some(head) = head_of(&values) {
        let ty = format!("text(min 1, only {})", quote(&format!("{head}0-9")));
        return Domain::new(ty).remark(format!("? always {head} and digits"));
    }
    let inside = |c: &&char| values.iter().any(|value| value.contains(**c));
    if delimiters.is_empty() || delimiters.iter().any(|c| inside(&c)) {
        return Domain::new("text(min 1)");
    }
    let without: String = delimiters.iter().collect();
    let ty = format!("text(min 1, without {})", quote(&without));
    Domain::new(ty).remark(format!("? may it hold {without}"))
}

/// Returns the letters that all texts have before their digits.
fn head_of<'v>(values: &BTreeSet<&'v str>) -> Option<&'v str> {
    let mut heads = values.iter().map(|value| prefix(value));
    let first = heads.next()??;
    heads.all(|head| head == Some(first)).then_some(first)
}

/// Returns the type of texts that are digits: padded numbers where their width says so.
fn digits(values: &BTreeSet<&str>) -> Domain {
    let widths: BTreeSet<usize> = values.iter().map(|value| value.len()).collect();
    let padded = values.iter().any(|value| value.starts_with('0'));
    match (widths.first(), widths.len(), padded) {
        (Some(width @ 2..=9), 1, true) => {
            let most = "9".repeat(*width);
            let codec = PADS.get(*width).copied().unwrap_or_default();
            Domain::new(format!("int(0..{most})")).codec(codec).sorted()
        }
        _ => Domain::new("text(min 1, only \"0-9\")").remark("a number kept as text").sorted(),
    }
}

/// Codecs of padded numbers by width.
const PADS: [&str; 10] = [
    "", "", ":pad(2)", ":pad(3)", ":pad(4)", ":pad(5)", ":pad(6)", ":pad(7)", ":pad(8)", ":pad(9)",
];

fn is_whole(text: &str) -> bool {
    text.parse::<i64>().is_ok()
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_of_time(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, 'T' | 'Z' | ':' | '.' | '+' | '-')
}

fn is_uuid(text: &str) -> bool {
    let groups: Vec<usize> = text.split('-').map(str::len).collect();
    let hex = text.chars().all(|c| c == '-' || c.is_ascii_digit() || ('a'..='f').contains(&c));
    groups == [8, 4, 4, 4, 12] && hex
}

fn is_ulid(text: &str) -> bool {
    let letter = |c: char| c.is_ascii_digit() || (c.is_ascii_uppercase() && !"ILOU".contains(c));
    text.len() == 26
        && text.chars().all(letter)
        && text.starts_with(|c: char| ('0'..='7').contains(&c))
}

/// Returns true for a day, `2026-11-24`.
fn is_day(text: &str) -> bool {
    let within = |from: usize, to: usize, most: u32| {
        text.get(from..to)
            .and_then(|part| part.parse::<u32>().ok())
            .is_some_and(|n| (1..=most).contains(&n))
    };
    text.len() == 10
        && is_time(text)
        && within(0, 4, 9_999)
        && within(5, 7, 12)
        && within(8, 10, 31)
}

/// Returns true for a moment in milliseconds, `2026-11-24T05:00:00.000Z`.
fn is_moment(text: &str) -> bool {
    let form: String = text.chars().map(|c| if c.is_ascii_digit() { 'd' } else { c }).collect();
    form == "dddd-dd-ddTdd:dd:dd.dddZ" && text.get(..10).is_some_and(is_day)
}

/// Returns the type of an attribute outside of the table's key; `keyed` where an index has it.
pub(super) fn of_attribute(table: &Table, rows: &[&Row], name: &str, keyed: bool) -> Domain {
    let declared = table.letter(name).to_owned();
    let cells: Vec<&Json> = rows.iter().filter_map(|row| row.cells.get(name)).collect();
    let shown: BTreeSet<&str> = rows.iter().filter_map(|row| row.letter(name)).collect();
    let texts: Vec<&str> = rows.iter().filter_map(|row| row.text(name)).collect();
    let mut domain = match declared.as_str() {
        "N" if !texts.is_empty() && texts.iter().all(|text| is_whole(text)) => Domain::new("int"),
        "N" => Domain::new("decimal"),
        "BOOL" if !keyed => Domain::new("bool"),
        "SS" if !keyed => Domain::new(SET_OF_TEXT).remark(format!("? a set: {ASSUMED}")),
        "NS" if !keyed => {
            Domain::new("set of decimal(max 100)").remark(format!("? a set: {ASSUMED}"))
        }
        "BS" if !keyed => Domain::new(SET_OF_TEXT).remark(format!("of binary there; ? {ASSUMED}")),
        "L" if !keyed => list(&cells),
        "M" if !keyed => Domain::new("bytes").remark(map(&cells)),
        "NULL" if !keyed => Domain::new("bytes").remark("null there"),
        "B" if !keyed => Domain::new("bytes").remark("binary there"),
        "S" if keyed => Domain::new("text(min 1)"),
        "S" => Domain::new("text"),
        _ => Domain::new("text(min 1)").remark(format!("{} there", comment(&declared))),
    };
    if declared == "S" && !texts.is_empty() && texts.iter().all(|text| text.parse::<f64>().is_ok())
    {
        domain.remarks.push("a number kept as text".to_owned());
    }
    if declared == "N" && expires(name) {
        domain.remarks.push("? the second at which rows expire? then: int ttl".to_owned());
    }
    let others: Vec<&str> =
        shown.into_iter().filter(|one| *one != declared && *one != "NULL").collect();
    if !others.is_empty() {
        domain.remarks.push(format!("? declared {declared}, rows have {}", others.join(" and ")));
    }
    domain
}

/// Returns true if an attribute has a usual name for the expiry of an item.
fn expires(name: &str) -> bool {
    let name = name.to_lowercase();
    name.contains("ttl") || name.contains("expir")
}

fn list(cells: &[&Json]) -> Domain {
    let elements: Vec<&Json> =
        cells.iter().filter_map(|cell| cell.get("L").and_then(Json::as_array)).flatten().collect();
    let letters: BTreeSet<&str> = elements
        .iter()
        .filter_map(|one| one.as_object()?.keys().next().map(String::as_str))
        .collect();
    let ty = match letters.iter().copied().collect::<Vec<_>>().as_slice() {
        ["N"] => "list of decimal(max 100)",
        ["BOOL"] => "list of bool(max 100)",
        ["M"] => {
            return Domain::new("bytes").remark(format!(
                "? a list of maps ({}): an entity that refers to its owner",
                members(&elements)
            ));
        }
        ["S"] => LIST_OF_TEXT,
        _ => return Domain::new(LIST_OF_TEXT).remark(format!("? a list: of what? {ASSUMED}")),
    };
    Domain::new(ty).remark(format!("? a list: {ASSUMED}"))
}

fn map(cells: &[&Json]) -> String {
    let known = members(cells);
    if known.is_empty() {
        "? a map: of what?".to_owned()
    } else {
        format!("? a map ({known}): a record, if all rows have these")
    }
}

/// Returns the members of maps with their types.
fn members(cells: &[&Json]) -> String {
    let mut found: Vec<String> = Vec::new();
    for (name, value) in cells.iter().filter_map(|cell| cell.get("M")?.as_object()).flatten() {
        let letter = value.as_object().and_then(|one| one.keys().next());
        let word = match letter.map(String::as_str) {
            Some("S") => "text",
            Some("N") => "number",
            Some("BOOL") => "bool",
            Some("L") => "list",
            Some("M") => "map",
            Some("SS" | "NS" | "BS") => "set",
            _ => "?",
        };
        let member = format!("{} {word}", comment(name));
        if !found.contains(&member) && found.len() < MEMBERS_MAX {
            found.push(member);
        }
    }
    found.join(", ")
}
