//! Imports schemas of OneTable: models with value templates, indexes, and types.
//!
//! What it is not: it runs no code. Functions are told, not evaluated.
//!
//! Source: the library's schema specification 1.1.0 and its page on schemas, read 2026-11.

use crate::ImportError;
use crate::draft::{Attribute, Draft, Piece};
use crate::literal::{Literals, Value};
use crate::modelled::{Access, Model, write};
use crate::names::{Names, comment};
use shelfmark_design_language::syntax::print::quote;

/// Deepest chain of templates that name each other.
const TEMPLATE_DEPTH_MAX: usize = 8;

/// Returns true if a file has a schema of the library.
pub(crate) fn is_one(literals: &Literals) -> bool {
    schema(literals).is_some()
}

fn schema(literals: &Literals) -> Option<&Value> {
    let plain = literals.constants.iter().map(|(_, value)| value);
    let made = literals.made.iter().map(|(_, value, _)| value);
    let all = || plain.clone().chain(made.clone());
    let inside = all().filter_map(|value| value.get("schema"));
    let own = |value: &&Value| {
        value.get("models").is_some_and(|models| !models.members().is_empty())
            && value.get("indexes").is_some_and(|indexes| !indexes.members().is_empty())
    };
    all().chain(inside).find(own)
}

pub(crate) fn import(name: &str, literals: &Literals) -> Result<String, ImportError> {
    let schema = schema(literals).ok_or_else(|| {
        ImportError::new("1:1", "there is no schema with models and indexes in it")
    })?;
    let mut draft = Draft { source: format!("OneTable: {}", comment(name)), ..Draft::default() };
    draft
        .remarks
        .push("? How often is each read done (rate 10/s), and which writes are there?".to_owned());
    let indexes = schema.get("indexes").map(Value::members).unwrap_or_default();
    let params = schema.get("params");
    let tag =
        params.and_then(|params| params.get("typeField")).and_then(Value::text).unwrap_or("_type");
    let models: Vec<Model> = schema
        .get("models")
        .map(Value::members)
        .unwrap_or_default()
        .iter()
        .filter(|(name, value)| !name.starts_with('~') && !value.members().is_empty())
        .map(|(name, value)| model(name, value, indexes, tag))
        .collect();
    write(&mut draft, "table", &models);
    Ok(draft.text())
}

fn model(name: &str, value: &Value, indexes: &[(String, Value)], tag: &str) -> Model {
    let mut found = Model { name: name.to_owned(), ..Model::default() };
    found.remarks.push(format!("Its rows have {} = {:?}.", comment(tag), comment(name)));
    let mut names = Names::default();
    let fields = value.members();
    let mut derived: Vec<String> = Vec::new();
    for (at, (title, index)) in indexes.iter().enumerate() {
        let named = indexes.iter().any(|(name, _)| name == "primary");
        let primary = title == "primary" || (at == 0 && !named);
        let sides = ["hash", "sort"].into_iter().filter_map(|side| index.get(side)?.text());
        let own: Vec<&str> = sides.collect();
        let has = |side: &&str| fields.iter().any(|(field, _)| field == side);
        if !own.iter().all(has) || own.is_empty() {
            continue;
        }
        let mut cells = Vec::new();
        for side in own {
            let pieces = cell(side, fields, (tag, name), &mut names, 0);
            let own = names.known(side);
            if !matches!(pieces.as_slice(), [Piece::Hole(hole, _)] if *hole == own) {
                derived.push(side.to_owned());
            }
            cells.push(pieces);
        }
        let shown = index.get("project").or_else(|| index.get("projection"));
        let store = match shown {
            Some(list @ Value::List(_)) => {
                Some(list.texts().iter().map(|name| names.of(name)).collect())
            }
            Some(one) if one.text() == Some("keys") => Some(Vec::new()),
            _ => None,
        };
        let index = (!primary).then(|| title.clone());
        let together = Vec::new();
        found.indexes.push(Access { name: title.clone(), index, cells, together, store });
    }
    let (key, keyed) = keyed(&found.indexes);
    for (field, value) in fields {
        if !derived.contains(field) && field != tag {
            let plain = names.of(field);
            let own = attribute(field, value, plain, &key, &keyed, &mut found.asks);
            found.attributes.push(own);
        }
    }
    complete(&mut found, &key, &keyed);
    found
}

/// Returns the attributes in the table's key, and those in the keys of indexes.
fn keyed(indexes: &[Access]) -> (Vec<String>, Vec<String>) {
    let (mut key, mut keyed) = (Vec::new(), Vec::new());
    for access in indexes {
        let list = if access.index.is_none() { &mut key } else { &mut keyed };
        for piece in access.cells.iter().flatten() {
            if let Piece::Hole(name, _) = piece {
                list.push(name.clone());
            }
        }
    }
    (key, keyed)
}

