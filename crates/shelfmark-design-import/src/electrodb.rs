//! Imports entities of ElectroDB: attributes, indexes with composites or templates, collections.
//!
//! A key of composites is what the library writes: the service before the partition's composites, the
//! collection and the entity with its version before those of the sort key, each with its label.
//!
//! What it is not: it runs no code. Functions (`get`, `set`, `validate`, `default`, conditions of
//! indexes) are told, not evaluated.
//!
//! Source: the library's pages on indexes, attributes and collections, read 2026-11.

use crate::ImportError;
use crate::draft::{Attribute, Draft, Piece};
use crate::literal::{Literals, Value};
use crate::members::{KEY_TEXT, Typed, record, several};
use crate::modelled::{Access, Model, write};
use crate::names::{Names, comment};
use shelfmark_design_language::syntax::print::quote;

/// The attribute in which the library keeps the entity's name.
///
/// Source: requests that the library's own tests expect, read 2026-11.
const ENTITY: &str = "__edb_e__";

/// Returns true if a file has entities of the library.
pub(crate) fn is_one(literals: &Literals) -> bool {
    entities(literals).next().is_some()
}

/// Returns entities with the name of their table, where the file says it.
fn entities(literals: &Literals) -> impl Iterator<Item = (&Value, Option<&str>)> {
    let service = literals.made.iter().filter(|one| one.class == "Service");
    let common = service.filter_map(|one| named(&one.options)).next();
    let made = literals.made.iter().map(move |one| (&one.value, named(&one.options).or(common)));
    let plain = literals.constants.iter().map(|(_, value)| value);
    let inside = literals.constants.iter().flat_map(|(_, value)| value.items());
    let all = made.chain(plain.chain(inside).map(move |value| (value, common)));
    all.filter(|(value, _)| {
        value.get("attributes").is_some()
            && value.get("indexes").is_some_and(|indexes| !indexes.members().is_empty())
    })
}

/// Returns the name of the table in the options of an entity or a service.
fn named(options: &Value) -> Option<&str> {
    match options.get("table") {
        Some(Value::Text(name)) => Some(name),
        _ => None,
    }
}

pub(crate) fn import(name: &str, literals: &Literals) -> Result<String, ImportError> {
    let mut draft = Draft { source: format!("ElectroDB: {}", comment(name)), ..Draft::default() };
    draft.remarks.push(
        "The library writes keys in small letters unless `casing` says else: texts that differ in \
         capitals alone have one key."
            .to_owned(),
    );
    draft
        .remarks
        .push("? How often is each read done (rate 10/s), and which writes are there?".to_owned());
    let mut models: Vec<Model> = Vec::new();
    let mut seen: Vec<&Value> = Vec::new();
    for (value, table) in entities(literals) {
        if !seen.contains(&value) {
            seen.push(value);
            models.push(Model { table: table.map(str::to_owned), ..model(value) });
        }
    }
    if models.is_empty() {
        return Err(ImportError::new(
            "1:1",
            "there is no entity with attributes and indexes in it",
        ));
    }
    write(&mut draft, &models);
    Ok(draft.text())
}

fn model(value: &Value) -> Model {
    let part =
        |name: &str| value.get("model").and_then(|model| model.get(name)).and_then(Value::text);
    let entity =
        part("entity").or_else(|| value.get("entity").and_then(Value::text)).unwrap_or("entity");
    let version =
        part("version").or_else(|| value.get("version").and_then(Value::text)).unwrap_or("1");
    let service =
        part("service").or_else(|| value.get("service").and_then(Value::text)).unwrap_or("service");
    let mut found = Model { name: entity.to_owned(), tag: ENTITY.to_owned(), ..Model::default() };
    let mut names = Names::default();
    let attributes = value.get("attributes").map(Value::members).unwrap_or_default();
    let indexes = value.get("indexes").map(Value::members).unwrap_or_default();
    let primary = indexes.iter().find(|(_, one)| one.get("index").is_none());
    let of_key =
        |side: &str| primary.and_then(|(_, one)| one.get(side)).map(composites).unwrap_or_default();
    let key: Vec<String> = of_key("pk").into_iter().chain(of_key("sk")).collect();
    let keyed: Vec<String> = indexes
        .iter()
        .flat_map(|(_, one)| ["pk", "sk"].into_iter().filter_map(|side| one.get(side)))
        .flat_map(composites)
        .collect();
    for (name, one) in attributes {
        found.attributes.push(attribute(
            name,
            one,
            &mut names,
            key.contains(name),
            keyed.contains(name),
        ));
    }
    for name in keyed.iter().filter(|name| !attributes.iter().any(|(own, _)| own == *name)) {
        if !found.attributes.iter().any(|own| own.name == names.known(name)) {
            let remarks = vec!["? a key names it, and no attribute is called so".to_owned()];
            let ty = KEY_TEXT.to_owned();
            found.attributes.push(Attribute {
                name: names.of(name),
                ty,
                remarks,
                ..Attribute::default()
            });
        }
    }
    for (name, one) in indexes {
        if one.get("condition").is_some() {
            found.asks.push(format!(
                "? {} has a condition, a function: which rows are in it?",
                comment(name)
            ));
        }
        if one.get("type").and_then(Value::text) == Some("clustered")
            && one.get("collection").is_some()
        {
            found.asks.push(format!(
                "? {} is clustered: the entity's name stands behind the first composites there, here before them",
                comment(name)
            ));
        }
        let head = Head {
            service,
            entity,
            version,
            collections: one.get("collection").map(Value::texts).unwrap_or_default(),
        };
        let mut access = access(name, one, &head, attributes, &mut names);
        // An index whose partition key is the table's own column lies beside the rows.
        let partition = |one: &Value| one.get("pk").and_then(|side| side.get("field")).cloned();
        let own = primary.and_then(|(_, primary)| partition(primary));
        access.local = access.index.is_some() && own.is_some() && partition(one) == own;
        found.indexes.push(access);
    }
    found
}

