//! Finds the values of a statement's markers, in their order.
//!
//! A filled request keeps the statement as it is printed, with its values under `bound`; `filled` is the
//! same statement with the values in the place of the markers, for whoever reads or compares it.
//!
//! Invariant: `filled` holds no marker, and every text in it is quoted.

use serde_json::{Value as Json, json};
use shelfmark_design::trial::cql_literal;
use shelfmark_design_language::model::Value;
use shelfmark_design_language::model::types::Type;

use super::fill::{Open, Places};

/// Returns the request with the values of one call for its markers.
pub(super) fn fill(places: &Places<'_>, request: &Json) -> Result<Json, Open> {
    let none = || Open::Unknown(request.to_string());
    let text = request.get("statement").and_then(Json::as_str).ok_or_else(none)?;
    let values = request.get("values");
    let mut out = String::new();
    let mut bound = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if first == '\'' {
            let end = closing(rest, '\'');
            out.push_str(rest.get(..end).unwrap_or(rest));
            rest = rest.get(end..).unwrap_or("");
            continue;
        }
        let Some(behind) = rest.strip_prefix(':') else {
            out.push(first);
            rest = rest.get(first.len_utf8()..).unwrap_or("");
            continue;
        };
        let (name, next) = marker(behind);
        let (value, ty) = value_of(places, values, &name, &out)?;
        out.push_str(&cql_literal(&value, &ty));
        bound.push(value.json(&ty));
        rest = next;
    }
    let mut filled = json!({ "statement": text, "bound": bound, "filled": out });
    if let (Some(size), Some(fields)) = (request.get("page_size"), filled.as_object_mut()) {
        let (Value::Int(size), _) = places.typed(size)? else { return Err(none()) };
        fields.insert("page_size".to_owned(), Json::from(size));
    }
    Ok(filled)
}

/// Returns the position behind the quote that closes a text which begins with one.
fn closing(text: &str, quote: char) -> usize {
    let mut at = quote.len_utf8();
    while let Some(found) = text.get(at..).and_then(|rest| rest.find(quote)) {
        at += found + quote.len_utf8();
        if !text.get(at..).is_some_and(|rest| rest.starts_with(quote)) {
            return at;
        }
        at += quote.len_utf8();
    }
    text.len()
}

/// Splits the name of a marker from what follows it.
fn marker(text: &str) -> (String, &str) {
    if text.starts_with('"') {
        let end = closing(text, '"');
        let name = text.get(1..end.saturating_sub(1)).unwrap_or("").replace("\"\"", "\"");
        return (name, text.get(end..).unwrap_or(""));
    }
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    (name.to_owned(), rest)
}

/// Returns the value of a marker. What a row lacks is null where a value is put, and compared with
/// nothing.
fn value_of(
    places: &Places<'_>,
    values: Option<&Json>,
    name: &str,
    before: &str,
) -> Result<(Value, Type), Open> {
    let own = values.and_then(|values| values.get(name)).cloned();
    let place = own.unwrap_or_else(|| place_of(places, name));
    let put = !before.contains(" WHERE ");
    match places.typed(&place) {
        Ok((Value::Null, _)) | Err(Open::Missing) if put => Ok((Value::Null, Type::Bool)),
        Ok((Value::Null, _)) => Err(Open::Missing),
        found => found,
    }
}

/// Returns the placeholder that a marker's name stands for.
fn place_of(places: &Places<'_>, name: &str) -> Json {
    if places.inputs.iter().any(|(input, ..)| input == name) {
        return json!({ "$input": name });
    }
    if let Some(input) = name.strip_prefix("each_") {
        return json!({ "$each": input });
    }
    let row = name.strip_prefix("row").and_then(|rest| rest.split_once('_'));
    match row.and_then(|(step, column)| Some((step.parse::<u64>().ok()?, column))) {
        Some((step, column)) => json!({ "$row": column, "step": step }),
        None => json!({ "$input": name }),
    }
}

/// Returns the comparisons behind WHERE: the operator and the value of each.
pub(super) fn compared(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let Some((_, behind)) = text.split_once(" WHERE ") else { return found };
    let mut rest = behind;
    while let Some((_, after)) = rest.split_once(' ') {
        let Some((op, value)) = after.split_once(' ') else { break };
        let end = match value.chars().next() {
            Some('\'') => closing(value, '\''),
            _ => value.find(' ').unwrap_or(value.len()),
        };
        found.push((op.to_owned(), value.get(..end).unwrap_or(value).to_owned()));
        match value.get(end..).and_then(|next| next.strip_prefix(" AND ")) {
            Some(next) => rest = next,
            None => break,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use shelfmark_design_language::model::Value;
    use shelfmark_design_language::model::types::{TextDomain, Type};

    use super::super::fill::Places;
    use super::{compared, fill};

    #[test]
    fn markers_become_literals_outside_of_texts_alone() {
        let text = Type::Text(TextDomain::default());
        let inputs = [
            ("u".to_owned(), Value::Text("it's :v".to_owned()), text),
            ("V w".to_owned(), Value::Int(7), Type::Int(None)),
        ];
        let places = Places { inputs: &inputs, ..Places::default() };
        let said = "SELECT * FROM t WHERE a = :u AND b = ':u''' AND c >= :\"V w\" LIMIT :\"V w\"";
        let filled = fill(&places, &json!({ "statement": said })).expect("all is known");
        let right = "SELECT * FROM t WHERE a = 'it''s :v' AND b = ':u''' AND c >= 7 LIMIT 7";
        let bound = json!(["it's :v", 7, 7]);
        assert_eq!(filled, json!({ "statement": said, "bound": bound, "filled": right }));
        let pairs: Vec<(String, String)> = [("=", "'it''s :v'"), ("=", "':u'''"), (">=", "7")]
            .map(|(op, value)| (op.to_owned(), value.to_owned()))
            .to_vec();
        assert_eq!(compared(right), pairs);
    }
}
