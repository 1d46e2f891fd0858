//! Imports schemas of OneTable: models with value templates, indexes, and types.
//!
//! What it is not: it runs no code. Functions are told, not evaluated.
//!
//! Source: the library's schema specification 1.1.0 and its page on schemas, read 2026-11.

use crate::ImportError;
use crate::draft::{Attribute, Draft, Piece};
use crate::literal::{Literals, Value};
use crate::members::{KEY_TEXT, Typed, record, several};
use crate::modelled::{Access, Model, write};
use crate::names::{Names, comment};
use shelfmark_design_language::syntax::print::quote;

/// Deepest chain of templates that name each other.
const TEMPLATE_DEPTH_MAX: usize = 8;

/// A schema, and the name of its table where the file says it.
struct Found<'v> {
    schema: &'v Value,
    table: Option<&'v str>,
}

/// Returns true if a file has a schema of the library.
pub(crate) fn is_one(literals: &Literals) -> bool {
    found(literals).is_some()
}

fn found(literals: &Literals) -> Option<Found<'_>> {
    let plain = literals.constants.iter().map(|(_, value)| value);
    let made = literals.made.iter().map(|one| &one.value);
    let all = || plain.clone().chain(made.clone());
    let inside = all().filter_map(|value| value.get("schema"));
    let own = |value: &&Value| {
        value.get("models").is_some_and(|models| !models.members().is_empty())
            && value.get("indexes").is_some_and(|indexes| !indexes.members().is_empty())
    };
    let schema = all().chain(inside).find(own)?;
    // `new Table({ name: "shop", schema })` says how the table is called.
    let opened = literals.made.iter().filter(|one| one.class == "Table");
    let name = |value: &'_ Value| matches!(value, Value::Text(_));
    let mut names = opened.filter_map(|one| one.value.get("name").filter(|value| name(value)));
    let table = names.next().and_then(Value::text).filter(|_| names.next().is_none());
    Some(Found { schema, table })
}

pub(crate) fn import(name: &str, literals: &Literals) -> Result<String, ImportError> {
    let Found { schema, table } = found(literals).ok_or_else(|| {
        ImportError::new("1:1", "there is no schema with models and indexes in it")
    })?;
    let mut draft = Draft { source: format!("OneTable: {}", comment(name)), ..Draft::default() };
    draft
        .remarks
        .push("? How often is each read done (rate 10/s), and which writes are there?".to_owned());
    let indexes = schema.get("indexes").map(Value::members).unwrap_or_default();
    let queries = schema.get("queries").map(Value::members).unwrap_or_default();
    if !queries.is_empty() {
        let names: Vec<&str> = queries.iter().map(|(name, _)| name.as_str()).collect();
        draft.remarks.push(format!("? Queries that are not read: {}.", comment(&names.join(", "))));
    }
    let params = schema.get("params");
    let tag =
        params.and_then(|params| params.get("typeField")).and_then(Value::text).unwrap_or("_type");
    let models: Vec<Model> = schema
        .get("models")
        .map(Value::members)
        .unwrap_or_default()
        .iter()
        .filter(|(name, value)| !name.starts_with('~') && !value.members().is_empty())
        .map(|(name, value)| Model {
            table: table.map(str::to_owned),
            ..model(name, value, indexes, tag)
        })
        .collect();
    write(&mut draft, &models);
    Ok(draft.text())
}