/// The names that the library writes before the composites of a key.
struct Head<'v> {
    service: &'v str,
    entity: &'v str,
    version: &'v str,
    collections: Vec<String>,
}

/// Returns the attributes that a side of a key is made of.
fn composites(side: &Value) -> Vec<String> {
    if let Some(template) = template(side) {
        return holes(template);
    }
    let list = side.get("composite").or_else(|| side.get("facets"));
    list.map(Value::texts).unwrap_or_default()
}

fn template(side: &Value) -> Option<&str> {
    let said = side.get("template").and_then(Value::text);
    said.or_else(|| match side.get("composite").or_else(|| side.get("facets")) {
        Some(Value::Text(text)) if text.contains("${") => Some(text),
        _ => None,
    })
}

fn holes(template: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = template;
    while let Some((_, tail)) = rest.split_once("${") {
        let Some((name, more)) = tail.split_once('}') else { break };
        found.push(name.trim().to_owned());
        rest = more;
    }
    found
}

fn access(
    name: &str,
    value: &Value,
    head: &Head<'_>,
    attributes: &[(String, Value)],
    names: &mut Names,
) -> Access {
    let (mut cells, mut columns) = (Vec::new(), Vec::new());
    let has_sort = value.get("sk").is_some();
    for side in ["pk", "sk"] {
        let Some(own) = value.get(side) else { continue };
        columns.push(own.get("field").and_then(Value::text).unwrap_or(side).to_owned());
        if let Some(template) = template(own) {
            cells.push(templated(template, attributes, names));
            continue;
        }
        let owner = format!("{}_{}", head.entity, head.version).to_lowercase();
        let collections: String = head
            .collections
            .iter()
            .enumerate()
            .map(|(at, one)| if at == 0 { format!("${one}") } else { format!("#{one}") })
            .collect();
        let mut literal = match (side, has_sort, collections.as_str()) {
            ("pk", true, _) => format!("${}", head.service),
            ("pk", false, _) => format!("${}${owner}", head.service),
            (_, _, "") => format!("${owner}"),
            (_, _, groups) => format!("{groups}#{owner}"),
        }
        .to_lowercase();
        let mut pieces = Vec::new();
        for one in composites(own) {
            let declared = attributes.iter().find(|(own, _)| *own == one).map(|(_, value)| value);
            let label = declared.and_then(|value| value.get("label")).and_then(Value::text);
            literal.push_str(&format!("#{}_", label.unwrap_or(&one).to_lowercase()));
            pieces.push(Piece::Text(std::mem::take(&mut literal)));
            pieces.push(Piece::Hole(names.of(&one), codec(declared)));
        }
        if !literal.is_empty() {
            pieces.push(Piece::Text(literal));
        }
        cells.push(pieces);
    }
    let first = head.collections.first();
    let together = head
        .collections
        .iter()
        .map(|group| {
            let begins =
                first.map(|first| format!("${}", first.to_lowercase())).unwrap_or_default();
            (group.clone(), begins)
        })
        .collect();
    let index = value.get("index").and_then(Value::text).map(str::to_owned);
    let name = name.to_owned();
    let store = match value.get("project").filter(|_| index.is_some()) {
        Some(list @ Value::List(_)) => {
            Some(list.texts().iter().map(|name| names.of(name)).collect())
        }
        Some(one) if one.text() == Some("keys_only") => Some(Vec::new()),
        _ => None,
    };
    Access { name, index, local: false, columns, cells, together, store }
}