/// Gives padded numbers their range, and adds what templates name and no field declares.
fn complete(model: &mut Model, key: &[String], keyed: &[String]) {
    for piece in model.indexes.iter().flat_map(|access| access.cells.iter().flatten()) {
        let Piece::Hole(name, codec) = piece else { continue };
        let width = codec.trim_matches(|c: char| !c.is_ascii_digit()).parse::<usize>().unwrap_or(0);
        let own = model.attributes.iter_mut().find(|own| own.name == *name && own.ty == "int");
        if let Some(own) = own.filter(|_| width > 0) {
            own.ty = format!("int(0..{})", "9".repeat(width.min(18)));
        }
    }
    for name in key.iter().chain(keyed) {
        if !model.attributes.iter().any(|own| own.name == *name) {
            model.attributes.push(Attribute {
                name: name.clone(),
                ty: "text(min 1, without \"#\")".to_owned(),
                optional: !key.contains(name),
                remarks: vec!["? a template names it, and no field is called so".to_owned()],
                ..Attribute::default()
            });
        }
    }
}

/// Returns the pieces of a field: of its template, or the field itself.
fn cell(
    field: &str,
    fields: &[(String, Value)],
    tag: (&str, &str),
    names: &mut Names,
    depth: usize,
) -> Vec<Piece> {
    let value = fields.iter().find(|(name, _)| name == field).map(|(_, value)| value);
    let template = value.and_then(|value| value.get("value")).and_then(Value::text);
    let Some(template) = template.filter(|_| depth < TEMPLATE_DEPTH_MAX) else {
        return vec![Piece::Hole(names.of(field), String::new())];
    };
    let mut pieces: Vec<Piece> = Vec::new();
    let mut rest = template;
    while let Some((before, tail)) = rest.split_once("${") {
        let Some((hole, more)) = tail.split_once('}') else { break };
        if !before.is_empty() {
            pieces.push(Piece::Text(before.to_owned()));
        }
        // `${n:6:0}` is a padded number.
        let mut parts = hole.split(':');
        let name = parts.next().unwrap_or(hole).trim();
        let width = parts.next().and_then(|width| width.parse::<u32>().ok());
        let nested = fields.iter().any(|(one, value)| one == name && value.get("value").is_some());
        match width {
            _ if name == tag.0 => pieces.push(Piece::Text(tag.1.to_owned())),
            _ if nested && name != field => {
                pieces.extend(cell(name, fields, tag, names, depth + 1))
            }
            Some(width @ 1..=18) => {
                pieces.push(Piece::Hole(names.of(name), format!(":pad({width})")))
            }
            _ => pieces.push(Piece::Hole(names.of(name), String::new())),
        }
        rest = more;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest.to_owned()));
    }
    pieces
}

fn attribute(
    field: &str,
    value: &Value,
    name: String,
    key: &[String],
    keyed: &[String],
    asks: &mut Vec<String>,
) -> Attribute {
    let in_key = key.contains(&name);
    let indexed = in_key || keyed.contains(&name);
    let mut remarks = Vec::new();
    if name != field {
        remarks.push(format!("called {:?} there", comment(field)));
    }
    if value.get("default") == Some(&Value::Unknown) || value.get("value") == Some(&Value::Unknown)
    {
        remarks.push("? a function: what does it say".to_owned());
    }
    if value.get("unique").is_some_and(Value::is_true) {
        asks.push(format!(
            "? {name} is unique, which rows of the library's own keep: unique ({name})"
        ));
    }
    let words = value.get("enum").map(Value::texts).unwrap_or_default();
    let generate = value.get("generate").and_then(Value::text).unwrap_or_default();
    let word = value.get("type").and_then(Value::text).unwrap_or("string").to_ascii_lowercase();
    let mut facts = Vec::new();
    let ty = match word.as_str() {
        _ if !words.is_empty() => {
            let words: Vec<String> = words.iter().map(|word| quote(word)).collect();
            format!("enum({})", words.join(", "))
        }
        "string" if generate == "uuid" => "uuid".to_owned(),
        "string" if indexed => "text(min 1, without \"#\")".to_owned(),
        "string" => "text".to_owned(),
        "number" if indexed => "int".to_owned(),
        "number" => "decimal".to_owned(),
        "boolean" => "bool".to_owned(),
        "date" if value.get("ttl").is_some_and(Value::is_true) => {
            facts.push("ttl".to_owned());
            "int".to_owned()
        }
        "date" if indexed => {
            remarks.push("? a date: in milliseconds, or as ISO text (isoDates)".to_owned());
            "text(min 1, without \"#\")".to_owned()
        }
        "date" => "timestamp".to_owned(),
        "set" | "array" => {
            remarks.push("? of what? how many at most? 100 is assumed".to_owned());
            "list of text(max 200)(max 100)".to_owned()
        }
        other => {
            let members = value.get("schema").map(Value::members).unwrap_or_default();
            let names: Vec<String> =
                members.iter().take(12).map(|(name, _)| comment(name)).collect();
            remarks.push(if names.is_empty() {
                format!("? {} there: of what", comment(other))
            } else {
                format!("a map: {}", names.join(", "))
            });
            if indexed { "text(min 1, without \"#\")".to_owned() } else { "bytes".to_owned() }
        }
    };
    let optional = !in_key && !value.get("required").is_some_and(Value::is_true);
    Attribute { name, ty, optional, facts, remarks }
}