fn model(name: &str, value: &Value, indexes: &[(String, Value)], tag: &str) -> Model {
    let mut found = Model { name: name.to_owned(), tag: tag.to_owned(), ..Model::default() };
    found.remarks.push(format!("Its rows have {} = {:?}.", comment(tag), comment(name)));
    let mut names = Names::default();
    let fields = value.members();
    let mut derived: Vec<String> = Vec::new();
    let primary = indexes.iter().position(|(title, _)| title == "primary").unwrap_or(0);
    let table_hash = indexes.get(primary).and_then(|(_, index)| index.get("hash"));
    for (at, (title, index)) in indexes.iter().enumerate() {
        let local = at != primary && index.get("type").and_then(Value::text) == Some("local");
        // A local index has the partition key of its table, whether it says so or not.
        let hash = if local { table_hash } else { index.get("hash") };
        let sides: Vec<&str> =
            [hash, index.get("sort")].into_iter().flatten().filter_map(Value::text).collect();
        let has = |side: &&str| fields.iter().any(|(field, _)| field == side);
        if !sides.iter().all(has) || sides.is_empty() {
            continue;
        }
        let columns = sides.iter().map(|side| (*side).to_owned()).collect();
        let mut cells = Vec::new();
        for side in sides {
            let pieces = cell(side, fields, (tag, name), &mut names, 0);
            let own = names.known(side);
            if !matches!(pieces.as_slice(), [Piece::Hole(hole, _)] if *hole == own) {
                derived.push(side.to_owned());
            }
            cells.push(pieces);
        }
        let store = shown(index, &mut names);
        let index = (at != primary).then(|| title.clone());
        let together = Vec::new();
        let name = title.clone();
        found.indexes.push(Access { name, index, local, columns, cells, together, store });
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
    // A projection may name the columns of its own key, and fields of other models.
    let Model { indexes, attributes, .. } = &mut found;
    for list in indexes.iter_mut().filter_map(|access| access.store.as_mut()) {
        list.retain(|name| attributes.iter().any(|own| own.name == *name));
    }
    found
}

/// Returns what an index projects; `None` means all.
fn shown(index: &Value, names: &mut Names) -> Option<Vec<String>> {
    match index.get("project").or_else(|| index.get("projection")) {
        Some(list @ Value::List(_)) => {
            Some(list.texts().iter().map(|name| names.of(name)).collect())
        }
        Some(one) if one.text() == Some("keys") => Some(Vec::new()),
        _ => None,
    }
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
                ty: KEY_TEXT.to_owned(),
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
    if let Some(mapped) = value.get("map").and_then(Value::text).filter(|mapped| *mapped != field) {
        remarks.push(format!("? called {:?} in the table", comment(mapped)));
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
    let word = word(value);
    let mut facts = Vec::new();
    let filled = value.get("default").is_some_and(|one| *one != Value::Unknown);
    let required = value.get("required").is_some_and(Value::is_true);
    if filled && !in_key && !required {
        remarks.push("? in each row, since the library puts a default".to_owned());
    }
    let mut optional = !in_key && !filled && !required;
    let (ty, remarks_of_type) = match word.as_str() {
        _ if is_enum(value) => (typed(value, 0).ty, Vec::new()),
        "string" if !is_uuid(value) && indexed => (KEY_TEXT.to_owned(), Vec::new()),
        "number" if indexed => ("int".to_owned(), Vec::new()),
        "date" if value.get("ttl").is_some_and(Value::is_true) => {
            facts.push("ttl".to_owned());
            ("int".to_owned(), Vec::new())
        }
        "date" if indexed => {
            let ask = "? a date: in milliseconds, or as ISO text (isoDates)";
            (KEY_TEXT.to_owned(), vec![ask.to_owned()])
        }
        "string" | "number" | "boolean" | "date" => (typed(value, 0).ty, Vec::new()),
        _ => {
            let typed = typed(value, 0);
            optional &= typed.optional;
            (if indexed { KEY_TEXT.to_owned() } else { typed.ty }, typed.remarks)
        }
    };
    remarks.extend(remarks_of_type);
    Attribute { name, ty, optional, facts, remarks }
}

fn word(value: &Value) -> String {
    value.get("type").and_then(Value::text).unwrap_or("string").to_ascii_lowercase()
}

fn is_enum(value: &Value) -> bool {
    value.get("enum").is_some_and(|words| !words.texts().is_empty())
}

fn is_uuid(value: &Value) -> bool {
    ["generate", "uuid"].iter().any(|word| value.get(word).and_then(Value::text) == Some("uuid"))
}

/// Returns the members of a map.
fn members(value: &Value) -> &[(String, Value)] {
    value.get("schema").map(Value::members).unwrap_or_default()
}

/// Returns the type of a field that stands in no key, also of one within a map.
fn typed(value: &Value, depth: usize) -> Typed {
    let word = word(value);
    let found = match word.as_str() {
        _ if is_enum(value) => {
            let words = value.get("enum").map(Value::texts).unwrap_or_default();
            let words: Vec<String> = words.iter().map(|word| quote(word)).collect();
            Typed::plain(format!("enum({})", words.join(", ")))
        }
        "string" if is_uuid(value) => Typed::plain("uuid"),
        "string" => Typed::plain("text"),
        "number" => Typed::plain("decimal"),
        "boolean" => Typed::plain("bool"),
        "date" => Typed::plain("timestamp"),
        "buffer" | "arraybuffer" | "binary" => Typed::plain("bytes"),
        "set" | "array" => {
            let of = if word == "set" { "set" } else { "list" };
            let items = value.get("items");
            let element = items.map(self::word);
            let inside = items.map(members).unwrap_or_default();
            several(of, element.as_deref(), inside)
        }
        "object" => record(members(value), depth, typed),
        other => Typed::asked(format!("? {} there: of what", comment(other))),
    };
    found.optional(!value.get("required").is_some_and(Value::is_true))
}