fn templated(template: &str, attributes: &[(String, Value)], names: &mut Names) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = template;
    while let Some((before, tail)) = rest.split_once("${") {
        let Some((name, more)) = tail.split_once('}') else { break };
        if !before.is_empty() {
            pieces.push(Piece::Text(before.to_owned()));
        }
        let declared =
            attributes.iter().find(|(own, _)| own == name.trim()).map(|(_, value)| value);
        pieces.push(Piece::Hole(names.of(name.trim()), codec(declared)));
        rest = more;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest.to_owned()));
    }
    pieces
}

/// Returns the codec of a padded number.
fn codec(declared: Option<&Value>) -> String {
    let padding = declared.and_then(|value| value.get("padding"));
    let length = padding.and_then(|padding| padding.get("length")).and_then(Value::text);
    let number = declared.and_then(kind).is_some_and(|kind| kind == "number");
    match length.and_then(|length| length.parse::<u32>().ok()).filter(|_| number) {
        Some(length @ 1..=18) => format!(":pad({length})"),
        _ => String::new(),
    }
}

fn kind(value: &Value) -> Option<&str> {
    let ty = value.get("type").unwrap_or(value);
    ty.text()
}

fn attribute(name: &str, value: &Value, names: &mut Names, key: bool, keyed: bool) -> Attribute {
    let plain = names.of(name);
    let mut remarks = Vec::new();
    if plain != name {
        remarks.push(format!("called {:?} there", comment(name)));
    }
    if let Some(field) = value.get("field").and_then(Value::text).filter(|field| *field != name) {
        remarks.push(format!("? called {:?} in the table", comment(field)));
    }
    let unknown: Vec<&str> = ["default", "validate", "get", "set", "watch"]
        .into_iter()
        .filter(|one| value.get(one) == Some(&Value::Unknown))
        .collect();
    if !unknown.is_empty() {
        remarks.push(format!("? {} is a function: what does it say", unknown.join(" and ")));
    }
    let mut facts = Vec::new();
    let filled = value.get("default").is_some_and(|one| *one != Value::Unknown);
    let required = value.get("required").is_some_and(Value::is_true);
    if filled && !key && !required {
        remarks.push("? in each row, since the library puts a default".to_owned());
    }
    let mut optional = !key && !filled && !required;
    let ty = match kind(value) {
        Some("string") if keyed => KEY_TEXT.to_owned(),
        Some("number") if keyed => {
            let codec = codec(Some(value));
            let width =
                codec.trim_matches(|c: char| !c.is_ascii_digit()).parse::<usize>().unwrap_or(0);
            if width > 0 {
                format!("int(0..{})", "9".repeat(width.min(18)))
            } else {
                "int".to_owned()
            }
        }
        _ => {
            let typed = typed(value, 0);
            remarks.extend(typed.remarks);
            optional &= typed.optional;
            let several =
                ["bytes", "record", "list", "set"].iter().any(|word| typed.ty.starts_with(word));
            if keyed && several { KEY_TEXT.to_owned() } else { typed.ty }
        }
    };
    if value.get("readOnly").is_some_and(Value::is_true) && !key {
        facts.push("immutable".to_owned());
    }
    Attribute { name: plain, ty, optional, facts, remarks }
}

/// Returns the members of a map.
fn members(value: &Value) -> &[(String, Value)] {
    value.get("properties").map(Value::members).unwrap_or_default()
}

/// Returns the type of an attribute that stands in no key, also of one within a map.
fn typed(value: &Value, depth: usize) -> Typed {
    let found = match value.get("type").unwrap_or(value) {
        words @ Value::List(_) => {
            let words: Vec<String> = words.texts().iter().map(|word| quote(word)).collect();
            Typed::plain(format!("enum({})", words.join(", ")))
        }
        ty => match ty.text().unwrap_or("any") {
            "string" => Typed::plain("text"),
            "number" => Typed::plain("decimal"),
            "boolean" => Typed::plain("bool"),
            word @ ("set" | "list") => {
                let items = value.get("items");
                let inside = items.map(members).unwrap_or_default();
                several(word, items.and_then(kind), inside)
            }
            "map" => record(members(value), depth, typed),
            other => Typed::asked(format!("? {} there: what is in it", comment(other))),
        },
    };
    found.optional(!value.get("required").is_some_and(Value::is_true))
}
